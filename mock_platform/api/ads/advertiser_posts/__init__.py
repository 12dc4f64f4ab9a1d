"""Posts of an advertiser: published, drafted, scheduled, promoted when they are out."""

from mock_platform.api.ads.advertiser_posts import (
    lists,
    operations,
    planned_posts,
    records,
    scheduled_promotions,
)

OPERATIONS = (
    *operations.OPERATIONS,
    *lists.OPERATIONS,
    *planned_posts.OPERATIONS,
    *scheduled_promotions.OPERATIONS,
)
TABLES = (*records.TABLES,)
KINDS = (*planned_posts.KINDS,)
