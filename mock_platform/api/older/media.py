"""Uploads of the older interface: whole files, or in segments, and what is said about them.

What was uploaded here can be used in the v2 and in the advertising interface, and the other way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import add_fields, declare, run
from mock_platform.api.v2.conventions import limit_users, make_id_field, make_schema
from mock_platform.api.v2.media import metadata, operations, uploads
from mock_platform.api.v2.media.operations import MEDIA_PROCESSING, UPLOAD_RULES
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import USER
from mock_platform.core.call import Call, Reply
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import InvalidParameters, NumericFailure
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Content,
    Integer,
    Json,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.operation import Handler, Location
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

UPLOAD_ANSWERS = expectation(
    "older.uploads",
    "A whole file is an image or a GIF; INIT answers 202, APPEND 204 without a body, FINALIZE 201. "
    "What is wrong with a file or a segment is refused with 400 and code 324, an unknown upload "
    "with code 325; the text says what is wrong. A category may be in capitals, as the vendor's "
    "advertising SDKs send it, or in camel case (PostImage), as clients of node do.",
)
_STEPS: Mapping[str | None, tuple[int, tuple[str, ...]]] = {
    None: (200, ("media",)),
    "INIT": (202, ("media_type", "total_bytes")),
    "APPEND": (204, ("media_id", "segment_index", "media")),
    "FINALIZE": (201, ("media_id",)),
}
"""The status of each step that `command` names, and what it needs."""
_SUBTITLED = {"post_video": "PostVideo", "amplify_video": "AmplifyVideo"}
"""The categories of videos that have subtitles, and how the v2 interface spells them."""
_CAMEL = {"".join(map(str.capitalize, name.split("_"))): name for name in uploads.CATEGORIES}
"""The categories as some clients spell them."""


class _AnyCase(operations.CategoryName):
    """A media category in small letters, capitals or camel case."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if isinstance(value, str):
            value = _CAMEL.get(value.replace("Tweet", "Post", 1), value.lower())
        return super()._deserialize(value, attr, data, **kwargs)


class Base64(Content):
    """The content of a file in base64, also where a multipart form has it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bytes:
        text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
        packed = "".join(text.split()) if isinstance(text, str) else text
        return super()._deserialize(packed, attr, data, **kwargs)


class Picture(Base64):
    """An image: its bytes, or these in base64."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bytes:
        if isinstance(value, bytes) and uploads.read_image(value) is not None:
            return value
        return super()._deserialize(value, attr, data, **kwargs)


class OlderUpload(operations.UploadBody):
    """A whole file, or with `command` a step of an upload in segments."""

    media_data = Base64()
    media_category = _AnyCase((*uploads.CATEGORIES, *map(str.upper, uploads.CATEGORIES), *_CAMEL))
    additional_owners: Any = CommaList(make_id_field("a user id of "), most=100)
    shared: Any = Text()


OlderMedia = make_schema(
    "OlderMedia",
    media_id=Integer(required=True),
    media_id_string=Text(required=True),
    media_key=Text(),
    size=Integer(),
    expires_after_secs=Integer(),
    **{name: Json() for name in ("image", "video", "processing_info")},
)
OlderMetadata = make_schema(
    "OlderMetadata",
    media_id=make_id_field(or_number=True, required=True),
    alt_text=Nested(make_schema("OlderAltText", text=Text(required=True, max_length=1000))),
)


_Subtitle = make_schema(
    "OlderSubtitle",
    media_id=make_id_field(or_number=True),
    language_code=Text(required=True),
    display_name=Text(),
)
_SubtitleInfo = make_schema(
    "OlderSubtitleInfo", subtitles=ListOf(Nested(_Subtitle), least=1, required=True)
)
OlderSubtitles = make_schema(
    "OlderSubtitles",
    media_id=make_id_field(or_number=True, required=True),
    media_category=_AnyCase(
        (*_SUBTITLED, *map(str.upper, _SUBTITLED), *_SUBTITLED.values()), required=True
    ),
    subtitle_info=Nested(_SubtitleInfo, required=True),
)


class _Steps(Flat, frozen=True):
    """An answer whose status says which step was done."""

    def reply(self, call: Call, result: Any) -> Reply:
        """Return the reply for a step; without a body if there is nothing to say."""
        status, _ = _STEPS[call.params.get("command")]
        return Reply(status) if result is None else Flat(self.schema, status).reply(call, result)


