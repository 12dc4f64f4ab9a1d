from __future__ import annotations

import pytest

from mock_platform.api import served as operations
from mock_platform.core.documents.source import format_path
from mock_platform.scenario.advice import find_warnings
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import loads

CATALOG = Catalog.collect(operations.OPERATIONS)


def odd(*rules: str, parameters: str = "") -> list[tuple[str, str]]:
    """What is odd in a scenario of these rules."""
    listed = "\n".join(f"  - {rule}" for rule in rules)
    text = f"name: a\n{parameters}\nrules:\n{listed}\n"
    return [(format_path(at), text) for at, text in find_warnings(loads(text, CATALOG))]


FAIL = "then: {error: 130}"
NEVER = "the rule can never act"


@pytest.mark.parametrize(("rule", "place", "text"), [
    ("{call: 3, times: 5, %s}", "times",
     "has no effect: with this `call` the rule acts at most once"),
    ("{call: {from: 2, to: 5}, times: 5, %s}", "times",
     "has no effect: with this `call` the rule acts at most 4 times"),
    ("{call: {to: 9, every: 2}, times: 5, %s}", "times",
     "has no effect: with this `call` the rule acts at most 4 times"),
    ("{call: {to: 5, every: 10}, %s}", "call", f"{NEVER}: from 1 to 5 there is no 10th call"),
    ("{probability: 0, %s}", "probability", f"{NEVER} with a probability of 0"),
    ("{when: {clock: {after: 2026-03-02, before: 2026-03-02}}, %s}", "when.clock",
     f"{NEVER}: `before` is not later than `after`"),
    ("{when: {clock: {after: 2026-03-02}}, until: 2026-03-01, %s}", "until",
     f"{NEVER}: it ends at or before the `after` of its clock"),
    ("{on: line_items.list, when: {query: {count: {above: 5, below: 5}}}, %s}",
     "when.query.count", f"{NEVER}: no number is above 5 and below 5"),
    ("{when: {headers: {a: {exists: false, equals: b}}}, %s}", "when.headers.a",
     f"{NEVER}: what does not exist fulfils no other condition"),
    ("{when: {headers: {a: {equals: b, in: [c]}}}, %s}", "when.headers.a",
     f"{NEVER}: `equals` is not one of `in`"),
    ("{when: {state: paid}, %s}", "when.state",
     f"{NEVER}: no rule has `set_state: paid`; states: none"),
    ("{on: line_items.list, when: {query: {fail: x}}, %s}", "when.query.fail",
     "the operation does not read this: line_items.list has no query parameter 'fail'."),
    ("{on: webhooks.replay, when: {query: {webhook_id: x}}, %s}", "when.query.webhook_id",
     "the operation does not read this: webhooks.replay has 'webhook_id' in its JSON body; "
     "write `json: {webhook_id: …}`"),
    ("{on: webhooks.replay, when: {json: {webhok_id: x}}, %s}", "when.json.webhok_id",
     "the operation does not read this: webhooks.replay has no JSON parameter 'webhok_id'. "
     "Did you mean 'webhook_id'?"),
    ("{on: line_items.list, when: {json: {count: x}}, %s}", "when.json",
     "GET requests have no body; use `query`"),
    ("{on: line_items.list, when: {caller: {scheme: oauth2}}, %s}", "when.caller.scheme",
     f"{NEVER}: "),
    ("{call: {from: 2, to: 3, every: 3}, %s}", "call",
     f"{NEVER}: from 2 to 3 there is no 3rd call"),
    ("{on: line_items.list, when: {query: {count: null}}, %s}", "when.query.count",
     f"{NEVER}: nothing there is null; write `exists: false` for what is not sent"),
    ("{when: {headers: {X Test: a}}, %s}", "when.headers.X Test",
     f"{NEVER}: no header can have the name 'X Test'"),
    ("{when: {caller: {user: {equals: null}}}, %s}", "when.caller.user",
     f"{NEVER}: nothing there is null; write `exists: false` for what is not sent"),
    ("{on: webhooks.replay, when: {json: {webhook_id: 5}}, %s}", "when.json.webhook_id",
     f'{NEVER}: webhook_id is a text; write "5"'),
    ("{on: deliveries, when: {event: {event_type: post.creat}}, then: {drop: true}}",
     "when.event.event_type", "no type of events is 'post.creat'. Did you mean 'post.create'?"),
    ("{on: lines, when: {event: {endpoint: {in: [activity_streem]}}}, then: {drop: true}}",
     "when.event.endpoint",
     f"{NEVER}: no stream is 'activity_streem'. Did you mean 'activity_stream'? Allowed: "),
])  # fmt: skip
def test_rules_that_hardly_act(rule: str, place: str, text: str) -> None:
    """Counts, moments, conditions and states that exclude each other are named, with the place."""
    found = odd(rule % FAIL if "%s" in rule else rule)

    assert any(at == f"rules[0].{place}" and each.startswith(text) for at, each in found), found


