"""Width and height are read from the first bytes of image files."""

from __future__ import annotations

import struct

import pytest

from mock_platform.api.v2.media.uploads import ImageFacts, read_image
from tests.images import make_png

GIF = b"GIF89a" + struct.pack("<HH", 480, 270) + b"\x00\x00\x00;"
FRAME = b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", 628, 1200) + b"\x03" + bytes(9)
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
TABLE = b"\xff\xc4\x00\x05abc"
LOSSLESS = b"RIFF\x00\x00\x00\x00WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 1 | 4 << 14)
EXTENDED = b"RIFF\x00\x00\x00\x00WEBPVP8X" + bytes(8) + b"\x1f\x03\x00" + b"\x57\x02\x00"
LOSSY = b"RIFF\x00\x00\x00\x00WEBPVP8 " + bytes(10) + struct.pack("<HH", 320, 0x4000 | 240)


@pytest.mark.parametrize(
    ("content", "facts"),
    [(make_png(1200, 628), ("image/png", 1200, 628)), (GIF, ("image/gif", 480, 270)),
     (JPEG + FRAME, ("image/jpeg", 1200, 628)),
     (JPEG + TABLE + b"\xff" + FRAME, ("image/jpeg", 1200, 628)),
     (JPEG, ("image/jpeg", None, None)), (LOSSLESS, ("image/webp", 2, 5)),
     (EXTENDED, ("image/webp", 800, 600)), (LOSSY, ("image/webp", 320, 240)),
     (b"RIFF\x00\x00\x00\x00WEBPVP9 ", ("image/webp", None, None))],
)  # fmt: skip
def test_known_kinds(content: bytes, facts: tuple[str, int | None, int | None]) -> None:
    """Kind and sizes are found, sizes only where the first bytes have them."""
    assert ImageFacts(*facts) == read_image(content)


@pytest.mark.parametrize("content", [b"", b"GIF89a", b"plain text", b"RIFF\x00\x00\x00\x00WAVE"])
def test_other_files(content: bytes) -> None:
    """Anything else is no image."""
    assert read_image(content) is None


@pytest.mark.parametrize("content", [JPEG + FRAME, GIF, LOSSLESS, EXTENDED, LOSSY])
def test_cut_files(content: bytes) -> None:
    """A file that ends anywhere is no error."""
    for length in range(len(content)):
        found = read_image(content[:length])
        assert found is None or found.media_type == read_image(content).media_type  # type: ignore[union-attr]
