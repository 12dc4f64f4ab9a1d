"""Users: the caller, others by id or by name, found by words, and those of an organization."""

from mock_platform.api.v2 import FREE_KEYS, OTHER_SHAPES, POST_OBJECT_NAMES
from mock_platform.api.v2.users import lists, operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *lists.OPERATIONS)
PRODUCT_NAMES = {
    each.id: Pairs(POST_OBJECT_NAMES, free=FREE_KEYS)
    for each in OPERATIONS
    if each.dialect == "oauth"
}
"""The last post of a user has the names of version 1.1 there."""
SPEC_SENTENCES = {
    "older-users": OTHER_SHAPES,
    "users": OTHER_SHAPES,
}
