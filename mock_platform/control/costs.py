"""What calls would have cost."""

from __future__ import annotations

from marshmallow import fields

from mock_platform.control.questions import COSTS, ask_counts
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.fields import Choice, Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.verification.costs.document import BY, CostsDocument, merge_costs


class QueryOfCosts(Schema):
    """What the sums are kept apart for."""

    by = Choice(
        BY,
        load_default="operation",
        metadata={
            "description": "operation, app and day: those of the world since its last reset; "
            "test: all worlds of the server, also those that were reset or removed"
        },
    )


class CostItem(Schema):
    """What the calls of one operation, test, app or day cost together."""

    key = Text(required=True)
    calls = Integer(required=True)
    resources = Integer(required=True)
    usd = Text(required=True)


class CostsAnswer(Schema):
    """What all calls would have cost, the dearest items first; money is decimal text."""

    currency = Text(required=True)
    usd = Text(required=True)
    calls = Integer(required=True)
    resources = Integer(required=True)
    items = fields.List(fields.Nested(CostItem), required=True)
    prices_of = Text(required=True, allow_none=True)
    unpriced = Integer(required=True)


def get_costs(request: ControlRequest) -> CostsDocument:
    """What calls would have cost, by operation, test, app or day."""
    recorder, by = request.services.costs, request.query["by"]
    if by != "test":
        return recorder.document(request.world, by)
    world, others = ask_counts(request, COSTS, recorder.worlds())
    own = recorder.document_of_all(world)
    return merge_costs([own, *others]) if others else own


ROUTES = (Route("GET", "/costs", get_costs, query=QueryOfCosts, returns=CostsAnswer),)
