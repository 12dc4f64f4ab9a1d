"""The platform: which world answers, in which order it refuses, what the journal learns."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from werkzeug.test import Client

from mock_platform import MockPlatform
from mock_platform.api.served import OPERATIONS
from mock_platform.platform import Platform
from mock_platform.world.worlds import Worlds
from tests.support import (
    ACCOUNT,
    BEARER,
    HARBOR,
    NORTHBIKE,
    Keys,
    Sandbox,
    bearer,
    faults,
    refusal,
    sandbox,
    signed,
)

MEDIA = f"/12/accounts/{ACCOUNT}/account_media"


# -- order of refusal --------------------------------------------------------------------------

BAD = Keys(HARBOR.key, "wrong", HARBOR.token, HARBOR.token_secret)
READ_ONLY_APP = {"_permissions": ["read"]}


@pytest.mark.parametrize(
    ("path", "method", "keys", "status", "code"),
    [
        ("/12/accounts/nope/unknown?count=x", "PATCH", BAD, 404, "ROUTE_NOT_FOUND"),
        ("/12/accounts/nope/account_media?count=x", "PATCH", BAD, 405, "METHOD_NOT_ALLOWED"),
        ("/12/accounts/nope/account_media?count=x", "GET", BAD, 401, "UNAUTHORIZED_ACCESS"),
        ("/12/accounts/nope/account_media?count=x", "GET", HARBOR, 403, "ACCOUNT_NOT_FOUND"),
        (f"{MEDIA}?count=x", "GET", HARBOR, 400, "INVALID_PARAMETER"),
        (f"{MEDIA}/nope?with_deleted=x", "GET", HARBOR, 400, "INVALID_PARAMETER"),
        (f"{MEDIA}/nope", "GET", HARBOR, 404, "ACCOUNT_MEDIA_NOT_FOUND"),
    ],
)
@pytest.mark.claim("the order of the stages decides which one the client gets")
def test_the_order_of_refusal_is_pinned(
    box: Sandbox, path: str, method: str, keys: Keys, status: int, code: str
) -> None:
    """Path, method, authentication, account, parameters, records: the first fault answers."""
    response = box.call(method, path, keys=keys)

    assert (response.status_code, faults(response)[0][0]) == (status, code)


def test_state_rules_come_after_records(box: Sandbox) -> None:
    """A missing record wins over a broken rule, a broken parameter over both."""
    path = f"/12/accounts/{ACCOUNT}/line_items"
    missing = box.call("PUT", f"{path}/nope", query_string={"frequency_cap": "1"})
    broken = box.call("PUT", f"{path}/itttx", query_string={"frequency_cap": "1"})
    malformed = box.call("PUT", f"{path}/nope", query_string={"frequency_cap": "x"})

    assert (missing.status_code, broken.status_code, malformed.status_code) == (404, 400, 400)


def test_a_gate_comes_before_parameters(box: Sandbox) -> None:
    """A read-only application is refused before its parameters are looked at."""
    box.change("apps", "11827", **READ_ONLY_APP)

    response = box.call("PUT", f"/12/accounts/{ACCOUNT}/line_items/itttx?goal=x")

    assert refusal(response) == (403, [("READONLY_CLIENT_APPLICATION", None)])


def test_limits_count_after_parameters(box: Sandbox) -> None:
    """A request with wrong parameters does not use up its rate window."""
    wrong = {"with_total_count": "true", "count": "0"}
    for _ in range(3):
        box.call("GET", MEDIA, query_string=wrong)

    response = box.call("GET", MEDIA, query_string={"with_total_count": "true"})

    assert response.headers["x-rate-limit-remaining"] == "199"


# -- rate limits -------------------------------------------------------------------------------


@pytest.mark.spec("B, Limits", "Requests with with_total_count")
def test_with_total_count_has_a_limit_of_200(box: Sandbox) -> None:
    """The 200th request with with_total_count passes, the 201st is 429, others are unaffected."""
    box.world.clock.freeze()
    query = {"with_total_count": "true", "count": "1"}

    statuses = [box.call("GET", MEDIA, query_string=query).status_code for _ in range(200)]
    refused = box.call("GET", MEDIA, query_string=query)
    plain = box.call("GET", MEDIA)
    box.world.clock.advance(900)
    later = box.call("GET", MEDIA, query_string=query)

    assert set(statuses) == {200}
    assert refusal(refused) == (429, [("TOO_MANY_REQUESTS", None)])
    assert refused.headers["x-rate-limit-limit"] == "200"
    assert refused.headers["x-rate-limit-remaining"] == "0"
    assert int(refused.headers["x-rate-limit-reset"]) > 0
    assert (plain.status_code, "x-rate-limit-limit" in plain.headers) == (200, False)
    assert later.status_code == 200


@pytest.mark.spec("B, Not shown", "Rate limits of")
def test_limits_can_be_switched_off_and_up() -> None:
    """`--limits off` drops the windows, `--limits public` adds those of the public facts."""
    off = sandbox(limits="off").call("GET", MEDIA, query_string={"with_total_count": "true"})
    public = sandbox(limits="public").call("GET", MEDIA)

    assert "x-rate-limit-limit" not in off.headers
    assert public.headers["x-account-rate-limit-limit"] == "2000"


# -- worlds ------------------------------------------------------------------------------------


def test_a_world_is_chosen_by_prefix_then_header(box: Sandbox) -> None:
    """The prefix wins over the header, the header over the credentials."""
    for name in ("one", "two"):
        box.platform.worlds.create(name)
    first = box.call("DELETE", f"/~one{MEDIA}/2pzo", headers={"X-Mock-World": "two"})
    second = box.call("DELETE", f"{MEDIA}/2pzo", headers={"X-Mock-World": "two"})
    third = box.call("GET", f"{MEDIA}/2pzo")

    assert [r.status_code for r in (first, second, third)] == [200, 200, 200]
    journals = {w.name: len(w.journal) for w in box.platform.worlds}
    assert journals == {"default": 1, "one": 1, "two": 1}


@pytest.mark.parametrize(
    ("kept", "sent"), [("only-in-one", "only-in-one"), ("only%2Fone", "only/one")]
)
def test_a_credential_of_one_world_chooses_it(box: Sandbox, kept: str, sent: str) -> None:
    """A token issued in a world leads its bearer there, percent-encoded as it was, or decoded."""
    world = box.platform.worlds.create("one")
    with world.work():
        world.store.put("tokens", kept, box.record("tokens", BEARER) | {"id": kept})

    response = box.client.get(MEDIA, headers=bearer(sent))
    shared = box.client.get(MEDIA, headers=bearer())

    assert (response.status_code, shared.status_code) == (200, 200)
    assert {w.name: len(w.journal) for w in box.platform.worlds} == {"default": 1, "one": 1}


def test_a_record_stored_as_given_may_be_to_blame(box: Sandbox) -> None:
    """What trips over an odd record says that such a record may be why."""
    box.put("accounts", "18ce54d4x5t", {"id": "18ce54d4x5t"})

    response = box.call("GET", MEDIA)

    assert 500 == response.status_code
    assert (
        "or of a record without '_users' that was stored with ?unchecked=true"
        in (response.get_json()["errors"][0]["message"])
    )
    box.platform.errors.clear()


def test_an_unknown_world_says_how_to_create_it(box: Sandbox) -> None:
    """A world that does not exist is an error of the mock's own, with what to do."""
    response = box.client.get(f"/~nope{MEDIA}")

    assert (response.status_code, response.content_type) == (404, "application/problem+json")
    assert response.get_json()["detail"] == (
        "There is no world 'nope'. Create it with PUT /_mock/worlds/nope (an empty body is "
        "enough), or leave the world out to use 'default'."
    )


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (f"/~{MEDIA}", {}), ("/~/_mock/clock", {}), (f"/~%20{MEDIA}", {}),
        (MEDIA, {"X-Mock-World": ""}), ("/_mock/clock", {"X-Mock-World": ""}),
        (MEDIA, {"X-Mock-World": "a b"}),
    ],
)  # fmt: skip
def test_a_name_that_no_world_can_have(box: Sandbox, path: str, headers: dict[str, str]) -> None:
    """An empty or impossible name chooses no world, and no creation is suggested."""
    response = box.client.get(path, headers=headers)

    assert 404 == response.status_code
    assert "No world can have this name: 1 to 64 letters" in response.get_json()["detail"]
    assert "PUT" not in response.get_json()["detail"]


