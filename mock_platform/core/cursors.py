"""Cursors: opaque texts that hold where the next page of a list begins.

A cursor holds a position, not a number of records to skip, so pages stay right while records are
added and deleted between them. It is valid for its operation and order alone.
"""

from __future__ import annotations

from itsdangerous import BadSignature, Signer, base64_decode, base64_encode

from mock_platform.core.call import Call
from mock_platform.core.jsonio import dumps, loads
from mock_platform.world.store.interface import Entry, Order, Position

_signer = Signer("a cursor hides nothing; the signature tells ours from others", salt="cursor")


class BadCursor(ValueError):
    """A text that is no cursor of this list."""


def make_cursor(call: Call, order: Order, entry: Entry) -> str:
    """Return the cursor of the page that begins behind an entry."""
    key, seq = entry.position
    # The cursor has the operation and the order inside, because a position means nothing in another
    # list: it is refused there and not taken for a place. It is signed so that a text that somebody
    # made up is refused too; it is no secret.
    content = dumps([call.operation, order.field, order.descending, list(key), seq])
    return _signer.sign(base64_encode(content)).decode()


def read_cursor(call: Call, order: Order, text: str) -> Position:
    """Return the position that a cursor holds.

    Raises:
        BadCursor: It belongs to another operation or order, or is no cursor.
    """
    try:
        operation, field, descending, key, seq = loads(base64_decode(_signer.unsign(text)))
    except BadSignature as fault:
        raise BadCursor(text) from fault
    if operation != call.operation or (field, descending) != (order.field, order.descending):
        raise BadCursor(text)
    return tuple(key), seq


def make_seal(scope: bytes, text: str) -> int:
    """Return a number of 160 bits that only this text in this scope has."""
    return int.from_bytes(base64_decode(_signer.get_signature(scope + text.encode())))
