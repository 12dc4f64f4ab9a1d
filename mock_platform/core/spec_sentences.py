"""The sentences of the specification that assumptions complete.

Most say that something is not shown. An assumption has the sentence of its id, else that of the
part of its id before the dot. These are those of the kernel; each subject declares its own. A test
checks that the specification has each of them.
"""

from __future__ import annotations

from collections.abc import Mapping

_OTHER_V2 = "Shapes of all other v2 endpoints: not shown"
_ADS_ERRORS = "Error body format and HTTP status codes for other failures: not shown"
_OAUTH = "OAuth 1.0a endpoints (three-legged flow, token revocation)"
_RATES = "Numeric rate limits: not shown"
_SCOPES = "OAuth 2.0 scope names and consent rules: not shown"
_PROBLEMS = "Mapping from problem types to HTTP status codes: not shown"
SPEC_SENTENCES: Mapping[str, str] = {
    "ads": _ADS_ERRORS,
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
    "problem": _PROBLEMS,
    "releases": "Release history items that fix behavior",
    "strict": _OTHER_V2,
}
"""What the specification says, by the id of an assumption, or by the part before the dot."""


def find_sentence(sentences: Mapping[str, str], id_: str) -> str:
    """Returns the sentence that an assumption completes; empty for assumptions of extensions."""
    return sentences.get(id_) or sentences.get(id_.partition(".")[0], "")