@pytest.mark.parametrize("rule", [
    "{call: {from: 2, to: 5}, times: 3, %s}",
    "{call: {from: 1, to: 10, every: 10}, %s}",
    "{call: {from: 3}, times: 9, %s}",
    "{probability: 0.1, %s}",
    "{when: {clock: {after: 2026-03-01, before: 2026-03-02}}, until: 2026-03-03, %s}",
    "{on: line_items.list, when: {query: {count: {above: 5, below: 7}}}, %s}",
    "{when: {headers: {a: {exists: true, equals: b}}}, %s}",
    "{when: {headers: {a: {equals: b, in: [b, c]}}}, %s}",
    "{when: {state: null}, %s}",
    "{on: webhooks.replay, when: {json: {webhook_id: x}}, %s}",
    "{on: line_items.list, when: {caller: {scheme: oauth1}}, %s}",
    "{on: line_items.list, then: {respond: {status: 204}}}",
    "{on: line_items.list, then: {respond: {status: 503, text: down}}}",
    "{on: line_items.list, then: {respond: {status: 400, json: {errors: []}}}}",
    "{on: webhooks.replay, then: {problem: conflict}}",
    "{on: webhooks.replay, then: {respond: {status: 400, json: {title: x}}}}",
    "{then: {problem: conflict}}",
    "{on: webhooks.replay, when: {json: {webhook_id: null}}, %s}",
    "{on: webhooks.replay, when: {json: {webhook_id: {matches: '5.*'}}}, %s}",
    "{on: deliveries, when: {event: {event_type: shop.opened}}, then: {drop: true}}",
    "{on: lines, when: {event: {endpoint: sample10_stream}}, then: {drop: true}}",
    "{then: {disconnect: {}}}",
    "{on: filtered_stream.open, then: {disconnect: {type: SlowReader, fault: truncate}}}",
    "{on: filtered_stream.open, then: {disconnect: {type: SlowReader, fault: reset, line: true}}}",
    "{on: line_items.batch, then: {items: {'0': NOT_FOUND}}}",
    "{on: stream_rules.change, then: {items: {'0': invalid-rules}}}",
    "{on: [line_items.list, filtered_stream.open], then: {patch: {a: 1}}}",
    "{on: line_items.list, then: {error: {code: NOT_FOUND, parameter: name}}}",
])  # fmt: skip
def test_rules_without_warnings(rule: str) -> None:
    """What can act, and answers as clients expect, is not warned of."""
    assert [] == odd(rule % FAIL if "%s" in rule else rule)


@pytest.mark.parametrize(("then", "place", "text"), [
    ("{problem: conflict}", "problem",
     "clients of the advertising interface expect an `errors` array; use `error: CODE`"),
    ("{respond: {status: 400, json: {type: about:blank, title: x}}}", "respond.json",
     "clients of the advertising interface expect an `errors` array; use `error: CODE`"),
    ("{respond: {status: 500}}", "respond", "the body is empty; add json or text"),
    ("{respond: {headers: {a: b}}}", "respond", "the body is empty; add json or text"),
    ("{respond: {status: 204, json: {}}}", "respond",
     "an answer with status 204 has no body; leave it out"),
])  # fmt: skip
def test_answers_that_clients_do_not_expect(then: str, place: str, text: str) -> None:
    """An answer in the wrong form for its interface, or without a body."""
    assert [(f"rules[0].then.{place}", text)] == odd(f"{{on: line_items.list, then: {then}}}")
    assert [(f"rules[0].then[1].{place}", text)] == odd(
        f"{{on: line_items.list, then: [{{delay: 1}}, {then}]}}"
    )


