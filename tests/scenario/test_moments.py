from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.call import Sending
from mock_platform.core.errors import BadParameters
from tests.scenario.support import LINE_ITEMS, arm, complaints, define, engine, handle, last, read
from tests.support import Sandbox

FAIL = {"on": "line_items.list", "then": {"error": 89}}
NOON = "2026-03-01T12:00:00Z"
EVENING = "2026-03-01T18:00:00Z"
SETTINGS = {"auth": "off"}


def at(box: Sandbox, moment: str) -> int:
    """The status of a call at a moment."""
    box.client.put("/_mock/clock", json={"action": "freeze", "to": moment})
    return box.call("GET", LINE_ITEMS, keys=None).status_code


def counts(box: Sandbox) -> dict[str, Any]:
    """What the first rule of the scenario counted."""
    found: dict[str, Any] = box.client.get("/_mock/scenarios/s").get_json()["rules"][0]
    return found


# -- the clock -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("clock", "failing"), [
    ({"after": NOON}, [NOON, "2026-03-01T17:59:59.999Z", EVENING]),
    ({"before": EVENING}, ["2026-03-01T11:59:59.999Z", NOON, "2026-03-01T17:59:59.999Z"]),
    ({"after": NOON, "before": EVENING}, [NOON, "2026-03-01T17:59:59.999Z"]),
    ({"after": "2026-03-01T13:00:00+01:00", "before": "2026-03-01T18:00"},
     [NOON, "2026-03-01T17:59:59.999Z"]),
])  # fmt: skip
def test_a_part_of_the_day(box: Sandbox, clock: dict[str, str], failing: list[str]) -> None:
    """A rule acts from `after` on, and up to `before`, on the world's clock."""
    arm(box, {**FAIL, "when": {"clock": clock}})
    moments = ["2026-03-01T11:59:59.999Z", NOON, "2026-03-01T17:59:59.999Z", EVENING]

    assert failing == [moment for moment in moments if at(box, moment) == 401]


@pytest.mark.parametrize(("rule", "moment", "difference"), [
    ({"when": {"clock": {"after": NOON}}}, "2026-03-01T11:00:00Z",
     'it acts from 2026-03-01T12:00:00.000Z on; '
     "the world's clock was at 2026-03-01T11:00:00.000Z"),
    ({"when": {"clock": {"before": NOON}}}, NOON,
     'it acts before 2026-03-01T12:00:00.000Z; '
     "the world's clock was at 2026-03-01T12:00:00.000Z"),
    ({"until": NOON}, NOON,
     'it acts until 2026-03-01T12:00:00.000Z; '
     "the world's clock was at 2026-03-01T12:00:00.000Z"),
])  # fmt: skip
def test_why_not(box: Sandbox, rule: dict[str, Any], moment: str, difference: str) -> None:
    """The journal says what time the rule expects, and what time it was."""
    arm(box, {**FAIL, **rule})

    assert 200 == at(box, moment)
    assert [{"scenario": "s", "rule": 0, "difference": difference}] == last(box).near_misses


def test_calls_outside_of_the_time_are_not_counted(box: Sandbox) -> None:
    """The time is a condition: `call` counts only requests within it."""
    arm(box, {**FAIL, "when": {"clock": {"after": NOON}}, "call": 2})

    assert 200 == at(box, "2026-03-01T10:00:00Z")
    assert [200, 401] == [at(box, NOON), at(box, NOON)]


def test_until(box: Sandbox) -> None:
    """A rule acts before the moment; from then on nothing of it remains."""
    arm(box, {**FAIL, "times": 5, "until": NOON})

    assert 401 == at(box, "2026-03-01T11:59:59.999Z")
    assert 4 == counts(box)["remaining"]
    assert 200 == at(box, NOON)
    assert (2, 1, 0) == tuple(counts(box)[name] for name in ("matched", "fired", "remaining"))


