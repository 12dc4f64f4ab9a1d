"""Likes: who likes which posts."""

from mock_platform.api import v2
from mock_platform.api.v2.likes import operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS,)
ORIGINAL_NAMES = Pairs(segments={"liked_posts": "liked_tweets"})
PRODUCT_NAMES = dict.fromkeys(("likes.create", "likes.delete"), v2.NAMED_POST)
PUBLISHED_IDS = {
    "liked_posts.list": "getUsersLikedPosts",
    "liking_users.list": "getPostsLikingUsers",
    "likes.create": "likePost",
    "likes.delete": "unlikePost",
}
