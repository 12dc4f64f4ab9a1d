"""One of the two servers that are compared: what is known of it, and how requests reach it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.operation import Operation
from mock_platform.drift.answers import ComparedAnswer
from mock_platform.drift.client import ProbeRequest, Server, Wait
from mock_platform.drift.names import OriginalNames
from mock_platform.drift.plan import Probe
from mock_platform.drift.rules import Asked
from mock_platform.drift.values import Known, PathValues, Wanted, fill, fill_query

Result = TypeVar("Result")
Steps = Generator[ProbeRequest, ComparedAnswer, Result]
"""Yields requests, gets the answer to each, and returns what was found."""


class Side(Struct):
    """One server: what is known of it, and what was found for the operation at hand."""

    server: Server
    known: Known
    names: OriginalNames | None = None
    """What writes and reads original names; `None` if the server has neutral ones."""
    schemes: tuple[Scheme, ...] = ()
    """How requests for the operation at hand are signed: as those to the other side."""
    values: PathValues = field(default_factory=dict)
    plain: ComparedAnswer | None = None

    def prepare(
        self, operation: Operation, probe: Probe, replaced: PathValues
    ) -> ProbeRequest | str:
        """Return the request of a probe, or the name of a parameter without a value.

        `replaced` are path parameters that get these values instead of the server's own.
        """
        values = {**self.values, **replaced}
        for name in operation.path_names:
            if name not in values:
                return name
        query = fill_query(probe.query, self.known, self.values)
        return (
            query if isinstance(query, str) else self.make_request(operation, probe, values, query)
        )

    def find(self, wanted: Wanted) -> str | None:
        """Return a value for a parameter of the operation at hand; `None` without any."""
        return self.known.find(wanted, self.values)

    def list_values(self, operation: Operation) -> dict[str, str]:
        """Return the values of the path, also under the names that the answers echo."""
        echoed = {operation.echo.names.get(name, name): x for name, x in self.values.items()}
        return {**echoed, **self.values}

    def find_unlisted(self, asked: Asked) -> str | None:
        """Return an id in a request that no list of the server showed; `None` without any."""
        sent = [(name, asked.query.get(name)) for name, value in asked.probe.query
                if isinstance(value, Wanted) and not value.word]  # fmt: skip
        if asked.probe.unknown is None:
            sent += self.values.items()
        return next((name for name, each in sent if each and not self.known.has_listed(each)), None)

    def make_request(
        self,
        operation: Operation,
        probe: Probe,
        values: PathValues,
        query: Sequence[tuple[str, str]],
    ) -> ProbeRequest:
        """Return the request of a probe, with these values."""
        path = fill(operation.path, values)
        return ProbeRequest(path, tuple(query), probe.method, self.schemes, probe.signing)

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
