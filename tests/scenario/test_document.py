from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mock_platform.core.errors import BadParameters, BadScenario
from mock_platform.scenario.document import load
from mock_platform.scenario.effects.error import ErrorEffect
from mock_platform.scenario.effects.fault import FaultEffect
from mock_platform.scenario.effects.problem import ProblemEffect
from mock_platform.scenario.library import check
from tests.scenario.support import CATALOG, OPERATIONS, complaints, read

EXAMPLE = """
name: line-item-delete-retried
description: The first delete commits but its answer is lost; the retry finds nothing.
spec: "B, States and transitions: Line item"
parameters: {line_item_id: null}
rules:
  - on: line_items.delete
    when: {path: {line_item_id: $line_item_id}}
    call: 1
    then: {fault: reset, stage: after_commit}
    expect: fired
"""


def test_the_example_of_the_form() -> None:
    """A whole document becomes a value; a parameter that is null restricts nothing."""
    scenario = read(EXAMPLE)

    (rule,) = scenario.bind({})
    (bound,) = scenario.bind({"line_item_id": "x1"})

    assert "line-item-delete-retried" == scenario.name
    assert "B, States and transitions: Line item" == scenario.spec
    assert {} == rule.when
    assert {"path": {"line_item_id": "x1"}} == bound.when
    assert (1, 1, 1, True, False) == (
        rule.first, rule.last, rule.every, rule.expected, rule.before_auth,
    )  # fmt: skip
    assert (FaultEffect("reset", "after_commit"),) == rule.effects
    assert scenario.needs_connection


@pytest.mark.parametrize(("text", "line", "column", "field", "expected"), [
    ("rules:\n- then: {error: 89}", 1, 1, "", "name is missing"),
    ("name: a", 1, 1, "", "rules is missing"),
    ("[]", 1, 1, "", "expected an object with name, "),
    ("name: A b\nrules: [{then: {error: 89}}]", 1, 1, "name", "a name in lower case"),
    ("name: a\nrules: []", 2, 1, "rules", "expected 1 to 500 entries, got 0"),
    ("name: a\nruls: 1\nrules: [{then: {error: 89}}]", 2, 1, "ruls", "Did you mean 'rules'?"),
    ("name: a\nparameters: {x: $y}\nrules: [{then: {error: 89}}]", 2, 14, "parameters.x",
     "expected a value of its own, got the parameter $y"),
    ("name: a\nparameters: {x: [a, [$y]]}\nrules: [{then: {error: 89}}]", 2, 14, "parameters.x",
     "expected a value of its own, got the parameter $y"),
    ("name: $x\nparameters: {x: a}\nrules: [{then: {error: 89}}]", 1, 1, "name",
     "a name in lower case"),
    ("name: a\nparameters: $x\nrules: [{then: {error: 89}}]", 2, 1, "parameters",
     'expected an object, got "$x"'),
    ("name: a\nparameters: {x: []}\nrules: $x", 3, 1, "rules", "expected a list"),
    ("name: a\nparameters: {x: a}\nrules: [$x]", 3, 9, "rules[0]", "expected an object with"),
    ("name: a\nparameters: {x: null}\nrules: [{when: $x, then: {error: 89}}]", 3, 10,
     "rules[0].when", "expected an object with path"),
    ("name: a\nparameters: {x: []}\nrules: [{then: $x}]", 3, 10, "rules[0].then",
     "expected an effect or a list of them"),
    ("name: a\nparameters: {x: a}\nrules: [{then: [$x]}]", 3, 17, "rules[0].then[0]",
     "expected an effect: an object"),
    ("name: a\nparameters: {x: a}\nrules: [{on: deliveries, then: $x}]", 3, 26, "rules[0].then",
     "expected an effect on a delivery"),
])  # fmt: skip
def test_complaints(text: str, line: int, column: int, field: str, expected: str) -> None:
    """Every fault has its place and field, and says what is allowed or what to do."""
    (found,) = complaints(text)

    assert (line, column, field) == (found.line, found.column, found.field)
    assert expected in found.text


