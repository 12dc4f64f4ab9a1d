"""Line items: update and delete, with every conditional rule of the update table.

Document B, "Line items". It only names their creation and their list, which are public facts, as
are reads of one and batches. Placements have a module of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from mock_platform.api.ads.accounts.categories import (
    LINE_ITEMS_CATEGORIES,
    check_preroll_categories,
    require_known_categories,
)
from mock_platform.api.ads.accounts.history import HISTORY_ENTRIES, record_change
from mock_platform.api.ads.batches import declare_batch
from mock_platform.api.ads.campaigns.line_item_parts import make_deletion_recorder
from mock_platform.api.ads.campaigns.records import (
    AUDIENCE_EXPANSIONS,
    BID_STRATEGIES,
    ENTITY_STATUSES,
    GOALS,
    PAY_BY,
    STORED_GOALS,
    STORED_PAY_BY,
    STORED_STATUSES,
    LineItem,
    LineItemRecord,
    derive_pay_by,
    derive_standard_delivery,
)
from mock_platform.api.ads.campaigns.servability import leave_out_drafts, require_room_for_line_item
from mock_platform.api.ads.conventions import CORE_READS, One, ads, may_use_campaigns
from mock_platform.api.ads.filters import ExactFilter, IdsFilter, PrefixFilter
from mock_platform.api.ads.line_items.conditions import CREATION_RULES, RULES, Write
from mock_platform.api.ads.line_items.creation import (
    APP_PLATFORM,
    DOMAIN,
    DOMAIN_TEXT,
    USER_ID,
    USER_ID_TEXT,
    LineItemCreate,
    check_combination,
    check_siblings,
    count_line_items,
    find_campaign,
    find_campaigns,
    make_line_item,
    target_app_platforms,
)
from mock_platform.api.ads.resource import (
    CAMPAIGN,
    ChoiceOrStored,
    Resource,
    apply_changes,
    declare_activation,
    refuse_new_values,
)
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsFailure
from mock_platform.core.fields import Choice, CommaList, Flag, Instant, Integer, Long, Text
from mock_platform.core.operation import Example, Handler, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

LINE_ITEMS_CONDITIONS_ON_MERGED = settled(
    "line-items.conditions-on-merged",
    "Conditions are checked on the record as it would become, but only those in which a parameter "
    "of the request takes part.",
)
AUTO_AMOUNT = settled(
    "line-items.auto-drops-amount",
    "bid_strategy AUTO with an amount is accepted and the amount is not kept.",
)
LINE_ITEMS_AUDIENCE_EXPANSION_SERVED = expectation(
    "line-items.audience-expansion-served",
    "audience_expansion is served with a line item once it was set; the spec's record lacks it.",
)
PAY_BY_FOLLOWS = public_fact(
    "line-items.pay-by-follows-goal",
    "pay_by of a line item follows its goal (ENGAGEMENT, FOLLOW, VIEW, APP_CLICK, else IMPRESSION, "
    "or LINK_CLICK with a TARGET bid) unless it was chosen, and follows again when the goal "
    "changes, or when the bid strategy becomes or ceases to be TARGET, unless the request sends "
    "it. So it may have values that the update takes only unchanged, from clients that save all "
    "that they loaded.",
    "section 7, line items",
)
LINE_ITEMS_SENT_BACK = expectation(
    "line-items.sent-back",
    "An update takes the goal SITE_VISITS and the status DRAFT, which its table does not list, "
    "where they are stored, from clients that save all that they loaded.",
)
LINE_ITEMS_STANDARD_DELIVERY_NULL = public_fact(
    "line-items.standard-delivery-null",
    "standard_delivery is null unless it was chosen or the line item has a daily budget of its "
    "own, then true.",
    "section 7, line items",
)
LINE_ITEMS_FUNDING_INSTRUMENT_READ = public_fact(
    "line-items.funding-instrument-read",
    "Reads of line items serve the funding_instrument_id of their campaign; the answers to update "
    "and delete lack it.",
    "section 7, line items",
)
ADVERTISER_USER = public_fact(
    "line-items.advertiser-user-allowlist",
    "The client applications that may set advertiser_user_id are those with advertiser_user_id on "
    "their allowlist. Others, and line items of another objective than PREROLL_VIEWS, are refused "
    "with 400 INVALID_PARAMETER, unless the value sent is the one stored.",
    "adjacent operations, section 4",
)
LINE_ITEMS_UPDATE_NOTHING = expectation(
    "line-items.update-nothing",
    "An update without parameters changes nothing, updated_at included.",
)
LINE_ITEMS_END_AFTER_START = expectation(
    "line-items.end-after-start", "end_time must be later than start_time."
)
LINE_ITEMS_READ = public_fact(
    "line-items.read",
    "GET line items: list and one, as documented publicly; the spec does not show them.",
    "section 7, line items",
    gap=True,
)
LINE_ITEMS_CREATE = public_fact(
    "line-items.create",
    "Line items are created with the parameters and the rules that are documented publicly; the "
    "spec only names their creation.",
    "adjacent operations, section 4",
    gap=True,
)
LINE_ITEMS_DEFAULTS = public_fact(
    "line-items.defaults",
    "A new line item is ACTIVE, bids MAX if it has a bid (TARGET for REACH and FOLLOWERS), else "
    "AUTO; its goal follows from its objective, its advertiser_user_id is the FULL promotable user "
    "of the account, and its times are null unless sent.",
    "adjacent operations, section 4",
)
LINE_ITEMS_SIBLINGS = public_fact(
    "line-items.siblings",
    "All line items of a campaign have the same objective and product_type; their total budgets "
    "are at most that of the campaign each. Placements are one of the combinations of GET "
    "line_items/placements.",
    "adjacent operations, section 4",
)
LINE_ITEMS_DRAFTS = public_fact(
    "line-items.drafts",
    "DRAFT can be set at the creation only, and left for ACTIVE or PAUSED. Lists leave drafts out "
    "without with_draft=true; reads of one record show them.",
    "adjacent operations, sections 3.1 and 4",
)


_SETTABLE = {"entity_status": ENTITY_STATUSES, "goal": GOALS, "pay_by": PAY_BY}
"""The values that an update can set, of the fields of which records may have others."""


class LineItemUpdate(Schema):
    """Parameters of the update; an empty value unsets an optional one."""

    advertiser_domain = Text(allow_none=True, pattern=DOMAIN, pattern_text=DOMAIN_TEXT)
    advertiser_user_id = Text(allow_none=True, pattern=USER_ID, pattern_text=USER_ID_TEXT)
    android_app_store_identifier = Text(allow_none=True, min_length=1)
    ios_app_store_identifier = Text(allow_none=True, min_length=1)
    audience_expansion = Choice(AUDIENCE_EXPANSIONS, allow_none=True)
    bid_amount_local_micro = Long(low=1, allow_none=True)
    bid_strategy = Choice(BID_STRATEGIES)
    categories = CommaList(Text(min_length=1), allow_none=True)
    duration_in_days = Integer(allow_none=True)
    entity_status = ChoiceOrStored(ENTITY_STATUSES, stored=STORED_STATUSES)
    start_time = Instant()
    end_time = Instant(allow_none=True)
    frequency_cap = Integer(low=1, allow_none=True)
    goal = ChoiceOrStored(GOALS, stored=STORED_GOALS)
    name = Text(allow_none=True)
    pay_by = ChoiceOrStored(PAY_BY, stored=STORED_PAY_BY)
    total_budget_amount_local_micro = Long(low=1, allow_none=True)
    daily_budget_amount_local_micro = Long(low=1, allow_none=True)


LINE_ITEMS = Resource(
    name="line_items",
    path="/12/accounts/:account_id/line_items",
    schema=LineItem,
    noun="line item",
    spec="Line items",
    missing="LINE_ITEM_NOT_FOUND",
    parent=CAMPAIGN,
    assumptions=(PAY_BY_FOLLOWS, LINE_ITEMS_STANDARD_DELIVERY_NULL),
    most_reads=CORE_READS,
    gates=(may_use_campaigns,),
)
_READ_AS = replace(
    LINE_ITEMS,
    schema=LineItemRecord,
    assumptions=(
        LINE_ITEMS_READ,
        LINE_ITEMS_FUNDING_INSTRUMENT_READ,
        LINE_ITEMS_AUDIENCE_EXPANSION_SERVED,
        *LINE_ITEMS.assumptions,
    ),
)


def _make_create(settings: Settings) -> Handler:
    def create_within_limits(call: Call, world: World) -> Record:
        require_room_for_line_item(call, world, settings)
        return create(call, world)

    return create_within_limits


def create(call: Call, world: World) -> Record:
    """Create a line item.

    Raises:
        AdsFailure: The campaign is not found, or conditions are broken; all of them are reported.
    """
    sent, campaign = call.params, find_campaign(call, world)
    if sent.get("categories"):
        require_known_categories(call, world, sent["categories"])
    record = make_line_item(call, world, campaign)
    _drop_amount_of_auto(call, record)
    allowlist = (call.caller.app or {}).get("_allowlist", ())
    wanted = Write(sent, None, record, campaign, allowlist)
    errors = [error for rule in CREATION_RULES for error in rule(wanted)]
    errors += [*check_siblings(world, record), *check_combination(world, record)]
    if record["objective"] == "PREROLL_VIEWS":
        errors += check_preroll_categories(world, record["categories"])
    if errors:
        raise AdsFailure(*errors)
    if "advertiser_user_id" in sent:
        call.assume(ADVERTISER_USER)
        record["advertiser_user_id"] = sent["advertiser_user_id"]
    world.store.put("line_items", record["id"], record)
    record_change(call, world, "LINE_ITEM", None, record)
    target_app_platforms(call, world, {}, record)
    return record


def _drop_amount_of_auto(call: Call, record: Record) -> None:
    """Forget the bid amount of a line item that bids by AUTO."""
    if record["bid_strategy"] != "AUTO":
        return
    if call.params.get("bid_amount_local_micro") is not None:
        call.assume(AUTO_AMOUNT)
        text = "bid_amount_local_micro is not kept, because bid_strategy is AUTO"
        call.warn(text, NO_EFFECT)
    record["bid_amount_local_micro"] = None


def update(call: Call, world: World) -> Record:
    """Change a line item.

    Raises:
        AdsFailure: The update breaks conditional rules; all of them are reported.
        InvalidParameters: A value is neither stored nor one of those that can be set.
    """
    before = LINE_ITEMS.get_by_id(call, world)
    sent = call.params
    if not sent:
        call.assume(LINE_ITEMS_UPDATE_NOTHING)
        return _to_written_form(before)
    refuse_new_values(call, before, _SETTABLE)
    categories = sent.get("categories")
    if categories:
        require_known_categories(call, world, categories)
    changes = dict(sent)
    if "categories" in changes:
        changes["categories"] = changes["categories"] or []
    after = apply_changes(world, before, changes)
    _drop_amount_of_auto(call, after)
    _update_derived_fields(sent, before, after)
    campaign = world.store.get("campaigns", before["campaign_id"]) or {}
    allowlist = (call.caller.app or {}).get("_allowlist", ())
    wanted = Write(sent, before, after, campaign, allowlist)
    errors = [error for rule in RULES for error in rule(wanted)]
    if before["objective"] == "PREROLL_VIEWS" and "categories" in sent:
        errors += check_preroll_categories(world, after["categories"])
    if errors:
        raise AdsFailure(*errors)
    if "audience_expansion" in sent:
        call.assume(LINE_ITEMS_AUDIENCE_EXPANSION_SERVED)
    if "advertiser_user_id" in sent:
        call.assume(ADVERTISER_USER)
    world.store.put("line_items", before["id"], after)
    written = _to_written_form(after)
    record_change(call, world, "LINE_ITEM", before, written)
    target_app_platforms(call, world, before, after)
    return written


def _update_derived_fields(sent: Mapping[str, Any], before: Record, after: Record) -> None:
    """Change the fields of `after` that follow from other fields."""
    if _follows_again(sent, before, after):
        after["pay_by"] = derive_pay_by(after["goal"], after["objective"], after["bid_strategy"])
    if before["standard_delivery"] is derive_standard_delivery(before):
        after["standard_delivery"] = derive_standard_delivery(after)
    if after.get("audience_expansion") is None:
        after.pop("audience_expansion", None)


def _follows_again(sent: Mapping[str, Any], before: Record, after: Record) -> bool:
    """Return whether an update makes `pay_by` follow from goal and bid strategy again."""
    if sent.get("pay_by") in PAY_BY:
        return False
    if after["goal"] != before["goal"]:
        return True
    if after["objective"] == "APP_INSTALLS":
        return False  # here it may have been chosen, which a bid strategy does not undo
    was, is_now = before["bid_strategy"] == "TARGET", after["bid_strategy"] == "TARGET"
    if was != is_now:
        return True
    # A stored pay_by that TARGET rules out must not refuse a request that asks for TARGET again.
    return is_now and "bid_strategy" in sent and after["pay_by"] == "IMPRESSION"


def _to_written_form(record: Record) -> Record:
    """Return a line item in the form in which writes answer with it."""
    if "funding_instrument_id" not in record:
        return record
    return {name: value for name, value in record.items() if name != "funding_instrument_id"}


def _show_deleted(call: Call, world: World, record: Record) -> Record:
    return _to_written_form(record)


def _show_read(call: Call, world: World, record: Record) -> Record:
    """Return a line item as reads show it: with its own or its campaign's funding instrument."""
    campaign = world.store.get("campaigns", record.get("campaign_id", "")) or {}
    if "funding_instrument_id" in record or "funding_instrument_id" not in campaign:
        return record  # stored with its own, or none is known
    return record | {"funding_instrument_id": campaign["funding_instrument_id"]}


