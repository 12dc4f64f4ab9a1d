"""Reposts and quotes: made, taken back, and the lists of both."""

from mock_platform.api import v2
from mock_platform.api.v2.reposts import operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS,)
ORIGINAL_NAMES = Pairs(
    {"reposted": "retweeted", "source_post_id": "source_tweet_id"},
    segments={
        "reposts": "retweets",
        "reposted_by": "retweeted_by",
        "quote_posts": "quote_tweets",
    },
    values={"exclude": {"reposts": "retweets"}},
    sentences={
        operations.REPOSTED_ALREADY: "You cannot retweet a Tweet that you have already retweeted."
    },
)
PRODUCT_NAMES = {"reposts.create": v2.NAMED_POST.join(ORIGINAL_NAMES)}
PUBLISHED_IDS = {
    "reposts.create": "repostPost",
    "reposts.delete": "unrepostPost",
    "reposts.list": "getPostsReposts",
    "reposts.users": "getPostsRepostedBy",
    "quotes.list": "getPostsQuotedPosts",
    "reposts.of_me": "getUsersRepostsOfMe",
}
