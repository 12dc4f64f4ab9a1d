"""Media upload: images in one request, everything else in segments.

Posts, articles and the media library of the advertising interface use what was uploaded. Neither
document names the endpoints; other operations cannot be used without them (named endpoints, 7.7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    Rates,
    declare_named,
    find_id_faults,
    find_nothing,
    get_user_id,
    make_id_field,
    wrap_data,
)
from mock_platform.api.v2.media.uploads import (
    CATEGORIES,
    FAILED,
    FILE_TYPES,
    KIND,
    MOST_BYTES,
    MOST_SEGMENTS,
    PENDING,
    SIMPLE,
    SUCCEEDED,
    USABLE_MEDIA,
    ImageFacts,
    add_segment,
    begin_upload,
    explain_excess,
    explain_incomplete,
    find_category,
    find_own_media,
    find_segment_faults,
    find_upload,
    finish_upload,
    read_image,
    show_media,
    show_upload,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import InvalidParameters, ProblemFailure
from mock_platform.core.fields import Choice, Content, Flag, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Example, Location
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

MEDIA_SHAPES = public_fact(
    "media.shapes",
    "The endpoints of media upload have their public shapes; the spec does not name them. Each "
    "step is at its own path, and with command on the path of the upload.",
    "section 7.7 of the named endpoints",
    gap=True,
)
UPLOAD_RULES = expectation(
    "media.rules",
    "The type of a file must be one of its category's. An image has at most 5 MiB, a GIF 15 MiB, "
    "a segment 5 MiB. Segments may arrive in any order, and one that arrives again replaces "
    "itself; at the end none may be missing, and together they must have total_bytes. The content "
    "is kept only of files of up to 5 MiB for direct messages; width and height are those that an "
    "image says it has.",
)
MEDIA_PROCESSING = expectation(
    "media.processing",
    "GIFs and videos are processed: pending at first, in_progress while STATUS is asked, then "
    "succeeded or failed. By default that ends at once; the transition media_upload changes it.",
)
FINISHED_TWICE = expectation(
    "media.finished-twice",
    "A finalize that is sent again answers with the same media.",
)
KINDS = (
    TransitionKind(
        KIND,
        table="media",
        field="_processing",
        first=PENDING,
        ends=(SUCCEEDED, FAILED),
        pace=Pace("immediate"),
    ),
)
_INIT, _APPEND, _FINALIZE, _STATUS = "INIT", "APPEND", "FINALIZE", "STATUS"


class CategoryName(Choice):
    """A media category; the older words are accepted as well."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        return text.replace("tweet_", "post_", 1).replace("Tweet", "Post", 1)


class _Owners(ListOf):
    """Ids of users: an array, or separated by commas in a form."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        parts = value.split(",") if isinstance(value, str) else value
        return super()._deserialize(parts, attr, data, **kwargs)


class _Description(Schema):
    media_category = CategoryName(tuple(CATEGORIES))
    shared = Flag(load_default=False)
    additional_owners = _Owners(make_id_field("a user id of "), most=100)


class InitializeBody(_Description):
    """What a client is going to upload."""

    media_type = Choice(FILE_TYPES, required=True)
    total_bytes = Integer(low=1, high=MOST_BYTES, required=True)


class AppendBody(Schema):
    """One segment of the content."""

    media = Content(required=True)
    segment_index = Integer(low=0, high=MOST_SEGMENTS - 1, required=True)


class UploadBody(_Description):
    """A whole image, or with `command` a step of an upload in segments."""

    command = Choice((_INIT, _APPEND, _FINALIZE))
    media = Content()
    media_id = make_id_field("a media id of ")
    media_type = Choice(FILE_TYPES)
    total_bytes = Integer(low=1, high=MOST_BYTES)
    segment_index = Integer(low=0, high=MOST_SEGMENTS - 1)


class StatusQuery(Schema):
    """The upload that is asked for."""

    media_id = make_id_field("a media id of ", required=True)
    command = Choice((_STATUS,), load_default=_STATUS)


class _Processing(Schema):
    state = Choice((PENDING, "in_progress", SUCCEEDED, FAILED), required=True)
    check_after_secs = Integer()
    progress_percent = Integer()


MediaAnswer = wrap_data(
    "MediaAnswer",
    "_MediaOfUpload",
    id=Text(),
    media_key=Text(),
    size=Integer(),
    expires_after_secs=Integer(),
    expires_at=Integer(),
    processing_info=Nested(_Processing),
)
"""An upload; after a segment only the moment when it expires, in seconds since 1970."""


_NEEDED: Mapping[str | None, tuple[str, ...]] = {
    None: ("media", "media_category"),
    _INIT: ("media_type", "total_bytes"),
    _APPEND: ("media_id", "media", "segment_index"),
    _FINALIZE: ("media_id",),
}
"""What each step needs where `command` names it."""


def find_upload_faults(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with an image, or with a step that `command` names."""
    command = params.get("command")
    for name in _NEEDED[command]:
        if name not in call.sent:
            yield name, f"{name} is required" + (f" with command {command}" if command else "")
    if command == _INIT:
        yield from find_initialize_faults(params, call, world, settings)
    elif command == _APPEND:
        yield from find_segment_faults(params, call, world, settings)
    elif command is None:
        yield from _find_image_faults(params)


