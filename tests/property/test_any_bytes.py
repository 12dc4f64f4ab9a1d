"""No byte in a header, path, query or body makes the sandbox itself fail, whatever it is sent to.

A request is made from pieces that mean something to one part or another and from bytes that mean
nothing. What must hold: an answer below 500 (or a documented 5xx), no fault of the sandbox's own,
and a journal, archive, console and log that can still be shown.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from mock_platform.cli.logs import LogHandler
from mock_platform.core.connection import Request
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.settings import Settings
from tests.generated import examples
from tests.support import ACCOUNT, BEARER, HARBOR

Environ = dict[str, Any]

BYTES = st.text(st.characters(max_codepoint=255), max_size=12)
"""Header values and paths as PEP 3333 has them: one character for each byte."""
PIECES = st.sampled_from([
    "", "\xff", "\x00", "\x1b[31m", "\n", "\r\n", " ", "\t", "=", "&", "%", "%zz", "%ff", "%00",
    "%C3%28", "\xc3(", '"', "\\", "[", "]", "[::1", "[::1]", "://", "//", "@", ":", ":99999",
    ":x", "~", "~w1", "..", "é", "²", "\xa0", "\x85", "-1", "1e999",
    "9" * 5000, "{", "[[[[", "null",
    "\ud800".encode("utf-16", "surrogatepass").decode("latin-1"), "\xed\xa0\x80", "+", ";", ",",
    "a" * 3000, "Basic ", "Bearer ", "OAuth ", "oauth_token", "oauth_consumer_key=", BEARER,
    HARBOR.key, "gzip", "chunked", "application/json", "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=", "text/html", "q=", "*/*", "outage", "rate-limited",
    "code=", "status=", "w1", "default", "mock_platform_session_default=",
])  # fmt: skip
TEXT = st.lists(st.one_of(PIECES, BYTES), max_size=4).map("".join)
CREDENTIALS = st.one_of(
    TEXT,
    TEXT.map("Basic {}".format),
    TEXT.map("Bearer {}".format),
    TEXT.map("OAuth {}".format),
    st.builds(
        'OAuth oauth_consumer_key="{}", oauth_token="{}", oauth_signature_method="HMAC-SHA1", '
        'oauth_signature="{}", oauth_timestamp="{}", oauth_nonce="{}", oauth_version="1.0"'.format,
        st.one_of(st.just(HARBOR.key), TEXT),
        st.one_of(st.just(HARBOR.token), TEXT),
        TEXT,
        st.one_of(st.just("1700000000"), TEXT),
        TEXT,
    ),
    st.just(f"Bearer {BEARER}"),
)

HEADERS = st.dictionaries(
    st.sampled_from(["HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_ACCEPT_LANGUAGE",
                     "HTTP_CONNECTION", "HTTP_COOKIE", "HTTP_EXPECT", "HTTP_FORWARDED", "HTTP_HOST",
                     "HTTP_IF_NONE_MATCH", "HTTP_ORIGIN", "HTTP_PREFER", "HTTP_RANGE",
                     "HTTP_REFERER", "HTTP_SEC_FETCH_SITE", "HTTP_USER_AGENT", "HTTP_X_AS_USER",
                     "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO",
                     "HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_MOCK_CONTROL_TOKEN",
                     "HTTP_X_MOCK_SCENARIO", "HTTP_X_MOCK_WORLD", "CONTENT_TYPE", "CONTENT_LENGTH",
                     "HTTP_X_\xff", "HTTP_"]),
    TEXT,
    max_size=4,
)  # fmt: skip
PATHS = st.one_of(
    TEXT.map("/{}".format),
    st.builds(
        str.format,
        st.sampled_from(
            ["/2/webhooks/replay", "/2/openapi.json", "/2/{}", "/12/accounts", "/12/accounts/{}",
             f"/12/accounts/{ACCOUNT}", f"/12/accounts/{ACCOUNT}/{{}}",
             f"/12/accounts/{ACCOUNT}/line_items/{{}}", f"/12/accounts/{ACCOUNT}/cards/poll/{{}}",
             f"/12/accounts/{ACCOUNT}/cards/poll", "/oauth/request_token", "/oauth/authorize",
             "/oauth/authenticate", "/oauth/access_token", "/oauth2/token",
             "/oauth2/invalidate_token", "/1.1/oauth/invalidate_token", "/sandbox/12/accounts",
             "/sandbox{}", "/~{}", "/~{}/12/accounts", "/~w1/12/accounts/{}", "/%7E{}", "/_mock/",
             "/_mock/{}", "/_mock/requests", "/_mock/requests/{}", "/_mock/requests.har",
             "/_mock/clock", "/_mock/worlds/{}", "/_mock/state", "/_mock/state/users",
             "/_mock/state/{}/{}", "/_mock/state/users/{}", "/_mock/snapshots/{}",
             "/_mock/scenarios/{}", "/_mock/scenarios/{}/activate", "/_mock/transitions/{}",
             "/_mock/events", "/_mock/transitions/replay_job/{}", "/_mock/?text={}",
             "/_mock/console/requests/{}", "/_mock/console/requests/{}/scenario", "/_mock/docs/{}",
             "/_mock/coverage", "/_mock/openapi.json", "/_mock/deliveries",
             "/~w1/_mock/requests/{}", "/~{}/_mock/clock"],
        ),
        TEXT,
        TEXT,
    ),
)  # fmt: skip
QUERIES = st.one_of(
    TEXT,
    st.builds("{}={}&{}={}".format,
              st.sampled_from(["count", "cursor", "oauth_token", "limit", "since", "with_deleted",
                               "sort_by", "path"]), TEXT, TEXT, TEXT),
)  # fmt: skip
BODIES = st.one_of(
    st.binary(max_size=40),
    TEXT.map(lambda text: text.encode("latin-1")),
    TEXT.map(lambda text: json.dumps({"name": text, text: [text]}).encode()),
    TEXT.map(lambda text: f"grant_type={text}&oauth_token={text}&{text}".encode("latin-1")),
    TEXT.map(
        lambda text: (
            f'--{text}\r\nContent-Disposition: form-data; name="{text}"\r\n\r\n{text}\r\n--{text}--'
        ).encode("latin-1")
    ),
)
METHODS = st.one_of(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"]),
    TEXT.filter(bool),
)


def bare_environ(method: str, path: str, query: str = "", body: bytes = b"") -> Environ:
    """What every WSGI environment of a request has."""
    return {
        "REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": path, "QUERY_STRING": query,
        "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "8080", "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1:8080", "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body), "wsgi.input_terminated": True,
        "wsgi.errors": io.StringIO(), "wsgi.multithread": True, "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }  # fmt: skip


@st.composite
def environs(draw: st.DrawFn) -> Environ:
    """The WSGI environment of a request, with its decoded path, its raw one, or both."""
    path, query = draw(PATHS), draw(QUERIES)
    environ = bare_environ(draw(METHODS), path, query, draw(BODIES))
    if draw(st.booleans()):
        environ["REQUEST_URI"] = f"{path}?{query}" if query else path
    if draw(st.booleans()):
        environ["HTTP_AUTHORIZATION"] = draw(CREDENTIALS)
    if draw(st.booleans()):
        environ["CONTENT_TYPE"] = draw(
            st.sampled_from(["application/json", "application/x-www-form-urlencoded"])
        )
    return environ | draw(HEADERS)


class Box:
    """A platform with as many worlds as asked for, and the log lines of its answers."""

    def __init__(self, auth: Any, worlds: int) -> None:
        self.platform = Platform(Settings(auth=auth, max_worlds=20))
        for number in range(1, worlds):
            self.platform.worlds.create(f"w{number}")
        self.application = create_app(self.platform)
        self.answered: tuple[str, list[tuple[str, str]]] = ("", [])

    def ask(self, environ: Environ) -> tuple[int, bytes]:
        """Status and body of the answer, which must fit what PEP 3333 allows."""
        self.answered = ("", [])

        def start(line: str, headers: list[tuple[str, str]], _exc: object = None) -> Any:
            self.answered = (line, headers)
            for name, value in headers:
                assert not {"\r", "\n", "\0"} & {*name, *value}, (name, value)
                (name + value).encode("latin-1")
            return lambda _: None

        parts: Iterable[bytes] = self.application(environ, start)
        body = b"".join(parts)
        close = getattr(parts, "close", None)
        if close is not None:
            close()
        return int(self.answered[0][:3] or 0), body

    def look(self, path: str) -> bytes:
        """What the control plane answers to a GET, which must be fine."""
        status, body = self.ask(bare_environ("GET", path))
        assert status == 200, (path, body)
        return body

    def check(self, environ: Environ) -> None:
        """Ask, and look at everything that shows what was asked."""
        line = environ.get("REQUEST_URI") or environ["PATH_INFO"]
        asked = Request(environ["REQUEST_METHOD"], line, "", "1.1", [], b"", keep_alive=True)
        status, body = self.ask(environ)
        self.check_log(asked)
        shown = body[:300]
        assert [] == self.platform.errors
        assert 0 < status < 500 or status in {501, 503}, (status, shown)
        for world in self.platform.worlds:
            entries = world.journal.find()
            if not entries:
                continue
            prefix = f"/~{world.name}"
            json.loads(self.look(f"{prefix}/_mock/requests"))
            json.loads(self.look(f"{prefix}/_mock/requests.har"))
            self.look(f"{prefix}/_mock/")
            self.look(f"{prefix}/_mock/console/requests/{entries[-1].id}")
            world.journal.clear()
        assert [] == self.platform.errors

    def check_log(self, asked: Request) -> None:
        """Log the last answer in both forms: nothing in a line acts on a terminal or ends it."""
        for form in ("json", "text"):
            stream = io.StringIO()
            handler = LogHandler(form, stream, logging.INFO)
            handler.note(asked, *self.answered, 0.0, 0.1)
            handler.flush()
            first, *rest = stream.getvalue().removesuffix("\n").split("\n")
            assert form == "text" or [] == rest
            assert all(each.startswith("  ") for each in rest)
            assert "".join([first, *rest]).isprintable()


@pytest.fixture(scope="module", params=[("strict", 1), ("strict", 2), ("off", 2)], ids=str)
def box(request: pytest.FixtureRequest) -> Box:
    """One platform for all examples: what one leaves behind, the next must bear."""
    return Box(*request.param)


@examples(60, suppress_health_check=list(HealthCheck))
@given(environs())
def test_no_byte_makes_the_sandbox_fail(box: Box, environ: Environ) -> None:
    """Whatever arrives is answered and can be shown."""
    box.check(environ)
