"""Line items, what they promote, and what they show."""

from mock_platform.api.ads.line_items import creatives, curated_categories, operations, promotions

OPERATIONS = (
    *operations.OPERATIONS,
    *creatives.OPERATIONS,
    *curated_categories.OPERATIONS,
    *promotions.OPERATIONS,
)
KINDS = (
    *creatives.KINDS,
    *promotions.KINDS,
)
