from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.errors import BadParameters, CannotPerform, UnknownScenario
from mock_platform.scenario.pattern import MAX_ACTIVE_STEPS, MAX_STEPS
from tests.loops import at_once
from tests.scenario.support import LINE_ITEMS, arm, define, engine, handle, last
from tests.support import Sandbox, sandbox

ON = {"on": "line_items.list"}
FAIL = {**ON, "then": {"error": 89}}
SETTINGS = {"auth": "off"}


def call(box: Sandbox, path: str = LINE_ITEMS, **headers: str) -> int:
    """The status of a call."""
    return box.call("GET", path, keys=None, headers=headers).status_code


def statuses(box: Sandbox, count: int) -> list[int]:
    """The statuses of several calls."""
    return [call(box) for _ in range(count)]


@pytest.mark.parametrize(("rule", "fired"), [
    ({}, [1, 2, 3, 4, 5, 6, 7]),
    ({"call": 3}, [3]),
    ({"call": {"from": 3}}, [3, 4, 5, 6, 7]),
    ({"call": {"from": 2, "to": 4}}, [2, 3, 4]),
    ({"call": {"to": 2}}, [1, 2]),
    ({"call": {"every": 3}}, [3, 6]),
    ({"call": {"from": 2, "every": 2}}, [3, 5, 7]),
    ({"times": 2}, [1, 2]),
    ({"call": {"every": 2}, "times": 2}, [2, 4]),
    ({"probability": 0}, []),
    ({"probability": 1}, [1, 2, 3, 4, 5, 6, 7]),
])  # fmt: skip
def test_when_a_rule_acts(box: Sandbox, rule: dict[str, Any], fired: list[int]) -> None:
    """By number of the matching call, range, every kth, times, probability."""
    arm(box, {**FAIL, **rule})

    found = statuses(box, 7)

    assert fired == [number for number, status in enumerate(found, 1) if status == 401]


@pytest.mark.parametrize(("rule", "calls", "remaining", "acts_on"), [
    ({}, 2, None, None),
    ({"times": 3}, 2, 1, None),
    ({"call": 1}, 0, 1, "call 1 only"),
    ({"call": 1}, 1, 0, "call 1 only"),
    ({"call": {"from": 2, "to": 5}}, 3, 2, "calls 2 to 5"),
    ({"call": {"to": 9, "every": 3}}, 4, 2, "every 3rd call, up to call 9"),
    ({"call": {"to": 9}, "times": 1}, 0, 1, "calls 1 to 9"),
])  # fmt: skip
def test_counters(
    box: Sandbox, rule: dict[str, Any], calls: int, remaining: int | None, acts_on: str | None
) -> None:
    """Matched, fired and remaining are shown, with its calls; only matching calls count."""
    arm(box, {**FAIL, **rule, "when": {"query": {"count": "1"}}})

    found = [call(box, f"{LINE_ITEMS}?count=1") for _ in range(calls)]
    call(box)

    assert [{
        "rule": 0, "on": ["line_items.list"], "expected": False, "matched": calls,
        "fired": found.count(401), "remaining": remaining, "refused": 0,
        "acts_on": acts_on, "hidden_by": None,
    }] == engine(box).describe("s")["rules"]  # fmt: skip


def test_probability_follows_the_seed() -> None:
    """Which calls fail depends on the seed, the rule and the number of the call."""
    runs = []
    for seed in (3, 3, 4):
        box = sandbox(auth="off", seed=seed)
        arm(box, {**FAIL, "probability": 0.5})
        runs.append(statuses(box, 40))

    assert runs[0] == runs[1] != runs[2]
    assert 8 < runs[0].count(401) < 32


def test_the_first_rule_that_fits_acts_and_all_count(box: Sandbox) -> None:
    """Rules act in order; one that comes too late still counts the call."""
    arm(box, {**ON, "call": 1, "then": {"error": 89}}, {**ON, "then": {"error": 88}})

    assert [401, 429] == statuses(box, 2)
    assert [(2, 1), (2, 1)] == [
        (rule["matched"], rule["fired"]) for rule in engine(box).describe("s")["rules"]
    ]


