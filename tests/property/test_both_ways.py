"""Straight to the platform and by way of Flask, requests are answered byte for byte alike.

Four servers begin alike and are asked the same: two without listeners, one of them without a
WSGI environ, one with a hook, and one with an added route. So what one request changes, the next
finds on each of them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from mock_platform.core import reasons
from mock_platform.core.address import split_world
from mock_platform.core.connection import Peer, Request
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.serving.flask.sending import StreamBody
from mock_platform.settings import Settings
from mock_platform.world.clock import machine_now, parse_instant
from tests.generated import examples
from tests.property.test_any_bytes import CREDENTIALS, TEXT, bare_environ, environs
from tests.support import ACCOUNT, BEARER, HARBOR, signed

Environ = dict[str, Any]
Answer = tuple[str, list[tuple[str, str]], bytes]


class Four:
    """The same platform: without listeners, with a hook, with an added route, without WSGI."""

    def __init__(self) -> None:
        moment = parse_instant("2026-03-01T12:00:00Z")
        self.platforms = [Platform(Settings(freeze=moment, limits="off")) for _ in range(4)]
        self.apps = [create_app(platform) for platform in self.platforms]
        self.seen = 0
        self.apps[1].before_request(self._see)
        self.apps[2].get("/own")(lambda: "own")
        for platform in self.platforms:
            platform.worlds.create("w1")

    def _see(self) -> None:
        self.seen += 1

    def _entry(self, platform: Platform) -> dict[str, Any] | None:
        """What the journal of the default world says of the last request."""
        entries = platform.worlds.default.journal.find(limit=1)
        return (
            entries[-1].as_json() | {"milliseconds": 0, "handler_milliseconds": 0}
            if entries
            else None
        )

    def check(self, environ: Environ) -> Answer:
        """Ask all four, and return what they all answered."""
        body = environ["wsgi.input"].read()
        answers = [
            _ask(app, environ | {"wsgi.input": io.BytesIO(body), "wsgi.errors": io.StringIO()})
            for app in self.apps[:3]
        ]
        # A server's reader lets no other length through, and the query is part of the target.
        _, _, query = environ.get("REQUEST_URI", "").partition("?")
        whole = (
            "REQUEST_URI" in environ
            and query == environ.get("QUERY_STRING", "")
            and environ.get("CONTENT_LENGTH") == str(len(body))
        )
        last = self.apps[3]
        method, path = environ["REQUEST_METHOD"].upper(), environ.get("REQUEST_URI", "")
        if self.platforms[3].may_block(method, split_world(path.partition("?")[0])[1]):
            whole = False  # a worker answers what may wait for an address
        answers.append(
            _ask_directly(last, environ, body)
            if whole
            else _ask(last, environ | {"wsgi.input": io.BytesIO(body)})
        )
        assert [answers[0]] * 4 == answers
        assert self._entry(self.platforms[0]) == self._entry(self.platforms[3])
        for platform in self.platforms:
            assert [] == platform.errors
        return answers[0]


def _ask(app: Any, environ: Environ) -> Answer:
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start(line: str, headers: list[tuple[str, str]], _exc: object = None) -> Any:
        started.append((line, list(headers)))
        return lambda _: None

    body = _read_body(app.wsgi_app(environ, start))
    return (*(started[0] if started else ("", [])), body)


def _read_body(parts: Any) -> bytes:
    """The body of an answer; empty for a stream, which is closed because it does not end."""
    if isinstance(parts, StreamBody):
        parts.close()
        return b""
    return b"".join(parts)


def _ask_directly(app: Any, environ: Environ, body: bytes) -> Answer:
    """The answer to a request as the server reads it, without an environ."""
    names = {"CONTENT_TYPE": "Content-Type", "CONTENT_LENGTH": "Content-Length"}
    headers = [
        (names.get(key, key.removeprefix("HTTP_").replace("_", "-")), value)
        for key, value in environ.items()
        if key.startswith("HTTP_") or key in names
    ]
    request = Request(
        environ["REQUEST_METHOD"].upper(),
        environ["REQUEST_URI"],
        "",
        "1.1",
        [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        body,
        keep_alive=True,
    )
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start(line: str, headers: list[tuple[str, str]], _exc: object = None) -> Any:
        started.append((line, list(headers)))
        return lambda _: None

    direct = app.at_once(request)
    assert direct is not None
    body = _read_body(direct(request, PEER, start))
    return (*started[0], body)


PEER = Peer(None, "127.0.0.1", "", "http", "127.0.0.1:8080")  # type: ignore[arg-type]
"""A client in tests, whose connection nobody breaks."""


@pytest.fixture(scope="module")
def four() -> Iterator[Four]:
    """The same four for all examples; what they say of the machine's clock is one moment."""
    now = machine_now()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reasons, "machine_now", lambda: now)
        yield Four()


