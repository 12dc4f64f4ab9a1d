from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api import served as operations
from mock_platform.core.errors import BadParameters, BadScenario
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import loads
from tests.scenario.support import LINE_ITEMS, arm, define, engine, last, replay
from tests.support import Sandbox

ON = {"on": "line_items.list"}


def ask(box: Sandbox, **headers: str) -> Any:
    """A request with headers of its own."""
    return box.call("GET", LINE_ITEMS, headers=headers)


@pytest.mark.parametrize(("prefer", "status", "code"), [
    ("code=404", 404, "NOT_FOUND"),
    ('code="404"', 404, "NOT_FOUND"),
    ("respond-async, code=503", 503, "SERVICE_UNAVAILABLE"),
    ("Code=418", 418, "INVALID_PARAMETER"),
    ("code=405", 405, "METHOD_NOT_ALLOWED"),
    ("code=408", 408, "CANCELLED_REQUEST"),
    ("code=423", 423, "LOCK_ACQUISITION_TIMEOUT"),
    ("code=599", 599, "INTERNAL_ERROR"),
    ("code=89", 401, 89),
    ("code=LINE_ITEM_NOT_FOUND", 404, "LINE_ITEM_NOT_FOUND"),
])  # fmt: skip
def test_prefer_a_code(box: Sandbox, prefer: str, status: int, code: Any) -> None:
    """A status, a numeric or a named code answers this request, and only this one."""
    answer = ask(box, Prefer=prefer)

    assert (status, code) == (answer.status_code, answer.get_json()["errors"][0]["code"])
    assert "prefer/0" == answer.headers["X-Mock-Rule"]
    assert {"scenario": "prefer", "rule": 0, "call": 1} == last(box).rule
    assert 200 == ask(box).status_code


def test_prefer_429(box: Sandbox) -> None:
    """It is that of a limit that is used up: its text, and headers that say when it resets."""
    answer = ask(box, Prefer="code=429")

    assert (429, "Rate limit exceeded") == (
        answer.status_code, answer.get_json()["errors"][0]["message"],
    )  # fmt: skip
    assert "0" == answer.headers["x-rate-limit-remaining"]
    assert int(answer.headers["x-rate-limit-reset"]) > box.world.clock.now().timestamp()


@pytest.mark.parametrize(("prefer", "status", "slug"), [
    ("problem=usage-capped", 429, "/2/problems/usage-capped"),
    ("problem=about-blank", 500, "about:blank"),
    ("code=409", 409, "/2/problems/conflict"),
    ("code=404", 404, "/2/problems/resource-not-found"),
    ("code=504", 504, "about:blank"),
])  # fmt: skip
def test_prefer_a_problem(box: Sandbox, prefer: str, status: int, slug: str) -> None:
    """A slug, or the problem that an operation documents for a status."""
    answer = replay(box, Prefer=prefer)

    assert (status, status) == (answer.status_code, answer.get_json()["status"])
    assert answer.get_json()["type"].endswith(slug)
    assert 200 == replay(box).status_code


def test_prefer_on_oauth(box: Sandbox) -> None:
    """The numeric code that has the status, the documented one first."""
    answer = box.call(
        "POST", "/oauth2/token", keys=None, headers={
            "Prefer": "code=403", "Authorization": "Basic aGJyRGVza0tleTd1RTJxWG4wWnQ0V2M5OmhickRlc"
            "2tTZWNyZXQ1bVZkODFKcFFrTDNzWXg2UmdUYTJOZkIwb0N3VWlFejk=",
        }, form={"grant_type": "client_credentials"},
    )  # fmt: skip

    assert (403, 99) == (answer.status_code, answer.get_json()["errors"][0]["code"])


@pytest.mark.parametrize(
    ("prefer", "ignored"),
    [
        ("respond-async", []),
        ("return=minimal, wait=10", []),
        ("code", ["code"]),
        ("xcode=404", ["xcode=404"]),
        ("status=404; handling=lenient", ["status=404"]),
    ],
)
def test_other_preferences(box: Sandbox, prefer: str, ignored: list[str]) -> None:
    """Others are ignored, as the standard says; those that no standard has with a warning."""
    answer = ask(box, Prefer=prefer)

    assert 200 == answer.status_code
    assert ("unknown-preference" if ignored else None) == answer.headers.get("X-Mock-Warnings")
    usage = "one failure is asked for as code=404, code=OVER_CAPACITY or problem=usage-capped"
    assert [f"Prefer: {part!r} was ignored; {usage}" for part in ignored] == last(box).warnings


