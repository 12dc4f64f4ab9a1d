from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

import pytest

from mock_platform.control.journal import archive
from mock_platform.verification.har.writer import MAX_BODY_BYTES
from mock_platform.world.clock import parse_instant
from mock_platform.world.endings import AnswerEnding
from mock_platform.world.journal import JournalEntry
from tests.control.support import call
from tests.support import ACCOUNT, HARBOR, Sandbox

TEXT, COUNT, TIME, LIST, OBJECT = str, int, (int, float), list, dict
PAIR = {"name": TEXT, "value": TEXT}
# What HAR 1.2 demands of each object; `?` marks what may be left out.
STRUCTURE: dict[str, dict[str, Any]] = {
    "log": {"version": TEXT, "creator": OBJECT, "entries": LIST, "comment?": TEXT},
    "creator": {"name": TEXT, "version": TEXT, "comment?": TEXT},
    "entries": {
        "startedDateTime": TEXT, "time": TIME, "request": OBJECT, "response": OBJECT,
        "cache": OBJECT, "timings": OBJECT, "_mock?": OBJECT,
    },
    "request": {
        "method": TEXT, "url": TEXT, "httpVersion": TEXT, "cookies": LIST, "headers": LIST,
        "queryString": LIST, "postData?": OBJECT, "headersSize": COUNT, "bodySize": COUNT,
    },
    "postData": {"mimeType": TEXT, "text": TEXT, "comment?": TEXT, "_encoding?": TEXT},
    "response": {
        "status": COUNT, "statusText": TEXT, "httpVersion": TEXT, "cookies": LIST,
        "headers": LIST, "content": OBJECT, "redirectURL": TEXT, "headersSize": COUNT,
        "bodySize": COUNT,
    },
    "content": {
        "size": COUNT, "mimeType": TEXT, "text?": TEXT, "encoding?": TEXT, "comment?": TEXT,
    },
    "timings": {
        "blocked": TIME, "dns": TIME, "connect": TIME, "send": TIME, "wait": TIME,
        "receive": TIME,
    },
    "cache": {}, "cookies": PAIR, "headers": PAIR, "queryString": PAIR,
}  # fmt: skip


def valid(name: str, value: Any) -> None:
    """Assert that an object, and all within it, is as HAR 1.2 has it."""
    if isinstance(value, list):
        for item in value:
            valid(name, item)
        return
    if name not in STRUCTURE:
        return
    declared = {key.rstrip("?"): kind for key, kind in STRUCTURE[name].items()}
    required = {key for key in STRUCTURE[name] if not key.endswith("?")}
    assert set(value) <= set(declared), name
    assert required <= set(value), name
    for key, item in value.items():
        assert isinstance(item, declared[key]), (name, key)
        valid(key, item)
    if name == "entries":
        datetime.fromisoformat(value["startedDateTime"])
        parts = [part for part in value["timings"].values() if part >= 0]
        assert value["time"] == pytest.approx(sum(parts))


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox that was asked for a list, and for a token with a form."""
    box.call("GET", f"/12/accounts/{ACCOUNT}/line_items?count=2&x=")
    box.call("PUT", f"/12/accounts/{ACCOUNT}/line_items/nope", form={"name": "né w"})
    box.call("GET", "/nope")
    return box


def entries(box: Sandbox, query: str = "") -> list[dict[str, Any]]:
    """The entries of the archive that a query finds."""
    answer = call(box, "GET", f"/requests.har{query}")
    assert 200 == answer.status_code
    body = answer.get_json()
    valid("log", body["log"])
    found: list[dict[str, Any]] = body["log"]["entries"]
    return found


def test_structure(box: Sandbox) -> None:
    """The archive is HAR 1.2 and comes as a file of the world's name."""
    answer = call(box, "GET", "/requests.har")

    assert "1.2" == answer.get_json()["log"]["version"]
    assert 'attachment; filename="default.har"' == answer.headers["Content-Disposition"]
    assert 3 == len(entries(box))


def test_entry(box: Sandbox) -> None:
    """An entry holds request, answer, and why the answer was what it was."""
    first, second, third = entries(box)

    assert [{"name": "count", "value": "2"}, {"name": "x", "value": ""}] == (
        first["request"]["queryString"]
    )
    assert "postData" not in first["request"]
    assert 200 == first["response"]["status"]
    assert first["response"]["content"]["text"].startswith('{"request":')
    assert "line_items.list" == first["_mock"]["operation"]
    assert "ads.params-echo" in first["_mock"]["assumptions"]
    assert "rule" in first["_mock"]
    assert {"mimeType": "application/x-www-form-urlencoded", "text": "name=n%C3%A9+w"} == (
        second["request"]["postData"]
    )
    assert third["_mock"]["operation"] is None


def test_redacted(box: Sandbox) -> None:
    """Credentials are in no part of the archive: headers, cookies, bodies."""
    text = call(box, "GET", "/requests.har").text

    assert HARBOR.key in text
    assert HARBOR.token is not None
    assert HARBOR.token not in text
    assert 'oauth_signature=\\"[redacted]' in text


