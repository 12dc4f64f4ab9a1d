"""The documented failures of operations as values: each is a scenario that every world knows.

Its id, such as `line_items.update-404-LINE_ITEM_NOT_FOUND`, is the name of that scenario: of
`X-Mock-Scenario`, of an activation, and in the journal.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.api.guesses import suggest_operations
from mock_platform.api.operation_patterns import BadPatterns, matches, read_patterns
from mock_platform.api.served import OPERATIONS
from mock_platform.core.errors import BadQuery
from mock_platform.core.failures.problems import ABOUT_BLANK
from mock_platform.core.operation import Operation
from mock_platform.names import OwnName
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.effects.fault import AFTER_COMMIT, FAULTS
from mock_platform.scenario.outcomes import Outcome, choose_effect, list_documented
from mock_platform.settings import Settings

_SETTINGS = Settings(limits="public")
"""What is documented does not depend on how a server was started. It includes the limits of the
public pages: clients of the real service meet them.
"""
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9._-]+")
_NETWORK = "network-"
_ANSWER_LOST = "answer-lost"
"""The fault of a write that was carried out: the client cannot know."""


class DocumentedFailure(Struct, frozen=True):
    """One way in which an operation can fail: a documented answer, or a fault of the network.

    Example:
        >>> from mock_platform import failures
        >>> (failure,) = failures("line_items.get", 404)
        >>> print(failure, failure.status, failure.code)
        line_items.get-404-LINE_ITEM_NOT_FOUND 404 LINE_ITEM_NOT_FOUND
        >>> print(failure.headers)
        {'X-Mock-Scenario': 'line_items.get-404-LINE_ITEM_NOT_FOUND'}
    """

    operation: str
    """The id of the operation."""
    status: int | None
    """The status of the answer; `None` if the network fails."""
    code: str
    """The code in the answer, "" without one; `network-` and what happens if the network fails."""

    @property
    def id(self) -> OwnName:
        """The name of the failure, and of its scenario."""
        status = "" if self.status is None else str(self.status)
        code = "" if self.code == ABOUT_BLANK else _NOT_IN_AN_ID.sub("-", self.code).strip("-")
        return OwnName("-".join(filter(None, (self.operation, status, code))))

    __name__ = id  # pytest names a case of `parametrize` after it, also without `ids=str`

    def __str__(self) -> str:
        return self.id

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers with which a request asks for the failure, for itself alone."""
        return {"X-Mock-Scenario": self.id}

    def as_scenario(self, catalog: Catalog, times: int | None = 1) -> Scenario:
        """Return the scenario of the failure, by default for one call; `None` is for every call."""
        operation = catalog[self.operation].operation
        text = "The network fails" if self.status is None else f"It fails with {self.status}"
        code = self.code.removeprefix(_NETWORK)
        where = "" if operation is None else f" on {operation.method} {operation.path}"
        description = f"{text}{f' ({code})' if code else ''}{where}."
        rule = {"on": self.operation, "times": "$times", "then": self._choose_effect()}
        return Scenario(
            name=self.id,
            description=description,
            spec="" if operation is None else operation.spec,
            parameters={"times": times},
            document={
                "name": self.id,
                "description": description,
                "parameters": {"times": times},
                "rules": [rule],
            },
            catalog=catalog,
            needs_connection=self.status is None,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the failure as `GET /_mock/failures` shows it."""
        return {
            "id": self.id,
            "operation": self.operation,
            "status": self.status,
            "code": self.code,
            "headers": self.headers,
        }

    def _choose_effect(self) -> dict[str, Any]:
        if self.status is None:
            fault = self.code.removeprefix(_NETWORK)
            return (
                {"fault": "reset", "stage": AFTER_COMMIT}
                if fault == _ANSWER_LOST
                else {"fault": fault}
            )
        if self.status == 429 and self.code in _USED_UP:
            return {"rate_limit": {"limit": 0, "window": 900}}
        return choose_effect(Outcome(self.status, self.code))


_USED_UP = frozenset({"", ABOUT_BLANK, "88", "TOO_MANY_REQUESTS"})
"""The codes of a rate limit, whose answers have the headers of a window."""


def list_failures(operation: Operation, *, network: bool = False) -> Iterator[DocumentedFailure]:
    """Yield the documented failures of an operation, and after them those of the network."""
    for status, code in list_documented(operation, _SETTINGS):
        if status >= 400:
            yield DocumentedFailure(operation.id, status, code)
    if network:
        faults = FAULTS if operation.method == "GET" else (*FAULTS, _ANSWER_LOST)
        for fault in faults:
            yield DocumentedFailure(operation.id, None, f"{_NETWORK}{fault}")


def find_failures(
    operations: Iterable[Operation],
    pattern: str,
    statuses: Collection[int] = (),
    *,
    network: bool = False,
) -> list[DocumentedFailure]:
    """Return the failures of the operations that match patterns, with these statuses or any.

    Raises:
        BadQuery: A pattern matches no operation, or no operation documents one of the statuses.
    """
    known = {operation.id: operation for operation in operations}
    try:
        patterns = read_patterns(pattern, known)
    except BadPatterns as fault:
        raise BadQuery([("operations", f"operations: {fault}")]) from fault
    found = [
        failure
        for id_, operation in known.items()
        if matches(id_, patterns)
        for failure in list_failures(operation, network=network)
    ]
    documented = sorted({each.status for each in found if each.status is not None})
    faults = [
        f"statuses: {status} is documented by no operation of {pattern!r}; they document "
        f"{', '.join(map(str, documented)) or 'none'}"
        for status in dict.fromkeys(statuses)
        if status not in documented
    ]
    if faults:
        raise BadQuery([("statuses", fault) for fault in faults])
    return [each for each in found if not statuses or each.status in {None, *statuses}]


def failures(
    pattern: str,
    statuses: int | Iterable[int] | None = None,
    network: bool = False,  # noqa: FBT001, FBT002 - its own page names it
) -> list[DocumentedFailure]:
    """Return every documented failure of the operations whose ids match a pattern.

    Commas separate several patterns. `statuses` restricts the list to these statuses; `network`
    adds what the network can do to any request: `reset`, `empty`, `truncate`, `garbage`, `timeout`,
    and for writes `answer-lost`.

    They print as their ids, for the `parametrize` of pytest. Each has an `operation`, a `status`
    (`None` if the network fails), a `code`, and `headers` with which a request asks for it.

    Raises:
        BadQuery: A pattern matches no operation, or no operation documents one of the statuses.
        TypeError: An argument is of another type.

    Example:
        >>> from mock_platform import failures
        >>> for failure in failures("line_items.get", {401, 404}, network=True):
        ...     print(failure)
        line_items.get-401-89
        line_items.get-401-UNAUTHORIZED_ACCESS
        line_items.get-404-LINE_ITEM_NOT_FOUND
        line_items.get-network-reset
        line_items.get-network-empty
        line_items.get-network-truncate
        line_items.get-network-garbage
        line_items.get-network-timeout
    """
    if not isinstance(pattern, str):
        raise TypeError(f"pattern is text such as 'line_items.*', not {pattern!r}")
    given = () if statuses is None else [statuses] if isinstance(statuses, int) else [*statuses]
    wrong = [each for each in given if not isinstance(each, int) or isinstance(each, bool)]
    if wrong:
        sent = statuses if isinstance(statuses, str) else wrong[0]
        raise TypeError(f"statuses are integers such as 404, not {sent!r}")
    return find_failures(OPERATIONS, pattern, given, network=network)


def find_failure(name: str, catalog: Catalog) -> DocumentedFailure | None:
    """Return the failure with this id, or `None`."""
    operation = _find_operation(name, catalog)
    listed = () if operation is None else list_failures(operation, network=True)
    return next((failure for failure in listed if failure.id == name), None)


def correct_operation(name: str, catalog: Catalog) -> str:
    """Return a name that begins with a guessed operation with the one that is meant."""
    guessed, dash, rest = name.partition("-")
    if not dash or "." not in guessed or guessed in catalog:
        return name
    near = suggest_operations(guessed, catalog.ids)
    return f"{near[0]}-{rest}" if near else name


def list_near_ids(name: str, catalog: Catalog) -> list[str]:
    """Return the ids of all failures of the operation that a name begins with."""
    operation = _find_operation(name, catalog)
    listed = () if operation is None else list_failures(operation, network=True)
    return [failure.id for failure in listed]


def _find_operation(name: str, catalog: Catalog) -> Operation | None:
    id_, dash, _ = name.partition("-")
    return catalog[id_].operation if dash and id_ in catalog else None
