"""Direct messages: conversations, their events, and who may write."""

from mock_platform.api.v2.messages import conversations, operations

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*conversations.TABLES,)
