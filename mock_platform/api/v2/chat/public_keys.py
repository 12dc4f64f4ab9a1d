"""Public keys of users: what others encrypt the key of a conversation with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.chat.records import PUBLIC_KEYS, SentKeys
from mock_platform.api.v2.conventions import (
    ANY_USER,
    check_self,
    declare_public,
    find_id_faults,
    get_user_id,
    make_id_field,
    refuse_value,
    require_record,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.messages.conversations import (
    require_read_permission,
    require_write_permission,
)
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS, make_names_field, start_answer
from mock_platform.api.v2.objects.object_types import PARTIAL_ERROR
from mock_platform.api.v2.pages import show_list
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import CommaList, Flag, Json, ListOf, Nested, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import epoch_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

KEY_SHAPES = public_fact(
    "public-keys.shapes",
    "A user has a list of public keys, one for each version. Without public_key.fields all fields "
    "are shown. juicebox_config is for the user alone; it is the same for everybody and leads "
    "nowhere.",
    "all of v2, section 19",
    gap=True,
)
KEY_VERSIONS = expectation(
    "public-keys.versions",
    "The newest version is listed first. A new version is a larger number; the same keys again "
    "under the same version answer the same. With generate_version the version is the moment in "
    "milliseconds.",
)
FIELDS = (
    "identity_public_key_signature", "juicebox_config", "public_key", "public_key_version",
    "signing_public_key",
)  # fmt: skip
_REALMS = ("a1c0", "b2d1", "c3e2")
NEWEST_FIRST = Order(descending=True)


class _KeySelection(Schema):
    public_key_fields = make_names_field(FIELDS, data_key="public_key.fields")


class SeveralKeysQuery(_KeySelection):
    """Whose public keys to read, and what to show of them."""

    ids = CommaList(make_id_field("a user id of "), most=100, required=True)


class KeysQuery(_KeySelection):
    """What to show of public keys."""


class PublicKey(Schema):
    """One version of the public keys of a user."""

    public_key_version = Text()
    public_key = Text()
    signing_public_key = Text()
    identity_public_key_signature = Text()
    juicebox_config = Json()


class PublicKeys(Schema):
    """Public keys, and the users that were not found."""

    data = ListOf(Nested(PublicKey))
    errors = PARTIAL_ERROR.several()


class NewPublicKey(Schema):
    """Keys to add, and their version."""

    public_key = Nested(SentKeys, required=True)
    version = Text(required=True, pattern="[0-9]{0,19}", pattern_text="digits")
    generate_version = Flag(load_default=False)


NewKeyAnswer = wrap_data(
    "NewKeyAnswer", public_key_version=Text(required=True), juicebox_config=Json(required=True)
)


def list_several(call: Call, world: World) -> dict[str, Any]:
    """Return the public keys of several users, in the order in which these were asked for."""
    answer, shown = start_answer(call, world), []
    for id_ in dict.fromkeys(call.params["ids"]):
        if world.store.get("users", id_) is None:
            answer.add_missing("user", "ids", id_)
        shown += _show_keys(call, world, id_)
    if answer.errors:
        call.assume(PARTIAL_ERRORS)
    return show_list(shown, **answer.parts())


def list_of_user(call: Call, world: World) -> dict[str, Any]:
    """Return the public keys of a user."""
    user = require_record(call, world, "users", "user", PARTIAL_ERRORS)
    return show_list(_show_keys(call, world, user["id"]))


def create(call: Call, world: World) -> dict[str, Any]:
    """Add public keys.

    Raises:
        ProblemFailure: The version is not newer than those that the user has (400).
    """
    user_id, sent = get_user_id(call), call.params["public_key"]
    latest = find_keys(world, user_id)[:1]
    newest = int(latest[0]["public_key_version"]) if latest else 0
    version = call.params["version"]
    if call.params["generate_version"]:
        version = str(max(int(epoch_millis(world.clock.now())), newest + 1))
    elif latest and int(version) <= newest:
        same = {name: latest[0].get(name) for name in sent} == sent and int(version) == newest
        if not same:
            text = f"The version [{version}] is not newer than the version [{newest}] of the user."
            raise refuse_value(text, KEY_VERSIONS, name="version", value=version)
        version = latest[0]["public_key_version"]
    key = f"{user_id}:{version}"
    if world.store.get(PUBLIC_KEYS, key) is None:
        record = {"_id": key, "_user_id": user_id, "public_key_version": version, **sent}
        world.store.put(PUBLIC_KEYS, key, record)
    return {"data": {"public_key_version": version, "juicebox_config": make_config(user_id)}}


def find_version_faults(
    params: Mapping[str, Any], _call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find a version that is missing although the server is not to make one."""
    if params.get("version") == "" and not params.get("generate_version"):
        yield "version", "version is needed without generate_version"


