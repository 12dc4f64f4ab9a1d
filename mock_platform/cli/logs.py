"""The log of `serve`: one line per request on standard error, and the messages of the package.

The package itself logs with the standard library and configures no handlers; only this module does.
Lines of requests are written in batches, when the server calls `flush`; all other lines are written
at once, after the earlier requests.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from msgspec import Struct

from mock_platform.core.connection import Request
from mock_platform.core.warning_counts import strip_origin
from mock_platform.world import redact
from mock_platform.world.clock import UPTIME, machine_now, wire_millis
from mock_platform.world.journal import JournalEntry

LogFormat = Literal["text", "json"]
LogLevel = Literal["info", "warning", "error", "off"]
LOGGERS = ("mock_platform", "watchfiles.main", "py.warnings")
"""The logger whose lines go to the log; other loggers belong to the host program."""
_LOG = logging.getLogger(__name__)
_MAX_WARNINGS = 5
"""Warnings of one request in a line for people."""
_LEVELS = {
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}


def configure(
    form: LogFormat, stream: TextIO | None = None, level: LogLevel = "info"
) -> LogHandler | None:
    """Send the log lines of the process, from a level on, to `stream` (standard error).

    Returns the log of requests; `None` if requests are not logged.
    """
    handler = LogHandler(form, stream or sys.stderr, _LEVELS[level])
    logging.captureWarnings(capture=True)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(_LEVELS[level])
    return None if level == "off" else handler


def log_warnings(entry: JournalEntry) -> None:
    """Log what was sent and ignored in a request; to be one of a platform's observers."""
    if not entry.coded_warnings or not _LOG.isEnabledFor(logging.WARNING):
        return
    shown = [f"{code}: {text}" for code, text in entry.coded_warnings[:_MAX_WARNINGS]]
    more = len(entry.coded_warnings) - len(shown)
    fields = {
        "event": "warnings",
        "method": entry.method,
        "url": redact.address(entry.url),
        "operation": entry.operation,
        "id": entry.id,
        "warnings": [{"code": code, "text": text} for code, text in entry.coded_warnings],
    }
    text = "; ".join([*shown, f"and {more} more"] if more else shown)
    _LOG.warning(
        "%s %s operation=%s id=%s %s",
        entry.method,
        strip_origin(redact.address(entry.url)),
        entry.operation,
        entry.id,
        text,
        extra={"fields": fields},
    )


class Answered(Struct, gc=False):
    """An answered request, with the data that its line needs."""

    ended: float
    """On the clock `UPTIME`, like `began`."""
    began: float
    method: str
    target: str
    status: str
    """Empty if the client got no answer."""
    headers: Sequence[tuple[str, str]]
    entry: JournalEntry | None = None
    """Its entry in the journal, if it has one in this process."""


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes the log; the server also uses it as the log of its requests."""

    def __init__(self, form: LogFormat, stream: TextIO, level: int) -> None:
        super().__init__(stream)
        self.setFormatter(JsonLines() if form == "json" else PlainLines())
        self._line: Callable[[str, Answered], str] = _json_line if form == "json" else _format_line
        self._least = level
        self._answered: deque[Answered] = deque()

    def note(
        self,
        request: Request,
        status: str,
        headers: Sequence[tuple[str, str]],
        began: float,
        ended: float,
        entry: JournalEntry | None = None,
    ) -> None:
        """Add a request, whose line `flush` writes."""
        if self._least > logging.INFO and not _is_error(status):
            return
        kept = Answered(ended, began, request.method, request.target, status, headers, entry)
        self._answered.append(kept)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line that does not belong to a request."""
        self._write_answered()
        super().emit(record)

    def flush(self) -> None:
        """Write the buffered requests. Also called when the interpreter ends."""
        self.acquire()
        try:
            self._write_answered()
        finally:
            self.release()
        super().flush()

    def _write_answered(self) -> None:
        answered = self._answered
        if not answered:
            return
        offset = machine_now().timestamp() - UPTIME()
        lines, second, shown = [], -1, ""
        while answered:
            one = answered.popleft()
            at, milliseconds = divmod(int((one.ended + offset) * 1000), 1000)
            if at != second:
                second = at
                shown = datetime.fromtimestamp(second, UTC).isoformat()[:19]
            lines.append(self._line(f"{shown}.{milliseconds:03}Z", one))
        try:
            self.stream.write("".join(lines))
        except (OSError, ValueError):  # it was closed, and there is no other place to say so
            self._answered.clear()


