"""Every operation, gathered in one table: a module per path family, no registration by side effect."""

from mock_platform.core.operation import Operation, table
from mock_platform.operations import oauth2
from mock_platform.world.transitions import Kind

OPERATIONS: tuple[Operation, ...] = table(oauth2.OPERATIONS)
"""All operations that are served."""

KINDS: tuple[Kind, ...] = ()
"""All kinds of slow state changes."""
