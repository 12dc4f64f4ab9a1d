from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import Map, Rule
from werkzeug.test import Client as WsgiClient

from mock_platform.control.console.serving import add_console
from mock_platform.control.late_rule import LateRule
from mock_platform.control.plane import ControlPlane
from mock_platform.control.route import ControlRequest, Route, Services
from mock_platform.control.routes import ROUTES, Answers, Extension, bind, compile_rules
from mock_platform.core.jsonio import dumps
from mock_platform.settings import Settings
from tests.control.support import call, detail
from tests.support import Sandbox, make_platform, sandbox

USER = {"id": "7", "screen_name": "seven", "name": "Seven"}


def test_unknown_path(box: Sandbox) -> None:
    """An unknown path names the nearest routes."""
    answer = call(box, "GET", "/snapshot")

    assert "GET /_mock/snapshots" in detail(answer, 404)
    assert "GET /_mock/snapshots" in answer.get_json()["nearest"]


def test_wrong_method(box: Sandbox) -> None:
    """A wrong method names the right ones."""
    answer = call(box, "PATCH", "/clock")

    assert "GET, HEAD, PUT" == answer.headers["Allow"]
    assert "allowed: GET, HEAD, PUT" in detail(answer, 405)


def test_no_options(box: Sandbox) -> None:
    """OPTIONS, which other origins' pages ask before they write, is answered nowhere."""
    assert 405 == call(box, "OPTIONS", "/clock").status_code
    assert 405 == call(box, "OPTIONS", "/docs/assets/index.css").status_code


def test_head(box: Sandbox) -> None:
    """HEAD is answered where GET is."""
    answer = call(box, "HEAD", "/health")

    assert (200, b"") == (answer.status_code, answer.data)


def test_body_where_none_is_taken(box: Sandbox) -> None:
    """A route without parameters takes an empty object; all refusals say that it takes no more."""
    assert 204 == call(box, "POST", "/reset", json={}).status_code


@pytest.mark.parametrize(
    ("method", "data", "status"),
    [
        ("GET", b'{"status": 404}', 400),
        ("DELETE", b"operation=x", 400),
        ("DELETE", b" {} ", 204),
        ("DELETE", b"", 204),
    ],
)
def test_no_method_drops_a_body_in_silence(
    box: Sandbox, method: str, data: bytes, status: int
) -> None:
    """What somebody sends to choose entries is refused: without it, all of them are deleted."""
    answer = call(box, method, "/requests", data=data)

    assert status == answer.status_code
    if method == "GET":
        said = (
            "GET takes no body here. Parameters belong in the address. Allowed: operation, status, "
        )
        assert detail(answer).startswith(said)
    elif status == 400:
        assert "DELETE takes no body here." == detail(answer)


_FREEZE = b'{"action":"freeze"}'


@pytest.mark.parametrize(
    ("path", "content_type", "data", "status", "told"),
    [
        # A body must say that it is JSON, which no form of another page can.
        ("/clock", "text/plain", _FREEZE, 415, "Content-Type application/json"),
        ("/clock", "application/x-www-form-urlencoded", _FREEZE, 415, "application/json"),
        ("/clock", "multipart/form-data", _FREEZE, 415, "Content-Type application/json"),
        ("/clock", "", _FREEZE, 415, "Content-Type application/json"),
        ("/clock", "application/json", b'{"action":', 400, "not valid JSON"),
        ("/state/users/7", "", b"", 415, ""),
    ],
)
def test_what_is_no_json_is_refused(
    box: Sandbox, path: str, content_type: str, data: bytes, status: int, told: str
) -> None:
    """With what is taken or the place of the fault; nothing happens."""
    headers = {"Content-Type": content_type} if content_type else {}

    answer = call(box, "PUT", path, data=data, headers=headers)

    assert told in detail(answer, status)
    assert not box.world.clock.frozen


@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413)])
def test_body_limit(size: int, status: int) -> None:
    """A body may have as many bytes as a request to the platform."""
    box = sandbox(max_body=1000)
    body = dumps(USER | {"name": ""})
    body = dumps(USER | {"name": "n" * (size - len(body))})
    headers = {"Content-Type": "application/json"}

    answer = call(box, "PUT", "/state/users/7", data=body, headers=headers)

    assert size == len(body)
    assert status == answer.status_code


