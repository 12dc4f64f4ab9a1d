"""Usage: how many posts an app and its project have read."""

from mock_platform.api.v2.usage import operations

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*operations.TABLES,)
