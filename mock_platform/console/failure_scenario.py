"""A scenario for a documented failure, as a beginning for the editor."""

from __future__ import annotations

import re
from typing import Any

from mock_platform.core.failures.codes import ADS_STATUS
from mock_platform.core.failures.problems import ABOUT_BLANK, PROBLEM_TYPES
from mock_platform.core.fields import Integer, Text
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.coverage.outcomes import BATCH, Outcome
from mock_platform.scenario.writing import write_document

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class QueryOfEditor(Schema):
    """The failure that a new scenario provokes; without an operation the editor has an example."""

    operation = Text(metadata={"description": "the id of an operation"})
    status = Integer(low=400, high=599, load_default=400)
    code = Text(load_default="", metadata={"description": "problem, numeric or named code"})


def write_failure_scenario(operation: Operation, outcome: Outcome) -> str:
    """Returns the text of a scenario with which an operation fails so, for every request."""
    name = _NOT_IN_A_NAME.sub("-", f"{operation.id}-{outcome.code or outcome.status}".lower())
    failure = f"{outcome.status} {outcome.code}".strip()
    rule = {"on": operation.id, "then": _choose_effect(outcome), "expect": "fired"}
    document = {
        "name": name[:64].strip("-"),
        "description": f"{operation.method} {operation.path} fails with {failure}.",
        "rules": [rule],
    }
    return write_document(document)[0]


def _choose_effect(outcome: Outcome) -> dict[str, Any]:
    status, code = outcome
    if code in PROBLEM_TYPES:
        usual = PROBLEM_TYPES[code].status == status
        return {"problem": code} if usual else {"problem": code, "status": status}
    if code == ABOUT_BLANK:
        return {"problem": ABOUT_BLANK, "status": status}
    if code == BATCH:
        return {"items": {"0": {"code": "INVALID_PARAMETER"}}}
    if code.isdecimal():
        return {"error": {"code": int(code), "status": status}}
    if code in ADS_STATUS or code.isupper():
        return {"error": {"code": code, "status": status}}
    body = {"json": {"error": code}} if code.replace("_", "").isalpha() else {"text": code}
    return {"respond": {"status": status, **body}}
