"""What a failing test is told of its world: its requests, the rules that kept still, and why.

Everything is made from entries in the form of `GET /_mock/requests`, in which credentials are
redacted, so the story is the same whether the world is in this process or behind an address.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from mock_platform.scenario.active import describe_refusals

Entry = Mapping[str, Any]

_SHOWN = 20
_ANSWER = 300
_MISSES = 10
_ALIKE = 5


def journal(entries: Sequence[Entry], *, whole: bool = False) -> str:
    """The requests of a world, a few lines each; `whole` adds headers and bodies and omits none."""
    if not entries:
        return "no request reached this test's world"
    first = 0 if whole else max(0, len(entries) - _SHOWN)
    lines = []
    if first:
        lines.append(f"(the first {first} are left out; --mock-journal-on-failure shows them)")
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        same = seen.setdefault(_identity(entry), number)
        if number > first:
            lines += _request(number, entry, same, whole=whole)
    return "\n".join(lines)


def silent_rules(scenarios: Iterable[Mapping[str, Any]]) -> str:
    """The rules of active scenarios that never acted; empty if all did."""
    return "\n".join(
        f"{scenario['name']}/{rule['rule']}: {_met(rule)}"
        for scenario in scenarios
        if scenario["active"]
        for rule in scenario["rules"]
        if not rule["fired"]
    )


def nearest_misses(entries: Sequence[Entry]) -> str:
    """Which rules came near to acting on which request, and what kept them; empty if none did."""
    lines = [
        f"request {number}: {miss['scenario']}/{miss['rule']}: {miss['difference']}"
        for number, entry in enumerate(entries, start=1)
        for miss in entry["near_misses"]
    ]
    return "\n".join(lines[-_MISSES:])


def tracebacks(entries: Iterable[Entry]) -> list[str]:
    """What failed in the sandbox itself, each with the request that met it."""
    return [
        f"{entry['method']} {address(entry['url'])}\n{entry['traceback'].rstrip()}"
        for entry in entries
        if entry.get("traceback")
    ]


def strays(found: Mapping[tuple[str, str, str], int]) -> list[str]:
    """Requests after their test's end, by test, method and path, with how many of each."""
    return [
        f"{test}: {method} {path}" + ("" if count == 1 else f" ({count} times)")
        for (test, method, path), count in sorted(found.items())
    ]


def address(url: str) -> str:
    """The path and the query, without the server and the world's prefix."""
    parts = urlsplit(url)
    path = parts.path
    if path.startswith("/~"):
        path = "/" + path[2:].partition("/")[2]
    return f"{path}?{parts.query}" if parts.query else path


def _request(number: int, entry: Entry, same: int, *, whole: bool) -> list[str]:
    at = entry["at"].partition("T")[2].removesuffix("Z")
    operation = entry["operation"] or "no operation"
    asked = f"{entry['method']} {address(entry['url'])}"
    lines = [f"{number}. {at} {asked} -> {entry['status']} {operation}"]
    notes = [] if same == number else [f"the same request as {same}"]
    rule = entry["rule"]
    if rule is not None:
        notes.append(f"rule {rule['scenario']}/{rule['rule']} acted")
    notes += _changes(entry["changes"])
    diagnosis = entry["diagnosis"]
    if diagnosis is not None and "explanation" in diagnosis:
        notes.append(f"why: {diagnosis['explanation']}")
    notes += [f"warning: {warning}" for warning in entry["warnings"]]
    if not whole and entry["status"] >= 400:
        notes.append(f"answer: {_cut(_body(entry, 'response'))}")
    if whole:
        notes += _message("request", entry) + _message("response", entry)
    return lines + [f"     {line}" for note in notes for line in note.splitlines()]


def _changes(changes: Sequence[Mapping[str, Any]]) -> list[str]:
    alike: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        alike.setdefault((change["change"], change["table"]), []).append(change["id"])
    lines = []
    for (done, table), ids in alike.items():
        if len(ids) > _ALIKE:
            lines.append(f"{done}: {len(ids)} {table}")
        else:
            lines += [f"{done}: {table} {key}" for key in ids]
    return lines


def _message(side: str, entry: Entry) -> list[str]:
    lines = [f"{side} {name}: {value}" for name, value in entry[side]["headers"]]
    body = _body(entry, side)
    return [*lines, f"{side} body: {body}"] if body else lines


def _body(entry: Entry, side: str) -> str:
    text: str = entry[side]["body"]["text"]
    return text


def _identity(entry: Entry) -> str:
    return json.dumps([entry["method"], entry["url"], _body(entry, "request")])


def _cut(text: str) -> str:
    return text if len(text) <= _ANSWER else f"{text[:_ANSWER]}…"


def _met(rule: Mapping[str, Any]) -> str:
    calls, on = rule["matched"], rule["on"]
    where = "every operation" if on == "*" else ", ".join(on)
    refusals = describe_refusals(rule.get("refused", 0))
    return f"never acted; {calls} call{'' if calls == 1 else 's'} matched it, on {where}{refusals}"
