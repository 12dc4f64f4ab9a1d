"""Audiences: custom audiences, who may use them, who is in them, do-not-reach lists."""

from mock_platform.api.ads.audiences import (
    do_not_reach_lists,
    operations,
    permissions,
    records,
    users,
)

OPERATIONS = (
    *operations.OPERATIONS,
    *do_not_reach_lists.OPERATIONS,
    *permissions.OPERATIONS,
    *users.OPERATIONS,
)
TABLES = (*records.TABLES,)
KINDS = (*operations.KINDS, *do_not_reach_lists.KINDS)
