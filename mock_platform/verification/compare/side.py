"""The two servers that are compared, and the names, neutral or original, that each of them has.

Everything is compared under neutral names. A difference has the original ones beside, because these
are what the other server's documentation and logs have.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from msgspec import Struct, field

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import ABSENT, FORM, Call
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.core.original_names.translation import Spelling
from mock_platform.core.pairs import decode_pairs
from mock_platform.core.wire import NAMES_HEADER
from mock_platform.platform import Platform
from mock_platform.settings import NamesMode
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.client import ProbeRequest, Server, SigningCredentials, Wait
from mock_platform.verification.compare.compare import Difference
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
from mock_platform.verification.har.exchange import shows_original_names

_MARK = " (its neutral name)"


def shows_names(answer: ComparedAnswer) -> NamesMode:
    """Return the names of an answer: those that a sandbox says, else those of its body."""
    named = answer.markers.get(NAMES_HEADER.lower())
    original = shows_original_names(answer.body) if named is None else named == "original"
    return "original" if original else "neutral"


class OriginalNames:
    """Writes requests and reads answers with original names, by the declarations of operations."""

    def __init__(self) -> None:
        self._neutral: dict[str, Spelling] = {}

    def write_request(self, operation: Operation, request: ProbeRequest) -> ProbeRequest:
        """Return a request for an operation with original names in its path and query.

        Both servers get it so, because some operations take both names of a parameter.
        """
        return replace(
            request,
            names="original",
            path=ORIGINAL_NAMES.write_path(request.path, operation),
            query=tuple(
                ORIGINAL_NAMES.find_spelling(operation.id, operation.dialect).write_pairs(
                    request.query
                )
            ),
        )

    def write_sent(
        self, operation: Operation, path: str, query: str, media_type: str, body: bytes
    ) -> tuple[str, bytes]:
        """Return the target and body of a client's request with original names.

        What has no other name stays byte for byte as it was sent.
        """
        spelling = ORIGINAL_NAMES.find_spelling(operation.id, operation.dialect)
        target = ORIGINAL_NAMES.write_path(path, operation)
        if query:
            target += f"?{_write_form(spelling, query)}"
        if media_type == FORM:
            body = _write_form(spelling, body.decode("utf-8", "replace")).encode()
        elif body and media_type.endswith("json"):
            with suppress(BadJson):
                found = loads(body)
                written = spelling.write(found)
                body = body if written == found else dumps(written)
        return target, body

    def read_answer(self, operation: Operation, answer: ComparedAnswer) -> ComparedAnswer:
        """Return an answer with neutral names; what is not JSON stays as it is."""
        if answer.json is ABSENT:
            return answer
        neutral = self._neutral.get(operation.id)
        if neutral is None:
            neutral = self._neutral[operation.id] = ORIGINAL_NAMES.make_neutral_spelling(
                operation, _MARK
            )
        return _replace_body(answer, neutral.write(answer.json))

    def write_answer(self, operation: Operation, answer: ComparedAnswer) -> ComparedAnswer:
        """Return an answer of a sandbox with neutral names as it would be with original ones."""
        if answer.json is ABSENT:
            return answer
        return _replace_body(
            answer, ORIGINAL_NAMES.find_spelling(operation.id, operation.dialect).write(answer.json)
        )

    def add_names(
        self, operation: Operation, differences: Iterable[Difference]
    ) -> list[Difference]:
        """Return differences with the original names beside, where these are others."""
        spelling = ORIGINAL_NAMES.find_spelling(operation.id, operation.dialect)
        return [replace(each, original=_write(spelling, each)) for each in differences]


def _write_form(spelling: Spelling, text: str) -> str:
    sent = decode_pairs(text)
    written = spelling.write_pairs(sent)
    return text if written == sent else urlencode(written, quote_via=quote, safe="")


def _replace_body(answer: ComparedAnswer, body: Any) -> ComparedAnswer:
    headers = [*answer.headers.items(), *answer.markers.items()]
    return ComparedAnswer(answer.status, headers, dumps(body))


def _write(spelling: Spelling, each: Difference) -> Mapping[str, str]:
    where = each.where.replace(_MARK, "")
    found = {
        "where": spelling.write_place(where) if _MARK not in each.where else where,
        "expected": _write_text(spelling, where, each.expected),
        "got": _write_text(spelling, where, each.got),
    }
    own = {"where": each.where, "expected": each.expected, "got": each.got}
    return {name: text for name, text in found.items() if text != own[name]}


def _write_text(spelling: Spelling, where: str, text: str) -> str:
    if _MARK in text:
        return text.replace(_MARK, "")
    if where == "status":  # a status with its codes: 400 INVALID_POST
        status, _, codes = text.partition(" ")
        return f"{status} {spelling.write_value('code', codes)}".strip()
    return spelling.write_value(where, text)


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
            pairs.append((NAMES_HEADER, "original"))
        call = Call(request.method, url, path, _HERE, pairs, query_string=query)
        reply = self.platform.handle(call)
        return ComparedAnswer(reply.status, reply.headers, reply.body)
