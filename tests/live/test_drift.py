"""The comparison as people run it, with a second sandbox that differs on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.processes import ended
from tests.support import ACCOUNT
from tests.verification.compare.servers import differing, on

pytestmark = pytest.mark.live


def renamed(body: Any) -> None:
    """Line items whose `name` is called `title` and whose status is another one."""
    for record in body["data"]:
        record["title"] = record.pop("name")
        record["entity_status"] = "RUNNING"


def test_differences_are_found(tmp_path: Path) -> None:
    """What differs is reported once, with its place and how often; progress is on stderr."""
    file = tmp_path / "credentials.env"
    file.write_text(ended("credentials").stdout)
    with differing(on("/line_items", renamed)) as server:
        words = ("diff", "--base-url", server.url, "--credentials-file", file, "--yes")
        shown = ended(*words, "--only", "line_items.*", "--report", tmp_path / "found.json")

    assert 1 == shown.returncode, shown.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert {
        ("missing", "data[].name"), ("enum", "data[].entity_status"), ("extra", "data[].title"),
    } == {(each["kind"], each["where"]) for each in found["findings"]}  # fmt: skip
    assert all(["line_items.list"] == each["operations"] for each in found["findings"])
    assert f"GET /12/accounts/{ACCOUNT}/line_items (plain)" in shown.stdout
    assert "missing data[].name: missing, here string or null" in shown.stdout
    assert "2 operations checked with" in shown.stdout
    assert " operations …" in shown.stderr
    assert "differs from what this sandbox declares" in shown.stderr
