"""What requests hear that no operation answers."""

from __future__ import annotations

import pytest

from mock_platform.api.served import NOT_SERVED, OPERATIONS
from mock_platform.core.call import Call, Surface
from mock_platform.core.failures.errors import MethodNotAllowed, RouteNotFound
from mock_platform.core.operation import Operation
from mock_platform.core.unanswered import Unanswered
from tests.support import ACCOUNT, Sandbox, refusal

ACCOUNT_PATH = f"/12/accounts/{ACCOUNT}"
CARDS = f"{ACCOUNT_PATH}/cards"
LEGACY_CARD = "57i77"
UNANSWERED = Unanswered(OPERATIONS, NOT_SERVED)


def refused(method: str, path: str, allowed: tuple[str, ...] = ()) -> tuple[RouteNotFound, Call]:
    """The refusal of an unknown path, and the call that it was noted in."""
    surface: Surface = "sandbox" if path.startswith("/sandbox") else "plain"
    inner = path.removeprefix("/sandbox")
    call = Call(method, f"http://localhost{path}", inner, "http://localhost", [], surface=surface)
    failure = UNANSWERED.failure(call, allowed)
    assert isinstance(failure, RouteNotFound)
    return failure, call


# -- paths that are left out -------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "/sandbox"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["videos", "promoted_videos", "videos/1", "promoted_videos/1"])
def test_what_is_left_out_is_not_a_missing_record(
    box: Sandbox, prefix: str, method: str, path: str
) -> None:
    """It answers ROUTE_NOT_FOUND and names what takes its place, whoever asks."""
    for keys in ({}, {"keys": None}):
        response = box.call(method, f"{prefix}{ACCOUNT_PATH}/{path}", **keys)

        assert (404, [("ROUTE_NOT_FOUND", None)]) == refusal(response)
        message = response.get_json()["errors"][0]["message"]
        assert message.startswith("This sandbox does not serve this route. Videos of advertisers ")
        assert "/12/accounts/:account_id/media_library" in message
        assert "media-library.promoted-videos" in response.headers["X-Mock-Assumptions"]
        assert "X-Mock-Operation" not in response.headers


def test_the_delete_of_a_legacy_type_is_that_of_the_cards(box: Sandbox) -> None:
    """Image conversation cards have paths of their own; the documented delete answers there."""
    path = f"{CARDS}/image_conversation/{LEGACY_CARD}"
    wrong = box.call("POST", path)
    gone = box.call("DELETE", path)

    assert (405, "DELETE, GET, HEAD, PUT") == (wrong.status_code, wrong.headers["Allow"])
    assert (200, True) == (gone.status_code, gone.get_json()["data"]["deleted"])
    assert "cards.delete" == gone.headers["X-Mock-Operation"]


def test_no_path_that_is_left_out_is_served(box: Sandbox) -> None:
    """Each one is unknown with each of its methods."""
    for entry in NOT_SERVED:
        for method in entry.methods:
            assert box.platform.where(method, entry.path.replace(":", "1")) is None


def test_the_journal_knows_why(box: Sandbox) -> None:
    """The diagnosis distinguishes a path that is left out from a misspelt one."""
    box.call("GET", f"{ACCOUNT_PATH}/videos")
    box.call("GET", "/12/acounts")

    first, second = box.world.journal.find()
    assert first.diagnosis is not None
    assert second.diagnosis is not None
    assert ("path-not-served", "unknown-path") == (
        first.diagnosis["mistake"],
        second.diagnosis["mistake"],
    )


