"""The check itself: reads everything readable of another server, lists before single records.

Path parameters are filled with records of the server's own lists; an operation whose parameters
cannot be filled is skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import Call
from mock_platform.core.description.openapi import template_path
from mock_platform.core.envelope import Lines
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.core.operation import Operation
from mock_platform.drift.client import ServerAnswer
from mock_platform.drift.compare import Difference, find_differences
from mock_platform.platform import Platform

_HERE = "http://localhost"
_OWN_HEADERS = frozenset({"content-length", "www-authenticate"})
_MAX_NESTING_LEVELS = 256


class Server(Protocol):
    """The other server, or a replacement for it in tests."""

    def has_credentials(self, schemes: tuple[Scheme, ...]) -> bool:
        """Return whether requests can carry credentials of one of these kinds."""

    def get(self, path: str, schemes: tuple[Scheme, ...]) -> ServerAnswer:
        """Return the answer to one GET request."""


@dataclass(frozen=True, slots=True)
class CheckedOperation:
    """An operation that was requested, and how its answer differs."""

    operation: str
    path: str
    status: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class SkippedOperation:
    """An operation that was not checked, and why."""

    operation: str
    reason: str


@dataclass(frozen=True, slots=True)
class Drift:
    """The result of a drift check."""

    checked: tuple[CheckedOperation, ...]
    skipped: tuple[SkippedOperation, ...]

    @property
    def differs(self) -> bool:
        """Whether any answer differs from the description."""
        return any(each.differences for each in self.checked)


def check(server: Server, description: Mapping[str, Any], platform: Platform) -> Drift:
    """Read everything that a server lets us read, and compare it with a description.

    `description` is the OpenAPI document of everything that `platform` serves.
    """
    reader = _Reader(server, description, platform)
    for operation in _order_reads(platform.operations):
        reader.read(operation)
    return Drift(tuple(reader.checked), tuple(reader.skipped))


def _order_reads(operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations that only read, those with fewer path parameters first."""
    reads = [
        operation
        for operation in operations
        if operation.method == "GET"
        and operation.returns.media_type == "application/json"
        and not isinstance(operation.returns, Lines)  # streams do not end
        and not operation.sandbox_only
    ]
    return sorted(reads, key=lambda operation: len(operation.path_names))


class _Reader:
    """Requests one operation after the other, and remembers the records of lists."""

    def __init__(self, server: Server, description: Mapping[str, Any], platform: Platform) -> None:
        self._server = server
        self._paths: Mapping[str, Any] = description["paths"]
        self._components: Mapping[str, Any] = description["components"]["schemas"]
        self._platform = platform
        self._records: dict[str, list[dict[str, Any]]] = {}
        """Records that a list returned, by the list's path with its parameters filled in."""
        self._empty: set[str] = set()
        """Paths of lists that returned no records."""
        self.checked: list[CheckedOperation] = []
        self.skipped: list[SkippedOperation] = []

    def read(self, operation: Operation) -> None:
        """Request one operation, for one account after the other until a list has records."""
        required = [
            name
            for name, field in (operation.params().load_fields if operation.params else {}).items()
            if field.required
        ]
        one_of: Sequence[str] = getattr(operation.params, "one_of", ())
        if one_of:
            self._skip(operation, f"needs one of the parameters {', '.join(one_of)}")
            return
        if required:
            self._skip(operation, f"needs the parameters {', '.join(required)}")
            return
        schemes = operation.auth.schemes
        if schemes and not self._server.has_credentials(schemes):
            self._skip(operation, f"needs credentials for {' or '.join(operation.auth.names)}")
            return
        paths = self._fill_path(operation)
        if not paths:
            self._skip(operation, f"no list of the server contains :{operation.path_names[-1]}")
            return
        for path in paths:
            done = self._read(operation, path)
            if done is None:
                return
            if path == paths[-1] or path not in self._empty:
                self.checked.append(done)
                return

    def _read(self, operation: Operation, path: str) -> CheckedOperation | None:
        answer = self._server.get(path, operation.auth.schemes)
        if answer.status == 429:
            self._skip(operation, "the server's rate limit is used up (429); try again later")
            return None
        found, body = self._compare(operation, answer)
        if isinstance(body, dict) and isinstance(body.get("data"), list):
            if not body["data"]:
                self._empty.add(path)
            self._records[path] = [each for each in body["data"] if isinstance(each, dict)]
        return CheckedOperation(operation.id, path, answer.status, tuple(found))

    def _compare(self, operation: Operation, answer: ServerAnswer) -> tuple[list[Difference], Any]:
        wanted = operation.returns.status
        if answer.status != wanted:
            return [Difference("status", "status", str(wanted), _describe_status(answer))], None
        found = self._compare_headers(operation, answer)
        try:
            body = loads(answer.body, max_nesting=_MAX_NESTING_LEVELS)
        except BadJson:
            return [*found, Difference("type", "(body)", "JSON", "something else")], None
        entry = self._paths[template_path(operation.path)]["get"]
        content = entry["responses"][str(wanted)]["content"][operation.returns.media_type]
        return [*found, *find_differences(body, content["schema"], self._components)], body

    def _compare_headers(self, operation: Operation, answer: ServerAnswer) -> list[Difference]:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        found = []
        kind = headers.get("content-type", "")
        media_type = kind.partition(";")[0].strip().lower()
        if media_type != operation.returns.media_type:
            wanted = operation.returns.media_type
            found.append(Difference("header", "content-type", wanted, kind or "absent"))
        found += [
            Difference("header", name, value, "absent")
            for name, value in self._find_usual_headers(operation)
            if name not in headers
        ]
        return found

    def _find_usual_headers(self, operation: Operation) -> list[tuple[str, str]]:
        """Return the headers that the sandbox sends with every answer of the operation."""
        path = operation.path.replace(":", "")
        reply = self._platform.handle(Call("GET", _HERE + path, path, _HERE, []))
        return [
            (name.lower(), value)
            for name, value in reply.headers
            if name.lower() not in _OWN_HEADERS | {"content-type"}
            and not name.lower().startswith("x-mock-")
        ]

    def _fill_path(self, operation: Operation) -> list[str]:
        """Return the operation's path, once for each way to fill its parameters from lists."""
        paths = [""]
        for segment in operation.path.strip("/").split("/"):
            if not segment.startswith(":"):
                paths = [f"{path}/{segment}" for path in paths]
                continue
            name = segment[1:]
            paths = [
                f"{path}/{quote(str(record.get(name, record.get('id'))), safe='')}"
                for path in paths
                for record in self._records.get(path, ())[: None if name == "account_id" else 1]
                if name in record or "id" in record
            ]
        return paths

    def _skip(self, operation: Operation, reason: str) -> None:
        self.skipped.append(SkippedOperation(operation.id, reason))


def _describe_status(answer: ServerAnswer) -> str:
    """Describe a status, with its redirect target or the codes in its body."""
    location = answer.headers.get("location") or answer.headers.get("Location")
    if 300 <= answer.status < 400 and location:
        return f"{answer.status} to {location[:200]} (not followed)"
    codes = _read_codes(answer)
    return f"{answer.status} {codes}".strip()


def _read_codes(answer: ServerAnswer) -> str:
    try:
        body = loads(answer.body)
    except BadJson:
        return ""
    errors = body.get("errors") if isinstance(body, dict) else None
    if not isinstance(errors, list):
        return ""
    return ", ".join(
        str(each["code"]) for each in errors[:3] if isinstance(each, dict) and "code" in each
    )
