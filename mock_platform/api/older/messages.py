"""Direct messages of the older interface: sent, listed, read and deleted, and notices of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import add_fields, declare, run
from mock_platform.api.older.objects import NO_ENTITIES, show_media_entity
from mock_platform.api.v2.activity.activities import record_activity
from mock_platform.api.v2.conventions import (
    Rates,
    get_user_id,
    limit_users,
    make_id_field,
    make_schema,
)
from mock_platform.api.v2.messages import conversations, events, operations
from mock_platform.api.v2.messages.conversations import MESSAGE, TABLE
from mock_platform.api.v2.objects.media_view import find_any_media
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Choice, Integer, Json, ListOf, Nested, Text
from mock_platform.core.operation import Location
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MESSAGE_LISTS = expectation(
    "older.messages",
    "The messages of conversations of two, of the last 30 days, are listed with the newest first. "
    "A deleted message is gone for both. quick_reply and ctas are taken, and not shown.",
)
MESSAGE_NOTICES = expectation(
    "older.message-notices",
    "Typing and reading change nothing; the other user gets dm.indicate_typing or dm.read.",
)
_REACH = timedelta(days=30)
_CREATE, _DATA = "message_create", "message_data"


def _nest(name: str, *, required: bool = True, **parts: Any) -> Nested:
    return Nested(make_schema(f"OlderMessage{name}", **parts), required=required)


_Media = _nest("Media", id=make_id_field(or_number=True, required=True))
CONTENT = _nest(
    "Data",
    text=Text(min_length=1),
    attachment=_nest("Attachment", required=False, type=Choice(("media",)), media=_Media),
    quick_reply=Json(),
    ctas=ListOf(Json()),
)
_Target = _nest("Target", recipient_id=make_id_field(or_number=True, required=True))
_Create = _nest("Create", target=_Target, message_data=CONTENT)
_Event = _nest("Event", type=Choice((_CREATE,), required=True), message_create=_Create)
NewEvent = make_schema("OlderNewMessage", event=_Event)
MessageAnswer = make_schema("OlderMessage", event=Json(required=True), apps=Json())
MessagePage = make_schema("OlderMessagePage", events=older.OBJECTS, apps=Json(), next_cursor=Text())


def send(call: Call, world: World) -> Record:
    """Send a direct message to a user.

    Raises:
        NumericFailure: It has no content (25), or its text is too long (354).
    """
    sent = call.params["event"][_CREATE]
    data, recipient = sent[_DATA], sent["target"]["recipient_id"]
    check_content(data)
    message: Record = {"text": data["text"]} if "text" in data else {}
    if "attachment" in data:
        message["attachments"] = [{"media_id": data["attachment"]["media"]["id"]}]
    made = run(operations.send_to_user, call, world, {"participant_id": recipient}, **message)
    return {"event": _show(world, world.store.get(TABLE, made["data"]["dm_event_id"]) or {})}


def check_content(data: Record) -> None:
    """Check what a message says.

    Raises:
        NumericFailure: It has no content (25), or its text is too long (354).
    """
    if len(data.get("text", "")) > conversations.LONGEST_TEXT:
        raise NumericFailure(354)
    if not data.keys() & {"text", "attachment"}:
        raise NumericFailure(25, "message_data needs text or an attachment.")


def list_(call: Call, world: World) -> Record:
    """Return the page of messages that the caller sent and received."""
    take = partial(operations.take_events, match={"event_type": MESSAGE}, where=_is_of_two,
                   since=wire_millis(world.clock.now() - _REACH))  # fmt: skip
    found, cursor = older.run_text_page(take, call, world)
    shown = {"events": [_show(world, event) for event in found]}
    return {**shown, **show_apps(world, found), **cursor}


def show(call: Call, world: World) -> Record:
    """Return a message that the caller sent or received."""
    event = _require_message(call, world)
    return {"event": _show(world, event), **show_apps(world, [event])}


def destroy(call: Call, world: World) -> None:
    """Delete a message that the caller sent."""
    run(events.delete, call, world, {"event_id": _require_message(call, world)["id"]})


def indicate_typing(call: Call, world: World) -> None:
    """Let a user know that the caller writes to them."""
    _notify(call, world, "dm.indicate_typing")


def mark_read(call: Call, world: World) -> None:
    """Let a user know up to which of their messages the caller has read.

    Raises:
        NumericFailure: The caller has no such message of the user (34).
    """
    last = run(conversations.require_event, call, world,
               {"event_id": call.params["last_read_event_id"]})  # fmt: skip
    if last["sender_id"] != call.params["recipient_id"] or not _is_of_two(last):
        raise NumericFailure(34)
    _notify(call, world, "dm.read", last["id"])


def _notify(call: Call, world: World, event_type: str, read: str | None = None) -> None:
    own, other = get_user_id(call), call.params["recipient_id"]
    conversations.require_users(world, "participant_id", [other], own)
    payload = conversations.make_notice(world, event_type, own, other, read=read)
    record_activity(world, event_type, user_id=other, payload=payload)


def _require_message(call: Call, world: World) -> Record:
    event: Record = run(conversations.require_event, call, world, {"event_id": call.params["id"]})
    if event["event_type"] != MESSAGE or not _is_of_two(event):
        raise NumericFailure(34)
    return event


def _is_of_two(event: Record) -> bool:
    return "-" in event["dm_conversation_id"]


def _show(world: World, event: Record) -> Record:
    others = [id_ for id_ in event["_participants"] if id_ != event["sender_id"]]
    payload = conversations.make_payload(world, event, (others or event["_participants"])[0])
    shown: Record = payload["direct_message_events"][0]
    data = shown[_CREATE][_DATA]
    data["entities"] = NO_ENTITIES | data["entities"]
    if event.get("_app_id"):
        shown[_CREATE]["source_app_id"] = event["_app_id"]
    for media in filter(None, (find_any_media(world, key) for key in event["_media_keys"])):
        medium = show_media_entity(world, media, event["id"], len(data["text"]))
        data["attachment"] = {"type": "media", "media": medium}
    return shown


def show_apps(world: World, shown: Iterable[Record]) -> Record:
    """Return the apps by which messages were sent, by id, if there are some."""
    found = [world.store.get("apps", event.get("_app_id") or "") for event in shown]
    apps = {app["id"]: {name: app[name] for name in ("id", "name", "url")} for app in found if app}
    return {"apps": apps} if apps else {}


_EVENTS = "direct_messages/events"
_NamedMessage = add_fields(id=make_id_field("a message id of ", required=True))
_OWN = {"id": "1990181773551677440"}
_write = partial(declare, gates=(conversations.require_write_permission,))
_read = partial(declare, gates=(conversations.require_read_permission,), rates=(None, 15),
                facts=(MESSAGE_LISTS,))  # fmt: skip
_RECIPIENT = {"recipient_id": "3805104374"}
_Recipient = add_fields(recipient_id=make_id_field("a user id of ", required=True))
_notice = partial(_write, returns=older.NOTHING, errors="34 50 93 349", facts=(MESSAGE_NOTICES,),
                  limit=limit_users("direct_messages/notices", 1000))  # fmt: skip
OPERATIONS = (
    _write(f"POST {_EVENTS}/new", send, "Send a direct message", MessageAnswer, NewEvent,
           location=Location.JSON, limit=Rates(user_daily=1000), errors="25 50 93 324 349 354",
           facts=(MESSAGE_LISTS, conversations.TAKES_NO_MESSAGES),
           json={"event": {"type": _CREATE, _CREATE: {
               "target": {"recipient_id": "3805104374"}, _DATA: {"text": "The beans are ready."},
           }}}),
    _read(f"GET {_EVENTS}/list", list_, "List the direct messages of the caller", MessagePage,
          add_fields(count=Integer(low=0), cursor=Text(min_length=1)), errors="44 93"),
    _read(f"GET {_EVENTS}/show", show, "Read a direct message", MessageAnswer, _NamedMessage,
          errors="34 93", query=_OWN),
    _write(f"DELETE {_EVENTS}/destroy", destroy, "Delete a direct message", older.NOTHING,
           _NamedMessage, errors="34 87 93", query=_OWN,
           facts=(MESSAGE_LISTS, events.DELETION_RULES)),
    _notice("POST direct_messages/indicate_typing", indicate_typing,
            "Let a user know that the caller writes", params=_Recipient, query=_RECIPIENT),
    _notice("POST direct_messages/mark_read", mark_read, "Mark the messages of a user as read",
            params=add_fields(_Recipient, last_read_event_id=make_id_field(
                "a message id of ", required=True)),
            query=_RECIPIENT | {"last_read_event_id": "1990180010221305856"}),
)  # fmt: skip
