"""The tables: one module per group, each record in the form in which it is served."""

from mock_platform.core.table import Table
from mock_platform.records import identity, webhooks

TABLES: tuple[Table, ...] = (*identity.TABLES, *webhooks.TABLES)
"""All tables, referenced ones before those that refer to them."""
