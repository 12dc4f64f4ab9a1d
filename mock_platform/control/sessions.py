"""Sessions of the console: what a browser keeps in place of the control token.

The value is signed with the token and does not contain it. So every process with the same token
accepts it, and it is worth nothing after the token was changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer

from mock_platform.world.ids import unguessable

MAX_SECONDS = 12 * 60 * 60
"""Real seconds after which a session ends."""
_COOKIE = "mock_platform_console"


def name_cookie(environ: Mapping[str, Any]) -> str:
    """Returns the name of the cookie: browsers send cookies to all ports of a host."""
    port = str(environ.get("HTTP_HOST", "")).rpartition(":")[2]
    return f"{_COOKIE}_{port}" if port.isdecimal() else _COOKIE


def start_session(token: str) -> str:
    """Returns the value of a new session's cookie."""
    return str(_signer(token).dumps(unguessable(12)))


def has_session(environ: Mapping[str, Any], token: str) -> bool:
    """Whether a request belongs to a session that was started with this token."""
    sent: SimpleCookie = SimpleCookie()
    try:
        sent.load(environ.get("HTTP_COOKIE", ""))
    except CookieError:
        return False
    found = sent.get(name_cookie(environ))
    if found is None:
        return False
    try:
        _signer(token).loads(found.value, max_age=MAX_SECONDS)
    except BadData:
        return False
    return True


def _signer(token: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(token, salt="mock_platform.console")