@pytest.mark.claim("two worlds cannot affect each other")
def test_two_hundred_worlds_never_see_each_other(box: Sandbox) -> None:
    """Tokens, records and clocks of 200 worlds in one process stay apart."""
    basic = "Basic " + b64encode(f"{HARBOR.key}:{HARBOR.secret}".encode()).decode()
    names = [f"w{number}" for number in range(200)]
    tokens = {}
    for number, name in enumerate(names):
        world = box.platform.worlds.create(name)
        world.clock.advance(number)
        with world.work():
            gone = world.store.get("tokens", BEARER)
            assert gone is not None
            world.store.put("tokens", BEARER, gone | {"state": "invalidated"})
        response = box.client.post(
            f"/~{name}/oauth2/token",
            headers={"Authorization": basic},
            data={"grant_type": "client_credentials"},
        )
        tokens[name] = response.get_json()["access_token"]
    box.client.delete(f"{MEDIA}/2pzo", headers=bearer(tokens["w7"]))

    assert len(set(tokens.values())) == 200
    for name in names:
        world = box.platform.worlds.get(name)
        record = world.store.get("account_media", "2pzo")
        assert record is not None
        assert record["deleted"] is (name == "w7")
        others = [t for n, t in tokens.items() if n != name]
        assert all(world.store.get("tokens", token) is None for token in others[:20])
        assert box.platform.worlds.owner_of(tokens[name]) is world