def test_the_journal_tells(box: Sandbox) -> None:
    """The rule that acted with its call; the three nearest others with their first difference."""
    away = {**ON, "when": {"query": {"count": "1"}}, "then": {"error": 89}}
    near = {**ON, "when": {"path": {"account_id": {"exists": True}}, "query": {"count": "1"}},
            "then": {"error": 89}}  # fmt: skip
    arm(box, away, near, {**FAIL, "call": 9}, away, {**ON, "then": {"delay": 0}}, FAIL)

    answer = box.call("GET", LINE_ITEMS, keys=None)

    entry = last(box)
    assert {"scenario": "s", "rule": 4, "call": 1} == entry.rule
    assert "s/4" == answer.headers["X-Mock-Rule"]
    assert [
        {"scenario": "s", "rule": 2, "difference": "it acts on call 9 only; this was call 1"},
        {"scenario": "s", "rule": 5,
         "difference": 'order: expected no rule before it to act, got "s/4"'},
        {"scenario": "s", "rule": 1, "difference": 'query.count: expected "1", it was absent'},
    ] == entry.near_misses  # fmt: skip
    assert entry.rule == entry.summary()["rule"]


@pytest.mark.parametrize(("rule", "difference"), [
    ({"call": {"from": 2, "to": 3}}, "it acts on calls 2 to 3; this was call 1"),
    ({"call": {"from": 2}}, "it acts on call 2 and after; this was call 1"),
    ({"call": {"every": 2}}, "it acts on every 2nd call; this was call 1"),
    ({"probability": 0}, "it acts where the number drawn is below 0; this was call 1, and drew 0."),
])  # fmt: skip
def test_why_not(box: Sandbox, rule: dict[str, Any], difference: str) -> None:
    """A rule whose turn it is not says so."""
    arm(box, {**FAIL, **rule})
    answer = box.call("GET", LINE_ITEMS)

    (found,) = last(box).near_misses
    assert found["difference"].startswith(difference)
    why = f"Rule 0 of scenario s did not act: {found['difference']}."
    assert why == last(box).why == answer.headers["X-Mock-Why"]


def test_refused_before() -> None:
    """Rules that a refused request never came to say so; a refusal of the handler explains none."""
    box = sandbox()
    arm(box, FAIL)
    call(box)
    refused = last(box)
    call(box, "/12/nowhere")

    assert refused.rule is None
    assert [{
        "scenario": "s", "rule": 0,
        "difference": 'stage: expected a request that nothing else refuses, got "status 401"',
    }] == refused.near_misses  # fmt: skip
    assert [] == last(box).near_misses


def test_times_used_up(box: Sandbox) -> None:
    """A rule that acted often enough says so."""
    arm(box, {**FAIL, "times": 1})
    statuses(box, 2)

    assert (
        "it acts once, and has done so; this was call 2" == last(box).near_misses[0]["difference"]
    )


def test_before_authentication() -> None:
    """An outage meets everybody; other rules only those whom nothing else refuses."""
    box = sandbox()
    arm(box, {**ON, "call": 1, "stage": "before_auth", "then": {"error": "SERVICE_UNAVAILABLE"}},
        {**ON, "then": {"error": 88}})  # fmt: skip

    assert [503, 401, 429] == [call(box), call(box), box.call("GET", LINE_ITEMS).status_code]
    assert [3, 1] == [rule["matched"] for rule in engine(box).describe("s")["rules"]]


def test_before_authentication_around_a_refusal() -> None:
    """What follows may be a refusal; it is delayed and patched like any answer."""
    box = sandbox()
    arm(box, {**ON, "stage": "before_auth", "then": [{"patch": {"extra": 1}}, {"delay": 0}]})

    answer = box.call("GET", LINE_ITEMS, keys=None)

    assert (401, 1) == (answer.status_code, answer.get_json()["extra"])


def test_everything(box: Sandbox) -> None:
    """Without `on`, or with an asterisk, a rule acts on all operations."""
    arm(box, {"on": "*", "call": 1, "then": {"error": 89}}, {"call": 2, "then": {"error": 89}})

    assert [401, 401, 200] == [call(box, "/12/accounts"), call(box), call(box)]


# -- switching -----------------------------------------------------------------------------------


