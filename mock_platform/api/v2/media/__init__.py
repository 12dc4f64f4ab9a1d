"""Media: what was uploaded, in one request or in segments."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.media import operations, records
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*records.TABLES,)
KINDS = (*operations.KINDS,)
ORIGINAL_NAMES = Pairs(
    values={
        "media_category": {
            "post_image": "tweet_image",
            "post_gif": "tweet_gif",
            "post_video": "tweet_video",
        }
    }
)
SPEC_SENTENCES = {
    "media": OTHER_SHAPES,
}
