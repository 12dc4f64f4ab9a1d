from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import BadStatusLine
from typing import Any

import pytest
import requests
from oauthlib.oauth1 import SIGNATURE_TYPE_AUTH_HEADER, Client
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.exceptions import ChunkedEncodingError
from urllib3 import HTTPResponse, Retry

from mock_platform import MockPlatform, __version__
from mock_platform.core.connection import CONNECTION
from mock_platform.serving.in_process.connection import Pool
from mock_platform.serving.in_process.environ import Origin, environ_of
from mock_platform.serving.in_process.oauth1 import OAuth1Auth
from mock_platform.serving.in_process.session import (
    BasedSession,
    BearerAuth,
    PlatformSession,
    WsgiAdapter,
)

BASE = "http://sandbox.test:8080"
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """An application that answers with what it was asked."""
    shown = {key: value for key, value in environ.items() if isinstance(value, str | bool)}
    shown["body"] = environ["wsgi.input"].read().decode()
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(shown).encode()]


def answering(
    status: str, headers: list[tuple[str, str]], parts: Iterable[bytes] = ()
) -> Application:
    """An application that always answers the same."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response(status, headers)
        return parts

    return application


def session(application: Any, base: str = BASE) -> PlatformSession:
    """A session answered by an application."""
    return PlatformSession(application, base)


@pytest.mark.parametrize(
    ("method", "url", "sent", "seen"),
    [
        pytest.param(
            "GET", f"{BASE}/~w1/2/things", {},
            {"REQUEST_URI": "/~w1/2/things", "HTTP_HOST": "sandbox.test:8080",
             "SERVER_PORT": "8080"},
            id="a prefix of a world",
        ),
        pytest.param(
            "GET", f"{BASE}/", {"headers": {"Host": "ads-api-sandbox.test"}},
            {"HTTP_HOST": "ads-api-sandbox.test"},
            id="a host header wins over the address",
        ),
        pytest.param(
            "GET", f"{BASE}/a%2Fb/%C3%A9?q=%20x&e=", {},
            {"REQUEST_URI": "/a%2Fb/%C3%A9?q=%20x&e=", "PATH_INFO": "/a/b/Ã©",
             "QUERY_STRING": "q=%20x&e="},
            id="what was encoded is kept, and decoded in the path",
        ),
        pytest.param(
            "POST", f"{BASE}/", {"data": {"a": "ü"}},
            {"body": "a=%C3%BC", "CONTENT_TYPE": "application/x-www-form-urlencoded",
             "CONTENT_LENGTH": "8", "HTTP_CONTENT_TYPE": None},
            id="a form has its type and length",
        ),
        pytest.param(
            "GET", "https://api.example/2/x?y=z", {"verify": "nowhere", "cert": "nowhere"},
            {"HTTP_HOST": "api.example", "wsgi.url_scheme": "https", "REQUEST_URI": "/2/x?y=z"},
            id="the host of the real service",
        ),
        pytest.param(
            "GET", f"{BASE}/a?b=c", {"proxies": {"http": "http://proxy.test:1"}},
            {"REQUEST_URI": "/a?b=c", "PATH_INFO": "/a", "QUERY_STRING": "b=c",
             "HTTP_HOST": "sandbox.test:8080"},
            id="a proxy is not asked",
        ),
        *(
            pytest.param(
                "GET", url, {},
                {"HTTP_HOST": host, "SERVER_PORT": port, "wsgi.url_scheme": url.partition(":")[0]},
                id=url,
            )
            for url, host, port in (
                ("http://sandbox.test/", "sandbox.test", "80"),
                ("https://sandbox.test/", "sandbox.test", "443"),
                ("https://sandbox.test:443/", "sandbox.test", "443"),
                ("http://sandbox.test:443/", "sandbox.test:443", "443"),
                ("http://[::1]:8080/", "[::1]:8080", "8080"),
                ("http://name:secret@sandbox.test/", "sandbox.test", "80"),
            )
        ),
    ],
)  # fmt: skip
def test_what_the_application_sees(
    method: str, url: str, sent: dict[str, Any], seen: dict[str, str | None]
) -> None:
    """Address, host, port and body are those of the call; a port that is usual is not named."""
    client = requests.Session()
    client.mount("http://", WsgiAdapter(echo))
    client.mount("https://", WsgiAdapter(echo))

    found = client.request(method, url, **sent).json()

    assert seen == {name: found.get(name) for name in seen}


def test_relative_addresses_begin_at_the_base_address() -> None:
    """A path is joined to the base address, prefix of a world included."""
    assert session(echo, f"{BASE}/~w1").get("/2/things").json()["REQUEST_URI"] == "/~w1/2/things"


@pytest.mark.parametrize(
    ("method", "url", "sent"),
    [
        ("GET", "/12/accounts?a=%C3%A4&b=c%20d", {}),
        ("GET", "/sandbox/12/accounts", {"headers": {"X-One": b"1", "x_two": "2"}}),
        ("HEAD", "/12/accounts", {"headers": {"Host": "ads-api-sandbox.example.com"}}),
        ("GET", "/~w1/2/not-served", {"headers": {"Cookie": "a=b; c=d"}}),
        ("POST", "/12/accounts/18ce54d4x5t/cards", {"json": {"name": "ä"}}),
        ("POST", "/12/accounts/18ce54d4x5t/cards", {"data": {"name": "ä"}}),
        ("POST", "/12/accounts/18ce54d4x5t/cards", {"data": "text"}),
        ("POST", "/12/accounts/18ce54d4x5t/cards", {"data": b"x" * 2_000_000}),
        ("PUT", "/12/accounts/18ce54d4x5t/cards/1", {"headers": {"Content-Type": "text/plain"}}),
    ],
)
def test_a_call_reads_the_same_without_a_wsgi_environ(
    method: str, url: str, sent: dict[str, Any]
) -> None:
    """The platform sees, records and answers alike, whether somebody wraps it or not."""
    seen = []
    for wrapped in (False, True):
        with MockPlatform.start(freeze="2026-11-20T10:00:00Z", max_body=1_000_000) as platform:
            world = platform.world("w1") if "~w1" in url else platform
            if wrapped:  # by what knows nothing but WSGI
                platform.app.wsgi_app = partial(platform.app.wsgi_app)  # type: ignore[method-assign]
            client = session(platform.app)
            client.auth = BearerAuth(platform.credentials["bearer_token"] or "")
            answer = client.request(method, url, **sent)
            (entry,) = world.journal
            recorded = entry.as_json() | {"milliseconds": None, "handler_milliseconds": None}
            headers = {k: v for k, v in answer.headers.items() if k != "Date"}
        seen.append((answer.status_code, headers, answer.content, recorded))

    assert seen[0] == seen[1]


def test_a_call_without_a_wsgi_environ_makes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain call takes the direct way; a hook, and a body in parts, want an environ."""
    made: list[str] = []

    def make_environ(origin: Origin, method: str, *rest: Any) -> Any:
        made.append(method)
        return environ_of(origin, method, *rest)

    monkeypatch.setattr("mock_platform.serving.in_process.connection.environ_of", make_environ)
    with MockPlatform.start() as platform:
        client = platform.session()
        client.post("/12/accounts", json={})
        plain = len(made)
        client.post("/12/accounts", data=iter([b"{}"]))
        in_parts = len(made)
        platform.app.before_request(lambda: None)
        client.get("/12/accounts")

    assert [0, 1, 2] == [plain, in_parts, len(made)]


