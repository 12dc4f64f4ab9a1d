"""Search: the query language, and the posts that a query finds."""

from mock_platform.api.v2.search import operations

OPERATIONS = (*operations.OPERATIONS,)
