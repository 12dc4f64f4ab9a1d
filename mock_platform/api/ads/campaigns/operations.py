"""Campaigns and funding instruments: list, read, create, update, delete, and batches of campaigns.

Document B only names them; their form is a public fact.
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.accounts.history import HISTORY_ENTRIES, record_change
from mock_platform.api.ads.batches import declare_batch
from mock_platform.api.ads.campaigns.line_item_parts import make_deletion_recorder
from mock_platform.api.ads.campaigns.records import (
    BUDGET_OPTIMIZATIONS,
    ENTITY_STATUSES,
    FUNDING_TYPES,
    STORED_STATUSES,
    Campaign,
    FundingInstrument,
)
from mock_platform.api.ads.campaigns.servability import (
    CAMPAIGNS_SERVABILITY,
    FUNDING_INSTRUMENTS_ABLE_TO_FUND,
    complete_campaign,
    complete_funding_instrument,
    leave_out_drafts,
    require_room_for_campaign,
)
from mock_platform.api.ads.campaigns.spend import USED_UP, measure_spend
from mock_platform.api.ads.conventions import CORE_READS, fail, may_use_campaigns
from mock_platform.api.ads.filters import ExactFilter, IdsFilter, PrefixFilter
from mock_platform.api.ads.lists import OrderedTimes
from mock_platform.api.ads.resource import (
    TIMESTAMPS,
    ChoiceOrStored,
    Resource,
    apply_changes,
    declare_activation,
    draw_unused_id,
    find_own,
    make_timestamps,
    refuse_new_values,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INVALID, missing
from mock_platform.core.fields import Choice, CurrencyCode, Flag, Instant, Long, Text
from mock_platform.core.operation import Example, Handler, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MOST_IN_BATCH = 40
CAMPAIGNS_ALL = public_fact(
    "campaigns.all",
    "Campaigns are only named; their operations and records are as documented publicly.",
    "adjacent operations, section 3",
    gap=True,
)
CAMPAIGNS = Resource(
    name="campaigns",
    path="/12/accounts/:account_id/campaigns",
    schema=Campaign,
    noun="campaign",
    spec="Endpoints not shown",
    missing="CAMPAIGN_NOT_FOUND",
    origin=Origin.NAMED,
    assumptions=(CAMPAIGNS_ALL, CAMPAIGNS_SERVABILITY, USED_UP),
    most_reads=CORE_READS,
    gates=(may_use_campaigns,),
)
CAMPAIGNS_BUDGETS = public_fact(
    "campaigns.budgets",
    "A campaign may have a daily and a total budget, the daily one at most the total; neither is "
    "required unless budget_optimization is CAMPAIGN, which requires the daily one and line items "
    "without daily budgets.",
    "adjacent operations, section 3.1",
)
CAMPAIGNS_DRAFTS = public_fact(
    "campaigns.drafts",
    "DRAFT can be set at the creation only, and left for ACTIVE or PAUSED; clients that save all "
    "that they loaded may send it back. Lists leave drafts out without with_draft=true; reads of "
    "one record show them.",
    "adjacent operations, section 3.1",
)
CAMPAIGNS_DELETED = public_fact(
    "campaigns.deleted",
    "The answer of a delete has servable null, no reasons, and the effective_status of before; "
    "later reads have servable false and the reason DELETED. Line items stay as they are.",
    "adjacent operations, section 3.1",
)
CAMPAIGNS_SPEND_EXCEEDS_BUDGET = public_fact(
    "campaigns.spend-exceeds-budget",
    "A total budget below what a campaign has spent answers 400 SPEND_EXCEEDS_BUDGET.",
    "adjacent operations, section 3.1",
)
SNAPSHOT = (
    "name", "start_time", "end_time", "daily_budget_amount_local_micro",
    "total_budget_amount_local_micro", "entity_status", "standard_delivery", "frequency_cap",
    "duration_in_days", "purchase_order_number", "created_at", "updated_at", "deleted",
)  # fmt: skip
"""What history shows of a campaign (document B, "Account history entry")."""
_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"


class _Writable(Schema):
    """What a creation and an update both take."""

    budget_optimization = Choice(BUDGET_OPTIMIZATIONS)
    standard_delivery = Flag()


class CampaignCreate(_Writable):
    """Parameters of the creation."""

    funding_instrument_id = Text(required=True, min_length=1)
    name = Text(required=True, min_length=1, max_length=255)
    daily_budget_amount_local_micro = Long(low=1)
    total_budget_amount_local_micro = Long(low=1)
    entity_status = Choice(STORED_STATUSES)
    purchase_order_number = Text(max_length=50)


class CampaignUpdate(_Writable):
    """Parameters of the update; an empty value unsets an optional one."""

    name = Text(min_length=1, max_length=255)
    daily_budget_amount_local_micro = Long(low=1, allow_none=True)
    total_budget_amount_local_micro = Long(low=1, allow_none=True)
    entity_status = ChoiceOrStored(ENTITY_STATUSES, stored=STORED_STATUSES)
    standard_delivery = Flag(allow_none=True)
    purchase_order_number = Text(max_length=50, allow_none=True)


def _make_create(settings: Settings) -> Handler:
    def create_within_limits(call: Call, world: World) -> Record:
        require_room_for_campaign(call, world, settings)
        return create(call, world)

    return create_within_limits


def create(call: Call, world: World) -> Record:
    """Create a campaign.

    Raises:
        AdsFailure: INVALID_FUNDING_INSTRUMENT, or the budgets do not fit.
    """
    sent = _drop_deprecated(call)
    key = sent["funding_instrument_id"]
    instrument = find_own(call, world, "funding_instruments", key)
    if instrument is None:
        text = f"No funding instrument has the id {key!r}"
        raise fail("INVALID_FUNDING_INSTRUMENT", text, "funding_instrument_id")
    record = {
        "id": draw_unused_id(world, CAMPAIGNS.table),
        "name": sent["name"],
        "funding_instrument_id": instrument["id"],
        "budget_optimization": sent.get("budget_optimization", "LINE_ITEM"),
        "entity_status": sent.get("entity_status", "ACTIVE"),
        _DAILY: sent.get(_DAILY),
        _TOTAL: sent.get(_TOTAL),
        "currency": instrument["currency"],
        "standard_delivery": None,
        "frequency_cap": None,
        "duration_in_days": None,
        "purchase_order_number": sent.get("purchase_order_number"),
        **make_timestamps(world),
        "start_time": None,
        "end_time": None,
        "_account_id": call.path_params["account_id"],
    }
    _check_budgets(sent, record, world)
    world.store.put(CAMPAIGNS.table, record["id"], record)
    record_change(call, world, "CAMPAIGN", None, _to_history_form(record))
    return _show(call, world, record)


def update(call: Call, world: World) -> Record:
    """Change a campaign.

    Raises:
        AdsFailure: The budgets do not fit.
        InvalidParameters: The status is DRAFT, and the campaign is no draft.
    """
    before = CAMPAIGNS.get_by_id(call, world)
    refuse_new_values(call, before, {"entity_status": ENTITY_STATUSES})
    sent = _drop_deprecated(call)
    if not sent:
        return _show(call, world, before)
    after = apply_changes(world, before, sent)
    _check_budgets(sent, after, world)
    total = sent.get(_TOTAL)
    if total is not None and total != before[_TOTAL] and total < measure_spend(world, before):
        call.assume(CAMPAIGNS_SPEND_EXCEEDS_BUDGET)
        text = f"{_TOTAL} ({total}) is less than what the campaign has spent already"
        raise fail("SPEND_EXCEEDS_BUDGET", text, _TOTAL)
    world.store.put(CAMPAIGNS.table, before["id"], after)
    record_change(call, world, "CAMPAIGN", _to_history_form(before), _to_history_form(after))
    return _show(call, world, after)


def _drop_deprecated(call: Call) -> dict[str, Any]:
    """Return the parameters without standard_delivery, which is line items' since version 9."""
    sent = dict(call.params)
    if sent.pop("standard_delivery", None) is not None:
        text = "standard_delivery of a campaign is deprecated and not kept; line items have it"
        call.warn(text, NO_EFFECT)
    return sent


