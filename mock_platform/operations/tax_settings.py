"""Tax settings: to whom, and under which law, an account is billed."""

from __future__ import annotations

from mock_platform.core.ads import One, ads
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.records.table import Reference, Table
from mock_platform.store.interface import Record
from mock_platform.world.world import World

ALL = public_fact(
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


def get(call: Call, world: World) -> Record:
    """Return the tax settings of the account."""
    return _UNSET | (world.store.get("tax_settings", call.path_params["account_id"]) or {})


def update(call: Call, world: World) -> Record:
    """Change the tax settings of the account."""
    key = call.path_params["account_id"]
    before = world.store.get("tax_settings", key) or {}
    after = _UNSET | before | call.params | {"_account_id": key}
    world.store.put("tax_settings", key, after)
    return after


_PATH = "/12/accounts/:account_id/tax_settings"

TABLES = (
    Table(
        "tax_settings",
        TaxSettingsRecord,
        key="_account_id",
        references=(Reference("_account_id", "accounts"),),
    ),
)
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "tax_settings.get",
        "GET",
        _PATH,
        get,
        summary="Read the tax settings of an account",
        spec="not shown",
        returns=One(TaxSettings),
        origin=Origin.ADJACENT,
        assumptions=(ALL, VALUES),
    ),
    ads(
        "tax_settings.update",
        "PUT",
        _PATH,
        update,
        summary="Change the tax settings of an account",
        spec="not shown",
        returns=One(TaxSettings),
        params=TaxSettings,
        origin=Origin.ADJACENT,
        assumptions=(ALL, VALUES),
    ),
)