@pytest.mark.parametrize(("rule", "column", "field", "expected"), [
    ("on: line_item.delete", 3, "on", "Did you mean 'line_items.delete'?"),
    ("on: ['*']", 8, "on[0]", '"*" is not allowed'),
    ("then: {eror: 89}", 10, "then.eror", "Did you mean 'error'?"),
    ("then: {}", 3, "then", "got nothing"),
    ("then: {error: 89, delay: 1}", 21, "then.delay", "give a list for several"),
    ("then: {error: 90}", 10, "then.error", "90 is not allowed. Allowed: 17, 25, 32, 34"),
    ("then: {error: 404}", 10, "then.error",
     "A status is no code: give it beside one, as {code, status}, or `respond`."),
    ("then: {problem: usage-caped}", 10, "then.problem", "Did you mean 'usage-capped'?"),
    ("then: {problem: usage-capped, period: Weekly}", 33, "then.period",
     "Allowed: Daily, Monthly."),
    ("then: {problem: conflict, period: Daily}", 29, "then.period", "is unknown here"),
    ("call: 0", 3, "call", "expected a whole number from 1"),
    ("call: {from: 3, to: 2}", 19, "call.to", "to must not be before from"),
    ("probability: 1.1", 3, "probability", "expected a number from 0 to 1"),
    ("when: {query: {a: {matches: '(a+)+'}}}", 22, "when.query.a.matches",
     "repetition within a repetition"),
    ("when: {caller: {scheme: oaut1}}", 19, "when.caller.scheme", "Did you mean 'oauth1'?"),
    ("when: {caller: {scheme: {in: [basic, beare]}}}", 40, "when.caller.scheme.in[1]",
     "Allowed: bearer, oauth1, oauth2, basic, session, none."),
    ("when: {query: {a: $b}}", 18, "when.query.a",
     "$b is no parameter of this scenario; declared: none."),
    ("stage: before_auth\n  when: {caller: {app: '1'}}", 10, "when.caller",
     "not known before authentication"),
    ("then: [{error: 89}, {respond: {status: 200}}]", 24, "then[1].respond",
     "respond and error cannot act on one request"),
    ("then: [{error: 89}, {patch: {a: 1}}]", 24, "then[1].patch",
     "patch acts on the true answer, which error replaces"),
    ("then: [{rate_limit: {limit: 1, window: 1}}, {rate_limit: {limit: 2, window: 9}}]", 48,
     "then[1].rate_limit", "rate_limit and rate_limit cannot act on one request"),
    ("then: [{rate_limit: {limit: 1, window: 1}}, {error: 89}, {patch: {a: 1}}]", 61,
     "then[2].patch", "patch acts on the true answer, which error replaces"),
    ("then: {error: {code: 2147483648}}", 18, "then.error.code",
     "expected a whole number from -2,147,483,648 to 2,147,483,647, got 2147483648"),
    ("then: {error: {code: -2147483649}}", 18, "then.error.code", "2,147,483,647, got -2147483649"),
    ("then: [{fault: reset}, {fault: empty}]", 27, "then[1].fault",
     "fault and fault cannot act on one request"),
    ("then: {set: {line_itms/1: {}}}", 16, "then.set.line_itms/1",
     "TABLE/ID with the name of a table"),
    ("then: {set: {line_items/1: {nme: a}}}", 31, "then.set.line_items/1.nme",
     "Did you mean 'name'?"),
    ("then: [{set: {line_items/1: {goal: 5}}}]", 32, "then[0].set.line_items/1.goal",
     "Expected String, got 5 for goal"),
    ("then: {respond: {json: 1, text: a}}", 10, "then.respond", "json and text exclude each other"),
    ("then: {delay: 301}", 10, "then.delay", "from 0 to 300"),
    ("then: {rate_limit: {limit: 1}}", 10, "then.rate_limit", "window is missing"),
    ("then: {items: {'-1': NOT_FOUND}}", 18, "then.items.-1", "the index of an item"),
    ("Then: {error: 89}", 3, "Then", "Did you mean 'then'?"),
    ("then: {error: '89'}", 10, "then.error", "got the text \"89\"; write 89"),
    ("then: {error: '90'}", 10, "then.error", "\"90\" is not allowed"),
    ("then: {respond: {headers: {CONTENT-LENGTH: '5'}}}", 30, "then.respond.headers.CONTENT-LENGTH",
     "its length and connection are the server's"),
    ("then: {respond: {headers: {transfer-ENCODING: a}}}", 30,
     "then.respond.headers.transfer-ENCODING", "its length and connection are the server's"),
])  # fmt: skip
def test_complaints_about_a_rule(rule: str, column: int, field: str, expected: str) -> None:
    """Every fault of a rule has its place and field, and says what is allowed or what to do."""
    whole = rule if "then: " in rule else f"{rule}\n  then: {{error: 89}}"
    (found,) = complaints(f"name: a\nrules:\n- {whole}")

    place = 3 + rule.count("\n"), column, f"rules[0].{field}"
    assert place == (found.line, found.column, found.field)
    assert expected in found.text


