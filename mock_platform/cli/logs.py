"""The log of `serve`: one line for each request on standard error, and what the package reports.

The package itself logs through the standard library and configures nothing; this is the only place
that does.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Literal, TextIO

import structlog

from mock_platform.world import redact
from mock_platform.world.clock import UPTIME, machine_now, wire_millis

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LogFormat = Literal["text", "json"]
_REQUESTS = "mock_platform.requests"
LOGGERS = ("mock_platform", "cheroot", "granian", "watchfiles.main", "py.warnings")
"""Whose lines go to the log; those of a host program are not ours to direct."""


def configure(form: LogFormat, stream: TextIO | None = None) -> None:
    """Send every log line of the process to `stream` (standard error) in this form."""
    stream = stream or sys.stderr
    shared: list[Any] = [
        _stamped,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.format_exc_info,
    ]
    last: Any = structlog.processors.JSONRenderer() if form == "json" else _Plain()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        )
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.captureWarnings(capture=True)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
    logging.getLogger("mock_platform").setLevel(logging.INFO)


class RequestLog:
    """A WSGI application that logs what another one answers, credentials redacted."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._log = structlog.stdlib.get_logger(_REQUESTS)

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
        write = self._log.error if (answered.get("status") or 500) >= 500 else self._log.info
        write("request", **line)


class _Plain:
    """A log line for people: time, event, what it is about."""

    def __call__(self, logger: Any, name: str, event: MutableMapping[str, Any]) -> str:
        at, level = event.pop("timestamp"), event.pop("level", "info")
        exception = event.pop("exception", None)
        text = str(event.pop("event"))
        if text == "request":
            status = event.pop("status") or "---"
            text = f"{status} {event.pop('method')} {event.pop('url')}"
        elif level in {"warning", "error", "critical"}:
            text = f"{level.upper()}: {text}"
        rest = "".join(f" {key}={value}" for key, value in event.items())
        return f"{at} {text}{rest}" + (f"\n{exception}" if exception else "")


def _stamped(logger: Any, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event["timestamp"] = wire_millis(machine_now())
    return event


def _address(environ: WSGIEnvironment) -> str:
    path = environ.get("REQUEST_URI") or environ.get("RAW_URI")
    if path is None:
        query = environ.get("QUERY_STRING", "")
        path = environ.get("PATH_INFO", "") + (f"?{query}" if query else "")
    return redact.text(path)
