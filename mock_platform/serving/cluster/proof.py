"""How two processes show each other that they know the same secret, which is never sent.

Each side draws a random text and answers the other's with a code of both. So neither a stranger who
connects, nor one who listens where a process was before, learns anything from the codes.

That alone does not keep out who passes the texts on. Someone who listens at the address of a dead
process can let a living one, which knows the secret, give the right answers; both sides would take
him for the other one. So a code is about more than the texts: about the process that the front
means to reach, by its name and its address, and about the channel (`channel`), by the certificate
that ends it. A living process makes a code for its own name and its own certificate, and the front
expects one for those that it sees: passed on, the code is wrong. What is passed on whole, with
the TLS in it, no program on the way can read or change.
"""

from __future__ import annotations

import hmac
import os

from msgspec import Struct

from mock_platform.serving.cluster import Place

FRONT, OWNER = b"front", b"owner"
NONCE_BYTES = 32


class Greeting(Struct, frozen=True):
    """What a code is about; both sides must have the same."""

    first: bytes
    """The random text of the owner."""
    second: bytes
    """The random text of the front."""
    owner: Place
    """The process that the front means to reach, and that the owner is."""
    channel: bytes
    """The fingerprint of the owner's certificate, as the front sees it and as the owner has it."""

    def prove(self, secret: bytes, side: bytes) -> bytes:
        """Returns the code of a side."""
        # The side is part of it, so that a code cannot be sent back to the one who made it: without
        # it, an attacker could open a second connection and let one side compute the answer for the
        # other (a reflection). Both random texts are part of it, so no code is ever valid a second
        # time.
        about = f"{self.owner.label} {self.owner.address}".encode()
        # All but the last part have a fixed length, or are one of two words.
        parts = (side, b" ", self.first, self.second, self.channel, about)
        return hmac.digest(secret, b"".join(parts), "sha256")

    def is_proof(self, given: bytes, secret: bytes, side: bytes) -> bool:
        """Whether a code is right; how long that takes does not depend on the code."""
        # Texts of another length could shift what is hashed: bytes of one part would count as those
        # of the next. The comparison comes first and is always made, so its time says nothing.
        whole = len(self.first) == len(self.second) == NONCE_BYTES
        return hmac.compare_digest(given, self.prove(secret, side)) and whole


def draw() -> bytes:
    """Returns the random text of one side."""
    return os.urandom(NONCE_BYTES)
