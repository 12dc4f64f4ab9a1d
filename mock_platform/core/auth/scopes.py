"""The scopes of OAuth 2.0 user tokens: their names, former names, and what a token lacks.

Document A says that there are fine-grained scopes and shows no names; they are public facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem

SCOPES = (
    "post.read", "post.write", "post.moderate.write", "users.read", "users.email",
    "follows.read", "follows.write", "offline.access", "space.read", "mute.read", "mute.write",
    "like.read", "like.write", "list.read", "list.write", "block.read", "block.write",
    "bookmark.read", "bookmark.write", "dm.read", "dm.write", "media.write", "timeline.read",
    "broadcast.read", "broadcast.write",
)  # fmt: skip
OFFLINE = "offline.access"
"""The scope with which an app also gets a refresh token."""
_FORMER: Mapping[str, str] = {
    "tweet.read": "post.read",
    "tweet.write": "post.write",
    "tweet.moderate.write": "post.moderate.write",
}

NAMES = public_fact(
    "oauth2.scope-names",
    "The names of the scopes are public facts; the spec shows none. The older words of three of "
    "them are taken as well, and answers repeat the words that the client asked with, because "
    "client libraries compare the two.",
    "section 9 of the named endpoints; A, Authentication, rule 5",
)
MISSING = expectation(
    "oauth2.missing-scope",
    "An OAuth 2.0 user token without a scope that the endpoint needs is refused with 403 "
    "about:blank; the detail names the scopes that are missing and those that the token has.",
)


def canonicalize(scope: str) -> str:
    """Returns the name in force of a scope."""
    return _FORMER.get(scope, scope)


def find_missing(needed: Iterable[str], held: Iterable[str]) -> list[str]:
    """Returns the scopes that are needed and not held, in the order in which they are needed."""
    known = {canonicalize(scope) for scope in held}
    return [scope for scope in needed if scope not in known]


def refuse_missing(missing: Iterable[str], token: Mapping[str, Any]) -> ProblemFailure:
    """Returns the refusal of a user token that lacks these scopes."""
    held = ", ".join(token["scopes"]) or "none"
    text = (
        f"This endpoint needs the scope {_join(missing)}, which the token does not have. The "
        f"user allowed: {held}. Ask the user again, with the missing scope."
    )
    refusal = problem("about:blank", title="Forbidden", status=403, detail=text)
    return ProblemFailure(refusal, MISSING, NAMES)


def _join(scopes: Iterable[str]) -> str:
    return " and ".join(scopes)
