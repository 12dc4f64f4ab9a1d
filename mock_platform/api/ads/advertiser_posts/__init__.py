"""Posts of an advertiser: published, drafted, scheduled, promoted when they are out."""

from mock_platform.api.ads.advertiser_posts import (
    draft_posts,
    lists,
    operations,
    records,
    scheduled_posts,
    scheduled_promotions,
)

OPERATIONS = (
    *operations.OPERATIONS,
    *draft_posts.OPERATIONS,
    *lists.OPERATIONS,
    *scheduled_posts.OPERATIONS,
    *scheduled_promotions.OPERATIONS,
)
TABLES = (*records.TABLES,)
KINDS = (*scheduled_posts.KINDS,)
EXAMPLE_PATHS = {"scheduled_post_id": "1991600000000000203", "draft_post_id": "1991500000000000101"}
