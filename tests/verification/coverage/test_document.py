from __future__ import annotations

import copy
from typing import Any

import pytest

from mock_platform.verification.coverage.document import CoverageDocument, merge
from tests.control.support import call
from tests.support import ACCOUNT, Sandbox, sandbox

LIST = f"/12/accounts/{ACCOUNT}/line_items"


def coverage(box: Sandbox, world: str = "") -> CoverageDocument:
    """The coverage as the control plane returns it."""
    found: CoverageDocument = call(box, "GET", "/coverage", world).get_json()
    return found


def row(found: CoverageDocument, operation: str) -> dict[str, Any]:
    """The row of an operation."""
    rows: list[dict[str, Any]] = found["operations"]
    return next(entry for entry in rows if entry["id"] == operation)


def counts(entry: dict[str, Any]) -> dict[tuple[int, str], int]:
    """The outcomes of a row that were covered."""
    return {(o["status"], o["code"]): o["count"] for o in entry["outcomes"] if o["count"]}


def test_nothing_met(box: Sandbox) -> None:
    """A fresh server has covered nothing of what is documented."""
    found = coverage(box)

    assert 0 == found["percent"]
    assert [] == found["worlds"]
    assert len(box.platform.operations) == found["totals"]["operations"]["of"]
    assert {"covered": 0, "of": 18, "percent": 0.0} == found["totals"]["problem_types"]


def test_traffic_is_counted(box: Sandbox) -> None:
    """Outcomes, parameters and problem types of real requests are found again."""
    box.call("GET", f"{LIST}?count=2")
    box.call("GET", f"{LIST}?count=0")
    box.call("GET", "/12/accounts/zz/line_items")
    box.call("GET", "/2/nope")

    found = coverage(box)
    line_items = row(found, "line_items.list")

    assert 3 == line_items["requests"]
    met = {(200, ""), (400, "INVALID_PARAMETER"), (403, "ACCOUNT_NOT_FOUND")}
    assert dict.fromkeys(met, 1) == counts(line_items)
    (count,) = [entry for entry in line_items["parameters"] if entry["name"] == "count"]
    assert (1, 1) == (count["accepted"], count["refused"])
    assert [{"status": 404, "code": "about:blank", "count": 1}] == found["unmatched"]
    assert ["about:blank"] == [t["slug"] for t in found["problem_types"] if t["count"]]
    unseen = {(x["operation"], x["status"], x["code"]) for x in found["never_seen"]}
    assert ("line_items.list", 401, "89") in unseen
    assert ("line_items.list", 403, "ACCOUNT_NOT_FOUND") not in unseen


def test_json_and_form_parameters_count(box: Sandbox) -> None:
    """Parameters count wherever an operation takes them: JSON bodies, batches, forms."""
    box.call("POST", "/12/audience_estimate", json={"operator_type": "AND"})
    box.call("PUT", f"{LIST}/nope", form={"name": "x"})
    batch = [{"operation_type": "Update", "params": {}, "unknown": 1}]
    box.call("POST", f"/12/accounts/{ACCOUNT}/custom_audiences/1/users", json=batch)

    refused = {
        (entry["id"], parameter["name"])
        for entry in coverage(box)["operations"]
        for parameter in entry["parameters"]
        if parameter["refused"]
    }

    assert ("line_items.update", "name") in refused
    assert ("custom_audiences.users", "operation_type") in refused


def test_counts_outlive_reset_and_full_journal() -> None:
    """The counts belong to the server: neither a reset nor a dropped entry takes from them."""
    box = sandbox(journal_entries=1)
    for _ in range(3):
        box.call("GET", LIST)
    call(box, "POST", "/reset")

    assert 3 == row(coverage(box), "line_items.list")["requests"]


def test_worlds(box: Sandbox) -> None:
    """An address with a world shows that world, even when it is gone; others show all."""
    call(box, "PUT", "/worlds/w1")
    box.call("GET", LIST)
    box.call("GET", f"/~w1{LIST}")
    call(box, "DELETE", "/worlds/w1")

    assert 2 == row(coverage(box), "line_items.list")["requests"]
    assert [{"name": "w1", "requests": 1}] == coverage(box, "w1")["worlds"]
    assert 1 == row(coverage(box, "w1"), "line_items.list")["requests"]
    assert 404 == call(box, "GET", "/coverage", "w2").status_code


def test_delete(box: Sandbox) -> None:
    """Counting starts from zero, for one world or for all."""
    call(box, "PUT", "/worlds/w1")
    for prefix in ("", "/~w1"):
        box.call("GET", f"{prefix}{LIST}")

    assert 204 == call(box, "DELETE", "/coverage", "w1").status_code
    assert 1 == row(coverage(box), "line_items.list")["requests"]
    assert 204 == call(box, "DELETE", "/coverage").status_code
    assert 0 == coverage(box)["percent"]


def test_merge(box: Sandbox) -> None:
    """Two documents add up as if one server had counted both; neither is changed."""
    box.call("GET", f"{LIST}?count=2")
    first = coverage(box)
    for path in (f"{LIST}?count=0", "/12/accounts", "/nope"):
        box.call("GET", path)
    both = coverage(box)
    call(box, "DELETE", "/coverage")
    for path in (f"{LIST}?count=0", "/12/accounts", "/nope"):
        box.call("GET", path)
    second = coverage(box)
    before = copy.deepcopy((first, second))

    assert both == merge(first, second) == merge(second, first)
    assert before == (first, second)


def test_merge_keeps_what_one_knows_alone(box: Sandbox) -> None:
    """An operation that only one document has stays."""
    first, second = coverage(box), coverage(box)
    gone = second["operations"].pop()

    assert gone in merge(first, second)["operations"]
    assert gone in merge(second, first)["operations"]


def test_merge_refuses_other_versions(box: Sandbox) -> None:
    """What is no document of this version is refused."""
    with pytest.raises(ValueError, match="no coverage document of version 1; got version None"):
        merge(coverage(box), {})
