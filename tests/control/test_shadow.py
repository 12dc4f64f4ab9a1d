from __future__ import annotations

from typing import Any

import pytest

from mock_platform.control.shadow import ShadowAnswer, merge_shadows
from tests.support import sandbox

COUNTS = ("sent", "compared", "dropped", "failed", "not_sent", "waiting", "findings_dropped")


def make_finding(key: str, where: str, verdict: str, *operations: str) -> dict[str, Any]:
    """A difference that one process found once."""
    seen = {"operation": operations[0], "probe": "r1", "request": "GET /x", "where": where}
    return {
        "id": key, "kind": "missing", "where": where, "expected": "a text", "got": "nothing",
        "count": 1, "operations": list(operations), "places": [where],
        "assumptions": [{"id": "ads.a", "verdict": verdict}], "accepted": None,
        "occurrences": [seen],
    }  # fmt: skip


def make_report(verdict: str, *findings: dict[str, Any], fault: str | None = None) -> Any:
    """What one process reports."""
    return {
        "upstream": "http://127.0.0.1:1", "writes": False, **dict.fromkeys(COUNTS, 2),
        "last_fault": fault, "findings": list(findings), "assumptions": {"ads.a": verdict},
    }  # fmt: skip


def test_reports_of_several_processes_are_one() -> None:
    """Counts are added; a difference that several found is one; a refutation outweighs the rest."""
    one = make_report("in doubt", make_finding("1", "data", "in doubt", "a.list"))
    other = make_report(
        "refuted",
        make_finding("2", "meta", "refuted", "a.list"),
        make_finding("1", "data", "refuted", "b.list"),
        fault="it is gone",
    )

    merged = merge_shadows([one, other])

    assert {4} == {merged[name] for name in COUNTS}
    assert ({"ads.a": "refuted"}, "it is gone") == (merged["assumptions"], merged["last_fault"])
    first, second = merged["findings"]
    assert ("1", 2, ["a.list", "b.list"]) == (first["id"], first["count"], first["operations"])
    assert [{"id": "ads.a", "verdict": "refuted"}] == first["assumptions"]
    assert (2, "2") == (len(first["occurrences"]), second["id"])
    assert {} == ShadowAnswer().validate(merged)


@pytest.mark.parametrize("verdict", ["refuted", "confirmed"])
def test_one_process_alone(verdict: str) -> None:
    """The report of one process stays as it is."""
    report = make_report(verdict, make_finding("1", "data", verdict, "a.list"))

    assert report == merge_shadows([report])


def test_the_answer_is_described() -> None:
    """The description has the form of the report."""
    described = sandbox().client.get("/_mock/openapi.json").get_json()

    answer = described["paths"]["/_mock/shadow"]["get"]["responses"]["200"]
    assert "ShadowAnswer" in str(answer["content"]["application/json"]["schema"])
