"""The page of coverage: operations by outcomes, with what clients have never tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flask import Response

from mock_platform.control.console.answers import ConsolePage, render
from mock_platform.control.coverage import read_scope
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.fields import Choice, Text
from mock_platform.core.schema import Schema
from mock_platform.verification.coverage.document import document

_SHOWN = ("all", "tried", "never")


class QueryOfCoveragePage(Schema):
    """Which operations are shown."""

    patterns = Text(
        data_key="only", metadata={"description": "comma-separated patterns of operations"}
    )
    shown = Choice(_SHOWN, metadata={"description": "all, tried or never"})


def show_coverage(request: ControlRequest) -> Response:
    """A row for each operation, a column for each status; what was never seen is marked."""
    platform, recorder = request.platform, request.services.coverage
    world = request.find_counted_world(recorder.worlds())
    only, shown = request.query.get("patterns"), request.query.get("shown", "all")
    found = read_scope(platform, only).restrict(
        document(platform.operations, platform.settings, recorder, world)
    )
    rows = [row for row in found["operations"] if _fits(row, shown)]
    statuses = sorted({each["status"] for row in rows for each in row["outcomes"]})
    return render(
        request,
        "coverage_page.html",
        percent=found["percent"],
        totals=found["totals"],
        only=only or "",
        shown=shown,
        choices=_SHOWN,
        statuses=statuses,
        rows=[(row, [_make_cell(row["outcomes"], status) for status in statuses]) for row in rows],
    )


def _fits(row: Mapping[str, Any], shown: str) -> bool:
    return shown == "all" or (row["requests"] > 0) == (shown == "tried")


def _make_cell(outcomes: Iterable[Mapping[str, Any]], status: int) -> tuple[str, str, str]:
    """Returns class, text and title of a cell: how many outcomes of a status were seen."""
    own = [each for each in outcomes if each["status"] == status]
    if not own:
        return "", "", ""
    seen = [each for each in own if each["count"]]
    missing = ", ".join(each["code"] or str(status) for each in own if not each["count"])
    kind = "good" if len(seen) == len(own) else "warm" if seen else "bad"
    told = f"never seen: {missing}" if missing else "all seen"
    return kind, f"{len(seen)}/{len(own)}", told


PAGE = ConsolePage(
    "Coverage",
    "/console/coverage",
    (Route("GET", "/console/coverage", show_coverage, query=QueryOfCoveragePage, media_type=HTML),),
)
