"""Bookmarks: posts that a user keeps, and the folders in which they are."""

from mock_platform.api import v2
from mock_platform.api.v2.bookmarks import operations

OPERATIONS = (*operations.OPERATIONS,)
TABLES = operations.TABLES
PRODUCT_NAMES = dict.fromkeys(("bookmarks.create", "bookmarks.delete"), v2.NAMED_POST)
PUBLISHED_IDS = {
    "bookmarks.list": "getUsersBookmarks",
    "bookmarks.create": "createUsersBookmark",
    "bookmarks.delete": "deleteUsersBookmark",
    "bookmark_folders.list": "getUsersBookmarkFolders",
    "bookmark_folders.create": "createUsersBookmarkFolder",
    "bookmark_folders.get": "getUsersBookmarksByFolderId",
}
