"""Users: the caller, others by id or by name, found by words, and those of an organization."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.users import lists, operations

OPERATIONS = (*operations.OPERATIONS, *lists.OPERATIONS)
SPEC_SENTENCES = {
    "older-users": OTHER_SHAPES,
    "users": OTHER_SHAPES,
}
