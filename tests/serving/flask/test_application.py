from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import flask
import pytest
import requests
from werkzeug.exceptions import NotFound
from werkzeug.routing import Rule, Submount

from mock_platform import MockPlatform
from mock_platform.control.late_rule import LateRule
from mock_platform.core.connection import Request
from mock_platform.serving.flask.application import PlatformApplication, UnreachableRoute
from tests.support import find_inner
from tests.waits import PATIENCE

ACCOUNTS = "/12/accounts"


@pytest.fixture
def platform() -> Iterator[MockPlatform]:
    """A running sandbox."""
    with MockPlatform.start() as running:
        yield running


def _application(platform: MockPlatform) -> PlatformApplication:
    assert isinstance(platform.app, PlatformApplication)
    return platform.app


def test_every_operation_is_a_rule_under_its_id(platform: MockPlatform) -> None:
    """Method and endpoint of each; addresses are built from ids."""
    found = {rule.endpoint: rule.methods or set() for rule in platform.app.url_map.iter_rules()}

    operations = find_inner(platform).operations
    assert {operation.id for operation in operations} == set(found)
    assert all(operation.method in found[operation.id] for operation in operations)
    with platform.app.test_request_context():
        built = flask.url_for("line_items.update", account_id="a", line_item_id="b c")
    assert "/12/accounts/a/line_items/b%20c" == built


def test_no_rule_of_an_operation_compiles_what_builds_addresses(platform: MockPlatform) -> None:
    """That took nine tenths of the time in which the first route of one's own was added."""
    assert {LateRule} == {type(rule) for rule in platform.app.url_map.iter_rules()}


@pytest.mark.live
def test_a_route_is_added_while_it_runs(platform: MockPlatform) -> None:
    """Served in-process, over a socket and in every world; journal and markers know it."""
    session = platform.session("bearer")
    assert 404 == session.get("/2/unserved").status_code

    @platform.app.get("/2/unserved/<name>")
    def unserved(name: str) -> dict[str, Any]:
        return {"name": name, "world": flask.request.environ["mock_platform.world"]}

    here = session.get("/2/unserved/x")
    there = requests.get(f"{platform.base_url}/2/unserved/x", timeout=PATIENCE)
    world = platform.world("w1").session().get("/2/unserved/y")

    assert {"name": "x", "world": "default"} == here.json() == there.json()
    assert {"name": "y", "world": "w1"} == world.json()
    assert "unserved" == here.headers["X-Mock-Custom"]
    assert "X-Mock-Operation" not in here.headers
    entry = platform.journal.get(here.headers["X-Mock-Request-Id"])
    assert entry is not None
    assert (200, None, here.content) == (entry.status, entry.operation, entry.response_body)
    assert (1, 3) == (len(platform.world("w1").journal), len(platform.journal))


def test_a_world_is_chosen_by_header_and_must_exist(platform: MockPlatform) -> None:
    """What is added answers in the worlds that there are."""
    platform.app.get("/own")(lambda: flask.request.environ["mock_platform.world"])
    platform.world("w1")
    session = platform.session()

    assert "w1" == session.get("/own", headers={"X-Mock-World": "w1"}).text
    assert 404 == session.get("/own", headers={"X-Mock-World": "w2"}).status_code


def test_a_blueprint_is_served(platform: MockPlatform) -> None:
    """With its prefix, its hooks and its handlers, which concern its own routes alone."""
    blueprint = flask.Blueprint("own", __name__, url_prefix="/own")
    seen = []
    blueprint.before_request(lambda: seen.append(flask.request.path))
    blueprint.errorhandler(NotFound)(lambda _: ("nothing", 404))
    blueprint.get("/a", endpoint="a")(lambda: "a")
    blueprint.get("/none", endpoint="none")(lambda: flask.abort(404))
    platform.app.register_blueprint(blueprint)
    session = platform.session("bearer")

    assert "a" == session.get("/own/a").text
    assert (404, "nothing") == (session.get("/own/none").status_code, session.get("/own/none").text)
    assert 200 == session.get(ACCOUNTS).status_code
    assert ["/own/a", "/own/none", "/own/none"] == seen
    assert not _application(platform).listens


