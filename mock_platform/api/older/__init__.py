"""The older interface (1.1): views of the same posts, users, lists, messages and media."""

from mock_platform.api.older import (
    account_activity,
    profiles,
    rate_limits,
    saved_searches,
    welcome_messages,
)
from mock_platform.api.older.conventions import ORIGINAL_NAMES
from mock_platform.api.v2 import OTHER_SHAPES

OPERATIONS = (
    *(each for subject in rate_limits.LIMITED for each in subject.OPERATIONS),
    *account_activity.OPERATIONS,
    *rate_limits.OPERATIONS,
)
TABLES = (*profiles.TABLES, *saved_searches.TABLES, *welcome_messages.TABLES)
PRODUCT_NAMES = {each.id: ORIGINAL_NAMES for each in OPERATIONS}
"""The paths are those of the OAuth dialect, so each operation has the names as its own."""
SPEC_SENTENCES = {"older": OTHER_SHAPES, "older-users": OTHER_SHAPES}
