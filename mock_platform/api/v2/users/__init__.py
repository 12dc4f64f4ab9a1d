"""Users: the caller, and others by id or by name."""

from mock_platform.api.v2.users import operations

OPERATIONS = (*operations.OPERATIONS,)
