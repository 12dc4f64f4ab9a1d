from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import Any

import pytest

from mock_platform.core.call import Sending
from mock_platform.core.errors import BadParameters
from mock_platform.scenario.effects import KINDS
from tests.scenario import support
from tests.scenario.support import LINE_ITEMS, arm, engine, handle, last, replay
from tests.support import ACCOUNT, NORTHBIKE, Sandbox, sandbox
from tests.support_streams import StreamClient

ITEM = f"{LINE_ITEMS}/itttx"
AUDIENCE = f"/12/accounts/{ACCOUNT}/custom_audiences/1nmth/users"
PRODUCTS = "/12/product_catalogs/1547080787865939968/products"


# -- problem -------------------------------------------------------------------------------------


def test_live_fields(box: Sandbox) -> None:
    """Missing values come from the request; set ones stay."""
    arm(box, {"on": "webhooks.replay", "then": {
        "problem": "resource-not-found", "detail": "gone", "title": "T", "status": 410,
        "resource_type": "poll",
    }})  # fmt: skip

    answer = replay(box)

    assert 410 == answer.status_code
    assert {
        "type": "http://localhost/2/problems/resource-not-found", "title": "T", "detail": "gone",
        "status": 410, "parameter": "webhook_id", "value": "1146654567674912769",
        "resource_id": "1146654567674912769", "resource_type": "poll",
    } == answer.get_json()  # fmt: skip


# -- error ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("error", "status", "body"), [
    (89, 401, {"errors": [{"code": 89, "message": "Invalid or expired token."}]}),
    ({"code": 4711, "message": "m", "status": 418}, 418,
     {"errors": [{"code": 4711, "message": "m"}]}),
    ("LINE_ITEM_NOT_FOUND", 404,
     {"errors": [{"code": "LINE_ITEM_NOT_FOUND", "message": "Line item not found"}],
      "request": {"params": {"account_id": ACCOUNT}}}),
    ({"code": "ODD", "message": "m", "parameter": "p"}, 400,
     {"errors": [{"code": "ODD", "message": "m", "parameter": "p"}],
      "request": {"params": {"account_id": ACCOUNT}}}),
])  # fmt: skip
def test_errors_of_the_advertising_interface(
    box: Sandbox, error: Any, status: int, body: Any
) -> None:
    """Numeric and named codes have the status of their table, unless one is set."""
    arm(box, {"on": "line_items.list", "then": {"error": error}})

    answer = box.call("GET", LINE_ITEMS)

    assert (status, body) == (answer.status_code, answer.get_json())


@pytest.mark.spec("A, Error object (media type application/json)", "code: integer (int32)")
@pytest.mark.spec("A, Error object (media type application/json)", "message: string")
@pytest.mark.spec("A, Errors", "Replay request")
def test_errors_under_2(box: Sandbox) -> None:
    """Under /2 a numeric code is the flat error object, a named one a problem of its status."""
    arm(box, {"on": "webhooks.replay", "call": 1, "then": {"error": 88}},
        {"on": "webhooks.replay", "then": {"error": "SERVICE_UNAVAILABLE"}})  # fmt: skip

    numeric, named = replay(box), replay(box)

    assert (429, {"code": 88, "message": "Rate limit exceeded"}) == (
        numeric.status_code, numeric.get_json(),
    )  # fmt: skip
    assert "application/json; charset=utf-8" == numeric.content_type
    assert (503, "Service unavailable") == (named.status_code, named.get_json()["detail"])


@pytest.mark.parametrize("code", [-(2**31), 2**31 - 1])
def test_codes_reach_from_one_end_of_int32_to_the_other(box: Sandbox, code: int) -> None:
    """`error.code` may be any int32, as in the error object of document A."""
    error = {"code": code, "message": "m", "status": 400}
    arm(box, {"on": "webhooks.replay", "then": {"error": error}})

    assert {"code": code, "message": "m"} == replay(box).get_json()


