from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.errors import BadParameters
from mock_platform.world.attached import DeliveryFault
from tests.scenario.support import arm, complaints, engine, read
from tests.support import Sandbox

ON = {"on": "deliveries"}
EVENT = {"id": "7", "event_type": "post.create", "webhook_id": "1"}


def fault_of(box: Sandbox, *, holding: bool = False, **event: str) -> DeliveryFault | None:
    """The fault of a delivery."""
    return engine(box).on_delivery({**EVENT, **event}, holding=holding)


@pytest.mark.parametrize(("then", "delivery_fault"), [
    ({"drop": True}, DeliveryFault("s/0", drop=True)),
    ({"duplicate": True}, DeliveryFault("s/0", duplicate=True)),
    ({"reorder": True}, DeliveryFault("s/0", reorder=True)),
    ({"delay": 2}, DeliveryFault("s/0", delay=2)),
    ({"delay": {"seconds": 300}}, DeliveryFault("s/0", delay=300)),
    ({"fail": {"status": 503}}, DeliveryFault("s/0", fail=503)),
    ({"fail": {"status": 201, "attempts": 1}}, DeliveryFault("s/0", fail=201, failures=1)),
    ({"fail": {"connection": "timeout"}}, DeliveryFault("s/0", fail="timeout")),
    ([{"delay": 1}, {"drop": True}, {"delay": 2}], DeliveryFault("s/0", drop=True, delay=3)),
])  # fmt: skip
def test_the_fault_of_a_delivery(box: Sandbox, then: Any, delivery_fault: DeliveryFault) -> None:
    """Each effect, alone and together with delays."""
    arm(box, {**ON, "then": then})

    assert delivery_fault == fault_of(box)


@pytest.mark.parametrize(("text", "field", "expected"), [
    ("{on: deliveris, then: {error: 89}}", "rules[0].on", "Did you mean 'deliveries'?"),
    ("{on: deliveries}", "rules[0]", "then is missing"),
    ("{on: deliveries, then: {drp: true}}", "rules[0].then.drp", "Did you mean 'drop'?"),
    ("{on: deliveries, then: {drop: false}}", "rules[0].then.drop", "expected true, got false"),
    ("{on: deliveries, then: {error: 89}}", "rules[0].then.error", "Allowed: drop, duplicate"),
    ("{on: deliveries, then: {delay: 301}}", "rules[0].then.delay", "from 0 to 300"),
    ("{on: deliveries, then: {fail: {attempts: 2}}}", "rules[0].then.fail.attempts",
     "Allowed: status, connection"),
    ("{on: deliveries, then: {fail: {status: 200}}}", "rules[0].then.fail.status",
     "from 201 to 599"),
    ("{on: deliveries, then: {fail: {status: 600}}}", "rules[0].then.fail.status",
     "from 201 to 599"),
    ("{on: deliveries, then: {fail: {connection: down}}}", "rules[0].then.fail.connection",
     "Allowed: refused, timeout"),
    ("{on: deliveries, when: {json: {a: 1}}, then: {drop: true}}", "rules[0].when.json",
     "Allowed: event, state"),
    ("{on: deliveries, when: {event: {user: 1}}, then: {drop: true}}",
     "rules[0].when.event.user", "Allowed: id, event_type, webhook_id"),
    ("{on: deliveries, then: [{drop: true}, {fail: {status: 500}}]}", "rules[0].then[1].fail",
     "fail and drop cannot act on one delivery"),
    ("{on: deliveries, call: {from: 3, to: 2}, then: {drop: true}}", "rules[0].call.to",
     "to must not be before from"),
    ("{on: webhooks.replay, then: {drop: true}}", "rules[0].then.drop", "is unknown here"),
    ("{on: [deliveries], then: {error: 89}}", "rules[0].on[0]", "is not allowed"),
])  # fmt: skip
def test_complaints(text: str, field: str, expected: str) -> None:
    """What is wrong has a place, and a hint at what is allowed."""
    (fault,) = complaints(f"name: a\nrules:\n- {text}")

    assert (3, field) == (fault.line, fault.field)
    assert expected in fault.text


def test_conditions_on_the_event(box: Sandbox) -> None:
    """All of id, type and webhook must fit; what does not is no call."""
    when = {"event": {"id": {"in": ["7", "8"]}, "event_type": "post.create", "webhook_id": 1}}
    arm(box, {**ON, "when": when, "then": {"drop": True}})

    assert fault_of(box) is not None
    assert fault_of(box, id="8") is not None
    assert [None] * 3 == [
        fault_of(box, id="9"),
        fault_of(box, event_type="post.delete"),
        fault_of(box, webhook_id="2"),
    ]  # fmt: skip
    assert [(2, 2)] == [
        (rule["matched"], rule["fired"]) for rule in engine(box).describe("s")["rules"]
    ]


def test_calls_and_times_count_deliveries(box: Sandbox) -> None:
    """The second and the fourth of five, and no request counts."""
    arm(box, {**ON, "call": {"every": 2}, "times": 2, "then": {"drop": True}})
    box.call("GET", "/12/accounts")

    assert [False, True, False, True, False, False] == [fault_of(box) is not None for _ in range(6)]


def test_named_states(box: Sandbox) -> None:
    """A delivery moves the scenario on, and another rule acts from then on."""
    arm(
        box,
        {**ON, "when": {"state": None}, "then": [{"drop": True}, {"set_state": "after"}]},
        {**ON, "when": {"state": "after"}, "then": {"duplicate": True}},
    )

    assert [DeliveryFault("s/0", drop=True), DeliveryFault("s/1", duplicate=True)] == [
        fault_of(box),
        fault_of(box),
    ]


def test_nothing_is_held_while_something_is(box: Sandbox) -> None:
    """The delivery that another waits for goes out; it did not use the rule up."""
    arm(box, {**ON, "times": 1, "then": {"reorder": True}})

    assert fault_of(box, holding=True) is None
    assert DeliveryFault("s/0", reorder=True) == fault_of(box)


def test_every_request_is_no_delivery(box: Sandbox) -> None:
    """A rule without `on`, or on everything, acts on requests alone."""
    arm(box, {"then": {"error": 89}}, {"on": "*", "then": {"error": 89}})

    assert fault_of(box) is None


def test_parameters_are_checked_once_they_are_bound() -> None:
    """A value that does not fit is named; null leaves the field out."""
    text = (
        "name: a\nparameters: {status: 500, attempts: null}\nrules:\n"
        "- {on: deliveries, then: {fail: {status: $status, attempts: $attempts}}}"
    )
    scenario = read(text)

    assert DeliveryFault("", fail=500) == scenario.bind({})[0].delivery_fault
    assert (
        DeliveryFault("", fail=404, failures=2)
        == scenario.bind({"status": 404, "attempts": 2})[0].delivery_fault
    )
    with pytest.raises(BadParameters, match="status: expected a whole number from 201"):
        scenario.bind({"status": 200})
