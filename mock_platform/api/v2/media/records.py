"""Uploaded media and the media library (document B, "Media library object").

What is uploaded is stored in `media` until it is added to the library; from then on in
`media_library` alone. Everything that takes a media key looks it up here.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from posixpath import splitext
from typing import TYPE_CHECKING, Unpack

from mock_platform.api.v2.conventions import MediaKey, make_id_field
from mock_platform.api.v2.media.uploads import (
    CATEGORIES,
    FAILED,
    FILE_TYPES,
    MOST_BYTES,
    PENDING,
    SUCCEEDED,
)
from mock_platform.core.fields import (
    Choice,
    FieldOptions,
    Flag,
    Instant,
    Integer,
    Json,
    ListOf,
    Text,
)
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.clock import wire_seconds
from mock_platform.world.ids import find_moment
from mock_platform.world.store.interface import Record

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

MEDIA_TYPES = ("GIF", "IMAGE", "VIDEO")
MEDIA_CATEGORIES = ("POST_IMAGE", "POST_GIF", "POST_VIDEO", "AMPLIFY_VIDEO")
TRANSCODE_PENDING = "TRANSCODE_PENDING"
TRANSCODE_COMPLETED = "TRANSCODE_COMPLETED"
TRANSCODE_FAILED = "TRANSCODE_FAILED"
DETAILS = ("_metadata", "_subtitles", "_preview_url", "_view_count")
"""What is said about media after their upload, and stays when they are added to a library."""
VIDEO_ONLY = ("description", "title", "poster_media_key")
"""Parameters that apply only to videos."""

_TYPE_OF = {
    "POST_IMAGE": "IMAGE",
    "POST_GIF": "GIF",
    "POST_VIDEO": "VIDEO",
    "AMPLIFY_VIDEO": "VIDEO",
}
_MOVING_FIELDS = ("description", "title", "poster_media_url", "poster_media_key", "duration")
_ASPECT = r"[1-9][0-9]*(?:\.[0-9]+)?:[1-9][0-9]*(?:\.[0-9]+)?"


class AspectRatio(Text):
    """Width by height, such as `16:9`."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(pattern=_ASPECT, pattern_text="a ratio such as 16:9", **options)


class _Sized(Stamped):
    """Fields that uploads and the library share. `duration` is in milliseconds, sizes in pixels."""

    media_key = MediaKey(required=True)
    media_type = Choice(MEDIA_TYPES, required=True)
    media_url = Text(required=True)
    _width = Integer(low=1, load_default=None, allow_none=True)
    _height = Integer(low=1, load_default=None, allow_none=True)
    _account_id = Text(required=True)
    _metadata = Json(load_default=dict)
    _subtitles = ListOf(Json(), load_default=list)
    _preview_url = Text(load_default=None, allow_none=True)
    """The image that stands for a video, if its metadata name one."""
    _view_count = Integer(low=0, load_default=0)
    _recorded = Json()
    """Fields of the v2 object that were recorded, and that are shown in place of ours."""


class MediaRecord(_Sized):
    """Media as uploaded, not in a library. `media_category` is null if none was given.

    It belongs to an account, or to the user who uploaded it (`_user_id`).
    """

    media_type = Choice((*MEDIA_TYPES, "SUBTITLES"), required=True)
    media_category = Choice(MEDIA_CATEGORIES, load_default=None, allow_none=True)
    aspect_ratio = AspectRatio(load_default=None, allow_none=True)
    duration = Integer(low=0, load_default=None, allow_none=True)
    _account_id = Text(load_default=None, allow_none=True)
    _user_id = Text(load_default=None, allow_none=True)
    _additional_owners = ListOf(Text(), load_default=list)
    _size = Integer(low=0, load_default=None, allow_none=True)
    _processing = Choice((PENDING, SUCCEEDED, FAILED), load_default=None, allow_none=True)
    _expires_at = Instant(millis=True, load_default=None, allow_none=True)
    """When media that nothing refers to is gone."""


class UploadRecord(Schema):
    """An upload whose content is not complete. `segments` has the size of each by its index."""

    id = make_id_field(required=True)
    media_type = Choice(FILE_TYPES, required=True)
    media_category = Choice(tuple(CATEGORIES), load_default=None, allow_none=True)
    total_bytes = Integer(low=1, high=MOST_BYTES, required=True)
    segments = Json(load_default=dict)
    width = Integer(low=0, load_default=None, allow_none=True)
    height = Integer(low=0, load_default=None, allow_none=True)
    expires_at = Instant(millis=True, required=True)
    _user_id = Text(required=True)
    _additional_owners = ListOf(Text(), load_default=list)


class MediaContentRecord(Schema):
    """A part of a file for direct messages, in base64; of other media the content is not kept."""

    _id = Text(required=True)
    media_id = make_id_field(required=True)
    segment_index = Integer(low=0, required=True)
    content = Text(required=True)


class MediaLibraryRecord(_Sized):
    """A media library object.

    Images have neither duration nor poster, title and description; GIFs have the first two.
    """

    name = Text(max_length=100, load_default=None, allow_none=True)
    file_name = Text(max_length=255, load_default=None, allow_none=True)
    media_category = Choice(MEDIA_CATEGORIES, required=True)
    media_status = Choice(
        (TRANSCODE_PENDING, TRANSCODE_COMPLETED, TRANSCODE_FAILED),
        load_default=TRANSCODE_COMPLETED,
    )
    posted = Flag(load_default=False)
    aspect_ratio = AspectRatio(allow_none=True)
    description = Text(max_length=200, allow_none=True)
    title = Text(max_length=70, allow_none=True)
    poster_media_url = Text(allow_none=True)
    poster_media_key = MediaKey(allow_none=True)
    duration = Integer(low=0, allow_none=True)


