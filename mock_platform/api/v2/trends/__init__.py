"""Trends: what many post about, by place and for one user."""

from msgspec.structs import replace

from mock_platform.api import v2
from mock_platform.api.v2.trends import operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = operations.OPERATIONS
TABLES = operations.TABLES
ORIGINAL_NAMES = Pairs(named=frozenset({"trend.fields"}))
_SHARED = {name: old for name, old in v2.ORIGINAL_NAMES.names.items() if name != "post_count"}
PRODUCT_NAMES = {"personalized_trends.list": replace(v2.ORIGINAL_NAMES, names=_SHARED)}
"""Personal trends say post_count in both; trends of places have another original."""
PUBLISHED_IDS = {
    "place_trends.list": "getTrendsByWoeid",
    "personalized_trends.list": "getTrendsPersonalizedTrends",
}
