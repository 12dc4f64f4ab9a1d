"""One of the two servers that are compared: what is known of it, and how requests reach it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

from mock_platform.core.operation import Operation
from mock_platform.drift.answers import ComparedAnswer
from mock_platform.drift.client import ProbeRequest, Server, Wait
from mock_platform.drift.names import OriginalNames
from mock_platform.drift.plan import Probe
from mock_platform.drift.values import Known, PathValues, fill, fill_query

Result = TypeVar("Result")
Steps = Generator[ProbeRequest, ComparedAnswer, Result]
"""Yields requests, gets the answer to each, and returns what was found."""


class Side(Struct):
    """One server: what is known of it, and what was found for the operation at hand."""

    server: Server
    known: Known
    names: OriginalNames | None = None
    """What writes and reads original names; `None` if the server has neutral ones."""
    values: PathValues = field(default_factory=dict)
    plain: ComparedAnswer | None = None

    def prepare(
        self, operation: Operation, probe: Probe, unknown: PathValues
    ) -> ProbeRequest | None:
        """Return the request of a probe; `None` without a value for one of its parameters."""
        values = dict(self.values)
        for name in operation.path_names:
            if probe.unknown in {name, "*"} or name not in values:
                values[name] = unknown[name]
        query = fill_query(probe.query, self.known, self.values)
        return None if isinstance(query, str) else make_request(operation, probe, values, query)

    def start(self, operation: Operation, request: ProbeRequest) -> Wait:
        """Send a request, and return what waits for its answer; both have neutral names here."""
        wait = self.server.start(self.write(operation, request))
        names = self.names
        return wait if names is None else lambda: names.read_answer(operation, wait())

    def write(self, operation: Operation, request: ProbeRequest) -> ProbeRequest:
        """Return a request as it is sent, with the names of the server."""
        return request if self.names is None else self.names.write_request(operation, request)


class Walk(Generic[Result]):
    """Requests to one server, one after the other; the first one is on its way at once."""

    def __init__(self, side: Side, operation: Operation, steps: Steps[Result]) -> None:
        self._side = side
        self._operation = operation
        self._steps = steps
        self._result: list[Result] = []
        self._wait = self._step(None)

    @property
    def has_ended(self) -> bool:
        """Whether no request is on its way."""
        return self._wait is None

    def finish(self) -> Result:
        """Send the other requests, and return what was found."""
        while self._wait is not None:
            self._wait = self._step(self._wait())
        return self._result[0]

    def _step(self, answer: ComparedAnswer | None) -> Wait | None:
        try:
            request = next(self._steps) if answer is None else self._steps.send(answer)
        except StopIteration as end:
            self._result.append(end.value)
            return None
        return self._side.start(self._operation, request)


def make_request(
    operation: Operation, probe: Probe, values: PathValues, query: Sequence[tuple[str, str]]
) -> ProbeRequest:
    """Return the request of a probe, with a server's own values."""
    path = fill(operation.path, values)
    return ProbeRequest(path, tuple(query), probe.method, operation.auth.schemes, probe.signing)
