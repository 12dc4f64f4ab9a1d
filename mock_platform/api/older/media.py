"""Uploads of the older interface: whole files, or in segments, and what is said about them.

What was uploaded here can be used in the v2 and in the advertising interface, and the other way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mock_platform.api.older.conventions import (
    Empty,
    NoContent,
    add_fields,
    declare,
    make_json_id,
    run,
)
from mock_platform.api.v2.conventions import get_user_id, limit_users, make_id_field, make_schema
from mock_platform.api.v2.media import metadata, operations, uploads
from mock_platform.api.v2.media.operations import MEDIA_PROCESSING, UPLOAD_RULES, CategoryName
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import USER
from mock_platform.core.call import Call, Reply
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import InvalidParameters, NumericFailure
from mock_platform.core.fields import Choice, CommaList, Content, Integer, Json, Nested, Text
from mock_platform.core.operation import Handler, Location
from mock_platform.core.schema import Schema
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
_INIT, _APPEND, _FINALIZE = "INIT", "APPEND", "FINALIZE"
_STATUSES = {_INIT: 202, _APPEND: 204, _FINALIZE: 201}


_CAMEL = {"".join(map(str.capitalize, name.split("_"))): name for name in uploads.CATEGORIES}
"""The categories as some clients spell them."""


class _AnyCase(CategoryName):
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


class OlderUpload(Schema):
    """A whole file, or with `command` a step of an upload in segments."""

    command = Choice(tuple(_STATUSES))
    media = Content()
    media_data = Base64()
    media_id = make_id_field("a media id of ")
    media_type = Choice(uploads.FILE_TYPES)
    media_category = _AnyCase((*uploads.CATEGORIES, *map(str.upper, uploads.CATEGORIES), *_CAMEL))
    total_bytes = Integer(low=1, high=uploads.MOST_BYTES)
    segment_index = Integer(low=0, high=uploads.MOST_SEGMENTS - 1)
    additional_owners = CommaList(make_id_field("a user id of "), most=100)
    shared = Text()


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
    media_id=make_json_id(),
    alt_text=Nested(make_schema("OlderAltText", text=Text(required=True, max_length=1000))),
)


class _Steps(Flat, frozen=True):
    """An answer whose status says which step was done."""

    def reply(self, call: Call, result: Any) -> Reply:
        """Return the reply for a step; without a body if there is nothing to say."""
        status = _STATUSES.get(call.params.get("command", ""), 200)
        return Reply(status) if result is None else Flat(self.schema, status).reply(call, result)


def upload(call: Call, world: World) -> Record | None:
    """Upload a whole file, or do the step that `command` names."""
    sent, command = call.params, call.params.get("command")
    if command is None:
        return _upload_whole(call, world, _require_content(call))
    if command == _INIT:
        _require(call, "media_type", "total_bytes")
        _refuse(operations.find_initialize_faults(sent, call, world, Settings()))
        category = uploads.find_category(sent.get("media_category"), sent["media_type"])
        names = ("media_type", "total_bytes", "additional_owners")
        begun = {name: sent[name] for name in names if name in sent}
        begun["media_category"] = category.name
        return _show(run(operations.initialize, call, world, **begun)["data"])
    _require(call, "media_id")
    if command == _FINALIZE:
        found = _run_step(operations.finalize, call, world)["data"]
        is_video = found["media_key"].partition("_")[0] in {"7", "13"}
        return _show(found, **({"video": {"video_type": "video/mp4"}} if is_video else {}))
    _require(call, "segment_index")
    segment = {"media": _require_content(call), "segment_index": sent["segment_index"]}
    _refuse(uploads.find_segment_faults(segment, call, world, Settings()))
    _run_step(operations.append, call, world, **segment)
    return None


def _run_step(step: Handler, call: Call, world: World, **sent: Any) -> Any:
    try:
        return run(step, call, world, {"id": call.params["media_id"]}, **sent)
    except InvalidParameters as fault:
        _refuse(fault.faults)


def _refuse(faults: Iterable[tuple[str, Any]]) -> None:
    """Refuse an upload of which something is wrong."""
    found = "; ".join(str(text) for _, text in faults)
    if found:
        raise NumericFailure(324, found)


def _require(call: Call, *names: str) -> None:
    missing = [name for name in names if name not in call.params]
    if missing:
        raise NumericFailure(38, f"{missing[0]} parameter is missing.", status=400)


def _require_content(call: Call) -> bytes:
    if "media_data" not in call.params:
        _require(call, "media")
    content: bytes = call.params["media" if "media" in call.params else "media_data"]
    return content


def _upload_whole(call: Call, world: World, content: bytes) -> Record:
    image = uploads.read_image(content)
    kind = call.params.get("media_type") or (image.media_type if image else "image/jpeg")
    category, size = uploads.find_category(call.params.get("media_category"), kind), len(content)
    if kind not in category.accepts or category.media_type not in {"IMAGE", "GIF"}:
        raise NumericFailure(324, f"{kind} cannot be {category.name} in one request")
    if not 0 < size <= category.most_bytes:
        raise NumericFailure(324, f"media must have 1 to {category.most_bytes} bytes, got {size}")
    owners = call.params.get("additional_owners", ())
    begun = uploads.begin_upload(world, get_user_id(call), category.name, kind, size, owners=owners)
    media = uploads.finish_upload(world, uploads.add_segment(world, begun, 0, content, image))
    about = {"image_type": kind, "w": media["_width"] or 0, "h": media["_height"] or 0}
    return _show(uploads.show_media(world, media), image=about)


def _show(media: Mapping[str, Any], **more: Any) -> Record:
    """Return media of the v2 interface as the older one shows them."""
    kept = {name: value for name, value in media.items() if name != "id"}
    return {"media_id": int(media["id"]), "media_id_string": media["id"], **kept, **more}


def show_status(call: Call, world: World) -> Record:
    """Return how far an upload is; this counts as a poll of its processing."""
    return _show(run(operations.get_status, call, world, media_id=call.params["media_id"])["data"])


def describe(call: Call, world: World) -> None:
    """Store what is said about media of the caller."""
    said = {"alt_text": call.params["alt_text"]} if "alt_text" in call.params else {}
    run(metadata.set_metadata, call, world, id=call.params["media_id"], metadata=said)


_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_FACTS = (UPLOAD_ANSWERS, UPLOAD_RULES, uploads.USABLE_MEDIA, MEDIA_PROCESSING)
OPERATIONS = (
    declare("POST media/upload", upload, "Upload a file or do a step of an upload",
            _Steps(OlderMedia), OlderUpload, location=Location.UPLOAD, facts=_FACTS,
            limit=limit_users("media/upload", 615), errors="324 325", json={"media_data": _PIXEL}),
    declare("GET media/upload", show_status, "Read how far an upload is", OlderMedia,
            add_fields(command=Choice(("STATUS",)),
                       media_id=make_id_field("a media id of ", required=True)),
            id_="media.upload.status", auth=USER, facts=_FACTS, errors="325",
            query={"media_id": "1712850617439550001"}),
    declare("POST media/metadata/create", describe, "Say something about uploaded media",
            Empty(NoContent), OlderMetadata, location=Location.JSON, errors="87 325",
            facts=(metadata.METADATA_RULES, metadata.METADATA_REFUSALS),
            json={"media_id": "1712850617439560002",
                  "alt_text": {"text": "A blue mug in the snow"}}),
)  # fmt: skip