# -- which are the nearest ---------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path", "nearest"), [
    ("POST", "/2/webhook/replay",
     ["POST /2/webhooks/replay", "PUT /2/webhooks/:webhook_id", "DELETE /2/webhooks/:webhook_id"]),
    ("POST", "/12/webhooks/replay", []),
    ("GET", "/2/accounts",
     ["GET /2/communities/:id", "GET /2/connections", "DELETE /2/connections"]),
    ("POST", "/12/oauth2/token", []),
    ("GET", "/completely/else", []),
])  # fmt: skip
def test_the_nearest_are_of_the_same_interface(method: str, path: str, nearest: list[str]) -> None:
    """A path of one document names operations of that document, or none."""
    failure, _ = refused(method, path)

    listed = "Nearest: " + "; ".join(nearest) + "."
    served = "What is served: GET http://localhost/_mock/docs/."
    assert (listed if nearest else served) == failure.hint


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_misspelt_paths_stay_in_their_interface(operation: Operation) -> None:
    """Whichever path is misspelt, only operations of its document are named."""
    _, call = refused("GET", f"{operation.path}x".replace(":", ""))

    assert call.diagnosis is not None
    for entry in call.diagnosis["nearest"]:
        advertising = entry["path"].removeprefix("/sandbox").split("/")[1] in {"5", "12"}
        assert advertising is (operation.dialect == "ads")


def test_on_the_sandbox_address_its_own_paths_are_named() -> None:
    """What is named can be called as it is named: on the sandbox address, or only there."""
    sandboxed, _ = refused("POST", "/sandbox/12/acounts")
    plain, _ = refused("POST", "/12/acounts")

    assert sandboxed.hint.startswith("Nearest: POST /sandbox/12/accounts; GET /sandbox/12/accounts")
    assert plain.hint.startswith("Nearest: POST /sandbox/12/accounts; GET /12/accounts;")


def test_operations_that_the_sandbox_address_does_not_have() -> None:
    """Document A's operations are not on the sandbox address, and the refusal says where."""
    failure, _ = refused("POST", "/sandbox/2/webhooks/replay")

    assert (
        "The sandbox address has the advertising interface only; leave /sandbox out of the path."
    ) == failure.hint


@pytest.mark.parametrize(("method", "path", "nearest"), [
    ("POST", "/oauth/acess_token", "POST /oauth/access_token"),
    ("POST", "/oauth2/tokn", "POST /oauth2/token"),
    ("GET", "/2/post/search/recent", "GET /2/posts/search/recent"),
    ("GET", "/12/acounts", "GET /12/accounts"),
    ("GET", "/sandbox/12/acounts", "GET /sandbox/12/accounts"),
    ("GET", "/_mock/reqests", "GET /_mock/requests"),
    ("POST", "/_mock/scenario/outage/activate", "POST /_mock/scenarios/<name>/activate"),
    ("GET", "/~default/12/acounts", "GET /12/accounts"),
])  # fmt: skip
def test_every_surface_names_the_nearest(
    box: Sandbox, method: str, path: str, nearest: str
) -> None:
    """The body names it on each interface, on the sandbox address and in the control plane."""
    response = box.client.open(path, method=method)

    assert 404 == response.status_code
    assert nearest in response.get_data(as_text=True)


def test_the_words_of_the_oauth_addresses_stay(box: Sandbox) -> None:
    """Clients compare code and message there, so the hint is beside them."""
    response = box.client.post("/oauth/acess_token")

    body = response.get_json()
    assert [{"code": 34, "message": "Sorry, that page does not exist"}] == body["errors"]
    assert body["hint"].startswith("Nearest: POST /oauth/access_token;")


@pytest.mark.parametrize(("path", "meant"), [
    ("/mock/clock", "/_mock/clock"),
    ("/_mok/state/accounts", "/_mock/state/accounts"),
    ("/sandbox/_mock/clock", "/_mock/clock"),
    ("/docs", "/_mock/docs/"),
    ("/health", "/_mock/health"),
    ("/openapi.json", "/_mock/openapi.json"),
])  # fmt: skip
def test_paths_beside_the_control_plane_are_explained(path: str, meant: str) -> None:
    """Who looks for the control plane reads its whole address."""
    failure, _ = refused("GET", path)

    assert failure.hint.startswith(f"The control plane answers at http://localhost{meant}.")