def test_named_errors_of_oauth(box: Sandbox) -> None:
    """On the OAuth addresses a named code becomes the numeric one of its status."""
    arm(box, {"stage": "before_auth", "then": {"error": "OVER_CAPACITY"}})

    answer = box.call("POST", "/oauth/request_token", keys=None)

    assert (503, 130) == (answer.status_code, answer.get_json()["errors"][0]["code"])


# -- respond, patch ------------------------------------------------------------------------------


@pytest.mark.parametrize(("respond", "status", "kind", "data"), [
    ({"json": {"a": 1}}, 200, "application/json; charset=utf-8", b'{"a":1}'),
    ({"status": 502, "text": "<html>"}, 502, "text/plain; charset=utf-8", b"<html>"),
    ({"status": 502, "text": "<html>", "headers": {"content-type": "text/html"}}, 502,
     "text/html", b"<html>"),
    ({"status": 204}, 204, None, b""),
    ({"status": 204, "text": "a"}, 204, "text/plain; charset=utf-8", b""),
    ({"status": 304, "json": {"a": 1}}, 304, "application/json; charset=utf-8", b""),
])  # fmt: skip
def test_respond(box: Sandbox, respond: Any, status: int, kind: str | None, data: bytes) -> None:
    """An answer of one's own, with the media type of its body unless another is set."""
    arm(box, {"on": "line_items.list", "then": {"respond": respond}})

    answer = box.call("GET", LINE_ITEMS)

    assert (status, kind, data) == (answer.status_code, answer.content_type, answer.data)
    assert {"how": "complete", "bytes": len(data)} == last(box).ended


def test_a_slow_body_that_is_empty(box: Sandbox) -> None:
    """Where there is no body, the reason does not say that it was slow."""
    slow = {"delay": {"slow_body": 0.001}}
    arm(box, {"on": "line_items.list", "then": [{"respond": {"status": 204}}, slow]})

    box.call("GET", LINE_ITEMS)

    assert "Rule 0 of scenario s acted." == last(box).why


def test_patch(box: Sandbox) -> None:
    """Patches act on the true answer in order: fields are set, replaced and removed."""
    true = box.call("GET", ITEM).get_json()
    arm(box, {"on": "line_items.get", "then": [
        {"patch": {"data": {"name": "first", "goal": None}}}, {"patch": {"data": {"name": "2"}}},
    ]})  # fmt: skip

    body = box.call("GET", ITEM).get_json()

    del true["data"]["goal"]
    assert {**true, "data": {**true["data"], "name": "2"}} == body


def test_patch_of_no_json(box: Sandbox) -> None:
    """Where the answer is no JSON, it stays, and the journal warns."""
    arm(box, {"on": "oauth.authorize", "then": {"patch": {"a": 1}}})

    answer = box.call("GET", "/oauth/authorize?oauth_token=x", keys=None)

    assert answer.content_type.startswith("text/html")
    assert ["the scenario's patch had no JSON answer to act on"] == list(last(box).warnings)


# -- delay, fault --------------------------------------------------------------------------------


@pytest.mark.parametrize(("effects", "sending"), [
    ({"delay": 1.5}, Sending(delay=1.5)),
    ({"delay": {"seconds": 2, "slow_body": 3}}, Sending(delay=2, slow_body=3)),
    ([{"delay": 1}, {"fault": "timeout"}, {"delay": 2}], Sending(3, 0, "timeout")),
    ([{"error": 89}, {"fault": "truncate"}], Sending(fault="truncate")),
])  # fmt: skip
def test_sending(effects: Any, sending: Sending) -> None:
    """Delays add up; the edge gets how an answer is sent."""
    box = sandbox(auth="off")
    arm(box, {"on": "line_items.list", "then": effects})

    assert sending == handle(box).sending