def test_a_blueprint_is_not_called_as_a_family(platform: MockPlatform) -> None:
    """Flask would run its hooks for `accounts.list` too; under another name it is accepted."""
    blueprint = flask.Blueprint("accounts", __name__, url_prefix="/own")
    blueprint.get("/a")(lambda: "a")

    with pytest.raises(ValueError, match="called as a family of operations"):
        platform.app.register_blueprint(blueprint)
    platform.app.register_blueprint(blueprint, name="own")
    assert "a" == platform.session().get("/own/a").text


def test_methods_of_an_added_route(platform: MockPlatform) -> None:
    """Others are refused with those that there are; HEAD and OPTIONS are Flask's."""
    platform.app.post("/own", endpoint="make")(lambda: ("made", 201))
    platform.app.get("/own", endpoint="read")(lambda: "there")
    platform.app.patch("/12/accounts", endpoint="patch")(lambda: "patched")
    session = platform.session("bearer")

    refused = session.delete("/own")
    assert (405, "GET, HEAD, OPTIONS, POST") == (refused.status_code, refused.headers["Allow"])
    head = session.head("/own")
    assert (200, b"", "5") == (head.status_code, head.content, head.headers["Content-Length"])
    assert 200 == session.options("/own").status_code
    assert ("patched", 200) == (session.patch(ACCOUNTS).text, session.get(ACCOUNTS).status_code)
    assert "GET, PATCH" == session.delete(ACCOUNTS).headers["Allow"]


@pytest.mark.parametrize(
    ("method", "rule", "why"),
    [
        ("GET", "/12/accounts", r"accounts.list answers GET /12/accounts\. "),
        ("GET", "/12/accounts/<own>", "accounts.get answers"),
        ("GET", "/12/accounts/special", "accounts.get answers"),
        ("PUT", "/12/accounts/<a>/cards/<int:card>", "cards.update answers"),
        ("POST", "/sandbox/12/accounts", "accounts.create answers"),
        ("GET", "/_mock/own", "control plane"),
        ("GET", "/_mock", "control plane"),
        ("GET", "/~own/x", "name of a world"),
    ],
)
def test_a_route_that_is_never_reached_is_refused(
    platform: MockPlatform, method: str, rule: str, why: str
) -> None:
    """Nothing is shadowed in silence; the refusal says who answers, and what to do instead."""
    with pytest.raises(UnreachableRoute, match=why):
        platform.app.add_url_rule(rule, "own", lambda **_: "own", methods=[method])

    assert 200 == platform.session("bearer").get(ACCOUNTS).status_code


def test_a_rule_of_werkzeug_is_a_route_as_well(platform: MockPlatform) -> None:
    """What is added to the map itself is served, or refused."""
    platform.app.url_map.add(Submount("/own", [Rule("/a", endpoint="own")]))
    platform.app.endpoint("own")(lambda: "a")

    assert "a" == platform.session().get("/own/a").text
    with pytest.raises(UnreachableRoute, match=r"accounts\.list answers"):
        platform.app.url_map.add(Submount("/12", [Rule("/accounts", endpoint="own")]))


@pytest.mark.parametrize("hooked", [False, True])
def test_faults_of_the_network_pass_hooks(platform: MockPlatform, *, hooked: bool) -> None:
    """A scenario that breaks the connection does so on either way."""
    if hooked:
        platform.app.before_request(lambda: None)
    platform.activate("answer-lost", on="accounts.list")

    with pytest.raises(requests.ConnectionError):
        platform.session("bearer").get(ACCOUNTS)


def test_a_route_for_everything_gets_what_is_left(platform: MockPlatform) -> None:
    """Operations answer where they are; the rest is the route's."""
    platform.app.get("/<path:rest>")(lambda rest: f"own {rest}")
    session = platform.session("bearer")

    assert ("own 12/acounts", 200) == (
        session.get("/12/acounts").text,
        session.get(ACCOUNTS).status_code,
    )
    assert "accounts.list" == session.get(ACCOUNTS).headers["X-Mock-Operation"]