def find_keys(world: World, user_id: str) -> list[Record]:
    """Return the public keys of a user, the newest first."""
    found = world.store.page(PUBLIC_KEYS, {"_user_id": user_id}, order=NEWEST_FIRST)
    return [entry.record for entry in found]


def make_config(user_id: str) -> dict[str, Any]:
    """Return where the private key of a user is kept: three realms that do not exist."""
    realms = [
        {"id": id_, "address": f"https://realm-{id_}.example/", "public_key": id_ * 16}
        for id_ in _REALMS
    ]
    limits = {"register_threshold": 2, "recover_threshold": 2}
    store = {"realms": realms, **limits, "pin_hashing_mode": "Standard2019"}
    return {
        "key_store_token_map_json": dumps(store).decode(),
        "max_guess_count": 20,
        **limits,
        "token_map": [
            {
                "key": realm["id"],
                "value": {
                    "address": realm["address"],
                    "public_key": realm["public_key"],
                    "token": f"{realm['id']}-{user_id}",
                },
            }
            for realm in realms
        ],
    }


def _show_keys(call: Call, world: World, user_id: str) -> list[dict[str, Any]]:
    wanted = call.params.get("public_key_fields") or FIELDS
    own = {"juicebox_config": make_config(user_id)} if user_id == get_user_id(call) else {}
    return [
        {name: value for name, value in (record | own).items() if name in wanted}
        for record in find_keys(world, user_id)
    ]


_declare_read = partial(
    declare_public,
    gates=(require_read_permission,),
    returns=PublicKeys,
    auth=Auth(ANY_USER, scopes=("dm.read", "post.read", "users.read")),
    assumptions=(KEY_SHAPES, KEY_VERSIONS),
    may_assume=(PARTIAL_ERRORS,),
)
OPERATIONS = (
    _declare_read(
        "public_keys.list",
        "GET /2/users/public_keys",
        list_several,
        "Read the public keys of several users",
        params=SeveralKeysQuery,
        since=start_on("2026-03-18"),
        errors=("invalid-request", "93"),
        example=Example(query={"ids": "2244994945,3805104374"}),
    ),
    _declare_read(
        "public_keys.list_of_user",
        "GET /2/users/:id/public_keys",
        list_of_user,
        "Read the public keys of a user",
        params=KeysQuery,
        rules=find_id_faults,
        since=start_on("2026-02-06"),
        errors=("invalid-request", "93", "resource-not-found"),
        example=Example(path={"id": "3805104374"}),
    ),
    declare_public(
        "public_keys.create",
        "POST /2/users/:id/public_keys",
        create,
        "Add public keys",
        gates=(require_write_permission,),
        params=NewPublicKey,
        rules=check_self().continue_with(find_version_faults),
        returns=NewKeyAnswer,
        auth=Auth(ANY_USER, scopes=("dm.write", "post.read", "users.read")),
        since=start_on("2026-02-06"),
        errors=("invalid-request", "93"),
        assumptions=(KEY_SHAPES, KEY_VERSIONS),
        example=Example(
            json={
                "public_key": {
                    "public_key": "BFRoZSBuZXh0IGtleQ==",
                    "signing_public_key": "BFNpZ24=",
                },
                "version": "1790000000000",
            },
        ),
    ),
)