def parts() -> Iterator[bytes]:
    """A body whose length is not known beforehand."""
    yield b"one "
    yield b""
    yield b"two"


@pytest.mark.parametrize(
    ("data", "body", "chunked"),
    [
        (lambda: b"bytes", "bytes", False),
        (lambda: "text \N{SNOWMAN}", "text \N{SNOWMAN}", False),
        (lambda: io.BytesIO(b"a file"), "a file", False),
        (parts, "one two", True),
    ],
    ids=["bytes", "text", "file", "iterator"],
)
def test_bodies_of_every_kind_arrive_whole(
    data: Callable[[], Any], body: str, chunked: bool
) -> None:
    """Bytes, text, files and iterators reach the application; those without length are chunked."""
    seen = session(echo).post("/", data=data()).json()

    assert body == seen["body"]
    assert chunked == (seen.get("HTTP_TRANSFER_ENCODING") == "chunked")
    assert chunked == ("CONTENT_LENGTH" not in seen)
    assert seen["wsgi.input_terminated"] is True


def test_a_body_is_read_as_the_application_reads_it() -> None:
    """An application that does not read the body does not make the client produce it."""
    produced: list[int] = []

    def numbers() -> Iterator[bytes]:
        for number in range(1000):
            produced.append(number)
            yield b"x" * 1000

    assert session(answering("413 Too Large", [])).post("/", data=numbers()).status_code == 413
    assert produced == []


