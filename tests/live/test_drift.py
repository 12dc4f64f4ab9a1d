"""The drift check as people run it, on a second sandbox that differs on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.drift.servers import differing
from tests.live.processes import ended
from tests.support import ACCOUNT

pytestmark = pytest.mark.live


def renamed(body: Any) -> Any:
    """Line items whose `name` is called `title` and whose budget is a text."""
    for record in body["data"]:
        record["title"] = record.pop("name")
        record["total_budget_amount_local_micro"] = "1000000"
        record["entity_status"] = "RUNNING"
    return body


def test_differences_are_found(tmp_path: Path) -> None:
    """A renamed field, another type, value, status and a missing header are found, nothing else."""
    file = tmp_path / "credentials.env"
    file.write_text(ended("credentials").stdout)
    with differing(
        bodies={"line_items": renamed},
        statuses={"placements": "418 I'm a Teapot"},
        without={"features": "x-current-api-version"},
    ) as (url, server):
        words = ("diff", "--base-url", url, "--credentials-file", file, "--yes")
        text, shown = ended(*words), ended(*words, "--format", "json")

    assert (1, 1) == (text.returncode, shown.returncode), text.stderr
    assert {"GET"} == {method for method, _ in server.asked}
    found = {
        row["operation"]: [(d["kind"], d["where"], d["got"]) for d in row["differences"]]
        for row in json.loads(shown.stdout)["operations"]
        if row["differences"]
    }
    assert {
        "placements.list": [("status", "status", "418")],
        "features.get": [("header", "x-current-api-version", "absent")],
        "line_items.list": [
            ("missing", "data[].name", "absent"),
            ("type", "data[].total_budget_amount_local_micro", "string"),
            ("enum", "data[].entity_status", "RUNNING"),
            ("extra", "data[].title", "string"),
        ],
    } == found
    assert f"line_items.list  GET /12/accounts/{ACCOUNT}/line_items" in text.stdout
    assert "missing data[].name: missing, declared as string or null" in text.stdout
    assert " operations checked, 3 differ" in text.stdout
    assert "differs from what this sandbox declares" in text.stderr