UPDATE = ads(
    "line_items.update",
    "PUT",
    f"{LINE_ITEMS.path}/:line_item_id",
    update,
    summary="Change a line item",
    spec="Line items: PUT",
    returns=One(LineItem),
    params=LineItemUpdate,
    assumptions=(
        LINE_ITEMS_CONDITIONS_ON_MERGED,
        LINE_ITEMS_SENT_BACK,
        *LINE_ITEMS.assumptions,
    ),
    may_assume=(
        AUTO_AMOUNT,
        LINE_ITEMS_CATEGORIES,
        LINE_ITEMS_AUDIENCE_EXPANSION_SERVED,
        ADVERTISER_USER,
        LINE_ITEMS_UPDATE_NOTHING,
        LINE_ITEMS_END_AFTER_START,
        HISTORY_ENTRIES,
        APP_PLATFORM,
    ),
    errors=("LINE_ITEM_NOT_FOUND", "INVALID_IAB_CATEGORY", "INVALID_TIME_WINDOW"),
    statuses=(404,),
    gates=(may_use_campaigns,),
)
DELETE = LINE_ITEMS.delete(
    before=make_deletion_recorder("LINE_ITEM", _to_written_form),
    show=_show_deleted,
    may_assume=(HISTORY_ENTRIES,),
)
CREATE = ads(
    "line_items.create",
    "POST",
    LINE_ITEMS.path,
    create,
    configure=_make_create,
    summary="Create a line item",
    spec=LINE_ITEMS.spec,
    returns=One(LineItem),
    params=LineItemCreate,
    origin=Origin.NAMED,
    assumptions=(
        LINE_ITEMS_CREATE,
        LINE_ITEMS_DEFAULTS,
        LINE_ITEMS_SIBLINGS,
        LINE_ITEMS_DRAFTS,
        *LINE_ITEMS.assumptions,
    ),
    may_assume=(
        AUTO_AMOUNT,
        LINE_ITEMS_CATEGORIES,
        LINE_ITEMS_AUDIENCE_EXPANSION_SERVED,
        ADVERTISER_USER,
        LINE_ITEMS_END_AFTER_START,
        HISTORY_ENTRIES,
        APP_PLATFORM,
    ),
    errors=(
        "CAMPAIGN_NOT_FOUND",
        "INVALID_IAB_CATEGORY",
        "INVALID_PLACEMENT_TYPE",
        "INVALID_TIME_WINDOW",
        "TOO_MANY_LINE_ITEMS",
    ),
    statuses=(404,),
    example=Example(
        query={
            "campaign_id": "8wku2",
            "objective": "WEBSITE_CLICKS",
            "product_type": "PROMOTED_POSTS",
            "placements": "ALL_ON_PLATFORM",
        }
    ),
    gates=(may_use_campaigns,),
)

OPERATIONS: tuple[Operation, ...] = (
    UPDATE,
    declare_activation(UPDATE),
    DELETE,
    _READ_AS.list(
        (
            IdsFilter("line_item_ids"),
            ExactFilter("campaign_ids", "campaign_id"),
            ExactFilter("funding_instrument_ids", "campaign_id", find=find_campaigns),
            PrefixFilter("q", longest=255),
        ),
        sort=("created_at", "updated_at", "deleted", "bid_amount_local_micro"),
        extra={"with_draft": Flag(load_default=False)},
        where=leave_out_drafts,
        total=count_line_items,
        origin=Origin.NAMED,
        assumptions=(LINE_ITEMS_DRAFTS,),
        show=_show_read,
    ),
    _READ_AS.get(origin=Origin.ADJACENT, show=_show_read),
    CREATE,
    declare_batch(
        _READ_AS,
        (CREATE, UPDATE, DELETE),
        most=40,
        show=_show_read,
        origin=Origin.ADJACENT,
        example=Example(
            json=[
                {"operation_type": "Update", "params": {"line_item_id": "itttx", "name": "Gifts"}}
            ]
        ),
    ),
)
