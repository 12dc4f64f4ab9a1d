"""Direct messages: conversations, their events, and who may write."""

from mock_platform.api.v2.messages import conversations, events, operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *events.OPERATIONS)
TABLES = (*conversations.TABLES,)
EXAMPLE_PATHS = {
    "participant_id": "3805104374",
    "dm_conversation_id": "2244994945-3805104374",
    "event_id": "1990180010221305856",
}
ORIGINAL_NAMES = Pairs(named=frozenset({"dm_event.fields"}))
SPEC_SENTENCES = {
    "direct-messages.permission": "Without them the error is code 93",
}
PUBLISHED_IDS = {
    "dm_conversations.send_to_user": "createDirectMessagesByParticipantId",
    "dm_conversations.send": "createDirectMessagesByConversationId",
    "dm_conversations.create": "createDirectMessagesConversation",
    "dm_conversations.list_with_user": "getDirectMessagesEventsByParticipantId",
    "dm_conversations.list": "getDirectMessagesEventsByConversationId",
    "dm_events.list": "getDirectMessagesEvents",
    "dm_events.get": "getDirectMessagesEventsById",
    "dm_blocks.create": "blockUsersDms",
    "dm_blocks.delete": "unblockUsersDms",
    "dm_events.delete": "deleteDirectMessagesEvents",
    "dm_conversations.download": "dmConversationsMediaDownload",
}
