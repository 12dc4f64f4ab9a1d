"""The tables: one module per group, each record in the form in which it is served."""

from mock_platform.records import (
    accounts,
    audiences,
    campaigns,
    cards,
    catalogs,
    creatives,
    identity,
    interactive_cards,
    media,
    posts,
    webhooks,
)
from mock_platform.records.table import Table

_GROUPS = (
    identity,
    webhooks,
    accounts,
    audiences,
    campaigns,
    catalogs,
    creatives,
    media,
    cards,
    interactive_cards,
    posts,
)

TABLES: tuple[Table, ...] = tuple(entry for group in _GROUPS for entry in group.TABLES)
"""All tables, referenced ones before those that refer to them."""
