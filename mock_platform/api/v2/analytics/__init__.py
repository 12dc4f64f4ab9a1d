"""Analytics: figures of a user's own posts and media over time."""

from mock_platform.api.v2.analytics import operations
from mock_platform.core.original_names.translation import Pairs

_METRICS = {"email_post": "email_tweet", "quote_posts": "quote_tweets", "reposts": "retweets"}
OPERATIONS = operations.OPERATIONS
ORIGINAL_NAMES = Pairs(
    values={"analytics.fields": _METRICS},
    within={"metrics": Pairs(_METRICS)},
)
PUBLISHED_IDS = {
    "analytics.posts": "getPostsAnalytics",
    "analytics.media": "getMediaAnalytics",
}
