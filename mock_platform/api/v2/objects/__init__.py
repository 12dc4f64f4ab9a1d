"""Posts and users: how they are stored, and how either interface shows them."""

from mock_platform.api.v2.objects import posts, relations
from mock_platform.core.original_names.translation import Pairs

TABLES = (*posts.TABLES, *relations.TABLES)
ORIGINAL_NAMES = Pairs(
    names={
        "edit_history_post_ids": "edit_history_tweet_ids",
        "referenced_posts": "referenced_tweets",
        "note_post": "note_tweet",
        "media_source_post_id": "media_source_tweet_id",
        "media_source_post": "media_source_tweet",
        "repost_count": "retweet_count",
        "repost_count_str": "retweet_count_str",
        "post_count_str": "tweet_count_str",
        "most_recent_post_id": "most_recent_tweet_id",
        "pinned_post_id": "pinned_tweet_id",
    },
    within={
        "referenced_posts": Pairs(values={"type": {"reposted": "retweeted"}}),
        "withheld": Pairs(values={"scope": {"post": "tweet"}}),
    },
)