def test_a_dropped_world_takes_its_credentials_along(box: Sandbox) -> None:
    """After a world is gone its tokens lead nowhere."""
    world = box.platform.worlds.create("one")
    with world.work():
        world.store.put("tokens", "t1", box.record("tokens", BEARER) | {"id": "t1"})
    box.platform.worlds.drop("one")

    response = box.client.get(MEDIA, headers={"Authorization": "Bearer t1"})

    assert (response.status_code, world.closed) == (401, True)
    assert box.platform.worlds.owner_of("t1") is None


def test_signatures_cover_the_address_with_its_prefix(box: Sandbox) -> None:
    """A request in a world is signed with the prefix; one signed without it is refused."""
    box.platform.worlds.create("one")
    right = signed("GET", f"http://localhost/~one{MEDIA}")
    wrong = signed("GET", f"http://localhost{MEDIA}")

    statuses = [
        box.client.get(f"/~one{MEDIA}", headers=headers).status_code for headers in (right, wrong)
    ]

    assert statuses == [200, 401]


# -- surfaces ----------------------------------------------------------------------------------


@pytest.mark.spec("B, What the service does", "{ads_base_url}")
def test_the_sandbox_address_shares_the_records(box: Sandbox) -> None:
    """What is deleted on the sandbox address is gone on the plain one."""
    box.call("DELETE", f"/sandbox{MEDIA}/2pzo")

    assert box.call("GET", f"{MEDIA}/2pzo").status_code == 404


def test_a_sandbox_host_chooses_the_sandbox(box: Sandbox) -> None:
    """A Host that begins with `ads-api-sandbox.` means the sandbox address."""
    url = f"http://ads-api-sandbox.localhost{MEDIA}"
    response = box.client.get(
        MEDIA, base_url="http://ads-api-sandbox.localhost", headers=signed("GET", url)
    )

    assert response.status_code == 200


@pytest.mark.spec("A, Other v2 endpoints", "Every v2 path begins")
def test_the_v2_interface_is_not_on_the_sandbox_address(box: Sandbox) -> None:
    """Only the advertising interface has a sandbox address."""
    assert box.call("POST", "/sandbox/oauth2/token").status_code == 404


# -- dialects and markers ----------------------------------------------------------------------