OPERATIONS = Platform().operations
_KEYS = {
    name: sorted(rows) for name, rows in Platform().base.rows.items() if not name.startswith("_")
}
_ANY_KEY = sorted({key for keys in _KEYS.values() for key in keys})
VALUES = st.one_of(
    st.sampled_from(
        ["true", "1", "0", "-1", "DAY", "ACTIVE", "PAUSED", "name", "2026-02-28T00:00:00Z", "", "9"]
    ),
    st.sampled_from(_ANY_KEY),
    TEXT,
)
PREFIXES = st.sampled_from(["", "", "/~w1", "/~nowhere"])
UNQUOTED = st.sampled_from(["", "/:@"])
CALLERS = st.sampled_from(["signed", "signed", "bearer", "anything", "nobody"])
SCENARIOS = st.sampled_from([None] * 8 + ["outage", "rate-limited"])
METHODS = {
    method: st.sampled_from([method] * 6 + ["HEAD", "DELETE", "OPTIONS"])
    for method in {operation.method for operation in OPERATIONS}
}


@st.composite
def requests(draw: st.DrawFn, operation: Operation) -> Environ:
    """A request to an operation: mostly its method, its parameters and somebody who may."""
    path = draw(st.sampled_from([operation.path, *operation.also]))
    for segment in path.split("/"):
        if segment.startswith(":"):
            value = draw(_values_of(segment[1:]))
            path = path.replace(segment, quote(value, safe=draw(UNQUOTED)), 1)
    names = [] if operation.params is None else sorted(operation.params().fields)
    pairs = [(name, draw(VALUES)) for name in names if draw(st.booleans())]
    prefix = draw(PREFIXES)
    if operation.sandbox_only or draw(st.integers(0, 5)) == 0:
        prefix += "/sandbox"
    method = draw(METHODS[operation.method])
    in_query = draw(st.booleans())
    query = urlencode(pairs, errors="replace") if in_query else ""
    body = b"" if in_query else urlencode(pairs, errors="replace").encode()
    path = prefix + path
    environ = bare_environ(method, path, query, body) | {
        "REQUEST_URI": f"{path}?{query}" if query else path,
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
    }
    url = f"http://127.0.0.1:8080{environ['REQUEST_URI']}"
    who = draw(CALLERS)
    if who == "signed":
        form = {} if in_query else dict(pairs)
        environ["HTTP_AUTHORIZATION"] = _signature(method, url, form)
    elif who == "bearer":
        environ["HTTP_AUTHORIZATION"] = f"Bearer {BEARER}"
    elif who == "anything":
        environ["HTTP_AUTHORIZATION"] = draw(CREDENTIALS)
    scenario = draw(SCENARIOS)
    if scenario is not None:
        environ["HTTP_X_MOCK_SCENARIO"] = scenario
    return environ


@cache
def _values_of(parameter: str) -> st.SearchStrategy[str]:
    if parameter == "account_id":
        return st.one_of(st.just(ACCOUNT), st.just(ACCOUNT), st.sampled_from(_ANY_KEY), TEXT)
    table = _KEYS.get(parameter.removesuffix("_id") + "s") or _ANY_KEY
    return st.one_of(st.sampled_from(table), st.sampled_from(table), TEXT)


def _signature(method: str, url: str, form: dict[str, str]) -> str:
    try:
        return signed(method, url, HARBOR, form)["Authorization"]
    except (ValueError, UnicodeError):  # the OAuth library does not sign what is not a URL
        return "OAuth"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
@pytest.mark.claim("a property test compares both ways byte for byte")
def test_an_operation_answers_alike_on_both_ways(four: Four, operation: Operation) -> None:
    """Status line, headers in their order and body, whatever is sent to it."""

    @examples(5, suppress_health_check=list(HealthCheck))
    @given(requests(operation))
    def ask(environ: Environ) -> None:
        before = four.seen
        four.check(environ)
        gone = environ["PATH_INFO"].startswith("/~nowhere")  # which is refused before any hook
        assert four.seen == before + (0 if gone else 1)

    ask()


@examples(100, suppress_health_check=list(HealthCheck))
@given(environs())
def test_any_bytes_are_answered_alike_on_both_ways(four: Four, environ: Environ) -> None:
    """What is no request of anybody's, too."""
    if "_mock" not in environ["PATH_INFO"] and "own" not in environ["PATH_INFO"]:
        environ.setdefault("CONTENT_LENGTH", str(len(environ["wsgi.input"].getvalue())))
        four.check(environ)
