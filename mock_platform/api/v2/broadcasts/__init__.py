"""Broadcasts: live video with a chat, now or on a schedule."""

from mock_platform.api.v2 import ORIGINAL_NAMES as SHARED_NAMES
from mock_platform.api.v2.broadcasts import changes, chat, operations, records, schedule
from mock_platform.api.v2.objects import ORIGINAL_NAMES as OBJECT_NAMES
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *schedule.OPERATIONS, *chat.OPERATIONS)
TABLES = (*records.TABLES,)
KINDS = (*changes.KINDS,)
_NAMES = Pairs(
    names={"post_id": "tweet_id", "platform_user_id": "twitter_user_id"},
    named=frozenset({"broadcast.fields"}),
)
PRODUCT_NAMES = {each.id: SHARED_NAMES.join(OBJECT_NAMES).join(_NAMES) for each in OPERATIONS}
PUBLISHED_IDS = {
    "broadcasts.list": "listBroadcasts",
    "broadcasts.get": "getBroadcast",
    "scheduled_broadcasts.list": "listScheduledBroadcasts",
    "scheduled_broadcasts.create": "createScheduledBroadcast",
    "scheduled_broadcasts.get": "getScheduledBroadcast",
    "scheduled_broadcasts.update": "updateScheduledBroadcast",
    "scheduled_broadcasts.delete": "deleteScheduledBroadcast",
    "scheduled_broadcasts.start": "goLiveScheduledBroadcast",
    "broadcast_chat.list": "getBroadcastChat",
    "broadcast_chat.send": "sendBroadcastChat",
    "broadcast_chat.delete": "deleteBroadcastChatMessage",
    "broadcast_chat_mutes.create": "muteBroadcastChatUser",
    "broadcast_chat_mutes.delete": "unmuteBroadcastChatUser",
}