def test_switching(box: Sandbox) -> None:
    """Scenarios are listed, activated, restarted and deactivated, one by one or all at once."""
    name = define(box, {"rules": [{**FAIL, "times": 1}]})
    found = [call(box)]
    for _ in range(2):
        engine(box).activate(name)
        found += statuses(box, 2)
    engine(box).activate(name)
    engine(box).deactivate(name)
    found.append(call(box))
    engine(box).activate(name)
    engine(box).deactivate()
    found.append(call(box))

    assert [200, 401, 200, 401, 200, 200, 200] == found


def test_define_again(box: Sandbox) -> None:
    """An active scenario goes on as its new definition says, with the values it has."""
    document = {"parameters": {"code": 89}, "rules": [{**ON, "then": {"error": "$code"}}]}
    engine(box).activate(define(box, document), {"code": 93})
    first = call(box)
    define(box, {**document, "rules": [{**ON, "call": 2, "then": {"error": "$code"}}]})

    assert [403, 200, 403] == [first, *statuses(box, 2)]


def test_unknown(box: Sandbox) -> None:
    """A name that is not known is refused with the nearest."""
    define(box, {"name": "outage", "rules": [FAIL]})

    with pytest.raises(UnknownScenario, match="Did you mean 'outage'"):
        engine(box).activate("outages")
    with pytest.raises(UnknownScenario):
        engine(box).deactivate("outages")
    with pytest.raises(BadParameters, match="x: is no parameter"):
        engine(box).activate("outage", {"x": 1})


def test_reset(tmp_path: Any) -> None:
    """A reset forgets definitions and brings the start-up scenarios back, in every world."""
    file = tmp_path / "start.yaml"
    file.write_text("name: start\nrules: [{on: line_items.list, times: 1, then: {error: 89}}]")
    box = sandbox(auth="off", scenarios=(str(file),))
    other = box.platform.worlds.create("w1")
    fork = box.platform.worlds.create("w2", source="w1")
    define(box, {"name": "own", "rules": [FAIL]})

    first = statuses(box, 2)
    engine(box).deactivate()
    box.world.reset()

    assert [401, 200, 401, 200] == [*first, *statuses(box, 2)]
    names = [scenario.name for scenario in engine(box).list_scenarios()]
    assert ("start" in names, "own" in names) == (True, False)
    for world in (other, fork):
        world.reset()
        path = LINE_ITEMS
        assert [401, 200] == [call(box, f"/~{world.name}{path}") for _ in range(2)]


def test_connections(box: Sandbox) -> None:
    """Where the server cannot break connections, activation says what to do."""
    lost = {"rules": [{**ON, "then": {"fault": "reset"}}]}
    define(box, lost)
    box.platform.disable_connections()

    with pytest.raises(CannotPerform, match="mock-platform serve"):
        engine(box).activate("s")
    assert 400 == call(box, **{"X-Mock-Scenario": "s"})


def test_expectations(box: Sandbox) -> None:
    """Rules that were expected to act and did not are listed, with how often they matched."""
    arm(
        box,
        {**FAIL, "expect": "fired"},
        {**FAIL, "call": 9, "expect": "fired"},
        {**FAIL, "times": 1},
    )
    before = len(engine(box).unfired_expectations())
    call(box)

    (left,) = engine(box).unfired_expectations()
    assert 2 == before
    assert (
        "Scenario s, rule 1, was expected to act but never did; 1 call matched it, and it acts on "
        "call 9 only." == str(left)
    )


def test_requests_refused_before_a_rule_are_counted() -> None:
    """A rule without `stage` reports how many requests were refused before it could act."""
    box = sandbox()
    arm(box, {**ON, "then": {"error": 88}, "expect": "fired"},
        {**ON, "stage": "before_auth", "when": {"query": {"x": "1"}},
         "then": {"error": 88}})  # fmt: skip
    box.call("GET", f"{LINE_ITEMS}?count=none")
    call(box)

    (left,) = engine(box).unfired_expectations()

    rules = engine(box).describe("s")["rules"]
    assert ["s/1", "s/0"] == [f"s/{miss['rule']}" for miss in last(box).near_misses]
    assert [2, 0] == [rule["refused"] for rule in rules]
    assert str(left) == (
        "Scenario s, rule 0, was expected to act but never did; 0 calls matched it; 2 requests "
        "were refused before it could act: without `stage: before_auth` a rule acts only on "
        "requests that nothing else refuses."
    )