def test_the_view_of_an_operation_is_replaced(platform: MockPlatform) -> None:
    """Whoever sets it by the operation's id gets its requests, and others stay as they are."""
    session = platform.session("bearer")
    account = platform.credentials["accounts"][0]
    platform.app.view_functions["accounts.get"] = lambda account_id: {"own": account_id}

    answer = session.get(f"{ACCOUNTS}/{account}")

    assert {"own": account} == answer.json()
    assert "accounts.get" == answer.headers["X-Mock-Custom"]
    assert "accounts.list" == session.get(ACCOUNTS).headers["X-Mock-Operation"]


def test_hooks_see_and_change_what_is_served(platform: MockPlatform) -> None:
    """Before: operation, parameters and body; after: the answer, which the journal has as sent."""
    seen: list[Any] = []

    @platform.app.before_request
    def before() -> None:
        request = flask.request
        seen.append((request.endpoint, request.view_args, request.get_data(as_text=True)))

    @platform.app.after_request
    def after(response: flask.Response) -> flask.Response:
        response.headers["X-Own"] = "1"
        if response.status_code == 404:
            response.set_data("changed")
        return response

    account = platform.credentials["accounts"][0]
    session = platform.session("oauth1")
    found = session.put(f"{ACCOUNTS}/{account}", data={"name": "Renamed"})
    missing = session.get(f"{ACCOUNTS}/{account}/line_items/x")
    created = session.post("/sandbox/12/accounts")
    encoded = session.get(f"{ACCOUNTS}/a%2Fb")

    assert ("accounts.update", {"account_id": account}, "name=Renamed") == seen[0]
    assert ("accounts.create", {}, "") == seen[2]
    assert ("Renamed", "1") == (found.json()["data"]["name"], found.headers["X-Own"])
    assert ("changed", "7") == (missing.text, missing.headers["Content-Length"])
    assert b"changed" == platform.journal.find(status=404)[0].response_body
    assert (200, 403) == (created.status_code, encoded.status_code)
    assert "accounts.get" == encoded.headers["X-Mock-Operation"]


def test_a_hook_answers_in_place_of_an_operation(platform: MockPlatform) -> None:
    """Nothing is changed, and the marker says that it was not the operation."""
    platform.app.before_request(lambda: ("closed", 503) if flask.request.method == "POST" else None)
    session = platform.session("oauth1", sandbox=True)
    before = len(platform.state["accounts"])

    answer = session.post(ACCOUNTS)

    assert (503, "closed") == (answer.status_code, answer.text)
    assert "accounts.create" == answer.headers["X-Mock-Custom"]
    assert before == len(platform.state["accounts"])
    assert 503 == platform.journal.find(method="POST")[0].status


def test_the_control_plane_is_no_concern_of_hooks(platform: MockPlatform) -> None:
    """A hook that refuses everything does not lock its author out."""
    platform.app.before_request(lambda: ("closed", 503))

    assert 503 == platform.session("bearer").get(ACCOUNTS).status_code
    assert 200 == platform.session().get("/_mock/health").status_code


def test_error_handlers_are_asked(platform: MockPlatform) -> None:
    """Where nothing answers, and for what an added route raises; refusals of operations stay."""
    platform.app.errorhandler(404)(lambda _: ({"own": "nothing here"}, 404))
    platform.app.errorhandler(ZeroDivisionError)(lambda _: ("divided", 500))
    platform.app.get("/own")(lambda: str(1 / 0))
    session = platform.session("bearer")

    assert {"own": "nothing here"} == session.get("/2/nowhere").json()
    assert "divided" == session.get("/own").text
    refused = session.get(f"{ACCOUNTS}/{platform.credentials['accounts'][0]}/line_items/x")
    assert (404, "errors") == (refused.status_code, next(iter(refused.json())))
    assert 405 == session.delete(ACCOUNTS).status_code


def test_what_an_added_route_raises_is_raised(platform: MockPlatform) -> None:
    """In-process by the call; the journal has the traceback, and says whose fault it was."""
    platform.app.get("/own")(lambda: str(1 / 0))

    with pytest.raises(ZeroDivisionError):
        platform.session().get("/own")

    (entry,) = platform.journal
    assert "ZeroDivisionError" in (entry.traceback or "")
    assert b"What was added to the sandbox failed" in entry.response_body


