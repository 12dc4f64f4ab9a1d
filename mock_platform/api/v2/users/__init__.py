"""Users: the caller, others by id or by name, found by words, and those of an organization."""

from mock_platform.api.v2 import FREE_KEYS, OTHER_SHAPES, POST_OBJECT_NAMES
from mock_platform.api.v2.users import lists, operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *lists.OPERATIONS)
_RENAMED = ("repost_count", "reposted")
PRODUCT_NAMES = {
    each.id: Pairs({name: POST_OBJECT_NAMES[name] for name in _RENAMED}, free=FREE_KEYS)
    for each in OPERATIONS
    if each.path.startswith("/1.1/")
}
"""The last post of a user is in the 1.1 form."""
SPEC_SENTENCES = {
    "older-users": OTHER_SHAPES,
    "users": OTHER_SHAPES,
}
PUBLISHED_IDS = {
    "users.me": "getUsersMe",
    "users.list": "getUsersByIds",
    "users.list_by_name": "getUsersByUsernames",
    "users.get": "getUsersById",
    "users.get_by_name": "getUsersByUsername",
    "users.search": "searchUsers",
    "users.affiliates": "getUsersAffiliates",
}