def test_answers_stream() -> None:
    """With `stream=True` the application is asked for a part only when the caller wants it."""
    given: list[int] = []

    def numbers() -> Iterator[bytes]:
        for number in range(3):
            given.append(number)
            yield b"%d" % number * 70_000

    length = ("Content-Length", "210000")
    answer = session(answering("200 OK", [length], numbers())).get("/", stream=True)

    assert next(answer.iter_content(70_000)) == b"0" * 70_000
    assert given == [0]
    assert answer.raw.read() == b"1" * 70_000 + b"2" * 70_000


def test_closing_an_answer_ends_the_application() -> None:
    """`close` of what the application returned is called, once the answer was read or closed."""
    ended: list[str] = []

    class Parts:
        def __init__(self, name: str) -> None:
            self.name = name

        def __iter__(self) -> Iterator[bytes]:
            return iter([b"x"])

        def close(self) -> None:
            ended.append(self.name)

    session(answering("200 OK", [], Parts("unread"))).get("/", stream=True).close()
    with session(answering("200 OK", [], Parts("read"))).get("/") as answer:
        assert answer.content == b"x"
    session(answering("204 No Content", [], Parts("none"))).get("/")

    assert ended == ["unread", "read", "none"]


def test_an_application_may_start_its_answer_late() -> None:
    """A generator that calls start_response on its first step, and `write`, are both understood."""

    def late(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        write = start_response("202 Accepted", [("X-Late", "yes")])
        write(b"written ")
        yield b"yielded"

    answer = session(late).get("/")

    assert (202, "Accepted", b"written yielded") == (
        answer.status_code,
        answer.reason,
        answer.content,
    )
    assert answer.headers["X-Late"] == "yes"


def test_an_application_that_never_answers_is_a_fault() -> None:
    """Ending without start_response is reported, not treated as an empty answer."""

    def silent(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        return []

    with pytest.raises(AssertionError, match="start_response"):
        session(silent).get("/")


def test_repeated_headers_are_kept_apart() -> None:
    """Two Set-Cookie headers are two cookies, and both are in the raw headers."""
    cookies = [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/; HttpOnly")]
    client = session(answering("200 OK", cookies))

    answer = client.get("/")

    assert isinstance(answer.raw, HTTPResponse)
    assert answer.raw.headers.getlist("Set-Cookie") == ["a=1; Path=/", "b=2; Path=/; HttpOnly"]
    assert {"a": "1", "b": "2"} == client.cookies.get_dict()


def test_cookies_come_back_on_the_next_request() -> None:
    """A session logs in as a browser does."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Set-Cookie", "session=s1; Path=/")])
        return [environ.get("HTTP_COOKIE", "none").encode()]

    client = session(application)

    assert ["none", "session=s1"] == [client.get("/").text, client.get("/").text]


def test_redirects_are_followed_and_remembered() -> None:
    """A relative redirect is followed in-process; the history shows it."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        if environ["PATH_INFO"] == "/from":
            start_response("302 Found", [("Location", "/to?x=1"), ("Set-Cookie", "k=v; Path=/")])
            return [b"moved"]
        return echo(environ, start_response)

    answer = session(application).post("/from", data="a=1")

    assert answer.json()["REQUEST_URI"] == "/to?x=1"
    assert answer.json()["REQUEST_METHOD"] == "GET"
    assert answer.json()["HTTP_COOKIE"] == "k=v"
    assert [302] == [step.status_code for step in answer.history]
    assert answer.url == f"{BASE}/to?x=1"


def test_a_redirect_elsewhere_can_be_looked_at() -> None:
    """A callback of another scheme is not followed but handed to the caller."""
    client = session(answering("302 Found", [("Location", "harbordesk://oauth?oauth_token=t")]))

    answer = client.get("/", allow_redirects=False)

    assert answer.headers["Location"] == "harbordesk://oauth?oauth_token=t"


@pytest.mark.parametrize(("method", "status"), [("HEAD", "200 OK"), ("GET", "304 Not Modified")])
def test_answers_without_body_have_none(method: str, status: str) -> None:
    """HEAD and 304 carry a Content-Length but no body, whatever the application returned."""
    client = session(answering(status, [("Content-Length", "5")], [b"hello"]))

    answer = client.request(method, "/")

    assert answer.content == b""
    assert answer.headers["Content-Length"] == "5"


def test_a_truncated_body_is_a_connection_error() -> None:
    """A body shorter than its Content-Length fails as it does over a socket."""
    client = session(answering("200 OK", [("Content-Length", "10")], [b"short"]))

    with pytest.raises(ChunkedEncodingError):
        client.get("/")


def test_compressed_bodies_are_decoded() -> None:
    """Content-Encoding is undone for the caller, as over a socket."""
    import gzip

    client = session(answering("200 OK", [("Content-Encoding", "gzip")], [gzip.compress(b"plain")]))

    assert client.get("/").content == b"plain"


def test_the_usual_arguments_of_requests_are_accepted() -> None:
    """`timeout`, `verify` and `proxies` of code written for the real interface do no harm."""
    client = session(echo)

    answer = client.get("/", timeout=(1, 2), verify=False, proxies={"http": "http://proxy.test"})

    assert answer.status_code == 200
    assert answer.elapsed.total_seconds() >= 0


def test_other_servers_are_not_answered_in_process() -> None:
    """Only addresses that begin with the server's own are handled, not similar ones."""
    client = session(echo, "http://127.0.0.1:80")
    urls = ("http://127.0.0.1:80/x", "http://127.0.0.1:8090/x", "https://127.0.0.1:80/x")

    assert [True, False, False] == [answered_in_process(client, url) for url in urls]


def answered_in_process(client: requests.Session, url: str) -> bool:
    """Whether a session would ask an application of this process."""
    adapter = client.get_adapter(url)
    assert isinstance(adapter, HTTPAdapter)
    asked = requests.Request("GET", url).prepare()
    return isinstance(adapter.get_connection_with_tls_context(asked, verify=True), Pool)


# -- adapters ------------------------------------------------------------------------------------


def failing(times: int, seen: list[str]) -> Application:
    """An application that is not available so many times; what it was sent is noted."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        seen.append(environ["wsgi.input"].read().decode())
        available = len(seen) > times
        status = "200 OK" if available else "503 Service Unavailable"
        start_response(status, [("Content-Length", "2")])
        return [b"ok"]

    return application


RETRY = Retry(2, status_forcelist=[503], allowed_methods=None)


@pytest.mark.parametrize("mounted", ["adapter", "session", "adapter on session"])
@pytest.mark.parametrize(("times", "status"), [(2, 200), (3, None)])
def test_adapters_retry(mounted: str, times: int, status: int | None) -> None:
    """`max_retries` is obeyed, of `WsgiAdapter` and of what a client mounts on the session."""
    seen: list[str] = []
    application = failing(times, seen)
    client = requests.Session() if mounted == "adapter" else session(application)
    if mounted == "session":
        client.mount("http://", HTTPAdapter(max_retries=RETRY))
    else:
        client.mount(BASE, WsgiAdapter(application, max_retries=RETRY))

    if status is None:
        with pytest.raises(requests.exceptions.RetryError, match="too many 503 error responses"):
            client.post(f"{BASE}/x", data="sent")
    else:
        assert status == client.post(f"{BASE}/x", data="sent").status_code

    assert ["sent"] * 3 == seen


def test_without_max_retries_nothing_is_retried() -> None:
    """The default is that of requests."""
    seen: list[str] = []

    assert 503 == session(failing(1, seen)).post("/x").status_code
    assert 1 == len(seen)


@pytest.mark.parametrize(
    ("url", "pool"),
    [
        ("https://api.example/", "HTTPSConnectionPool(host='api.example', port=443)"),
        ("http://api.example/", "HTTPConnectionPool(host='api.example', port=80)"),
        ("http://[::1]:8080/", "HTTPConnectionPool(host='::1', port=8080)"),
    ],
)
def test_failures_name_the_address_that_was_called(url: str, pool: str) -> None:
    """A message says which host failed, in the words of urllib3."""
    client = requests.Session()
    for scheme in ("http://", "https://"):
        client.mount(scheme, WsgiAdapter(doing(lambda connection: connection.hold())))

    with pytest.raises(requests.ReadTimeout) as raised:
        client.get(url, timeout=3)

    assert f"{pool}: Read timed out. (read timeout=3)" == str(raised.value)


def doing(act: Callable[[Any], object]) -> Application:
    """An application that does something with its connection, and answers besides."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        act(environ[CONNECTION])
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    return application


def test_what_was_mounted_is_used_elsewhere_as_it_is() -> None:
    """An adapter that serves the session answers for other hosts as its author wants."""
    client = session(echo)
    client.mount("http://other.test", WsgiAdapter(answering("202 Accepted", [])))

    assert 202 == client.get("http://other.test/").status_code
    assert 200 == client.get("/").status_code


def test_an_adapter_that_is_no_http_is_left_alone() -> None:
    """Whoever mounts something else for the sandbox's address means it."""

    class Own(BaseAdapter):
        def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
            answer = requests.Response()
            answer.status_code, answer.url = 299, request.url or ""
            return answer

        def close(self) -> None:
            pass

    client = session(echo)
    client.mount(BASE, Own())

    assert 299 == client.get("/").status_code


@pytest.mark.parametrize("mounted", ["adapter", "session", "nothing"])
@pytest.mark.parametrize(
    "fault",
    [
        ConnectionResetError("disk"),
        TimeoutError("lock"),
        BadStatusLine("x"),
        ZeroDivisionError("y"),
    ],
    ids=repr,
)
def test_no_fault_of_the_application_is_the_networks(mounted: str, fault: Exception) -> None:
    """What looks like a broken connection is not treated as one, and nothing is retried."""
    called: list[int] = []

    def broken(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        called.append(1)
        raise fault

    client = requests.Session() if mounted == "adapter" else session(broken)
    if mounted == "session":
        client.mount("http://", HTTPAdapter(max_retries=RETRY))
    elif mounted == "adapter":
        client.mount(BASE, WsgiAdapter(broken, max_retries=RETRY))

    with pytest.raises(type(fault)) as raised:
        client.get(f"{BASE}/x")

    assert fault is raised.value
    assert [1] == called


def test_an_answer_is_dated_and_signed_as_by_a_server() -> None:
    """Date and Server are there for clients that read them; the application's own win."""
    ours = session(answering("200 OK", [])).get("/").headers
    theirs = session(answering("200 OK", [("date", "then"), ("server", "they")])).get("/").headers

    assert parsedate_to_datetime(ours["Date"]).tzinfo is UTC
    assert f"mock-platform/{__version__}" == ours["Server"]
    assert ("then", "they") == (theirs["Date"], theirs["Server"])


def test_the_application_comes_to_its_end_where_no_body_is_read() -> None:
    """HEAD runs a generator through, as a server does, and closes it."""
    given: list[int] = []

    def numbers() -> Iterator[bytes]:
        try:
            for number in range(3):
                given.append(number)
                yield b"x"
        finally:
            given.append(-1)

    session(answering("200 OK", [], numbers())).head("/", stream=True)

    assert [0, 1, 2, -1] == given


def test_many_threads_share_a_session() -> None:
    """More calls at a time than a pool keeps connections."""
    client = session(echo)
    paths = [f"/{number}" for number in range(60)]
    gate = threading.Barrier(20)

    def ask(path: str) -> str:
        if paths.index(path) < 20:
            gate.wait(10)
        return str(client.get(path).json()["PATH_INFO"])

    with ThreadPoolExecutor(20) as threads:
        assert paths == list(threads.map(ask, paths))


# -- signing -------------------------------------------------------------------------------------


def test_bearer_auth_sends_the_token_as_it_is() -> None:
    """Percent signs of a bearer token are not encoded again."""
    client = session(echo)
    client.auth = BearerAuth("AAA%2Fb%3D")

    assert client.get("/").json()["HTTP_AUTHORIZATION"] == "Bearer AAA%2Fb%3D"


@pytest.mark.parametrize(
    ("kwargs", "signed_body"),
    [({"data": {"status": "a b"}}, "status=a+b"), ({"json": {"status": "a b"}}, None), ({}, None)],
    ids=["form", "json", "none"],
)
def test_oauth1_signs_what_takes_part(kwargs: dict[str, Any], signed_body: str | None) -> None:
    """Query and form parameters are signed; a JSON body is not."""
    client = session(echo)
    client.auth = OAuth1Auth("key", "key-secret", "token", "token-secret")

    sent = client.post("/1/x?q=1", **kwargs).json()["HTTP_AUTHORIZATION"]

    fields = dict(part.split("=", 1) for part in sent.removeprefix("OAuth ").split(", "))
    again = Client(
        "key", "key-secret", "token", "token-secret", nonce=fields["oauth_nonce"].strip('"'),
        timestamp=fields["oauth_timestamp"].strip('"'), signature_type=SIGNATURE_TYPE_AUTH_HEADER,
    )  # fmt: skip
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    _, headers, _ = again.sign(
        f"{BASE}/1/x?q=1", "POST", signed_body, {} if signed_body is None else form
    )
    assert headers["Authorization"] == sent


@pytest.mark.parametrize("asked", [{}, {"http": "http://proxy.example.com"}])
@pytest.mark.parametrize("kept", [{}, {"https": "http://other.example.com"}])
@pytest.mark.parametrize("trust_env", [False, True])
@pytest.mark.parametrize("of_session", [(False, True, None), (True, "/ca.pem", "/client.pem")])
@pytest.mark.parametrize(
    "of_request", [(None, None, None), (True, False, "/own.pem"), (False, "/own-ca.pem", None)]
)
def test_settings_of_requests_and_of_the_session(
    asked: dict[str, str], kept: dict[str, str], trust_env: bool, of_session: Any, of_request: Any
) -> None:
    """The settings of a request come before those of its session, as in requests."""
    session = BasedSession("http://127.0.0.1:1")
    session.trust_env, session.proxies = trust_env, kept
    session.stream, session.verify, session.cert = of_session

    def merge(kind: type[requests.Session]) -> Any:
        url = "http://127.0.0.1:1/12/accounts"
        return kind.merge_environment_settings(session, url, dict(asked), *of_request)

    assert merge(BasedSession) == merge(requests.Session)
