"""Compares recorded exchanges with the contract: what really happened to a client.

Each answer is compared with what its operation declares. Reads are asked of the sandbox as well,
and compared with its answer if it has the records that they are about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import Surface
from mock_platform.core.envelope import Lines
from mock_platform.core.operation import Operation
from mock_platform.core.pairs import decode_pairs
from mock_platform.settings import NamesMode
from mock_platform.verification.compare.answers import ComparedAnswer, list_parameters
from mock_platform.verification.compare.client import ProbeRequest, leave_out_signature
from mock_platform.verification.compare.compare import Difference
from mock_platform.verification.compare.exchange import Comparer
from mock_platform.verification.compare.findings import AskedProbe, CheckedOperation, Drift
from mock_platform.verification.compare.plan import PAGE_NAMES
from mock_platform.verification.compare.rules import compare_same_request
from mock_platform.verification.compare.side import OriginalNames, OwnSandbox
from mock_platform.verification.har.exchange import HarExchange

Locate = Callable[[str], tuple[Surface, str]]
"""Return the interface that an address is part of, and the path within it."""
Recognize = Callable[[HarExchange], NamesMode]
"""Return whether an exchange has neutral or original names."""
_MAX_STRANGE = 5
_NOT_COMPARED = frozenset({401, 408, 429})
_UNKNOWN_RECORDS = frozenset({403, 404})


class RecordedComparison:
    """Compares one exchange after the other; only what was found is kept."""

    def __init__(
        self,
        own: OwnSandbox,
        description: Mapping[str, Any],
        locate: Locate,
        recognize: Recognize = lambda _: "neutral",
    ) -> None:
        self._own = own
        self._comparer = Comparer(description)
        self._locate = locate
        self._recognize = recognize
        self._names = OriginalNames()
        self.with_original_names = 0
        """Exchanges that had original names."""
        self._checked: dict[str, CheckedOperation] = {}
        self._strange: Counter[str] = Counter()
        self.entries = 0
        self.unanswered = 0
        self.incomplete = 0

    def add_all(self, exchanges: Iterable[HarExchange]) -> None:
        """Compare one exchange after the other."""
        for exchange in exchanges:
            self.entries += 1
            self.add(exchange)

    def add(self, exchange: HarExchange) -> None:
        """Compare one exchange with its operation."""
        request, response = exchange.request, exchange.response
        surface, path = self._locate(request.url)
        names = self._recognize(exchange)
        operation = self._own.platform.where(request.method, path, surface, names)
        if operation is None:
            self._strange[f"{request.method} {request.host}{request.path}"] += 1
            return
        done = self._checked.setdefault(operation.id, CheckedOperation(operation.id))
        if response.status == 0:
            self.unanswered += 1
            return
        whole = response.is_whole and not isinstance(operation.returns, Lines)
        answer = ComparedAnswer(response.status, response.headers, response.body)
        found: list[Difference] = []
        assumptions: tuple[str, ...] = ()
        if names == "original":
            self.with_original_names += 1
            answer = self._names.read_answer(operation, answer)
        if whole:
            found = self._check_declared(operation, answer)
            asked = self._ask(operation, path, surface, exchange, answer, names)
            if asked is not None:
                found += asked[0]
                assumptions = asked[1].assumptions
            else:
                query = dict(decode_pairs(request.query))
                found += compare_same_request(operation, path, query, None, answer)
        else:
            self.incomplete += 1
        if names == "original":
            found = self._names.add_names(operation, found)
        target = f"{request.method} {path}"
        probe = f"entry {exchange.place.entry}, line {exchange.place.line}"
        unique = tuple(dict.fromkeys(found))
        done.add(AskedProbe(probe, target, response.status, unique, assumptions))

    def finish(self) -> Drift:
        """Return what was found."""
        return Drift(tuple(self._checked.values()), ())

    def list_notes(self) -> list[str]:
        """Return what was not compared."""
        notes = []
        if self.with_original_names:
            notes.append(f"{self.with_original_names:,} requests have original names")
        if self.unanswered:
            notes.append(f"{self.unanswered:,} requests got no answer")
        if self.incomplete:
            notes.append(f"{self.incomplete:,} bodies are missing, cut or endless: not compared")
        if self._strange:
            total = self._strange.total()
            first = [name for name, _ in self._strange.most_common(_MAX_STRANGE)]
            more = " and others" if len(self._strange) > _MAX_STRANGE else ""
            notes.append(f"{total:,} requests belong to no operation: {', '.join(first)}{more}")
        return notes

    def _check_declared(self, operation: Operation, answer: ComparedAnswer) -> list[Difference]:
        """Compare an answer with what its operation declares."""
        if answer.status >= 500:
            return []  # a fault of the moment
        if not answer.is_success:
            return [] if 300 <= answer.status < 400 else self._check_failure(operation, answer)
        wanted = operation.returns
        if answer.status != wanted.status:
            return [Difference("status", "status", str(wanted.status), answer.describe_status())]
        found = self._comparer.check_success(operation, answer)
        if answer.body and answer.media_type != wanted.media_type:
            got = answer.media_type or "absent"
            found.append(Difference("media type", "content-type", wanted.media_type, got))
        return found

    def _check_failure(self, operation: Operation, answer: ComparedAnswer) -> list[Difference]:
        return self._comparer.check_failure(operation, answer)

    def _ask(
        self,
        operation: Operation,
        path: str,
        surface: Surface,
        exchange: HarExchange,
        answer: ComparedAnswer,
        names: NamesMode,
    ) -> tuple[list[Difference], ComparedAnswer] | None:
        """Ask the sandbox the same, and compare; `None` if that says nothing."""
        query = tuple(decode_pairs(leave_out_signature(operation, exchange.request.query)))
        held = self._own.list_schemes(operation.auth.schemes)
        ways: list[tuple[Scheme, ...]] = [(each,) for each in held]
        if (
            operation.method != "GET"
            or surface != "plain"
            or answer.status in _NOT_COMPARED
            or answer.status >= 500
            or any(name in PAGE_NAMES for name, _ in query)  # a cursor of another server
            or (operation.auth.schemes and not ways)
        ):
            return None
        sent = (exchange.request.header("authorization") or "").partition(" ")[0].lower()
        # A bearer token is that of an app or of a user, and the archive does not have it any more.
        found = [
            self._ask_once(operation, ProbeRequest(path, query, schemes=way, names=names),
                           exchange.request.url, answer)
            for way in (ways if sent == "bearer" else ways[:1]) or [()]
        ]  # fmt: skip
        told = [each for each in found if each is not None]
        return min(told, key=lambda each: len(each[0])) if len(told) == len(found) else None

    def _ask_once(
        self, operation: Operation, request: ProbeRequest, url: str, answer: ComparedAnswer
    ) -> tuple[list[Difference], ComparedAnswer] | None:
        """Ask the sandbox with one kind of credentials, and compare."""
        ours = self._own.ask(request)
        if request.names == "original":
            ours = self._names.read_answer(operation, ours)
        if ours.status != answer.status:
            if ours.status in _UNKNOWN_RECORDS or answer.status in _UNKNOWN_RECORDS:
                return None  # their records are not ours
            here, there = ours.describe_status(), answer.describe_status()
            return [Difference("status", "status", here, there)], ours
        if ours.status in _UNKNOWN_RECORDS and list_parameters(ours) != list_parameters(answer):
            return None  # another record of the path is the one that is missing
        own, other = {"base_url": self._own.base_url}, {"base_url": url.partition(request.path)[0]}
        found = self._comparer.compare(operation, ours, answer, own, other)
        found += compare_same_request(operation, request.path, dict(request.query), ours, answer)
        return found, ours