def test_one_failure_is_preferred(box: Sandbox) -> None:
    """The first one counts, and the next one is a warning."""
    answer = ask(box, Prefer="code=404, code=503")

    assert 404 == answer.status_code
    assert "unknown-preference" == answer.headers["X-Mock-Warnings"]


@pytest.mark.parametrize(("headers", "expected"), [
    ({"Prefer": "code=200"}, "neither a status from 400 to 599 nor a numeric code"),
    ({"Prefer": "code=399"}, "neither a status"),
    ({"Prefer": "code=600"}, "neither a status"),
    ({"Prefer": "code=LINE_ITEM_NOT_FOUMD"}, "Did you mean 'LINE_ITEM_NOT_FOUND'?"),
    ({"Prefer": "problem=usage-caped"}, "Did you mean 'usage-capped'?"),
    ({"X-Mock-Scenario": "nowhere"}, "There is no scenario 'nowhere'"),
])  # fmt: skip
def test_bad_switches(box: Sandbox, headers: dict[str, str], expected: str) -> None:
    """What cannot be asked for is refused, with what can."""
    answer = ask(box, **headers)

    assert (400, "application/problem+json") == (answer.status_code, answer.content_type)
    assert expected in answer.get_json()["detail"]


def test_a_scenario_for_one_request(box: Sandbox) -> None:
    """Its rules start from zero with each request that asks for them, and leave nothing behind."""
    define(box, {"rules": [
        {**ON, "call": 1, "then": [{"error": 89}, {"set_state": "x"}]},
        {"on": "accounts.list", "then": {"error": 88}},
    ]})  # fmt: skip

    asked = [ask(box, **{"X-Mock-Scenario": "s"}) for _ in range(2)]

    assert [401, 401] == [answer.status_code for answer in asked]
    assert "s/0" == asked[0].headers["X-Mock-Rule"]
    assert 200 == ask(box).status_code
    described = engine(box).describe("s")
    assert (False, None, []) == (described["active"], described["state"], described["rules"])


def test_a_scenario_that_has_nothing_to_do_with_a_request(box: Sandbox) -> None:
    """It is asked for in vain, which the journal says."""
    define(box, {"rules": [{"on": ["accounts.list", "accounts.get"], "then": {"error": 88}}]})

    assert 200 == ask(box, **{"X-Mock-Scenario": "s"}).status_code
    assert [
        "The scenario 's' has no rule for line_items.list, only: accounts.list, accounts.get"
    ] == list(last(box).warnings)


def test_a_scenario_for_one_request_before_authentication(box: Sandbox) -> None:
    """Rules of that stage act even for those without credentials; others do not."""
    define(box, {"rules": [{**ON, "stage": "before_auth", "then": {"error": "OVER_CAPACITY"}}]})
    define(box, {"name": "late", "rules": [{**ON, "then": {"error": 88}}]})

    found = [
        box.call("GET", LINE_ITEMS, keys=None, headers={"X-Mock-Scenario": name}).status_code
        for name in ("s", "late")
    ]

    assert [503, 401] == found


def test_one_request_beside_active_rules(box: Sandbox) -> None:
    """What a request asks for comes before what is active; that counts all the same."""
    arm(box, {**ON, "then": {"error": 89}})

    assert 404 == ask(box, Prefer="code=404").status_code
    assert 1 == engine(box).describe("s")["rules"][0]["matched"]


CATALOG = Catalog.collect(operations.OPERATIONS)


def faults(on: str, when: str) -> list[tuple[str, str]]:
    """Field and text of what the loader complains of."""
    text = f"name: a\nrules:\n  - on: {on}\n    when: {when}\n    then: {{error: 89}}\n"
    try:
        loads(text, CATALOG)
    except BadScenario as fault:
        return [(each.field, each.text) for each in fault.complaints]
    return []