def test_all_faults_at_once() -> None:
    """All faults of a file are reported at once, in the order of the file."""
    found = complaints("name: A\nrules:\n- then: {eror: 1}\n- on: nothing\n  then: {error: 89}")

    assert [1, 3, 4] == [fault.line for fault in found]
    assert str(found[0]).startswith("scenario.yaml:1:1: name: expected a name")


def test_places_in_json() -> None:
    """JSON files have places as well."""
    (found,) = complaints('{"name": "a",\n "rules": [{"then":\n  {"error": 1}}]}', "a.json")

    assert (3, 4, "rules[0].then.error") == (found.line, found.column, found.field)


def test_files(tmp_path: Path) -> None:
    """A file is read by its name; a missing one is reported like any other fault."""
    (tmp_path / "a.yaml").write_text(EXAMPLE)
    (tmp_path / "a.txt").write_text(EXAMPLE)

    assert tmp_path / "a.yaml" == load(tmp_path / "a.yaml", CATALOG).file
    with pytest.raises(BadScenario, match=r"scenario files end in \.yaml, \.yml, \.json"):
        load(tmp_path / "a.txt", CATALOG)
    with pytest.raises(BadScenario, match=r"b\.yaml:1:1: cannot be read: No such file"):
        load(tmp_path / "b.yaml", CATALOG)


PARAMETERS = """
name: a
parameters: {on: webhooks.replay, period: Daily, code: 89, record: null, text: $$x}
rules:
  - on: $on
    then: {problem: usage-capped, period: $period}
  - then: {error: $code}
  - then: [{set: {line_items/$record: {name: $text}}}, {respond: {json: {"n": $record}}}]
"""


def test_parameters_are_put_in() -> None:
    """A parameter can be used wherever a value can, and after a table's name."""
    first, second, third = read(PARAMETERS).bind(
        {"on": "line_items.list", "period": "Monthly", "code": 93, "record": "r1"}
    )

    assert ("line_items.list",) == first.on
    assert (ProblemEffect("usage-capped", {"period": "Monthly"}),) == first.effects
    assert (ErrorEffect(93),) == second.effects
    assert {"line_items/r1": {"name": "$$x"}} == third.effects[0].records  # type: ignore[union-attr]


@pytest.mark.parametrize(("given", "parameter", "expected"), [
    ({"perod": "Daily"}, "perod", "Did you mean 'period'?"),
    ({"period": "Weekly"}, "period", "Allowed: Daily, Monthly."),
    ({"period": 1}, "period", 'expected text like "Daily", got 1'),
    ({"code": 90}, "code", "90 is not allowed"),
    ({"code": "89"}, "code", 'expected a number like 89, got "89"'),
    ({"on": "nowhere"}, "on", '"nowhere" is not allowed'),
    ({"record": None}, "", "TABLE/ID"),
    ({"record": "$code"}, "record", "expected a value of its own, got the parameter $code"),
    ({"code": 10**30}, "code", f"{10**30} is not allowed"),
])  # fmt: skip
def test_bad_parameters(given: dict[str, Any], parameter: str, expected: str) -> None:
    """The value of a parameter must fit its place; the complaint names the parameter."""
    with pytest.raises(BadParameters) as raised:
        read(PARAMETERS).bind({"record": "r1", **given})

    assert [parameter] == [name for name, _ in raised.value.faults]
    assert expected in raised.value.faults[0][1]


@pytest.mark.parametrize("then", ["{set: $records}", "{set: {line_items/1: $records}}"])
def test_a_parameter_in_place_of_records(then: str) -> None:
    """The value of a parameter is checked when there is one."""
    scenario = read(f"name: a\nparameters: {{records: null}}\nrules: [{{then: {then}}}]")

    with pytest.raises(BadParameters, match="records"):
        scenario.bind({"records": 5})


def test_a_parameter_that_must_not_be_left_out() -> None:
    """Where nothing is left of an effect without a value, the parameter is named."""
    scenario = read("name: a\nparameters: {code: null}\nrules: [{then: {error: $code}}]")

    assert 1 == len(scenario.bind({"code": 89}))
    with pytest.raises(BadParameters, match="then is missing; give a value for code"):
        scenario.bind({})


