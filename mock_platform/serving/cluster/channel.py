"""What lies between two processes: no other program can be in the middle.

Processes of one machine meet at a socket in a private folder. The system says which user is at the
other end, so whoever made a folder of the same name after the process died is found out.

Processes of different machines speak TLS, each with a certificate of its own that no authority
signed. It is not the certificate that shows who is there, but the code of a `Greeting`, about
the certificate: someone in the middle has another one, and a code that is right for the one side is
wrong for the other.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import socket
import ssl
import struct
import sys

from msgspec import Struct

from mock_platform.core.installed import require_extra
from mock_platform.serving.cluster import Place
from mock_platform.serving.http.tls import TlsMaterial

LOCAL = bytes(hashlib.sha256().digest_size)
"""In place of the fingerprint of a certificate, between processes of one machine."""
_LINUX = struct.Struct("3i")
"""Process, user and group of a peer (unix(7))."""
_BSD = struct.Struct("2I68x")
"""Version and user of a peer, then its groups (`xucred`)."""
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1


class Certificate(Struct, frozen=True):
    """What a process listens with for other machines, and the fingerprint of its certificate."""

    context: ssl.SSLContext
    fingerprint: bytes


def make_certificate() -> Certificate:
    """Return a new certificate, which lives as long as this process.

    Raises:
        MissingExtra: The library that makes it is not installed.
    """
    require_extra("Connections between machines (--advertise)", "redis", "trustme")
    material = TlsMaterial.generate()
    context = material.server_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # A resumed connection would skip the certificate, and the proof is about the certificate. So
    # there are no tickets to resume with.
    context.num_tickets = 0  # each connection shows the certificate again
    pem = material.certificate.read_text("ascii")
    begin = pem.index(ssl.PEM_HEADER)
    end = pem.index(ssl.PEM_FOOTER) + len(ssl.PEM_FOOTER)
    return Certificate(context, _hash(ssl.PEM_cert_to_DER_cert(pem[begin:end])))


def make_client_context() -> ssl.SSLContext:
    """Return the TLS settings of a front: any certificate will do, as the code is about it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # No authority would help here: processes start and end, have addresses that change, and know
    # each other only by their secret. Whoever is at the other end can finish the TLS handshake, but
    # learns nothing from it; the first thing sent is the proof, which only fits the certificate
    # that both honest sides see.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def find_fingerprint(transport: asyncio.Transport) -> bytes:
    """Return the fingerprint of the certificate that the other side has; `LOCAL` without TLS."""
    tls = transport.get_extra_info("ssl_object")
    return LOCAL if tls is None else _hash(tls.getpeercert(binary_form=True) or b"")


def is_stranger(transport: asyncio.Transport) -> bool:
    """Whether another user is at the other end of a socket of this machine."""
    if transport.get_extra_info("ssl_object") is not None:
        return False
    return not is_own_user(transport.get_extra_info("socket"))


def is_own_user(peer: socket.socket) -> bool:
    """Whether a process of our user is at the other end of a Unix socket, as the system says."""
    try:
        # The system notes the user when the socket is connected, and the other side cannot change
        # it. On Linux this is one structure of three numbers; the BSDs and macOS return a longer
        # one, of which the user is the second number.
        if sys.platform == "linux":
            found = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size)
        else:
            found = peer.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _BSD.size)
        layout = _LINUX if sys.platform == "linux" else _BSD
        return bool(layout.unpack(found)[1] == os.geteuid())
    except (OSError, struct.error):  # the peer has left, or the system does not say
        return False


def _hash(certificate: bytes) -> bytes:
    return hashlib.sha256(certificate).digest()


# How two processes show each other that they know the same secret, which is never sent: each side
# draws a random text and answers the other's with a code of both. So neither a stranger who
# connects, nor one who listens where a process was before, learns anything from the codes.
#
# That alone does not keep out who passes the texts on. Someone who listens at the address of a dead
# process can let a living one, which knows the secret, give the right answers; both sides would
# take him for the other one. So a code is about more than the texts: about the process that the
# front means to reach, by its name and its address, and about the certificate that ends the
# channel. A living process makes a code for its own name and its own certificate, and the front
# expects one for those that it sees: passed on, the code is wrong. What is passed on whole, with
# the TLS in it, no program on the way can read or change.

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
        """Return the code of a side."""
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
    """Return the random text of one side."""
    return os.urandom(NONCE_BYTES)
