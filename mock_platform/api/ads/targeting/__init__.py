"""Targeting: criteria of line items, the values that they may name, keywords, estimates."""

from mock_platform.api.ads.targeting import audience_estimate, keywords, operations, options

OPERATIONS = (
    *operations.OPERATIONS,
    *audience_estimate.OPERATIONS,
    *keywords.OPERATIONS,
    *options.OPERATIONS,
)
TABLES = (*options.TABLES,)
