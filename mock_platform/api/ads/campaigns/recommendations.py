"""Recommendations: changes of campaigns that the platform proposes, to be made by batches.

They are records: fixtures and `/_mock/state` say what is recommended.
"""

from __future__ import annotations

from msgspec.structs import replace

from mock_platform.api.ads.conventions import (
    One,
    Several,
    ads,
    may_use_campaigns,
    require_allowlist,
)
from mock_platform.api.ads.resource import Resource
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Instant, Json, ListOf, Nested, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

RECOMMENDATIONS_ALL = public_fact(
    "recommendations.all",
    "Recommendations are listed and read under version 5 as documented publicly, and under 12 as "
    "well; the spec shows none of this. A list has no pages, changes are in the answer for one "
    "alone. They are for client applications with recommendations on their allowlist. What becomes "
    "of one whose changes were made is not known: it stays as it is.",
    "public documentation, campaign management",
    gap=True,
)
_TYPES = ("campaigns", "line_items", "targeting_criteria", "promoted_posts")


class _Part(Schema):
    """A change of one record; without operation_type it stays, and has only an id."""

    entity_type = Choice(_TYPES, required=True)
    operation_type = Choice(("Create", "Update", "Delete"), load_default=None, allow_none=True)
    params = Json(required=True)
    dependent_entities = ListOf(Json(), load_default=list)


class _OfLineItem(_Part):
    dependent_entities = ListOf(Nested(_Part), load_default=list)


class _OfCampaign(_Part):
    dependent_entities = ListOf(Nested(_OfLineItem), load_default=list)


class ListedRecommendation(Schema):
    """A recommendation as lists show it."""

    id = Text(required=True)
    account_id = Text(required=True)
    funding_instrument_id = Text(required=True)
    status = Text(load_default="PENDING")
    message = Text(required=True)
    created_at = Instant(as_sent=True, required=True)
    updated_at = Instant(as_sent=True, required=True)


class Recommendation(ListedRecommendation):
    """A recommendation with the changes that it proposes: campaigns, and what is below them."""

    changes = ListOf(Nested(_OfCampaign), load_default=list)


_ALL = Resource(
    name="recommendations",
    path="/5/accounts/:account_id/recommendations",
    schema=Recommendation,
    noun="recommendation",
    spec="not shown",
    owner="account_id",
    soft=False,
    origin=Origin.ADJACENT,
    assumptions=(RECOMMENDATIONS_ALL,),
    gates=(require_allowlist("recommendations"), may_use_campaigns),
)


def list_(call: Call, world: World) -> list[Record]:
    """Return all recommendations for the account, without their changes."""
    found = [dict(entry.record) for entry in world.store.page(_ALL.table, _ALL.match(call))]
    for record in found:
        del record["changes"]
    return found


TABLES = (
    Table(
        _ALL.table,
        Recommendation,
        references=(
            Reference("account_id", "accounts"),
            Reference("funding_instrument_id", "funding_instruments"),
        ),
    ),
)
_PATH_12 = _ALL.path.replace("/5/", "/12/")
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "recommendations.list",
        "GET",
        _ALL.path,
        list_,
        summary="List recommendations",
        spec=_ALL.spec,
        returns=Several(ListedRecommendation),
        gates=_ALL.gates,
        origin=_ALL.origin,
        assumptions=_ALL.assumptions,
        also=(_PATH_12,),
    ),
    replace(
        _ALL.get(with_deleted=False, also=(f"{_PATH_12}/:recommendation_id",)),
        returns=One(Recommendation, data_type="recommendations"),
    ),
)
