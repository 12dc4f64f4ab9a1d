from __future__ import annotations

import io
import json
import logging
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from mock_platform.cli import logs
from mock_platform.core.connection import CONNECTION, Pause, Request
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.serving.http import ServerThread
from mock_platform.serving.in_process.session import BasedSession, BearerAuth
from mock_platform.settings import Settings
from tests.commands import python
from tests.support import BEARER, sandbox
from tests.waits import PATIENCE


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """Logging is the process's own; each test restores it."""
    loggers = [logging.getLogger(name) for name in logs.LOGGERS]
    before = [(logger, logger.handlers, logger.propagate, logger.level) for logger in loggers]
    showing = warnings.showwarning
    yield
    logging.captureWarnings(capture=False)
    warnings.showwarning = showing
    for logger, handlers, propagate, level in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


A_REQUEST = Request("GET", "/", "", "1.1", [], b"", keep_alive=True)


class Stream(io.StringIO):
    """A log that can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.was_written = threading.Event()

    def write(self, text: str, /) -> int:
        """Take lines."""
        size = super().write(text)
        self.was_written.set()
        return size


class Logged:
    """A server whose requests are logged."""

    def __init__(
        self, form: logs.LogFormat, settings: Settings | None, level: logs.LogLevel
    ) -> None:
        self.stream = Stream()
        self.log = logs.configure(form, self.stream, level)
        self.server = ServerThread(create_app(Platform(settings)), log=self.log).start()
        self.session = BasedSession(self.server.url)

    def lines(self) -> list[str]:
        """What was logged until the server stopped."""
        self.session.close()
        self.server.stop()
        return self.stream.getvalue().splitlines()


@pytest.fixture
def logged() -> Iterator[Callable[..., Logged]]:
    """Starts servers whose requests are logged."""
    made: list[Logged] = []

    def start(
        form: logs.LogFormat, settings: Settings | None = None, level: logs.LogLevel = "info"
    ) -> Logged:
        made.append(Logged(form, settings, level))
        return made[-1]

    yield start
    for each in made:
        each.lines()


def line_of(
    form: logs.LogFormat, target: str, status: str = "404 Not Found", **headers: str
) -> str:
    """The line of one answer, without its end."""
    stream = io.StringIO()
    handler = logs.LogHandler(form, stream, logging.INFO)
    request = Request("GET", target, "", "1.1", [], b"", keep_alive=True)
    handler.note(request, status, [*headers.items()], 0.0, 0.1)
    handler.flush()
    return stream.getvalue().removesuffix("\n")


@pytest.mark.live
def test_a_request_is_one_line(logged: Callable[..., Logged]) -> None:
    """Time, status, method, address, milliseconds, operation, id."""
    server = logged("text")
    server.session.auth = BearerAuth(BEARER)

    server.session.get("/12/accounts?count=1")

    (line,) = server.lines()
    at, status, method, address, took, operation, request_id = line.split()
    assert at.endswith("Z")
    assert (status, method, address) == ("200", "GET", "/12/accounts?count=1")
    assert took.startswith("ms=")
    assert (operation, request_id) == ("operation=accounts.list", "id=r1")


@pytest.mark.live
def test_json_lines_have_names(logged: Callable[..., Logged]) -> None:
    """The same in JSON, every value of its own type."""
    server = logged("json")

    server.session.post("/oauth2/token", data={"grant_type": "client_credentials"})

    (line,) = [json.loads(line) for line in server.lines()]
    assert {
        "event", "level", "timestamp", "method", "url", "status", "ms", "operation", "id", "why",
    } == set(line)  # fmt: skip
    assert (line["event"], line["level"], line["status"]) == ("request", "info", 403)
    assert isinstance(line["ms"], float)
    assert line["why"] == "No credentials; this operation takes HTTP Basic."


def logged_warnings(form: logs.LogFormat, level: logs.LogLevel = "info", count: int = 1) -> str:
    """What the log has of a request with so many warnings."""
    stream = io.StringIO()
    logs.configure(form, stream, level)
    box = sandbox()
    box.platform.observers.append(logs.log_warnings)
    box.call(
        "GET", "/12/accounts?access_token=secret&" + "&".join(f"z{n}=1" for n in range(count - 1))
    )
    box.call("GET", "/12/accounts")
    return stream.getvalue()


def test_warnings_are_a_line_of_the_log() -> None:
    """What was ignored, with its code, on which operation; a request without has no such line."""
    (line,) = logged_warnings("text", "warning", 2).splitlines()

    assert line.partition(" ")[2] == (
        "WARNING: GET /12/accounts?access_token=[redacted]&z0=1 operation=accounts.list id=r1 "
        "unknown-parameter: parameter 'access_token' is not one of this operation and was ignored; "
        "unknown-parameter: parameter 'z0' is not one of this operation and was ignored"
    )


def test_warnings_have_names_in_json() -> None:
    """Programs read code and text of each warning."""
    line = json.loads(logged_warnings("json"))

    assert ("warnings", "warning", "GET", "accounts.list", "r1") == tuple(
        line[name] for name in ("event", "level", "method", "operation", "id")
    )
    assert ["unknown-parameter"] == [each["code"] for each in line["warnings"]]
    assert "access_token=[redacted]" in line["url"]


@pytest.mark.parametrize(("count", "more"), [(5, False), (6, True)])
def test_many_warnings_are_cut_for_people(count: int, more: bool) -> None:
    """A line shows five; the journal has all."""
    line = logged_warnings("text", count=count)

    assert min(count, 5) == line.count("unknown-parameter: ")
    assert more == ("; and 1 more" in line)


@pytest.mark.parametrize("level", ["error", "off"])
def test_levels_above_leave_warnings_out(level: logs.LogLevel) -> None:
    """Who wants errors only gets no warnings."""
    assert "" == logged_warnings("text", level)


@pytest.mark.live
def test_the_control_plane_is_logged_too(logged: Callable[..., Logged]) -> None:
    """Without operation and id, because it has none; a world's prefix stays."""
    server = logged("json")

    server.session.get("/_mock/health")
    server.session.get("/~default/_mock/health")

    first, second = [json.loads(line) for line in server.lines()]
    assert ("/_mock/health", 200) == (first["url"], first["status"])
    assert "operation" not in first
    assert second["url"] == "/~default/_mock/health"