@pytest.mark.parametrize(("on", "then", "place", "text"), [
    ("line_items.list", "{disconnect: {}}", "disconnect", "none of the operations is a stream"),
    ("line_items.list", "{items: {'0': NOT_FOUND}}", "items",
     "none of the operations takes a batch"),
    ("line_items.list", "{error: {code: 88, parameter: a}}", "error.parameter",
     "only a named code of the advertising interface names a parameter"),
    ("webhooks.replay", "{error: {code: 88, parameter: a}}", "error.parameter",
     "only a named code of the advertising interface names a parameter"),
    ("activity_stream.open", "{patch: {a: 1}}", "patch", "a stream has lines; use `on: lines`"),
    ("activity_stream.open", "{delay: {slow_body: 1}}", "delay.slow_body",
     "a stream has lines; delay them with `on: lines`"),
    ("activity_stream.open", "{disconnect: {type: SlowReader, line: false}}", "disconnect.type",
     "the last line has no type of the sandbox"),
    ("activity_stream.open", "{disconnect: {type: SlowReader, fault: reset}}", "disconnect.type",
     "the last line has no type of the sandbox"),
    ("activity_stream.open", "{disconnect: {fault: timeout, line: true}}", "disconnect.line",
     "with the fault timeout the stream does not end"),
])  # fmt: skip
def test_effects_without_anything_to_act_on(on: str, then: str, place: str, text: str) -> None:
    """An effect that its operations give nothing to act on is named, with the reason."""
    assert [(f"rules[0].then.{place}", f"has no effect: {text}")] == odd(
        f"{{on: {on}, then: {then}}}"
    )


@pytest.mark.parametrize(("on", "then", "place", "text"), [
    ("line_items.list", "[{set_state: a}, {set_state: b}]", "[1].set_state",
     "only one set_state of a rule acts; make two rules of them"),
    ("deliveries", "[{set_state: a}, {set_state: b}]", "[1].set_state",
     "only one set_state of a rule acts; make two rules of them"),
    ("lines", "[{insert: a}, {insert: b}]", "[1].insert",
     "only one insert of a rule acts; make two rules of them"),
    ("lines", "[{split: true}, {drop: true}]", "[0].split", "has no effect: drop loses the line"),
    ("filtered_stream.open", "[{disconnect: {}}, {disconnect: {after_lines: 1}}]",
     "[1].disconnect", "only one disconnect of a rule acts; make two rules of them"),
    ("filtered_stream.open", "[{respond: {json: 1}}, {disconnect: {}}]", "[1].disconnect",
     "has no effect: respond replaces the stream"),
])  # fmt: skip
def test_effects_that_are_lost(on: str, then: str, place: str, text: str) -> None:
    """Of two effects of which only one acts, the other is named."""
    assert [(f"rules[0].then{place}", text)] == odd(f"{{on: {on}, then: {then}}}")


@pytest.mark.parametrize("on", ["GET /2/shops", "/2/shops"])
@pytest.mark.parametrize(("then", "answers"), [
    ("{delay: 1}", False), ("[{set_state: a}, {rate_limit: {limit: 1, window: 5}}]", False),
    ("[{delay: 1}, {respond: {json: 1}}]", True), ("{error: 88}", True), ("{fault: reset}", True),
])  # fmt: skip
def test_a_path_of_ones_own_that_nothing_answers(on: str, then: str, *, answers: bool) -> None:
    """A rule without an answer leaves the client with 404, which is said."""
    text = "clients get 404, because no effect answers; add `respond`"

    assert ([] if answers else [("rules[0].then", text)]) == odd(f"{{on: {on}, then: {then}}}")


