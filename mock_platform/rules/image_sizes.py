"""Width and height of an image, read from the first bytes of its file."""

from __future__ import annotations

import struct
from typing import NamedTuple

HEADER_BYTES = 256 * 1024
"""How much of a file is looked at; a JPEG may have long metadata before its sizes."""
_PNG = b"\x89PNG\r\n\x1a\n"
_NO_SIZE_MARKERS = frozenset({0xC4, 0xC8, 0xCC})
"""Markers of JPEG that lie between those of frames and are none."""


class ImageFacts(NamedTuple):
    """What the first bytes of an image say: its media type, and its sizes in pixels if known."""

    media_type: str
    width: int | None = None
    height: int | None = None


def read_image(content: bytes) -> ImageFacts | None:
    """Return what kind of image a file contains, and its sizes; `None` if it is no known kind."""
    head = content[:HEADER_BYTES]
    if head.startswith(_PNG) and head[12:16] == b"IHDR" and len(head) >= 24:
        return ImageFacts("image/png", *struct.unpack(">II", head[16:24]))
    if head[:6] in {b"GIF87a", b"GIF89a"} and len(head) >= 10:
        return ImageFacts("image/gif", *struct.unpack("<HH", head[6:10]))
    if head.startswith(b"\xff\xd8\xff"):
        return ImageFacts("image/jpeg", *_read_jpeg(head))
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ImageFacts("image/webp", *_read_webp(head))
    return None


def _read_jpeg(head: bytes) -> tuple[int | None, int | None]:
    """Return the sizes in the first frame; segments before it are skipped by their lengths."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE_MARKERS:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        if marker == 0xFF:  # a byte that fills up
            at += 1
            continue
        at += 2 + int.from_bytes(head[at + 2 : at + 4])
    return None, None


def _read_webp(head: bytes) -> tuple[int | None, int | None]:
    kind = head[12:16]
    if kind == b"VP8X" and len(head) >= 30:
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if kind == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and len(head) >= 30:
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None, None
