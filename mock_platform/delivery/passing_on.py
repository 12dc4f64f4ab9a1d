"""What of a client's request is passed on to the real service: nothing that is this server's.

Browsers send the cookies of a host to all its ports, and offer a password that they know for any
path. So a request for an operation, or to `record`, can carry what opens the console.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable

CONTROL_TOKEN = "x-mock-control-token"
OF_SERVER = "mock_platform_"
"""The beginning of the names of all cookies that a sandbox sets."""
OF_CONSOLE = ("mock_platform_console", "mock_platform_said")
"""The beginnings of the names of the console's cookies."""


def leave_out_own(
    headers: Iterable[tuple[str, str]],
    cookies: str | tuple[str, ...],
    control_token: str | None = None,
) -> list[tuple[str, str]]:
    """Returns the headers without the control token, and without cookies whose names begin so."""
    kept = []
    for name, value in headers:
        folded = name.lower()
        if folded == CONTROL_TOKEN:
            continue
        if folded == "authorization" and _has_token(value, control_token):
            continue
        shown = _leave_out_cookies(value, cookies) if folded == "cookie" else value
        if shown or not value:
            kept.append((name, shown))
    return kept


def _leave_out_cookies(value: str, names: str | tuple[str, ...]) -> str:
    if "mock_platform" not in value:
        return value
    parts = [part.strip() for part in value.split(";")]
    return "; ".join(part for part in parts if part and not part.startswith(names))


def _has_token(value: str, token: str | None) -> bool:
    """Whether the credentials of a request are the control token, as the guard would read it."""
    if token is None:
        return False
    scheme, _, rest = value.partition(" ")
    given = rest.strip().encode("latin-1", "replace")
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2]
        except binascii.Error:
            return False
    return hmac.compare_digest(given, token.encode())
