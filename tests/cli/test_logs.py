from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from mock_platform.app import create_app
from mock_platform.cli import logs
from mock_platform.in_process.environ import environ_of
from mock_platform.in_process.session import BearerAuth, PlatformSession
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from tests.support import BEARER

Lines = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """Logging is the process's own; each test gives it back as it found it."""
    loggers = [logging.getLogger(name) for name in logs.LOGGERS]
    before = [(logger, logger.handlers, logger.propagate, logger.level) for logger in loggers]
    showing = warnings.showwarning
    yield
    logging.captureWarnings(capture=False)
    warnings.showwarning = showing
    for logger, handlers, propagate, level in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def session(
    form: logs.LogFormat, settings: Settings | None = None
) -> tuple[PlatformSession, Lines]:
    """A session whose calls are logged, and what was logged."""
    stream = io.StringIO()
    logs.configure(form, stream)
    application = logs.RequestLog(create_app(Platform(settings)))
    return PlatformSession(application, "http://127.0.0.1"), lambda: stream.getvalue().splitlines()


def test_a_request_is_one_line() -> None:
    """Time, status, method, address, milliseconds, operation, id."""
    client, lines = session("text")
    client.auth = BearerAuth(BEARER)

    client.get("/12/accounts?count=1")

    (line,) = lines()
    at, status, method, address, took, operation, request_id = line.split()
    assert at.endswith("Z")
    assert (status, method, address) == ("200", "GET", "/12/accounts?count=1")
    assert took.startswith("ms=")
    assert (operation, request_id) == ("operation=accounts.list", "id=r1")


def test_json_lines_have_names() -> None:
    """The same in JSON, every value of its own type."""
    client, lines = session("json")

    client.post("/oauth2/token", data={"grant_type": "client_credentials"})

    (line,) = [json.loads(line) for line in lines()]
    assert {"event", "level", "timestamp", "method", "url", "status", "ms", "operation", "id"} == (
        set(line)
    )
    assert (line["event"], line["level"], line["status"]) == ("request", "info", 403)
    assert isinstance(line["ms"], float)


def test_the_control_plane_is_logged_too() -> None:
    """Without operation and id, because it has none; a world's prefix stays."""
    client, lines = session("json")

    client.get("/_mock/health")
    client.get("/~default/_mock/health")

    first, second = [json.loads(line) for line in lines()]
    assert ("/_mock/health", 200) == (first["url"], first["status"])
    assert "operation" not in first
    assert second["url"] == "/~default/_mock/health"


def test_credentials_are_taken_out() -> None:
    """Whatever would let a reader act as somebody else is not in the log."""
    client, lines = session("text")

    client.post("/oauth/access_token?oauth_token=tok&oauth_verifier=ver&oauth_consumer_key=key")

    (line,) = lines()
    assert "oauth_token=[redacted]&oauth_verifier=[redacted]&oauth_consumer_key=key" in line


def test_without_markers_there_is_still_a_line() -> None:
    """`--no-markers` takes the operation out of the answer, and so out of the line."""
    client, lines = session("text", Settings(markers=False))

    client.get("/12/accounts")

    assert len(lines()) == 1
    assert " 401 GET /12/accounts ms=" in lines()[0]


def test_an_application_that_raises_is_logged_and_raises() -> None:
    """A line with no status, and the fault goes on to the server."""
    stream = io.StringIO()
    logs.configure("text", stream)

    def broken(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        raise ZeroDivisionError

    client = PlatformSession(logs.RequestLog(broken), "http://127.0.0.1")

    with pytest.raises(ZeroDivisionError):
        client.get("/x")

    assert " --- GET /x ms=" in stream.getvalue()


def test_reports_of_the_package_come_in_the_same_form() -> None:
    """What modules log through the standard library, tracebacks included."""
    stream = io.StringIO()
    logs.configure("json", stream)

    try:
        int("deep down")
    except ValueError:
        logging.getLogger("mock_platform.somewhere").exception("It failed: %s", "x")

    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"]) == ("It failed: x", "error")
    assert line["exception"].startswith("Traceback")


def test_warnings_stand_out_in_text() -> None:
    """A person sees levels where they matter, and a traceback below its line."""
    stream = io.StringIO()
    logs.configure("text", stream)
    log = logging.getLogger("mock_platform.somewhere")

    log.info("all is well")
    log.warning("look here")
    log.debug("not this")

    first, second = stream.getvalue().splitlines()
    assert first.endswith("Z all is well")
    assert second.endswith("Z WARNING: look here")


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_clients_send_stays_on_its_line(form: logs.LogFormat) -> None:
    """Control characters of a path are escaped: they act on no terminal and forge no line."""
    stream = io.StringIO()
    logs.configure(form, stream)
    application = logs.RequestLog(create_app(Platform()))
    forged = "/\x1b[31m\r\n2026-01-01T00:00:00.000Z 200 GET /\x00\x7f\x85\u200e?a=\x08"
    environ = environ_of(("http", "127.0.0.1", 80), "G\x1bT", "/", {}, None)

    b"".join(application(environ | {"REQUEST_URI": forged}, lambda *_: lambda _: None))

    text = stream.getvalue().removesuffix("\n")
    if form == "json":
        assert text.isprintable()
        assert json.loads(text)["url"] == forged
    else:
        first, second = text.split("\n")
        assert (first + second).isprintable()
        assert first.endswith(r" 404 G\x1bT /\x1b[31m")
        assert second.startswith("  2026-01-01T00:00:00.000Z 200 GET ")
        assert r"\x00\x7f\x85\u200e?a=\x08 ms=" in second


def test_a_traceback_is_indented() -> None:
    """What a fault says of a client's text cannot pass for a line of the log."""
    stream = io.StringIO()
    logs.configure("text", stream)

    def fail() -> None:
        raise ValueError("x\n2026-01-01T00:00:00.000Z 200 GET /")

    try:
        fail()
    except ValueError:
        logging.getLogger("mock_platform.somewhere").exception("It failed")

    first, *rest = stream.getvalue().splitlines()
    assert first.endswith("Z ERROR: It failed")
    assert rest[0] == "  Traceback (most recent call last):"
    assert all(line.startswith("  ") for line in rest)