def test_until_without_another_limit(box: Sandbox) -> None:
    """A rule with an end on the clock alone has no number of calls that remain."""
    arm(box, {**FAIL, "until": NOON})
    at(box, "2026-03-01T11:00:00Z")

    assert counts(box)["remaining"] is None


def test_times_of_parameters(box: Sandbox) -> None:
    """A moment may be a parameter; without a value it restricts nothing."""
    name = define(box, {
        "parameters": {"end": None, "start": None},
        "rules": [{**FAIL, "until": "$end", "when": {"clock": {"after": "$start"}}}],
    })  # fmt: skip

    engine(box).activate(name)
    assert 401 == at(box, EVENING)

    engine(box).activate(name, {"end": NOON})
    assert [401, 200] == [at(box, "2026-03-01T10:00:00Z"), at(box, EVENING)]
    with pytest.raises(BadParameters, match="end: expected a moment"):
        engine(box).activate(name, {"end": "tomorrow"})


@pytest.mark.parametrize("on", ["deliveries", "lines"])
def test_rules_without_requests_have_times(on: str) -> None:
    """Rules on deliveries and on lines take the same two."""
    (rule,) = read(
        f"name: a\nrules: [{{on: {on}, when: {{clock: {{after: 2026-03-01}}}}, "
        f"until: {NOON}, then: {{drop: true}}}}]"
    ).bind({})

    assert ("2026-03-01T00:00:00+00:00", "2026-03-01T12:00:00+00:00") == (
        rule.after and rule.after.isoformat(),
        rule.until and rule.until.isoformat(),
    )


def test_a_delivery_at_another_time(box: Sandbox) -> None:
    """The time of the world decides about an event as about a request."""
    arm(box, {"on": "deliveries", "when": {"clock": {"before": NOON}}, "then": {"drop": True}})
    found = []
    for moment in ("2026-03-01T11:59:00Z", NOON):
        box.client.put("/_mock/clock", json={"action": "freeze", "to": moment})
        fault = engine(box).on_delivery({"id": "1"}, holding=False)
        found.append(fault is not None and fault.drop)

    assert [True, False] == found


@pytest.mark.parametrize(("part", "place", "text"), [
    ("until: tomorrow", "until",
     'expected a moment on the world\'s clock, got "tomorrow": not an ISO 8601 date-time such '
     "as 2026-11-20T10:00:00Z"),
    ("until: 2026", "until",
     "expected a moment on the world's clock, got 2026: not an ISO 8601 date-time such as "
     "2026-11-20T10:00:00Z"),
    ("when: {clock: {before: 2026-02-30}}", "when.clock.before",
     'expected a moment on the world\'s clock, got "2026-02-30": day is out of range for month'),
    ("when: {clock: {from: 2026-02-20}}", "when.clock.from",
     '"from" is unknown here. Allowed: after, before.'),
    ("when: {clock: {befor: 2026-02-20}}", "when.clock.befor",
     "\"befor\" is unknown here. Did you mean 'before'? Allowed: after, before."),
    ("when: {clock: {}}", "when.clock", "expected at least one of after, before"),
    ("when: {clock: 2026-02-20}", "when.clock",
     'expected an object with after, before; got "2026-02-20"'),
])  # fmt: skip
def test_bad_moments(part: str, place: str, text: str) -> None:
    """Each names its place, what was found, and what is allowed."""
    (found, *_) = complaints(f"name: a\nrules:\n  - then: {{error: 89}}\n    {part}\n")

    assert (4, f"rules[0].{place}") == (found.line, found.field)
    assert found.text.startswith(text)


# -- durations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("delay", "sending"), [
    ("500ms", Sending(delay=0.5)),
    ("2s", Sending(delay=2.0)),
    (2, Sending(delay=2.0)),
    ({"seconds": "1m"}, Sending(delay=60.0)),
    ({"between": ["1s", 1]}, Sending(delay=1.0)),
    ({"slow_body": "1m30s"}, Sending(slow_body=90.0)),
    ("5m", Sending(delay=300.0)),
])  # fmt: skip
def test_delays(box: Sandbox, delay: Any, sending: Sending) -> None:
    """A delay has units, or is a number of seconds."""
    arm(box, {"on": "line_items.list", "then": {"delay": delay}})

    assert sending == handle(box).sending


