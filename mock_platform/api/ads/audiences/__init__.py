"""Audiences: custom audiences, who may use them, who is in them, do-not-reach lists."""

from mock_platform.api.ads import FIELDS_NOT_SHOWN
from mock_platform.api.ads.audiences import (
    do_not_reach_lists,
    flexible,
    operations,
    permissions,
    records,
    users,
)
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *flexible.OPERATIONS,
    *do_not_reach_lists.OPERATIONS,
    *permissions.OPERATIONS,
    *users.OPERATIONS,
)
TABLES = (*records.TABLES,)
KINDS = (*operations.KINDS, *do_not_reach_lists.KINDS)
EXAMPLE_PATHS = {
    "custom_audience_id": "1nmth",
    "tailored_audience_id": "1nmth",
    "custom_audience_permission_id": "ri",
    "tailored_audience_permission_id": "ri",
}
ORIGINAL_NAMES = Pairs({"platform_id": "twitter_id"})
_PERMISSIONS = "Parameters and response of GET custom audience permissions: not shown"
SPEC_SENTENCES = {
    "audiences": FIELDS_NOT_SHOWN,
    "custom-audiences": FIELDS_NOT_SHOWN,
    "custom-audiences.permissions-shape": _PERMISSIONS,
    "custom-audiences.permissions-writes": _PERMISSIONS,
    "do-not-reach": "Same batch error handling as above",
}