def test_state_limit() -> None:
    """A whole world may be larger than a request, but is not without limit."""
    box = sandbox(max_body=2000, default_fixtures=False)
    users = [USER | {"id": str(n), "name": "n" * 100} for n in range(1, 120)]

    taken = call(box, "PUT", "/state", json={"tables": {"users": users[:90]}})
    refused = call(box, "PUT", "/state", json={"tables": {"users": users}})

    assert (200, 413) == (taken.status_code, refused.status_code)
    assert "at most 16,000 bytes" in detail(refused)


@pytest.mark.parametrize(("levels", "status"), [(3, 201), (4, 400)])
def test_nesting_limit(levels: int, status: int) -> None:
    """Bodies are nested at most so deep."""
    box = sandbox(max_nesting=4)
    payload: Any = 1
    for _ in range(levels):
        payload = {"in": payload}
    webhook = {"id": "1", "url": "http://127.0.0.1:1/", "valid": False, "_app_id": "11827"}
    webhook["created_at"] = "2026-01-01T00:00:00.000Z"
    call(box, "PUT", "/state/webhooks/1", json=webhook)
    event = {"webhook_id": "1", "event_type": "post.create", "payload": payload}

    answer = call(box, "POST", "/events", json=event)

    assert status == answer.status_code, answer.get_json()


def test_world_by_prefix_and_header(box: Sandbox) -> None:
    """A route acts on the world of the path prefix, before that of the header."""
    for name, year in (("w1", 2001), ("w2", 2002)):
        world = box.platform.worlds.create(name)
        world.clock.freeze(datetime(year, 1, 1, tzinfo=UTC))
    header = {"X-Mock-World": "w2"}

    by_prefix = box.call("GET", "/~w1/_mock/clock", keys=None)
    by_header = call(box, "GET", "/clock", headers=header)
    by_both = box.call("GET", "/~w1/_mock/clock", keys=None, headers=header)
    by_none = call(box, "GET", "/clock")

    assert "2001" == by_prefix.get_json()["now"][:4]
    assert "2002" == by_header.get_json()["now"][:4]
    assert "2001" == by_both.get_json()["now"][:4]
    assert not by_none.get_json()["frozen"]


def test_a_misspelt_world_is_not_another_one(box: Sandbox) -> None:
    """A header that looks like ours and is not read is refused, before anything is done."""
    call(box, "PUT", "/clock", json={"action": "freeze"})
    answer = call(box, "POST", "/reset", headers={"X-Mock-Word": "w1"})

    told = "no header 'X-Mock-Word' is read (did you mean X-Mock-World?)."
    assert told in detail(answer, 400)
    assert box.world.clock.frozen


def test_unknown_world(box: Sandbox) -> None:
    """An unknown world says how to make it; routes that need no world do not ask for one."""
    answer = box.call("GET", "/~w1/_mock/clock", keys=None)

    assert "PUT /_mock/worlds/w1" in detail(answer, 404)
    assert 200 == box.call("GET", "/~w1/_mock/health", keys=None).status_code


