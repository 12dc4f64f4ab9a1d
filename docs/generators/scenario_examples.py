"""Examples of the scenario format: one for each key, condition and effect.

`docs/scenario-format.md` shows them, and a test runs each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

ACCOUNT = "18ce54d4x5t"
LIST = f"GET /12/accounts/{ACCOUNT}/line_items"
ITEM = f"GET /12/accounts/{ACCOUNT}/line_items/itttx"
DELETE = f"DELETE /12/accounts/{ACCOUNT}/line_items/itttx"
POLL = (
    f"POST /12/accounts/{ACCOUNT}/cards/poll"
    "?name=Roast&first_choice=Light&second_choice=Dark&duration_in_minutes=60"
)
REPLAY = "POST /2/webhooks/replay"
STREAM = "GET /2/activity/stream"
EVENT = "event"
"""An event to deliver, or a line to send, in place of a request."""
NOON = "2026-03-01T12:00:00Z"


@dataclass(frozen=True, slots=True)
class Example:
    """Rules in YAML (or a whole scenario), and the requests that show what they do."""

    text: str
    calls: tuple[tuple[str, int], ...] = ((LIST, 200),)
    """Requests at noon on the world's clock, each with the status of its answer."""
    more: str = ""
    """A sentence on what happens."""

    @property
    def document(self) -> str:
        """The whole scenario."""
        text = self.text.strip("\n")
        return text if text.startswith("name:") else f"name: example\nrules:\n{text}"


_FAIL = "    then: {error: SERVICE_UNAVAILABLE}"


def _on_list(*lines: str) -> str:
    """Returns a rule on the list of line items that fails, with these further lines."""
    return "\n".join(["  - on: line_items.list", *(f"    {line}" for line in lines), _FAIL])


def _then(on: str, then: str) -> str:
    """Returns a rule with this effect."""
    return f"  - on: {on}\n    then: {then}"


_FAILS, _WORKS = (LIST, 503), (LIST, 200)

DOCUMENT = Example(
    """
name: slow-evening
description: The list of line items is slow, and fails after some calls.
spec: "B, Limits"
group: campaigns
words: busy, timeout
parameters: {seconds: 0.1, calls: 2}
$schema: http://127.0.0.1:8080/_mock/scenarios/schema.json
rules:
  - on: line_items.list
    call: {to: $calls}
    then: {delay: $seconds}
  - on: line_items.list
    then: {error: SERVICE_UNAVAILABLE}
""",
    (_WORKS, _WORKS, _FAILS),
)