def _check_budgets(sent: dict[str, Any], after: Record, world: World) -> None:
    """Check the budgets of a campaign as it would become, if any of them was sent."""
    if not {_DAILY, _TOTAL, "budget_optimization"} & sent.keys():
        return
    daily, total = after[_DAILY], after[_TOTAL]
    errors = []
    if daily is not None and total is not None and daily > total:
        text = f"{_DAILY} ({daily}) may not be larger than {_TOTAL} ({total})"
        errors.append(AdsError(INVALID, text, _DAILY))
    if after["budget_optimization"] == "CAMPAIGN":
        if daily is None:
            fault = missing(_DAILY, "when budget_optimization is CAMPAIGN")
            errors.append(AdsError.from_fault(_DAILY, fault))
        match = {"campaign_id": after["id"], "deleted": False}
        own = world.store.page(
            "line_items", match, where=lambda item: item.get(_DAILY) is not None, limit=1
        )
        if own and "budget_optimization" in sent:
            text = f"budget_optimization cannot be CAMPAIGN: line item {own[0].key} has a {_DAILY}"
            errors.append(AdsError(INVALID, text, "budget_optimization"))
    if errors:
        raise AdsFailure(*errors)


def _to_history_form(record: Record) -> Record:
    return {"id": record["id"], **{name: record.get(name) for name in SNAPSHOT}}