@pytest.mark.parametrize(
    ("query", "count"),
    [("?operation=line_items.list", 1), ("?status=404", 2), ("?method=get", 2), ("?limit=1", 1),
     ("?path=nope&limit=0", 0), ("?rule=usage-capped", 0)],
)  # fmt: skip
def test_filters(box: Sandbox, query: str, count: int) -> None:
    """The archive is filtered as the list of requests is."""
    listed = call(box, "GET", f"/requests{query}").get_json()["requests"]

    found = entries(box, query)

    assert count == len(found)
    assert [entry["id"] for entry in listed] == [entry["_mock"]["id"] for entry in found]


def made(body: bytes, **more: Any) -> dict[str, Any]:
    """The entry of a request with this body, answered with the same."""
    values: dict[str, Any] = {
        "id": "r1", "at": parse_instant("2026-03-01"), "world": "default", "method": "POST",
        "url": "http://localhost/x?oauth_token=abc", "status": 302, "handler_milliseconds": 1.5,
        "request_headers": [("Content-Type", "text/plain"), ("Cookie", "session=abc; theme=dark")],
        "request_body": body, "response_body": body,
    }  # fmt: skip
    entry = JournalEntry(**(values | more))
    log = archive([entry], 7)["log"]
    valid("log", log)
    assert "dropped 7 older entries" in log["comment"]
    found: dict[str, Any] = log["entries"][0]
    return found


def test_bytes_that_are_no_text() -> None:
    """An answer that is no text is base64, redacted all the same."""
    shown = made(b"\xff\xfe access_token=abc&x=1")

    content = shown["response"]["content"]
    assert "base64" == content["encoding"]
    assert b"\xff\xfe access_token=[redacted]&x=1" == base64.b64decode(content["text"])
    assert "not UTF-8" in shown["request"]["postData"]["comment"]
    assert 23 == shown["response"]["bodySize"]


@pytest.mark.parametrize(("more", "cut"), [(0, False), (1, True)])
def test_long_bodies_are_cut(more: int, cut: bool) -> None:
    """Bodies beyond the limit are cut, and say so; their size stays true."""
    shown = made(b"x" * (MAX_BODY_BYTES + more))

    assert cut == ("comment" in shown["request"]["postData"])
    assert cut == ("comment" in shown["response"]["content"])
    assert MAX_BODY_BYTES == len(shown["response"]["content"]["text"])
    assert MAX_BODY_BYTES + more == shown["response"]["content"]["size"]


@pytest.mark.parametrize(
    ("ending", "status", "text"),
    [
        (AnswerEnding("truncated", 2), 302, "bo"),
        (AnswerEnding("reset", 0), 0, None),
        (AnswerEnding("disconnected", 0, 250.0), 0, None),
        (AnswerEnding("disconnected"), 302, "body"),
        (None, 302, "body"),
    ],
)
def test_what_the_client_got(ending: AnswerEnding | None, status: int, text: str | None) -> None:
    """An answer that was cut is as long as the client got it; status 0 says that none came."""
    shown = made(b"body", ending=ending)

    assert (status, text) == (shown["response"]["status"], shown["response"]["content"].get("text"))
    assert 302 == shown["_mock"]["status"]
    assert (None if ending is None else ending.how) == (shown["_mock"]["ended"] or {}).get("how")
    assert (1.5 if ending is None else 1.5 + ending.after) == shown["time"]


def test_redirects_and_cookies_of_answers() -> None:
    """Where a redirect leads is shown without credentials, set cookies by name alone."""
    headers = [("Location", "http://a/?oauth_verifier=abc"), ("Set-Cookie", "s=abc; Path=/")]

    shown = made(b"", response_headers=headers)

    assert "http://a/?oauth_verifier=[redacted]" == shown["response"]["redirectURL"]
    assert [{"name": "s", "value": "[redacted]"}] == shown["response"]["cookies"]
    assert "http://localhost/x?oauth_token=[redacted]" == shown["request"]["url"]
    assert [
        {"name": "session", "value": "[redacted]"},
        {"name": "theme", "value": "[redacted]"},
    ] == shown["request"]["cookies"]
    assert "Found" == shown["response"]["statusText"]


def test_the_reason_phrase_that_was_sent() -> None:
    """Where an answer had another reason phrase than the standard one, that one is shown."""
    shown = made(b"", reason="Authorization Required")

    assert "Authorization Required" == shown["response"]["statusText"]


def test_no_spelling_of_a_secret_is_in_the_archive() -> None:
    """Neither in the decoded query, nor in an address within, nor in a field of a form."""
    url = (
        "http://[::1/x?oauth%5Ftoken=s3cret&next=http%3A%2F%2Fc%2F%3Foauth_token%3Ds3cret%26a%3D1"
        "&j=%7B%22pin%22%3A%22s3cret%22%7D&count=9"
    )
    body = b'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\ns3cret\xff\r\n--b--'
    kind = [("Content-Type", "multipart/form-data; boundary=b")]

    shown = made(body, url=url, request_headers=kind, response_headers=kind)

    assert [
        {"name": "oauth_token", "value": "[redacted]"},
        {"name": "next", "value": "http://c/?oauth_token=[redacted]&a=1"},
        {"name": "j", "value": '{"pin":"[redacted]"}'},
        {"name": "count", "value": "9"},
    ] == shown["request"]["queryString"]
    assert "s3cret" not in json.dumps(shown)
    content = base64.b64decode(shown["response"]["content"]["text"])
    assert b"s3cret" not in content
    assert b'name="password"' in content
