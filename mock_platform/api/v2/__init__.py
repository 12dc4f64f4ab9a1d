"""The v2 interface: its conventions, and a folder for each subject.

`ORIGINAL_NAMES` are the names that several subjects share; those of one subject are in its folder.
"""

from mock_platform.core.original_names.translation import Pairs

SCOPE_NAMES = {
    "post.read": "tweet.read",
    "post.write": "tweet.write",
    "post.moderate.write": "tweet.moderate.write",
}
POST_OBJECT_NAMES = {
    "repost_count": "retweet_count",
    "reposted": "retweeted",
    "in_reply_to_post_id": "in_reply_to_status_id",
    "in_reply_to_post_id_str": "in_reply_to_status_id_str",
    "extended_post": "extended_tweet",
    "reposted_status": "retweeted_status",
}
"""The post object of version 1.1, which the word for replies calls a status."""
FREE_KEYS = frozenset({"entities", "extended_entities", "geo", "place", "coordinates", "value"})
_SELECTED = ("post.fields", "user.fields", "expansions", "parameter", "field", "fields")
ORIGINAL_NAMES = Pairs(
    names={"post.fields": "tweet.fields", "post_count": "tweet_count"},
    values={"resource_type": {"post": "tweet"}, "scope": SCOPE_NAMES},
    segments={"posts": "tweets"},
    within={"includes": Pairs({"posts": "tweets"})},
    named=frozenset(_SELECTED),
    keyed=frozenset({"parameters"}),
    spoken=frozenset({"detail", "message"}),
    free=FREE_KEYS,
)
NAMED_POST = ORIGINAL_NAMES.join(Pairs({"post_id": "tweet_id"}))
"""Of operations whose path or body names a post; notes, news and articles say `post_id` as well."""
OTHER_SHAPES = "Shapes of all other v2 endpoints: not shown"
PAYLOADS = "Event payload shapes: not shown"
"""What the specification says of what it does not show, for several subjects."""
SPEC_SENTENCES = {
    "costs": OTHER_SHAPES,
    "events": "event type naming moved to dot-separated",
    "openapi": "machine-readable description of version 2.166",
    "v2": OTHER_SHAPES,
}
