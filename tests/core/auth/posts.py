"""Requests as they reach authentication: signed, with a bearer token, or by HTTP Basic."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, cast
from urllib.parse import quote, urlsplit

from oauthlib.oauth1 import SIGNATURE_TYPE_BODY, Client

from mock_platform.core.call import FORM, Call
from tests.support import HARBOR, Keys

URL = "http://localhost/1.1/oauth/invalidate_token.json"


def request(url: str = URL, headers: dict[str, str] | None = None, body: str | None = None) -> Call:
    """A POST as it reaches authentication."""
    parts = urlsplit(url)
    return Call(
        "POST", url, parts.path, "http://localhost", list((headers or {}).items()),
        body=(body or "").encode(), query_string=parts.query,
    )  # fmt: skip


def signed(keys: Keys = HARBOR, url: str = URL, **more: Any) -> Call:
    """A signed POST; `more` goes to the OAuth library."""
    client = Client(keys.key, keys.secret, keys.token, keys.token_secret, **more)
    in_body = more.get("signature_type") == SIGNATURE_TYPE_BODY
    headers = {"Content-Type": FORM} if in_body else {}
    url, found, body = client.sign(url, "POST", "" if in_body else None, headers)
    return request(url, cast("dict[str, str]", found), body)


def bearer(value: str) -> Call:
    """A POST with a bearer token."""
    return request(headers={"Authorization": f"Bearer {value}"})


def basic(key: str, secret: str) -> Call:
    """A POST with HTTP Basic."""
    pair = b64encode(f"{quote(key, '')}:{quote(secret, '')}".encode()).decode()
    return request(headers={"Authorization": f"Basic {pair}"})
