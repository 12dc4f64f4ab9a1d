"""Campaigns and funding instruments: what they may spend, and whether they can serve."""

from mock_platform.api.ads import NOT_SHOWN, TRANSITIONS
from mock_platform.api.ads.campaigns import (
    line_item_parts,
    operations,
    records,
)

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (
    *line_item_parts.TABLES,
    *records.TABLES,
)
SPEC_SENTENCES = {
    "campaigns": NOT_SHOWN,
    "campaigns.servability": TRANSITIONS,
    "funding-instruments": NOT_SHOWN,
}
