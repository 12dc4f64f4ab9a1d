"""The check itself: sends every probe to the sandbox and to another server, and compares.

Lists come before single records, so that path parameters can be filled with records of the
server's own lists. An operation whose parameters cannot be filled is still asked for its refusals;
what was not asked is named, with the reason.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from mock_platform.core.operation import Operation
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.client import ProbeRequest, Server, Wait
from mock_platform.verification.compare.exchange import Comparer
from mock_platform.verification.compare.findings import (
    AskedProbe,
    CheckedOperation,
    Drift,
    DriftScope,
)
from mock_platform.verification.compare.plan import (
    FILE,
    NOT_A_VALUE,
    Described,
    Plan,
    Probe,
    SkippedOperation,
    list_reads,
    list_unasked,
)
from mock_platform.verification.compare.rules import Asked, compare_lists, compare_pages
from mock_platform.verification.compare.side import OriginalNames, OwnSandbox, Side, Steps, Walk
from mock_platform.verification.compare.values import (
    Known,
    PathValues,
    Value,
    Wanted,
    fill,
    fill_query,
    list_names,
    name_of_parameter,
)

_UNKNOWN_UUID = "00000000-0000-4000-8000-000000000000"
_LIMITED = "the server's rate limit is used up (429); try again later"
_UNKNOWN_RECORDS = frozenset({400, 403, 404})
"""Statuses with which a server refuses an id that it does not have."""
_LONG_NUMBER = 15


Progress = Callable[[str, int, int], None]
"""Called with the operation that is asked next, how many were asked, and how many there are."""


def check(
    server: Server,
    own: OwnSandbox,
    description: Mapping[str, Any],
    now: datetime,
    scope: DriftScope | None = None,
    progress: Progress = lambda _operation, _done, _all: None,
) -> Drift:
    """Ask another server and the sandbox the same, and return how the answers differ.

    `description` is an OpenAPI document that has all operations that read, as that of
    `describe_reads`; `now` is the moment from which the times in requests are counted.

    Raises:
        ServerUnreachable: The server does not answer.
    """
    run = _Run(server, own, description, now, scope or DriftScope())
    return run.run(own.platform.operations, progress)


class _Run:
    """Asks one operation after the other."""

    def __init__(
        self,
        server: Server,
        own: OwnSandbox,
        description: Mapping[str, Any],
        now: datetime,
        scope: DriftScope,
    ) -> None:
        self._names = OriginalNames() if scope.names == "original" else None
        # The addresses of files are in other answers.
        files = [o for o in own.platform.operations if o.returns.media_type == FILE]
        self._own = Side(own, Known(linked=files), self._names)
        self._seeds = own.list_keys()
        self._other = Side(server, Known(scope.given, files), self._names)
        self._paths: Mapping[str, Any] = description["paths"]
        self._comparer = Comparer(description, same_data=scope.same_data)
        self._now = now
        self._scope = scope
        self._was_limited = False
        self.checked: list[CheckedOperation] = []
        self.skipped: list[SkippedOperation] = []

    def run(self, operations: Sequence[Operation], progress: Progress) -> Drift:
        """Ask all that read, and return what was found."""
        covered = [each for each in operations if self._scope.covers(each)]
        self.skipped += list_unasked(covered)
        operations = list_reads(operations)
        left_out = [each for each in operations if self._scope.skips(each)]
        self.skipped += [
            SkippedOperation(each.id, "left out with --skip")
            for each in left_out
            if self._scope.covers(each)
        ]
        self._ask_all([each for each in operations if each not in left_out], progress)
        unused = tuple(self._other.known.describe_unused())
        return Drift(tuple(self.checked), tuple(self.skipped), unused)

    def _ask_all(self, operations: Sequence[Operation], progress: Progress) -> None:
        """Ask all; those whose values are not known yet once more at the end."""
        # Ids come from answers, so the order decides what can be asked. First the lists above the
        # wanted operations; then these; and only if some still lack a value are all other
        # operations asked, for what their records mention. What fails even then is reported with
        # the parameter that has no value.
        wanted = [each for each in operations if self._scope.covers(each)]
        others = [each for each in operations if not self._scope.covers(each)]
        # The lists that stand above them in a path; other values are looked for only if needed.
        above = [o for o in others if any(each.path.startswith(f"{o.path}/") for each in wanted)]
        later = []
        for done, operation in enumerate([*above, *wanted]):
            progress(operation.id, done, len(wanted) + len(above))
            if not self._ask(operation, last=False):
                later.append(operation)
        if not any(map(self._scope.covers, later)):
            later = []  # a list above a wanted operation was not needed
        for operation in others if later else ():
            if operation not in above:
                self._ask(operation, last=False)
        for name, keys in self._seeds:
            self._own.known.keep(name, keys)
        for operation in later:
            progress(operation.id, len(operations) - 1, len(operations))
            self._ask(operation, last=True)

    def _ask(self, operation: Operation, *, last: bool) -> bool:
        """Ask an operation; return False if it should be tried again later."""
        sides = (self._own, self._other)
        # The same kind of credentials on both sides, or the difference would be one between
        # credentials.
        both = [set(each.server.list_schemes(operation.auth.schemes)) for each in sides]
        # A server refuses credentials of one kind otherwise than those of another one.
        shared = [each for each in operation.auth.schemes if each in both[0] & both[1]]
        if operation.auth.schemes and not shared:
            if self._scope.covers(operation):
                needed = f"needs credentials for {' or '.join(operation.auth.names)}"
                self.skipped.append(SkippedOperation(operation.id, needed))
            return True
        for side in sides:
            side.schemes = tuple(shared)
        plan = Plan(operation, Described.read(operation, self._paths), self._now)
        done = CheckedOperation(operation.id)
        reason = self._ask_plain(operation, plan, done)
        if reason is not None and reason != _LIMITED and not last:
            return False
        if not self._scope.covers(operation):
            return True
        if reason is None:
            self._ask_more(operation, plan, done)
        elif reason != _LIMITED:
            self._ask_unknown(operation, plan, done)
        if reason is not None:
            self.skipped.append(SkippedOperation(operation.id, reason))
        if done.probes:
            self.checked.append(done)
        return True

    # -- the plain call --------------------------------------------------------------------------

    def _ask_plain(self, operation: Operation, plan: Plan, done: CheckedOperation) -> str | None:
        """Send the plain request; return why it cannot be sent, `None` if it was."""
        # Each side walks through its own ids until one of them has records; an answer without
        # records says nothing about their form. The two walks are independent, since the servers
        # have different data.
        mine = Walk(self._own, operation, _find_plain(self._own, operation, plan))
        if mine.has_ended:
            return f"the sandbox has no value for {mine.finish()}"
        got = Walk(self._other, operation, _find_plain(self._other, operation, plan))
        ours, theirs = mine.finish(), got.finish()
        if isinstance(ours, str):
            return f"the sandbox has no value for {ours}"
        account = self._own.values.get("account_id")
        if isinstance(theirs, str) and account in (*self._other.values.values(), None):
            theirs = self._borrow(operation, plan) or theirs
        if isinstance(theirs, str):
            way = _LIMITED if self._was_limited else _ask_for(operation, theirs, plan.required)
            return f"no answer of the server contains :{theirs}; {way}"
        if theirs.answer.status == 429:
            self._was_limited = True
            return _LIMITED
        why = self._explain_unknown(ours, theirs)
        if why is not None:
            return why
        for name, value in plan.required:
            if isinstance(value, Wanted) and self._other.find(value) is None:
                self._other.known.keep(name, [theirs.query[name]])
        if ours.answer.records and theirs.answer.is_success and not theirs.answer.records:
            done.notes.append("the server has no records here, so their form was not compared")
        self._compare(operation, ours, theirs, done)
        return None

    def _explain_unknown(self, ours: Asked, theirs: Asked) -> str | None:
        """Return why two answers say nothing; `None` if they can be compared.

        A refusal of an id that no list of this server showed is one of its records, not a form:
        the id is mentioned somewhere, or is the sandbox's.
        """
        if ours.answer.status == theirs.answer.status or self._scope.same_data:
            return None
        for who, side, asked in (
            ("the sandbox", self._own, ours),
            ("the server", self._other, theirs),
        ):
            if asked.operation.returns.media_type == FILE and asked.answer.status == 404:
                return f"the file that {who} names in its answers is gone"
            name = side.find_unlisted(asked)
            if name is not None and asked.answer.status in _UNKNOWN_RECORDS:
                way = _ask_for(asked.operation, name, asked.probe.query)
                return f"{who} refuses :{name}, which none of its lists shows; {way}"
        return None

    def _borrow(self, operation: Operation, plan: Plan) -> Asked | None:
        """Send the plain request with the sandbox's ids: the server has the same accounts."""
        values = self._own.values
        query = fill_query(plan.required, self._own.known, values)
        if isinstance(query, str):
            return None
        return Walk(
            self._other, operation, _send_plain(self._other, operation, plan, values, query)
        ).finish()

    # -- everything else -------------------------------------------------------------------------

    def _ask_more(self, operation: Operation, plan: Plan, done: CheckedOperation) -> None:
        probes = [each for each in plan.list_probes() if each.kind in self._scope.kinds]
        if not self._send(operation, probes, done):
            done.notes.append(_LIMITED)
            return
        if "pages" in self._scope.kinds:
            self._ask_pages(operation, plan, done)

    def _ask_unknown(self, operation: Operation, plan: Plan, done: CheckedOperation) -> None:
        """Send what needs no known id: the refusals for unknown ones, and another method."""
        probes = [each for each in plan.list_probes() if each.kind in self._scope.kinds]
        for side in (self._own, self._other):
            listed = side.known.has_listed
            side.values = {name: each for name, each in side.values.items() if listed(each)}
        self._send(operation, [each for each in probes if each.unknown is not None], done)

    def _send(self, operation: Operation, probes: Sequence[Probe], done: CheckedOperation) -> bool:
        """Send probes to both servers; return whether the rate limit lets us go on.

        The other server gets a few at once, and answers while the sandbox does.
        """
        ready = deque[tuple[Probe, ProbeRequest, ProbeRequest]]()
        for probe in probes:
            replaced = self._replace_ids(operation, probe)
            mine, theirs = (s.prepare(operation, probe, replaced) for s in (self._own, self._other))
            if isinstance(mine, str):
                done.leave_out(probe.name, f"the sandbox has no value for {mine}")
            elif isinstance(theirs, str):
                way = _ask_for(operation, theirs, probe.query)
                why = f"no answer of the server contains {theirs}; {way}"
                done.leave_out(probe.name, why)
            else:
                ready.append((probe, mine, theirs))
        waiting = deque[tuple[Probe, ProbeRequest, ProbeRequest, Wait]]()
        # The other server is asked for a few answers ahead, so that its latency is paid once and
        # not for each probe; answers are compared in the order of the probes. At the first 429
        # everything stops: what is on its way is still read, and no more is sent.
        while ready or waiting:
            while ready and len(waiting) < self._other.server.connections:
                each = ready.popleft()
                waiting.append((*each, self._other.start(operation, each[2])))
            probe, mine, theirs, wait = waiting.popleft()
            own = self._own.start(operation, mine)()
            other = wait()
            if 429 in {own.status, other.status}:
                for *_, rest in waiting:
                    rest()
                return False
            ours = _learn(self._own, operation, probe, mine, own)
            got = _learn(self._other, operation, probe, theirs, other)
            silent = self._explain_unknown(ours, got)
            if silent is None:
                self._compare(operation, ours, got, done)
            else:
                done.leave_out(probe.name, silent)
        return True

    def _replace_ids(self, operation: Operation, probe: Probe) -> dict[str, str]:
        """Return the ids that do not exist, which both servers get in place of their own.

        What is below an unknown id in a path is unknown as well; so an id that only one server has
        does not tell them apart.
        """
        if probe.unknown is None:
            return {}
        made = _choose_unknown(operation, self._own.values)
        names = operation.path_names
        if probe.unknown == "*":
            return made
        below = names[names.index(probe.unknown) + 1 :]
        both = self._own.values.keys() & self._other.values.keys()
        return {n: made[n] for n in (probe.unknown, *(each for each in below if each not in both))}

    def _ask_pages(self, operation: Operation, plan: Plan, done: CheckedOperation) -> None:
        size = plan.page_size()
        if size is None or not (self._own.plain and self._own.plain.is_list):
            return
        mine, got = (
            Walk(side, operation, _turn_pages(side, operation, plan, size))
            for side in (self._own, self._other)
        )
        ours, theirs = mine.finish(), got.finish()
        if 429 in {page.answer.status for page in (*ours, *theirs)} or not (ours and theirs):
            return
        pairs = list(zip(ours, theirs, strict=False))
        for here, there in pairs:
            self._compare(operation, here, there, done)
        found = tuple(compare_pages(ours, theirs))
        if found:
            last = done.probes[-1]
            done.probes[-1] = AskedProbe(
                last.probe, last.target, last.status, (*last.differences, *found), last.assumptions
            )

    def _compare(
        self, operation: Operation, ours: Asked, theirs: Asked, done: CheckedOperation
    ) -> None:
        sides = tuple(
            {**each, **side.list_values(operation), "base_url": side.server.base_url}
            for each, side in zip(
                _list_own_values(ours, theirs), (self._own, self._other), strict=True
            )
        )
        found = self._comparer.compare(operation, ours.answer, theirs.answer, *sides)
        if ours.answer.is_success and theirs.answer.is_success:
            found += compare_lists(ours, theirs)
        if self._names is not None:
            found = self._names.add_names(operation, found)
        sent = ProbeRequest(theirs.path, tuple(theirs.query.items()))
        target = self._other.write(operation, sent).target
        done.probes.append(
            AskedProbe(
                ours.probe.name,
                f"{ours.probe.method} {target}",
                theirs.answer.status,
                tuple(dict.fromkeys(found)),
                ours.answer.assumptions,
            )
        )


