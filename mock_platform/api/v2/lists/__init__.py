"""Lists: made by a user of other users, read as one timeline, followed and pinned."""

from mock_platform.api.v2.lists import lists_of_users, operations, records

OPERATIONS = (*operations.OPERATIONS, *lists_of_users.OPERATIONS)
TABLES = records.TABLES
PUBLISHED_IDS = {
    "lists.create": "createLists",
    "lists.get": "getListsById",
    "lists.update": "updateLists",
    "lists.delete": "deleteLists",
    "list_members.list": "getListsMembers",
    "list_members.create": "addListsMember",
    "list_members.delete": "removeListsMemberByUserId",
    "list_followers.list": "getListsFollowers",
    "list_posts.list": "getListsPosts",
    "owned_lists.list": "getUsersOwnedLists",
    "list_memberships.list": "getUsersListMemberships",
    "followed_lists.list": "getUsersFollowedLists",
    "followed_lists.create": "followList",
    "followed_lists.delete": "unfollowList",
    "pinned_lists.list": "getUsersPinnedLists",
    "pinned_lists.create": "pinList",
    "pinned_lists.delete": "unpinList",
}
