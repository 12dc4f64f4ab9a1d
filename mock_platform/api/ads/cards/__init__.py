"""Cards of all kinds: website, app and swipeable cards, polls, conversations."""

from mock_platform.api.ads.cards import (
    conversations,
    interactive_records,
    operations,
    poll,
    records,
)

OPERATIONS = (*operations.OPERATIONS, *conversations.OPERATIONS, *poll.OPERATIONS)
TABLES = (*interactive_records.TABLES, *records.TABLES)
