"""Costs: what the calls of a world would have cost, and which were the dearest."""

from __future__ import annotations

from flask import Response

from mock_platform.control.console.answers import ConsolePage, render
from mock_platform.control.costs import QueryOfCosts, get_costs
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.verification.costs.document import BY


def show_costs(request: ControlRequest) -> Response:
    """What calls would have cost: a row and a bar for each operation, test, app or day."""
    found = get_costs(request)
    most = max((float(row["usd"]) for row in found["items"]), default=0.0)
    return render(
        request, "costs.html", costs=found, most=most or 1, by=request.query["by"], choices=BY
    )


PAGE = ConsolePage(
    "Costs",
    "/console/costs",
    (Route("GET", "/console/costs", show_costs, query=QueryOfCosts, media_type=HTML),),
    "Watch",
)