@pytest.mark.spec("B, Errors", "Error body format")
@pytest.mark.parametrize(
    ("path", "media_type", "body"),
    [
        (
            "/2/nope",
            "application/problem+json",
            {"type": "about:blank", "title": "Not Found", "status": 404},
        ),
        ("/oauth/nope", "application/json", {"errors": [{"code": 34}]}),
        ("/1.1/nope.json", "application/json", {"errors": [{"code": 34}]}),
        ("/12/nope", "application/json", {"errors": [{"code": "ROUTE_NOT_FOUND"}]}),
        ("/11/accounts", "application/json", {"errors": [{"code": "ROUTE_NOT_FOUND"}]}),
        ("/", "application/json", {"errors": [{"code": 34}]}),
    ],
)
def test_an_unknown_path_answers_in_its_dialect(
    box: Sandbox, path: str, media_type: str, body: Mapping[str, Any]
) -> None:
    """Problems under /2, numeric codes on OAuth paths, named codes on advertising paths."""
    response = box.client.get(path)

    found = response.get_json()
    assert (response.status_code, response.mimetype) == (404, media_type)
    if "errors" in body:
        assert found["errors"][0]["code"] == body["errors"][0]["code"]
    else:
        assert {name: found[name] for name in body} == body


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/12/nope", 404), ("PATCH", "/12/accounts", 405), ("GET", "/12/accounts", 401)],
)
def test_every_advertising_answer_tells_the_current_version(
    box: Sandbox, method: str, path: str, status: int
) -> None:
    """Refusals before any operation carry x-current-api-version too, once."""
    response = box.client.open(path, method=method)

    assert status == response.status_code
    assert ["12"] == response.headers.getlist("x-current-api-version")


def test_markers_name_request_operation_and_assumptions(box: Sandbox) -> None:
    """Every answer says which request and operation it was, and what it rests on."""
    response = box.call("GET", MEDIA)

    assert response.headers["X-Mock-Operation"] == "account_media.list"
    assert response.headers["X-Mock-Assumptions"] == "ads.next-cursor-null,ads.params-echo"
    entry = box.world.journal.get(response.headers["X-Mock-Request-Id"])
    assert entry is not None
    assert entry.operation == "account_media.list"


def test_markers_can_be_left_out() -> None:
    """`--no-markers` drops them all."""
    response = sandbox(markers=False).call("GET", MEDIA)

    assert [name for name, _ in response.headers if name.lower().startswith("x-mock")] == []


def test_head_is_answered_without_a_body(box: Sandbox) -> None:
    """HEAD returns the headers of GET, length included, and no body."""
    get = box.call("GET", MEDIA)
    head = box.call("HEAD", MEDIA)

    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == str(len(get.data))


def test_a_body_beyond_the_limit_is_refused() -> None:
    """A body over the server's limit is 413 in the path's dialect; one at the limit is read."""
    box = sandbox(max_body=100)
    inside = box.client.post("/oauth2/token", data=b"x" * 100)
    outside = box.client.post("/oauth2/token", data=b"x" * 101)

    assert (inside.status_code, outside.status_code) == (403, 413)
    assert "100 bytes" in outside.get_json()["errors"][0]["message"]


@pytest.mark.parametrize("path", ["cards", "cards/poll"])
@pytest.mark.parametrize(("size", "over"), [(5_000_000, False), (5_000_001, True)])
def test_the_advertising_interface_takes_five_million_bytes(
    path: str, size: int, over: bool
) -> None:
    """A body of one byte more is 413, whether the operation reads bodies or the query."""
    box = sandbox(auth="off")
    address = f"/12/accounts/18ce54d4x5t/{path}"
    answer = box.client.post(address, data=b" " * size, content_type="application/json")

    assert over is (answer.status_code == 413)


@pytest.mark.parametrize("base", ["base_url", "ads_sandbox_base_url"])
def test_clients_in_process_may_be_given_a_base_address(base: str) -> None:
    """Werkzeug's client takes the path of a base address for a mount; the world is found there."""
    with MockPlatform.start() as platform:
        world = platform.world("w1")
        client = Client(world.wsgi)
        headers = bearer(world.credentials["bearer_token"])
        answer = client.get("/12/accounts", base_url=getattr(world, base), headers=headers)

        assert 200 == answer.status_code
        (entry,) = world.journal.find()
        assert f"{getattr(world, base)}/12/accounts" == entry.url
        assert 0 == platform.journal.count()


# -- faults of the sandbox itself --------------------------------------------------------------