def _list_own_values(ours: Asked, theirs: Asked) -> Iterator[dict[str, str]]:
    """Yield, for each of two requests, the parameters that have another value in the other one."""
    for one, other in ((ours.query, theirs.query), (theirs.query, ours.query)):
        yield {name: value for name, value in one.items() if other.get(name) != value}


def _find_plain(side: Side, operation: Operation, plan: Plan) -> Steps[Asked | str]:
    """Send the plain request, for one account after the other until it has records.

    Returns the name of a parameter without a value if it cannot be sent.
    """
    ways = side.known.fill_path(operation)
    if operation.path_names and not ways:
        known = side.known.find(Wanted(list_names("account_id")), {})
        side.values = {} if known is None else {"account_id": known}
        return operation.path_names[-1]
    found: Asked | str = ""
    for values in ways:
        query = fill_query(plan.required, side.known, values)
        if isinstance(query, str):
            found = found or query
            continue
        found = yield from _send_plain(side, operation, plan, values, query)
        answer = found.answer
        if answer.records or not (answer.is_success or answer.status == 404):
            break
    return found


def _send_plain(
    side: Side,
    operation: Operation,
    plan: Plan,
    values: PathValues,
    query: Sequence[tuple[str, str]],
) -> Steps[Asked]:
    """Send the plain request with these values, and keep what its answer shows."""
    probe = plan.make_plain()
    answer = yield side.make_request(operation, probe, values, query)
    path = fill(operation.path, values)
    side.known.learn(operation, path, values, answer)
    side.values, side.plain = values, answer
    return Asked(operation, path, probe, dict(query), answer, answer)


