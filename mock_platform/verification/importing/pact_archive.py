"""Reads an archive for a Pact file: each exchange, with the state of a world before it.

An archive says nothing of the world behind it. So the recorded requests are sent to a sandbox in
this process, which gets the records that the answers show. What its world then has that the
beginning has not is the state of the next request. Each state is tried in a second sandbox: an
exchange whose request gets another status there is made to fail by a scenario, or left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.operation import Operation
from mock_platform.core.tables.state import State
from mock_platform.platform import Platform
from mock_platform.settings import NamesMode, Settings
from mock_platform.verification.har.exchange import HarExchange
from mock_platform.verification.har.reader import read_har
from mock_platform.verification.importing.recorded import (
    Player,
    RecordedCall,
    is_delivery,
    make_recorded,
    read_event,
    read_json,
    read_neutral_event,
)
from mock_platform.verification.importing.records import RecordCollection
from mock_platform.verification.importing.rules import CannotAnswer, make_failure
from mock_platform.verification.pact.recorded import (
    History,
    LeftOut,
    PactDelivery,
    PactExchange,
    SentCredentials,
    begin_again,
    find_callback,
    make_beginning,
)
from mock_platform.world.clock import wire_millis
from mock_platform.world.journal import JournalEntry
from mock_platform.world.store.interface import Record

_NAMES = "X-Mock-Names"
Recorded = PactExchange | PactDelivery | LeftOut


def read_archive(file: Path, names: NamesMode = "neutral") -> Iterator[Recorded]:
    """Yield what an archive holds for a Pact file, in its order; deliveries last.

    Raises:
        BadHar: The file is no archive, or damaged.
        OSError: It cannot be read.
    """
    reader = _Reader(names)
    try:
        yield from reader.read(file)
    finally:
        reader.close()


class _Reader:
    """Reads one archive, with a sandbox that goes along and one that tries states."""

    def __init__(self, names: NamesMode) -> None:
        self._names = names
        self._along, self._trying = self._start(), self._start()
        self._operations = {each.id: each for each in self._along.platform.operations}
        self._collection = RecordCollection(with_made=True)
        self._accounts: dict[str, None] = {}
        self._base = self._along.platform.worlds.default.blueprint.base.rows

    def close(self) -> None:
        """Close both sandboxes; what they hold is lost."""
        self._along.platform.close()
        self._trying.platform.close()

    def read(self, file: Path) -> Iterator[Recorded]:
        """Yield each exchange of the archive."""
        found: list[RecordedCall | Recorded] = []
        deliveries: list[Recorded] = []
        for number, exchange in enumerate(read_har(file)):
            recorded = make_recorded(exchange)
            label = f"{exchange.request.method} {recorded.path}"
            if exchange.response.status == 0:
                found.append(LeftOut(label, "its answer is not in the archive"))
            elif self._recognize(recorded):
                found.append(recorded)
            elif is_delivery(exchange):
                deliveries.append(self._read_delivery(exchange, number))
            else:
                found.append(LeftOut(label, "it is no request of this interface"))
        self._prepare()
        for each in found:
            yield self._read_call(each) if isinstance(each, RecordedCall) else each
        yield from deliveries

    # -- details ----------------------------------------------------------------------------------

    def _start(self) -> Player:
        platform = Platform(Settings(limits="off", names=self._names))
        platform.disable_connections()
        return Player(platform, credentials(platform.worlds.default), self._names)

    def _recognize(self, recorded: RecordedCall) -> bool:
        """Find out the operation of a request, and collect the records of its answer."""
        self._trying.send(recorded)
        operation = self._operations.get(recorded.operation or "")
        if operation is not None and recorded.is_success:
            self._collection.add_answer(recorded, operation)
            if (account := recorded.path_params.get("account_id")) is not None:
                self._accounts.setdefault(account)
        return operation is not None

    def _read_delivery(self, exchange: HarExchange, number: int) -> Recorded:
        body = read_json(exchange.request.body)
        webhook = next(iter(self._collection.read_defaults("webhooks")))
        event = read_event(exchange, webhook, number)
        fault = event if isinstance(event, str) else self._collection.find_fault("events", event)
        if fault is not None or isinstance(event, str):
            return LeftOut(f"POST {exchange.request.path}", fault or "")
        state = make_beginning(None, [], {"records": {"events": [event]}})
        names: NamesMode = "neutral" if read_neutral_event(body) == body else "original"
        return PactDelivery(event["id"], event["event_type"], body, (state,), names)

    def _prepare(self) -> None:
        """Let the world begin with the records that no recorded request made."""
        for account in self._accounts:
            self._collection.add_account(account)
        for name, records in self._collection.list_shown().items():
            if name in {"apps", "users", "tokens"}:
                continue
            for record in records:
                key = self._collection.tables[name].key_of(record) or ""
                if (name, key) not in self._collection.made:
                    loaded, _ = self._collection.tables[name].load(dict(record))
                    self._put(name, key, loaded, record)

    def _read_call(self, recorded: RecordedCall) -> Recorded:
        exchange = recorded.exchange
        operation = self._operations[recorded.operation or ""]
        label = f"{exchange.request.method} {recorded.path}"
        self._set_clock(exchange.started)
        before = self._describe()
        changed = ""
        if recorded.is_success:
            reply = self._along.send(recorded)
            entry = next(reversed(list(self._along.platform.worlds.default.journal)))
            changed = " ".join(change.key for change in entry.changes)
            self._adopt(recorded, entry)
            changed += reply.body.decode("utf-8", "replace")
        sent = exchange.request
        text = (sent.body + exchange.response.body).decode("utf-8", "replace")
        mentioned = f"{sent.url} {text} {changed}"
        status = exchange.response.status
        moment = None if exchange.started is None else wire_millis(exchange.started)
        answered = 0
        for needed in (mentioned, None):
            state = make_beginning(moment, [], before(needed))
            answered = self._try(recorded, state)
            if answered == status:
                return self._make(recorded, operation, state)
        if status < 400:
            return LeftOut(
                label, f"a sandbox with the records of the archive answers {answered}, not {status}"
            )
        try:
            name, rule = make_failure(recorded)
        except CannotAnswer as fault:
            return LeftOut(label, f"no scenario can make this failure: {fault}")
        name = f"fails-{name}"
        document = {
            "name": name,
            "description": f"{rule['on']} fails as it did in the recording.",
            "rules": [rule],
        }
        scenario = {"name": name, "document": document}
        state = make_beginning(moment, [scenario], before(mentioned))
        return self._make(recorded, operation, state)

    def _make(
        self, recorded: RecordedCall, operation: Operation, state: Mapping[str, Any]
    ) -> PactExchange:
        exchange = recorded.exchange
        sent, answer = exchange.request, exchange.response
        prefix = "/sandbox" if recorded.surface == "sandbox" else ""
        headers = sent.headers
        if self._names == "original" and sent.header(_NAMES) is None:
            headers = (*headers, (_NAMES, self._names))
        return PactExchange(
            sent.method,
            f"{prefix}{recorded.path}",
            sent.query,
            headers,
            sent.body,
            answer.status,
            answer.headers,
            answer.body,
            operation,
            _read_credentials(exchange, operation),
            (state,),
        )

    def _describe(self) -> Callable[[str | None], dict[str, Any]]:
        """Return what describes the world as it is now."""
        world = self._along.platform.worlds.default
        with world.lock:
            history = History(world.store.list_differences(), self._find_original)
        return history.describe

    def _find_original(self, table: str, key: str) -> Record | None:
        row = self._base.get(table, {}).get(key)
        return None if row is None else row.record

    def _try(self, recorded: RecordedCall, state: Mapping[str, Any]) -> int:
        """Return the status of a request in a state."""
        platform = self._trying.platform
        begin_again(platform, platform.worlds.default, state["params"])
        return self._trying.send(recorded).status

    def _set_clock(self, started: datetime | None) -> None:
        if started is not None:
            world = self._along.platform.worlds.default
            with world.work():
                world.clock.freeze(started)

    def _adopt(self, recorded: RecordedCall, entry: JournalEntry) -> None:
        """Give the records that a request made the ids that the recording shows."""
        label = recorded.label
        for (name, key), maker in self._collection.made.items():
            if maker != label:
                continue
            shown = self._collection.records[name][key]
            own, _ = self._collection.tables[name].load(dict(shown))
            for change in entry.changes:
                if change.table == name and change.before is None and change.key != key:
                    own = self._state[name].get(change.key) or own
                    self._state[name].delete(change.key)
            self._put(name, key, own, shown)

    @property
    def _state(self) -> State:
        platform = self._along.platform
        return State(platform.worlds.default, platform.tables)

    def _put(self, name: str, key: str, own: Record, shown: Record) -> None:
        """Store a record as the recording shows it, on top of what a sandbox has besides."""
        held = self._state[name].get(key) or own
        self._state[name].put({**held, **shown}, unchecked=True)


def _read_credentials(exchange: HarExchange, operation: Operation) -> SentCredentials | None:
    """Return with what kind of credentials a request was signed; whose they were is not known.

    Some programs write no credentials into an archive: then a success shows that there were some.
    """
    sent = exchange.request.header("authorization") or ""
    kind = sent.partition(" ")[0].lower()
    schemes = operation.auth.schemes
    if exchange.response.status == 401:
        return None
    if not kind and schemes and exchange.response.status < 300:
        return SentCredentials(
            next(each for each in ("oauth1", "bearer", *schemes) if each in schemes)
        )
    if kind == "oauth":
        scheme = "oauth1" if "oauth_token=" in sent else "oauth1-app"
        return SentCredentials(scheme, callback=find_callback(sent))
    if kind == "bearer":
        return SentCredentials("bearer" if "bearer" in schemes else "oauth2")
    if kind == "basic":
        return SentCredentials("oauth2-client" if "oauth2-client" in schemes else "basic")
    return None