def test_a_fault_in_a_handler_is_kept_and_told(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler that fails answers 500, keeps nothing, and is handed to the embedder."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(box.world.store, "page", broken)

    assert refusal(box.call("GET", MEDIA)) == (500, [("INTERNAL_ERROR", None)])
    assert [str(error) for error in box.platform.errors] == ["boom"]
    entry = box.world.journal.find()[-1]
    assert entry.traceback is not None
    assert "RuntimeError: boom" in entry.traceback


# -- the table ---------------------------------------------------------------------------------


def test_every_assumption_is_on_record_once() -> None:
    """Ids are unique, every text says something, and every gap is refused by --strict."""
    register = Platform().assumptions()

    assert all(len(assumption.text) > 20 for assumption in register.values())
    assert {a.id for op in OPERATIONS for a in op.all_assumptions} <= set(register)


@pytest.mark.spec("A, Other v2 endpoints", "Other v2 endpoints")
def test_operations_beyond_the_documents_rest_on_a_gap() -> None:
    """Whatever documents A and B do not describe is refused by --strict."""
    documented = {operation.path for operation in OPERATIONS if operation.documented}
    loose = [
        operation.id
        for operation in OPERATIONS
        if not operation.documented
        and operation.path not in documented  # the forms of a documented page
        and operation.id != "openapi.get"  # the document says that there is one, but not where
        and not any(a.gap for a in operation.all_assumptions)
    ]

    assert loose == []


def test_the_registry_has_bounds() -> None:
    """A server has only so many worlds, and says how to make room."""
    platform = sandbox(max_worlds=2).platform
    platform.worlds.create("one")

    with pytest.raises(RuntimeError, match="DELETE /_mock/worlds/NAME"):
        platform.worlds.create("two")
    assert isinstance(platform.worlds, Worlds)


def test_bearer_tokens_of_another_user_do_not_reach(box: Sandbox) -> None:
    """Account scope holds for every way to authenticate."""
    assert box.call("GET", MEDIA, keys=NORTHBIKE).status_code == 403


@pytest.mark.spec("B, Authentication", "The credential")
def test_bearer_is_refused_where_only_oauth1_is_asked_for() -> None:
    """`--ads-auth oauth1` and `--strict` leave OAuth 1.0a alone."""
    headers = bearer()
    answers = [
        sandbox(**settings).client.get(MEDIA, headers=headers).status_code
        for settings in ({}, {"ads_auth": "oauth1"}, {"strict": True})
    ]

    assert answers == [200, 403, 403]


# -- bytes that mean nothing -------------------------------------------------------------------


@pytest.mark.parametrize("worlds", [1, 2])
def test_credentials_that_nobody_can_read_are_refused(box: Sandbox, worlds: int) -> None:
    """A byte beyond ASCII in Basic credentials is a refusal, however many worlds there are."""
    if worlds > 1:
        box.platform.worlds.create("w1")
    headers = {"Authorization": "Basic \xff"}

    assert box.call("GET", "/12/accounts", keys=None, headers=headers).status_code == 401
    assert [401] == [entry.status for entry in box.world.journal]


def test_a_fault_while_the_world_is_looked_for_is_in_the_journal(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is answered in the interface's own form, and the default world's journal has it."""
    box.platform.worlds.create("w1")
    monkeypatch.setattr(
        "mock_platform.platform.credential_hints", lambda _: int("what nobody thought of")
    )

    assert refusal(box.call("GET", "/12/accounts", keys=None)) == (500, [("INTERNAL_ERROR", None)])
    (entry,) = box.world.journal
    assert entry.traceback is not None
    assert "what nobody thought of" in entry.traceback
    assert [ValueError] == [type(fault) for fault in box.platform.errors]


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("sandbox.test:8080", "sandbox.test:8080"),
        ("[::1]:8080", "[::1]:8080"),
        ("[::1", "%5B::1"),
        ("[x]", "%5Bx%5D"),
        ("a b/c?d#e@f", "a%20b%2Fc%3Fd%23e%40f"),
        ("\xff", "%FF"),
    ],
)
def test_any_host_makes_an_address(box: Sandbox, host: str, shown: str) -> None:
    """What is no host is escaped, so that the address in the journal can be read."""
    box.call("GET", "/12/accounts", keys=None, headers={"Host": host})

    (entry,) = box.world.journal
    assert entry.url == f"http://{shown}/12/accounts"
