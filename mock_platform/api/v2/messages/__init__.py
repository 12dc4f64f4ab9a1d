"""Direct messages: conversations, their events, and who may write."""

from mock_platform.api.v2.messages import conversations, events, operations

OPERATIONS = (
    *operations.OPERATIONS,
    *events.OPERATIONS,
)
TABLES = (*conversations.TABLES,)
