"""Relations between users: follows, requests to follow protected users, mutes and blocks."""

from mock_platform.api.v2.user_relations import operations

OPERATIONS = (*operations.OPERATIONS,)
PUBLISHED_IDS = {
    "followers.list": "getUsersFollowers",
    "following.list": "getUsersFollowing",
    "following.create": "followUser",
    "following.delete": "unfollowUser",
    "muting.list": "getUsersMuting",
    "muting.create": "muteUser",
    "muting.delete": "unmuteUser",
    "blocking.list": "getUsersBlocking",
}
