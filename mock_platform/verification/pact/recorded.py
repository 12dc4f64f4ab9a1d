"""What a Pact file is made from: requests with their answers, deliveries, and states before them.

It comes from the journal of a world, and its deliveries to webhooks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from msgspec import Struct

from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.core.tables.state import State
from mock_platform.core.warning_counts import strip_origin
from mock_platform.delivery.sender import find_names
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import loads as loads_scenario
from mock_platform.scenario.library import Library
from mock_platform.settings import NamesMode
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.journal import JournalEntry
from mock_platform.world.store.interface import Change, Record
from mock_platform.world.world import World

_CALLBACK = re.compile(r'\boauth_callback="([^"]*)"', re.ASCII)
FORM = "application/x-www-form-urlencoded"
NAMES = "x-mock-names"
"""The header that chooses names for a request, and says which names an answer has."""
Headers = Sequence[tuple[str, str]]


class SentCredentials(Struct, frozen=True):
    """With what a request was signed: no secrets, only whose they were."""

    scheme: str
    """`oauth1`, `oauth1-app` (without a token), `oauth2`, `bearer`, `basic` or `oauth2-client`."""
    app: str | None = None
    user: str | None = None
    callback: str | None = None
    """The address in the header, which POST oauth/request_token needs."""


class PactExchange(Struct, frozen=True):
    """A request and its answer; `path` is below the base address, without a world's prefix."""

    method: str
    path: str
    query: str
    headers: Headers
    body: bytes
    status: int
    answer_headers: Headers
    answer_body: bytes
    operation: Operation
    credentials: SentCredentials | None = None
    states: Sequence[Mapping[str, Any]] = ()
    """The provider states before it, without that of its signature."""

    @property
    def media_type(self) -> str:
        """The media type of the body that was sent."""
        return find_header(self.headers, "content-type").partition(";")[0].strip().lower()

    @property
    def form(self) -> list[tuple[str, str]]:
        """The pairs of a form body; empty for other bodies."""
        if self.media_type != FORM:
            return []
        return parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True)

    @property
    def is_made_to_fail(self) -> bool:
        """Whether a scenario or a header made the answer, and would do so again."""
        asked = any(name.lower() in {"prefer", "x-mock-scenario"} for name, _ in self.headers)
        return asked or any(state["params"].get("scenarios") for state in self.states)

    @property
    def names(self) -> NamesMode:
        """The names that the client was answered with."""
        asked = find_header(self.headers, NAMES) or find_header(self.answer_headers, NAMES)
        return "original" if asked.lower() == "original" else "neutral"

    @property
    def label(self) -> str:
        """Method and path, for people."""
        return f"{self.method} {self.path}"


class PactDelivery(Struct, frozen=True):
    """A body that a webhook received, and the event of the world's log that it delivered."""

    event_id: str
    event_type: str
    body: Any
    states: Sequence[Mapping[str, Any]] = ()
    names: NamesMode = "neutral"
    """The names that the body is written with; those in the event are translated to them."""


class LeftOut(NamedTuple):
    """A request that is not in the file, and why."""

    request: str
    reason: str


def find_callback(authorization: str) -> str | None:
    """Return `oauth_callback` of a header of OAuth 1.0a; `None` if it has none."""
    found = _CALLBACK.search(authorization)
    return None if found is None else unquote(found[1])


def find_header(headers: Headers, name: str) -> str:
    """Return the first value of a header; empty if it was not sent."""
    return next((value for key, value in headers if key.lower() == name), "")


BEGINNING = "the world at its beginning"
"""Params: `clock`, `scenarios`, `records` by table and `removed` keys by table; all optional."""
SIGNED = "the request is signed"
"""Params: `scheme`, `app`, `user`, and the request; it returns `authorization` for its header."""
EVENT = "an event is delivered"
"""Params: `event`, the id of a record of the table events."""

_SECRET_TABLES = frozenset({"apps", "tokens"})
_HIDDEN_KEYS = frozenset({"_password"})
Slots = dict[tuple[str, str], Record | None]
"""Records that differ from the beginning; `None` for those that are gone."""


