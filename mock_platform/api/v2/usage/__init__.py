"""Usage: how many posts an app and its project have read."""

from mock_platform.api.v2.usage import counting

OPERATIONS = (*counting.OPERATIONS,)
TABLES = (*counting.TABLES,)