def test_drawn_delays() -> None:
    """A delay between bounds depends on the seed, the rule and the number of the call alone."""
    drawn = []
    for seed in (1, 1, 2):
        box = sandbox(auth="off", seed=seed)
        arm(box, {"on": "line_items.list", "then": {"delay": {"between": [3, 1]}}})
        replies = [handle(box) for _ in range(5)]
        drawn.append([reply.sending.delay for reply in replies if reply.sending is not None])

    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert 5 == len(set(drawn[0]))
    assert all(1 <= delay < 3 for delay in drawn[0])


@pytest.mark.parametrize(("stage", "deleted"), [("before_commit", False), ("after_commit", True)])
def test_commit(stage: str, deleted: bool) -> None:
    """A fault before the commit keeps nothing of the handler, one after it everything."""
    box = sandbox(auth="off")
    arm(box, {"on": "line_items.delete", "then": {"fault": "reset", "stage": stage}})

    reply = handle(box, ITEM, "DELETE")

    assert (200, Sending(fault="reset", is_committed=deleted)) == (reply.status, reply.sending)
    assert deleted == box.record("line_items", "itttx")["deleted"]
    assert deleted == bool(last(box).changes)


# -- rate limit ----------------------------------------------------------------------------------


def test_rate_limit(box: Sandbox) -> None:
    """So many calls per caller and window; headers on each answer; then 429 until it ends."""
    box.world.clock.freeze()
    arm(box, {"on": ["line_items.list", "accounts.list"],
              "then": {"rate_limit": {"limit": 2, "window": 60}}})  # fmt: skip

    answers = [box.call("GET", LINE_ITEMS) for _ in range(3)]
    other = box.call("GET", "/12/accounts", keys=NORTHBIKE)
    box.world.clock.advance(60)
    later = box.call("GET", LINE_ITEMS)

    assert [200, 200, 429] == [answer.status_code for answer in answers]
    assert [("2", "1"), ("2", "0"), ("2", "0")] == [
        (a.headers["x-rate-limit-limit"], a.headers["x-rate-limit-remaining"]) for a in answers
    ]
    assert "TOO_MANY_REQUESTS" == answers[2].get_json()["errors"][0]["code"]
    assert (200, "1") == (other.status_code, other.headers["x-rate-limit-remaining"])
    assert (200, "1") == (later.status_code, later.headers["x-rate-limit-remaining"])


def test_a_used_up_rate_limit(box: Sandbox) -> None:
    """Without a limit, the first window of each caller is used up, and then there is no limit."""
    box.world.clock.freeze()
    arm(box, {"on": ["line_items.list", "accounts.list"], "then": {"rate_limit": {"window": 60}}})

    first = box.call("GET", LINE_ITEMS)
    box.world.clock.advance(59)
    second, other = box.call("GET", LINE_ITEMS), box.call("GET", "/12/accounts", keys=NORTHBIKE)
    box.world.clock.advance(1)
    later = [box.call("GET", LINE_ITEMS) for _ in range(3)]

    assert [429, 429, 429] == [each.status_code for each in (first, second, other)]
    assert [200] * 3 == [each.status_code for each in later]
    told = [first.headers[f"x-rate-limit-{each}"] for each in ("limit", "remaining", "reset")]
    assert ["1", "0", second.headers["x-rate-limit-reset"]] == told
    assert "x-rate-limit-limit" not in later[0].headers
    assert "X-Mock-Rule" not in later[0].headers
    assert "the first window is over" in later[0].headers["X-Mock-Why"]
    assert 429 == box.call("GET", "/12/accounts", keys=NORTHBIKE).status_code


def test_a_used_up_rate_limit_for_one_request(box: Sandbox) -> None:
    """A header asks for it, and gets it each time, also when an earlier window is over."""
    support.define(box, {"rules": [
        {"on": "line_items.list", "then": {"rate_limit": {"window": 60}}},
    ]})  # fmt: skip
    statuses = []
    for _ in range(2):
        answer = box.call("GET", LINE_ITEMS, headers={"X-Mock-Scenario": "s"})
        statuses.append(answer.status_code)
        box.world.clock.advance(61)

    assert [429, 429] == statuses


