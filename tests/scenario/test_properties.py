"""The schema and the loader agree: what passes the one loads, what does not is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mock_platform.core.errors import BadScenario, Complaint
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.schema import json_schema
from tests.generated import examples
from tests.scenario.support import OPERATIONS, read

VALIDATOR = Draft202012Validator(json_schema(OPERATIONS))
WORD = st.text("abcxyz019 _-", min_size=1, max_size=12)
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), WORD)
ANYTHING = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
CONDITION = st.one_of(
    SCALAR,
    st.fixed_dictionaries({}, optional={"equals": ANYTHING, "exists": st.booleans()}).filter(bool),
    st.fixed_dictionaries({"above": st.integers(0, 9)}, optional={"below": st.floats(9, 20)}),
    st.fixed_dictionaries({"in": st.lists(ANYTHING, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"matches": st.sampled_from(["[a-z]+", "x.*", "\\d{3}"])}),
)
NAMES = st.dictionaries(WORD, CONDITION, min_size=1, max_size=3)
WHEN = st.fixed_dictionaries(
    {}, optional={"query": NAMES, "json": NAMES, "form": NAMES, "headers": NAMES,
                  "state": st.none() | WORD, "caller": st.fixed_dictionaries({"app": CONDITION})},
)  # fmt: skip
ANSWERS = st.one_of(
    st.sampled_from(sorted(PROBLEM_TYPES)).map(lambda slug: {"problem": slug}),
    st.sampled_from([*NUMERIC_CODES, *ADS_STATUS]).map(lambda code: {"error": code}),
    st.fixed_dictionaries({"respond": st.fixed_dictionaries(
        {"status": st.integers(200, 599)}, optional={"json": ANYTHING})}),
    st.fixed_dictionaries({"items": st.dictionaries(
        st.integers(0, 99).map(str), st.sampled_from(sorted(ADS_STATUS)), min_size=1)}),
)  # fmt: skip
LIMIT = st.fixed_dictionaries({"rate_limit": st.fixed_dictionaries(
    {"limit": st.integers(0, 9), "window": st.integers(1, 900)})})  # fmt: skip
TREATMENTS = st.one_of(
    st.fixed_dictionaries({"delay": st.integers(0, 300) | st.fixed_dictionaries(
        {"between": st.lists(st.integers(0, 9), min_size=2, max_size=2)})}),
    st.fixed_dictionaries({"set_state": WORD}),
    st.fixed_dictionaries({"set": st.dictionaries(
        WORD.map(lambda key: f"line_items/{key}"),
        st.none() | st.fixed_dictionaries({}, optional={"name": WORD, "deleted": st.booleans()}),
        min_size=1, max_size=2)}),
)  # fmt: skip

EFFECTS = st.one_of(
    ANSWERS, LIMIT, st.tuples(ANSWERS, TREATMENTS).map(list),
    st.tuples(LIMIT, ANSWERS, TREATMENTS).map(list), st.lists(TREATMENTS, min_size=1, max_size=3),
)  # fmt: skip
FATES = st.sampled_from([
    {"drop": True}, {"duplicate": True}, {"reorder": True}, {"fail": {"status": 500}},
    {"fail": {"connection": "refused", "attempts": 2}},
])  # fmt: skip
DELIVERY_RULE = st.fixed_dictionaries(
    {"on": st.just("deliveries"),
     "then": FATES | st.tuples(FATES, TREATMENTS.filter(lambda t: "set_state" in t)).map(list)},
    optional={
        "when": st.fixed_dictionaries(
            {}, optional={"event": st.fixed_dictionaries({"id": CONDITION}), "state": WORD}),
        "call": st.integers(1, 9),
        "times": st.integers(1, 9),
    },
)  # fmt: skip
RULE = st.fixed_dictionaries(
    {"then": EFFECTS},
    optional={
        "on": st.sampled_from([*OPERATIONS, "*"]) | st.lists(st.sampled_from(OPERATIONS),
                                                             min_size=1),
        "when": WHEN,
        "call": st.integers(1, 9) | st.fixed_dictionaries({"every": st.integers(1, 9)}),
        "times": st.integers(1, 9),
        "probability": st.floats(0, 1),
        "expect": st.just("fired"),
    },
)  # fmt: skip
DOCUMENT = st.fixed_dictionaries(
    {"name": st.from_regex("[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True),
     "rules": st.lists(RULE | DELIVERY_RULE, min_size=1, max_size=3)},
    optional={"description": WORD, "spec": WORD,
              "parameters": st.dictionaries(st.sampled_from(["a", "b_1"]), SCALAR)},
)  # fmt: skip


@given(DOCUMENT)
@examples(150)
def test_what_passes_the_schema_loads(document: dict[str, Any]) -> None:
    """And can be activated, the same way from JSON and from YAML."""
    text = dumps(document).decode()

    assert VALIDATOR.is_valid(document)
    rules = read(text, "a.json").bind({})
    assert len(document["rules"]) == len(rules)
    assert rules == read(text, "a.yaml").bind({})


WRONG: st.SearchStrategy[Any] = st.one_of(
    SCALAR, st.just([]), st.just({}), st.just([{}]), st.just({"x": 1})
)


def steps(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    found = [at] if at else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += steps(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += steps(item, (*at, index))
    return found


@given(DOCUMENT, st.data())
@examples(300)
def test_schema_and_loader_agree(document: dict[str, Any], data: st.DataObject) -> None:
    """With something wrong anywhere, the loader refuses with a place just where the schema does."""
    broken = copy.deepcopy(document)
    path = data.draw(st.sampled_from(steps(broken)))
    holder = broken
    for step in path[:-1]:
        holder = holder[step]
    if data.draw(st.booleans()) and isinstance(holder, dict):
        holder[data.draw(WORD)] = holder.pop(path[-1])
    else:
        holder[path[-1]] = data.draw(WRONG)

    valid = VALIDATOR.is_valid(broken)
    found = faults(dumps(broken).decode())

    assert valid or found
    assert not valid or _beyond_the_schema(found), str(found)
    assert all(each.line == 1 and each.column >= 1 and each.text for each in found)


def faults(text: str) -> list[Complaint]:
    """What the loader complains of."""
    try:
        read(text, "a.json")
    except BadScenario as fault:
        return fault.complaints
    return []


def _beyond_the_schema(found: list[Complaint]) -> bool:
    """Whether the loader complains of what no schema can say."""
    beyond = (
        "cannot act on one request", "cannot act on one delivery", "true answer",
        "no regular expression", "is no parameter", " parameter '", "is no field of line_items",
        " for name", " for deleted",
    )  # fmt: skip
    return all(any(text in each.text for text in beyond) for each in found)


@pytest.mark.parametrize("document", [
    {"name": "a"},
    {"name": "a", "rules": [{}]},
    {"name": "a", "rules": [{"then": {"error": 89, "delay": 1}}]},
    {"name": "a", "rules": [{"then": {"problem": "conflict", "reason": "x"}}]},
    {"name": "a", "rules": [{"then": {"delay": {"seconds": 1, "between": [1, 2]}}}]},
    {"name": "a", "rules": [{"then": {"respond": {}}}]},
])  # fmt: skip
def test_both_refuse(document: dict[str, Any]) -> None:
    """What depends on several fields is refused by both."""
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(BadScenario):
        read(dumps(document).decode(), "a.json")
