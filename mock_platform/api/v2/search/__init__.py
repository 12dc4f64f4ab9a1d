"""Search: the query language, and the posts that a query finds."""

from mock_platform.api.v2.search import operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS,)
ORIGINAL_NAMES = Pairs(
    {"total_post_count": "total_tweet_count"}, named=frozenset({"search_count.fields"})
)
SPEC_SENTENCES = {
    "post-rules": "operators min_likes:, min_replies:, min_reposts: added",
    "search": "Search endpoints (recent and all search, recent and all counts)",
}
PUBLISHED_IDS = {
    "post_search.recent": "searchPostsRecent",
    "post_search.all": "searchPostsAll",
    "post_counts.recent": "getPostsCountsRecent",
    "post_counts.all": "getPostsCountsAll",
}
