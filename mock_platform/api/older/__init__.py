"""The older interface (1.1): views of the same posts, users, lists, messages and media."""

from mock_platform.api.older import (
    account_activity,
    conventions,
    lists,
    media,
    messages,
    posts,
    rate_limits,
    users,
)
from mock_platform.api.v2 import OTHER_SHAPES

OPERATIONS = (
    *media.OPERATIONS,
    *posts.OPERATIONS,
    *users.OPERATIONS,
    *lists.OPERATIONS,
    *messages.OPERATIONS,
    *account_activity.OPERATIONS,
    *rate_limits.OPERATIONS,
)
ORIGINAL_NAMES = conventions.ORIGINAL_NAMES
PRODUCT_NAMES = {
    **{each.id: ORIGINAL_NAMES for each in OPERATIONS},
    **{each.id: rate_limits.STATUS_NAMES for each in rate_limits.OPERATIONS},
}
"""The paths are those of the OAuth dialect, so each operation has the names as its own."""
SPEC_SENTENCES = {"older": OTHER_SHAPES, "older-users": OTHER_SHAPES}
