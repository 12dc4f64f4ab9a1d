"""Campaigns and funding instruments: what they may spend, and whether they can serve."""

from mock_platform.api.ads import CAMPAIGN_MANAGEMENT, NOT_SHOWN, TRANSITIONS
from mock_platform.api.ads.campaigns import (
    line_item_parts,
    operations,
    recommendations,
    records,
)
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *recommendations.OPERATIONS)
TABLES = (
    *line_item_parts.TABLES,
    *records.TABLES,
    *recommendations.TABLES,
)
EXAMPLE_PATHS = {"recommendation_id": "62ce8zza1q0w"}
AGENT_TOOLS = {
    "campaigns.list": "list_campaigns",
    "campaigns.get": "get_campaign",
    "campaigns.create": "create_campaign",
    "campaigns.update": "update_campaign",
    "campaigns.activate": "activate_campaign",
    "funding_instruments.list": "list_funding_instruments",
}
ORIGINAL_NAMES = Pairs(values={"entity_type": {"promoted_posts": "promoted_tweets"}})
SPEC_SENTENCES = {
    "campaigns": NOT_SHOWN,
    "campaigns.servability": TRANSITIONS,
    "funding-instruments": NOT_SHOWN,
    "recommendations": CAMPAIGN_MANAGEMENT,
}
