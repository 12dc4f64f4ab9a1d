"""Encrypted chat: public keys, conversations of two and groups, messages, and media."""

from mock_platform.api.v2.chat import groups, inbox, media, operations, public_keys, records

OPERATIONS = (
    *inbox.OPERATIONS,
    *operations.OPERATIONS,
    *groups.OPERATIONS,
    *media.OPERATIONS,
    *public_keys.OPERATIONS,
)
TABLES = (*records.TABLES,)
PUBLISHED_IDS = {
    "chat_conversations.list": "getChatConversations",
    "chat_conversations.get": "getChatConversation",
    "chat_events.list": "getChatConversationEvents",
    "chat_keys.create": "addConversationKeys",
    "chat_messages.create": "sendChatMessage",
    "chat_messages.delete": "deleteChatMessages",
    "chat_conversations.mark_read": "markChatConversationRead",
    "chat_conversations.show_typing": "sendChatTypingIndicator",
    "chat_groups.initialize": "initializeChatGroup",
    "chat_groups.create": "createChatConversation",
    "chat_members.create": "addChatGroupMembers",
    "chat_media.initialize": "chatMediaUploadInitialize",
    "chat_media.append": "chatMediaUploadAppend",
    "chat_media.finalize": "chatMediaUploadFinalize",
    "chat_media.download": "chatMediaDownload",
    "public_keys.list": "getUsersPublicKeys",
    "public_keys.list_of_user": "getUsersPublicKey",
    "public_keys.create": "addUserPublicKey",
}
