"""Rules of active scenarios that another scenario leaves no request."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenario.support import LINE_ITEMS, arm, engine
from tests.support import Sandbox

FAIL = {"on": "line_items.list", "then": {"error": "OVER_CAPACITY"}}
EARLY = {**FAIL, "stage": "before_auth"}
SLOW = {"on": "*", "stage": "before_auth", "then": {"delay": 0}}


@pytest.mark.parametrize(
    ("first", "second", "hidden"),
    [
        (FAIL, FAIL, True),
        ({**FAIL, "on": "*"}, FAIL, True),
        (FAIL, {**FAIL, "on": "*"}, False),
        ({**FAIL, "times": 1}, FAIL, False),
        ({**FAIL, "call": 2}, FAIL, False),
        ({**FAIL, "probability": 0.5}, FAIL, False),
        ({**FAIL, "until": "2030-01-01T00:00:00Z"}, FAIL, False),
        ({**FAIL, "when": {"query": {"count": "1"}}}, FAIL, False),
        (FAIL, {**FAIL, "when": {"query": {"count": "1"}}}, True),
        # Those before the authentication come first, whatever the order; only an answer ends it.
        (FAIL, EARLY, False),
        (EARLY, FAIL, True),
        (SLOW, FAIL, False),
        (SLOW, EARLY, True),
    ],
)
def test_a_rule_that_gets_no_request_is_told(
    box: Sandbox, first: dict[str, Any], second: dict[str, Any], hidden: bool
) -> None:
    """What is shown of a rule names the other one exactly if the rule does not act on requests."""
    for name, rule in (("one", first), ("two", second)):
        arm(box, rule, name=name)
    for query in ("", "?count=1", "?count=1"):
        box.call("GET", f"{LINE_ITEMS}{query}")

    (shown,) = engine(box).describe("two")["rules"]
    assert ("one/0" if hidden else None) == shown["hidden_by"]
    assert not (hidden and shown["fired"])


def test_an_expected_rule_that_is_hidden(box: Sandbox) -> None:
    """Where a rule should have acted, the message names the rule that left it no request."""
    arm(box, EARLY, name="one")
    arm(box, {**FAIL, "expect": "fired"}, name="two")
    box.call("GET", LINE_ITEMS)

    (unfired,) = engine(box).unfired_expectations()

    assert "one/0" == unfired.hidden_by
    assert str(unfired) == (
        "Scenario two, rule 0, was expected to act but never did; 0 calls matched it; rule one/0 "
        "acts on all of its requests before it."
    )


def test_a_hidden_rule_hides_nothing(box: Sandbox) -> None:
    """It does not act, so the rule after it has its requests."""
    for name, rule in (("one", SLOW), ("two", EARLY), ("three", FAIL)):
        arm(box, rule, name=name)

    found = {name: engine(box).describe(name)["rules"][0]["hidden_by"] for name in ("two", "three")}
    assert {"two": "one/0", "three": None} == found