@pytest.mark.parametrize(("parameters", "rule", "line", "column", "field", "expected"), [
    ("{code: 90}", "then: {error: $code}", 2, 14, "parameters.code",
     "90 is not allowed. Allowed: 17, 25, 32, "),
    ("{code: 90}", "then: {error: $code}", 2, 14, "parameters.code",
     " (the default, in rules[0].then.error)"),
    ("\n  on: line_items.lst\n  x: 1", "on: [$on]\n  then: {error: 89}", 3, 3, "parameters.on",
     "Did you mean 'line_items.list'?"),
    ("{a: 3, b: 2}", "call: {from: $a, to: $b}\n  then: {error: 89}", 2, 20, "parameters.b",
     "to must not be before from, got {\"from\":3,\"to\":2}"),
    ("{a: null, b: 0}", "call: {from: $a, to: $b}\n  then: {error: 89}", 2, 23, "parameters.b",
     "got 0 (the default, in rules[0].call.to)"),
    ("{item: ''}", "then: [{set: {line_items/$item: {name: a}}}]", 4, 11,
     "rules[0].then[0].set.line_items/", "(with the defaults of the parameters)"),
])  # fmt: skip
def test_bad_defaults(
    parameters: str, rule: str, line: int, column: int, field: str, expected: str
) -> None:
    """A default that its rule cannot have is reported at its place, before an activation."""
    (found,) = complaints(f"name: a\nparameters: {parameters}\nrules:\n- {rule}\n")

    assert (line, column, field) == (found.line, found.column, found.field)
    assert expected in found.text


def test_bad_defaults_of_json(tmp_path: Path) -> None:
    """In JSON, too, the place is the default's."""
    file = tmp_path / "a.json"
    file.write_text(
        '{"name": "a",\n "parameters": {"code": 90},\n "rules": [{"then": {"error": "$code"}}]}'
    )

    (found,) = check([file], CATALOG).complaints

    assert str(found).startswith(f"{file}:2:17: parameters.code: 90 is not allowed.")


def test_null_may_have_to_be_given() -> None:
    """A parameter without a default is not complained of, though its rule cannot do without it."""
    scenario = read("name: a\nparameters: {code: null}\nrules:\n- then: {error: $code}\n")

    assert (ErrorEffect(93),) == scenario.bind({"code": 93})[0].effects
    with pytest.raises(BadParameters):
        scenario.bind({})


@pytest.mark.parametrize("default", ["line_items.list", "[line_items.list, line_items.delete]"])
def test_a_parameter_for_operations_takes_one_or_several(default: str) -> None:
    """Whichever of the two its default is, and "*" for all."""
    scenario = read(
        f"name: a\nparameters: {{on: {default}}}\nrules: [{{on: $on, then: {{error: 89}}}}]"
    )

    for value in ("line_items.get", ["line_items.get", "line_items.list"]):
        (rule,) = scenario.bind({"on": value})
        assert ((value,) if isinstance(value, str) else tuple(value)) == rule.on
    assert scenario.bind({"on": "*"})[0].everywhere
    with pytest.raises(BadParameters, match="Did you mean"):
        scenario.bind({"on": ["line_items.gte"]})


@pytest.mark.parametrize(("card", "column", "field", "expected"), [
    ("{cal: 2}", 8, "card.cal", "is no parameter; its parameters: call. Did you mean 'call'?"),
    ("{call: {form: 2}}", 8, "card.call", "form"),
    ("[1]", 1, "card", "expected an object"),
])  # fmt: skip
def test_a_card_that_does_not_fit(card: str, column: int, field: str, expected: str) -> None:
    """What a click sets is checked as an activation is, with its place in the file."""
    text = "name: a\nparameters: {call: null}\nrules: [{call: $call, then: {error: 89}}]\n"
    with pytest.raises(BadScenario) as caught:
        read(f"{text}card: {card}")

    (fault,) = caught.value.complaints
    assert (4, column, field) == (fault.line, fault.column, fault.field)
    assert expected in fault.text


def test_any_drops_what_it_stands_for() -> None:
    """A null parameter leaves the condition, the field or the list of operations out."""
    scenario = read(
        "name: a\nparameters: {p: null}\nrules:\n- on: $p\n  when: {query: {a: $p, b: '1'}}\n"
        "  then: {problem: usage-capped, period: $p}\n"
    )

    (rule,) = scenario.bind({})

    assert OPERATIONS == rule.on
    assert {"query": {"b": "1"}} == rule.when
    assert (ProblemEffect("usage-capped", {}),) == rule.effects


def test_a_doubled_dollar_is_a_dollar() -> None:
    """A text that looks like a parameter can be written."""
    (rule,) = read("name: a\nrules:\n- when: {query: {a: $$b}}\n  then: {error: 89}").bind({})

    assert {"query": {"a": "$b"}} == rule.when
