"""What an account may and how it is billed: its features, tax settings, and users' contacts.

Features are read anywhere, and added and removed on the sandbox (document B).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mock_platform.api.ads.conventions import Data, One, ads, fail
from mock_platform.core.assumptions import Assumption, expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Text
from mock_platform.core.operation import Example, Operation, Origin, locate_declaration
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

READ_FILTER = (
    "REACH_AND_FREQUENCY_ANALYTICS",
    "REACH_FREQUENCY_CAP",
    "WEBSITE_CLICKS_CPM_BILLING",
)
"""Documented values of the read filter ("Account feature keys")."""
SANDBOX_KEYS = (
    "AGE_TARGETING", "ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE", "AWARENESS_OBJECTIVE",
    "BRAND_TPN", "CHARGE_FOR_GOOD_CLICK", "CONVERSATION_CARD", "CONVERSATION_CARD_FOUR_OPTIONS",
    "CONVERSATION_CARD_UNLOCK", "CPI_CHARGING", "DIRECT_MESSAGE_CARD", "DR_TAP",
    "ENGAGER_RETARGETING", "EVENT_TARGETING", "INSTALLED_APP_CATEGORY_TARGETING",
    "MOBILE_CONVERSION_TRANSACTION_VALUE", "OPTIMIZED_ACTION_BIDDING", "PREROLL_VIEWS_OBJECTIVE",
    "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "VALIDATED_AGE_TARGETING",
    "VIDEO_APP_DOWNLOAD_CARD", "VIDEO_VIEWS_MIDROLL_OBJECTIVE",
)  # fmt: skip
"""Feature keys that the sandbox can add and remove ("Account feature keys")."""

FEATURES_ALPHABETICAL = public_fact(
    "features.alphabetical",
    "Feature keys are listed in alphabetical order, without a cursor.",
    "section 7, features",
)
OTHER_KEYS = public_fact(
    "features.read-filter",
    "The read filter takes keys beyond its documented values and leaves those that the account "
    "has; unknown ones are ignored.",
    "section 7, features",
)
SANDBOX_ONLY_THESE = settled(
    "features.sandbox-values",
    "The sandbox adds and removes exactly the documented keys; others are refused and come from "
    "fixtures alone. Adding a present key and removing an absent one change nothing.",
)


class FeaturesGet(Schema):
    """Parameters of the read of features."""

    feature_keys = CommaList(
        Text(min_length=1), metadata={"description": f"documented values: {', '.join(READ_FILTER)}"}
    )


class FeaturesChange(Schema):
    """Parameters of the sandbox's operations on features."""

    feature_keys = CommaList(Choice(SANDBOX_KEYS), required=True)


def get_features(call: Call, world: World) -> list[str]:
    """Return those of the requested feature keys that the account has."""
    assert call.account is not None
    wanted = call.params.get("feature_keys")
    if wanted is None:
        return sorted(set(call.account["_features"]))
    if not set(wanted) <= set(READ_FILTER):
        call.assume(OTHER_KEYS)
    return sorted({*call.account["_features"]} & {*wanted})


def add_features(call: Call, world: World) -> list[str]:
    """Add features to the account; return all that it has."""
    assert call.account is not None
    return _store_keys(call, world, {*call.account["_features"], *call.params["feature_keys"]})


def remove_features(call: Call, world: World) -> list[str]:
    """Remove features from the account; return those that it still has."""
    assert call.account is not None
    return _store_keys(call, world, {*call.account["_features"]} - {*call.params["feature_keys"]})


def _store_keys(call: Call, world: World, keys: Iterable[str]) -> list[str]:
    """Store the account's features; they are not fields on the wire, so `updated_at` stays."""
    assert call.account is not None
    current = sorted(keys)
    world.store.put("accounts", call.account["id"], call.account | {"_features": current})
    return current


# Who is billed under which law, and where a user is reached.

