"""Volume streams: samples and all of the public posts and likes, as they are made."""

from mock_platform.api.v2.volume_streams import operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS,)
ORIGINAL_NAMES = Pairs(
    {
        "like_with_post_author.fields": "like_with_tweet_author.fields",
        "liked_post_author_id": "liked_tweet_author_id",
        "liked_post_id": "liked_tweet_id",
        "post_author_id": "tweet_author_id",
    },
    named=frozenset({"like_with_post_author.fields"}),
)
PUBLISHED_IDS = {
    "sample_stream.open": "streamPostsSample",
    "sample10_stream.open": "streamPostsSample10",
    "firehose_stream.open": "streamPostsFirehose",
    "firehose_stream_lang_en.open": "streamPostsFirehoseEn",
    "firehose_stream_lang_ja.open": "streamPostsFirehoseJa",
    "firehose_stream_lang_ko.open": "streamPostsFirehoseKo",
    "firehose_stream_lang_pt.open": "streamPostsFirehosePt",
    "likes_firehose_stream.open": "streamLikesFirehose",
    "likes_sample10_stream.open": "streamLikesSample10",
}