RULES: dict[str, Example] = {
    "on": Example(
        _then("[line_items.list, line_items.get]", "{error: SERVICE_UNAVAILABLE}"),
        (_FAILS, (ITEM, 503), (DELETE, 200)),
    ),
    "when": Example(
        _on_list("when: {query: {count: {above: 100}}, headers: {X-Test: {exists: false}}}"),
        (_WORKS, (f"{LIST}?count=101", 503)),
    ),
    "call": Example(_on_list("call: 2"), (_WORKS, _FAILS, _WORKS)),
    "call.from": Example(_on_list("call: {from: 2}"), (_WORKS, _FAILS, _FAILS)),
    "call.to": Example(_on_list("call: {from: 2, to: 3}"), (_WORKS, _FAILS, _FAILS, _WORKS)),
    "call.every": Example(_on_list("call: {every: 2}"), (_WORKS, _FAILS, _WORKS, _FAILS)),
    "times": Example(_on_list("times: 2"), (_FAILS, _FAILS, _WORKS)),
    "until": Example(_on_list("until: 2026-03-01T12:30:00Z"), (_FAILS,)),
    "probability": Example(_on_list("probability: 1"), (_FAILS, _FAILS)),
    "stage": Example(
        _on_list("stage: before_auth"),
        ((f"{LIST}?count=many", 503),),
        "Without the stage, a request with a wrong parameter gets its own refusal.",
    ),
    "then": Example(
        _then("line_items.list", "[{delay: 10ms}, {error: SERVICE_UNAVAILABLE}]"), (_FAILS,)
    ),
    "expect": Example(_on_list("times: 1", "expect: fired"), (_FAILS, _WORKS)),
}
CONDITIONS: dict[str, Example] = {
    "path": Example(
        "  - on: line_items.get\n    when: {path: {line_item_id: itttx}}\n" + _FAIL, ((ITEM, 503),)
    ),
    "query": Example(_on_list("when: {query: {count: 5}}"), (_WORKS, (f"{LIST}?count=5", 503))),
    "json": Example(
        '  - on: webhooks.replay\n    when: {json: {webhook_id: "1146654567674912769"}}\n'
        "    then: {problem: conflict}",
        ((REPLAY, 409),),
    ),
    "form": Example(
        "  - on: oauth2.token\n    when: {form: {grant_type: client_credentials}}\n"
        "    then: {error: 131}",
        (("POST /oauth2/token", 500),),
    ),
    "headers": Example(_on_list("when: {headers: {X-Test: {exists: false}}}"), (_FAILS,)),
    "caller.app": Example(_on_list("when: {caller: {app: {exists: true}}}"), (_FAILS,)),
    "caller.user": Example(_on_list('when: {caller: {user: "2244994945"}}'), (_FAILS,)),
    "caller.scheme": Example(_on_list("when: {caller: {scheme: bearer}}"), (_FAILS,)),
    "state": Example(
        "  - on: line_items.get\n    then: {set_state: seen}\n" + _on_list("when: {state: seen}"),
        (_WORKS, (ITEM, 200), _FAILS),
    ),
    "clock.after": Example(_on_list("when: {clock: {after: 2026-03-01T11:00:00Z}}"), (_FAILS,)),
    "clock.before": Example(
        _on_list("when: {clock: {after: 2026-03-01, before: 2026-03-01T12:00:00Z}}"), (_WORKS,)
    ),
}
OPERATORS: dict[str, Example] = {
    "equals": Example(
        _on_list("when: {query: {count: {equals: 5}}}"), (_WORKS, (f"{LIST}?count=5", 503))
    ),
    "in": Example(
        _on_list("when: {query: {count: {in: [5, 6]}}}"), ((f"{LIST}?count=6", 503), _WORKS)
    ),
    "matches": Example(
        '  - on: line_items.get\n    when: {path: {line_item_id: {matches: "it[a-z]+"}}}\n' + _FAIL,
        ((ITEM, 503),),
    ),
    "exists": Example(_on_list("when: {query: {cursor: {exists: false}}}"), (_FAILS,)),
    "above": Example(
        _on_list("when: {query: {count: {above: 5}}}"),
        ((f"{LIST}?count=5", 200), (f"{LIST}?count=6", 503)),
    ),
    "below": Example(
        _on_list("when: {query: {count: {below: 5}}}"),
        ((f"{LIST}?count=5", 200), (f"{LIST}?count=4", 503)),
    ),
}
EFFECTS: dict[str, Example] = {
    "problem": Example(
        _then("webhooks.replay", "{problem: usage-capped, period: Daily, scope: Product}"),
        ((REPLAY, 429),),
    ),
    "error": Example(
        _then(
            "line_items.list",
            "{error: {code: INVALID_PARAMETER, message: No, parameter: count, status: 400}}",
        ),
        ((LIST, 400),),
    ),
    "respond": Example(
        _then(
            "line_items.list",
            "{respond: {status: 202, headers: {X-Queue: long}, json: {data: []}}}",
        ),
        ((LIST, 202),),
    ),
    "collection": Example(
        "  - on: /2/shops\n    then:\n      collection:\n"
        '        items: [{key: "1", name: Roasters}]\n        id: key\n        envelope: data',
        (("GET /2/shops", 200), ("GET /2/shops/1", 200), ("GET /2/shops/2", 404)),
    ),
    "patch": Example(
        _then("line_items.get", "{patch: {data: {name: Another name, goal: null}}}"),
        ((ITEM, 200),),
    ),
    "delay": Example(
        _then("line_items.list", "{delay: {between: [10ms, 20ms], slow_body: 1s}}"),
        more="A duration alone is enough: `delay: 2s`.",
    ),
    "fault": Example(
        _then("line_items.delete", "{fault: reset, stage: after_commit}"),
        ((DELETE, 200),),
        "The client sees a broken connection; the line item is deleted.",
    ),
    "disconnect": Example(
        _then(
            "activity_stream.open",
            "{disconnect: {type: ForceDisconnect, after_lines: 2, after_seconds: 30s, line: true}}",
        ),
        ((STREAM, 200),),
    ),
    "rate_limit": Example(
        _then("line_items.list", "{rate_limit: {limit: 2, window: 15m}}"),
        (_WORKS, _WORKS, (LIST, 429)),
    ),
    "items": Example(
        _then(
            "product_catalogs.products.upsert",
            '{items: {"0": {code: INVALID_PARAMETER, message: No, parameter: title}}}',
        ),
        (),
    ),
    "set_state": Example(
        "  - on: line_items.list\n    when: {state: null}\n    then: {set_state: broken}\n"
        + _on_list("when: {state: broken}"),
        (_WORKS, _FAILS),
    ),
    "set": Example(
        _then("line_items.list", "{set: {line_items/itttx: {name: Renamed behind your back}}}"),
        (_WORKS,),
    ),
}


def _delivery(then: str, on: str = "deliveries") -> Example:
    return Example(
        f"  - on: {on}\n    when: {{event: {{event_type: post.create}}}}\n    then: {then}",
        ((EVENT, 0),),
    )


DELIVERIES: dict[str, Example] = {
    "drop": _delivery("{drop: true}"),
    "duplicate": _delivery("{duplicate: true}"),
    "reorder": _delivery("{reorder: true}"),
    "delay": _delivery("{delay: {seconds: 500ms}}"),
    "fail": _delivery("{fail: {status: 503, attempts: 2}}"),
    "set_state": _delivery("[{drop: true}, {set_state: lost}]"),
}
LINES: dict[str, Example] = {
    "drop": _delivery("{drop: true}", "lines"),
    "duplicate": _delivery("{duplicate: true}", "lines"),
    "reorder": _delivery("{reorder: true}", "lines"),
    "delay": _delivery("{delay: 500ms}", "lines"),
    "split": _delivery("{split: true}", "lines"),
    "insert": _delivery("{insert: {note: from another world}}", "lines"),
    "set_state": _delivery("[{drop: true}, {set_state: lost}]", "lines"),
}
