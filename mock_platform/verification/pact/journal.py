"""Takes from a world what its clients exercised: the journal, and the deliveries to webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.core.operation import Operation
from mock_platform.core.warning_counts import strip_origin
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.verification.pact.recorded import (
    LeftOut,
    PactDelivery,
    PactExchange,
    SentCredentials,
    find_callback,
    find_header,
)
from mock_platform.verification.pact.states import History, make_beginning
from mock_platform.world.clock import wire_millis
from mock_platform.world.journal import JournalEntry
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_SCHEMES = {"bearer": "bearer", "oauth1": "oauth1", "oauth2": "oauth2", "basic": "basic"}


def read_world(platform: Platform, world: World) -> list[PactExchange | PactDelivery | LeftOut]:
    """Returns every request in a world's journal and every delivery, with states before each."""
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
    """Returns the scenario that acted on a request, as it is to be activated."""
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
    """Returns each delivered event once, with the records that it needs."""
    found: dict[str, PactDelivery] = {}
    for each in deliveries:
        event = world.store.get("events", each["event_id"] or "")
        if each["kind"] != "webhook" or event is None or each["event_id"] in found:
            continue
        needed = f"{event['id']} {event['webhook_id']}"
        state = make_beginning(None, [], history.describe(needed))
        found[each["event_id"]] = PactDelivery(
            each["event_id"], event["event_type"], each["body"], (state,), world.names
        )
    return list(found.values())
