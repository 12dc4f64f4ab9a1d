"""What the control plane refuses: with its status, its fields and what to do; nothing changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from time import thread_time
from typing import Any

import pytest

from tests.control.support import call, detail, fields, look
from tests.support import Sandbox, sandbox

MOMENT = "2026-03-01T12:00:00.000Z"
USER = "/state/users/7"
WEBHOOK = "1146654567674912769"
POST = {"id": "1", "text": "Cold brew"}
STORED = "1712850617439551492"
SCENARIO: dict[str, Any] = {
    "description": "Everything is refused.",
    "parameters": {"code": 89},
    "rules": [{"on": "line_items.list", "times": 1, "then": {"error": "$code"}}],
}
YAML = "name: soon\nrules:\n- on: line_items.list\n  then: {error: 88}\n"
Row = tuple[str, Any, int, list[str], str]
"""A request, its body, status, the fields with faults, a part of the detail (… is any text)."""


def bodies(request: str, status: int, *rows: tuple[Any, str, str]) -> Iterator[Row]:
    """Rows of one request with several bodies, each with one field and a part of the detail."""
    yield from ((request, body, status, [field], told) for body, field, told in rows)


def requests(status: int, told: str, *made: str, field: str = "") -> Iterator[Row]:
    """Rows of several requests without a body that are refused alike."""
    yield from ((each, None, status, [field] if field else [], told) for each in made)


CLOCK: Iterable[Row] = bodies(
    "PUT /clock", 422,
    ({}, "action", "required"),
    ({"action": "frezee"}, "action", "Expected a value in freeze, travel, advance, resume"),
    ({"action": 1}, "action", "Expected String"),
    ({"action": "travel"}, "to", "the action 'travel' needs 'to'"),
    ({"action": "advance"}, "seconds", "the action 'advance' needs 'seconds'"),
    ({"action": "resume", "to": MOMENT}, "to", "takes nothing else, not 'to'"),
    ({"action": "freeze", "seconds": 1}, "seconds", "takes to, not 'seconds'"),
    ({"action": "travel", "to": "tomorrow"}, "to", "Expected time, now or next"),
    ({"action": "travel", "to": "2026-W01-1"}, "to", "Expected time, now or next"),
    ({"action": "travel", "to": 0}, "to", "Expected time, now or next"),
    ({"action": "advance", "seconds": "60"}, "seconds", "Expected Number"),
    ({"action": "advance", "seconds": True}, "seconds", "Expected Number"),
    ({"action": "freeze", "too": MOMENT}, "too", "Did you mean 'to'?"),
    ({"action": "advance", "to": "next", "seconds": 1}, "seconds", ""),
    *(({"action": action, "to": to}, "to", "") for action, to in (
        ("advance", "now"), ("advance", MOMENT), ("travel", "next"), ("freeze", "next"),
        ("resume", "next"))),
    ({"action": "freeze", "to": "1969-12-31T23:59:59Z"}, "to", "The clock was not moved"),
    ({"action": "freeze", "to": "9000-01-01T00:00:00Z"}, "to", "The clock was not moved"),
    *(
        ({"action": "advance", "seconds": far}, "seconds",
         "The clock was not moved: seconds: …outside the years 1970 to 8999")
        for far in (2.3e11, -1e10, 1e12, -1e12, 1e300)
    ),
)  # fmt: skip
JOURNAL: Iterable[Row] = (
    *requests(400, "Did you mean 'oauth2.token'?", "GET /requests?operation=oauth2.tokn",
              field="operation"),
    *requests(400, "a class such as 4xx, got", "GET /requests?status=6xx", field="status"),
    *requests(400, "a class such as 4xx, got", "GET /requests?status=99", field="status"),
    *requests(400, "Did you mean 'PATCH'? ", "GET /requests?method=FETCH", field="method"),
    *requests(400, "Expected time", "GET /requests?since=yesterday", field="since"),
    *requests(400, "at least 0", "GET /requests?limit=-1", field="limit"),
    *requests(400, "Did you mean 'status'?", "GET /requests?statsu=2", "GET /requests.har?statsu=2",
              field="statsu"),
    *requests(400, "'status' occurs more than once", "GET /requests?status=404&status=500",
              field="status"),
    *requests(400, "disconnected, got \"los\" for ended. Did you mean lost?",
              "GET /requests?ended=los", field="ended"),
    *requests(400, "\"limit\" is unknown here", "GET /requests/count?limit=1", field="limit"),
    *requests(404, "GET /_mock/requests lists them", "GET /requests/r99"),
)  # fmt: skip
SCENARIOS: Iterable[Row] = (
    *requests(404, "Did you mean 'refused'?", "GET /scenarios/refusd",
              "POST /scenarios/refusd/activate", "POST /scenarios/refusd/deactivate"),
    *bodies(
        "PUT /scenarios/refused", 422,
        ({"rules": []}, "rules", "expected 1 to 500 entries"),
        ({"rules": [{"then": {"error": 90}}]}, "rules[0].then.error", "90 is not allowed"),
        (SCENARIO | {"name": "other"}, "name", "use the same name"),
        ({"rules": [{"then": {"error": "$x"}}]}, "rules[0].then.error", "$x is no parameter"),
    ),
    *bodies(
        "PUT /scenarios/soon", 422,
        (YAML.replace("88", "90"), "rules[0].then.error",
         "soon.yaml:4:10: rules[0].then.error: 90 is not allowed"),
        ("a: [", "", "soon.yaml:1:5: not valid YAML"),
    ),
    ("PUT /scenarios/late", YAML, 422, ["name"],
     "the address has the name 'late', the document 'soon'"),
    *bodies(
        "POST /scenarios/refused/activate", 422,
        ({"parameters": {"cod": 1}}, "parameters.cod",
         "not activated: cod: is no parameter; its parameters: code. Did you mean 'code'?"),
        ({"parameters": {"code": 90}}, "parameters.code", "not activated: code: 90 is not allowed"),
        ({"code": 89}, "code", 'Allowed: parameters. Did you mean {"parameters": {"code": …'),
        ({"params": {}}, "params", "unknown here. Did you mean 'parameters'? Allowed: parameters."),
    ),
)  # fmt: skip
_NO_OBJECTS: tuple[object, ...] = ([], "x", 1, None)
STATE: Iterable[Row] = (
    *requests(404, "Tables: apps, users", "GET /state/usrs", "GET /state/usrs/7",
              "GET /state/_transitions"),
    *bodies(
        "PUT /state", 422,
        ({"tables": {}, "clok": {}}, "clok",
         "Did you mean 'clock'? Allowed: world, ids, clock, paces, tables"),
        ({"tables": {}, "clock": 5}, "clock", "offset_seconds, frozen_at; got 5"),
        ({"tables": {}, "clock": {"offset": 1}}, "clock.offset",
         "Allowed: offset_seconds, frozen_at"),
        ({"tables": {}, "clock": {"offset_seconds": 1e300}}, "clock", "expected what the clock"),
        ({"tables": {}, "paces": {"replay_job": 1}}, "paces.replay_job", "polls; got 1"),
        ({"tables": {}, "paces": {"media": {"poll": 1}}}, "paces.media.poll",
         "Did you mean 'polls'? Allowed: progression, seconds"),
    ),
    ("PUT /state/users/8", {"id": "7", "screen_name": "seven", "name": "Seven"}, 422, ["id"], ""),
    ("PUT /state/users/7?unchecked=yes", {"id": "7"}, 400, ["unchecked"], ""),
    ("PUT /state/users/7", {"screen_nam": "x", "_password": 1}, 422,
     ["_password", "name", "screen_nam", "screen_name"], "Did you mean 'screen_name'?"),
    ("PATCH /state/users/7", {}, 404, [], ""),
    *(
        (f"{method} /state/users/2244994945", body, 422, [], "must be a JSON object")
        for method in ("PUT", "PATCH") for body in _NO_OBJECTS
    ),
)  # fmt: skip
SNAPSHOTS: Iterable[Row] = (
    *requests(404, "Did you mean 'before'?", "POST /snapshots/befor/restore",
              "DELETE /snapshots/befor"),
    *requests(400, "is not a name for a snapshot", f"PUT /snapshots/{'a' * 65}",
              "PUT /snapshots/-a"),
)  # fmt: skip
TRANSITIONS: Iterable[Row] = (
    *bodies(
        "PUT /transitions/replay_job", 422,
        ({"progression": "fast"}, "progression", ""),
        ({"seconds": -0.1}, "seconds", ""),
        ({"seconds": 1e9 + 1}, "seconds", ""),
        ({"seconds": "2"}, "seconds", ""),
        ({"polls": 0}, "polls", ""),
        ({"polls": 1.5}, "polls", ""),
        ({"pols": 1}, "pols", ""),
    ),
    ("PUT /transitions/media_x", {}, 404, [], "Kinds: "),
    ("POST /transitions/replay_jb/1", {"to": "COMPLETE"}, 404, [], "Did you mean 'replay_job'?"),
    ("POST /transitions/replay_job/2", {"to": "COMPLETE"}, 404, [],
     "replay_jobs has no record '2'"),
    ("POST /transitions/replay_job/1", {"to": "DONE"}, 422, ["to"],
     "IN_PROGRESS, COMPLETE, INCOMPLETE"),
)  # fmt: skip
WEBHOOKS: Iterable[Row] = (
    *(
        ("POST /events",
         {"webhook_id": WEBHOOK, "event_type": "post.create", "payload": {"id": "1"}} | change,
         422, [field], "The event was not added")
        for change, field in (
            ({"webhook_id": "2"}, "webhook_id"),
            ({"webhook_id": None}, "webhook_id"),
            ({"event_type": "post.crate"}, "event_type"),
            ({"payload": []}, "payload"),
            ({"created_at": "soon"}, "created_at"),
            ({"created_at": "2027-06-11T00:00:00Z"}, "created_at"),
            ({"evnt": 1}, "evnt"),
        )
    ),
    ("POST /events", [], 422, [], "An event must be a JSON object, got list"),
    ("POST /events", 1, 422, [], "An event must be a JSON object, got int"),
    *requests(400, "", "GET /deliveries?wait=61", "GET /deliveries?wait=-1", field="wait"),
    *requests(400, "Did you mean 'job_id'?", "GET /deliveries?job=1", field="job"),
    *requests(404, f"there is no webhook {WEBHOOK[:-1]}. Did you mean",
              f"POST /webhooks/{WEBHOOK[:-1]}/validate"),
)  # fmt: skip
RULES: Iterable[Row] = (
    *bodies(
        "POST /rules/explain", 422,
        ({"post": POST}, "rule", ""),
        ({"rule": "cat"}, "post", "exactly one of post and post_id is required"),
        ({"rule": "cat", "post": POST, "post_id": STORED}, "post", "exactly one of"),
        ({"rule": "cat", "post": POST, "product": "firehose"}, "product", ""),
    ),
    ("POST /rules/explain", {"rule": "cat", "post_id": f"{STORED}9"}, 404, [],
     f"No post has the id '{STORED}9'. Did you mean '{STORED}'?"),
    *(
        ("POST /rules/explain", {"rule": "cat #x", "post": post}, 422, [],
         "The post is not an object of the v2 interface")
        for post in (
            {"id": "1", "text": 5},
            {"id": "1", "text": "x", "entities": {"hashtags": [{}]}},
            {"text": "x", "referenced_posts": ["2"]},
            {"id": "1", "text": "x", "referenced_posts": 7},
        )
    ),
)  # fmt: skip
WORLDS: Iterable[Row] = (
    *bodies(
        "PUT /worlds/w1", 422,
        *(({"freeze": each}, "freeze", "freeze")
          for each in ("0001-01-01T00:00:00Z", "soon", 5, "9999-12-31T23:59:59Z")),
        ({"seed": 1.5}, "seed", ""),
        ({"seed": True}, "seed", ""),
    ),
    ("PUT /worlds/w1", {"from": "w0"}, 422, [], "There is no world 'w0'"),
    *bodies(
        "PUT /worlds/w1", 422,
        ({"wire": "recorded,limit=cod"}, "wire",
         "limit is code or problem, not 'cod'. Did you mean 'code'?"),
        ({"wire": "recoded"}, "wire", "Did you mean 'recorded'?"),
        ({"wire": 7}, "wire", "wire"),
        ({"warnings": "fatal"}, "warnings", ""),
    ),
    *requests(400, "1 to 64 letters", *(f"PUT /worlds/{name}" for name in
                                        ("-w", "w!", "w" * 65, "~"))),
    *requests(409, "POST /_mock/reset", "DELETE /worlds/default"),
    *requests(404, "There is no world 'w1'", "DELETE /worlds/w1"),
)  # fmt: skip
MAKING: Iterable[Row] = bodies(
    "PUT /make", 422,
    ({"table": "user"}, "table", "Did you mean 'users'?"),
    ({"table": "users", "count": 0}, "count", "a whole number from 1 to 100,000, got 0"),
    ({"table": "users", "count": 100_001}, "count", "got 100001; for more, call again"),
    ({"table": "users", "count": "5"}, "count", "got '5'"),
    ({"table": "users", "count": True}, "count", "got True"),
    ({"table": "users", "seed": "x"}, "seed", "for seed"),
    ({"table": "users", "fields": [1]}, "fields", "for fields"),
    ({"table": "users", "sed": 1}, "sed", "Did you mean 'seed'?"),
    ({}, "table", "table"),
)  # fmt: skip
STREAMS: Iterable[Row] = bodies(
    "POST /streams/all/disconnect", 422, ({"disconnect_type": "Bye"}, "disconnect_type", ""),
)  # fmt: skip
ANY_ROUTE: Iterable[Row] = (
    # A path that resembles no route leads to the console.
    *requests(404, "GET /_mock/docs/ lists all routes", f"GET /{'x' * 500}"),
    # Silently ignored, a filter would match all.
    *requests(400, '"operation" is unknown here. Allowed: none.',
              "DELETE /requests?operation=oauth2.token", field="operation"),
    ("PUT /worlds/w1", {"form": "default"}, 422, ["form"],
     "\"form\" is unknown here. Did you mean 'from'? Allowed: from, seed"),
    ("POST /reset", {"world": "w1"}, 422, ["world"], ""), ("POST /reset", [], 422, [], ""),
)  # fmt: skip
CREDENTIALS: Iterable[Row] = [
    ("POST /credentials/regenerate", body, status, [], told)
    for body, status, told in (
        ({"app": "1182"}, 404, "the id or consumer key '1182'. Did you mean '11827'?"),
        ({"user": "harbour_roasters"}, 404, "Did you mean 'harbor_roasters'?"),
        ({"usr": "1"}, 422,
         "\"usr\" is unknown here. Did you mean 'user'? Allowed: kind, scopes, app, user."),
        ({"user": 7}, 422, "user"),
        ({"kind": "oauth"}, 422, "oauth1"),
        ({"kind": "oauth2", "scopes": ["post.reed"]}, 422, "Did you mean 'post.read'?"),
        ({"scopes": ["post.read"]}, 422, 'send "kind": "oauth2" with them'),
        ([], 422, "the body must be a JSON object"),
    )
]  # fmt: skip
ROWS = [
    *CLOCK, *JOURNAL, *SCENARIOS, *STATE, *SNAPSHOTS, *TRANSITIONS, *WEBHOOKS, *RULES, *WORLDS,
    *MAKING, *STREAMS, *CREDENTIALS, *ANY_ROUTE,
]  # fmt: skip


@pytest.fixture(scope="module")
def prepared() -> tuple[Sandbox, list[object]]:
    """A sandbox whose clock is frozen, with a scenario, a snapshot and a replay job under way."""
    box = sandbox(auth="off", freeze=datetime(2026, 6, 10, tzinfo=UTC))
    assert 200 == call(box, "PUT", "/scenarios/refused", json=SCENARIO).status_code
    assert 200 == call(box, "PUT", "/snapshots/before").status_code
    with box.world.work():
        job = {"id": "1", "webhook_id": "1", "state": "IN_PROGRESS", "_app_id": "11827"}
        box.world.store.put("replay_jobs", "1", job)
        box.world.transitions.begin("replay_job", "1")
    return box, look(box)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1] or ''}"[:80])
def test_a_refusal_says_what_to_do_and_changes_nothing(
    prepared: tuple[Sandbox, list[object]], row: Row
) -> None:
    """Each has its status, the fields that are wrong, and a detail that helps."""
    (box, before), (request, body, status, wrong, told) = prepared, row
    method, path = request.split(" ")
    sent: dict[str, Any] = {}
    if path.startswith("/scenarios") and isinstance(body, str):
        sent = {"data": body, "headers": {"Content-Type": "application/yaml"}}
    elif body is not None or path.startswith("/state/users"):
        sent = {"data": json.dumps(body), "headers": {"Content-Type": "application/json"}}

    answer = call(box, method, path, **sent)

    text = detail(answer, status)
    assert all(part in text for part in told.split("…"))
    assert wrong == sorted(fields(answer) if wrong else [])
    assert before == look(box)


def test_a_body_that_repeats_a_key_is_refused(prepared: tuple[Sandbox, list[object]]) -> None:
    """Of two values none is dropped in silence."""
    box, before = prepared
    sent = '{"action":"advance","seconds":1,"seconds":2}'

    answer = call(box, "PUT", "/clock", data=sent, headers={"Content-Type": "application/json"})

    assert "'seconds' occurs more than once" in detail(answer, 422)
    assert (["seconds"], before) == (fields(answer), look(box))


MANY = {f"k{number}": number for number in range(15_000)}


@pytest.mark.parametrize(("method", "path", "body"), [
    ("PUT", "/transitions/audience", MANY),
    ("PUT", "/state/users/1", {"id": "1", **MANY}),
    ("PATCH", "/state/users/2244994945", MANY),
    ("PUT", "/state", {"tables": MANY}),
    ("PUT", "/state", {"tables": {"users": [{"id": f"x{n}", "nme": 1} for n in range(5_000)]}}),
    ("PUT", "/make", {"table": "users", "fields": MANY}),
    ("PUT", "/scenarios/x", {"rules": [{"on": f"nope{number}"} for number in range(5_000)]}),
    ("PUT", "/scenarios/x", {"rules": [], **MANY}),
    ("POST", "/scenarios/outage/activate", {"parameters": MANY}),
    ("POST", "/events", {"event_type": "like.create", **MANY}),
    ("POST", "/rules/explain", {"rule": "a", "post": MANY}),
])  # fmt: skip
def test_not_more_than_a_hundred_faults(method: str, path: str, body: Any) -> None:
    """However many faults a body has, the answer and the time it takes stay small."""
    began = thread_time()
    answer = sandbox().call(method, f"/_mock{path}", keys=None, json=body)

    assert thread_time() - began < 10
    assert len(answer.get_data()) < 1024 * 1024
    assert 3 * 102 > answer.get_data(as_text=True).count('"message"')
