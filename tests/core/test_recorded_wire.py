"""The recorded wire: statuses and bodies of refusals, headers, limits, compression."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from wsgiref.validate import validator

import pytest
from werkzeug.test import TestResponse, create_environ

from mock_platform.api.v2.objects.post_view import show_whole_post
from mock_platform.api.v2.objects.users import NEWEST_FIRST
from mock_platform.core.wire_choice import read_wire
from tests.support import BEARER, HARBOR, USER_TOKEN, Keys, Sandbox, sandbox

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ME, BY_NAME = "/2/users/me", "/2/users/by/username/harbor_roasters"
VERIFY, RULES = "/1.1/account/verify_credentials.json", "/2/tweets/search/stream/rules"
STRANGER = Keys("unknown", "x", "t", "s")
JSON, PROBLEM = "application/json; charset=utf-8", "application/problem+json"
SECURITY = {
    "strict-transport-security": "max-age=631138519",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "x-xss-protection": "0",
}
SETTINGS = {"wire": "recorded", "freeze": NOON}


def ask(box: Sandbox, path: str, keys: Any = BEARER, wire: str = "", **more: Any) -> TestResponse:
    """The answer to a GET, on the wire of the sandbox or on another one."""
    return box.call("GET", path, keys=keys, headers={"X-Mock-Wire": wire} if wire else {}, **more)


def own_headers(answer: TestResponse) -> dict[str, str]:
    """The headers of an answer without those that mark a sandbox."""
    return {name: value for name, value in answer.headers if not name.startswith("X-Mock-")}


MISSING = {"title": "Not Found Error", "detail": "Could not find user with id: [99]."}


@pytest.mark.parametrize(("path", "keys", "wire", "status", "kind", "shown", "absent"), [
    ("/2/users/99", BEARER, "spec", 404, PROBLEM, {"status": 404, "value": "99"}, ()),
    ("/2/users/99", BEARER, "", 404, JSON, MISSING, ("status", "value", "parameter")),
    ("/2/users/99", BEARER, "recorded-2023", 200, JSON, {}, ("status", "title", "data")),
    ("/2/users/x", BEARER, "spec", 400, PROBLEM, {"status": 400}, ()),
    ("/2/users/x", BEARER, "", 400, JSON, {"title": "Invalid Request"}, ("status",)),
    (ME, None, "spec", 401, PROBLEM, {"status": 401}, ()),
    (ME, None, "", 401, JSON, {"status": 401, "detail": "Unauthorized"}, ()),
    (ME, BEARER, "", 403, JSON, {"status": 403, "title": "Unsupported Authentication"}, ()),
])  # fmt: skip
def test_refusals(
    box: Sandbox,
    path: str,
    keys: Any,
    wire: str,
    status: int,
    kind: str,
    shown: Mapping[str, Any],
    absent: tuple[str, ...],
) -> None:
    """Statuses, media types and keys of refusals are those of each form of the wire."""
    answer = ask(box, path, keys, wire)
    body = answer.get_json()

    assert (status, kind) == (answer.status_code, answer.headers["content-type"])
    assert shown.items() <= body.items()
    assert not set(absent) & set(body)
    if path == "/2/users/99":
        assert "99" == body["errors"][0]["value"]


def test_what_is_missing_for_a_write_is_a_404_in_any_year(box: Sandbox) -> None:
    """Until 2023 only readings answered 200 with errors."""
    headers = {"X-Mock-Wire": "recorded-2023"}
    answer = box.call("DELETE", "/2/tweets/99", headers=headers)

    assert 404 == answer.status_code
    assert "recorded-2023" == answer.headers["X-Mock-Wire"]


@pytest.mark.parametrize("markers", [True, False])
@pytest.mark.parametrize("path", ["/2/twets", "/2/tw\u00e9ts", "/2/twets%0D%0AX:1"])
def test_an_unknown_path(path: str, markers: bool) -> None:
    """It is an empty 404 without a media type; the reason is in a header of the sandbox alone."""
    answer = ask(sandbox(wire="recorded", markers=markers), path)
    why = answer.headers.get("X-Mock-Why")

    assert (404, b"", {"content-length": "0"}) == (
        answer.status_code, answer.data, own_headers(answer),
    )  # fmt: skip
    assert (why or "").startswith("No operation has the path /2/tw") is markers


@pytest.mark.parametrize(("wire", "message", "challenge"), [
    ("spec", "Could not authenticate you", 'OAuth realm="mock_platform"'),
    ("recorded", "Could not authenticate you.",
     'OAuth realm="https://api.x.com", api_error_code=32'),
])  # fmt: skip
def test_code_32(box: Sandbox, wire: str, message: str, challenge: str) -> None:
    """A refused signature has its code in the challenge, and a full stop, as recorded."""
    answer = ask(box, VERIFY, STRANGER, wire)

    assert {"errors": [{"code": 32, "message": message}]} == answer.get_json()
    assert challenge == answer.headers["www-authenticate"]


@pytest.mark.parametrize("wire", ["spec", "recorded"])
def test_any_wsgi_server_takes_an_answer(box: Sandbox, wire: str) -> None:
    """Its headers are a plain list, which some servers insist on."""
    seen: list[object] = []

    def start(status: str, headers: list[tuple[str, str]], fault: Any = None, /) -> Any:
        seen.append(headers)

    body: Any = validator(box.app)(create_environ(BY_NAME, headers={"X-Mock-Wire": wire}), start)
    assert b"".join(body).startswith(b"{")
    body.close()

    assert [list] == [type(headers) for headers in seen]


@pytest.mark.parametrize("dry_run", ["true", "false"])
def test_rules_that_were_created(box: Sandbox, dry_run: str) -> None:
    """They are a 201, also in a dry run; where nothing is created or something deleted, a 200."""

    def change(wire: str, **body: Any) -> int:
        target = f"{RULES}?dry_run={dry_run}"
        headers = {"X-Mock-Wire": wire}
        return box.call("POST", target, keys=BEARER, headers=headers, json=body).status_code

    both = [{"value": "espresso"}, {"value": "("}]
    assert 200 == change("spec", add=[{"value": "roaster"}])
    assert 201 == change("recorded", add=both)
    assert 200 == change("recorded", add=[{"value": "("}])
    assert 200 == change("recorded", delete={"values": ["espresso"]})


ADD = "/2/tweets/search/stream/rules"


@pytest.mark.parametrize("form", ["spec", "recorded"])
@pytest.mark.parametrize(("doubt", "request_", "status", "kind", "shown"), [
    ("rules=200", ("POST", ADD), 200, JSON, "meta"),
    ("rules=201", ("POST", ADD), 201, JSON, "meta"),
    ("missing=404", ("GET", "/2/users/99"), 404, "", "title"),
    ("missing=200", ("GET", "/2/users/99"), 200, JSON, "errors"),
    ("problems=json", ("GET", "/2/users/99"), 404, JSON, "title"),
    ("problems=problem+json", ("GET", "/2/users/99"), 404, PROBLEM, "title"),
    ("limit=code", ("GET", ""), 429, JSON, "code"),
    ("limit=problem", ("GET", ""), 429, "", "title"),
    ("unknown=ignored", ("GET", f"{BY_NAME}?colour=red"), 200, JSON, "data"),
    ("unknown=refused", ("GET", f"{BY_NAME}?colour=red"), 400, "", "errors"),
])  # fmt: skip
def test_each_doubt_by_itself(
    form: str, doubt: str, request_: tuple[str, str], status: int, kind: str, shown: str
) -> None:
    """What was seen in more than one form is chosen by itself, on either wire."""
    box, (method, path) = sandbox(limits="public", freeze=NOON), request_
    asked = {"X-Mock-Wire": f"{form},{doubt}"}
    if not path:
        path = "/2/trends/by/woeid/1"
        for _ in range(75):
            ask(box, path, wire=form)
    body = {"add": [{"value": "espresso"}]} if method == "POST" else None
    answer = box.call(method, path, keys=BEARER, headers=asked, json=body)
    usual = {"spec": PROBLEM, "recorded": JSON}[form]

    assert (status, kind or usual) == (answer.status_code, answer.headers["content-type"])
    assert shown in answer.get_json()
    assert read_wire(f"{form},{doubt}").name == answer.headers.get("X-Mock-Wire", "spec")
    assert form == "recorded" or "x-transaction-id" not in answer.headers


def test_events_of_a_world_have_the_links_of_its_wire(box: Sandbox) -> None:
    """A wire that differs in what is in doubt is as recorded in everything else."""
    box.world.wire = "recorded-2023"
    box.call("POST", "/2/tweets", json={"text": "At https://harbor.example/menu"})
    post = box.world.store.page("posts", {}, order=NEWEST_FIRST, limit=1)[0].record

    assert "https://s.example/" in show_whole_post(box.world, post)["text"]


def test_headers_of_v2(box: Sandbox) -> None:
    """They are those of recorded answers, with names in small letters."""
    found = own_headers(ask(box, BY_NAME))
    reset = str(int(NOON.timestamp()) + 900)

    assert int(found.pop("x-response-time")) >= 0
    assert 16 == len(found.pop("x-transaction-id"))
    assert found.pop("content-length").isdecimal()
    assert {
        "content-type": JSON, "cache-control": "no-cache, no-store, max-age=0",
        "content-disposition": "attachment; filename=json.json", "api-version": "2.166",
        "x-access-level": "read", "x-rate-limit-limit": "300", "x-rate-limit-remaining": "299",
        "x-rate-limit-reset": reset, **SECURITY,
    } == found  # fmt: skip


def test_headers_of_the_others(box: Sandbox) -> None:
    """Version 1.1 and OAuth have no space in the media type; the advertising interface no more."""
    older = own_headers(ask(box, VERIFY, HARBOR))
    token = box.call(
        "POST", "/oauth2/token", keys=None, form={"grant_type": "client_credentials"},
        headers={"Authorization": "Basic x"},
    )  # fmt: skip
    ads = own_headers(ask(box, "/12/accounts"))

    assert "application/json;charset=utf-8" == older["content-type"]
    assert SECURITY.items() <= older.items()
    assert {"75", "read-write-directmessages"} <= set(older.values())
    assert "api-version" not in older
    assert "application/json;charset=utf-8" == token.headers["content-type"]
    assert "x-access-level" not in token.headers
    assert not set(SECURITY) & set(ads)
    assert {name.lower() for name in ads} == set(ads)


def test_an_unknown_caller_has_no_level_and_no_limit(box: Sandbox) -> None:
    """A 401 has neither header; a 400 and a 404 have both, and count."""
    unknown = own_headers(ask(box, ME, None))
    refused = own_headers(ask(box, "/2/users?ids=x"))
    missing = own_headers(ask(box, "/2/users/99"))

    assert not [name for name in unknown if name.startswith(("x-rate", "x-access"))]
    for each in (refused, missing):
        assert ("read", "299") == (each["x-access-level"], each["x-rate-limit-remaining"])


@pytest.mark.parametrize(("keys", "access", "permissions", "scopes", "expected"), [
    (BEARER, None, None, None, "read"),
    (HARBOR, "read", None, None, "read"),
    (HARBOR, "write", ["read", "write"], None, "read-write"),
    (HARBOR, "write", ["read", "write", "direct_messages"], None, "read-write-directmessages"),
    (USER_TOKEN, None, None, ["post.read", "users.read"], "read"),
    (USER_TOKEN, None, None, ["post.read", "users.read", "like.write"], "read-write"),
    (USER_TOKEN, None, None, ["post.read", "users.read", "dm.write"], "read-write-directmessages"),
])  # fmt: skip
def test_access_level(
    box: Sandbox, keys: Any, access: Any, permissions: Any, scopes: Any, expected: str
) -> None:
    """It says what the token of the caller allows."""
    token = str(keys.token if isinstance(keys, Keys) else keys)
    if access is not None:
        box.change("tokens", token, access=access)
    if scopes is not None:
        box.change("tokens", token, scopes=scopes)
    if permissions is not None:
        box.change("apps", "11827", _permissions=permissions)

    assert expected == ask(box, BY_NAME, keys).headers["x-access-level"]


def test_an_app_and_its_users_have_windows_of_their_own(box: Sandbox) -> None:
    """The limits of the public interface are in force, and each caller sees its own."""
    shown = [
        (answer.headers["x-rate-limit-limit"], answer.headers["x-rate-limit-remaining"])
        for keys in (BEARER, BEARER, HARBOR, USER_TOKEN)
        for answer in [ask(box, BY_NAME, keys)]
    ]

    assert [("300", "299"), ("300", "298"), ("900", "899"), ("900", "898")] == shown


def test_windows_of_a_day_have_headers_of_their_own(box: Sandbox) -> None:
    """An app's day is shared by its users; a user's day is shown beside the 15 minutes."""
    post = box.call("POST", "/2/tweets", json={"text": "Fresh"}).headers
    like = box.call("POST", "/2/users/2244994945/likes", json={"tweet_id": "1789900000000000004"})

    assert ("100", "10000") == (post["x-rate-limit-limit"], post["x-app-limit-24hour-limit"])
    assert "9999" == post["x-app-limit-24hour-remaining"]
    assert "999" == like.headers["x-user-limit-24hour-remaining"]
    assert str(int(NOON.timestamp()) + 86_400) == like.headers["x-user-limit-24hour-reset"]


def test_the_window_of_a_second_is_shown_when_it_is_exceeded(box: Sandbox) -> None:
    """A search of all posts shows its 15 minutes; who was too fast learns of the second."""
    path = "/2/tweets/search/all?query=coffee"
    first, second = ask(box, path), ask(box, path)
    names = ("x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset")
    noon = int(NOON.timestamp())

    assert [200, "300", "299", str(noon + 900)] == [
        first.status_code, *(first.headers[name] for name in names),
    ]  # fmt: skip
    assert [429, "1", "0", str(noon + 1)] == [
        second.status_code, *(second.headers[name] for name in names),
    ]  # fmt: skip
    assert {
        "title": "Too Many Requests", "type": "about:blank", "status": 429,
        "detail": "Too Many Requests",
    } == second.get_json()  # fmt: skip


@pytest.mark.parametrize(
    ("wire", "limits", "limited"),
    [("spec", "spec", False), ("spec", "public", True), ("recorded", "spec", True),
     ("recorded", "off", False)],
)  # fmt: skip
def test_which_limits_are_in_force(wire: str, limits: str, limited: bool) -> None:
    """On the recorded wire those of the public interface are, unless limits are off."""
    answer = ask(sandbox(wire=wire, limits=limits), BY_NAME)

    assert limited is ("x-rate-limit-limit" in answer.headers)


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [("gzip, deflate", True), ("br, GZIP;q=0.5", True), ("gzip;q=0", False), ("deflate", False)],
)
def test_compression(box: Sandbox, accepted: str, compressed: bool) -> None:
    """A client that takes gzip gets it; the journal shows the text."""
    plain = ask(box, BY_NAME).data
    answer = box.call("GET", BY_NAME, keys=BEARER, headers={"Accept-Encoding": accepted})

    assert compressed is (answer.headers.get("content-encoding") == "gzip")
    assert plain == (gzip.decompress(answer.data) if compressed else answer.data)
    assert str(len(answer.data)) == answer.headers["content-length"]
    assert plain == box.world.journal.find()[-1].response_body


@pytest.mark.parametrize("wire", [None, "spec"])
def test_no_compression_as_documented(wire: str | None) -> None:
    """The wire of the specification has no gzip, and no header of the recorded one."""
    answer = sandbox(wire=wire).call(
        "GET", BY_NAME, keys=BEARER, headers={"Accept-Encoding": "gzip"}
    )

    assert {"Content-Type", "Content-Length"} == set(own_headers(answer))
    assert "X-Mock-Wire" not in answer.headers


def test_transactions_are_numbered_like_ids(box: Sandbox) -> None:
    """The same requests have the same after a reset; each its own, journal cleared or not."""

    def read() -> list[str]:
        return [ask(box, BY_NAME).headers["x-transaction-id"] for _ in range(3)]

    first = read()
    box.world.journal.clear()
    later = read()
    box.world.reset()

    assert read() == first
    assert 6 == len({*first, *later})
    assert re.fullmatch("[0-9a-f]{16}", first[0])


EXTENDED, PLACE = {"has_extended_profile"}, {"profile_location"}
OWN = {"suspended", "needs_phone_verification"}


@pytest.mark.parametrize(("path", "wire", "more"), [
    (VERIFY, "spec", set()),
    (VERIFY, "", EXTENDED | OWN),
    ("/1.1/users/show.json?user_id=2244994945", "", EXTENDED | PLACE | OWN),
    ("/1.1/users/show.json?screen_name=northbike_co", "", EXTENDED | PLACE),
])  # fmt: skip
def test_users_of_the_older_interface(box: Sandbox, path: str, wire: str, more: set[str]) -> None:
    """Users have the keys that recorded ones have, and their entities in any case."""
    first = ask(box, path, HARBOR, wire)
    bare = ask(box, f"{path}{'&' if '?' in path else '?'}include_entities=false", HARBOR, wire)

    assert more == (EXTENDED | PLACE | OWN) & first.get_json().keys()
    assert (wire != "spec") == ("entities" in bare.get_json())


def test_counts_of_all_time_begin_at_midnight(box: Sandbox) -> None:
    """The 30 days by default begin at midnight, and with the specification at the hour."""
    path = "/2/posts/counts/all?query=coffee&granularity=day"

    starts = [ask(box, path, wire=wire).get_json()["data"][0]["start"] for wire in ("spec", "")]

    assert ["2026-10-23T12:00:00.000Z", "2026-10-23T00:00:00.000Z"] == starts


def test_protected_users_are_no_part_of_other_posts(box: Sandbox) -> None:
    """A protected user whom a post mentions is named in errors."""
    box.change("users", "2790441185", protected=True)
    box.call("POST", "/2/posts", json={"text": "@ines_duarte coffee"}, keys=HARBOR)
    found = ask(box, "/2/posts/search/recent?query=coffee&expansions=entities.mentions.username")

    assert [("Authorization Error", "user", "ines_duarte")] == [
        (one["title"], one["resource_type"], one["value"]) for one in found.get_json()["errors"]
    ]


def test_plain_refusals_name_the_realm(box: Sandbox) -> None:
    """A 401 of /oauth that is a text has www-authenticate."""
    answer = box.call("POST", "/oauth/access_token?oauth_verifier=y", keys=HARBOR)

    assert (401, 'OAuth realm="https://api.x.com"') == (
        answer.status_code,
        answer.headers.get("www-authenticate"),
    )