def test_a_used_up_limit_shows_the_number_of_the_operation(box: Sandbox) -> None:
    """Where the operation has a limit of its own, the headers have its number."""
    arm(box, {"on": "custom_audiences.users", "then": {"rate_limit": {"window": 60}}})

    answer = box.call(
        "POST", AUDIENCE, data=batch("a@example.com"), content_type="application/json"
    )

    assert (429, "1500", "0") == (
        answer.status_code, answer.headers["x-rate-limit-limit"],
        answer.headers["x-rate-limit-remaining"],
    )  # fmt: skip


@pytest.mark.parametrize("how", ["again", "off and on", "defined again"])
def test_each_activation_has_new_windows(box: Sandbox, how: str) -> None:
    """Switched on again, a limit counts from zero, and its window begins at the next call."""
    box.world.clock.freeze()
    limit = {"on": "line_items.list", "then": {"rate_limit": {"limit": 1, "window": 60}}}
    arm(box, limit)
    statuses = [box.call("GET", LINE_ITEMS).status_code for _ in range(2)]
    box.world.clock.advance(50)
    if how == "off and on":
        engine(box).deactivate("s")
        assert not box.world.windows.list_ends()
        engine(box).activate("s")
    elif how == "again":
        engine(box).activate("s")
    else:
        support.define(box, {"rules": [limit]})
    again = box.call("GET", LINE_ITEMS)

    assert [200, 429, 200] == [*statuses, again.status_code]
    ends = box.world.clock.now().timestamp() + 60
    assert str(math.ceil(ends)) == again.headers["x-rate-limit-reset"]


def test_other_scenarios_keep_their_windows(box: Sandbox) -> None:
    """A switch of one scenario, even one that fails, leaves what others counted."""
    box.world.clock.freeze()
    arm(box, {"on": "line_items.list", "then": {"rate_limit": {"limit": 1, "window": 60}}})
    box.call("GET", LINE_ITEMS)
    engine(box).activate("outage", {"on": "accounts.list"})
    with pytest.raises(BadParameters):
        engine(box).activate("s", {"limit": 5})

    assert 429 == box.call("GET", LINE_ITEMS).status_code


@pytest.mark.parametrize(("answer", "status", "text"), [
    ({"respond": {"status": 202, "text": "later"}}, 202, "later"),
    ({"error": "NOT_FOUND"}, 404, "NOT_FOUND"),
    ({"problem": "conflict"}, 409, "conflict"),
])  # fmt: skip
@pytest.mark.parametrize("limit_first", [True, False])
def test_rate_limit_before_an_answer(
    box: Sandbox, answer: dict[str, Any], status: int, text: str, *, limit_first: bool
) -> None:
    """With an answer, in either order, it is sent until the window is used up."""
    box.world.clock.freeze()
    effects = [{"rate_limit": {"limit": 1, "window": 60}}, answer]
    arm(box, {"on": "line_items.list", "then": effects if limit_first else effects[::-1]})

    first, second = box.call("GET", LINE_ITEMS), box.call("GET", LINE_ITEMS)

    assert (status, 429) == (first.status_code, second.status_code)
    assert text in first.text
    for answered in (first, second):
        assert ["1"] == answered.headers.getlist("x-rate-limit-limit")
        assert ["0"] == answered.headers.getlist("x-rate-limit-remaining")


# -- items ---------------------------------------------------------------------------------------


def batch(*emails: str) -> str:
    """An upload of one user an operation."""
    return json.dumps([
        {"operation_type": "Update",
         "params": {"users": [{"email": [sha256(email.encode()).hexdigest()]}]}}
        for email in emails
    ])  # fmt: skip


