"""Takes credentials out of what the journal and the logs show.

Keys that identify (a consumer key, a nonce) stay, because they are what one searches for; whatever
would let a reader act as somebody else goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

MASK = "[redacted]"

_SECRET_NAMES = (
    "oauth_token_secret|oauth_signature|oauth_verifier|oauth_token|access_token|access_token_secret"
    "|consumer_secret|bearer_token|password|authenticity_token|crc_token|response_token|pin"
    "|x_auth_password|client_secret"
)
_PAIR = re.compile(rf"(?<![A-Za-z0-9_])({_SECRET_NAMES})=([^&\s\"]+)", re.ASCII)
_QUOTED = re.compile(rf"(?<![A-Za-z0-9_])({_SECRET_NAMES})=\"[^\"]*\"", re.ASCII)
_JSON = re.compile(rf"\"({_SECRET_NAMES})\"(\s*:\s*)\"(?:[^\"\\]|\\.)*\"", re.ASCII)
_HIDDEN_INPUT = re.compile(rf"(name=\"(?:{_SECRET_NAMES})\"[^>]*?value=)\"[^\"]*\"", re.ASCII)
_PIN = re.compile(r"(<code id=\"pin\"[^>]*>)[^<]*", re.ASCII)


def text(value: str) -> str:
    """A URL, a form body, JSON or a page without the credentials in it."""
    value = _QUOTED.sub(rf'\1="{MASK}"', value)
    value = _PAIR.sub(rf"\1={MASK}", value)
    value = _JSON.sub(rf'"\1"\2"{MASK}"', value)
    value = _HIDDEN_INPUT.sub(rf'\1"{MASK}"', value)
    return _PIN.sub(rf"\1{MASK}", value)


def key(table: str, value: str) -> str:
    """A record's key as it may be shown: that of a token is the token itself, and is cut."""
    return f"{value[:12]}…" if table == "tokens" else value


def header(name: str, value: str) -> str:
    """One header's value as it may be shown."""
    folded = name.lower()
    if folded in {"authorization", "proxy-authorization"}:
        scheme, _, rest = value.partition(" ")
        return f"{scheme} {text(rest)}" if scheme.lower() == "oauth" else f"{scheme} {MASK}"
    if folded == "cookie":
        return MASK
    if folded == "set-cookie":
        return re.sub(r"=[^;]*", f"={MASK}", value, count=1)
    if folded == "x-mock-control-token":
        return MASK
    return text(value)


def headers(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Headers as they may be shown: `[name, value]` each, in order, repeated ones kept."""
    return [[name, header(name, value)] for name, value in pairs]


def body(data: bytes, content_type: str | None, limit: int) -> dict[str, Any]:
    """A body as it may be shown: its size, its text without credentials, whether it was cut."""
    shown: dict[str, Any] = {"size": len(data), "content_type": content_type}
    try:
        shown["text"] = text(data[:limit].decode())
    except UnicodeDecodeError:
        shown["text"] = text(data[:limit].decode("utf-8", "replace"))
        shown["lossy"] = True
    if len(data) > limit:
        shown["truncated"] = True
    return shown
