"""Thousands of rules: those that a call concerns are found without asking the others."""

from __future__ import annotations

from itertools import product
from random import Random  # noqa: TID251 - which rules are tried, not what the product does
from typing import Any

import pytest

from mock_platform.scenario import rule_index
from tests.scenario.support import LINE_ITEMS, arm, count_asked, engine
from tests.support import Sandbox, sandbox

ON = "line_items.list"
CONDITIONS: list[Any] = [
    "a", "b", {"exists": False}, {"in": ["a", "c"]}, {"equals": "c"}, {"matches": "[ab]"},
]  # fmt: skip
CALLS: list[dict[str, Any]] = [
    {}, {"call": 1}, {"call": {"from": 2}}, {"call": {"from": 2, "to": 3}},
    {"call": {"every": 2}}, {"times": 1}, {"probability": 0.5},
]  # fmt: skip


def make_rules(chance: Random) -> list[dict[str, Any]]:
    """Rules in any order; many have equal conditions."""
    made = []
    for number in range(40):
        names = chance.sample(["q", "cursor", "count"], chance.randrange(3))
        rule = {"on": ON, **chance.choice(CALLS), "then": {"error": {"code": 88 + number % 3}}}
        if names:
            rule["when"] = {"query": {name: chance.choice(CONDITIONS) for name in names}}
        made.append(rule)
    steps = range(1, 13)
    return made + [
        {"on": ON, "call": n, "when": {"query": {"q": "a"}}, "then": {"respond": {"text": str(n)}}}
        for n in steps
    ]


def play(box: Sandbox, chance: Random) -> list[Any]:
    """Status, body, rule and near misses of some calls, and what the rules counted."""
    found: list[Any] = []
    for _ in range(25):
        query = "&".join(f"{name}={chance.choice('abc')}" for name in ("q", "count", "cursor")
                         if chance.random() < 0.6)  # fmt: skip
        answer = box.call("GET", f"{LINE_ITEMS}?{query}")
        entry = [*box.world.journal][-1]
        found.append((query, answer.status_code, answer.data, entry.rule, entry.near_misses))
    return [*found, engine(box).describe("s")]


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_decides_as_asking_each_rule(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers, the acting rule, near misses and counts are those of asking rule after rule."""
    runs = []
    for least, bucket in ((10**6, 4), (1, 1), (1, 4)):
        monkeypatch.setattr(rule_index, "MIN_INDEXED", least)
        monkeypatch.setattr(rule_index, "_MAX_BUCKET", bucket)
        box = sandbox(auth="off")
        arm(box, *make_rules(Random(seed)))
        runs.append(play(box, Random(seed)))

    assert runs[0] == runs[1] == runs[2]


def test_a_call_asks_few_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rules for one request, and of rules for many, only a few are asked for a call."""
    box = sandbox(auth="off")
    rules: list[dict[str, Any]] = [
        {"on": ON, "call": n + 1, "then": {"respond": {"text": str(n)}},
         "when": {"query": {"q": "a"}}} for n in range(150)
    ] + [
        {"on": ON, "then": {"respond": {"text": f"of {n}"}}, "when": {"query": {"q": f"b{n}"}}}
        for n in range(150)
    ]  # fmt: skip
    arm(box, *rules)
    asked = count_asked(monkeypatch)

    answers = [box.call("GET", f"{LINE_ITEMS}?q=a").get_data(as_text=True) for _ in range(30)]
    answers.append(box.call("GET", f"{LINE_ITEMS}?q=b77").get_data(as_text=True))

    assert [*map(str, range(30)), "of 77"] == answers
    assert len(asked) < 31 * 10


def test_counts_go_on_when_rules_change() -> None:
    """Another scenario that is switched on leaves the number of the next call as it is."""
    box = sandbox(auth="off")
    rules = [{"on": ON, "call": n, "then": {"respond": {"text": str(n)}}} for n in range(1, 21)]
    arm(box, *rules)
    first = [box.call("GET", LINE_ITEMS).get_data(as_text=True) for _ in range(3)]
    arm(box, {"on": "line_items.get", "then": {"error": 88}}, name="t")
    second = [box.call("GET", LINE_ITEMS).get_data(as_text=True) for _ in range(3)]

    assert list("123456") == first + second
    assert {6} == {rule["matched"] for rule in engine(box).describe("s")["rules"]}


def test_counts_are_restored_together() -> None:
    """After a call that could not be recorded, the next one has its number again."""
    box = sandbox(auth="off")
    arm(box, *[{"on": ON, "call": n, "then": {"respond": {"text": str(n)}}} for n in range(1, 21)])
    answers = [box.call("GET", LINE_ITEMS).get_data(as_text=True) for _ in range(5)]
    active = engine(box).rules.late[ON][0].active
    progress = active.read_progress()
    answers.append(box.call("GET", LINE_ITEMS).get_data(as_text=True))
    active.restore_progress(progress)
    answers += [box.call("GET", LINE_ITEMS).get_data(as_text=True) for _ in range(2)]

    assert list("12345667") == answers
    assert {7} == {rule["matched"] for rule in engine(box).describe("s")["rules"]}


_SEGMENTS = ("a", "b", "%61", ":id", ":name")
_PATHS = [f"/lists/{first}/{second}" for first, second in product(_SEGMENTS, repeat=2)
          if first != second or not first.startswith(":")]  # fmt: skip
_WHENS: list[dict[str, Any]] = [{}, {"query": {"q": "1"}}, {"query": {"q": {"exists": False}}}]


def make_path_rules(chance: Random) -> list[dict[str, Any]]:
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


def play_paths(box: Sandbox, chance: Random) -> list[Any]:
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
            arm(box, *make_path_rules(Random(seed)))
            runs.append(play_paths(box, Random(seed)))

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
    asked = count_asked(monkeypatch)
    paths = ("/lists/77", "/lists?q=5", "/counted", "/counted")
    answers = [box.call("GET", path, keys=None).get_data(as_text=True) for path in paths]

    assert ["77", "q", "c1", "c2"] == answers
    assert len(asked) < 60