def test_items_of_a_batch(box: Sandbox) -> None:
    """The named items have errors, the others an empty list, and nothing is kept."""
    arm(box, {"on": "custom_audiences.users", "then": {"items": {
        "1": {"code": "INVALID_PARAMETER", "message": "no", "parameter": "email"}, "9": "NOT_FOUND",
    }}})  # fmt: skip
    before = box.world.store.count("audience_users")

    answer = box.call("POST", AUDIENCE, data=batch("a", "b"), content_type="application/json")

    assert 400 == answer.status_code
    assert [
        [],
        [{"code": "INVALID_PARAMETER", "message": "no", "parameter": "email"}],
    ] == answer.get_json()["operation_errors"]
    assert before == box.world.store.count("audience_users")


def test_items_beyond_the_batch(box: Sandbox) -> None:
    """Where the request has none of the items, it is answered as usual, with a warning."""
    arm(box, {"on": "custom_audiences.users", "then": {"items": {"2": "NOT_FOUND"}}})

    answer = box.call("POST", AUDIENCE, data=batch("a", "b"), content_type="application/json")

    assert 200 == answer.status_code
    assert ["the scenario refuses items, but the request has 2 of them"] == list(last(box).warnings)


def test_items_of_products(box: Sandbox) -> None:
    """Products are judged one by one: the named one is an ERROR, the others are accepted."""
    refusal = {"items": {"0": "INVALID_IMAGE"}}
    arm(box, {"on": "product_catalogs.products.upsert", "then": refusal})
    record = box.record("products", "1547080787865940007")
    sound = {key: record[key] for key in record if key not in {"product_key", "_catalog_id"}}
    products = [{**sound, "id": "N1"}, {**sound, "id": "N2"}]

    answer = box.call("PUT", PRODUCTS, json={"products": products})
    first, second = answer.get_json()["data"]["products_response"]
    stored = box.world.store.page("products")

    assert {"warnings": [], "errors": ["Invalid image"], "product_key": None, "id": "N1",
            "status": "ERROR"} == first  # fmt: skip
    assert ("N2", []) == (second["id"], second["errors"])
    assert ["N2"] == [e.record["id"] for e in stored if e.record["id"] in {"N1", "N2"}]


# -- set_state, set ------------------------------------------------------------------------------


def test_states(box: Sandbox) -> None:
    """A state that a rule sets is seen from the next request on."""
    arm(
        box,
        {"on": "line_items.list", "when": {"state": None}, "then": {"set_state": "seen"}},
        {"on": "line_items.list", "when": {"state": "seen"},
         "then": [{"set_state": "done"}, {"error": 89}]},
    )  # fmt: skip

    answers = [box.call("GET", LINE_ITEMS) for _ in range(3)]

    assert [200, 401, 200] == [answer.status_code for answer in answers]
    assert "done" == engine(box).describe("s")["state"]


def test_set_stays_where_the_request_fails(box: Sandbox) -> None:
    """Records change, come and go with the request, though the rule answers a failure."""
    arm(box, {"on": "line_items.get", "then": [
        {"set": {
            "line_items/itttx": {"name": "Changed"},
            "users/77": {"screen_name": "seven", "name": "Seven"},
            "line_items/iu0p9": None,
            "line_items/not-there": None,
        }},
        {"error": "INTERNAL_ERROR"},
    ]})  # fmt: skip

    assert 500 == box.call("GET", ITEM).status_code
    assert "Changed" == box.record("line_items", "itttx")["name"]
    assert "seven" == box.record("users", "77")["screen_name"]
    assert box.world.store.get("line_items", "iu0p9") is None
    assert {"line_items", "users"} == {change.table for change in last(box).changes}


def test_set_stays_where_the_handler_fails(box: Sandbox) -> None:
    """A true failure undoes the handler's changes, not the rule's."""
    arm(box, {"on": "line_items.delete", "then": {"set": {"line_items/iu0p9": {"name": "Kept"}}}})
    box.change("line_items", "itttx", deleted=True)

    assert 404 == box.call("DELETE", ITEM).status_code
    assert "Kept" == box.record("line_items", "iu0p9")["name"]