class History:
    """Goes back from the present of a world to its beginning, one request after the other."""

    def __init__(self, differences: Iterable[Change], base: Callable[[str, str], Record | None]):
        """`differences` would return the present to the beginning, whose records `base` finds."""
        self._base = base
        self._slots: Slots = {}
        for change in differences:
            self._set(change.table, change.key, change.before)

    def undo(self, changes: Sequence[Change]) -> None:
        """Go back to before a request."""
        for change in reversed(changes):
            self._set(change.table, change.key, change.before)

    def describe(self, mentioned: str | None) -> dict[str, Any]:
        """Return `records` and `removed` of a state.

        Records whose key neither the text `mentioned` nor a record that is taken has are left out;
        `None` leaves nothing out.
        """
        records: dict[str, list[Record]] = {}
        removed: dict[str, list[str]] = {}
        taken = self._follow(mentioned)
        for (table, key), record in self._slots.items():
            if record is None:
                removed.setdefault(table, []).append(key)
            elif (table, key) in taken:
                shown = {name: value for name, value in record.items() if name not in _HIDDEN_KEYS}
                records.setdefault(table, []).append(shown)
        return ({"records": records} if records else {}) | ({"removed": removed} if removed else {})

    def _follow(self, mentioned: str | None) -> set[tuple[str, str]]:
        """Return the records whose keys a text has, and those whose keys these have."""
        waiting = {slot: record for slot, record in self._slots.items() if record is not None}
        if mentioned is None:
            return set(waiting)
        taken: set[tuple[str, str]] = set()
        while found := {slot: waiting.pop(slot) for slot in [*waiting] if slot[1] in mentioned}:
            taken |= set(found)
            mentioned = dumps(list(found.values())).decode()
        return taken

    def _set(self, table: str, key: str, record: Record | None) -> None:
        if table.startswith("_") or table in _SECRET_TABLES:
            return
        if record == self._base(table, key):
            self._slots.pop((table, key), None)
        else:
            self._slots[table, key] = record


