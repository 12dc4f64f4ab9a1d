"""Large bodies: what is refused unread, what a refusal says of them, and that nothing stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from mock_platform.core.call import Call
from mock_platform.core.jsonio import MAX_VALUES
from mock_platform.core.pairs import MAX_PAIRS
from mock_platform.delivery.outbound import OutboundFault
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from tests.support import ACCOUNT, BEARER, FORM, USER_TOKEN, Sandbox, make_platform, sandbox

JSON = "application/json"
CAMPAIGNS = f"/12/accounts/{ACCOUNT}/campaigns"
LONG = b'"' + b"a" * 100_000 + b'"'


@pytest.fixture(scope="module")
def made() -> Sandbox:
    """A sandbox that the tests only send refused requests to."""
    return sandbox()


@pytest.fixture
def platform() -> Iterator[Platform]:
    """What answers calls."""
    found = make_platform(Settings())
    yield found
    found.close()


@pytest.mark.parametrize("names", ["neutral", "original"])
@pytest.mark.parametrize("keys", [None, BEARER])
def test_an_advertising_body_that_is_too_large_is_refused_unread(
    made: Sandbox, monkeypatch: pytest.MonkeyPatch, names: str, keys: str | None
) -> None:
    """Nobody decodes it, whoever sends it: neither for its signature nor for its names."""

    def read(*_: object, **__: object) -> Any:
        raise AssertionError("the body was read")

    for reader in ("json", "form", "form_text", "json_body"):
        monkeypatch.setattr(Call, reader, property(read))
    monkeypatch.setattr("mock_platform.core.original_names.exchange._read_body", read)
    for kind in (JSON, FORM):
        headers = {"Content-Type": kind, "X-Mock-Names": names}
        answer = made.call("POST", CAMPAIGNS, keys=keys, headers=headers, data=b"1" * 5_000_001)

        assert 413 == answer.status_code
        assert "5,000,000" in answer.get_data(as_text=True)


@pytest.mark.parametrize("path", ["/2/oauth2/token", "/oauth/request_token", CAMPAIGNS])
def test_a_form_with_too_many_parameters_is_refused(made: Sandbox, path: str) -> None:
    """In the dialect of its path; the refusal says how many it may have."""
    form = "&".join(f"k{number}=1" for number in range(MAX_PAIRS + 1))
    answer = made.call("POST", path, keys=None, headers={"Content-Type": FORM}, data=form)

    assert 400 == answer.status_code
    assert "more than 10,000 parameters" in answer.get_data(as_text=True)


def test_json_with_too_many_values_is_refused(made: Sandbox) -> None:
    """Whatever they are; the refusal says how many it may have."""
    body = b'{"add":[' + b",".join([b"1"] * MAX_VALUES) + b"]}"
    path = "/2/posts/search/stream/rules"
    answer = made.call("POST", path, keys=BEARER, headers={"Content-Type": JSON}, data=body)

    assert 400 == answer.status_code
    assert "more than 250,000 values" in answer.get_data(as_text=True)


def test_an_answer_reports_a_hundred_faults(made: Sandbox) -> None:
    """And says that there are more; each repeats a part of a long value."""
    reply = {"in_reply_to_post_id": "1", "exclude_reply_user_ids": [1] * 1_000}
    answer = made.call("POST", "/2/posts", json={"text": "a", "reply": reply})
    errors = answer.get_json()["errors"]

    assert 400 == answer.status_code
    assert "reply.exclude_reply_user_ids[99]" in errors[99]["parameters"]
    assert "There are more than 100 faults" in errors[-1]["message"]
    assert 101 == len(errors)
    shown = [value for each in errors for values in each["parameters"].values() for value in values]
    assert max(map(len, shown)) < 25_100


@pytest.mark.parametrize(
    "beginning", ["\U0001f600" * 250_001, "see https://a.example/" + "a" * 250_000]
)
def test_a_post_of_megabytes_is_too_long(made: Sandbox, beginning: str) -> None:
    """Whether its beginning is, or only the whole text: a long address counts as 23."""
    text = beginning + " and more" * 4_000
    answer = made.call("POST", "/2/posts", keys=USER_TOKEN, json={"text": text})

    assert 403 == answer.status_code
    assert "Your Post is too long: its weighted length is" in answer.get_json()["detail"]


def test_a_long_value_is_cut_where_a_refusal_repeats_it(made: Sandbox) -> None:
    """In the message and among the parameters."""
    body = b'{"text":[' + LONG + b"]}"
    answer = made.call("POST", "/2/posts", keys=USER_TOKEN, data=body, content_type=JSON)

    assert 400 == answer.status_code
    assert len(answer.data) < 60_000


REFUSED = {
    "a value of another type": ("/2/posts", JSON, b'{"text":[' + LONG + b"]}"),
    "not JSON": ("/2/posts", JSON, b'{"text":' + LONG),
    "faults within objects": (
        "/2/posts", JSON,
        b'{"text":"a","poll":{"options":[' + LONG + b',1],"duration_minutes":"x"}}',
    ),
    "a wrong item of a list": (
        "/2/posts", JSON, b'{"text":"a","media":{"media_ids":[1,2,' + LONG + b"]}}"
    ),
    "another body than an object": ("/2/posts", JSON, b"[" + LONG + b"]"),
    "refused by a rule": ("/2/posts", JSON, b'{"text":' + LONG + b"}"),
    "nested too deeply": ("/2/posts", JSON, b'{"a":' + b"[" * 99 + LONG + b"]" * 99 + b"}"),
    "objects in a list": (
        "/2/posts/search/stream/rules", JSON,
        b'{"add":[{"value":1,"tag":' + LONG + b'},{"value":' + LONG + b"}]}",
    ),
    "a form": (CAMPAIGNS, FORM, b"name=" + b"a" * 100_000 + b"&x=1"),
    "a batch": (
        f"/12/batch/accounts/{ACCOUNT}/campaigns", JSON,
        b'[{"operation_type":"Create","params":{"name":1,"x":' + LONG + b'}},{"params":7}]',
    ),
    "a multipart form without an end": (
        "/2/media/upload", "multipart/form-data; boundary=X",
        b'--X\r\nContent-Disposition: form-data; name="media"\r\n\r\n' + LONG,
    ),
}  # fmt: skip


@pytest.mark.parametrize("names", ["neutral", "original"])
@pytest.mark.parametrize("name", REFUSED)
def test_nothing_of_a_refused_body_waits_for_the_garbage_collector(
    platform: Platform, name: str, names: str
) -> None:
    """Exceptions refer to frames, and those to bodies: no circle among them may remain."""
    path, media_type, body = REFUSED[name]
    token = BEARER if "rules" in path or path.startswith("/12/") else USER_TOKEN
    headers = [
        ("Content-Type", media_type), ("Authorization", f"Bearer {token}"), ("X-Mock-Names", names)
    ]  # fmt: skip

    def send() -> int:
        call = Call("POST", f"http://h{path}", path, "http://h", headers, body)
        return platform.handle(call).status

    send()  # makes what is kept for further calls
    gc.collect()
    gc.freeze()  # what other tests have made is not looked at again and again
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        status = send()
        gc.collect()
        # A delivery of another test may fail in its thread meanwhile; a body is no connection.
        # By `type`: to ask a proxy among the garbage for its class would be an error.
        left = [
            each
            for each in gc.garbage
            if issubclass(type(each), Call | Exception)
            and not issubclass(type(each), OSError | OutboundFault)
        ]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()

    assert 400 <= status < 500
    assert [] == left
