"""Welcome messages: what users are shown who begin a conversation, and the rule that chooses one.

The older interface alone has them. Nothing shows them to users: no page of the sandbox begins a
conversation.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.older import conventions as older
from mock_platform.api.older import messages
from mock_platform.api.older.conventions import add_fields, declare
from mock_platform.api.older.objects import NO_ENTITIES, show_media_entity
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2.messages import conversations
from mock_platform.api.v2.objects.media_view import find_any_media
from mock_platform.api.v2.objects.post_text import find_entities
from mock_platform.api.v2.pages import NUMBERS, TokenPage, take_page
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Instant, Integer, Json, ListOf, Nested, Text
from mock_platform.core.operation import Location
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

WELCOME_MESSAGES = public_fact(
    "older.welcome-messages",
    "A welcome message has a name, and says what a message says; quick_reply and ctas are shown as "
    "they were sent. A rule chooses the welcome message of a user.",
    "developer pages of version 1.1, direct_messages/welcome_messages",
)
WELCOME_RULES = expectation(
    "older.welcome-rules",
    "A user has one rule; a second one is refused with code 87. A welcome message that is deleted "
    "takes its rule with it. Those of other users are missing (34).",
)
_MESSAGES, _RULES = "welcome_messages", "welcome_message_rules"
_Name = partial(Text, min_length=1)


class WelcomeMessageRecord(Schema):
    """What a user says to those who begin a conversation; `message_data` is as it was sent."""

    id = v2.make_id_field(required=True)
    name = _Name()
    message_data = Json(required=True)
    created_at = Instant(millis=True, required=True)
    _media_key = Text()
    _user_id = Text(required=True)
    _app_id = Text(load_default=None, allow_none=True)


class WelcomeMessageRuleRecord(Schema):
    """Which welcome message of a user is shown."""

    id = v2.make_id_field(required=True)
    welcome_message_id = Text(required=True)
    created_at = Instant(millis=True, required=True)
    _user_id = Text(required=True)


TABLES = (
    Table(
        _MESSAGES,
        WelcomeMessageRecord,
        references=(Reference("_user_id", "users"), Reference("_app_id", "apps")),
    ),
    Table(
        _RULES,
        WelcomeMessageRuleRecord,
        references=(Reference("_user_id", "users"), Reference("welcome_message_id", _MESSAGES)),
    ),
)
_Says = v2.make_schema("OlderWelcomeSays", name=_Name(), message_data=messages.CONTENT)
NewWelcomeMessage = v2.make_schema(
    "OlderNewWelcomeMessage", welcome_message=Nested(_Says, required=True)
)
_ID = partial(v2.make_id_field, or_number=True)
_Choice = v2.make_schema("OlderWelcomeChoice", welcome_message_id=_ID(required=True))
NewRule = v2.make_schema("OlderNewWelcomeRule", welcome_message_rule=Nested(_Choice, required=True))
NewContent = v2.make_schema(
    "OlderNewWelcomeContent", id=v2.make_id_field(required=True), message_data=messages.CONTENT
)
_APPS: dict[str, Any] = {"apps": Json()}
WelcomeMessage = v2.make_schema("OlderWelcomeMessage", welcome_message=Json(required=True), **_APPS)
WelcomeMessagePage = v2.make_schema(
    "OlderWelcomeMessagePage", welcome_messages=ListOf(Json()), next_cursor=Text(), **_APPS
)
WelcomeRule = v2.make_schema("OlderWelcomeRule", welcome_message_rule=Json(required=True))
WelcomeRulePage = v2.make_schema(
    "OlderWelcomeRulePage", welcome_message_rules=ListOf(Json()), next_cursor=Text()
)


def create(call: Call, world: World) -> Record:
    """Make a welcome message of the caller."""
    sent, now = call.params["welcome_message"], world.clock.now()
    made = {
        "id": world.ids.snowflake(now),
        **({"name": sent["name"]} if "name" in sent else {}),
        **_read_content(call, world, sent["message_data"]),
        "created_at": wire_millis(now),
        "_user_id": v2.get_user_id(call),
        "_app_id": v2.get_app(call)["id"],
    }
    world.store.put(_MESSAGES, made["id"], made)
    return _show_one(world, made)


def update(call: Call, world: World) -> Record:
    """Change what a welcome message of the caller says."""
    found = _require(_MESSAGES, call, world)
    kept = {name: value for name, value in found.items() if name != "_media_key"}
    changed = kept | _read_content(call, world, call.params["message_data"])
    world.store.put(_MESSAGES, found["id"], changed)
    return _show_one(world, changed)


def _read_content(call: Call, world: World, data: Record) -> Record:
    """Return what a message says as it is stored.

    Raises:
        NumericFailure: It has no content (25), is too long (354), or has unknown media (324).
    """
    messages.check_content(data)
    if "attachment" not in data:
        return {"message_data": data}
    media_id = data["attachment"]["media"]["id"]
    key = conversations.take_media_key(world, v2.get_user_id(call), media_id)
    if key is None:
        raise NumericFailure(324)
    return {"message_data": data, "_media_key": key}


def show(call: Call, world: World) -> Record:
    """Return a welcome message of the caller."""
    return _show_one(world, _require(_MESSAGES, call, world))


def list_(call: Call, world: World) -> Record:
    """Return the page of the welcome messages of the caller."""
    found, cursor = _take_page(_MESSAGES, call, world)
    shown = {"welcome_messages": [_show(world, one) for one in found]}
    return shown | messages.show_apps(world, found) | cursor


def destroy(call: Call, world: World) -> None:
    """Delete a welcome message of the caller, and the rule that chooses it."""
    id_ = _require(_MESSAGES, call, world)["id"]
    for entry in world.store.page(_RULES, {"welcome_message_id": id_}):
        world.store.remove(_RULES, entry.key)
    world.store.remove(_MESSAGES, id_)


def create_rule(call: Call, world: World) -> Record:
    """Choose the welcome message of the caller.

    Raises:
        NumericFailure: The caller has no such message (34), or has a rule already (87).
    """
    own, named = v2.get_user_id(call), call.params["welcome_message_rule"]["welcome_message_id"]
    older.require_own(call, world, _MESSAGES, named)
    if world.store.count(_RULES, {"_user_id": own}):
        raise NumericFailure(87)
    now = world.clock.now()
    id_, made_at = world.ids.snowflake(now), wire_millis(now)
    rule = {"id": id_, "welcome_message_id": named, "created_at": made_at, "_user_id": own}
    world.store.put(_RULES, id_, rule)
    return {"welcome_message_rule": _show_rule(rule)}


def show_rule(call: Call, world: World) -> Record:
    """Return a rule of the caller."""
    return {"welcome_message_rule": _show_rule(_require(_RULES, call, world))}


def list_rules(call: Call, world: World) -> Record:
    """Return the page of the rules of the caller."""
    found, cursor = _take_page(_RULES, call, world)
    return {"welcome_message_rules": list(map(_show_rule, found))} | cursor


def destroy_rule(call: Call, world: World) -> None:
    """Delete a rule of the caller."""
    world.store.remove(_RULES, _require(_RULES, call, world)["id"])


def _require(table: str, call: Call, world: World) -> Record:
    return older.require_own(call, world, table, call.params["id"])


def _take_page(table: str, call: Call, world: World) -> tuple[list[Record], Record]:
    def take(call: Call, world: World) -> TokenPage:
        return take_page(call, world, table, {"_user_id": v2.get_user_id(call)}, form=NUMBERS)

    return older.run_text_page(take, call, world)


def _show_one(world: World, message: Record) -> Record:
    return {"welcome_message": _show(world, message), **messages.show_apps(world, [message])}


def _show(world: World, message: Record) -> Record:
    sent, text = message["message_data"], message["message_data"].get("text", "")
    data = sent | {"text": text, "entities": NO_ENTITIES | find_entities(world, text)}
    media = find_any_media(world, message.get("_media_key", ""))
    if media is not None:
        medium = show_media_entity(world, media, message["id"], len(text))
        data["attachment"] = {"type": "media", "media": medium}
    named = {"name": message["name"]} if "name" in message else {}
    shown = {**_show_base(message), "message_data": data, **named}
    return shown | ({"source_app_id": message["_app_id"]} if message.get("_app_id") else {})


def _show_rule(rule: Record) -> Record:
    return {**_show_base(rule), "welcome_message_id": rule["welcome_message_id"]}


def _show_base(record: Record) -> Record:
    stamp = epoch_millis(parse_instant(record["created_at"]))
    return {"id": record["id"], "created_timestamp": stamp}


_PATH = "direct_messages/welcome_messages"
_Named = add_fields(id=v2.make_id_field(required=True))
_PageQuery = add_fields(count=Integer(low=0), cursor=Text(min_length=1))
_MESSAGE, _RULE = {"id": "1866020000000000011"}, {"id": "1866020000000000021"}
_SAYS = {"message_data": {"text": "Welcome! How can we help?"}}
_facts = partial(declare, facts=(WELCOME_MESSAGES, WELCOME_RULES))
_write = partial(_facts, gates=(conversations.require_write_permission,))
_read = partial(_facts, gates=(conversations.require_read_permission,), rates=(None, 180))
_new = partial(_write, location=Location.JSON)
OPERATIONS = (
    _new(f"POST {_PATH}/new", create, "Make a welcome message", WelcomeMessage, NewWelcomeMessage,
         errors="25 93 324 354", json={"welcome_message": {"name": "hello"} | _SAYS}),
    _write(f"PUT {_PATH}/update", update, "Change a welcome message", WelcomeMessage,
           NewContent, location=Location.UPLOAD,
           errors="25 34 93 324 354", json=_MESSAGE | _SAYS),
    _read(f"GET {_PATH}/show", show, "Read a welcome message", WelcomeMessage, _Named,
          errors="34 93", query=_MESSAGE),
    _read(f"GET {_PATH}/list", list_, "List the welcome messages of the caller",
          WelcomeMessagePage, _PageQuery, errors="44 93"),
    _write(f"DELETE {_PATH}/destroy", destroy, "Delete a welcome message", older.NOTHING, _Named,
           errors="34 93", query=_MESSAGE),
    _new(f"POST {_PATH}/rules/new", create_rule, "Choose a welcome message", WelcomeRule, NewRule,
         errors="34 87 93", json={"welcome_message_rule": {"welcome_message_id": _MESSAGE["id"]}},
         before=("DELETE", f"/1.1/{_PATH}/rules/destroy?id={_RULE['id']}")),
    _read(f"GET {_PATH}/rules/show", show_rule, "Read the rule of a welcome message", WelcomeRule,
          _Named, errors="34 93", query=_RULE),
    _read(f"GET {_PATH}/rules/list", list_rules, "List the rules for welcome messages",
          WelcomeRulePage, _PageQuery, errors="44 93"),
    _write(f"DELETE {_PATH}/rules/destroy", destroy_rule, "Delete the rule of a welcome message",
           older.NOTHING, _Named, errors="34 93", query=_RULE),
)  # fmt: skip