def find_initialize_faults(
    params: Mapping[str, Any], _call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the description of an upload."""
    file_type = params.get("media_type")
    if file_type is None:
        return
    category = find_category(params.get("media_category"), file_type)
    if file_type not in category.accepts:
        allowed = ", ".join(category.accepts)
        yield "media_type", f"media_type must be one of {allowed} for {category.name}"
    total = params.get("total_bytes", 0)
    if total > category.most_bytes:
        yield (
            "total_bytes",
            f"total_bytes may be at most {category.most_bytes} for {category.name}, got {total}",
        )


def _find_image_faults(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, content = params.get("media_category"), params.get("media")
    if name is None:
        return
    if name not in SIMPLE:
        text = f"{', '.join(SIMPLE)} can be uploaded in one request; upload {name} in segments"
        yield "media_category", f"media_category must be one of {text}"
        return
    category = CATEGORIES[name]
    file_type = params.get("media_type", category.accepts[0])
    if file_type not in category.accepts:
        allowed = ", ".join(category.accepts)
        yield "media_type", f"media_type must be one of {allowed} for {name}"
    if content is not None and not 0 < len(content) <= category.most_bytes:
        yield "media", f"{name} must have 1 to {category.most_bytes} bytes, got {len(content)}"


def upload(call: Call, world: World) -> dict[str, Any]:
    """Upload a whole image, or do the step that `command` names."""
    # One path has two histories: whole images in one request, and the older commands of the
    # segmented upload, which also have paths of their own. Each command does exactly what its path
    # does.
    command, media_id = call.params.get("command"), call.params.get("media_id", "")
    if command == _INIT:
        return initialize(call, world)
    if command == _APPEND:
        return _append(call, world, "media_id", media_id)
    if command == _FINALIZE:
        return _finalize(call, world, "media_id", media_id)
    params = call.params
    category, content = CATEGORIES[params["media_category"]], params["media"]
    image = _read_image(call, content, params.get("media_type", category.accepts[0]))
    found = None if image is None else image.media_type
    file_type = params.get("media_type") or found or category.accepts[0]
    if file_type not in category.accepts:
        text = f"media is {file_type}, which is not accepted for {category.name}"
        raise InvalidParameters([("media", text)], {})
    begun = begin_upload(world, get_user_id(call), category.name, file_type, len(content),
                         owners=params.get("additional_owners", ()))  # fmt: skip
    media = finish_upload(world, add_segment(world, begun, 0, content, image))
    return {"data": show_media(world, media)}


def initialize(call: Call, world: World) -> dict[str, Any]:
    """Begin an upload in segments."""
    params = call.params
    category, owners = params.get("media_category"), params.get("additional_owners", ())
    sent = params["media_type"], params["total_bytes"]
    begun = begin_upload(world, get_user_id(call), category, *sent, owners=owners)
    return {"data": show_upload(world, begun)}


def append(call: Call, world: World) -> dict[str, Any]:
    """Add a segment to the upload in the path."""
    return _append(call, world, "id", call.path_params["id"])


def finalize(call: Call, world: World) -> dict[str, Any]:
    """Finish the upload in the path."""
    return _finalize(call, world, "id", call.path_params["id"])


def get_status(call: Call, world: World) -> dict[str, Any]:
    """Return how far an upload is; this counts as a poll of its processing."""
    user_id, media_id = get_user_id(call), call.params["media_id"]
    begun = find_upload(world, user_id, media_id)
    if begun is not None:
        return {"data": show_upload(world, begun)}
    media = find_own_media(world, user_id, media_id)
    if media is None:
        raise _refuse_unknown("media_id", media_id)
    world.transitions.evaluate(KIND, media["media_key"], poll=True)
    media = world.store.get("media", media["media_key"]) or media
    return {"data": show_media(world, media, asked=True)}


def _append(call: Call, world: World, parameter: str, media_id: str) -> dict[str, Any]:
    begun = find_upload(world, get_user_id(call), media_id)
    if begun is None:
        raise _refuse_unknown(parameter, media_id)
    content, index = call.params["media"], call.params["segment_index"]
    fault = explain_excess(begun, index, len(content))
    if fault is not None:
        raise InvalidParameters([("media", fault)], {})
    image = _read_image(call, content, begun["media_type"]) if index == 0 else None
    add_segment(world, begun, index, content, image)
    return {"data": {"expires_at": int(parse_instant(begun["expires_at"]).timestamp())}}


def _finalize(call: Call, world: World, parameter: str, media_id: str) -> dict[str, Any]:
    user_id = get_user_id(call)
    begun = find_upload(world, user_id, media_id)
    if begun is None:
        media = find_own_media(world, user_id, media_id)
        if media is None:
            raise _refuse_unknown(parameter, media_id)
        call.assume(FINISHED_TWICE)
        return {"data": show_media(world, media)}
    fault = explain_incomplete(begun)
    if fault is not None:
        raise InvalidParameters([(parameter, fault)], {parameter: media_id})
    return {"data": show_media(world, finish_upload(world, begun))}


def _read_image(call: Call, content: bytes, file_type: str) -> ImageFacts | None:
    if not file_type.startswith("image/"):
        return None
    image = read_image(content)
    if image is None:
        text = "media begins like no PNG, JPEG, GIF or WebP, so its width and height are unknown"
        call.warn(text, NO_EFFECT)
    return image


def _refuse_unknown(parameter: str, media_id: str) -> ProblemFailure:
    return ProblemFailure(find_nothing("media", parameter, media_id, repeated=True))


_PATH = "/2/media/upload"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel, in base64."""
_declare = partial(
    declare_named,
    spec="What the service does",
    returns=MediaAnswer,
    auth=Auth(ANY_USER, scopes=("media.write",)),
    limit=Rates(user=1875, app_daily=180_000),
    errors=("invalid-request", "resource-not-found"),
    assumptions=(MEDIA_SHAPES, UPLOAD_RULES, USABLE_MEDIA),
    may_assume=(MEDIA_PROCESSING, FINISHED_TWICE),
)
_declare_step = partial(_declare, location=Location.UPLOAD)
OPERATIONS = (
    _declare_step(
        "media.upload",
        f"POST {_PATH}",
        upload,
        "Upload an image, or do a step of an upload",
        params=UploadBody,
        rules=find_upload_faults,
        limit=Rates(user=500, app_daily=50_000),
        example=Example(
            json={"media": PIXEL, "media_category": "post_image", "media_type": "image/png"}
        ),
    ),
    _declare_step(
        "media.initialize",
        f"POST {_PATH}/initialize",
        initialize,
        "Begin an upload in segments",
        params=InitializeBody,
        rules=find_initialize_faults,
        example=Example(
            json={"media_type": "image/png", "total_bytes": 70, "media_category": "post_image"}
        ),
    ),
    _declare_step(
        "media.append",
        f"POST {_PATH}/:id/append",
        append,
        "Add a segment to an upload",
        params=AppendBody,
        rules=find_id_faults.continue_with(find_segment_faults),
        example=Example(
            path={"id": "1991204475120123950"}, json={"media": PIXEL, "segment_index": 1}
        ),
    ),
    _declare(
        "media.finalize",
        f"POST {_PATH}/:id/finalize",
        finalize,
        "Finish an upload",
        rules=find_id_faults,
        example=Example(path={"id": "1991204475120123951"}),
    ),
    _declare(
        "media.status",
        f"GET {_PATH}",
        get_status,
        "Read how far an upload is",
        params=StatusQuery,
        limit=Rates(user=1000, app_daily=100_000),
        example=Example(query={"media_id": "1712850617439550001"}),
    ),
)
