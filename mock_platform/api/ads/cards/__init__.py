"""Cards of all kinds: website, app and swipeable cards, polls, conversations."""

from mock_platform.api.ads.cards import (
    all_kinds,
    image_conversation,
    interactive_records,
    operations,
    poll,
    records,
    video_conversation,
)
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *all_kinds.OPERATIONS,
    *image_conversation.OPERATIONS,
    *poll.OPERATIONS,
    *video_conversation.OPERATIONS,
)
TABLES = (
    *interactive_records.TABLES,
    *records.TABLES,
)
EXAMPLE_PATHS = {"card_id": "1712870000001000003", "card_type": "image_conversation"}
ORIGINAL_NAMES = Pairs(
    {f"{each}_cta_post": f"{each}_cta_tweet" for each in ("first", "second", "third", "fourth")}
)
