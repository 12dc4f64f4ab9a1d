"""Signatures by which receiver and platform know each other: HMAC with the consumer secret.

Public facts, section 6: the signature of a delivery, and the challenge (CRC) that an address must
answer before anything is delivered to it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from urllib.parse import quote

from mock_platform.core.jsonio import BadJson, loads

SIGNATURE_HEADERS = ("x-platform-webhooks-signature", "x-twitter-webhooks-signature")
"""The neutral name and the original one, which existing receivers read."""


def make_signature(consumer_secret: str, data: bytes) -> str:
    """Return `sha256=` and the base64 of HMAC-SHA256 over the raw bytes."""
    digest = hmac.new(consumer_secret.encode(), data, hashlib.sha256).digest()
    return "sha256=" + base64.b64encode(digest).decode()


def make_challenge_url(url: str, token: str) -> str:
    """Return the webhook's address with `crc_token` added to its query."""
    address, _, fragment = url.partition("#")
    del fragment  # never sent
    return f"{address}{'&' if '?' in address else '?'}crc_token={quote(token, safe='')}"


def find_challenge_fault(consumer_secret: str, token: str, status: int, body: bytes) -> str | None:
    """Return what is wrong with the answer to a challenge; `None` if it is right."""
    if not 200 <= status < 300:
        return f"the challenge was answered with status {status}, not 200"
    try:
        answer = loads(body)
    except BadJson as fault:
        return f"the challenge's answer is {fault}"
    given = answer.get("response_token") if isinstance(answer, dict) else None
    if not isinstance(given, str):
        return 'the challenge\'s answer lacks "response_token", a string'
    expected = make_signature(consumer_secret, token.encode())
    if not hmac.compare_digest(given.encode(), expected.encode()):
        return (
            "the challenge's response_token is wrong: it must be sha256= and the base64 of "
            "HMAC-SHA256 over crc_token, with the consumer secret as key"
        )
    return None