def test_a_named_code_under_2() -> None:
    """Outside of the advertising interface a named code is not in the answer."""
    ((place, text),) = odd("{on: webhooks.replay, then: {error: NOT_FOUND}}")

    assert "rules[0].then.error" == place
    assert text.startswith("named codes are those of the advertising interface")


@pytest.mark.parametrize(("one", "other"), [
    (f"{{on: line_items.list, {FAIL}}}", f"{{on: line_items.list, call: 2, {FAIL}}}"),
    (f"{{{FAIL}}}", f"{{on: line_items.list, {FAIL}}}"),
    (f"{{on: [line_items.list, line_items.get], {FAIL}}}", f"{{on: line_items.get, {FAIL}}}"),
    (f"{{on: line_items.get, when: {{path: {{account_id: a}}}}, {FAIL}}}",
     f"{{on: line_items.get, when: {{path: {{account_id: {{equals: a}}, line_item_id: b}}}}, "
     f"{FAIL}}}"),
    (f"{{{FAIL}}}", f"{{on: GET /2/shops, {FAIL}}}"),
    (f"{{on: /2/shops, {FAIL}}}", f"{{on: /2/shops, {FAIL}}}"),
    ("{on: deliveries, then: {drop: true}}", "{on: deliveries, then: {duplicate: true}}"),
])  # fmt: skip
def test_a_rule_that_another_hides(one: str, other: str) -> None:
    """A rule after one that acts on each of its requests is named."""
    assert ("rules[1]", f"{NEVER}: rule 0 acts on each of its requests before it") in odd(
        one, other
    )


def test_a_stage_that_comes_first() -> None:
    """A rule that answers before authentication hides those listed before it."""
    late, early = f"{{on: line_items.list, {FAIL}}}", f"{{stage: before_auth, {FAIL}}}"

    assert [("rules[0]", f"{NEVER}: rule 1 acts on each of its requests before it")] == odd(
        late, early
    )


@pytest.mark.parametrize(("one", "other"), [
    (f"{{on: line_items.list, times: 1, {FAIL}}}", f"{{on: line_items.list, {FAIL}}}"),
    (f"{{on: line_items.list, call: 1, {FAIL}}}", f"{{on: line_items.list, {FAIL}}}"),
    (f"{{on: line_items.list, until: 2026-03-01, {FAIL}}}", f"{{on: line_items.list, {FAIL}}}"),
    (f"{{on: line_items.get, {FAIL}}}", f"{{on: [line_items.list, line_items.get], {FAIL}}}"),
    ("{stage: before_auth, then: {delay: 1}}", f"{{on: line_items.list, {FAIL}}}"),
    ("{then: {delay: 1}}", f"{{on: GET /2/shops, {FAIL}}}"),
    ("{on: deliveries, then: {reorder: true}}", "{on: deliveries, then: {drop: true}}"),
    (f"{{{FAIL}}}", "{on: deliveries, then: {drop: true}}"),
    (f"{{when: {{state: x}}, {FAIL}}}", "{then: [{set_state: x}, {error: 130}]}"),
])  # fmt: skip
def test_rules_that_hide_nothing(one: str, other: str) -> None:
    """A rule with a limit, on less, or in another stage leaves the next one something."""
    assert [] == odd(one, other)


def test_states_that_a_rule_sets() -> None:
    """A state that any rule sets can be."""
    assert [] == odd(
        f"{{on: line_items.get, when: {{state: x}}, {FAIL}}}",
        "{on: line_items.list, then: {set_state: x}}",
    )


def test_what_a_parameter_decides_is_not_judged() -> None:
    """Another value may make sense of a rule; an unused parameter is a mistake."""
    assert [("parameters.b", "no rule uses the parameter; write $b where it counts")] == odd(
        f"{{call: $a, times: 5, {FAIL}}}", parameters="parameters: {a: 1, b: 2}"
    )
