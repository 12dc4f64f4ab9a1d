"""Lists: made by a user of other users, read as one timeline, followed and pinned."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.lists import lists_of_users, operations, records

OPERATIONS = (*operations.OPERATIONS, *lists_of_users.OPERATIONS)
TABLES = records.TABLES
SPEC_SENTENCES = {"lists": OTHER_SHAPES}
