"""Line items, what they promote, and what they show."""

from mock_platform.api.ads import CAMPAIGN_MANAGEMENT, NOT_SHOWN
from mock_platform.api.ads.line_items import creatives, operations, promotions
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *creatives.OPERATIONS,
    *promotions.OPERATIONS,
)
KINDS = (
    *creatives.KINDS,
    *promotions.KINDS,
)
AGENT_TOOLS = {
    "line_items.list": "list_line_items",
    "line_items.create": "create_line_item",
    "line_items.update": "update_line_item",
    "line_items.activate": "activate_line_item",
    "promoted_posts.list": "list_promoted_posts",
    "promoted_posts.create": "promote_post",
}
ORIGINAL_NAMES = Pairs(
    names={
        "automatic_post_promotion": "automatic_tweet_promotion",
        "promoted_post_id": "promoted_tweet_id",
        "promoted_post_ids": "promoted_tweet_ids",
    },
    values={"code": {"PROMOTED_POST_NOT_FOUND": "PROMOTED_TWEET_NOT_FOUND"}},
    segments={"promoted_posts": "promoted_tweets"},
)
SPEC_SENTENCES = {
    "line-item-curated-categories": "curated_category_id, line_item_id (optional)",
    "line-items": NOT_SHOWN,
    "media-creatives": NOT_SHOWN,
    "preroll-calls-to-action": CAMPAIGN_MANAGEMENT,
    "promoted-accounts": CAMPAIGN_MANAGEMENT,
    "promoted-posts": NOT_SHOWN,
    "tracking-tags": CAMPAIGN_MANAGEMENT,
}
