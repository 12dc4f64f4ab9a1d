"""Settings of an account: who is billed under which law, and where a user is reached."""

from __future__ import annotations

from mock_platform.api.ads.conventions import One, ads, fail
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

TAX_SETTINGS_ALL = public_fact(
    "tax-settings.all",
    "The tax settings of an account are read and changed; they are null until then, and an empty "
    "value makes them null again.",
    "adjacent operations, section 9",
    gap=True,
)
VALUES = expectation(
    "tax-settings.values",
    "The values of the four enumerations, and that an address has ten parts.",
)
BILL_TO = ("ADVERTISER", "AGENCY")
RELATIONSHIPS = ("AGENCY", "SELF")
JURISDICTIONS = ("NONE", "LOI_SAPIN", "DISREGARD", "DISREGARD_SET")
TAX_CATEGORIES = ("BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL")


def _make_text() -> Text:
    return Text(min_length=1, allow_none=True)


class TaxSettings(Schema):
    """The tax settings of an account; an empty value unsets a field."""

    address_city = _make_text()
    address_country = Text(
        pattern=r"[A-Z]{2}", pattern_text="an ISO 3166-1 alpha-2 code such as US", allow_none=True
    )
    address_email = _make_text()
    address_first_name = _make_text()
    address_last_name = _make_text()
    address_name = _make_text()
    address_postal_code = _make_text()
    address_region = _make_text()
    address_street1 = _make_text()
    address_street2 = _make_text()
    bill_to = Choice(BILL_TO, allow_none=True)
    business_relationship = Choice(RELATIONSHIPS, allow_none=True)
    invoice_jurisdiction = Choice(JURISDICTIONS, allow_none=True)
    tax_category = Choice(TAX_CATEGORIES, allow_none=True)
    tax_id = _make_text()


class TaxSettingsRecord(TaxSettings):
    """Tax settings as they are stored, one record for each account."""

    _account_id = Text(required=True)


_UNSET = dict.fromkeys(TaxSettings().load_fields)


def get_tax_settings(call: Call, world: World) -> Record:
    """Return the tax settings of the account."""
    return _UNSET | (world.store.get("tax_settings", call.path_params["account_id"]) or {})


def update_tax_settings(call: Call, world: World) -> Record:
    """Change the tax settings of the account."""
    key = call.path_params["account_id"]
    before = world.store.get("tax_settings", key) or {}
    after = _UNSET | before | call.params | {"_account_id": key}
    world.store.put("tax_settings", key, after)
    return after


_PATH = "/12/accounts/:account_id/tax_settings"

_TAX_SETTINGS_TABLES = (
    Table(
        "tax_settings",
        TaxSettingsRecord,
        key="_account_id",
        references=(Reference("_account_id", "accounts"),),
    ),
)
_TAX_SETTINGS_OPERATIONS: tuple[Operation, ...] = (
    ads(
        "tax_settings.get",
        "GET",
        _PATH,
        get_tax_settings,
        summary="Read the tax settings of an account",
        spec="not shown",
        returns=One(TaxSettings),
        origin=Origin.ADJACENT,
        assumptions=(TAX_SETTINGS_ALL, VALUES),
    ),
    ads(
        "tax_settings.update",
        "PUT",
        _PATH,
        update_tax_settings,
        summary="Change the tax settings of an account",
        spec="not shown",
        returns=One(TaxSettings),
        params=TaxSettings,
        origin=Origin.ADJACENT,
        assumptions=(TAX_SETTINGS_ALL, VALUES),
    ),
)


# User settings: where an account reaches one of its users.

USER_SETTINGS_ALL = public_fact(
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


_USER_SETTINGS_UNSET = dict.fromkeys(UserSettings().load_fields)


def get_user_settings(call: Call, world: World) -> Record:
    """Return the settings of a user of the account."""
    key = _require_key(call)
    return _USER_SETTINGS_UNSET | (world.store.get("user_settings", key) or {})


def update_user_settings(call: Call, world: World) -> Record:
    """Change the settings of a user of the account."""
    key = _require_key(call)
    account_id, user_id = call.path_params["account_id"], call.path_params["user_id"]
    before = world.store.get("user_settings", key) or {}
    after = _USER_SETTINGS_UNSET | before | call.params
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


_USER_SETTINGS_PATH = "/12/accounts/:account_id/user_settings/:user_id"

_USER_SETTINGS_TABLES = (
    Table(
        "user_settings",
        UserSettingsRecord,
        key="_id",
        references=(Reference("_account_id", "accounts"), Reference("_user_id", "users")),
    ),
)
_USER_SETTINGS_OPERATIONS: tuple[Operation, ...] = (
    ads(
        "user_settings.get",
        "GET",
        _USER_SETTINGS_PATH,
        get_user_settings,
        summary="Read how a user of an account is reached",
        spec="not shown",
        returns=One(UserSettings),
        origin=Origin.ADJACENT,
        errors=("USER_NOT_FOUND",),
        statuses=(403,),
        assumptions=(USER_SETTINGS_ALL, WHOSE),
    ),
    ads(
        "user_settings.update",
        "PUT",
        _USER_SETTINGS_PATH,
        update_user_settings,
        summary="Change how a user of an account is reached",
        spec="not shown",
        returns=One(UserSettings),
        params=UserSettings,
        origin=Origin.ADJACENT,
        errors=("USER_NOT_FOUND",),
        statuses=(403,),
        assumptions=(USER_SETTINGS_ALL, WHOSE),
    ),
)


OPERATIONS = (*_TAX_SETTINGS_OPERATIONS, *_USER_SETTINGS_OPERATIONS)


TABLES = (*_TAX_SETTINGS_TABLES, *_USER_SETTINGS_TABLES)