# -- concurrency ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("hurried_threads")
def test_exactly_one_firing(box: Sandbox) -> None:
    """Of 64 threads exactly one makes the seventh call, in 40 runs of 40."""
    name = define(box, {"rules": [{**ON, "call": 7, "times": 1, "then": {"error": 89}}]})
    fired = []
    for _ in range(40):
        engine(box).activate(name)
        found = at_once([lambda: handle(box).status] * 64)
        fired.append(found.count(401))
        (rule,) = engine(box).describe(name)["rules"]
        assert (64, 1, 0) == (rule["matched"], rule["fired"], rule["remaining"])

    assert [1] * 40 == fired


MOST = MAX_ACTIVE_STEPS // MAX_STEPS
SLOW = ".*.*.*x"
"""As slow as one pattern may be."""


def make_slow_rules(count: int, on: str = "line_items.list", pattern: str = SLOW) -> list[Any]:
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
    assert 200 == activate(box, "slow", make_slow_rules(MOST))[0]
    status, said = activate(box, "slower", make_slow_rules(300))

    assert 422 == status
    assert "all active rules on line_items.list" in said
    assert "100,000,000 are allowed. Use fewer open repetitions" in said


@pytest.mark.parametrize("behind", [r"\B" * 90, "(?:(?:a{2}){2}){30}", "(?:(((((a)))))){60}"])
def test_what_each_try_repeats_counts(box: Sandbox, behind: str) -> None:
    """One pattern that takes seconds, because of what comes behind its repetitions, is refused."""
    status, said = activate(box, "slow", make_slow_rules(1, pattern=f".*.*.*{behind}[x]"))

    assert 422 == status
    assert "100,000,000 are allowed" in said


def test_slow_rules_of_several_scenarios(box: Sandbox) -> None:
    """What is active already counts, until it is deactivated."""
    assert 200 == activate(box, "first", make_slow_rules(MOST))[0]
    assert 422 == activate(box, "second", make_slow_rules(1))[0]
    assert 422 == activate(box, "everywhere", make_slow_rules(1, "*"))[0]
    box.call("POST", "/_mock/scenarios/first/deactivate", keys=None, json={})

    assert 200 == activate(box, "second", make_slow_rules(1))[0]


def test_slow_rules_that_no_request_meets_together(box: Sandbox) -> None:
    """Rules of other operations do not count, and narrow patterns hardly do."""
    assert 200 == activate(box, "first", make_slow_rules(MOST))[0]
    assert 200 == activate(box, "second", make_slow_rules(MOST, "line_items.update"))[0]
    assert 200 == activate(box, "narrow", make_slow_rules(500, "accounts.list", ".*a.*"))[0]


def test_patterns_of_parameters(box: Sandbox) -> None:
    """A pattern from a parameter counts like a written one."""
    assert 422 == activate(box, "given", make_slow_rules(300, pattern="$text"), text=SLOW)[0]
    assert 200 == activate(box, "given", make_slow_rules(300, pattern="$text"), text="a.*")[0]


def test_a_scenario_for_one_request(box: Sandbox) -> None:
    """A scenario that a request names counts together with those that are active."""
    document = {"name": "own", "rules": make_slow_rules(1)}
    box.call("PUT", "/_mock/scenarios/own", keys=None, json=document)
    headers = {"X-Mock-Scenario": "own"}
    before = box.call("GET", "/2/users/me", headers=headers)
    assert 200 == activate(box, "first", make_slow_rules(MOST))[0]
    after = box.call("GET", "/2/users/me", headers=headers)

    assert (200, 400) == (before.status_code, after.status_code)
    assert "cannot be activated so" in after.get_data(as_text=True)


def test_a_new_version_of_an_active_scenario(box: Sandbox) -> None:
    """A new version that is too slow is not defined; the old one goes on."""
    assert 200 == activate(box, "own", make_slow_rules(1))[0]
    document = {"name": "own", "rules": make_slow_rules(300)}
    answer = box.call("PUT", "/_mock/scenarios/own", keys=None, json=document)

    assert 422 == answer.status_code
    shown = box.call("GET", "/_mock/scenarios/own", keys=None).get_json()
    assert (True, 1) == (shown["active"], len(shown["rules"]))
