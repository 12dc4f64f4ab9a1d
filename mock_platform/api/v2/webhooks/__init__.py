"""Webhooks: registered addresses, their challenges, and the replay of events."""

from mock_platform.api.v2.webhooks import operations, records

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*records.TABLES,)
KINDS = (*operations.KINDS,)
