"""How two processes show each other that they know the same secret, which is never sent.

Each side draws a random text and answers the other's with a code of both. So neither a stranger who
connects, nor one who listens where a process was before, learns or gets anything.
"""

from __future__ import annotations

import hmac
import os

FRONT, OWNER = b"front", b"owner"
NONCE_BYTES = 32


def draw() -> bytes:
    """Returns the random text of one side."""
    return os.urandom(NONCE_BYTES)


def prove(secret: bytes, side: bytes, first: bytes, second: bytes) -> bytes:
    """Returns the code of a side for the text of the owner and that of the front."""
    return hmac.digest(secret, b"%b %b%b" % (side, first, second), "sha256")


def is_proof(given: bytes, secret: bytes, side: bytes, first: bytes, second: bytes) -> bool:
    """Whether a code is right; how long that takes does not depend on the code."""
    return hmac.compare_digest(given, prove(secret, side, first, second))
