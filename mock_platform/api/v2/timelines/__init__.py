"""Timelines: the posts of a user, those that mention a user, and those a user follows."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.timelines import operations

OPERATIONS = (*operations.OPERATIONS,)
SPEC_SENTENCES = {"timelines": OTHER_SHAPES}
PUBLISHED_IDS = {
    "timelines.posts": "getUsersPosts",
    "timelines.mentions": "getUsersMentions",
    "timelines.home": "getUsersTimeline",
}