def upload(call: Call, world: World) -> Record | None:
    """Upload a whole file, or do the step that `command` names.

    Raises:
        NumericFailure: Something is missing (38), or wrong with a file or a segment (324).
    """
    sent, command = dict(call.params), call.params.get("command")
    sent = {"media": sent["media_data"]} | sent if "media_data" in sent else sent
    missing = [name for name in _STEPS[command][1] if name not in sent]
    if missing:
        raise NumericFailure(38, f"{missing[0]} parameter is missing.", status=400)
    about = _complete(sent) if command is None else {}
    if command == "INIT":
        _refuse(operations.find_initialize_faults(sent, call, world, Settings()))
        category = uploads.find_category(sent.get("media_category"), sent["media_type"])
        sent["media_category"] = category.name
    if command == "APPEND":
        _refuse(uploads.find_segment_faults(sent, call, world, Settings()))
    try:
        found = run(operations.upload, call, world, **sent)["data"]
    except InvalidParameters as fault:
        _refuse(fault.faults)
    if command == "FINALIZE" and found["media_key"].partition("_")[0] in {"7", "13"}:
        about = {"video": {"video_type": "video/mp4"}}
    return None if command == "APPEND" else _show(found | about)


def _complete(sent: Record) -> Record:
    """Complete what is said of a whole file, and return what its answer says of the image."""
    image, size = uploads.read_image(sent["media"]), len(sent["media"])
    kind = sent.setdefault("media_type", image.media_type if image else "image/jpeg")
    category = uploads.find_category(sent.get("media_category"), kind)
    sent["media_category"] = category.name
    if kind not in category.accepts or category.media_type not in {"IMAGE", "GIF"}:
        raise NumericFailure(324, f"{kind} cannot be {category.name} in one request")
    if not 0 < size <= category.most_bytes:
        raise NumericFailure(324, f"media must have 1 to {category.most_bytes} bytes, got {size}")
    width, height = (image.width, image.height) if image else (0, 0)
    return {"image": {"image_type": kind, "w": width or 0, "h": height or 0}}


def _refuse(faults: Iterable[tuple[str, Any]]) -> None:
    """Refuse an upload of which something is wrong."""
    found = "; ".join(str(text) for _, text in faults)
    if found:
        raise NumericFailure(324, found)


def _show(media: Record) -> Record:
    """Return media of the v2 interface as the older one shows them."""
    id_ = media.pop("id")
    return {"media_id": int(id_), "media_id_string": id_, **media}


def show_status(call: Call, world: World) -> Record:
    """Return how far an upload is; this counts as a poll of its processing."""
    return _show(run(operations.get_status, call, world, media_id=call.params["media_id"])["data"])


def describe(call: Call, world: World) -> None:
    """Store what is said about media of the caller."""
    said = {"alt_text": call.params["alt_text"]} if "alt_text" in call.params else {}
    run(metadata.set_metadata, call, world, id=call.params["media_id"], metadata=said)


def change_subtitles(change: Handler, call: Call, world: World) -> None:
    """Give a video of the caller subtitles, or take some from it."""
    sent = call.params
    about = {"id": sent["media_id"], "media_category": _SUBTITLED[sent["media_category"]]}
    for one in sent["subtitle_info"]["subtitles"]:
        language = one["language_code"].upper()
        if change is metadata.delete_subtitles:
            run(change, call, world, **about, language_code=language)
            continue
        if "media_id" not in one:
            raise NumericFailure(38, "media_id parameter is missing.", status=400)
        file = {"id": one["media_id"], "language_code": language}
        file |= {name: one[name] for name in one.keys() & {"display_name"}}
        run(change, call, world, **about, subtitles=file)


_FACTS = (UPLOAD_ANSWERS, UPLOAD_RULES, uploads.USABLE_MEDIA, MEDIA_PROCESSING)
OPERATIONS = (
    declare("POST media/upload", upload, "Upload a file or do a step of an upload",
            _Steps(OlderMedia), OlderUpload, location=Location.UPLOAD, facts=_FACTS,
            limit=limit_users("media/upload", 615), errors="324 325",
            json={"media_data": operations.PIXEL}),
    declare("GET media/upload", show_status, "Read how far an upload is", OlderMedia,
            add_fields(command=Choice(("STATUS",)),
                       media_id=make_id_field("a media id of ", required=True)),
            id_="media.upload.status", auth=USER, facts=_FACTS, errors="325",
            query={"media_id": "1712850617439550001"}),
    declare("POST media/metadata/create", describe, "Say something about uploaded media",
            older.Empty(older.NoContent), OlderMetadata, location=Location.JSON, errors="87 325",
            facts=(metadata.METADATA_RULES, metadata.METADATA_REFUSALS),
            json={"media_id": "1712850617439560002",
                  "alt_text": {"text": "A blue mug in the snow"}}),
    *(declare(f"POST media/subtitles/{name}", partial(change_subtitles, handler), text,
              older.Empty(older.NoContent), OlderSubtitles, location=Location.JSON,
              errors="34 38 87 325", facts=(metadata.METADATA_RULES, metadata.METADATA_REFUSALS),
              json={"media_id": video, "media_category": "post_video",
                    "subtitle_info": {"subtitles": [subtitle]}})
      for name, handler, text, video, subtitle in (
          ("create", metadata.add_subtitles, "Give a video subtitles", "1712850617439560005",
           {"media_id": "1712850617439560008", "language_code": "EN"}),
          ("delete", metadata.delete_subtitles, "Take subtitles from a video",
           "1712850617439560007", {"language_code": "DE"}))),
)  # fmt: skip