def test_a_body_that_comes_in_parts(platform: MockPlatform) -> None:
    """An added route may stream; what it holds is released at the end."""
    ended = []

    @platform.app.get("/own")
    def own() -> flask.Response:
        response = flask.Response(iter([b"one ", b"two"]))
        response.call_on_close(lambda: ended.append(True))
        return response

    session = platform.session()

    assert ("one two", [True]) == (session.get("/own").text, ended)
    assert ("", [True, True]) == (session.head("/own").text, ended)


def test_what_is_too_large_reaches_no_route() -> None:
    """The limit of a body holds for added routes as well."""
    with MockPlatform.start(max_body=10) as platform:

        @platform.app.post("/own")
        def own() -> bytes:
            return flask.request.get_data()

        session = platform.session()

        assert b"0123456789" == session.post("/own", data=b"0123456789").content
        assert 413 == session.post("/own", data=b"0123456789a").status_code


@pytest.mark.live
def test_a_wrapper_of_the_application_sees_all(platform: MockPlatform) -> None:
    """Middleware that is put around it is passed in-process and over a socket."""
    seen: list[str] = []
    inner = platform.app.wsgi_app

    def wrapped(environ: Any, start_response: Any) -> Any:
        seen.append(environ["PATH_INFO"])
        return inner(environ, start_response)

    platform.app.wsgi_app = wrapped  # type: ignore[method-assign]
    platform.session().get("/a")
    requests.get(f"{platform.base_url}/b", timeout=PATIENCE)

    assert ["/a", "/b"] == seen


def _replace_view(app: flask.Flask) -> None:
    app.view_functions["accounts.list"] = lambda: "own"


HOOKS: dict[str, Callable[[flask.Flask], object]] = {
    "before_request": lambda app: app.before_request(lambda: None),
    "after_request": lambda app: app.after_request(lambda response: response),
    "teardown_request": lambda app: app.teardown_request(lambda _: None),
    "teardown_appcontext": lambda app: app.teardown_appcontext(lambda _: None),
    "url_value_preprocessor": lambda app: app.url_value_preprocessor(lambda *_: None),
    "errorhandler": lambda app: app.errorhandler(500)(lambda _: "x"),
    "view": _replace_view,
}


@pytest.mark.parametrize("hook", HOOKS)
def test_whoever_listens_is_noticed(platform: MockPlatform, hook: str) -> None:
    """Without listeners requests go straight to the platform; the first one turns that."""
    application = _application(platform)
    before = application.listens

    HOOKS[hook](platform.app)

    assert (False, True) == (before, application.listens)


def test_a_receiver_of_signals_is_noticed(platform: MockPlatform) -> None:
    """It listens as long as it is connected."""
    application, seen = _application(platform), []

    with flask.request_started.connected_to(lambda app, **_: seen.append(app), platform.app):
        listened = application.listens
        platform.session("bearer").get(ACCOUNTS)

    assert (True, False, [platform.app]) == (listened, application.listens, seen)


def test_requests_are_answered_at_once_while_nobody_listens(platform: MockPlatform) -> None:
    """Operations are; the control plane, and everything once a hook listens, is not."""
    app = _application(platform)

    def at_once(target: str) -> bool:
        return app.at_once(Request("GET", target, "", "1.1", [], b"", keep_alive=True)) is not None

    targets = [ACCOUNTS, "/~w1/12/accounts", "/nothing", "/_mocked"]
    controls = ["/_mock", "/_mock/health?a=b", "/~w1/_mock/health", "/%7Ew1/_mock/"]
    assert [True] * 4 + [False] * 4 == [at_once(target) for target in targets + controls]
    app.before_request(lambda: None)
    assert [False] * 8 == [at_once(target) for target in targets + controls]


def test_health_never_blocks_once_the_control_plane_is_loaded(platform: MockPlatform) -> None:
    """It needs no worker then; other control routes may wait, so they do."""
    app = _application(platform)

    def never_blocks(target: str) -> bool:
        return app.never_blocks(Request("GET", target, "", "1.1", [], b"", keep_alive=True))

    before = never_blocks("/_mock/health")
    app.test_client().get("/_mock/health")
    after = [never_blocks(f"/_mock/{name}") for name in ("health", "deliveries", "health/x")]

    assert (False, [True, False, False]) == (before, after)
