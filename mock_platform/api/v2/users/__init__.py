"""Users: the caller, others by id or by name, found by words, and those of an organization."""

from mock_platform.api.v2.users import operations

OPERATIONS = operations.OPERATIONS
PUBLISHED_IDS = {
    "users.me": "getUsersMe",
    "users.list": "getUsersByIds",
    "users.list_by_name": "getUsersByUsernames",
    "users.get": "getUsersById",
    "users.get_by_name": "getUsersByUsername",
    "users.search": "searchUsers",
    "users.affiliates": "getUsersAffiliates",
}
