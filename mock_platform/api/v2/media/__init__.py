"""Media: what was uploaded, in one request or in segments."""

from mock_platform.api.v2.media import operations, records

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*records.TABLES,)
KINDS = (*operations.KINDS,)
