"""Uploads: what may be uploaded, what becomes of it, and who may use it.

The shapes are public facts (named endpoints, section 7.7). The content itself is kept only of small
files for direct messages, which can be downloaded; of all others each part has its size, and an
image its width and height.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from math import ceil
from typing import Any, NamedTuple

from msgspec import Struct

from mock_platform.api.v2.objects.media_view import find_any_media, may_use
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis, wire_seconds
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

# Width and height of an image, read from the first bytes of its file.

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
    # Every kind has its sizes near the beginning; nothing else of the file is read or kept.
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
    # A JPEG is a row of segments with lengths. Those before the first frame (metadata, previews,
    # tables) are passed; the frame has the sizes.
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


LIFETIME = timedelta(hours=24)
"""How long an upload can be continued, and media be used before anything refers to it."""
CHUNK_BYTES = 5 * 1024 * 1024
MOST_BYTES = 17_179_869_184
MOST_SEGMENTS = 1000
_MOST_MADE, _LONGEST_SIDE = 64 * 1024, 4096
"""How many bytes a made up video has at most, and how many pixels a side of an image."""
PENDING, SUCCEEDED, FAILED = "pending", "succeeded", "failed"
KIND = "media_upload"
"""The kind of the transition in which a video or GIF is processed."""
USABLE_MEDIA = expectation(
    "media.usable",
    "Uploaded media belong to the user who uploaded them, and can be used in posts and in the "
    "libraries of that user's accounts: when they are processed, and for 24 hours until something "
    "refers to them.",
)


class Category(Struct, frozen=True):
    """A media category: what it becomes, which files it takes, and how large they may be."""

    name: str
    media_type: str
    prefix: int
    """The number before the `_` of its media keys."""
    accepts: tuple[str, ...]
    most_bytes: int
    library: str | None = None
    """Its name in the advertising interface, if it can be added to a media library."""

    @property
    def is_processed(self) -> bool:
        """Whether its media can be used only after they were processed."""
        return self.media_type in {"GIF", "VIDEO"}


_IMAGES = (
    "image/jpeg", "image/png", "image/webp", "image/bmp", "image/pjpeg", "image/tiff",
)  # fmt: skip
_GIF = ("image/gif",)
_VIDEOS = ("video/mp4", "video/webm", "video/mp2t", "video/quicktime")
_TEXTS = ("text/srt", "text/vtt")
_MEBIBYTE = 1024 * 1024
CATEGORIES = {
    one.name: one
    for one in (
        Category("post_image", "IMAGE", 3, _IMAGES, 5 * _MEBIBYTE, "POST_IMAGE"),
        Category("post_gif", "GIF", 16, _GIF, 15 * _MEBIBYTE, "POST_GIF"),
        Category("post_video", "VIDEO", 7, _VIDEOS, MOST_BYTES, "POST_VIDEO"),
        Category("amplify_video", "VIDEO", 13, _VIDEOS, MOST_BYTES, "AMPLIFY_VIDEO"),
        Category("dm_image", "IMAGE", 3, _IMAGES, 5 * _MEBIBYTE),
        Category("dm_gif", "GIF", 16, _GIF, 15 * _MEBIBYTE),
        Category("dm_video", "VIDEO", 7, _VIDEOS, MOST_BYTES),
        Category("subtitles", "SUBTITLES", 24, _TEXTS, 5 * _MEBIBYTE),
    )
}
SIMPLE = ("post_image", "dm_image", "subtitles")
"""The categories whose files can be uploaded in one request."""
FILE_TYPES = (*_IMAGES, *_GIF, *_VIDEOS, *_TEXTS)
_EXTENSIONS = {"image/jpeg": "jpg", "image/pjpeg": "jpg", "video/quicktime": "mov",
               "video/mp2t": "ts"}  # fmt: skip
_PREFIXES = tuple(dict.fromkeys(one.prefix for one in CATEGORIES.values()))


def find_category(name: str | None, file_type: str) -> Category:
    """Return the category of a file; without a name, that of posts for files of this type."""
    if name is not None:
        return CATEGORIES[name]
    return next(one for one in CATEGORIES.values() if file_type in one.accepts)


def begin_upload(
    world: World,
    user_id: str,
    category: str | None,
    file_type: str,
    total_bytes: int,
    *,
    owners: Sequence[str] = (),
) -> Record:
    """Store and return an upload whose content is still to come; `owners` may use it as well."""
    upload: Record = {
        "id": world.ids.snowflake(),
        "media_type": file_type,
        "media_category": category,
        "total_bytes": total_bytes,
        "segments": {},
        "width": None,
        "height": None,
        "expires_at": wire_millis(world.clock.now() + LIFETIME),
        "_user_id": user_id,
        "_additional_owners": list(owners),
    }
    world.store.put("uploads", upload["id"], upload)
    return upload


def find_segment_faults(
    params: Mapping[str, Any], _call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with a segment."""
    content = params.get("media")
    if content is not None and not 0 < len(content) <= CHUNK_BYTES:
        yield "media", f"a segment must have 1 to {CHUNK_BYTES} bytes, got {len(content)}"


