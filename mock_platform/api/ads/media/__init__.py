"""Media of advertising accounts: the library, and what only one account has."""

from mock_platform.api.ads import TRANSITIONS
from mock_platform.api.ads.media import media_library
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*media_library.OPERATIONS,)
TABLES = (*media_library.TABLES,)
KINDS = (*media_library.KINDS,)
NOT_SERVED = (*media_library.NOT_SERVED,)
ORIGINAL_NAMES = Pairs(
    names={"posted": "tweeted"},
    values={
        "media_category": {
            "POST_IMAGE": "TWEET_IMAGE",
            "POST_GIF": "TWEET_GIF",
            "POST_VIDEO": "TWEET_VIDEO",
        }
    },
)
SPEC_SENTENCES = {
    "media-library": "Description, poster_media_key and title apply only to videos",
    "media-library.transcoding": TRANSITIONS,
}
