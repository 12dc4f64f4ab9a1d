"""`docs/assumptions.md`: the register of assumptions, by interface and family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from docs.generators.markdown import table
from mock_platform.control import about
from mock_platform.platform import Platform

_BASES = {
    "public fact": "the public interface is known to do this",
    "settled": "specification and public facts allow several readings; the sandbox uses this one",
    "expectation": "a user of such an interface would expect this",
}
_INTERFACES = {
    "v2": "The v2 interface",
    "oauth": "OAuth",
    "ads": "The advertising interface",
    "": "Several interfaces",
}
_MAX_NAMED = 12
"""Up to this number operations are named; more are only counted."""


def write_page() -> str:
    """Returns the page."""
    platform = Platform()
    dialects = {each.id: each.dialect for each in platform.operations}
    register = about.assumptions(platform)["assumptions"]
    counts = [
        (basis, meaning, str(sum(entry["basis"] == basis for entry in register)))
        for basis, meaning in _BASES.items()
    ]
    lines = [
        "# Assumptions",
        "",
        "Made by `make docs` from the register; do not edit.",
        "",
        "What the sandbox does although the specification does not show it. An answer that depends "
        "on an assumption names it in `X-Mock-Assumptions`. An assumption marked *gap* covers "
        "something that the specification does not show at all; `--strict` refuses such requests. "
        "*A, Events* is a heading of [document A](glossary.md#document-a-document-b). "
        "`mock-platform assumptions` prints the same, and the console has a search.",
        "",
        *table(("basis", "what it means", "how many"), counts),
    ]
    for dialect, title in _INTERFACES.items():
        own = [each for each in register if _find_interface(each, dialects) == dialect]
        lines += ["", f"## {title}"]
        for family, entries in groupby(sorted(own, key=_find_family), _find_family):
            lines += ["", f"### {family}"]
            for entry in entries:
                lines += _write_entry(entry)
    return "\n".join(lines) + "\n"


def _find_family(entry: Mapping[str, Any]) -> str:
    family: str = entry["id"].partition(".")[0]
    return family


def _find_interface(entry: Mapping[str, Any], dialects: Mapping[str, str]) -> str:
    """Returns the interface of all operations that the entry is about, empty for several."""
    found = {dialects[name] for name in entry["operations"]}
    return found.pop() if len(found) == 1 and found <= _INTERFACES.keys() else ""


def _write_entry(entry: Mapping[str, Any]) -> Sequence[str]:
    lines = ["", f"#### `{entry['id']}`", "", entry["text"]]
    told = [f"Basis: {entry['basis']}."]
    if entry["completes"]:
        told.append(f"Completes: “{entry['completes']}”.")
    if entry["source"]:
        told.append(f"Source: {entry['source']}.")
    if entry["refused_by_strict"]:
        told.append("*Gap:* refused under `--strict`.")
    if entry["operations"]:
        named = ", ".join(f"`{name}`" for name in entry["operations"])
        many = len(entry["operations"])
        told.append(f"Operations: {named if many <= _MAX_NAMED else many}.")
    return [*lines, "", " ".join(told)]
