"""Conversions as they are reported: of web sites by an advertiser, of apps by a partner.

They are kept in the table `conversions`. Nobody sees the ads of a sandbox, so no conversion is
attributed to one; a scenario can answer an attribution.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from marshmallow import EXCLUDE, ValidationError, validates_schema

from mock_platform.api.ads.conventions import Data, One, ads, fail, may_use_campaigns
from mock_platform.api.ads.measurement.tags import (
    APP_CONVERSIONS,
    ENGAGED,
    OS_TYPES,
    VIEWED,
    find_window_fault,
    track,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INVALID
from mock_platform.core.fields import (
    Anything,
    Choice,
    CurrencyCode,
    Flag,
    Instant,
    Integer,
    IntegerChoice,
    Json,
    ListOf,
    Long,
    Nested,
    Text,
)
from mock_platform.core.operation import Echo, Example, Limit, Location, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MOST = 500
_HASHED = ("hashed_email", "hashed_phone_number")
_WEAK = ("ip_address", "user_agent")
_SHA_256 = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_REPEATED_WITHIN = timedelta(hours=48)

WEB_CONVERSIONS = public_fact(
    "conversions.all",
    "Conversions of web sites are reported for the pixel of an account, up to 500 in a request, "
    "all or none; the spec shows none of this. event_id is the id of a web event tag of that "
    "account, alone or as tw-PIXEL-TAG. Each conversion has an identifier of a user; an IP address "
    "or a user agent needs a second one. The echo has the account alone.",
    "public documentation, web conversions",
    gap=True,
)
WEB_REPEATED = public_fact(
    "conversions.repeated",
    "The same conversion_id for the same event within 48 hours counts as processed, and is kept "
    "once. Conversions change no figures of analytics.",
    "public documentation, web conversions",
)
APP_CONVERSION = public_fact(
    "conversion-event.all",
    "A conversion of an app is reported by its store identifier; the spec shows none of this. Both "
    "attributions are null: nobody sees the ads of a sandbox.",
    "public documentation, mobile conversions",
    gap=True,
)
APP_UNKNOWN = expectation(
    "conversion-event.unknown-app",
    "An app without an app event tag on that system, in any account, answers 404 "
    "MACT_APP_NOT_FOUND. Any client application may report.",
)


class ConversionRecord(Schema):
    """A conversion that was reported; `sent` is the report."""

    id = Text(required=True)
    conversion_type = Text(required=True)
    conversion_time = Instant(required=True, millis=True)
    event_id = Text(load_default=None, allow_none=True)
    conversion_id = Text(load_default=None, allow_none=True)
    sent = Json(required=True)
    _account_id = Text(load_default=None, allow_none=True)


# -- of web sites -------------------------------------------------------------------------------


class _Identifier(Schema):
    twclid = Text()
    hashed_email = Text()
    hashed_phone_number = Text()
    ip_address = Text()
    user_agent = Text()


class _Content(Schema):
    content_id = Text()
    content_group_id = Text()
    content_name = Text()
    content_price = Anything()
    content_type = Text()
    num_items = Integer(low=0)


class _Conversion(Schema):
    conversion_time = Instant(required=True, millis=True)
    event_id = Text(required=True, min_length=1)
    identifiers = ListOf(Nested(_Identifier, unknown=EXCLUDE), required=True)
    number_items = Integer(low=1)
    price_currency = CurrencyCode(load_default="USD")
    value = Anything()
    conversion_id = Text()
    description = Text()
    contents = ListOf(Nested(_Content, unknown=EXCLUDE))


class ConversionsReport(Schema):
    """Body of a report of conversions of a web site."""

    conversions = ListOf(Nested(_Conversion, unknown=EXCLUDE), required=True, least=1, most=MOST)


class ConversionsProcessed(Schema):
    """How many conversions were taken."""

    conversions_processed = Integer(required=True)
    debug_id = Text(required=True)


def pixel_scope(call: Call, world: World) -> None:
    """Check, as a gate, that the pixel in the path is one of an account of the calling user."""
    pixel = call.path_params["pixel_id"]
    tags = world.store.page("web_event_tags", {"website_tag_id": pixel}, limit=1)
    user = call.caller.user
    assert user is not None
    if not tags:
        raise fail("NOT_FOUND", f"No pixel has the id {pixel!r}", "pixel_id")
    account = world.store.get("accounts", tags[0].record["_account_id"])
    if account is None or user["id"] not in account["_users"]:
        text = f"User {user['id']} does not have access to the account of pixel {pixel}"
        raise fail("NOT_FOUND", text, "pixel_id")
    call.account = account
    call.echo["account_id"] = account["id"]


def report_web(call: Call, world: World) -> Record:
    """Take conversions of a web site.

    Raises:
        AdsFailure: Some of them are not acceptable; then none is taken.
    """
    assert call.account is not None
    account_id, found, errors = call.account["id"], [], []
    for sent in call.params["conversions"]:
        key = sent["event_id"].removeprefix(f"tw-{call.path_params['pixel_id']}-")
        tag = world.store.get("web_event_tags", key)
        if tag is None or tag["deleted"] or tag["_account_id"] != account_id:
            if key != call.path_params["pixel_id"]:
                text = f"event_id ({key}) does not belong to provided account"
                errors.append(AdsError("NOT_FOUND", text, "event_id"))
            text = f"event_id ({key}) is not a single event tag (SET)"
            errors.append(AdsError(INVALID, text, "event_id"))
        else:
            found.append((tag, sent))
        errors += _check_identifiers(sent["identifiers"])
    if errors:
        raise AdsFailure(*errors)
    for tag, sent in found:
        _keep_web(world, account_id, tag, sent)
    return {"conversions_processed": len(found), "debug_id": world.ids.uuid()}


def _check_identifiers(identifiers: list[Record]) -> Iterator[AdsError]:
    sent = [(name, value) for each in identifiers for name, value in each.items() if value]
    for name, value in sent:
        if name in _HASHED and _SHA_256.fullmatch(value) is None:
            yield AdsError(INVALID, f"{name} ({value}) is not a valid SHA-256 hash", name)
    if not sent:
        yield AdsError(INVALID, "At least one user identifier must be provided", "")
    elif len(names := {name for name, _ in sent}) == 1 and names <= {*_WEAK}:
        text = f"{sent[0][0]} must be sent with another identifier of the user"
        yield AdsError(INVALID, text, sent[0][0])


def _keep_web(world: World, account_id: str, tag: Record, sent: Record) -> None:
    moment, own = sent["conversion_time"], sent.get("conversion_id")
    if own is not None:
        match = {"event_id": tag["id"], "conversion_id": own}
        times = [entry.record["conversion_time"] for entry in world.store.page(_TABLE, match)]
        wanted = parse_instant(moment)
        if any(abs(parse_instant(time) - wanted) <= _REPEATED_WITHIN for time in times):
            return
    kept = {"conversion_type": tag["type"], "event_id": tag["id"], "conversion_id": own}
    _keep(world, account_id, sent, kept)
    track(world, "web_event_tags", tag, moment)


def _keep(world: World, account_id: str | None, sent: Record, more: Record) -> None:
    key, moment = world.ids.snowflake(), sent["conversion_time"]
    record = {"id": key, "conversion_time": moment, "sent": sent, "_account_id": account_id, **more}
    world.store.put(_TABLE, key, record)


# -- of apps ------------------------------------------------------------------------------------


class ConversionEvent(Schema):
    """Parameters of the report of a conversion of an app."""

    app_id = Text(required=True, min_length=1)
    conversion_time = Instant(required=True, millis=True)
    conversion_type = Choice(APP_CONVERSIONS, required=True)
    hashed_device_id = Text(required=True, min_length=1)
    os_type = Choice(OS_TYPES, required=True)
    click_window = IntegerChoice(ENGAGED, load_default=14)
    view_through_window = IntegerChoice(VIEWED, load_default=1)
    device_ip_address = Text()
    level = Integer()
    limit_ad_tracking = Flag(load_default=False)
    non_platform_engagement_time = Instant(millis=True)
    non_platform_engagement_type = Choice(("CLICK", "VIEW"))
    number_items = Integer()
    price_currency = CurrencyCode()
    price_micro = Long()
    user_payment_info = Flag()

    @validates_schema(skip_on_field_errors=False)
    def check_windows(self, data: dict[str, Any], **_: Any) -> None:
        """Require that views do not count longer than clicks."""
        fault = find_window_fault(data)
        if fault is not None:
            raise ValidationError([fault], "view_through_window")


class AttributedConversion(Schema):
    """A conversion of an app, and to which ads it is attributed."""

    app_id = Text(required=True)
    os_type = Choice(OS_TYPES, required=True)
    conversion_type = Choice(APP_CONVERSIONS, required=True)
    conversion_time = Text(required=True)
    conversion_value_micro = Integer(required=True)
    click_window = Integer(required=True)
    view_through_window = Integer(required=True)
    hashed_device_id = Text(required=True)
    limit_ad_tracking = Flag(required=True)
    event_metadata = Json(required=True, allow_none=True)
    non_platform_engagement_time = Text(required=True, allow_none=True)
    non_platform_engagement_type = Text(required=True, allow_none=True)
    partner_client_id = Text(required=True, allow_none=True)
    platform_attribution = Json(required=True, allow_none=True)
    tpn_attribution = Json(required=True, allow_none=True)


_METADATA = ("level", "number_items", "price_currency", "price_micro", "user_payment_info")
_SHOWN = (
    "app_id", "os_type", "conversion_type", "conversion_time", "click_window",
    "view_through_window", "hashed_device_id", "limit_ad_tracking",
)  # fmt: skip


def report_app(call: Call, world: World) -> Record:
    """Take a conversion of an app.

    Raises:
        AdsFailure: MACT_APP_NOT_FOUND (404).
    """
    sent = call.params
    match = {"app_store_identifier": sent["app_id"], "os_type": sent["os_type"], "deleted": False}
    tags = [entry.record for entry in world.store.page("app_event_tags", match)]
    if not tags:
        call.assume(APP_UNKNOWN)
        text = f"No account has an app event tag for {sent['app_id']} on {sent['os_type']}"
        raise fail("MACT_APP_NOT_FOUND", text, "app_id")
    kind = sent["conversion_type"]
    tag = next((each for each in tags if each["conversion_type"] == kind), None)
    if tag is not None:
        track(world, "app_event_tags", tag, sent["conversion_time"])
    event_id, account_id = (tag or {}).get("id"), (tag or tags[0])["_account_id"]
    _keep(world, account_id, sent, {"conversion_type": kind, "event_id": event_id})
    return {
        **{name: sent[name] for name in _SHOWN},
        "conversion_value_micro": sent.get("price_micro", 0),
        "event_metadata": {name: sent[name] for name in _METADATA if name in sent} or None,
        "non_platform_engagement_time": sent.get("non_platform_engagement_time"),
        "non_platform_engagement_type": sent.get("non_platform_engagement_type"),
        "partner_client_id": None,
        "platform_attribution": None,
        "tpn_attribution": None,
    }


_TABLE = "conversions"
TABLES = (Table(_TABLE, ConversionRecord, references=(Reference("_account_id", "accounts"),)),)
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "conversions.report",
        "POST",
        "/12/measurement/conversions/:pixel_id",
        report_web,
        summary="Report conversions of a web site",
        spec="not shown",
        returns=Data(ConversionsProcessed),
        params=ConversionsReport,
        location=Location.JSON,
        gates=(pixel_scope, may_use_campaigns),
        limits=(Limit("conversions", 100_000, 900, per="account", source="public"),),
        public_limits=False,
        origin=Origin.ADJACENT,
        assumptions=(WEB_CONVERSIONS, WEB_REPEATED),
        errors=("NOT_FOUND",),
        statuses=(404,),
        echo=Echo(sent=False, hidden=("pixel_id",)),
        example=Example(
            json={
                "conversions": [
                    {
                        "conversion_time": "2026-11-18T01:14:00.603Z",
                        "event_id": "o87ne",
                        "identifiers": [{"twclid": "23opevjt88psuo13lu8d020qkn"}],
                        "conversion_id": "23294827",
                    }
                ]
            }
        ),
    ),
    ads(
        "conversion_event.report",
        "POST",
        "/12/conversion_event",
        report_app,
        summary="Report a conversion of an app",
        spec="not shown",
        returns=One(AttributedConversion),
        params=ConversionEvent,
        origin=Origin.ADJACENT,
        assumptions=(APP_CONVERSION,),
        may_assume=(APP_UNKNOWN,),
        errors=("MACT_APP_NOT_FOUND",),
        statuses=(404,),
        example=Example(
            query={
                "app_id": "com.harborroasters.subscribe",
                "os_type": "ANDROID",
                "conversion_type": "INSTALL",
                "conversion_time": "2026-11-18T01:14:00.602Z",
                "hashed_device_id": "lke1GZa3AseB343ZcCQq7svfHzLfuSqyYnE",
            }
        ),
    ),
)