def explain_excess(begun: Record, index: int, size: int) -> str | None:
    """Return that an upload has too many bytes with another segment, if it has."""
    # A segment that comes again replaces itself, so its old size does not count.
    total = size + sum(old for at, old in begun["segments"].items() if at != str(index))
    if total <= begun["total_bytes"]:
        return None
    promised = begun["total_bytes"]
    return f"with this segment the upload has {total} bytes, and total_bytes is {promised}"


def explain_incomplete(begun: Record) -> str | None:
    """Return what of an upload is missing, if anything."""
    sizes, total = begun["segments"], begun["total_bytes"]
    # Segments may come in any order, so the count alone does not say whether one is missing; the
    # first gap is named.
    missing = next((at for at in range(len(sizes)) if str(at) not in sizes), None)
    if missing is not None:
        return f"segment {missing} is missing; the upload has {', '.join(sorted(sizes, key=int))}"
    arrived = sum(sizes.values())
    return None if arrived == total else f"{arrived} of {total} bytes have arrived"


def add_segment(
    world: World, upload: Record, index: int, content: bytes, image: ImageFacts | None
) -> Record:
    """Store that a segment has arrived, in place of an earlier one; return the changed upload."""
    changed = {**upload, "segments": {**upload["segments"], str(index): len(content)}}
    category = find_category(upload["media_category"], upload["media_type"])
    if category.name.startswith("dm_") and upload["total_bytes"] <= CHUNK_BYTES:
        part = {"_id": f"{upload['id']}:{index}", "media_id": upload["id"], "segment_index": index}
        part["content"] = b64encode(content).decode()
        world.store.put("media_contents", part["_id"], part)
    if image is not None:
        changed |= {"width": image.width, "height": image.height}
    world.store.put("uploads", upload["id"], changed)
    return changed


def finish_upload(world: World, upload: Record) -> Record:
    """Turn an upload into media, begin its processing if it needs some, and return the media."""
    category = find_category(upload["media_category"], upload["media_type"])
    number, now = upload["id"], world.clock.now()
    kind = upload["media_type"]
    extension = _EXTENSIONS.get(kind, kind.partition("/")[2])
    width, height = upload["width"], upload["height"]
    media: Record = {
        "media_key": f"{category.prefix}_{number}",
        "media_type": category.media_type,
        "media_category": category.library if upload["media_category"] else None,
        "media_url": f"https://assets.platform.example/media/{number}.{extension}",
        "aspect_ratio": None,
        "duration": None,
        "created_at": wire_seconds(now),
        "updated_at": wire_seconds(now),
        "deleted": False,
        "_width": width or None,
        "_height": height or None,
        "_account_id": None,
        "_user_id": upload["_user_id"],
        "_additional_owners": upload["_additional_owners"],
        "_size": sum(upload["segments"].values()),
        "_processing": PENDING if category.is_processed else None,
        "_expires_at": wire_millis(now + LIFETIME),
    }
    world.store.remove("uploads", number)
    world.store.put("media", media["media_key"], media)
    if category.is_processed:
        world.transitions.begin(KIND, media["media_key"])
    return world.store.get("media", media["media_key"]) or media


