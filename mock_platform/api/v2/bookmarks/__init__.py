"""Bookmarks: posts that a user keeps, and the folders in which they are."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.bookmarks import operations
from mock_platform.core.tables.table import Reference, Table

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (
    Table(
        operations.FOLDERS,
        operations.BookmarkFolderRecord,
        references=(Reference("_user_id", "users"),),
    ),
)
SPEC_SENTENCES = {"bookmarks": OTHER_SHAPES}
