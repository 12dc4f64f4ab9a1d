"""Media: what was uploaded, in one request or in segments, what is said about it, and lookups."""

from mock_platform.api.v2.media import lookup, metadata, operations, records
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS, *metadata.OPERATIONS, *lookup.OPERATIONS)
TABLES = (*records.TABLES,)
KINDS = (*operations.KINDS,)
ORIGINAL_NAMES = Pairs(
    {"platform_subscriptions": "x_subscriptions"},
    values={
        "media_category": {
            "post_image": "tweet_image",
            "post_gif": "tweet_gif",
            "post_video": "tweet_video",
            "PostImage": "TweetImage",
            "PostGif": "TweetGif",
            "PostVideo": "TweetVideo",
        }
    },
)
PUBLISHED_IDS = {
    "media.upload": "mediaUpload",
    "media.initialize": "initializeMediaUpload",
    "media.append": "appendMediaUpload",
    "media.finalize": "finalizeMediaUpload",
    "media.status": "getMediaUploadStatus",
    "media_metadata.create": "createMediaMetadata",
    "media_subtitles.create": "createMediaSubtitles",
    "media_subtitles.delete": "deleteMediaSubtitles",
    "media.get_many": "getMediaByMediaKeys",
    "media.get": "getMediaByMediaKey",
}
