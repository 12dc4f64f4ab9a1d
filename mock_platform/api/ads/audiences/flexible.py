"""Flexible audiences: combinations of other audiences, made in batches.

A batch can also change and delete audiences of the other kind, as the single operations do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from marshmallow import EXCLUDE, ValidationError, validates_schema

from mock_platform.api.ads.audiences.operations import (
    DELETE,
    PATH,
    UNIQUE_NAME,
    UPDATE,
    create,
)
from mock_platform.api.ads.audiences.permissions import may_target, read_audience
from mock_platform.api.ads.audiences.records import (
    AUDIENCES,
    FLEXIBLE,
    YOUNG_AUDIENCE,
    CustomAudience,
    read_size,
)
from mock_platform.api.ads.batches import declare_batch
from mock_platform.api.ads.conventions import One, ads, require_allowlist
from mock_platform.api.ads.resource import Resource
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import missing
from mock_platform.core.fields import (
    Choice,
    Flag,
    Integer,
    IntegerChoice,
    Json,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MOST_LEAVES = 10
_DEFAULTS = {"frequency": 1, "frequency_comparator": "NUM_GTE", "negate": False}

FLEXIBLE_BATCH = public_fact(
    "custom-audiences.batch",
    "A batch makes audiences of the type FLEXIBLE alone, at most 10, each a tree of at most 10 "
    "other audiences, which cannot be changed later; data is an array in the order of the request, "
    "though the public sample shows an object. It is for client applications with "
    "custom_audiences_batch on their allowlist.",
    "public documentation, audiences",
    gap=True,
)
FLEXIBLE_SIZE = expectation(
    "custom-audiences.flexible-size",
    "A flexible audience is processed like others; then its size is that of its audiences "
    "together (OR) or of the smallest one (AND), without the negated ones.",
)


class _Segment(Schema):
    """A part of the tree: an audience, or parts that are joined by an operator."""

    boolean_operator = Choice(("AND", "OR"))
    custom_audience_id = Text(min_length=1)
    frequency = Integer(low=1)
    frequency_comparator = Choice(("NUM_GTE", "NUM_GT", "NUM_EQ", "NUM_LTE", "NUM_LT"))
    lookback_window = IntegerChoice((1, 7, 14, 30))
    negate = Flag()

    @validates_schema(skip_on_field_errors=False)
    def check_kind(self, data: Record, **_: Any) -> None:
        """Require an operator of parts, or an audience."""
        if data.get("child_segments"):
            name, when = "boolean_operator", "if there are child_segments"
        else:
            name, when = "custom_audience_id", "unless there are child_segments"
        if name not in data:
            raise ValidationError([missing(name, when)], name)


def _make_segment(levels: int) -> type[Schema]:
    """Return the schema of a part with at most so many levels below it."""
    inner = Nested(_make_segment(levels - 1), unknown=EXCLUDE) if levels else Json()
    parts = ListOf(inner, most=None if levels else 0)
    return type(f"Segment{levels}", (_Segment,), {"child_segments": parts})


class FlexibleCreate(Schema):
    """Parameters of the creation of a flexible audience."""

    name = Text(required=True, min_length=1)
    audience_type = Choice((FLEXIBLE,), required=True)
    segments = Nested(_make_segment(3), unknown=EXCLUDE, required=True)


class FlexibleAudience(CustomAudience):
    """An audience as a batch answers it: a flexible one with the tree of its audiences."""

    metadata = ListOf(Json())


def create_flexible(call: Call, world: World) -> Record:
    """Make an audience of others.

    Raises:
        AdsFailure: Its name is taken, or audiences are unknown or too many.
    """
    sent, account = call.params["segments"], call.path_params["account_id"]
    tree = _complete(sent)
    leaves, errors = list(_list_leaves(sent)), []
    for leaf, stored in zip(leaves, _list_leaves(tree), strict=True):
        key = leaf["custom_audience_id"]
        audience = read_audience(world, stored["custom_audience_id"])
        if audience is None or audience["deleted"] or not may_target(world, audience, account):
            errors.append(AdsError("NOT_FOUND", f"No audience has the id {key!r}", "segments"))
    if len(leaves) > MOST_LEAVES:
        text = f"A maximum of {MOST_LEAVES} audiences may be combined, got {len(leaves)}"
        errors.append(AdsError("INVALID_PARAMETER", text, "segments"))
    if errors:
        raise AdsFailure(*errors)
    record = create(call, world) | {
        "audience_type": FLEXIBLE,
        "targetable_types": [FLEXIBLE, f"EXCLUDED_{FLEXIBLE}"],
        "_segments": tree,
        "_size": _measure(world, tree),
    }
    world.store.put(AUDIENCES, record["id"], record)
    return record


def _complete(segment: Record) -> Record:
    """Return a part of the tree with its defaults; ids of audiences may be in capitals."""
    parts = [_complete(each) for each in segment.get("child_segments", ())]
    own = {} if parts else {"custom_audience_id": segment["custom_audience_id"].lower()}
    return {**_DEFAULTS, **segment, **own, "child_segments": parts}


def _list_leaves(segment: Record) -> Iterator[Record]:
    parts = segment.get("child_segments", ())
    if not parts:
        yield segment
    for each in parts:
        yield from _list_leaves(each)


def _measure(world: World, segment: Record) -> int:
    """Return how many users a part of the tree has."""
    if not segment["child_segments"]:
        audience = world.store.get(AUDIENCES, segment["custom_audience_id"])
        return 0 if audience is None else read_size(audience, "audience_size")
    sizes = [_measure(world, each) for each in segment["child_segments"] if not each["negate"]]
    return sum(sizes) if segment["boolean_operator"] == "OR" else min(sizes, default=0)


def _show(call: Call, world: World, record: Record) -> Record:
    if record.get("_segments") is None:
        return record
    metadata = {
        "custom_audience_id": record["id"],
        "account_id": record["owner_account_id"],
        "name": record["name"],
        "audience_source": "FLEXIBLE_AUDIENCE",
        "upload_status": "UPLOADED",
        "segments": record["_segments"],
    }
    return record | {"metadata": [metadata]}


_EXAMPLE = {
    "name": "Readers with the app",
    "audience_type": FLEXIBLE,
    "segments": {
        "boolean_operator": "AND",
        "child_segments": [
            {"custom_audience_id": "1nmth", "lookback_window": 30},
            {"custom_audience_id": "2906h", "frequency": 2},
        ],
    },
}
_CREATE = ads(
    "custom_audiences.create_flexible",
    "POST",
    PATH,
    create_flexible,
    summary="Create a flexible audience",
    spec="Custom audiences",
    returns=One(FlexibleAudience),
    params=FlexibleCreate,
    assumptions=(YOUNG_AUDIENCE, UNIQUE_NAME, FLEXIBLE_SIZE),
    errors=("NOT_FOUND",),
)
OPERATIONS: tuple[Operation, ...] = (
    declare_batch(
        Resource(
            name="custom_audiences",
            path=PATH,
            schema=FlexibleAudience,
            noun="custom audience",
            spec="Custom audiences",
            origin=Origin.ADJACENT,
        ),
        (_CREATE, UPDATE, DELETE),
        most=10,
        show=_show,
        gates=(require_allowlist("custom_audiences_batch"),),
        assumptions=(FLEXIBLE_BATCH,),
        example=Example(json=[{"operation_type": "Create", "params": _EXAMPLE}]),
    ),
)
