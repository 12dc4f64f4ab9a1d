"""News: stories found by their words, or read by id."""

from mock_platform.api.v2.news import stories

OPERATIONS = (*stories.OPERATIONS,)
TABLES = (*stories.TABLES,)
SPEC_SENTENCES = {
    "news": "News endpoints: GET /2/news/search and GET /2/news/{id}",
}
PUBLISHED_IDS = {
    "news.search": "searchNews",
    "news.get": "getNews",
}