def is_video(media: Record) -> bool:
    """Return whether media is a video; a GIF counts as an image."""
    return bool(media["media_type"] == "VIDEO")


def has_duration(media: Record) -> bool:
    """Return whether media has a duration and a poster: videos and GIFs do."""
    return bool(media["media_type"] != "IMAGE")


def compute_ratio(media: Record) -> float | None:
    """Return width divided by height; `None` if neither sizes nor aspect ratio are known."""
    if media["_width"] and media["_height"]:
        return float(media["_width"] / media["_height"])
    if media.get("aspect_ratio"):
        width, _, height = media["aspect_ratio"].partition(":")
        return float(width) / float(height)
    return None


def compute_aspect(video: Record) -> tuple[str, str]:
    """Return a video's aspect ratio as two numbers; without one, of its size, or 16 and 9."""
    if video.get("aspect_ratio"):
        width, _, height = video["aspect_ratio"].partition(":")
        return width, height
    if video["_width"] and video["_height"]:
        unit = gcd(video["_width"], video["_height"])
        return str(video["_width"] // unit), str(video["_height"] // unit)
    return "16", "9"


def derive_poster_key(media_key: str) -> str:
    """Return the key of a video's or GIF's own poster: `3_` and the number of its media key."""
    return f"3_{media_key.partition('_')[2]}"


def build_poster(media: Record, image: Record | None) -> Record:
    """Return the poster fields of a video or GIF: of an image, or of its own first frame."""
    if image is not None:
        return {"poster_media_url": image["media_url"], "poster_media_key": image["media_key"]}
    address = f"{strip_extension(media['media_url'])}/first_frame.jpg"
    key = derive_poster_key(media["media_key"])
    return {"poster_media_url": address, "poster_media_key": key}


def strip_extension(address: str) -> str:
    """Return an address without the extension of its last segment."""
    return splitext(address)[0]


def _check(record: Record) -> Iterator[tuple[str, str]]:
    category = record["media_category"]
    if category is not None and record["media_type"] != _TYPE_OF[category]:
        yield "media_type", f"media_type must be {_TYPE_OF[category]} for {category}"


def _complete_library(record: Record) -> Record:
    """Fill in the fields of a video or GIF that images do not have."""
    if not has_duration(record):
        return record
    own: Record = {"aspect_ratio": None, "duration": None, **build_poster(record, None)}
    if is_video(record):
        own |= {"description": None, "title": None}
    return record | {name: value for name, value in own.items() if name not in record}


def _check_library(record: Record) -> Iterator[tuple[str, str]]:
    yield from _check(record)
    if not has_duration(record):
        for name in _MOVING_FIELDS:
            if name in record:
                yield name, f"an image has no {name}; leave it out"


_STORED_TYPES = {"photo": "IMAGE", "animated_gif": "GIF", "video": "VIDEO"}


def _read_v2_object(record: Record) -> Record:
    """Return media as stored; a v2 object, which has a `type`, is shown as it was recorded."""
    kind = _STORED_TYPES.get(record.get("type", ""))
    if kind is None:
        return dict(record)
    mine = {name: value for name, value in record.items() if name[0] == "_"}
    key = str(record.get("media_key", ""))
    shown = {name: value for name, value in record.items() if name not in {"media_key", *mine}}
    moment = wire_seconds(find_moment(key.partition("_")[2]))
    return mine | {
        "media_key": key,
        "media_type": kind,
        "media_url": record.get("url") or record.get("preview_image_url") or f"media:{key}",
        "duration": record.get("duration_ms"),
        "created_at": moment,
        "updated_at": moment,
        "_width": record.get("width") or None,
        "_height": record.get("height") or None,
        "_view_count": (record.get("public_metrics") or {}).get("view_count") or 0,
        "_recorded": shown,
    }


def _check_uploaded(record: Record) -> Iterator[tuple[str, str]]:
    yield from _check(record)
    owners = (record["_account_id"], record["_user_id"], record.get("_recorded"))
    if not any(owners):
        yield "_account_id", "media belongs to an account (_account_id) or a user (_user_id)"


_PREFIXES = {"IMAGE": 3, "VIDEO": 7, "GIF": 16}


def _draw_media(draft: Draft) -> Record:
    found = draft.model()
    found["media_key"] = f"{_PREFIXES.get(found['media_type'], 3)}_{draft.snowflake()}"
    if not draft.record.get("_account_id") and not draft.record.get("_user_id"):
        found["_user_id"] = (draft.first("users") or {}).get("id")
    return found


_ACCOUNT = Reference("_account_id", "accounts")
_USER = Reference("_user_id", "users")
MEDIA = Table(
    "media",
    MediaRecord,
    key="media_key",
    references=(_ACCOUNT, _USER),
    check=_check_uploaded,
    draw=_draw_media,
    from_public=_read_v2_object,
    due=("expiry", lambda media: media.get("_expires_at")),
    shown=Shown(("type",), "media.fields", ("media.get", "media.get_many"), key="media_key"),
)
UPLOADS = Table(
    "uploads",
    UploadRecord,
    references=(_USER,),
    due=("expiry", lambda upload: upload["expires_at"]),
)
MEDIA_CONTENTS = Table("media_contents", MediaContentRecord, key="_id")
MEDIA_LIBRARY = Table(
    "media_library",
    MediaLibraryRecord,
    key="media_key",
    references=(_ACCOUNT,),
    complete=_complete_library,
    check=_check_library,
    draw=_draw_media,
)
TABLES = (MEDIA, UPLOADS, MEDIA_CONTENTS, MEDIA_LIBRARY)
