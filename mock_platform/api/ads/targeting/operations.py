"""Targeting criteria: whom a line item reaches: list, read, create, delete, and batches.

Document B, "Endpoints not shown". The values that criteria may name are in `options`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mock_platform.api.ads.accounts.history import HISTORY_ENTRIES
from mock_platform.api.ads.batches import declare_batch
from mock_platform.api.ads.campaigns.line_item_parts import find_line_item, make_deletion_recorder
from mock_platform.api.ads.campaigns.records import OPERATORS, TargetingCriterionRecord
from mock_platform.api.ads.conventions import may_use_campaigns
from mock_platform.api.ads.filters import ExactFilter, IdsFilter
from mock_platform.api.ads.resource import LINE_ITEM, TIMESTAMPS, Resource
from mock_platform.api.ads.targeting.criteria import (
    CATEGORY,
    CATEGORY_SETS,
    ENTITY,
    LANGUAGE,
    LANGUAGE_TEXT,
    TARGETING_CRITERIA_LIMITS,
    TARGETING_CRITERIA_TV_SHOWS,
    TARGETING_CRITERIA_VALUES,
    CriterionType,
    Target,
    add_criterion,
    find_category_error,
    find_errors,
    show_localized,
)
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

TARGETING_CRITERIA_ALL = public_fact(
    "targeting-criteria.all",
    "Targeting criteria are listed, read, created and deleted as documented publicly; the spec "
    "only names them. Every answer has operator_type.",
    "adjacent operations, section 6",
    gap=True,
)

OPERATOR_DEFAULT = public_fact(
    "targeting-criteria.operator-default",
    "operator_type may be missing, as in the public samples; then it is EQ. The journal warns of "
    "it in a single creation, which the public page says requires it.",
    "adjacent operations, section 6",
)
MOST_IN_BATCH = 500

CRITERIA = Resource(
    name="targeting_criteria",
    path="/12/accounts/:account_id/targeting_criteria",
    schema=TargetingCriterionRecord,
    noun="targeting criterion",
    spec="Endpoints not shown",
    missing="TARGETING_CRITERION_NOT_FOUND",
    parent=LINE_ITEM,
    origin=Origin.NAMED,
    assumptions=(TARGETING_CRITERIA_ALL,),
    gates=(may_use_campaigns,),
)


class CriterionCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    targeting_type = CriterionType(required=True)
    targeting_value = Text(required=True, min_length=1)
    operator_type = Choice(OPERATORS, load_default="EQ")


def create(call: Call, world: World) -> Record:
    """Add a criterion to a line item.

    Raises:
        AdsFailure: The line item may not have it.
    """
    errors = [error for _, error in _check_categories(world, [call])]
    if errors:
        call.assume(CATEGORY_SETS)
        raise AdsFailure(*errors)
    if "operator_type" not in call.sent:
        call.warn("operator_type is missing and taken as EQ; the public page requires it")
    return _add(call, world)


def _check_categories(world: World, calls: Sequence[Call]) -> Iterator[tuple[int, AdsError]]:
    """Yield faults of IAB categories, with the places of their calls."""
    together: defaultdict[str, set[str]] = defaultdict(set)
    wanted = []
    for index, call in enumerate(calls):
        sent = call.params
        if sent.get("targeting_type") == CATEGORY and {"line_item_id", "targeting_value"} <= {
            *sent
        }:
            together[sent["line_item_id"]].add(sent["targeting_value"])
            wanted.append((index, sent["line_item_id"], sent["targeting_value"]))
    for index, line_item_id, category in wanted:
        error = find_category_error(world, line_item_id, category, together[line_item_id])
        if error is not None:
            yield index, error


def _add(call: Call, world: World) -> Record:
    sent = call.params
    line_item = find_line_item(call, world, sent["line_item_id"])
    target = Target(sent["targeting_type"], sent["targeting_value"], sent["operator_type"])
    errors = find_errors(call, world, line_item, target)
    if errors:
        raise AdsFailure(*errors)
    return add_criterion(call, world, line_item["id"], target)


def _show(call: Call, world: World, record: Record) -> Record:
    language = call.params.get("lang")
    return record if language is None else show_localized(world, record, language)


_EXAMPLE = {
    "line_item_id": "itttx",
    "targeting_type": "INTEREST",
    "targeting_value": "6001",
    "operator_type": "EQ",
}
CREATE = CRITERIA.create(
    create,
    CriterionCreate,
    "Add a targeting criterion to a line item",
    assumptions=(
        TARGETING_CRITERIA_LIMITS,
        TARGETING_CRITERIA_VALUES,
        TARGETING_CRITERIA_TV_SHOWS,
        OPERATOR_DEFAULT,
    ),
    may_assume=(HISTORY_ENTRIES, CATEGORY_SETS),
    errors=(
        "LINE_ITEM_NOT_FOUND",
        "INVALID_TARGETING_TYPE",
        "NOT_FOUND",
        "CAMPAIGN_NOT_FOUND",
        "INVALID_IAB_CATEGORY",
        "INVALID_TV_SHOW_LOCATIONS",
        "TV_SHOW_OUTSIDE_MARKET",
    ),
    statuses=(404,),
    example=Example(query=_EXAMPLE),
)
DELETE = CRITERIA.delete(before=make_deletion_recorder(ENTITY), may_assume=(HISTORY_ENTRIES,))
_LANGUAGE = {"lang": Text(pattern=LANGUAGE, pattern_text=LANGUAGE_TEXT)}

OPERATIONS: tuple[Operation, ...] = (
    CRITERIA.list(
        (
            ExactFilter("line_item_ids", "line_item_id", required=True),
            IdsFilter("targeting_criterion_ids"),
        ),
        sort=(*TIMESTAMPS, "name"),
        extra=_LANGUAGE,
        show=_show,
    ),
    CRITERIA.get(extra=_LANGUAGE, show=_show),
    CREATE,
    DELETE,
    declare_batch(
        CRITERIA,
        (replace(CREATE, handler=_add), DELETE),
        most=MOST_IN_BATCH,
        data_type="targeting_criterion",
        check_together=_check_categories,
        example=Example(json=[{"operation_type": "Create", "params": _EXAMPLE}]),
    ),
)
