"""Every operation in one table: a module per path family, nothing registers by side effect."""

from mock_platform.core.operation import Operation, table
from mock_platform.operations import (
    account_media,
    line_item_curated_categories,
    line_items,
    oauth2,
)
from mock_platform.world.transitions import Kind

_FAMILIES = (
    oauth2,
    account_media,
    line_items,
    line_item_curated_categories,
)

OPERATIONS: tuple[Operation, ...] = table(*(family.OPERATIONS for family in _FAMILIES))
"""All operations that are served."""

KINDS: tuple[Kind, ...] = tuple(
    kind for family in _FAMILIES for kind in getattr(family, "KINDS", ())
)
"""All kinds of slow state changes."""
