"""The tables: one module per group, each record in the form in which it is served."""

from mock_platform.core.table import Table
from mock_platform.records import (
    accounts,
    campaigns,
    creatives,
    identity,
    webhooks,
)

_GROUPS = (
    identity,
    webhooks,
    accounts,
    campaigns,
    creatives,
)

TABLES: tuple[Table, ...] = tuple(entry for group in _GROUPS for entry in group.TABLES)
"""All tables, referenced ones before those that refer to them."""
