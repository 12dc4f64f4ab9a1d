"""The older interface (1.1): views of the same posts, users, lists, messages and media."""

from mock_platform.api.older import account_activity, lists, media, messages, posts, users
from mock_platform.api.older.conventions import ORIGINAL_NAMES
from mock_platform.api.older.rate_limits import make_status
from mock_platform.api.v2 import OTHER_SHAPES

_VIEWS = tuple(
    each for subject in (media, posts, users, lists, messages) for each in subject.OPERATIONS
)
OPERATIONS = (*_VIEWS, *account_activity.OPERATIONS, make_status(_VIEWS))
PRODUCT_NAMES = {each.id: ORIGINAL_NAMES for each in OPERATIONS}
"""The paths are those of the OAuth dialect, so each operation has the names as its own."""
SPEC_SENTENCES = {"older": OTHER_SHAPES, "older-users": OTHER_SHAPES}