def _is_error(status: str) -> bool:
    return not status or status[0] == "5"


_MARKERS = {"X-Mock-Operation": "operation", "X-Mock-Request-Id": "id", "X-Mock-Why": "why"}


def _find_notes(answered: Answered) -> dict[str, str]:
    """Return the operation, the id of the request, how the answer ended, and why it is so.

    They come from the journal; if that is in another process, from the marker headers.
    """
    entry = answered.entry
    if entry is None:
        sent = {_MARKERS[name]: value for name, value in answered.headers if name in _MARKERS}
        return {name: sent[name] for name in ("operation", "id", "why") if name in sent}
    notes = {} if entry.operation is None else {"operation": entry.operation}
    notes["id"] = entry.id
    if entry.ending is not None and entry.ending.how != "complete":
        notes["ended"] = entry.ending.how
    if entry.why is not None:
        notes["why"] = entry.why
    return notes


def _format_line(time: str, answered: Answered) -> str:
    """Return the line of a request for people."""
    line = (
        f"{answered.status[:3] or '---'} {answered.method} {redact.address(answered.target)} "
        f"ms={(answered.ended - answered.began) * 1000:.1f}"
    )
    for name, value in _find_notes(answered).items():
        line += f" {name}={_QUOTED(value) if name == 'why' else value}"
    return f"{time} {line if line.isprintable() else _escape(line)}\n"


def _json_line(time: str, answered: Answered) -> str:
    """Return the line of a request for programs."""
    level = "error" if _is_error(answered.status) else "info"
    line = (
        f'{{"timestamp": "{time}", "level": "{level}", '
        f'"event": "request", "method": {_QUOTED(answered.method)}, '
        f'"url": {_QUOTED(redact.address(answered.target))}, '
        f'"status": {answered.status[:3] or "null"}, '
        f'"ms": {(answered.ended - answered.began) * 1000:.1f}'
    )
    for name, value in _find_notes(answered).items():
        line += f', "{name}": {_QUOTED(value)}'
    return _escape_delete(line + "}\n")


_QUOTED = json.JSONEncoder().encode


def _escape_delete(line: str) -> str:
    """Escape the one control character that JSON does not escape."""
    return line.replace("\x7f", "\\u007f")


class JsonLines(logging.Formatter):
    """A log line for programs: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object, with `timestamp`, `level` and `event`."""
        line: dict[str, Any] = {"timestamp": _time(record), "level": record.levelname.lower()}
        fields = getattr(record, "fields", None)
        line |= fields or {"event": record.getMessage()}
        exception = _exception(record)
        if exception is not None:
            line["exception"] = exception
        return _escape_delete(json.dumps(line))


class PlainLines(logging.Formatter):
    """A log line for people: time and event.

    Data from clients must not control the terminal or look like a separate line: control characters
    are escaped, and text after a line break is indented.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with a traceback below it."""
        text = record.getMessage()
        if record.levelno >= logging.WARNING:
            text = f"{record.levelname}: {text}"
        exception = _exception(record)
        shown = f"{text}\n{exception}" if exception else text
        return f"{_time(record)} {shown if shown.isprintable() else _escape(shown)}"


def _escape(text: str) -> str:
    """Return a text of several lines, the later ones indented, without unprintable characters."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n  ".join("".join(map(_make_visible, line)) for line in lines)


def _make_visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _time(record: logging.LogRecord) -> str:
    return wire_millis(datetime.fromtimestamp(record.created, UTC))


def _exception(record: logging.LogRecord) -> str | None:
    if not record.exc_info or record.exc_info[0] is None:
        return None
    return logging.Formatter().formatException(record.exc_info)
