"""Keeps the control plane from those it is not for.

It can rewrite every record, so a web page that a developer happens to visit must not reach it: a
foreign `Host` (DNS rebinding) and a foreign `Origin` are refused, and whatever carries a body must
say that it is JSON, which no plain form can. Beyond loopback a token is needed as well.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mock_platform.control.refusal import Refusal
from mock_platform.settings import Settings

TOKEN_HEADER = "X-Mock-Control-Token"
_WILDCARDS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - names them, binds nothing
_CHALLENGE = ("WWW-Authenticate", 'Basic realm="mock_platform control", charset="UTF-8"')

Environ = Mapping[str, Any]


def check(environ: Environ, settings: Settings) -> None:
    """Let a request to the control plane pass.

    Raises:
        Refusal: 403 for a foreign Host or Origin, or where a token is needed and none was set; 401
            for a token that is missing or wrong.
    """
    _check_host(environ, settings)
    _check_origin(environ)
    _check_token(environ, settings)


def check_form(environ: Environ) -> None:
    """Let a form of the console pass: the browser must say that the console sent it.

    Raises:
        Refusal: 403; it does not.
    """
    told = environ.get("HTTP_ORIGIN") or environ.get("HTTP_SEC_FETCH_SITE") == "same-origin"
    if not told:
        raise Refusal(
            403,
            "Forms are taken from the console's own pages only. Use the JSON routes under /_mock "
            "from elsewhere.",
        )


def _check_host(environ: Environ, settings: Settings) -> None:
    host = environ.get("HTTP_HOST")
    if host is None:  # HTTP/1.0; no browser sends such
        return
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        name = ""
    own = settings.host.lower()
    if name and "@" not in host:
        if settings.is_local(name) or name == own:
            return
        # An address cannot be rebound as a name can, and on all interfaces each one is our own.
        if own in _WILDCARDS and _is_address(name):
            return
    raise Refusal(
        403,
        f"The control plane does not answer to the Host {host!r}. Call it by a loopback name "
        "(127.0.0.1, localhost), or name the host with --public-host.",
    )


def _check_origin(environ: Environ) -> None:
    origin = environ.get("HTTP_ORIGIN")
    host = environ.get("HTTP_HOST", "")
    if origin is not None and origin.lower() not in {
        f"http://{host}".lower(),
        f"https://{host}".lower(),
    }:
        raise Refusal(
            403,
            f"A page of {origin} may not use the control plane. Call it from a test or a command "
            "line, or from a page of this server.",
        )
    if environ.get("HTTP_SEC_FETCH_SITE") != "cross-site":
        return
    # Following a link to the console shows it to the person, not to the page with the link.
    if environ["REQUEST_METHOD"] == "GET" and (
        environ.get("HTTP_SEC_FETCH_MODE") == "navigate"
        and environ.get("HTTP_SEC_FETCH_DEST") == "document"
    ):
        return
    raise Refusal(
        403,
        "A page of another site may not use the control plane. Call it from a test or a command "
        "line, or from a page of this server.",
    )


def _check_token(environ: Environ, settings: Settings) -> None:
    wanted = settings.control_token
    if wanted is None:
        if settings.loopback:
            return
        raise Refusal(
            403,
            "This server can be reached from other machines, so its control plane needs a token, "
            "and none was set. Start it with --control-token TOKEN, or on 127.0.0.1.",
        )
    given = _given_token(environ)
    if given is not None and hmac.compare_digest(given, wanted.encode()):
        return
    wrong = "is missing" if given is None else "is wrong"
    raise Refusal(
        401,
        f"The control token {wrong}. Send the one that the server was started with, as "
        f"`{TOKEN_HEADER}: TOKEN` or `Authorization: Bearer TOKEN`; a browser's password dialog "
        "takes it as the password.",
        headers=[_CHALLENGE],
    )


def _given_token(environ: Environ) -> bytes | None:
    """The token as it was sent; a WSGI environ holds the bytes of headers as Latin-1."""
    header: str | None = environ.get("HTTP_X_MOCK_CONTROL_TOKEN")
    if header is not None:
        return header.encode("latin-1")
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").encode("latin-1").partition(b" ")
    if scheme.lower() == b"bearer":
        return bytes(rest.strip())
    if scheme.lower() == b"basic":
        try:
            pair = base64.b64decode(rest.strip(), validate=True)
        except binascii.Error:
            return None
        return pair.partition(b":")[2]
    return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
