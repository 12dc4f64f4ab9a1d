"""The report of a failing test on its world: requests, rules that never acted, and reasons.

Everything is made from entries in the form of `GET /_mock/requests`, without credentials. So the
report is the same for a world in this process and one on a server elsewhere.
"""

from __future__ import annotations

import json
import re
import shlex
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2s
from pathlib import Path
from typing import Any, Protocol

from mock_platform.client.interface import WorldFace
from mock_platform.core.errors import CaseTooLarge, Refused, Unreachable, shorten
from mock_platform.core.warning_counts import strip_origin
from mock_platform.scenario.outline import describe_hiding, describe_refusals
from mock_platform.world.endings import describe_end, is_unusual
from mock_platform.world.names import UnknownWorld

Entry = Mapping[str, Any]

_MAX_REQUESTS = 20
_MAX_ANSWER_CHARACTERS = 300
_MAX_MISSES = 10
_MAX_RECORDS = 5


def journal(entries: Sequence[Entry], *, whole: bool = False) -> str:
    """Return the requests of a world; `whole` includes all of them, with headers and bodies."""
    if not entries:
        return "no request reached this test's world"
    first = 0 if whole else max(0, len(entries) - _MAX_REQUESTS)
    lines = []
    if first:
        lines.append(f"(the first {first} are left out; --mock-journal-on-failure shows them)")
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        sent = json.dumps([entry["method"], entry["url"], _body(entry, "request")])
        same = seen.setdefault(sent, number)
        if number > first:
            lines += _request(number, entry, same, whole=whole)
    return "\n".join(lines)


def silent_rules(scenarios: Iterable[Mapping[str, Any]]) -> str:
    """Return the rules of active scenarios that never acted; empty if all did."""
    return "\n".join(
        f"{scenario['name']}/{rule['rule']}: {_describe_calls(rule)}"
        for scenario in scenarios
        if scenario["active"]
        for rule in scenario["rules"]
        if not rule["fired"]
    )


def nearest_misses(entries: Sequence[Entry]) -> str:
    """Return which rules nearly acted on which request, with reasons; empty if none did."""
    lines = [
        f"request {number}: {miss['scenario']}/{miss['rule']}: {miss['difference']}"
        for number, entry in enumerate(entries, start=1)
        for miss in entry["near_misses"]
    ]
    return "\n".join(lines[-_MAX_MISSES:])


def tracebacks(entries: Iterable[Entry]) -> list[str]:
    """Return the errors of the sandbox itself, each with its request."""
    return [
        f"{entry['method']} {strip_origin(entry['url'])}\n{entry['traceback'].rstrip()}"
        for entry in entries
        if entry.get("traceback")
    ]


def strays(found: Mapping[tuple[str, str, str], int]) -> list[str]:
    """Return requests after their test's end, by test, method and path, with their counts."""
    return [
        f"{test}: {method} {path}" + ("" if count == 1 else f" ({count} times)")
        for (test, method, path), count in sorted(found.items())
    ]


def _request(number: int, entry: Entry, same: int, *, whole: bool) -> list[str]:
    at = entry["at"].partition("T")[2].removesuffix("Z")
    operation = entry["operation"] or entry.get("custom") or "no operation"
    asked = f"{entry['method']} {strip_origin(entry['url'])}"
    lines = [f"{number}. {at} {asked} -> {entry['status']} {operation}"]
    if is_unusual(entry["ended"]):
        lines[0] += f", {describe_end(entry['ended'])}"
    notes = [] if same == number else [f"the same request as {same}"]
    if entry["why"] is not None:
        notes.append(f"why: {entry['why']}")
    notes += _changes(entry["changes"])
    others = (warning for warning in entry["warnings"] if f"{warning}." != entry["why"])
    notes += [f"warning: {warning}" for warning in others]
    if not whole and entry["status"] >= 400:
        notes.append(f"answer: {shorten(_body(entry, 'response'), _MAX_ANSWER_CHARACTERS)}")
    if whole:
        notes += _message("request", entry) + _message("response", entry)
    return lines + [f"     {line}" for note in notes for line in note.splitlines()]


