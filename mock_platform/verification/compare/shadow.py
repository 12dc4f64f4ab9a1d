"""Sends what clients ask of the sandbox to the real service as well, and compares the answers.

The client has its answer before anything is sent. Requests wait in a bounded queue; when it is full
the newest are dropped and counted. Only the named host is reached; redirects are not followed.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from mock_platform.core.call import FORM
from mock_platform.core.envelope import Lines
from mock_platform.core.errors import escape
from mock_platform.core.operation import Operation
from mock_platform.core.pairs import decode_pairs
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.core.wire import NAMES_HEADER, WIRE_HEADER
from mock_platform.delivery.outbound import Outbound, OutboundFault
from mock_platform.delivery.upstream import OF_SERVER, check_base_url, leave_out_own
from mock_platform.platform import Platform
from mock_platform.settings import NamesMode
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.client import SigningCredentials, leave_out_signature
from mock_platform.verification.compare.exchange import Comparer
from mock_platform.verification.compare.findings import AskedProbe, Collector, DriftFinding
from mock_platform.verification.compare.recorded import Locate
from mock_platform.verification.compare.report import describe, name_place
from mock_platform.verification.compare.rules import compare_same_request
from mock_platform.verification.compare.side import OriginalNames, shows_names
from mock_platform.world import redact
from mock_platform.world.journal import JournalEntry

QUEUE_ENTRIES = 1000
"""Requests that wait for the other service; further ones are dropped."""
MAX_QUEUED_BYTES = 64 * 1024 * 1024
"""Bytes of the bodies of waiting requests and their answers; beyond, further ones are dropped."""
MAX_ANSWER_BYTES = 8 * 1024 * 1024
_TIMEOUT_SECONDS = 30.0
_STOP_SECONDS = 2.0
_WORKERS = 2
_READING = frozenset({"GET", "HEAD"})
_OWN_HEADERS = frozenset(
    {
        "host", "connection", "content-length", "transfer-encoding", "accept-encoding", "te",
        "upgrade", "keep-alive", "proxy-connection", "proxy-authorization", "expect", "trailer",
        "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
    }
)  # fmt: skip
"""Headers of the connection, and about the way to this server; they are not passed on."""
_LOG = logging.getLogger(__name__)


class ShadowSettings(Struct, frozen=True):
    """What is sent on: to which base address, whether writes too, and with whose credentials."""

    upstream: str
    writes: bool = False
    credentials: SigningCredentials | None = None
    """Credentials in place of those that clients send; `None` passes these on."""
    names: NamesMode | None = None
    """The names of the service; `None` for those that its answers show."""


class ShadowTraffic:
    """Compares answers of a platform with those of another service; an observer of the platform."""

    def __init__(
        self,
        platform: Platform,
        settings: ShadowSettings,
        description: Mapping[str, Any],
        locate: Locate,
        *,
        entries: int = QUEUE_ENTRIES,
    ) -> None:
        self.settings = settings
        self._base = check_base_url(settings.upstream)
        self._platform = platform
        self._operations = {each.id: each for each in platform.operations}
        self._locate = locate
        self._host = urlsplit(self._base).hostname or ""
        self._outbound = Outbound(timeout=_TIMEOUT_SECONDS, allow_hosts=(self._host,))
        self._comparer = Comparer(description)
        self._names = OriginalNames()
        self._collector = Collector(platform.assumptions())
        self._queue: queue.Queue[JournalEntry | None] = queue.Queue(entries)
        self._lock = threading.Lock()
        self._counts = {"sent": 0, "compared": 0, "dropped": 0, "failed": 0, "not_sent": 0}
        self._waiting_bytes = 0
        self._last_fault: str | None = None
        self._told: set[str] = set()
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def start(self) -> None:
        """Start to send, in threads of its own, and report through the platform."""
        self._platform.shadow = self.report
        self._platform.observers.append(self.observe)
        for number in range(_WORKERS):
            thread = threading.Thread(target=self._work, name=f"shadow-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Send nothing more: waiting requests are dropped, running ones interrupted. Idempotent."""
        self._stopped = True
        self._outbound.stop()
        for _ in self._threads:
            try:
                self._queue.put_nowait(None)
            except queue.Full:
                break  # the threads see that they are stopped
        for thread in self._threads:
            thread.join(_STOP_SECONDS)

    def observe(self, entry: JournalEntry) -> None:
        """Let a request be sent on; never waits."""
        operation = self._operations.get(entry.operation or "")
        if operation is None or self._stopped:
            return
        if not self._may_send(operation, entry):
            self._count("not_sent")
            return
        # Bounded in two ways, entries and bytes, and never waiting: the client of the sandbox must
        # not notice that there is a second service, even if that hangs. What does not fit is
        # counted, so that the report says on how much it is based.
        size = len(entry.request_body) + len(entry.response_body)
        with self._lock:
            if self._waiting_bytes + size <= MAX_QUEUED_BYTES:
                try:
                    self._queue.put_nowait(entry)
                except queue.Full:
                    pass
                else:
                    self._waiting_bytes += size
                    return
            self._counts["dropped"] += 1

    def report(self) -> dict[str, Any]:
        """Return the differences so far as JSON data, with what was sent, dropped and failed."""
        with self._lock:
            return {
                "upstream": self._base,
                "writes": self.settings.writes,
                **self._counts,
                "waiting": self._queue.qsize(),
                "last_fault": self._last_fault,
                "findings": [each.as_json() for each in self._collector.list_findings()],
                "findings_dropped": self._collector.dropped,
                "assumptions": dict(sorted(self._collector.verdicts.items())),
            }

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until everything that was accepted is compared; return whether it is."""
        with self._queue.all_tasks_done:
            return self._queue.all_tasks_done.wait_for(
                lambda: self._queue.unfinished_tasks == 0, seconds
            )

    # -- in the threads --------------------------------------------------------------------------

    def _may_send(self, operation: Operation, entry: JournalEntry) -> bool:
        return (
            (self.settings.writes or entry.method in _READING)
            and not isinstance(operation.returns, Lines)
            and operation.returns.media_type == "application/json"
            and entry.rule is None  # a scenario answered
        )

    def _work(self) -> None:
        while not self._stopped:
            entry = self._queue.get()
            try:
                if entry is not None and not self._stopped:
                    self._compare(entry)
            except Exception as fault:  # noqa: BLE001 - one request must not end the thread
                self._count("failed")
                _LOG.error("Shadow: a request could not be compared: %r", fault)
            finally:
                if entry is not None:
                    with self._lock:
                        size = len(entry.request_body) + len(entry.response_body)
                        self._waiting_bytes -= size
                self._queue.task_done()

    def _compare(self, entry: JournalEntry) -> None:
        operation = self._operations[entry.operation or ""]
        _, path = self._locate(entry.url)
        query, form = urlsplit(entry.url).query, entry.request_body
        # A signature covers the address, so the client's own one is wrong for another server. With
        # credentials of that server the client's OAuth parameters are taken out, wherever they are,
        # and the request is signed again.
        is_signed = any(name.lower() == "authorization" for name, _ in entry.request_headers)
        if self.settings.credentials is not None:
            unsigned = self._leave_out_signature(operation, query, entry)
            is_signed = is_signed or unsigned != (query, form)
            query, form = unsigned
        target, body = f"{path}?{query}" if query else path, form
        ours = ComparedAnswer(entry.status, entry.response_headers, entry.response_body)
        is_original = shows_names(ours) == "original"
        if self.settings.names == "original" and not is_original:
            kind = ComparedAnswer(0, entry.request_headers).media_type
            target, body = self._names.write_sent(operation, path, query, kind, body)
        self._count("sent")
        try:
            answer = self._outbound.send(
                entry.method,
                self._base + target,
                self._make_headers(operation, entry, target, body, is_signed=is_signed)
                | self._choose_form(ours, is_original=is_original),
                body,
                most=MAX_ANSWER_BYTES + 1,
            )
        except OutboundFault as fault:
            self._note_fault(entry, str(fault))
            return
        if len(answer.body) > MAX_ANSWER_BYTES:
            self._note_fault(entry, f"the answer is larger than {MAX_ANSWER_BYTES // 1024**2} MiB")
            return
        if answer.status == 429:
            self._note_fault(entry, "its rate limit is used up (429)")
            return
        if answer.status == 401 and entry.status != 401 and self.settings.credentials is None:
            self._note_fault(
                entry,
                "it refuses the client's credentials (401); a signature holds for one address: "
                "give credentials with --shadow-credentials",
            )
            return
        theirs = ComparedAnswer(answer.status, answer.headers, answer.body)
        # Both answers are brought to neutral names before they are compared. A sandbox that answers
        # with neutral names is first written with original ones: some names fall together there,
        # and would be reported as differences otherwise.
        named = self.settings.names or shows_names(theirs)
        if is_original or named == "original":
            whole = ours if is_original else self._names.write_answer(operation, ours)
            ours = self._names.read_answer(operation, whole)
        if named == "original" or (is_original and self.settings.names is None):
            theirs = self._names.read_answer(operation, theirs)
        shown = redact.address(f"{self._base}{target}")
        with self._lock:
            # Comparing is under the lock, although it takes a while: the comparer learns from each
            # answer, and two threads would learn from half of one. Sending, which takes longest, is
            # outside of it.
            own = {"base_url": entry.url.partition(path)[0]}
            other = {"base_url": self._base}
            compared = self._comparer.compare(operation, ours, theirs, own, other)
            sent = dict(decode_pairs(query))
            compared += compare_same_request(operation, path, sent, ours, theirs)
            found = tuple(dict.fromkeys(compared))
            if is_original or named == "original":
                found = tuple(self._names.add_names(operation, found))
            name = f"{entry.method} {shown}"
            asked = AskedProbe(entry.id, name, theirs.status, found, tuple(entry.assumptions))
            findings = self._collector.add(operation.id, asked)
            self._counts["compared"] += 1
        entry.shadow = {
            "status": theirs.status,
            "differences": [each.as_json() for each in found],
        }
        for finding in findings:
            self._tell(entry, finding)

    def _leave_out_signature(
        self, operation: Operation, query: str, entry: JournalEntry
    ) -> tuple[str, bytes]:
        """Return query and body without a signature that is a parameter of one of them."""
        body = entry.request_body
        if ComparedAnswer(0, entry.request_headers).media_type == FORM:
            text = body.decode("utf-8", "surrogateescape")
            body = leave_out_signature(operation, text).encode("utf-8", "surrogateescape")
        return leave_out_signature(operation, query), body

    def _make_headers(
        self,
        operation: Operation,
        entry: JournalEntry,
        target: str,
        body: bytes,
        *,
        is_signed: bool,
    ) -> dict[str, str]:
        """Return the headers as the client sent them, signed again with other credentials."""
        sent = leave_out_own(
            entry.request_headers, OF_SERVER, self._platform.settings.control_token
        )
        headers = {
            name: value
            for name, value in sent
            if name.lower() not in _OWN_HEADERS and not name.lower().startswith("x-mock-")
        }
        headers["Accept-Encoding"] = "identity"
        replaced = self.settings.credentials
        if replaced is None or not operation.auth.schemes:
            return headers
        kept = {n: v for n, v in headers.items() if n.lower() not in {"authorization", "cookie"}}
        if not is_signed:
            return kept  # the client sent none, and is refused for it
        schemes = operation.auth.schemes
        form = ComparedAnswer(0, entry.request_headers).media_type == FORM
        text = body.decode("utf-8", "replace") if form else None
        return kept | replaced.sign(entry.method, self._base + target, schemes, "good", text)

    def _choose_form(self, ours: ComparedAnswer, *, is_original: bool) -> dict[str, str]:
        """Return what lets another sandbox answer in the form that the client got.

        The real service has one form only, and its own hosts get nothing that no client sends.
        """
        if self._host in PLATFORM_HOSTS:
            return {}
        names = self.settings.names or ("original" if is_original else None)
        wire = ours.markers.get(WIRE_HEADER.lower(), "spec" if ours.markers else None)
        sent = {WIRE_HEADER: wire, NAMES_HEADER: names}
        return {name: value for name, value in sent.items() if value is not None}

    def _tell(self, entry: JournalEntry, finding: DriftFinding) -> None:
        """Log a difference when it is seen for the first time."""
        if finding.id in self._told:
            return
        self._told.add(finding.id)
        text = escape(f"{finding.kind} {name_place(finding)}: {describe(finding)}")
        _LOG.warning("Shadow: %s differs (%s): %s", entry.operation, entry.id, text)

    def _note_fault(self, entry: JournalEntry, text: str) -> None:
        shown = escape(text)
        entry.shadow = {"fault": shown}
        with self._lock:
            self._counts["failed"] += 1
            first = self._last_fault != shown
            self._last_fault = shown
        if first:
            _LOG.warning("Shadow: %s was not compared: %s", entry.operation, shown)

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1
