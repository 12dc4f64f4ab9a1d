"""Encrypted media of conversations: uploaded in parts, downloaded as they were uploaded.

What an upload in parts is, it shares with other media; the content is kept here.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from datetime import timedelta
from functools import partial
from typing import Any

from mock_platform.api.v2.chat.conversations import (
    CHAT_SHAPES,
    CONVERSATION_ID,
    find_conversation,
    require_conversation,
)
from mock_platform.api.v2.chat.records import CHAT_MEDIA, CHAT_MEDIA_PARTS
from mock_platform.api.v2.conventions import (
    ANY_USER,
    check_path,
    declare_public,
    find_id_faults,
    find_nothing,
    get_user_id,
    refuse_value,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.media.uploads import (
    CHUNK_BYTES,
    LIFETIME,
    MOST_SEGMENTS,
    explain_excess,
    explain_incomplete,
    find_segment_faults,
)
from mock_platform.api.v2.messages.conversations import (
    NOT_A_RESOURCE_TYPE,
    READ_PERMISSION,
    require_read_permission,
    require_write_permission,
)
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Bytes
from mock_platform.core.failures.errors import InvalidParameters, ProblemFailure
from mock_platform.core.fields import Content, Flag, Integer, Text
from mock_platform.core.operation import Example, Location
from mock_platform.core.schema import Schema
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MEDIA_RULES = expectation(
    "chat.media",
    "Media of a conversation arrive in parts of at most 5 MiB, in any order, within 24 hours; at "
    "the end none may be missing, num_parts says how many they are, and together they have "
    "total_bytes. Members download them until ttl_msec is over or their message was deleted with "
    "them for all.",
)
_HASH = re.compile(r"[a-zA-Z0-9]{1,50}", re.ASCII)
_HASH_KEY = Text(required=True, pattern=_HASH.pattern, pattern_text="1 to 50 letters and digits")
_NUMBER = r"[0-9]{1,19}"


class NewChatMedia(Schema):
    """Media that a client is going to upload."""

    conversation_id = Text(required=True)
    total_bytes = Integer(low=0, high=CHUNK_BYTES * MOST_SEGMENTS, required=True)


class ChatMediaPart(Schema):
    """One part of the content."""

    conversation_id = Text(required=True)
    media_hash_key = _HASH_KEY
    segment_index = Integer(low=0, high=MOST_SEGMENTS - 1, required=True)
    media = Content(required=True)


class ChatMediaEnd(Schema):
    """How many parts there were, and how long the media are needed."""

    conversation_id = Text(required=True)
    media_hash_key = _HASH_KEY
    num_parts = Text(required=True, pattern=_NUMBER, pattern_text="digits")
    message_id = Text()
    ttl_msec = Text(pattern=_NUMBER, pattern_text="digits")


NewChatMediaAnswer = wrap_data(
    "NewChatMediaAnswer",
    "_OpenedChatMedia",
    session_id=Text(required=True),
    media_hash_key=Text(required=True),
    conversation_id=Text(required=True),
)
ChatPartAnswer = wrap_data("ChatPartAnswer", expires_at=Integer(required=True))
ChatMediaEndAnswer = wrap_data("ChatMediaEndAnswer", "_EndedChatMedia", success=Flag(required=True))


def initialize(call: Call, world: World) -> dict[str, Any]:
    """Begin an upload to a conversation."""
    media: Record = {
        "id": world.ids.snowflake(),
        "conversation_id": _require_named(call, world),
        "media_hash_key": world.ids.alphanumeric(24),
        "total_bytes": call.params["total_bytes"],
        "segments": {},
        "expires_at": wire_millis(world.clock.now() + LIFETIME),
        "is_finished": False,
        "_user_id": get_user_id(call),
    }
    world.store.put(CHAT_MEDIA, media["id"], media)
    shown = {name: media[name] for name in ("media_hash_key", "conversation_id")}
    return {"data": {"session_id": media["id"], **shown}}


def append(call: Call, world: World) -> dict[str, Any]:
    """Add a part to an upload; one that comes again replaces itself."""
    media, params = _require_upload(call, world), call.params
    index, content = params["segment_index"], params["media"]
    fault = explain_excess(media, index, len(content))
    if media["is_finished"] or fault is not None:
        raise InvalidParameters([("media", fault or "the upload is finished")], {})
    key = f"{media['id']}:{index}"
    part = {"_id": key, "media_id": media["id"], "content": b64encode(content).decode()}
    world.store.put(CHAT_MEDIA_PARTS, key, part)
    segments = {**media["segments"], str(index): len(content)}
    world.store.put(CHAT_MEDIA, media["id"], media | {"segments": segments})
    return {"data": {"expires_at": int(parse_instant(media["expires_at"]).timestamp())}}


def finalize(call: Call, world: World) -> dict[str, Any]:
    """Finish an upload; a second time changes nothing."""
    media, params = _require_upload(call, world), call.params
    if not media["is_finished"]:
        parts, number = len(media["segments"]), int(params["num_parts"])
        fault = explain_incomplete(media)
        if fault is None and parts != number:
            fault = f"{parts} parts have arrived, and num_parts is {number}"
        if fault is not None:
            raise InvalidParameters([("num_parts", fault)], {"num_parts": params["num_parts"]})
        expires_at = _count_end(world, params.get("ttl_msec"))
        done = {"is_finished": True, "expires_at": expires_at}
        world.store.put(CHAT_MEDIA, media["id"], media | done)
    return {"data": {"success": True}}


def download(call: Call, world: World) -> bytes:
    """Return the content of media.

    Raises:
        ProblemFailure: The conversation has none with this key (404).
    """
    conversation, _ = require_conversation(call, world)
    key = call.path_params["media_hash_key"]
    media = _find_media(world, conversation["id"], key)
    if media is None or not media["is_finished"] or _is_over(world, media):
        raise _refuse_unknown("media_hash_key", key)
    parts = sorted(media["segments"], key=int)
    found = (world.store.get(CHAT_MEDIA_PARTS, f"{media['id']}:{at}") for at in parts)
    return b"".join(b64decode(part["content"]) for part in found if part is not None)


def remove_media(world: World, conversation_id: str, key: str) -> None:
    """Remove media of a conversation, if it has them."""
    media = _find_media(world, conversation_id, key)
    if media is not None:
        for at in media["segments"]:
            world.store.remove(CHAT_MEDIA_PARTS, f"{media['id']}:{at}")
        world.store.remove(CHAT_MEDIA, media["id"])


def _find_media(world: World, conversation_id: str, key: str) -> Record | None:
    match = {"conversation_id": conversation_id, "media_hash_key": key}
    return world.store.first(CHAT_MEDIA, match)


def _require_named(call: Call, world: World) -> str:
    """Return the id of the conversation that a body names.

    Raises:
        ProblemFailure: The caller takes part in no such conversation (400).
    """
    value = call.params["conversation_id"]
    found = find_conversation(call, world, value)
    if found is None:
        text = f"Could not find conversation with id: [{value}]."
        raise refuse_value(text, MEDIA_RULES, name="conversation_id", value=value)
    id_: str = found[0]["id"]
    return id_


def _require_upload(call: Call, world: World) -> Record:
    """Return the upload in the path.

    Raises:
        ProblemFailure: The caller has none (404), or the body names another conversation or key
            (400).
    """
    id_ = call.path_params["id"]
    media = world.store.get(CHAT_MEDIA, id_)
    if media is None or media["_user_id"] != get_user_id(call) or _is_over(world, media):
        raise _refuse_unknown("id", id_)
    if _require_named(call, world) != media["conversation_id"]:
        value = call.params["conversation_id"]
        text = f"The upload is for the conversation [{media['conversation_id']}]."
        raise refuse_value(text, MEDIA_RULES, name="conversation_id", value=value)
    if call.params["media_hash_key"] != media["media_hash_key"]:
        value = call.params["media_hash_key"]
        text = f"The media hash key of the upload is [{media['media_hash_key']}]."
        raise refuse_value(text, MEDIA_RULES, name="media_hash_key", value=value)
    return media


def _count_end(world: World, lifetime: str | None) -> str | None:
    """Return when media are gone that live for so many milliseconds; `None` if never."""
    if lifetime is None:
        return None
    try:
        return wire_millis(world.clock.now() + timedelta(milliseconds=int(lifetime)))
    except OverflowError:
        return None


def _is_over(world: World, media: Record) -> bool:
    return media["expires_at"] is not None and (
        parse_instant(media["expires_at"]) <= world.clock.now()
    )


def _refuse_unknown(parameter: str, value: str) -> ProblemFailure:
    return ProblemFailure(find_nothing("media", parameter, value, repeated=True))


_UPLOAD = "/2/chat/media/upload"
_SESSION = {"id": "1989400000000000001"}
_MEDIA = {"conversation_id": "2244994945-3805104374", "media_hash_key": "hBr7Kq2Vx9Lm4R8wYc3Zn6Js"}
_declare = partial(
    declare_public,
    gates=(require_write_permission,),
    auth=Auth(ANY_USER, scopes=("media.write",)),
    since=start_on("2026-02-21"),
    errors=("invalid-request", "93", "resource-not-found"),
    assumptions=(CHAT_SHAPES, MEDIA_RULES),
)
OPERATIONS = (
    _declare(
        "chat_media.initialize",
        f"POST {_UPLOAD}/initialize",
        initialize,
        "Begin an upload of encrypted media",
        params=NewChatMedia,
        returns=NewChatMediaAnswer,
        errors=("invalid-request", "93"),
        example=Example(json={"conversation_id": _MEDIA["conversation_id"], "total_bytes": 6}),
    ),
    _declare(
        "chat_media.append",
        f"POST {_UPLOAD}/:id/append",
        append,
        "Add a part to encrypted media",
        params=ChatMediaPart,
        location=Location.UPLOAD,
        rules=find_id_faults.continue_with(find_segment_faults),
        returns=ChatPartAnswer,
        example=Example(path=_SESSION, json={**_MEDIA, "segment_index": 0, "media": "c2VjcmV0"}),
    ),
    _declare(
        "chat_media.finalize",
        f"POST {_UPLOAD}/:id/finalize",
        finalize,
        "Finish an upload of encrypted media",
        params=ChatMediaEnd,
        rules=find_id_faults,
        returns=ChatMediaEndAnswer,
        example=Example(path=_SESSION, json={**_MEDIA, "num_parts": "1"}),
    ),
    _declare(
        "chat_media.download",
        "GET /2/chat/media/:id/:media_hash_key",
        download,
        "Download encrypted media",
        gates=(require_read_permission,),
        rules=check_path(id=CONVERSATION_ID, media_hash_key=_HASH),
        returns=Bytes(),
        since=start_on("2026-03-18"),
        assumptions=(CHAT_SHAPES, MEDIA_RULES, READ_PERMISSION),
        may_assume=(NOT_A_RESOURCE_TYPE,),
        example=Example(
            path={"id": "2244994945-3805104374", "media_hash_key": "nBk3aR6vLk8Ys1Df4tM8qZ4w"}
        ),
    ),
)
