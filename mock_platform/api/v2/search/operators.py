"""The operators of the rule language: where each may be used, and which values it takes.

The rows are those of the public pages (named endpoints, section 5.2). An operator that is accepted
but not evaluated never matches, and the journal warns of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct, field

from mock_platform.api.v2.conventions import ID

Product = Literal["stream", "search"]
"""What a rule is for: the filtered stream, or searches and counts."""

_USER = re.compile(r"@?[A-Za-z0-9_]{1,15}|[0-9]{1,19}", re.ASCII)
COUNTED = {
    "min_likes": "like_count", "min_replies": "reply_count", "min_reposts": "repost_count",
}  # fmt: skip
"""The operators that ask for a number, with the count of the post that they are about."""
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]{2,4})?", re.ASCII | re.IGNORECASE)
_ANY = re.compile(r".+", re.DOTALL)

IS_VALUES = ("repost", "reply", "quote", "verified", "nullcast")
HAS_VALUES = (
    "hashtags", "cashtags", "links", "mentions", "media", "images", "video_link", "geo",
)  # fmt: skip
_OLDER_NAMES = {
    "retweets_of": "reposts_of",
    "retweets_of_user": "reposts_of",
    "in_reply_to_tweet_id": "in_reply_to_post_id",
    "retweets_of_tweet_id": "reposts_of_post_id",
    "quotes_of_tweet_id": "quotes_of_post_id",
    "tweets_count": "posts_count",
}
_OLDER_VALUES = {("is", "retweet"): "repost"}


class Operator(Struct, frozen=True):
    """One operator: whether it may stand alone, what it takes, and in which products it exists."""

    name: str
    standalone: bool = True
    accepts: Callable[[str], bool] = field(default=lambda value: _ANY.fullmatch(value) is not None)
    products: tuple[Product, ...] = ("stream", "search")
    evaluated: bool = True
    values: tuple[str, ...] = ()
    """All values that it takes, where they are a closed set."""
    may_negate: bool = True
    available: bool = True
    """Whether the sandbox's product has it; an unavailable one is refused."""


def _matching(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda value: pattern.fullmatch(value) is not None


def _percent(value: str) -> bool:
    return _COUNT.fullmatch(value) is not None and 1 <= int(value) <= 100


def _one_of(values: tuple[str, ...]) -> Callable[[str], bool]:
    return lambda value: value.lower() in values


_ACCEPTED_ONLY = (
    "place", "place_country", "point_radius", "bounding_box", "context", "entity", "source",
    "url_title", "url_description", "url_contains", "from_affiliate_of", "to_affiliate_of",
    "followers_count", "posts_count", "following_count", "listed_count", "min_followers",
)  # fmt: skip
OPERATORS = {
    operator.name: operator
    for operator in (
        *(Operator(name, accepts=_matching(_USER)) for name in ("from", "to", "reposts_of")),
        Operator("url"),
        *(
            Operator(name, accepts=_matching(ID))
            for name in ("conversation_id", "in_reply_to_post_id", "reposts_of_post_id")
        ),
        Operator("quotes_of_post_id", accepts=_matching(ID), products=("search",)),
        *(Operator(name, accepts=_matching(_COUNT), products=("search",)) for name in COUNTED),
        Operator("is", standalone=False, accepts=_one_of(IS_VALUES), values=IS_VALUES),
        Operator("has", standalone=False, accepts=_one_of(HAS_VALUES), values=HAS_VALUES),
        Operator("lang", standalone=False, accepts=_matching(_LANGUAGE)),
        Operator(
            "sample", standalone=False, accepts=_percent, products=("stream",), may_negate=False
        ),
        *(
            Operator(name, products=("stream",), evaluated=False)
            for name in ("bio", "bio_name", "bio_location")
        ),
        *(Operator(name, evaluated=False) for name in _ACCEPTED_ONLY),
        Operator("list", accepts=_matching(ID), products=("search",)),
        Operator("embedding", may_negate=False, available=False),
        Operator("embedding_threshold", standalone=False, available=False),
    )
}


def neutral_name(name: str, value: str) -> tuple[str, str]:
    """Translate the older spelling of an operator and its value; others stay as they are."""
    name = _OLDER_NAMES.get(name, name)
    return name, _OLDER_VALUES.get((name, value.lower()), value)
