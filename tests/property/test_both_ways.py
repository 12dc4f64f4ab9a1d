"""Straight to the platform and by way of Flask, requests are answered byte for byte alike.

Three servers begin alike and are asked the same: one in which nobody listens, one with a hook, and
one with an added route. So what one request changes, the next meets on each of them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mock_platform.app import create_app
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant
from tests.property.test_any_bytes import CREDENTIALS, TEXT, environs
from tests.support import ACCOUNT, BEARER, HARBOR, signed

Environ = dict[str, Any]
Answer = tuple[str, list[tuple[str, str]], bytes]


class Three:
    """The same platform three times: nobody listens, a hook listens, a route was added."""

    def __init__(self) -> None:
        moment = parse_instant("2026-03-01T12:00:00Z")
        self.platforms = [Platform(Settings(freeze=moment, limits="off")) for _ in range(3)]
        self.apps = [create_app(platform) for platform in self.platforms]
        self.seen = 0
        self.apps[1].before_request(self._see)
        self.apps[2].get("/own")(lambda: "own")
        for platform in self.platforms:
            platform.worlds.create("w1")

    def _see(self) -> None:
        self.seen += 1

    def check(self, environ: Environ) -> Answer:
        """Ask all three, and return what they all answered."""
        body = environ["wsgi.input"].read()
        answers = [
            _ask(app, environ | {"wsgi.input": io.BytesIO(body), "wsgi.errors": io.StringIO()})
            for app in self.apps
        ]
        assert answers[0] == answers[1]
        assert answers[0] == answers[2]
        for platform in self.platforms:
            assert [] == platform.errors
        return answers[0]


def _ask(app: Any, environ: Environ) -> Answer:
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start(line: str, headers: list[tuple[str, str]], _exc: object = None) -> Any:
        started.append((line, list(headers)))
        return lambda _: None

    parts: Iterable[bytes] = app.wsgi_app(environ, start)
    body = b"".join(parts)
    return (*(started[0] if started else ("", [])), body)


@pytest.fixture(scope="module")
def three() -> Three:
    """The same three for all examples."""
    return Three()


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


@st.composite
def requests(draw: st.DrawFn, operation: Operation) -> Environ:
    """A request to an operation: mostly its method, its parameters and somebody who may."""
    path = draw(st.sampled_from([operation.path, *operation.also]))
    for segment in path.split("/"):
        if segment.startswith(":"):
            value = draw(_values_of(segment[1:]))
            path = path.replace(segment, quote(value, safe=draw(st.sampled_from(["", "/:@"]))), 1)
    names = [] if operation.params is None else sorted(operation.params().fields)
    pairs = [(name, draw(VALUES)) for name in names if draw(st.booleans())]
    prefix = draw(st.sampled_from(["", "", "/~w1", "/~nowhere"]))
    if operation.sandbox_only or draw(st.integers(0, 5)) == 0:
        prefix += "/sandbox"
    method = draw(st.sampled_from([operation.method] * 6 + ["HEAD", "DELETE", "OPTIONS"]))
    in_query = draw(st.booleans())
    query = urlencode(pairs, errors="replace") if in_query else ""
    body = b"" if in_query else urlencode(pairs, errors="replace").encode()
    environ = _environ(method, prefix + path, query, body)
    url = f"http://127.0.0.1:8080{prefix}{path}" + (f"?{query}" if query else "")
    who = draw(st.sampled_from(["signed", "signed", "bearer", "anything", "nobody"]))
    if who == "signed":
        form = {} if in_query else dict(pairs)
        environ["HTTP_AUTHORIZATION"] = _signature(method, url, form)
    elif who == "bearer":
        environ["HTTP_AUTHORIZATION"] = f"Bearer {BEARER}"
    elif who == "anything":
        environ["HTTP_AUTHORIZATION"] = draw(CREDENTIALS)
    scenario = draw(st.sampled_from([None] * 8 + ["outage", "rate-limited"]))
    if scenario is not None:
        environ["HTTP_X_MOCK_SCENARIO"] = scenario
    return environ


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


def _environ(method: str, path: str, query: str, body: bytes) -> Environ:
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "REQUEST_URI": f"{path}?{query}" if query else path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8080",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1:8080",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_an_operation_answers_alike_on_both_ways(three: Three, operation: Operation) -> None:
    """Status line, headers in their order and body, whatever is sent to it."""

    @settings(
        max_examples=10,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(requests(operation))
    def ask(environ: Environ) -> None:
        before = three.seen
        three.check(environ)
        gone = environ["PATH_INFO"].startswith("/~nowhere")  # which is refused before any hook
        assert three.seen == before + (0 if gone else 1)

    ask()


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(environs())
def test_any_bytes_are_answered_alike_on_both_ways(three: Three, environ: Environ) -> None:
    """What is no request of anybody's, too."""
    if "_mock" not in environ["PATH_INFO"] and "own" not in environ["PATH_INFO"]:
        three.check(environ)
