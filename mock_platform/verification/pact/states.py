"""Provider states: how a world was before a request, and how a world is brought there.

The beginning is what a reset returns to: fixtures and start-up scenarios. A state names what is to
be changed after a reset, so that the same request gets the same answer again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mock_platform.core.jsonio import dumps
from mock_platform.core.tables.state import State
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import loads as loads_scenario
from mock_platform.scenario.library import Library
from mock_platform.verification.pact.recorded import PactExchange, SentCredentials
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Change, Record
from mock_platform.world.world import World

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
        """Returns `records` and `removed` of a state.

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
        """Returns the records whose keys a text has, and those whose keys these have."""
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
    """Returns the state of a world that was changed since its beginning."""
    params: dict[str, Any] = {}
    if clock is not None:
        params["clock"] = clock
    if scenarios:
        params["scenarios"] = list(scenarios)
    return {"name": BEGINNING, "params": params | dict(changed)}


def make_signed(exchange: PactExchange, query: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Returns the state in which somebody signs exactly this request."""
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
