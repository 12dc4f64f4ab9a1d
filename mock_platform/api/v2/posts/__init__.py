"""Posts: made, read and deleted, and articles."""

from mock_platform.api import v2
from mock_platform.api.v2.posts import articles, hidden, operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *articles.OPERATIONS,
    *hidden.OPERATIONS,
)
TABLES = (*articles.TABLES,)
ORIGINAL_NAMES = Pairs(
    {
        "quote_post_id": "quote_tweet_id",
        "in_reply_to_post_id": "in_reply_to_tweet_id",
    }
)
PRODUCT_NAMES = {"public_posts.hide": v2.NAMED_POST}
SPEC_SENTENCES = {
    "articles": "Article draft and publish endpoints added",
    "posts.summoned": "allowed only when the original author summoned the replier",
}
PUBLISHED_IDS = {
    "public_posts.create": "createPosts",
    "public_posts.list": "getPostsByIds",
    "public_posts.get": "getPostsById",
    "public_posts.delete": "deletePosts",
    "articles.draft": "articleCreateDraft",
    "articles.publish": "articlePublish",
    "public_posts.hide": "hidePostsReply",
}
