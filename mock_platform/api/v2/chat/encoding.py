"""The binary form of chat events: what the server adds to a client's text, and the little it reads.

Clients send encrypted texts as structs of Thrift's binary protocol, in base64. The numbers of the
fields are those of the vendor's published chat library. Nothing here decrypts anything.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

_STOP, _TEXT, _STRUCT, _MAP, _LIST = 0, 11, 12, 13, 15
_LISTS = (14, 15)
_WIDTHS = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8}
"""Bytes of the values that always have the same number of them, by type."""
_DEEPEST = 32
MESSAGE, KEYS, GROUP, TYPING, DELETION, READ = 1, 3, 4, 6, 7, 12
"""The numbers of what an event may be about."""
SIGNATURE_FIELDS = ("signature", "public_key_version", "signature_version", "signing_public_key")
"""The fields of a signature that everybody sees, in the order of their numbers."""


def decode(text: str) -> bytes:
    """Return what a text in base64 holds, in either alphabet; nothing if it is not base64."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:
        return b""


def read_fields(data: bytes) -> dict[int, bytes] | None:
    """Return the fields of a struct by number: the bytes of texts, and those of whole structs.

    `None` if it is not a struct, or not a struct alone.

    Example:
        >>> read_fields(write_text(101, "17") + bytes(1)), read_fields(b"Hello")
        ({101: b'17'}, None)
    """
    try:
        fields, end = _read_struct(data, 0, 0)
    except (IndexError, ValueError, struct.error):
        return None
    return fields if end == len(data) else None


def read_path(data: bytes, *numbers: int) -> dict[int, bytes] | None:
    """Return the fields of a struct that is inside others; `None` if it is not there."""
    fields = read_fields(data)
    for number in numbers:
        if fields is None:
            return None
        fields = read_fields(fields.get(number, b""))
    return fields


def _read_struct(data: bytes, at: int, depth: int) -> tuple[dict[int, bytes], int]:
    if depth > _DEEPEST:
        raise ValueError(depth)
    fields: dict[int, bytes] = {}
    while data[at] != _STOP:
        kind, number = struct.unpack_from(">bh", data, at)
        start, at = at + 3, _skip(data, at + 3, kind, depth)
        fields[number] = data[start + 4 if kind == _TEXT else start : at]
    return fields, at + 1


def _skip(data: bytes, at: int, kind: int, depth: int) -> int:
    """Return where a value ends.

    Raises:
        ValueError: It is not a value of this type.
    """
    if kind == _STRUCT:
        return _read_struct(data, at, depth + 1)[1]
    if kind == _TEXT:
        end = at + 4 + _read_size(data, at)
    elif kind in _WIDTHS:
        end = at + _WIDTHS[kind]
    elif kind in _LISTS or kind == _MAP:
        kinds = data[at : at + (2 if kind == _MAP else 1)]
        at += len(kinds)
        size, end = _read_size(data, at), at + 4
        if depth > _DEEPEST or size > len(data):  # an item has a byte at least
            raise ValueError(size)
        for _ in range(size):
            for each in kinds:
                end = _skip(data, end, each, depth + 1)
    else:
        raise ValueError(kind)
    if end > len(data):
        raise ValueError(end)
    return end


def _read_size(data: bytes, at: int) -> int:
    size: int = struct.unpack_from(">i", data, at)[0]
    if size < 0:
        raise ValueError(size)
    return size


def write_text(number: int, text: str | bytes | None) -> bytes:
    """Return a field with a text; nothing without one."""
    if text is None:
        return b""
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack(">bhi", _TEXT, number, len(raw)) + raw


def write_struct(number: int, fields: bytes) -> bytes:
    """Return a field with a struct of these fields."""
    return struct.pack(">bh", _STRUCT, number) + fields + bytes(1)


def write_long(number: int, value: int) -> bytes:
    """Return a field with a number of 64 bits."""
    return struct.pack(">bhq", 10, number, value)


def write_structs(number: int, items: Iterable[bytes]) -> bytes:
    """Return a field with a list of structs, each given by its fields."""
    whole = [item + bytes(1) for item in items]
    return struct.pack(">bhbi", _LIST, number, _STRUCT, len(whole)) + b"".join(whole)


def write_keys(version: str, keys: Iterable[Mapping[str, Any]]) -> bytes:
    """Return what an event says about new keys: their version, and the key of each participant."""
    names = ("user_id", "encrypted_conversation_key", "public_key_version")
    items = (
        b"".join(write_text(at, key[name]) for at, name in enumerate(names, 1)) for key in keys
    )
    return write_struct(KEYS, write_text(1, version) + write_structs(2, items))


def write_signature(signature: Mapping[str, Any]) -> bytes:
    """Return the fields of a signature."""
    return b"".join(
        write_text(at, signature.get(name)) for at, name in enumerate(SIGNATURE_FIELDS, 1)
    )


def read_signature(text: str) -> dict[str, str]:
    """Return a signature in the form in which events show it.

    One that is not of this form is shown as it was sent.
    """
    fields = read_fields(decode(text))
    if not fields:
        return {"signature": text}
    return {
        name: fields[at].decode(errors="replace")
        for at, name in enumerate(SIGNATURE_FIELDS, 1)
        if at in fields
    }


def write_event(event: Mapping[str, Any], detail: bytes) -> str:
    """Return an event as its receivers read it, in base64; `detail` is what it is about."""
    signature = event.get("message_event_signature")
    parts = (
        write_text(1, event.get("id")),
        write_text(2, event.get("_message_id")),
        write_text(3, event["sender_id"]),
        write_text(4, event["conversation_id"]),
        write_text(5, event["conversation_token"]),
        write_text(6, event["created_at_msec"]),
        write_struct(7, detail),
        write_struct(9, write_signature(signature)) if signature else b"",
        write_text(10, event.get("previous_id")),
        struct.pack(">bhb", 2, 11, 1),
        bytes(1),
    )
    return b64encode(b"".join(parts)).decode()