def test_windows(box: Sandbox) -> None:
    """The window of a rate limit has units."""
    arm(box, {"on": "line_items.list", "then": {"rate_limit": {"limit": 1, "window": "15m"}}})

    assert [200, 429] == [at(box, NOON), at(box, "2026-03-01T12:14:59Z")]
    assert 200 == at(box, "2026-03-01T12:15:00Z")


def test_deliveries_are_late() -> None:
    """The delay of a delivery has units."""
    (rule,) = read("name: a\nrules: [{on: deliveries, then: {delay: {seconds: 250ms}}}]").bind({})

    assert rule.delivery_fault is not None
    assert 0.25 == rule.delivery_fault.delay


def test_a_parameter_may_have_a_unit(box: Sandbox) -> None:
    """Where the default is a number of seconds, a value may have units, and the reverse."""
    for default, value in ((60, "1h"), ("1m", 3600)):
        name = define(box, {
            "parameters": {"window": default},
            "rules": [{"on": "line_items.list",
                       "then": {"rate_limit": {"limit": 0, "window": "$window"}}}],
        })  # fmt: skip
        (rule,) = engine(box).activate(name, {"window": value}).rules

        assert 3600 == vars_of(rule.rule.effects[0])["window"]


def vars_of(effect: Any) -> dict[str, Any]:
    """The fields of an effect."""
    return {name: getattr(effect, name) for name in effect.__slots__}


def test_a_unit_where_no_duration_belongs(box: Sandbox) -> None:
    """A number that is no duration takes no unit."""
    name = define(box, {
        "parameters": {"limit": 1},
        "rules": [{"on": "line_items.list",
                   "then": {"rate_limit": {"limit": "$limit", "window": 1}}}],
    })  # fmt: skip

    with pytest.raises(BadParameters, match="limit: expected a whole number"):
        engine(box).activate(name, {"limit": "1h"})
    with pytest.raises(BadParameters, match='limit: expected a number like 1, got "many"'):
        engine(box).activate(name, {"limit": "many"})


@pytest.mark.parametrize(("then", "text"), [
    ("delay: 2 weeks", 'expected seconds or a duration with units, got "2 weeks", not a '
     "duration such as 500ms, 90s, 15m, 1h, 1d"),
    ("delay: 6m", 'expected 0 to 300 seconds, got "6m", which is 360'),
    ("delay: 301", "expected a number from 0 to 300, got 301"),
    ("rate_limit: {limit: 1, window: 500ms}", 'expected 1 to 10,000,000 seconds, got "500ms", '
     "which is 0.5"),
    ("rate_limit: {limit: 1, window: 1500ms}", 'expected whole seconds, got "1500ms", which '
     "is 1.5"),
    ("disconnect: {after_seconds: 1x}", 'expected seconds or a duration with units, got "1x"'),
])  # fmt: skip
def test_bad_durations(then: str, text: str) -> None:
    """A text without a unit, or one out of bounds, says what is allowed."""
    (found,) = complaints(f"name: a\nrules: [{{then: {{{then}}}}}]")

    assert found.text.startswith(text)


# -- the control plane ---------------------------------------------------------------------------


def test_the_clock_refuses_other_texts(box: Sandbox) -> None:
    """A text that is no duration is refused with the allowed forms."""
    answer = box.client.put("/_mock/clock", json={"action": "advance", "seconds": "soon"})

    assert 422 == answer.status_code
    assert "(500ms, 90s, 15m, 1h, 1d, -7d)" in answer.get_json()["detail"]


def test_transitions_take_units(box: Sandbox) -> None:
    """The pace of a transition has units as well."""
    box.client.put("/_mock/transitions/replay_job", json={"progression": "time", "seconds": "2m"})

    assert 120 == box.client.get("/_mock/transitions").get_json()["replay_job"]["seconds"]
