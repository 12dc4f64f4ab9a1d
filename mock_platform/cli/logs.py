"""The log of `serve`: one line for each request on standard error, and what the package reports.

The package itself logs through the standard library and configures nothing; this is the only place
that does.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO

from mock_platform.world import redact
from mock_platform.world.clock import UPTIME, wire_millis

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LogFormat = Literal["text", "json"]
LogLevel = Literal["info", "warning", "error", "off"]
_REQUESTS = logging.getLogger("mock_platform.requests")
_FIELDS = "request_fields"
"""Where a record of the standard library carries what is said of a request."""
LOGGERS = ("mock_platform", "watchfiles.main", "py.warnings")
"""Whose lines go to the log; those of a host program are not ours to direct."""


def configure(form: LogFormat, stream: TextIO | None = None, level: LogLevel = "info") -> None:
    """Send the log lines of the process from a level on to `stream` (standard error)."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else PlainLines())
    logging.captureWarnings(capture=True)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(_LEVELS[level])


_LEVELS = {
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}


class JsonLines(logging.Formatter):
    """A log line for programs: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """The object, with `timestamp`, `level`, `event`, and what the event is about."""
        line = {"timestamp": _time(record), "level": record.levelname.lower()}
        line |= {"event": record.getMessage(), **record.__dict__.get(_FIELDS, {})}
        exception = _exception(record)
        if exception is not None:
            line["exception"] = exception
        # The one control character that JSON leaves as it is.
        return json.dumps(line).replace("\x7f", "\\u007f")


class PlainLines(logging.Formatter):
    """A log line for people: time, event, what it is about.

    Whatever clients sent can neither act on a terminal nor look like a line of its own: control
    characters are escaped, and what follows a line break is indented.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, with a traceback below it."""
        text, fields = record.getMessage(), dict(record.__dict__.get(_FIELDS, {}))
        if fields:
            text = f"{fields.pop('status') or '---'} {fields.pop('method')} {fields.pop('url')}"
        elif record.levelno >= logging.WARNING:
            text = f"{record.levelname}: {text}"
        rest = "".join(f" {key}={value}" for key, value in fields.items())
        exception = _exception(record)
        shown = f"{text}{rest}\n{exception}" if exception else f"{text}{rest}"
        return f"{_time(record)} {shown if shown.isprintable() else _escaped(shown)}"


def _escaped(text: str) -> str:
    """A text of several lines, the later ones indented, without other unprintable characters."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n  ".join("".join(map(_visible, line)) for line in lines)


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _time(record: logging.LogRecord) -> str:
    return wire_millis(datetime.fromtimestamp(record.created, UTC))


def _exception(record: logging.LogRecord) -> str | None:
    if not record.exc_info or record.exc_info[0] is None:
        return None
    return logging.Formatter().formatException(record.exc_info)


class RequestLog:
    """A WSGI application that logs what another one answers, credentials redacted."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self.runs_at_once = getattr(application, "runs_at_once", None)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer and log one request."""
        began = UPTIME()
        answered: dict[str, Any] = {}

        def start(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            answered["status"] = int(status[:3])
            answered["headers"] = headers
            return start_response(status, headers, exc_info)

        # Taken now: on its way the application takes prefixes off the path.
        address = _address(environ)
        method = environ["REQUEST_METHOD"]
        try:
            return self._application(environ, start)
        finally:
            self._write(method, address, answered, (UPTIME() - began) * 1000)

    def _write(
        self, method: str, address: str, answered: dict[str, Any], milliseconds: float
    ) -> None:
        named = {name.lower(): value for name, value in answered.get("headers", ())}
        line: dict[str, Any] = {
            "method": method,
            "url": address,
            "status": answered.get("status"),
            "ms": round(milliseconds, 1),
        }
        for key, header in (("operation", "x-mock-operation"), ("id", "x-mock-request-id")):
            if header in named:
                line[key] = named[header]
        level = logging.ERROR if (answered.get("status") or 500) >= 500 else logging.INFO
        _REQUESTS.log(level, "request", extra={_FIELDS: line})


def _address(environ: WSGIEnvironment) -> str:
    path = environ.get("REQUEST_URI") or environ.get("RAW_URI")
    if path is None:
        query = environ.get("QUERY_STRING", "")
        path = environ.get("PATH_INFO", "") + (f"?{query}" if query else "")
    return redact.address(path)
