"""Line items, what they promote, and what they show."""

from mock_platform.api.ads.line_items import creatives, operations, promotions

OPERATIONS = (
    *operations.OPERATIONS,
    *creatives.OPERATIONS,
    *creatives.CURATED_CATEGORIES,
    *promotions.OPERATIONS,
)
KINDS = (
    *creatives.KINDS,
    *promotions.KINDS,
)
