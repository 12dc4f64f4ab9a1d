"""Broadcasts: live video with a chat, now or on a schedule."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.broadcasts import changes, chat, operations, records, schedule
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *schedule.OPERATIONS, *chat.OPERATIONS)
TABLES = (*records.TABLES,)
KINDS = (*changes.KINDS,)
OWN_NAMES = Pairs(names={"post_id": "tweet_id", "platform_user_id": "twitter_user_id"})
SPEC_SENTENCES = {"broadcasts": OTHER_SHAPES}
