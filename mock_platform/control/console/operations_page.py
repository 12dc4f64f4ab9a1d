"""The pages of operations: a list to search, and one page for each, with an example to copy."""

from __future__ import annotations

from flask import Response

from mock_platform.control.console.answers import ConsolePage, render
from mock_platform.control.operation_pages import collect, find_operation, write_curl, write_python
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.fields import Text
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
        operations=found,
        total=len(request.platform.operations),
    )


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
        curl=None if example is None else write_curl(example, request.base_url),
        python=None if example is None else write_python(example, request.base_url),
        requests=row["requests"],
        counts=counts,
    )


PAGE = ConsolePage(
    "Operations",
    "/console/operations",
    (
        Route(
            "GET", "/console/operations", show_operations, query=QueryOfOperations, media_type=HTML
        ),
        Route("GET", "/console/operations/<name>", show_operation, media_type=HTML),
    ),
)
