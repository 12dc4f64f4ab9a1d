"""Cheap conditions that a stored post must fulfil before a query can match it.

A search looks at thousands of posts, and to take each apart for the evaluator would cost most of
its time. A condition here may let a post through that does not match, but never the other way
round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mock_platform.rules.post_rules.operators import COUNTED
from mock_platform.rules.post_rules.subject import tokens_of
from mock_platform.rules.post_rules.tree import And, Clause, Node, Or
from mock_platform.rules.post_view import COUNTS
from mock_platform.store.interface import Record

Sieve = Callable[[Record, str], bool]
"""Takes a stored post and its folded text."""
_FIELDS = {
    ("is", "reply"): "in_reply_to_status_id_str",
    ("is", "quote"): "_quoted_post_id",
    ("is", "repost"): "_reposted_post_id",
    ("has", "media"): "_media_keys",
    ("has", "images"): "_media_keys",
    ("has", "video_link"): "_media_keys",
}
_ENTITIES = {
    "hashtag": ("hashtags", "text"),
    "cashtag": ("symbols", "text"),
    "mention": ("user_mentions", "screen_name"),
}
_ENTITIES_OF_FEATURES = {
    "hashtags": "hashtags",
    "cashtags": "symbols",
    "mentions": "user_mentions",
    "links": "urls",
}


def make_sieve(node: Node) -> Sieve | None:
    """Return a condition that every match of a tree fulfils, or `None` if no cheap one is known."""
    match node:
        case Clause():
            return _sieve_clause(node)
        case And():
            found = [sieve for term in node.terms if (sieve := make_sieve(term)) is not None]
            return (lambda post, text: all(each(post, text) for each in found)) if found else None
        case Or():
            parts = [make_sieve(term) for term in node.terms]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            return lambda post, text: any(each(post, text) for each in known)
    return None


def _sieve_clause(clause: Clause) -> Sieve | None:
    value = clause.value.casefold()
    if clause.kind in {"word", "phrase", "near"}:
        words = tokens_of(clause.value, "search")
        return lambda _post, text: all(word in text for word in words)
    if clause.kind in _ENTITIES:
        return _sieve_entities(*_ENTITIES[clause.kind], value)
    return _sieve_operator(clause.operator, value)


def _sieve_operator(operator: str, value: str) -> Sieve | None:
    if operator in COUNTED:
        name, least = COUNTS[COUNTED[operator]], int(value)
        return lambda post, _text: (post.get(name) or 0) >= least
    if operator == "lang":
        return lambda post, _text: str(post.get("lang") or "").casefold() == value
    field = _FIELDS.get((operator, value))
    if field is not None:
        return lambda post, _text: bool(post.get(field))
    if operator == "has" and value in _ENTITIES_OF_FEATURES:
        kind = _ENTITIES_OF_FEATURES[value]
        return lambda post, _text: bool((post.get("entities") or {}).get(kind))
    return None


def _sieve_entities(kind: str, part: str, value: str) -> Sieve:
    def has_entity(post: Record, _text: str) -> bool:
        found: Any = (post.get("entities") or {}).get(kind) or ()
        return any(str(one.get(part)).casefold() == value for one in found)

    return has_entity
