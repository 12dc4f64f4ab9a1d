"""Streams: open connections that get a line whenever an activity matches."""

from mock_platform.api.v2.streams import operations, records

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*records.TABLES,)