# -- the home page -----------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "/~default"])
def test_a_browser_is_led_to_the_console(box: Sandbox, prefix: str) -> None:
    """Of the world whose address it opened."""
    accept = "text/html,application/xhtml+xml,*/*;q=0.8"

    response = box.client.get(f"{prefix}/", headers={"Accept": accept})
    page = box.client.get(response.headers["Location"], headers={"Accept": accept})

    assert (303, f"http://localhost{prefix}/_mock/", "Accept") == (
        response.status_code,
        response.headers["Location"],
        response.headers["Vary"],
    )
    assert (200, "text/html") == (page.status_code, page.mimetype)


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
def test_other_clients_get_a_hint(box: Sandbox, accept: str) -> None:
    """They are refused as for every unknown path, and learn where the console is."""
    response = box.client.get("/", headers={"Accept": accept})

    assert (404, 34) == (response.status_code, response.get_json()["errors"][0]["code"])
    assert "Console: http://localhost/_mock/;" in response.get_json()["hint"]


def test_a_form_of_a_browser_is_not_led_away(box: Sandbox) -> None:
    """Only pages are: what a browser posts to the home page is refused."""
    response = box.client.post("/", headers={"Accept": "text/html"})

    assert 404 == response.status_code


def test_a_home_page_of_a_user_wins() -> None:
    """Whoever adds a route for the home page gets its requests, from browsers as well."""
    box = Sandbox()
    box.app.add_url_rule("/", "home", lambda: "mine")

    response = box.client.get("/", headers={"Accept": "text/html"})

    assert (200, "mine") == (response.status_code, response.get_data(as_text=True))


# -- spelling and methods ----------------------------------------------------------------------


@pytest.mark.parametrize(("path", "why"), [
    ("/12//accounts", "Write each slash of the path once"),
    ("/12//accounts//", "Leave out the slash at the end of the path"),
    ("/12/Accounts", "Write the path in small letters (ids as they are)"),
    ("/12/accounts.json", "Leave out .json at the end of the path"),
])  # fmt: skip
def test_what_is_wrong_with_the_spelling_is_said(path: str, why: str) -> None:
    """A path that only has slashes too many, capital letters or a suffix is recognised."""
    failure, call = refused("GET", path)

    assert failure.hint.startswith(f"{why} to reach GET /12/accounts. Nearest: GET /12/accounts;")
    assert call.diagnosis is not None
    assert f"{why} to reach GET /12/accounts." == call.diagnosis["explanation"]


def test_no_spelling_is_suggested_that_leads_nowhere() -> None:
    """A path that has a slash too many and is unknown without it is just unknown."""
    failure, _ = refused("GET", "/12/nothing/at/all/")

    assert "slash" not in failure.hint


@pytest.mark.parametrize(("path", "allowed"), [
    ("/12/accounts", "GET, HEAD"),
    ("/2/webhooks/replay", "POST"),
    (f"/12/accounts/{ACCOUNT}", "GET, HEAD, PUT"),
    (f"/sandbox/12/accounts/{ACCOUNT}", "DELETE, GET, HEAD, PUT"),
])  # fmt: skip
@pytest.mark.parametrize("method", ["OPTIONS", "PATCH", "TRACE"])
def test_a_wrong_method_names_all_that_are_answered(
    box: Sandbox, method: str, path: str, allowed: str
) -> None:
    """`Allow` has HEAD where GET is, since HEAD is answered there."""
    response = box.call(method, path)

    assert (405, allowed) == (response.status_code, response.headers["Allow"])


def test_head_is_answered_where_it_is_allowed(box: Sandbox) -> None:
    """HEAD has the headers of GET and no body; without a GET it is a wrong method."""
    found, missing = box.call("HEAD", "/12/accounts"), box.call("HEAD", "/12/nothing")
    wrong = box.call("HEAD", "/2/webhooks/replay")

    assert [(200, b""), (404, b""), (405, b"")] == [
        (response.status_code, response.data) for response in (found, missing, wrong)
    ]
    assert int(found.headers["Content-Length"]) > 0


def test_a_method_of_the_sandbox_address_is_pointed_out() -> None:
    """What exists on the sandbox address alone is a wrong method elsewhere, and says so."""
    call = Call("POST", "http://localhost/12/accounts", "/12/accounts", "http://localhost", [])

    failure = Unanswered(OPERATIONS, NOT_SERVED).failure(call, ("GET",))

    assert isinstance(failure, MethodNotAllowed)
    assert "This operation exists on the sandbox address only." == failure.note
