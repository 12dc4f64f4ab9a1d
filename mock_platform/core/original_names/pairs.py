"""The pairs of neutral and original names, by dialect (reference, original names).

A table of its own for each dialect, because the same neutral name can have another original
elsewhere: `post_id` is `tweet_id` on the advertising interface and `post_id` under `/2`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from msgspec import Struct, field

from mock_platform.core.operation import Dialect

Names = Mapping[str, str]


class Pairs(Struct, frozen=True):
    """The pairs of one dialect, each from neutral to original."""

    names: Names
    """Names of parameters, fields and keys."""
    values: Mapping[str, Names] = field(default_factory=dict)
    """Values, by the neutral name of the field that has them."""
    within: Mapping[str, Pairs] = field(default_factory=dict)
    """Further pairs that hold only below a key."""
    named: frozenset[str] = frozenset()
    """Fields whose values are names of fields or parameters."""
    keyed: frozenset[str] = frozenset()
    """Fields whose values are objects with names of parameters as keys."""
    spoken: frozenset[str] = frozenset()
    """Fields whose values are sentences of the sandbox."""
    free: frozenset[str] = frozenset()
    """Keys whose values are the user's own or have no declared form: copied as they are."""


_CTA = ("first", "second", "third", "fourth")
_PLACEMENTS = {
    "ALL_ON_PLATFORM": "ALL_ON_TWITTER",
    "PLATFORM_SEARCH": "TWITTER_SEARCH",
    "PLATFORM_TIMELINE": "TWITTER_TIMELINE",
    "PLATFORM_PROFILE": "TWITTER_PROFILE",
    "PLATFORM_REPLIES": "TWITTER_REPLIES",
}
_ENTITIES = {"PROMOTED_POST": "PROMOTED_TWEET", "ORGANIC_POST": "ORGANIC_TWEET"}
_CODES = {
    "DUPLICATE_POST": "DUPLICATE_TWEET",
    "INVALID_POST": "INVALID_TWEET",
    "POST_CANNOT_BE_BLANK": "TWEET_CANNOT_BE_BLANK",
    "GENERIC_POST_ERROR": "GENERIC_TWEET_ERROR",
    "POST_IS_SPAM": "TWEET_IS_SPAM",
    "POST_NOT_FOUND": "TWEET_NOT_FOUND",
    "PROMOTED_POST_NOT_FOUND": "PROMOTED_TWEET_NOT_FOUND",
    "POST_RATE_LIMIT_EXCEEDED": "TWEET_RATE_LIMIT_EXCEEDED",
    "SCHEDULED_POST_LIMIT_EXCEEDED": "SCHEDULED_TWEET_LIMIT_EXCEEDED",
}
_FREE = frozenset({"entities", "extended_entities", "geo", "place", "coordinates", "value"})
_POST_OBJECT = {
    "repost_count": "retweet_count",
    "reposted": "retweeted",
    "in_reply_to_post_id": "in_reply_to_status_id",
    "in_reply_to_post_id_str": "in_reply_to_status_id_str",
    "extended_post": "extended_tweet",
    "reposted_status": "retweeted_status",
}
"""The post object of version 1.1, which the word for replies calls a status."""
ADS = Pairs(
    names={
        **_POST_OBJECT,
        **{f"{each}_cta_post": f"{each}_cta_tweet" for each in _CTA},
        "posted": "tweeted",
        "automatic_post_promotion": "automatic_tweet_promotion",
        "post_mode": "tweet_mode",
        "post_id": "tweet_id",
        "post_ids": "tweet_ids",
        "post_type": "tweet_type",
        "promoted_post_id": "promoted_tweet_id",
        "promoted_post_ids": "promoted_tweet_ids",
        "scheduled_post_id": "scheduled_tweet_id",
        "scheduled_promoted_post_id": "scheduled_promoted_tweet_id",
        "scheduled_promoted_post_ids": "scheduled_promoted_tweet_ids",
        "draft_post_id": "draft_tweet_id",
        "platform_id": "twitter_id",
        "post_volume": "tweet_volume",
        "reposts": "retweets",
        "posts_send": "tweets_send",
        "top_posts": "top_tweets",
    },
    values={
        "product_type": {"PROMOTED_POSTS": "PROMOTED_TWEETS"},
        "entity_type": _ENTITIES,
        "entity": _ENTITIES,
        "placements": _PLACEMENTS,
        "placement": _PLACEMENTS,
        "media_category": {
            "POST_IMAGE": "TWEET_IMAGE",
            "POST_GIF": "TWEET_GIF",
            "POST_VIDEO": "TWEET_VIDEO",
        },
        "promotable_user_type": {"REPOSTS_ONLY": "RETWEETS_ONLY"},
        "permissions": {"POST_COMPOSER": "TWEET_COMPOSER"},
        "data_type": {"promoted_post": "promoted_tweet"},
        "code": _CODES,
    },
    named=frozenset({"parameter"}),
    spoken=frozenset({"message"}),
    free=_FREE,
)
_SCOPES = {
    "post.read": "tweet.read",
    "post.write": "tweet.write",
    "post.moderate.write": "tweet.moderate.write",
}
_SELECTED = frozenset({"post.fields", "user.fields", "expansions", "parameter", "field", "fields"})
V2 = Pairs(
    names={
        "post.fields": "tweet.fields",
        "quote_post_id": "quote_tweet_id",
        "in_reply_to_post_id": "in_reply_to_tweet_id",
        "edit_history_post_ids": "edit_history_tweet_ids",
        "referenced_posts": "referenced_tweets",
        "note_post": "note_tweet",
        "media_source_post_id": "media_source_tweet_id",
        "media_source_post": "media_source_tweet",
        "repost_count": "retweet_count",
        "repost_count_str": "retweet_count_str",
        "post_count": "tweet_count",
        "post_count_str": "tweet_count_str",
        "total_post_count": "total_tweet_count",
        "most_recent_post_id": "most_recent_tweet_id",
        "pinned_post_id": "pinned_tweet_id",
        "liked_post_id": "liked_tweet_id",
        "liked_post_author_id": "liked_tweet_author_id",
        "post_author_id": "tweet_author_id",
    },
    values={
        "resource_type": {"post": "tweet"},
        "media_category": {
            "post_image": "tweet_image",
            "post_gif": "tweet_gif",
            "post_video": "tweet_video",
        },
        "endpoint_name": {
            "posts_compliance_stream": "tweets_compliance_stream",
            "post_label_stream": "tweet_label_stream",
        },
        "scope": _SCOPES,
    },
    within={
        "includes": Pairs({"posts": "tweets"}),
        "referenced_posts": Pairs({}, values={"type": {"reposted": "retweeted"}}),
    },
    named=_SELECTED,
    keyed=frozenset({"parameters"}),
    spoken=frozenset({"detail", "message"}),
    free=_FREE,
)
OAUTH = Pairs(names={}, values={"scope": _SCOPES})
ACCOUNT_ACTIVITY = Pairs(
    names={
        **_POST_OBJECT,
        "post_create_events": "tweet_create_events",
        "post_delete_events": "tweet_delete_events",
    },
    free=_FREE | {"users", "apps"},
)
"""The bodies of the account activity product, whose posts are those of version 1.1."""
PAIRS: Mapping[Dialect, Pairs] = {"ads": ADS, "v2": V2, "oauth": OAUTH}
_SEGMENTS = {
    "post": "tweet",
    "posts": "tweets",
    "promoted_posts": "promoted_tweets",
    "scheduled_posts": "scheduled_tweets",
    "draft_posts": "draft_tweets",
    "scheduled_promoted_posts": "scheduled_promoted_tweets",
    "post_previews": "tweet_previews",
}
_VERSION = re.compile(r"/12/")


def write_original_path(path: str, template: str, older: Collection[str] = ()) -> str:
    """Returns a path as the platform has it; `template` is that of its operation.

    `older` are the operation's further templates, which have the original names under `/2`.
    """
    own, given = template.split("/"), path.split("/")
    named = [_SEGMENTS.get(segment, segment) for segment in own]
    if template.startswith("/2/") and "/".join(named) not in older:
        return path
    fixed = [not segment.startswith(":") for segment in own]
    if len(own) != len(given) or any(
        f and o != g for f, o, g in zip(fixed, own, given, strict=True)
    ):
        return path  # one of the older templates
    return "/".join(new if f else sent for f, new, sent in zip(fixed, named, given, strict=True))


def list_original_paths(path: str, dialect: Dialect) -> list[str]:
    """Returns the further paths of an operation of the advertising interface under original names.

    Those of version 11 are among them. Under `/2` the older paths are always served.
    """
    if dialect != "ads":
        return []
    segments = path.split("/")
    named = "/".join(_SEGMENTS.get(segment, segment) for segment in segments)
    found = dict.fromkeys([path, named])
    if path.startswith("/12/"):
        found |= dict.fromkeys([_VERSION.sub("/11/", each, count=1) for each in found])
    del found[path]
    return list(found)
