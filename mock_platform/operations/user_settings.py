"""User settings: where an account reaches one of its users."""

from __future__ import annotations

from mock_platform.core.ads import One, ads, fail
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.records.table import Reference, Table
from mock_platform.store.interface import Record
from mock_platform.world.world import World

ALL = public_fact(
    "user-settings.all",
    "The settings of a user for an account are read and changed; they are null until then, and an "
    "empty value makes them null again.",
    "adjacent operations, section 9",
    gap=True,
)
WHOSE = settled(
    "user-settings.whose",
    "Settings are those of the account's users; another user answers 403 USER_NOT_FOUND.",
)


class UserSettings(Schema):
    """How one user of an account is reached; an empty value unsets a field."""

    notification_email = Text(
        pattern=r"[^@\s]+@[^@\s]+", pattern_text="an email address", allow_none=True
    )
    contact_phone = Text(min_length=1, allow_none=True)
    contact_phone_extension = Text(min_length=1, allow_none=True)


class UserSettingsRecord(UserSettings):
    """Settings as they are stored; the key is the account's id, a colon and the user's id."""

    _id = Text(required=True)
    _account_id = Text(required=True)
    _user_id = Text(required=True)


_UNSET = dict.fromkeys(UserSettings().load_fields)


def get(call: Call, world: World) -> Record:
    """Return the settings of a user of the account."""
    key = _require_key(call)
    return _UNSET | (world.store.get("user_settings", key) or {})


def update(call: Call, world: World) -> Record:
    """Change the settings of a user of the account."""
    key = _require_key(call)
    account_id, user_id = call.path_params["account_id"], call.path_params["user_id"]
    before = world.store.get("user_settings", key) or {}
    after = _UNSET | before | call.params
    after |= {"_id": key, "_account_id": account_id, "_user_id": user_id}
    world.store.put("user_settings", key, after)
    return after


def _require_key(call: Call) -> str:
    assert call.account is not None
    user_id = call.path_params["user_id"]
    if user_id not in call.account["_users"]:
        text = f"User {user_id} is not a user of account {call.account['id']}"
        raise fail("USER_NOT_FOUND", text, "user_id")
    return f"{call.account['id']}:{user_id}"


_PATH = "/12/accounts/:account_id/user_settings/:user_id"

TABLES = (
    Table(
        "user_settings",
        UserSettingsRecord,
        key="_id",
        references=(Reference("_account_id", "accounts"), Reference("_user_id", "users")),
    ),
)
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "user_settings.get",
        "GET",
        _PATH,
        get,
        summary="Read how a user of an account is reached",
        spec="not shown",
        returns=One(UserSettings),
        origin=Origin.ADJACENT,
        errors=("USER_NOT_FOUND",),
        statuses=(403,),
        assumptions=(ALL, WHOSE),
    ),
    ads(
        "user_settings.update",
        "PUT",
        _PATH,
        update,
        summary="Change how a user of an account is reached",
        spec="not shown",
        returns=One(UserSettings),
        params=UserSettings,
        origin=Origin.ADJACENT,
        errors=("USER_NOT_FOUND",),
        statuses=(403,),
        assumptions=(ALL, WHOSE),
    ),
)