def make_beginning(
    clock: str | None, scenarios: Sequence[Mapping[str, Any]], changed: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the state of a world that was changed since its beginning."""
    params: dict[str, Any] = {}
    if clock is not None:
        params["clock"] = clock
    if scenarios:
        params["scenarios"] = list(scenarios)
    return {"name": BEGINNING, "params": params | dict(changed)}


def make_signed(exchange: PactExchange, query: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the state in which somebody signs exactly this request."""
    credentials = exchange.credentials or SentCredentials("none")
    params: dict[str, Any] = {
        "scheme": credentials.scheme,
        "method": exchange.method,
        "path": exchange.path,
    }
    known = {"app": credentials.app, "user": credentials.user, "callback": credentials.callback}
    params |= {name: value for name, value in known.items() if value is not None}
    if query:
        params["query"] = [list(pair) for pair in query]
    if exchange.form:
        params["form"] = [list(pair) for pair in exchange.form]
    return {"name": SIGNED, "params": params}


# Brings a world into the provider state from which everything in a Pact file begins.


def begin_again(platform: Platform, world: World, params: Mapping[str, Any]) -> None:
    """Reset a world, then change what the parameters of the state `BEGINNING` say.

    Raises:
        KeyError, TypeError, ValueError: They are not those of a file that this package wrote.
    """
    world.reset()
    if "clock" in params:
        with world.work():
            world.clock.freeze(parse_instant(params["clock"]))
            world.transitions.evaluate_every_kind()
    state = State(world, platform.tables)
    for name, keys in params.get("removed", {}).items():
        for key in keys:
            if key in state[name]:
                state[name].delete(key)
    for name, rows in params.get("records", {}).items():
        table = platform.tables[name]
        for row in rows:
            # Keys that the state leaves out stay as they were.
            held = state[name].get(table.key_of(row) or "") or {}
            state[name].put({**held, **row}, unchecked=True)
    _activate(world, platform.library, params.get("scenarios", ()))


def _activate(world: World, library: Library, scenarios: Sequence[Mapping[str, Any]]) -> None:
    engine = find_engine(world)
    for each in scenarios:
        if "document" in each:
            text = dumps(each["document"])
            engine.define(loads_scenario(text, library.catalog, f"{each['name']}.json"))
        engine.activate(each["name"], each.get("parameters", {}))


_SCHEMES = {"bearer": "bearer", "oauth1": "oauth1", "oauth2": "oauth2", "basic": "basic"}


def read_world(platform: Platform, world: World) -> list[PactExchange | PactDelivery | LeftOut]:
    """Return every request in a world's journal and every delivery, with states before each."""
    base = world.blueprint.base.rows

    def find_original(table: str, key: str) -> Record | None:
        row = base.get(table, {}).get(key)
        return None if row is None else row.record

    with world.lock:
        entries = list(world.journal)
        deliveries = list(world.deliveries)
        history = History(world.store.list_differences(), find_original)
        events = _read_deliveries(world, deliveries, history)
    found: list[PactExchange | PactDelivery | LeftOut] = []
    for entry in reversed(entries):
        history.undo(entry.changes)
        found.append(_read_entry(platform, world, entry, history))
    return [*reversed(found), *events]


def _read_entry(
    platform: Platform, world: World, entry: JournalEntry, history: History
) -> PactExchange | LeftOut:
    path, _, query = strip_origin(entry.url).partition("?")
    operation = _find_operation(platform, entry)
    if operation is None:
        return LeftOut(f"{entry.method} {path}", "no operation answered it")
    if entry.traceback is not None:
        return LeftOut(f"{entry.method} {path}", "the sandbox itself failed")
    mentioned = None
    if entry.status < 400:
        body = entry.request_body + entry.response_body
        keys = " ".join(change.key for change in entry.changes)
        mentioned = f"{entry.url} {keys} {body.decode('utf-8', 'replace')}"
    scenarios = _list_scenarios(platform, world, entry)
    state = make_beginning(wire_millis(entry.at), scenarios, history.describe(mentioned))
    return PactExchange(
        entry.method,
        path,
        query,
        entry.request_headers,
        entry.request_body,
        entry.status,
        entry.response_headers,
        entry.response_body,
        operation,
        _read_credentials(entry, operation),
        (state,),
    )


def _find_operation(platform: Platform, entry: JournalEntry) -> Operation | None:
    known = (each for each in platform.operations if each.id == entry.operation)
    return next(known, None)


def _read_credentials(entry: JournalEntry, operation: Operation) -> SentCredentials | None:
    caller: Mapping[str, Any] = entry.caller or {}
    scheme = _SCHEMES.get(caller.get("scheme", ""))
    if scheme is None:
        return None
    if scheme == "basic" and "oauth2-client" in operation.auth.schemes:
        scheme = "oauth2-client"
    if scheme == "oauth1" and caller.get("user") is None:
        scheme = "oauth1-app"
    sent = find_header(entry.request_headers, "authorization")
    return SentCredentials(scheme, caller.get("app"), caller.get("user"), find_callback(sent))


def _list_scenarios(platform: Platform, world: World, entry: JournalEntry) -> list[dict[str, Any]]:
    """Return the scenario that acted on a request, as it is to be activated."""
    if entry.rule is None or "x-mock-scenario" in {
        name.lower() for name, _ in entry.request_headers
    }:
        return []
    engine, name = find_engine(world), entry.rule["scenario"]
    known = {scenario.name for scenario in engine.list_scenarios()}
    if name not in known:  # `Prefer`, or it was removed since
        return []
    shown: dict[str, Any] = {"name": name}
    given = engine.describe(name)["given"]
    if given:
        shown["parameters"] = dict(given)
    if platform.library.find(name) is None:
        shown["document"] = dict(engine.find(name).document)
    return [shown]


def _read_deliveries(
    world: World, deliveries: list[dict[str, Any]], history: History
) -> list[PactDelivery]:
    """Return each delivered event once, with the records that it needs."""
    found: dict[str, PactDelivery] = {}
    for each in deliveries:
        event = world.store.get("events", each["event_id"] or "")
        if each["kind"] != "webhook" or event is None or each["event_id"] in found:
            continue
        needed = f"{event['id']} {event['webhook_id']}"
        state = make_beginning(None, [], history.describe(needed))
        names = find_names(world, event["webhook_id"]) or "neutral"
        found[each["event_id"]] = PactDelivery(
            each["event_id"], event["event_type"], each["body"], (state,), names
        )
    return list(found.values())
