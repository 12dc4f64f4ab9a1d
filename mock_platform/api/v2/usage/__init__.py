"""Usage: how many posts an app and its project have read."""

from mock_platform.api.v2.usage import counting

OPERATIONS = (*counting.OPERATIONS,)
TABLES = (*counting.TABLES,)
SPEC_SENTENCES = {
    "usage": "Monthly post cap (2020 basic access, project level)",
}
PUBLISHED_IDS = {
    "usage.get": "getUsage",
}
