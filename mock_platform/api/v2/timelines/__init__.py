"""Timelines: the posts of a user, those that mention a user, and those a user follows."""

from mock_platform.api.v2.timelines import operations

OPERATIONS = (*operations.OPERATIONS,)
PUBLISHED_IDS = {
    "timelines.posts": "getUsersPosts",
    "timelines.mentions": "getUsersMentions",
    "timelines.home": "getUsersTimeline",
}
