"""All tables that several families share, in one list."""

from __future__ import annotations

from mock_platform.records import (
    accounts,
    activity,
    audiences,
    campaigns,
    cards,
    catalogs,
    connections,
    direct_messages,
    identity,
    interactive_cards,
    line_item_parts,
    media,
    planned_posts,
    posts,
    stream_rules,
    targeting,
    webhooks,
)
from mock_platform.records.table import Table

_GROUPS = (
    identity,
    webhooks,
    activity,
    connections,
    accounts,
    audiences,
    campaigns,
    targeting,
    line_item_parts,
    catalogs,
    media,
    cards,
    interactive_cards,
    posts,
    planned_posts,
    direct_messages,
    stream_rules,
)

SHARED_TABLES: tuple[Table, ...] = tuple(entry for group in _GROUPS for entry in group.TABLES)
"""Referenced tables come before those that refer to them."""
