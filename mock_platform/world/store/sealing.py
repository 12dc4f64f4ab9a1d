"""Lines of JSON that end with their checksum, so that damage shows."""

from __future__ import annotations

import re
from zlib import crc32

SEAL = re.compile(rb',"crc":"([0-9a-f]{8})"}')
"""The end of a line: the checksum of what stands before it."""
_SEAL_LENGTH = len(b',"crc":"00000000"}')


def seal_line(body: bytes) -> bytes:
    """Return a JSON object as a line of the log: with its checksum and a newline."""
    return b'%b,"crc":"%08x"}\n' % (body[:-1], crc32(body))


def open_line(line: bytes) -> bytes | None:
    """Return the JSON object of a line without its newline; `None` if the line is damaged."""
    seal = SEAL.fullmatch(line, max(0, len(line) - _SEAL_LENGTH))
    if seal is None:
        return None
    body = line[:-_SEAL_LENGTH] + b"}"
    return body if crc32(body) == int(seal[1], 16) else None
