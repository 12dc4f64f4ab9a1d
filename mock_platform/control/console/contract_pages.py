"""The pages of what is declared: operations, how many were exercised, assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flask import Response

from mock_platform.control.about import assumptions
from mock_platform.control.console.answers import ConsolePage, attempt, render
from mock_platform.control.console.pickers import AREAS
from mock_platform.control.coverage import read_scope
from mock_platform.control.operation_pages import collect, find_operation, write_python
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.fields import Choice, Integer, Text
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.verification.coverage.document import document


class QueryOfOperations(Schema):
    """What the list is searched for."""

    q = Text(metadata={"description": "words in the id, path or summary of an operation"})


def show_operations(request: ControlRequest) -> Response:
    """All operations, or those with the words that are searched for."""
    wanted = request.query.get("q", "").lower()
    found = [
        operation
        for operation in request.platform.operations
        if all(
            word
            in f"{operation.id} {operation.method} {operation.path} {operation.summary}".lower()
            for word in wanted.split()
        )
    ]
    return render(
        request,
        "operations.html",
        block="found",
        wanted=wanted,
        count=len(found),
        areas=_divide(found),
        total=len(request.platform.operations),
    )


def _divide(found: Iterable[Operation]) -> list[tuple[str, list[tuple[str, list[Operation]]]]]:
    """Return operations by area and family, each sorted by name."""
    areas: dict[str, dict[str, list[Operation]]] = {area: {} for area in AREAS}
    for operation in sorted(found, key=lambda each: each.id):
        first = operation.path.split("/")[1]
        area = {"12": "ads", "2": "v2"}.get(first, "oauth")
        family = operation.id.partition(".")[0]
        areas[area].setdefault(family, []).append(operation)
    return [(AREAS[area], [*families.items()]) for area, families in areas.items() if families]


def show_operation(request: ControlRequest) -> Response:
    """One operation: parameters, an example, failures with their scenarios, assumptions."""
    platform, world = request.platform, request.world
    shown = collect(platform, find_operation(platform, request.args["name"]), world)
    example = shown.example
    recorder = request.services.coverage
    (row,) = document((shown.operation,), platform.settings, recorder, None)["operations"]
    counts = {(each["status"], each["code"]): each["count"] for each in row["outcomes"]}
    return render(
        request,
        "operation.html",
        shown=shown,
        operation=shown.operation,
        curl=None if example is None else example.write_curl(request.base_url),
        python=None if example is None else write_python(example, request.base_url),
        requests=row["requests"],
        counts=counts,
    )


_SHOWN = ("all", "tried", "never")


class QueryOfCoveragePage(Schema):
    """Which operations are shown."""

    patterns = Text(
        data_key="only", metadata={"description": "comma-separated patterns of operations"}
    )
    shown = Choice(_SHOWN, metadata={"description": "all, tried or never"})


def show_coverage(request: ControlRequest) -> Response:
    """Return a row for each operation, a column for each status; what was never seen is marked."""
    platform, recorder = request.platform, request.services.coverage
    world = request.find_counted_world(recorder.worlds())
    only, shown = request.query.get("patterns"), request.query.get("shown", "all")
    scopes = [read_scope(platform, None)]
    refused = attempt({}, lambda: scopes.append(read_scope(platform, only)))
    found = scopes[-1].restrict(document(platform.operations, platform.settings, recorder, world))
    rows = [row for row in found["operations"] if _fits(row, shown)]
    statuses = sorted({each["status"] for row in rows for each in row["outcomes"]})
    return render(
        request,
        "coverage_page.html",
        form=refused,
        percent=found["percent"],
        totals=found["totals"],
        where="all worlds" if world is None else f"the world {world}",
        only=only or "",
        shown=shown,
        choices=_SHOWN,
        statuses=statuses,
        rows=[(row, [_make_cell(row["outcomes"], status) for status in statuses]) for row in rows],
    )


def _fits(row: Mapping[str, Any], shown: str) -> bool:
    return shown == "all" or (row["requests"] > 0) == (shown == "tried")


def _make_cell(outcomes: Iterable[Mapping[str, Any]], status: int) -> tuple[str, str, str]:
    """Return class, text and title of a cell: how many outcomes of a status were seen."""
    own = [each for each in outcomes if each["status"] == status]
    if not own:
        return "", "", ""
    seen = [each for each in own if each["count"]]
    missing = ", ".join(each["code"] or str(status) for each in own if not each["count"])
    kind = "good" if len(seen) == len(own) else "warm" if seen else "bad"
    told = f"never seen: {missing}" if missing else "all seen"
    return kind, f"{len(seen)}/{len(own)}", told


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


PAGES = (
    ConsolePage(
        "Coverage",
        "/console/coverage",
        (
            Route(
                "GET", "/console/coverage", show_coverage,
                query=QueryOfCoveragePage, media_type=HTML,
            ),
        ),
        section="Watch",
    ),
    ConsolePage(
        "Operations",
        "/console/operations",
        (
            Route(
                "GET", "/console/operations", show_operations,
                query=QueryOfOperations, media_type=HTML,
            ),
            Route("GET", "/console/operations/<name>", show_operation, media_type=HTML),
        ),
        section="Reference",
    ),
    ConsolePage(
        "Assumptions",
        "/console/assumptions",
        (
            Route(
                "GET", "/console/assumptions", show_assumptions,
                query=QueryOfAssumptions, media_type=HTML,
            ),
        ),
        section="Reference",
    ),
)  # fmt: skip
