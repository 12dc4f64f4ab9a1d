"""Assumptions: what the sandbox does although the specification does not show it, with the reason.

An assumption is a value that is defined next to the code that depends on it. Operations and
failures name their assumptions; from there they reach `X-Mock-Assumptions`, the documentation and
OpenAPI.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct


class Basis(Enum):
    """The basis of an assumption, best first."""

    PUBLIC_FACT = "public fact"
    SETTLED = "settled"
    EXPECTATION = "expectation"


class Assumption(Struct, frozen=True):
    """One recorded assumption.

    `gap` marks what the spec does not show at all (an operation, a parameter, a whole answer):
    `--strict` refuses it. Other assumptions add a detail to something that the spec does show.
    """

    id: str
    text: str
    basis: Basis
    source: str = ""
    gap: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the assumption in the form of `GET /_mock/assumptions`."""
        return {
            "id": self.id,
            "text": self.text,
            "basis": self.basis.value,
            "source": self.source,
            "refused_by_strict": self.gap,
        }


def public_fact(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """Return an assumption: the public interface is known to do this."""
    return Assumption(id_, text, Basis.PUBLIC_FACT, source, gap)


def settled(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """Return an assumption: one of several readings of spec and public facts was chosen."""
    return Assumption(id_, text, Basis.SETTLED, source, gap)


def expectation(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """Return an assumption: a user of such an interface would expect this."""
    return Assumption(id_, text, Basis.EXPECTATION, source, gap)


def register(*groups: Iterable[Assumption]) -> dict[str, Assumption]:
    """Return all assumptions by id, sorted.

    Raises:
        ValueError: Two different assumptions share an id.
    """
    found: dict[str, Assumption] = {}
    for group in groups:
        for assumption in group:
            if found.setdefault(assumption.id, assumption) != assumption:
                raise ValueError(f"two assumptions share the id {assumption.id!r}")
    return dict(sorted(found.items()))


# The sentences of the specification that assumptions complete. Most say that something is not
# shown. An assumption has the sentence of its id, else that of the part of its id before the dot.
# These are those of the kernel; each subject declares its own. A test checks that the specification
# has each of them.

_OTHER_V2 = "Shapes of all other v2 endpoints: not shown"
_ADS_ERRORS = "Error body format and HTTP status codes for other failures: not shown"
_OAUTH = "OAuth 1.0a endpoints (three-legged flow, token revocation)"
_RATES = "Numeric rate limits: not shown"
_SCOPES = "OAuth 2.0 scope names and consent rules: not shown"
_PROBLEMS = "Mapping from problem types to HTTP status codes: not shown"
SPEC_SENTENCES: Mapping[str, str] = {
    "ads": _ADS_ERRORS,
    "agents": _OTHER_V2,
    "auth": "The credential scheme used by the advertising endpoints: not shown",
    "errors": _ADS_ERRORS,
    "names": "The brand word inside identifiers is replaced by the neutral word 'platform'",
    "oauth": _OAUTH,
    "oauth.rate-limit": _RATES,
    "oauth.http-on-loopback": "All OAuth authorization steps must use HTTPS",
    "oauth.nonce-once": "oauth_nonce accepts ASCII values only",
    "oauth2": _SCOPES,
    "oauth2.permissions-override": "they override OAuth 2.0 scopes",
    "parameters": _ADS_ERRORS,
    "paths": _ADS_ERRORS,
    "problem": _PROBLEMS,
    "releases": "Release history items that fix behavior",
    "strict": _OTHER_V2,
    "wire": _OTHER_V2,
}
"""What the specification says, by the id of an assumption, or by the part before the dot."""


def find_sentence(sentences: Mapping[str, str], id_: str) -> str:
    """Return the sentence that an assumption completes; empty for assumptions of extensions."""
    return sentences.get(id_) or sentences.get(id_.partition(".")[0], "")