def read_content(world: World, media: Record) -> bytes:
    """Return the content of media: what was uploaded if it is kept, else one made for them."""
    kept = world.store.page(
        "media_contents",
        {"media_id": media["media_key"].partition("_")[2]},
        order=Order("segment_index"),
    )
    if kept:
        return b"".join(b64decode(entry.record["content"]) for entry in kept)
    if media["media_type"] == "IMAGE":
        sides = (min(media.get(name) or 1, _LONGEST_SIDE) for name in ("_width", "_height"))
        return _draw_image(*sides)
    noise = world.ids.noise(f"content/{media['media_key']}")
    size = min(media.get("_size") or CHUNK_BYTES, _MOST_MADE)
    head = struct.pack(">I4s4sI4s4s", 24, b"ftyp", b"mp42", 0, b"mp42", b"isom")
    head += struct.pack(">I4s", size + 8, b"mdat")
    return head + (noise * (size // len(noise) + 1))[:size]


def _draw_image(width: int, height: int) -> bytes:
    """Return a black PNG of a size."""
    rows = zlib.compress((b"\0" * (width + 1)) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    ]
    return _PNG + b"".join(parts)


def find_upload(world: World, user_id: str, media_id: str) -> Record | None:
    """Return a user's upload that is not finished; `None` if it is unknown or expired."""
    upload = world.store.get("uploads", media_id)
    if upload is None or upload["_user_id"] != user_id:
        return None
    return None if parse_instant(upload["expires_at"]) <= world.clock.now() else upload


def show_upload(world: World, upload: Record) -> dict[str, Any]:
    """Return an upload that is not finished as clients see it."""
    category = find_category(upload["media_category"], upload["media_type"])
    return {
        "id": upload["id"],
        "media_key": f"{category.prefix}_{upload['id']}",
        "expires_after_secs": _count_seconds(world, upload["expires_at"]),
    }


def show_media(world: World, media: Record, *, asked: bool = False) -> dict[str, Any]:
    """Return uploaded media as clients see it; `asked` where a client asks how far they are."""
    shown: dict[str, Any] = {
        "id": media["media_key"].partition("_")[2],
        "media_key": media["media_key"],
    }
    if media.get("_size") is not None:
        shown["size"] = media["_size"]
    if media.get("_expires_at") is not None:
        shown["expires_after_secs"] = _count_seconds(world, media["_expires_at"])
    state = media.get("_processing")
    if state is None:
        return shown
    progress: dict[str, Any] = {"state": state}
    if state == PENDING:
        progress |= {"state": "in_progress" if asked else PENDING, "check_after_secs": 1}
        due = world.transitions.find_due_time(KIND, media["media_key"])
        if due is not None:
            # The progress follows from the clock: nothing runs while media are "processed".
            left = (due - world.clock.now()).total_seconds()
            whole = world.transitions.paces[KIND].seconds
            progress["check_after_secs"] = max(1, ceil(left))
            progress["progress_percent"] = int(100 * (1 - left / whole))
    elif state == SUCCEEDED:
        progress["progress_percent"] = 100
    return shown | {"processing_info": progress}


def _count_seconds(world: World, moment: str) -> int:
    """Return for how many seconds something still exists; one that has begun counts whole."""
    return max(0, ceil((parse_instant(moment) - world.clock.now()).total_seconds()))


def find_own_media(world: World, user_id: str, media_id: str) -> Record | None:
    """Return the media with this id that a user uploaded, or that an account of theirs has.

    What expired before anything referred to it does not exist any more. Whether it is processed
    is not checked; `explain_unusable` does.
    """
    found = find_by_number(world, media_id)
    if found is None or is_expired(world, found) or not may_use(world, user_id, found):
        return None
    return found


def find_by_number(world: World, media_id: str) -> Record | None:
    """Return the media with this id, whoever has them; `None` if unknown or deleted."""
    # Clients name media by the number alone, and records are kept under kind and number. There are
    # few kinds, so each is tried.
    for prefix in _PREFIXES:
        found = find_any_media(world, f"{prefix}_{media_id}")
        if found is not None:
            return found
    return None


def change_media(world: World, media: Record, **changes: Any) -> None:
    """Change fields of media in the table that has them."""
    key = media["media_key"]
    table = "media" if world.store.get("media_library", key) is None else "media_library"
    world.store.put(table, key, media | changes)


def is_expired(world: World, media: Record) -> bool:
    """Return whether nothing referred to uploaded media in time."""
    expires_at = media.get("_expires_at")
    return expires_at is not None and parse_instant(expires_at) <= world.clock.now()


def explain_unusable(world: World, media: Record) -> str | None:
    """Return why media cannot be used now; `None` if they can."""
    if media["media_type"] == "SUBTITLES":
        return "it is a file of subtitles"
    if media.get("_processing") == PENDING:
        world.transitions.evaluate(KIND, media["media_key"])
        media = world.store.get("media", media["media_key"]) or media
    state = media.get("_processing")
    if state == PENDING:
        return "it is still being processed"
    return "its processing has failed; upload it again" if state == FAILED else None


def keep_media(world: World, media: Record) -> None:
    """Let uploaded media exist for good, because something refers to them now."""
    if media.get("_expires_at") is not None:
        world.store.put("media", media["media_key"], media | {"_expires_at": None})


def is_of_account(world: World, media: Record, account_id: str) -> bool:
    """Return whether an account may use media: it has them, or one of its users uploaded them."""
    if media["_account_id"] is not None or media.get("_user_id") is None:
        return bool(media["_account_id"] == account_id)
    account = world.store.get("accounts", account_id)
    return account is not None and media["_user_id"] in account.get("_users", ())