TAX_SETTINGS_ALL = public_fact(
    "tax-settings.all",
    "The tax settings of an account are read and changed; they are null until then, and an empty "
    "value makes them null again.",
    "adjacent operations, section 9",
    gap=True,
)
TAX_SETTINGS_VALUES = expectation(
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


USER_SETTINGS_ALL = public_fact(
    "user-settings.all",
    "The settings of a user for an account are read and changed; they are null until then, and an "
    "empty value makes them null again.",
    "adjacent operations, section 9",
    gap=True,
)
USER_SETTINGS_WHOSE = settled(
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


def _find_tax_key(call: Call) -> dict[str, str]:
    return {"_account_id": call.path_params["account_id"]}


def _find_user_key(call: Call) -> dict[str, str]:
    assert call.account is not None
    account_id, user_id = call.account["id"], call.path_params["user_id"]
    if user_id not in call.account["_users"]:
        text = f"User {user_id} is not a user of account {account_id}"
        raise fail("USER_NOT_FOUND", text, "user_id")
    return {"_id": f"{account_id}:{user_id}", "_account_id": account_id, "_user_id": user_id}


def _declare_settings(
    name: str,
    path: str,
    form: type[Schema],
    find_keys: Callable[[Call], dict[str, str]],
    summaries: tuple[str, str],
    assumptions: tuple[Assumption, ...],
    *,
    errors: tuple[str, ...] = (),
) -> tuple[Operation, Operation]:
    """Return read and update of settings, which are null until they are set.

    `find_keys` returns the fields that say whose settings they are; the first one is the key.
    """
    unset = dict.fromkeys(form().load_fields)

    def get(call: Call, world: World) -> Record:
        (key, *_) = find_keys(call).values()
        return unset | (world.store.get(name, key) or {})

    def update(call: Call, world: World) -> Record:
        keys = find_keys(call)
        after = get(call, world) | call.params | keys
        (key, *_) = keys.values()
        world.store.put(name, key, after)
        return after

    place = locate_declaration()
    read, change = (
        ads(
            f"{name}.{verb}",
            method,
            path,
            handler,
            summary=summary,
            spec="not shown",
            returns=One(form),
            params=form if method == "PUT" else None,
            origin=Origin.ADJACENT,
            assumptions=assumptions,
            errors=errors,
            statuses=(403,) if errors else (),
            declared_at=place,
        )
        for verb, method, handler, summary in (
            ("get", "GET", get, summaries[0]),
            ("update", "PUT", update, summaries[1]),
        )
    )
    return read, change


_OF_ACCOUNT = Reference("_account_id", "accounts")
TABLES = (
    Table("tax_settings", TaxSettingsRecord, key="_account_id", references=(_OF_ACCOUNT,)),
    Table(
        "user_settings",
        UserSettingsRecord,
        key="_id",
        references=(_OF_ACCOUNT, Reference("_user_id", "users")),
        once=("_account_id", "_user_id"),
    ),
)
_FEATURES = "/12/accounts/:account_id/features"
_OF_FEATURES: tuple[Operation, ...] = (
    ads(
        "features.get",
        "GET",
        _FEATURES,
        get_features,
        summary="Read the features of an account",
        spec="Accounts",
        returns=Data(many=True),
        params=FeaturesGet,
        assumptions=(FEATURES_ALPHABETICAL,),
        may_assume=(OTHER_KEYS,),
    ),
    *(
        ads(
            f"features.{verb}",
            method,
            _FEATURES,
            handler,
            summary=summary,
            spec="Accounts",
            returns=Data(many=True),
            params=FeaturesChange,
            sandbox_only=True,
            assumptions=(FEATURES_ALPHABETICAL, SANDBOX_ONLY_THESE),
            example=Example(query={"feature_keys": "CONVERSATION_CARD"}),
        )
        for verb, method, handler, summary in (
            ("add", "POST", add_features, "Add features to a sandbox account"),
            ("remove", "DELETE", remove_features, "Remove features from a sandbox account"),
        )
    ),
)
OPERATIONS: tuple[Operation, ...] = (
    *_OF_FEATURES,
    *_declare_settings(
        "tax_settings",
        "/12/accounts/:account_id/tax_settings",
        TaxSettings,
        _find_tax_key,
        ("Read the tax settings of an account", "Change the tax settings of an account"),
        (TAX_SETTINGS_ALL, TAX_SETTINGS_VALUES),
    ),
    *_declare_settings(
        "user_settings",
        "/12/accounts/:account_id/user_settings/:user_id",
        UserSettings,
        _find_user_key,
        ("Read how a user of an account is reached", "Change how a user of an account is reached"),
        (USER_SETTINGS_ALL, USER_SETTINGS_WHOSE),
        errors=("USER_NOT_FOUND",),
    ),
)