def test_fault_of_the_sandbox(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the sandbox itself says so, and whoever embeds it gets it to raise."""
    monkeypatch.setattr(box.world, "reset", lambda: 1 / 0)

    answer = call(box, "POST", "/reset")

    assert "ZeroDivisionError" in detail(answer, 500)
    assert ["ZeroDivisionError"] == [type(fault).__name__ for fault in box.platform.errors]


def test_answers_are_not_kept(box: Sandbox) -> None:
    """No answer is cached, sniffed or framed."""
    for path in ("/clock", "/", "/nope"):
        headers = call(box, "GET", path).headers

        assert "no-store" == headers["Cache-Control"]
        assert "nosniff" == headers["X-Content-Type-Options"]
        assert "DENY" == headers["X-Frame-Options"]


def test_control_requests_are_not_journaled(box: Sandbox) -> None:
    """The journal holds what clients asked the platform, not what testers asked the sandbox."""
    call(box, "GET", "/clock")
    call(box, "GET", "/nope")

    assert 0 == len(box.world.journal)


def test_routes_have_names_and_words() -> None:
    """Each route has an id of its own and says what it does."""
    assert len(ROUTES) == len({route.id for route in ROUTES})
    assert len(ROUTES) == len({(route.method, route.path) for route in ROUTES})
    assert [] == [route.id for route in ROUTES if not route.summary.endswith(".")]


def test_nesting_limit_of_a_state() -> None:
    """What is accepted in a request can be part of a whole world as well."""
    box = sandbox(max_nesting=4)
    event = {"id": "1", "webhook_id": "1", "event_type": "post.create", "payload": {"a": [{}]}}

    answer = call(box, "PUT", "/state?unchecked=true", json={"tables": {"events": [event]}})

    assert 200 == answer.status_code


def test_addresses_are_built_as_by_a_plain_rule() -> None:
    """A late rule builds an address with its parameters and a query, more than once."""
    rules = Map([LateRule("/worlds/<name>", endpoint="one"), LateRule("/worlds", endpoint="all")])
    adapter = rules.bind("127.0.0.1")
    assert adapter.build("one", {"name": "a b"}) == "/worlds/a%20b"
    assert adapter.build("one", {"name": "c", "limit": 3}) == "/worlds/c?limit=3"
    assert adapter.build("all") == "/worlds"


def test_nothing_is_compiled_before_it_is_needed() -> None:
    """Making a rule compiles no function; most would never be called."""
    compiled: list[bool] = []

    class Counting(Rule):
        """Notes each function that werkzeug compiles."""

        def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
            compiled.append(append_unknown)
            return super()._compile_builder(append_unknown)

    class Watched(LateRule, Counting):
        """A late rule of which each compiling is noted."""

    rules = Map([Watched("/worlds/<name>", endpoint="one")])
    assert rules.bind("127.0.0.1").match("/worlds/x") == ("one", {"name": "x"})
    assert not compiled
    assert rules.bind("127.0.0.1").build("one", {"name": "x"}) == "/worlds/x"
    assert compiled == [True]


def make_plane(extend: Extension) -> tuple[WsgiClient, Flask]:
    """A client of a control plane with additions, and its application."""
    made: list[Flask] = []

    def note(app: Flask, services: Services) -> Answers:
        made.append(app)
        return extend(app, services)

    client = WsgiClient(ControlPlane(make_platform(Settings()), note))
    assert 200 == client.get("/_mock/health").status_code
    return client, made[0]


def text_at(name: str) -> Extension:
    """An addition that answers with its name at `/_mock/NAME`."""

    def show(_request: ControlRequest) -> str:
        """Return the name."""
        return name

    route = Route("GET", f"/{name}", show)
    return lambda _app, services: {route: bind(route, services)}


def test_an_extension_adds_to_its_own_server_alone() -> None:
    """Servers with other routes than the first have rules of their own."""
    one, _ = make_plane(text_at("one"))
    other, _ = make_plane(text_at("other"))

    assert "one" == one.get("/_mock/one").get_json()
    assert "other" == other.get("/_mock/other").get_json()
    assert 404 == one.get("/_mock/other").status_code == other.get("/_mock/one").status_code


def test_servers_share_rules_and_nothing_else() -> None:
    """The routes are compiled once for a process, and lead to the worlds of each server."""
    compile_rules.cache_clear()
    first, second = sandbox(), sandbox()
    for box, year in ((first, 2001), (second, 2002)):
        box.world.clock.freeze(datetime(year, 1, 1, tzinfo=UTC))

    found = [call(box, "GET", "/clock").get_json()["now"][:4] for box in (first, second, first)]

    assert ["2001", "2002", "2001"] == found
    assert 2 == compile_rules.cache_info().currsize  # with those of an application without routes


def test_only_an_extension_adds_a_rule() -> None:
    """A rule that is added to an application would be one of other servers too: it is refused."""

    def extend(app: Flask, _services: Services) -> Answers:
        app.add_url_rule("/_mock/two", "two", lambda: "2")
        return {}

    with pytest.raises(TypeError, match="an extension returns its routes"):
        make_plane(extend)


def test_each_rule_has_an_id_of_its_own() -> None:
    """No route, of the console or beside it, takes the place of another."""
    _, app = make_plane(add_console)
    rules = list(app.url_map.iter_rules())

    assert len(rules) > len(ROUTES) + 20
    assert len(rules) == len({rule.endpoint for rule in rules}) == len(app.view_functions)
