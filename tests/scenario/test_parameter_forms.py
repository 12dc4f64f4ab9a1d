"""What parameters may be follows from their defaults and from where the rules name them."""

from __future__ import annotations

from mock_platform.scenario.parameter_forms import ParameterForm, describe_parameters
from tests.scenario.support import OPERATIONS, read


def described(parameters: str, rule: str) -> dict[str, ParameterForm]:
    """The parameters of a scenario with one rule."""
    scenario = read(f"name: s\nparameters: {{{parameters}}}\nrules: [{{{rule}}}]")
    return {form.name: form for form in describe_parameters(scenario)}


def test_allowed_values_come_from_the_place() -> None:
    """Where the rules take one of some words, or numbers within bounds, the parameter does."""
    found = described(
        "on: webhooks.replay, kind: null, status: null, times: 2",
        "on: $on, times: $times, then: {problem: disallowed-resource, resource_type: $kind, "
        "status: $status}",
    )

    assert found["on"].kind == "text"
    assert {*OPERATIONS, "*"} <= {*found["on"].choices}
    assert not found["on"].only_choices
    assert found["kind"].kind == "text"
    assert found["kind"].choices == ("user", "post", "media", "list", "space")
    assert (found["status"].kind, found["status"].low, found["status"].high) == ("number", 400, 599)
    assert found["status"].whole
    assert found["times"].default == 2
    assert found["times"].used == ("times",)


def test_kinds() -> None:
    """A default says the kind; without one, the places do; where they differ, anything goes."""
    found = described(
        "flag: true, items: [1], wait: 2, id: null, code: 88, text: a",
        "when: {json: {a: $flag, b: $items, c: $id, d: $text, e: $code}}, then: {delay: $wait}",
    )

    kinds = {name: form.kind for name, form in found.items()}
    assert kinds == {
        "flag": "flag", "items": "json", "wait": "duration", "id": "any", "code": "number",
        "text": "text",
    }  # fmt: skip
    assert (found["wait"].low, found["wait"].high) == (0, 300)
    assert found["code"].low is found["code"].high is None


def test_places_inside_of_effects_and_keys() -> None:
    """A parameter is found in rules on deliveries, in nested effects and in keys."""
    deliveries = described(
        "attempts: null", "on: deliveries, then: {fail: {status: 500, attempts: $attempts}}"
    )
    keyed = described("id: abc", "then: {set: {line_items/$id: null}}")

    assert (deliveries["attempts"].low, deliveries["attempts"].high) == (1, 100)
    assert keyed["id"].used == ("then.set.line_items/$id",)
    assert keyed["id"].kind == "text"


def test_what_two_places_share() -> None:
    """A parameter that two places use may be what both allow."""
    scenario = read(
        "name: s\nparameters: {n: 450}\nrules:\n"
        "- {times: $n, then: {problem: conflict, status: $n}}\n"
    )
    form = describe_parameters(scenario)[0]

    assert (form.low, form.high) == (400, 599)
    assert form.used == ("times", "then.status")
