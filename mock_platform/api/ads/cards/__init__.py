"""Cards of all kinds: website, app and swipeable cards, polls, conversations."""

from mock_platform.api.ads.cards import (
    conversations,
    interactive_records,
    operations,
    poll,
    records,
)
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *conversations.OPERATIONS, *poll.OPERATIONS)
TABLES = (*interactive_records.TABLES, *records.TABLES)
EXAMPLE_PATHS = {"card_id": "1712870000001000003", "card_type": "image_conversation"}
ORIGINAL_NAMES = Pairs(
    {f"{each}_cta_post": f"{each}_cta_tweet" for each in ("first", "second", "third", "fourth")}
)
SPEC_SENTENCES = {
    "cards": "A card needs one media component and either a DETAILS or a BUTTON component",
    "cards-all": "Only cards created through the card create endpoint are returned",
    "cards-image-conversation": "Legacy types such as IMAGE_CONVERSATION also occur",
    "cards-poll": "poll cards cannot be updated",
    "cards-video-conversation": "Parameters of this update after poster_media_key: not shown",
}