@pytest.mark.parametrize(("on", "when", "field", "text"), [
    ("line_items.get", "{path: {line_itm_id: x}}", "path.line_itm_id",
     "line_items.get has no path parameter 'line_itm_id'. Did you mean 'line_item_id'? "
     "Known: account_id, line_item_id."),
    ("line_items.list", "{path: {line_item_id: x}}", "path.line_item_id",
     "line_items.list has no path parameter 'line_item_id'. Known: account_id."),
    ("accounts.list", "{path: {id: x}}", "path.id",
     "accounts.list has no path parameter 'id'. Known: none."),
    ("[line_items.list, accounts.get]", "{path: {acount_id: x}}", "path.acount_id",
     "none of these operations has a path parameter 'acount_id'. Did you mean 'account_id'? "
     "Known: account_id."),
    ('"*"', "{path: {line_itm_id: x}}", "path.line_itm_id",
     "no operation has a path parameter 'line_itm_id'. Did you mean 'line_item_id'?"),
    ("GET /2/shops/:list_id", "{path: {id: x}}", "path.id",
     "GET /2/shops/:list_id has no path parameter 'id'. Known: list_id."),
    ("/2/users/:user_id/lists", "{path: {key: x}}", "path.key",
     "/2/users/:user_id/lists has no path parameter 'key'. Known: user_id, id."),
    ("line_items.list", "{query: {curser: x}}", "query.curser",
     "line_items.list has no query parameter 'curser'. Did you mean 'cursor'? Known: "),
    ("cards_poll.create", "{form: {nam: x}}", "form.nam",
     "cards_poll.create has no form parameter 'nam'. Did you mean 'name'?"),
])  # fmt: skip
def test_misspelt_names(on: str, when: str, field: str, text: str) -> None:
    """A name that no request can have is a fault, with what was meant and what there is."""
    ((place, found),) = faults(on, when)

    assert f"rules[0].when.{field}" == place
    assert found.startswith(text)


@pytest.mark.parametrize(("on", "when"), [
    ("line_items.get", "{path: {line_item_id: x, account_id: y}}"),
    ("[line_items.list, line_items.get]", "{path: {line_item_id: x}}"),
    ('"*"', "{path: {line_item_id: x}, query: {cursor: x}}"),
    ("GET /2/shops/:id", "{path: {id: x}, query: {curser: x}}"),
    ("/2/shops", "{path: {id: x}}"),
    ("line_items.list", "{query: {cursor: x, oauth_nonce: y}}"),
    ("line_items.list", "{query: {fail-please: x}}"),
    ("cards_poll.create", "{form: {name: x}}"),
    ("webhooks.replay", "{json: {webhook_id: x}}"),
])  # fmt: skip
def test_names_that_may_be(on: str, when: str) -> None:
    """Real names pass, and so do names of one's own that look like no other."""
    assert [] == faults(on, when)


def test_a_list_from_elsewhere_has_no_parameters() -> None:
    """Of a server elsewhere the paths are known; it checks the rest itself."""
    listed = [
        {"id": op.id, "method": op.method, "path": op.path, "sandbox_only": op.sandbox_only}
        for op in operations.OPERATIONS
    ]
    catalog = Catalog.read(listed)

    loads("name: a\nrules: [{on: line_items.list, when: {query: {curser: x}}, "
          "then: {error: 89}}]", catalog)  # fmt: skip
    with pytest.raises(BadScenario, match="has no path parameter 'x'"):
        loads(
            "name: a\nrules: [{on: line_items.list, when: {path: {x: 1}}, then: {error: 89}}]",
            catalog,
        )


def test_an_operation_that_a_parameter_names() -> None:
    """The names are checked for the operation that an activation chooses."""
    scenario = loads(
        "name: a\nparameters: {on: line_items.get}\nrules:\n- on: $on\n"
        "  when: {path: {line_item_id: x}}\n  then: {error: 89}\n", CATALOG,
    )  # fmt: skip

    with pytest.raises(BadParameters, match=r"line_items\.list has no path parameter"):
        scenario.bind({"on": "line_items.list"})


def test_copies_and_snapshots_have_no_scenarios(box: Sandbox) -> None:
    """A copy starts without them; where they are on they stay so when a snapshot is restored."""
    arm(box, {**ON, "times": 3, "then": {"error": "OVER_CAPACITY"}})
    copy = box.platform.worlds.create("copy", source="default")
    before = box.world.save()
    assert 503 == ask(box).status_code
    box.world.load(before)

    assert [] == find_engine(copy).describe_active()
    ((shown,),) = (each["rules"] for each in engine(box).describe_active())
    assert (1, 2) == (shown["fired"], shown["remaining"])