def _show(call: Call, world: World, record: Record) -> Record:
    """Return a campaign as it is served."""
    shown = complete_campaign(world, record)
    del shown["start_time"], shown["end_time"]
    return shown


def _show_deleted(call: Call, world: World, record: Record) -> Record:
    """Return a campaign in the form in which the delete answers with it."""
    shown = _show(call, world, record | {"deleted": False})
    own: Record = {"servable": None, "reasons_not_servable": [], "deleted": True}
    return shown | {name: record.get(name, value) for name, value in own.items()}


_EXAMPLE = {"name": "Spring blend", "funding_instrument_id": "m2k8s"}
CREATE = CAMPAIGNS.create(
    create,
    CampaignCreate,
    "Create a campaign",
    configure=_make_create,
    assumptions=(CAMPAIGNS_BUDGETS, CAMPAIGNS_DRAFTS),
    may_assume=(HISTORY_ENTRIES,),
    errors=("INVALID_FUNDING_INSTRUMENT", "TOO_MANY_CAMPAIGNS"),
    example=Example(query=_EXAMPLE),
)
UPDATE = CAMPAIGNS.update(
    update,
    CampaignUpdate,
    "Change a campaign",
    assumptions=(CAMPAIGNS_BUDGETS, CAMPAIGNS_DRAFTS),
    may_assume=(HISTORY_ENTRIES, CAMPAIGNS_SPEND_EXCEEDS_BUDGET),
    errors=("SPEND_EXCEEDS_BUDGET",),
)
DELETE = CAMPAIGNS.delete(
    before=make_deletion_recorder("CAMPAIGN", _to_history_form),
    show=_show_deleted,
    assumptions=(CAMPAIGNS_DELETED,),
    may_assume=(HISTORY_ENTRIES,),
)

_OF_CAMPAIGNS: tuple[Operation, ...] = (
    CAMPAIGNS.list(
        (
            IdsFilter("campaign_ids"),
            ExactFilter("funding_instrument_ids", "funding_instrument_id"),
            PrefixFilter("q", longest=255),
        ),
        sort=(*TIMESTAMPS, "name", "start_time", "end_time", _DAILY, _TOTAL, "standard_delivery"),
        extra={"with_draft": Flag(load_default=False)},
        where=leave_out_drafts,
        show=_show,
        assumptions=(CAMPAIGNS_DRAFTS,),
    ),
    CAMPAIGNS.get(show=_show),
    CREATE,
    UPDATE,
    declare_activation(UPDATE),
    DELETE,
    declare_batch(
        CAMPAIGNS,
        (CREATE, UPDATE, DELETE),
        most=MOST_IN_BATCH,
        example=Example(json=[{"operation_type": "Create", "params": _EXAMPLE}]),
    ),
)


