"""The advertising interface: its conventions, and a folder for each subject.

`ORIGINAL_NAMES` are the names that several subjects share; those of one subject are in its folder.
"""

from mock_platform.api.v2 import FREE_KEYS
from mock_platform.core.original_names.translation import Pairs

_PLACEMENTS = {
    "ALL_ON_PLATFORM": "ALL_ON_TWITTER",
    "PLATFORM_SEARCH": "TWITTER_SEARCH",
    "PLATFORM_TIMELINE": "TWITTER_TIMELINE",
    "PLATFORM_PROFILE": "TWITTER_PROFILE",
    "PLATFORM_REPLIES": "TWITTER_REPLIES",
}
_ENTITIES = {"PROMOTED_POST": "PROMOTED_TWEET", "ORGANIC_POST": "ORGANIC_TWEET"}
ORIGINAL_NAMES = Pairs(
    names={"post_id": "tweet_id", "post_ids": "tweet_ids"},
    values={
        "product_type": {"PROMOTED_POSTS": "PROMOTED_TWEETS"},
        "entity_type": _ENTITIES,
        "entity": _ENTITIES,
        "placements": _PLACEMENTS,
        "placement": _PLACEMENTS,
        "data_type": {"promoted_post": "promoted_tweet"},
        "code": {
            "INVALID_POST": "INVALID_TWEET",
            "GENERIC_POST_ERROR": "GENERIC_TWEET_ERROR",
            "POST_IS_SPAM": "TWEET_IS_SPAM",
            "POST_NOT_FOUND": "TWEET_NOT_FOUND",
            "POST_RATE_LIMIT_EXCEEDED": "TWEET_RATE_LIMIT_EXCEEDED",
        },
    },
    named=frozenset({"parameter"}),
    spoken=frozenset({"message"}),
    free=FREE_KEYS,
)
NOT_SHOWN = (
    "Endpoints not shown in this document: scheduled feeds, scheduled posts, draft posts, promoted "
    "video operations, media creatives listing parameters, campaign, funding instrument, promoted "
    "post and targeting criteria operations, and line item create and list"
)
FIELDS_NOT_SHOWN = (
    "Fields of scheduled feeds, scheduled posts, draft posts, promoted video records, media "
    "creatives, campaigns, funding instruments, promoted posts, targeting criteria, tailored "
    "audiences and custom audiences: not shown beyond identifiers and the few fields quoted "
    "elsewhere here"
)
TRANSITIONS = (
    "Transitions: not shown for account approval_status, media_status, campaign status and other "
    "statuses beyond those in the table"
)
CAMPAIGN_MANAGEMENT = (
    "Campaign management: ad accounts, apps, account history, business categories, curated "
    "categories, account features, line items, placements"
)
"""What the specification says of what it does not show, for several subjects."""
SPEC_SENTENCES = {
    "batch": "Batches succeed or fail as a group and responses keep request order",
}
