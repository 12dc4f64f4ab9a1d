"""Posts of an advertiser: published, drafted, scheduled, promoted when they are out."""

from mock_platform.api.ads import NOT_SHOWN
from mock_platform.api.ads.advertiser_posts import (
    lists,
    operations,
    planned_posts,
    records,
    scheduled_promotions,
)
from mock_platform.api.v2 import POST_OBJECT_NAMES
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *lists.OPERATIONS,
    *planned_posts.OPERATIONS,
    *scheduled_promotions.OPERATIONS,
)
TABLES = (*records.TABLES,)
KINDS = (*planned_posts.KINDS,)
EXAMPLE_PATHS = {"scheduled_post_id": "1991600000000000203", "draft_post_id": "1991500000000000101"}
AGENT_TOOLS = {
    "posts.list": "list_account_posts",
    "post.create": "create_ad_post",
}
ORIGINAL_NAMES = Pairs(
    names={
        **POST_OBJECT_NAMES,
        "post_mode": "tweet_mode",
        "post_type": "tweet_type",
        "scheduled_post_id": "scheduled_tweet_id",
        "scheduled_promoted_post_id": "scheduled_promoted_tweet_id",
        "scheduled_promoted_post_ids": "scheduled_promoted_tweet_ids",
        "draft_post_id": "draft_tweet_id",
    },
    values={
        "code": {
            "DUPLICATE_POST": "DUPLICATE_TWEET",
            "POST_CANNOT_BE_BLANK": "TWEET_CANNOT_BE_BLANK",
            "SCHEDULED_POST_LIMIT_EXCEEDED": "SCHEDULED_TWEET_LIMIT_EXCEEDED",
        }
    },
    segments={
        "post": "tweet",
        "posts": "tweets",
        "scheduled_posts": "scheduled_tweets",
        "draft_posts": "draft_tweets",
        "scheduled_promoted_posts": "scheduled_promoted_tweets",
        "post_previews": "tweet_previews",
    },
)
SPEC_SENTENCES = {
    "draft-posts": NOT_SHOWN,
    "planned-posts": NOT_SHOWN,
    "post": "Response data is a post object",
    "post-previews": NOT_SHOWN,
    "scheduled-posts": NOT_SHOWN,
    "scheduled-promoted-posts": NOT_SHOWN,
}
