"""Measurement: tags of app and web events, and the conversions that are reported for them."""

from mock_platform.api.ads import CAMPAIGN_MANAGEMENT
from mock_platform.api.ads.measurement import conversions, tags
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*tags.OPERATIONS, *conversions.OPERATIONS)
TABLES = (*tags.TABLES, *conversions.TABLES)
EXAMPLE_PATHS = {"pixel_id": "o8z6j"}
ORIGINAL_NAMES = Pairs(
    {
        "platform_attribution": "twitter_attribution",
        "non_platform_engagement_time": "non_twitter_engagement_time",
        "non_platform_engagement_type": "non_twitter_engagement_type",
    }
)
SPEC_SENTENCES = {
    "app-event-tags": CAMPAIGN_MANAGEMENT,
    "conversion-event": CAMPAIGN_MANAGEMENT,
    "conversions": CAMPAIGN_MANAGEMENT,
    "web-event-tags": CAMPAIGN_MANAGEMENT,
}
