"""Rules on thousands of paths that no operation serves: those of a request are found at once."""

from __future__ import annotations

from itertools import product
from random import Random  # noqa: TID251 - which rules are tried, not what the product does
from typing import Any

import pytest

from mock_platform.scenario import rule_index
from mock_platform.scenario.active import ActiveRule
from mock_platform.scenario.catalog import CustomRoute
from tests.scenario.support import arm, engine
from tests.support import Sandbox, sandbox

_SEGMENTS = ("a", "b", "%61", ":id", ":name")
_PATHS = [f"/lists/{first}/{second}" for first, second in product(_SEGMENTS, repeat=2)
          if first != second or not first.startswith(":")]  # fmt: skip
_WHENS: list[dict[str, Any]] = [{}, {"query": {"q": "1"}}, {"query": {"q": {"exists": False}}}]


def make_rules(chance: Random) -> list[dict[str, Any]]:
    """Rules in any order; many are for paths that one request is to."""
    made = []
    for number in range(60):
        paths = [f"{chance.choice(['GET', 'POST'])} {path}" for path in chance.sample(_PATHS, 2)]
        on: Any = paths if number % 4 == 0 else paths[0]
        rule: dict[str, Any] = {"on": on, "then": {"respond": {"text": str(number)}}}
        if number % 3 == 0:
            rule["call"] = {"from": chance.randrange(1, 4), "to": 4}
        made.append(rule | {"when": chance.choice(_WHENS)})
    steps = range(1, 9)
    path = "GET /lists/a/b"
    return made + [{"on": path, "call": n, "then": {"respond": {"text": f"s{n}"}}} for n in steps]


def play(box: Sandbox, chance: Random) -> list[Any]:
    """What some requests get, the acting rule, near misses, and what the rules counted."""
    found: list[Any] = []
    for _ in range(40):
        method = chance.choice(["GET", "POST", "HEAD"])
        path = f"/lists/{chance.choice(['a', 'b', 'c', '%61'])}/{chance.choice('abc')}"
        answer = box.call(method, path + chance.choice(["", "?q=1"]), keys=None)
        entry = [*box.world.journal][-1]
        custom = answer.headers.get("X-Mock-Custom")
        found.append((path, answer.data, custom, entry.rule, entry.near_misses))
    return [*found, engine(box).describe("s")]


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_finds_what_asking_each_rule_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where several paths fit: answers, acting rules, near misses and counts are the same."""
    runs = []
    for lead, least in ((False, 10**6), (True, 10**6), (True, 1)):
        with monkeypatch.context() as patch:
            patch.setattr(rule_index, "MIN_INDEXED", least)
            if not lead:  # each rule is asked for each request
                patch.setattr(rule_index._PathNode, "lead", lambda node, _: node)
                patch.setattr(rule_index._PathNode, "follow", lambda node, _: iter([node]))
            box = sandbox(auth="off")
            arm(box, *make_rules(Random(seed)))
            runs.append(play(box, Random(seed)))

    assert runs[0] == runs[1]
    assert [each[:4] for each in runs[0][:-1]] == [each[:4] for each in runs[2][:-1]]
    assert runs[0][-1] == runs[2][-1]


@pytest.mark.parametrize("count", [100, 400])
def test_a_request_asks_few_of_many_rules(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many paths, and rules for one path, there are."""
    box = sandbox(auth="off")
    rules: list[dict[str, Any]] = [
        {"on": f"GET /lists/{n}", "then": {"respond": {"text": str(n)}}} for n in range(count)
    ]
    rules += [
        {"on": "GET /lists", "when": {"query": {"q": str(n)}}, "then": {"respond": {"text": "q"}}}
        for n in range(count)
    ]
    rules += [
        {"on": "GET /counted", "call": n, "then": {"respond": {"text": f"c{n}"}}}
        for n in range(1, count)
    ]
    for start in range(0, len(rules), 150):
        arm(box, *rules[start : start + 150], name=f"s{start}")
    asked: list[object] = []
    match, decide = CustomRoute.match, ActiveRule.decide

    def count_match(route: CustomRoute, call: Any) -> Any:
        asked.append(route)
        return match(route, call)

    def count_decide(armed: ActiveRule, *given: Any) -> Any:
        asked.append(armed.index)
        return decide(armed, *given)

    monkeypatch.setattr(CustomRoute, "match", count_match)
    monkeypatch.setattr(ActiveRule, "decide", count_decide)
    paths = ("/lists/77", "/lists?q=5", "/counted", "/counted")
    answers = [box.call("GET", path, keys=None).get_data(as_text=True) for path in paths]

    assert ["77", "q", "c1", "c2"] == answers
    assert len(asked) < 60