def _turn_pages(
    side: Side, operation: Operation, plan: Plan, size: tuple[str, int, int]
) -> Steps[list[Asked]]:
    """Send the request for the first page and, if there is one, for the second."""
    name, least, most = size
    assert side.plain is not None, "the plain request was sent"
    count = max(least, min(len(side.plain.records) - 1, most))
    query = fill_query(plan.required, side.known, side.values)
    if isinstance(query, str):
        return []
    path = fill(operation.path, side.values)
    pages: list[Asked] = []
    sent = {**dict(query), name: str(count)}
    for position in ("first page", "next page"):
        probe = Probe(position, "pages")
        answer = yield side.make_request(operation, probe, side.values, list(sent.items()))
        pages.append(Asked(operation, path, probe, dict(sent), answer, side.plain))
        if not isinstance(answer.next_page, str) or not answer.next_page:
            break
        sent[plan.page_name()] = answer.next_page
    return pages


def _learn(
    side: Side, operation: Operation, probe: Probe, request: ProbeRequest, answer: ComparedAnswer
) -> Asked:
    """Return a request with its answer, and keep the values that it shows."""
    if probe.kind == "parameters" and answer.is_success:
        side.known.learn_values(operation, side.values, answer)
    query = dict(request.query)
    return Asked(operation, request.path, probe, query, answer, side.plain or answer)


def _ask_for(operation: Operation, name: str, query: Sequence[tuple[str, Value]]) -> str:
    """Return the option for a value of a parameter, of the path or the query."""
    wanted = dict(query).get(name)
    names = wanted.names if isinstance(wanted, Wanted) else [name_of_parameter(operation, name)]
    return f"give it with --value {names[0]}=VALUE"


def _choose_unknown(operation: Operation, values: PathValues) -> dict[str, str]:
    """Return ids that do not exist, in the form of those that do."""
    found = {}
    for name in operation.path_names:
        known = values.get(name, "")
        if known.isdecimal():
            found[name] = "9" * (18 if len(known) > _LONG_NUMBER else len(known))
        elif known.count("-") == _UNKNOWN_UUID.count("-"):
            found[name] = _UNKNOWN_UUID
        else:
            found[name] = NOT_A_VALUE if name == "username" else "zzzzzz"
    return found
