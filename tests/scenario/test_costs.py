"""How slow the regular expressions of all active rules on one operation may be together."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.scenario.pattern import MAX_ACTIVE_STEPS, MAX_STEPS
from tests.support import Sandbox, sandbox

MOST = MAX_ACTIVE_STEPS // MAX_STEPS
SLOW = ".*.*.*x"
"""As slow as one pattern may be."""


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own."""
    return sandbox()


def make_rules(count: int, on: str = "line_items.list", pattern: str = SLOW) -> list[Any]:
    """So many rules with a slow condition each."""
    when = {"query": {"q": {"matches": pattern}}}
    return [{"on": on, "when": when, "then": {"error": 99}} for _ in range(count)]


def activate(box: Sandbox, name: str, rules: list[Any], **parameters: Any) -> tuple[int, str]:
    """Define a scenario and activate it; the status, and what is said."""
    document = {"name": name, "parameters": dict.fromkeys(parameters), "rules": rules}
    defined = box.call("PUT", f"/_mock/scenarios/{name}", keys=None, json=document)
    assert 200 == defined.status_code, defined.get_data(as_text=True)
    body = {"parameters": parameters}
    answer = box.call("POST", f"/_mock/scenarios/{name}/activate", keys=None, json=body)
    return answer.status_code, answer.get_data(as_text=True)


def test_slow_rules_of_one_scenario(box: Sandbox) -> None:
    """Up to the bound a scenario becomes active; hundreds of slow rules do not."""
    assert 200 == activate(box, "slow", make_rules(MOST))[0]
    status, said = activate(box, "slower", make_rules(300))

    assert 422 == status
    assert "all active rules on line_items.list" in said
    assert "100,000,000 are allowed. Use fewer open repetitions" in said


def test_slow_rules_of_several_scenarios(box: Sandbox) -> None:
    """What is active already counts, until it is deactivated."""
    assert 200 == activate(box, "first", make_rules(MOST))[0]
    assert 422 == activate(box, "second", make_rules(1))[0]
    assert 422 == activate(box, "everywhere", make_rules(1, "*"))[0]
    box.call("POST", "/_mock/scenarios/first/deactivate", keys=None, json={})

    assert 200 == activate(box, "second", make_rules(1))[0]


def test_other_operations(box: Sandbox) -> None:
    """Only rules that one request can meet count together."""
    assert 200 == activate(box, "first", make_rules(MOST))[0]
    assert 200 == activate(box, "second", make_rules(MOST, "line_items.update"))[0]


def test_narrow_patterns(box: Sandbox) -> None:
    """Hundreds of rules with two open repetitions each are active together."""
    assert 200 == activate(box, "narrow", make_rules(500, pattern=".*a.*"))[0]


def test_patterns_of_parameters(box: Sandbox) -> None:
    """A pattern from a parameter counts like a written one."""
    assert 422 == activate(box, "given", make_rules(300, pattern="$text"), text=SLOW)[0]
    assert 200 == activate(box, "given", make_rules(300, pattern="$text"), text="a.*")[0]


def test_a_scenario_for_one_request(box: Sandbox) -> None:
    """A scenario that a request names counts together with those that are active."""
    document = {"name": "own", "rules": make_rules(1)}
    box.call("PUT", "/_mock/scenarios/own", keys=None, json=document)
    headers = {"X-Mock-Scenario": "own"}
    before = box.call("GET", "/2/users/me", headers=headers)
    assert 200 == activate(box, "first", make_rules(MOST))[0]
    after = box.call("GET", "/2/users/me", headers=headers)

    assert (200, 400) == (before.status_code, after.status_code)
    assert "cannot be activated so" in after.get_data(as_text=True)


def test_a_new_version_of_an_active_scenario(box: Sandbox) -> None:
    """A new version that is too slow is not defined; the old one goes on."""
    assert 200 == activate(box, "own", make_rules(1))[0]
    document = {"name": "own", "rules": make_rules(300)}
    answer = box.call("PUT", "/_mock/scenarios/own", keys=None, json=document)

    assert 422 == answer.status_code
    shown = box.call("GET", "/_mock/scenarios/own", keys=None).get_json()
    assert (True, 1) == (shown["active"], len(shown["rules"]))
