"""Posts and users: how they are stored, and how either interface shows them."""

from mock_platform.api.v2.objects import posts

TABLES = (*posts.TABLES,)