def test_set_is_validated(box: Sandbox) -> None:
    """What would be no record fails the request, names the scenario, and changes nothing."""
    arm(box, {"on": "line_items.get", "then": {"set": {
        "line_items/iu0p9": {"name": "Kept"}, "line_items/itttx": {"campaign_id": "nowhere"},
    }}})  # fmt: skip

    answer = box.call("GET", ITEM)

    assert 500 == answer.status_code
    assert "Scenario s, rule 0, sets line_items/itttx" in answer.get_json()["errors"][0]["message"]
    assert "Kept" != box.record("line_items", "iu0p9")["name"]


def test_every_effect_has_a_form() -> None:
    """Each kind is stored under its keyword and declares what it accepts."""
    for keyword, kind in KINDS.items():
        assert keyword == kind.keyword
        assert (kind.form is None) != (kind.by_value is None)


def define(client: StreamClient, on: str = "activity_stream.open", **disconnect: Any) -> int:
    """Activate a rule that ends streams; the status of its definition."""
    rule = {"on": on, "then": {"disconnect": disconnect}}
    put = client.desk.client.put("/_mock/scenarios/x", json={"name": "x", "rules": [rule]})
    if put.status_code < 300:
        client.desk.client.post("/_mock/scenarios/x/activate")
    return put.status_code


@pytest.mark.parametrize(("disconnect", "lines", "text"), [
    pytest.param({}, ["errors"], "UpstreamOperationalDisconnect", id="at once"),
    pytest.param({"after_seconds": 0.01}, ["errors"], "", id="after real seconds"),
    pytest.param({"after_lines": 1, "after_seconds": 300}, ["data", "errors"], "",
                 id="whichever comes first"),
    pytest.param({"line": False}, [], "", id="without a last line"),
    pytest.param({"line": {"bye": 1}}, ["bye"], '{"bye": 1}', id="a last line of one's own"),
    pytest.param({"type": "usage-capped"}, ["errors"], "/problems/usage-capped",
                 id="another problem in the last line"),
])  # fmt: skip
def test_disconnect(
    client: StreamClient, disconnect: dict[str, Any], lines: list[str], text: str
) -> None:
    """The stream ends when the effect says, with the last line that it says."""
    define(client, **disconnect)
    opened = client.open()
    if "after_lines" in disconnect:
        client.emit()
    found = opened.rest()

    assert lines == [next(iter(line)) for line in found]
    assert text in json.dumps(found)


def test_no_stream(client: StreamClient) -> None:
    """On an answer that is no stream it does nothing, and the journal says so."""
    define(client, on="webhooks.list")

    assert 200 == client.call("GET", "/2/webhooks").status_code
    entry = list(client.desk.world.journal)[-1]
    assert ["the scenario's disconnect had no stream to act on"] == list(entry.warnings)


@pytest.mark.parametrize(
    "disconnect",
    [{"type": "Bye"}, {"after_lines": -1}, {"after_seconds": -1}, {"after_seconds": 301},
     {"line": "bye"}, {"fault": "flood"}, {"after": 1}],
)  # fmt: skip
def test_refused(client: StreamClient, disconnect: dict[str, Any]) -> None:
    """What the effect does not know is refused when the document is read."""
    assert 422 == define(client, **disconnect)


def test_refused_connection_leaves_no_stream(client: StreamClient) -> None:
    """A rule that replaces the answer of an opened stream ends that stream."""
    rule = {"on": "activity_stream.open", "then": {"fault": "reset", "stage": "after_commit"}}
    client.desk.client.put("/_mock/scenarios/x", json={"name": "x", "rules": [rule]})
    client.desk.client.post("/_mock/scenarios/x/activate")

    with pytest.raises(ConnectionError):
        client.call("GET")
    assert [] == client.desk.client.get("/_mock/streams").get_json()["streams"]
    assert ["client_disconnect"] == [each["disconnect_reason"] for each in client.connections()]