# Funding instruments: list and read; on the sandbox creation and deletion.

FUNDING_INSTRUMENTS_ALL = public_fact(
    "funding-instruments.all",
    "Funding instruments are only named; their operations and records are as documented publicly. "
    "Creation and deletion exist on the sandbox only.",
    "adjacent operations, section 2",
    gap=True,
)
FUNDING_INSTRUMENTS = Resource(
    name="funding_instruments",
    path="/12/accounts/:account_id/funding_instruments",
    schema=FundingInstrument,
    noun="funding instrument",
    spec="Endpoints not shown",
    missing="FUNDING_INSTRUMENT_NOT_FOUND",
    origin=Origin.NAMED,
    assumptions=(FUNDING_INSTRUMENTS_ALL, FUNDING_INSTRUMENTS_ABLE_TO_FUND, USED_UP),
    most_reads=CORE_READS,
    gates=(may_use_campaigns,),
)
FUNDING_INSTRUMENTS_AMOUNTS = expectation(
    "funding-instruments.amounts",
    "The amounts of a new funding instrument are those that were sent, whatever its type; end_time "
    "must be later than start_time.",
)
NO_METHOD = "(no payment method has been set up yet)"
"""The description of funding instruments that were created on the sandbox."""


class FundingInstrumentCreate(OrderedTimes):
    """Parameters of the creation."""

    currency = CurrencyCode(required=True)
    start_time = Instant(required=True)
    type = Choice(FUNDING_TYPES, required=True)
    end_time = Instant()
    credit_limit_local_micro = Long(low=0)
    funded_amount_local_micro = Long(low=0)


def _show_funding(call: Call, world: World, record: Record) -> Record:
    return complete_funding_instrument(world, record)


def create_funding_instrument(call: Call, world: World) -> Record:
    """Create a funding instrument on the sandbox, so that campaigns can be paid for."""
    sent = call.params
    fields = {
        "type": sent["type"],
        "description": NO_METHOD,
        "currency": sent["currency"],
        "entity_status": "ACTIVE",
        "credit_limit_local_micro": sent.get("credit_limit_local_micro"),
        "credit_remaining_local_micro": None,
        "funded_amount_local_micro": sent.get("funded_amount_local_micro"),
        "io_header": None,
        "start_time": sent["start_time"],
        "end_time": sent.get("end_time"),
    }
    return complete_funding_instrument(world, FUNDING_INSTRUMENTS.add(call, world, fields))


OPERATIONS: tuple[Operation, ...] = (
    *_OF_CAMPAIGNS,
    FUNDING_INSTRUMENTS.list(
        (IdsFilter("funding_instrument_ids"),),
        sort=(*TIMESTAMPS, "funded_amount_local_micro", "start_time", "end_time"),
        show=_show_funding,
    ),
    FUNDING_INSTRUMENTS.get(show=_show_funding),
    FUNDING_INSTRUMENTS.create(
        create_funding_instrument,
        FundingInstrumentCreate,
        "Create a funding instrument on the sandbox",
        sandbox_only=True,
        assumptions=(FUNDING_INSTRUMENTS_AMOUNTS,),
        errors=("INVALID_TIME_WINDOW",),
        example=Example(
            query={
                "type": "CREDIT_LINE",
                "currency": "USD",
                "start_time": "2026-03-01T00:00:00Z",
            }
        ),
    ),
    FUNDING_INSTRUMENTS.delete(
        summary="Delete a funding instrument on the sandbox", show=_show_funding, sandbox_only=True
    ),
)
