"""The page of assumptions: what the sandbox does although the specification does not show it."""

from __future__ import annotations

from flask import Response

from mock_platform.control.about import assumptions
from mock_platform.control.console.answers import ConsolePage, render
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.fields import Integer, Text
from mock_platform.core.schema import Schema

PAGE_SIZE = 50


class QueryOfAssumptions(Schema):
    """What the list is searched for, and which page of it is shown."""

    q = Text(metadata={"description": "words in the id, the text or the source"})
    page = Integer(low=1, load_default=1, metadata={"description": "from 1"})


def show_assumptions(request: ControlRequest) -> Response:
    """All recorded assumptions, or those with the words that are searched for."""
    wanted = request.query.get("q", "").lower()
    everything = assumptions(request.platform)["assumptions"]
    specs = {operation.id: operation.spec for operation in request.platform.operations}
    found = [
        each | {"fills": list(dict.fromkeys(specs[name] for name in each["operations"]))}
        for each in everything
        if all(
            word in f"{each['id']} {each['text']} {each['source']} {each['completes']}".lower()
            for word in wanted.split()
        )
    ]
    last = max(1, -(-len(found) // PAGE_SIZE))
    page = min(request.query["page"], last)
    return render(
        request,
        "assumptions.html",
        block="found",
        wanted=wanted,
        found=found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE],
        count=len(found),
        total=len(everything),
        page=page,
        last=last,
    )


PAGE = ConsolePage(
    "Assumptions",
    "/console/assumptions",
    (
        Route(
            "GET",
            "/console/assumptions",
            show_assumptions,
            query=QueryOfAssumptions,
            media_type=HTML,
        ),
    ),
)
