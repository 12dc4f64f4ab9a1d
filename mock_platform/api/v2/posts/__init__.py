"""Posts: made, read and deleted, and articles."""

from mock_platform.api.v2.posts import articles, operations

OPERATIONS = (
    *operations.OPERATIONS,
    *articles.OPERATIONS,
)
TABLES = (*articles.TABLES,)
