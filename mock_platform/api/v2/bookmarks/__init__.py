"""Bookmarks: posts that a user keeps, and the folders in which they are."""

from mock_platform.api.v2.bookmarks import operations

OPERATIONS = (*operations.OPERATIONS,)
TABLES = operations.TABLES
PUBLISHED_IDS = {
    "bookmarks.list": "getUsersBookmarks",
    "bookmarks.create": "createUsersBookmark",
    "bookmarks.delete": "deleteUsersBookmark",
    "bookmark_folders.list": "getUsersBookmarkFolders",
    "bookmark_folders.create": "createUsersBookmarkFolder",
    "bookmark_folders.get": "getUsersBookmarksByFolderId",
}