def _changes(changes: Sequence[Mapping[str, Any]]) -> list[str]:
    alike: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        alike.setdefault((change["change"], change["table"]), []).append(change["id"])
    lines = []
    for (done, table), ids in alike.items():
        if len(ids) > _MAX_RECORDS:
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


def _describe_calls(rule: Mapping[str, Any]) -> str:
    matched, on = rule["matched"], rule["on"]
    where = "every operation" if on == "*" else ", ".join(on)
    refusals = describe_refusals(rule.get("refused", 0))
    turn = f", and it acts on {rule['acts_on']}" if rule.get("acts_on") else ""
    calls = f"{matched} call{'' if matched == 1 else 's'} matched it, on {where}{turn}"
    return f"never acted; {calls}{describe_hiding(rule.get('hidden_by'))}{refusals}"


Section = tuple[str, str]


class Entries(Protocol):
    """Return the journal of a world as JSON."""

    def __call__(self, *, failed: bool = False) -> list[dict[str, Any]]:
        """Return its entries; with `failed`, those with an error of the sandbox are enough."""


class Verdict:
    """Checks one test's world."""

    def __init__(
        self,
        world: WorldFace,
        entries: Entries,
        scenarios: Callable[[], list[dict[str, Any]]],
        faults: Callable[[], Iterable[BaseException]],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        """`faults` returns the errors outside of requests, once.

        `entries` and `scenarios` are also called after the world has ended. `end` is called before
        that, to save what would be lost.
        """
        self._end = end
        self._world = world
        self._scenarios = scenarios
        self._entries = entries
        self._faults = faults
        self._reported: set[str] = set()

    def end(self) -> None:
        """Save what the report shows, because the world ends now and a fixture may fail later.

        Raises:
            Unreachable: The server no longer answers.
        """
        self._end()

    def problems(self, *, late: bool = False) -> list[str]:
        """Return the reasons for which a passed test must fail; each only once.

        `late`, after the test's end, ignores rules: they were checked before.

        Raises:
            Unreachable: The server no longer answers.
        """
        found = []
        broken = self._drop_known(self._find_errors())
        if broken:
            told = "\n\n".join(broken)
            found.append(f"mock_platform: the sandbox itself failed, not the test:\n{told}")
        silent = (
            []
            if late
            else self._drop_known(str(each) for each in self._world.unfired_expectations())
        )
        if silent:
            found.append("mock_platform: " + "\n".join(silent))
        return found

    def sections(self, *, whole: bool = False) -> list[Section]:
        """Return what a failing test shows: headings and texts, without empty ones."""
        entries = self._entries()
        found = [
            ("mock_platform journal", journal(entries, whole=whole)),
            ("mock_platform rules that never acted", silent_rules(self._scenarios())),
            ("mock_platform nearest misses", nearest_misses(entries)),
            (
                "mock_platform faults of the sandbox",
                "\n\n".join(self._drop_known(self._find_errors())),
            ),
        ]
        return [(title, text) for title, text in found if text]

    def save_case(self, folder: Path, test: str) -> list[Section]:
        """Write the world with its requests to a file that is named after the test.

        Returns what a failing test shows of it; nothing if the world has ended already.
        """
        digest = blake2s(test.encode(), digest_size=3).hexdigest()
        name = re.sub(r"[^A-Za-z0-9._]+", "-", test)[-150:].strip("-.")
        try:
            file = self._world.save_case(folder / f"{name}-{digest}.zip")
        except UnknownWorld:
            return []
        except (OSError, CaseTooLarge, Refused, Unreachable) as fault:
            return [("mock_platform case", f"cannot be written: {fault}")]
        return [("mock_platform case", f"mock-platform open {shlex.quote(str(file))}")]

    def _find_errors(self) -> list[str]:
        seen = tracebacks(self._entries(failed=True))
        # The journal already shows errors in requests.
        others = []
        for fault in self._faults():
            last = traceback.format_exception_only(fault)[-1].rstrip()
            if not any(text.endswith(last) for text in seen):
                others.append("".join(traceback.format_exception(fault)).rstrip())
        return seen + others

    def _drop_known(self, texts: Iterable[str]) -> list[str]:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._reported]
        self._reported.update(fresh)
        return fresh
