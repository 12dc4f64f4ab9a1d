"""Spaces: live conversations, their buyers, and the posts shared in them."""

from mock_platform.api.v2.spaces import changes, operations, records

OPERATIONS = (*operations.OPERATIONS,)
TABLES = records.TABLES
KINDS = changes.KINDS
PUBLISHED_IDS = {
    "spaces.list": "getSpacesByIds",
    "spaces.get": "getSpacesById",
    "spaces.list_by_creators": "getSpacesByCreatorIds",
    "spaces.search": "searchSpaces",
    "spaces.buyers": "getSpacesBuyers",
    "spaces.posts": "getSpacesPosts",
}
