"""The two servers that are compared: the sandbox in this process, and another one."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct, field

from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import Call
from mock_platform.core.operation import Operation
from mock_platform.core.original_names.exchange import HEADER
from mock_platform.platform import Platform
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.client import ProbeRequest, Server, SigningCredentials, Wait
from mock_platform.verification.compare.names import OriginalNames
from mock_platform.verification.compare.plan import Probe
from mock_platform.verification.compare.rules import Asked
from mock_platform.verification.compare.values import (
    Known,
    PathValues,
    Wanted,
    fill,
    fill_query,
    singular,
)

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


# The sandbox as one of the two servers that are compared: in this process, without a socket.

_MAX_KEYS = 6
_HERE = "http://localhost"


class OwnSandbox:
    """Answers requests from a platform of its own, signed with that platform's credentials."""

    base_url = _HERE
    connections = 1

    def __init__(self, platform: Platform, credentials: SigningCredentials) -> None:
        self.platform = platform
        self._credentials = credentials

    def list_keys(self) -> Iterator[tuple[str, list[str]]]:
        """Return the name of the id of each table's records, and some of their ids."""
        store = self.platform.worlds.default.store
        for name in self.platform.tables:
            keys = [entry.key for entry in store.page(name, limit=_MAX_KEYS)]
            yield f"{singular(name)}_id", keys

    def list_schemes(self, schemes: tuple[Scheme, ...]) -> tuple[Scheme, ...]:
        """Return those of these schemes for which there are credentials, the best one first."""
        return self._credentials.list_schemes(schemes)

    def start(self, request: ProbeRequest) -> Wait:
        """Return what answers one request when it is called."""
        return partial(self.ask, request)

    def ask(self, request: ProbeRequest) -> ComparedAnswer:
        """Return the answer to one request."""
        url = _HERE + request.target
        headers = self._credentials.sign(request.method, url, request.schemes, request.signing)
        path, _, query = request.target.partition("?")
        pairs = [("Host", "localhost"), ("Accept", "application/json"), *headers.items()]
        if request.names == "original":
            pairs.append((HEADER, "original"))
        call = Call(request.method, url, path, _HERE, pairs, query_string=query)
        reply = self.platform.handle(call)
        return ComparedAnswer(reply.status, reply.headers, reply.body)
