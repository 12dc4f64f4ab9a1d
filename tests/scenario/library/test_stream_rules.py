"""The scenarios of the filtered stream's rules and links refuse as the public interface does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenario.library.support import Stage
from tests.support import Sandbox

PROBLEMS = "http://localhost/2/problems"
APP = "11827"


@pytest.mark.parametrize(("name", "entry"), [
    ("stream-rule-duplicate", {"title": "DuplicateRule", "type": f"{PROBLEMS}/duplicate-rules"}),
    ("stream-rule-invalid",
     {"title": "UnprocessableEntity", "type": f"{PROBLEMS}/invalid-rules",
      "details": ["Rules must contain a non-negation term (at position 1)"]}),
])  # fmt: skip
def test_refused_inside_a_success(box: Sandbox, name: str, entry: dict[str, Any]) -> None:
    """The first rule is in errors, the second one is created, the status is 200."""
    before = box.world.store.count("stream_rules", {"_app_id": APP})
    answer = Stage(name, box).ask("stream_rules.change")

    body = answer.get_json()
    (error,) = body["errors"]
    assert 200 == answer.status_code
    assert ["roaster has:images"] == [rule["value"] for rule in body["data"]]
    assert {"created": 1, "not_created": 1, "valid": 1, "invalid": 1} == body["meta"]["summary"]
    assert {"value": "espresso"} | entry == {k: v for k, v in error.items() if k != "id"}
    assert before + 1 == box.world.store.count("stream_rules", {"_app_id": APP})


@pytest.mark.parametrize(("name", "operation", "title"), [
    ("stream-rules-cap", "stream_rules.change", "RulesCapExceeded"),
    ("stream-rules-noncompliant", "stream_rules.change", "Noncompliant Rules"),
    ("stream-link-not-enrolled", "stream_links.create", "Client Forbidden"),
])  # fmt: skip
def test_refused_as_a_whole(box: Sandbox, name: str, operation: str, title: str) -> None:
    """The whole request is refused, and nothing is stored."""
    box.change("apps", APP, _tier="enterprise")
    stage = Stage(name, box)
    answer = stage.ask(operation)

    assert (403, title) == (answer.status_code, answer.get_json()["title"])
    assert [] == list(stage.last.changes)


@pytest.mark.parametrize(("name", "issue"), [
    ("filtered-stream-no-rules", "RuleConfigurationIssue"),
    ("filtered-stream-rules-invalid", "RulesInvalidIssue"),
])  # fmt: skip
def test_no_connection(name: str, issue: str) -> None:
    """The rules are what refuses a connection."""
    answer = Stage(name).ask("filtered_stream.open")

    assert (409, issue) == (answer.status_code, answer.get_json()["connection_issue"])