@pytest.mark.parametrize("form", ["text", "json"])
def test_credentials_are_taken_out(form: logs.LogFormat) -> None:
    """Whatever would let a reader act as somebody else is not in the log."""
    line = line_of(
        form, "/oauth/access_token?oauth_token=tok&oauth_verifier=v&oauth_consumer_key=k"
    )

    assert "?oauth_token=[redacted]&oauth_verifier=[redacted]&oauth_consumer_key=k" in line


@pytest.mark.live
def test_an_answer_that_fails_is_logged_as_an_error() -> None:
    """What an application raises is answered with 500, and logged with it."""
    stream = io.StringIO()
    log = logs.configure("json", stream)

    def broken(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        raise ZeroDivisionError

    with ServerThread(broken, log=log) as server, BasedSession(server.url) as session:
        session.get("/x")

    fault, line = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert "ZeroDivisionError while answering a request" == fault["event"]
    assert (500, "error") == (line["status"], line["level"])


@pytest.mark.live
def test_an_answer_is_logged_when_it_is_over() -> None:
    """One that pauses with its status and the time it took; a broken connection without status."""
    stream = io.StringIO()
    log = logs.configure("json", stream)

    def application(environ: dict[str, Any], start_response: Any) -> Iterator[bytes | Pause]:
        yield Pause(0.05)
        if environ["PATH_INFO"] == "/reset":
            environ[CONNECTION].reset()
            return
        start_response("200 OK", [("Content-Length", "1")])
        yield b"x"

    with ServerThread(application, log=log) as server:  # type: ignore[arg-type]
        with BasedSession(server.url) as session:
            session.get("/late")
        with pytest.raises(requests.ConnectionError), BasedSession(server.url) as session:
            session.get("/reset")

    late, broken = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert ("/late", 200, "info") == (late["url"], late["status"], late["level"])
    assert late["ms"] >= 50
    assert ("/reset", None, "error") == (broken["url"], broken["status"], broken["level"])


@pytest.mark.live
def test_a_line_says_how_an_answer_was_cut_and_why(logged: Callable[..., Logged]) -> None:
    """It comes from the journal: an answer that never came has no markers."""
    server = logged("text", Settings(markers=False, scenarios=("flaky-network",)))
    with pytest.raises(requests.ConnectionError):
        server.session.get("/12/accounts")

    (line,) = server.lines()

    assert " --- GET /12/accounts ms=" in line
    assert line.endswith(
        ' operation=accounts.list id=r1 ended=reset why="Rule 0 of scenario flaky-network acted: '
        'the connection was broken, and nothing was changed."'
    )


@pytest.mark.live
def test_requests_are_written_while_the_server_runs(logged: Callable[..., Logged]) -> None:
    """There is no need to stop the server to see what it answered, nor to have markers on."""
    server = logged("text", Settings(markers=False))
    server.session.get("/12/accounts")

    assert server.stream.was_written.wait(PATIENCE)
    assert " 401 GET /12/accounts ms=" in server.stream.getvalue()


@pytest.mark.live
@pytest.mark.parametrize(("level", "count"), [("warning", 1), ("error", 1), ("off", 0)])
def test_levels_leave_requests_out(
    logged: Callable[..., Logged], level: logs.LogLevel, count: int
) -> None:
    """Above `info` only errors are logged, with `off` nothing is even collected."""
    server = logged("text", level=level)
    server.session.get("/12/accounts")
    if server.log is not None:
        server.log.note(A_REQUEST, "503 Service Unavailable", [], 0.0, 0.1)

    assert count == len(server.lines())
    assert (level == "off") == (server.log is None)


def test_other_lines_come_behind_the_requests_before_them() -> None:
    """A report of the package does not overtake requests that are still to be written."""
    stream = io.StringIO()
    log = logs.configure("text", stream)
    assert log is not None
    log.note(A_REQUEST, "200 OK", [], 0.0, 0.1)
    logging.getLogger("mock_platform.somewhere").info("later")

    first, second = stream.getvalue().splitlines()
    assert " 200 GET / ms=100.0" in first
    assert second.endswith("Z later")


def test_a_log_that_cannot_be_written_stops_nobody() -> None:
    """A reader of the log who has gone is no fault of a request."""
    stream = io.StringIO()
    handler = logs.LogHandler("text", stream, logging.INFO)
    handler.note(A_REQUEST, "200 OK", [], 0.0, 0.1)
    stream.close()

    handler.flush()


def test_what_was_noted_is_written_when_the_process_ends(tmp_path: Path) -> None:
    """A process that ends without stopping its server still writes its last requests."""
    program = """
from mock_platform.cli import logs
from mock_platform.core.connection import Request
log = logs.configure("text")
log.note(Request("GET", "/last", "", "1.1", [], b"", keep_alive=True), "200 OK", [], 0.0, 0.1)
"""
    assert " 200 GET /last ms=100.0" in python("-c", program, check=True, cwd=tmp_path).stderr


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
    forged = "/\x1b[31m\r\n2026-01-01T00:00:00.000Z 200 GET /\x00\x7f\x85\u200e?a=\x08"
    text = line_of(form, forged)

    if form == "json":
        assert text.isprintable()
        assert json.loads(text)["url"] == forged
    else:
        first, second = text.split("\n")
        assert (first + second).isprintable()
        assert first.endswith(r" 404 GET /\x1b[31m")
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
