"""The tables as pages of the documentation: `docs/operations.md` and `docs/assumptions.md`.

`make docs` writes them, and a test compares them with the tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mock_platform.core.operation import Operation

_FAMILIES = {
    "v2": "The v2 interface",
    "oauth": "OAuth",
    "ads": "The advertising interface",
}
_FEW = 12
"""Up to this number operations are named; more are only counted."""
_BASES = {
    "public fact": "The public interface is known to do this.",
    "settled": "Specification and public facts allow several readings; the sandbox uses this one.",
    "expectation": "A user of such an interface would expect this.",
}


def operations_page(operations: Sequence[Operation]) -> str:
    """Returns the page of all operations by family, in Markdown."""
    counts = Counter(_origin(operation) for operation in operations)
    summary = ", ".join(f"{origin} {count}" for origin, count in sorted(counts.items()))
    lines = [
        "# Operations",
        "",
        "Made by `make docs` from the table of operations; do not edit.",
        "",
        f'{len(operations)} operations: {summary}. `mock-platform where "METHOD PATH"` prints the '
        "code that answers a request.",
    ]
    for family, title in _FAMILIES.items():
        own = [operation for operation in operations if operation.dialect == family]
        if own:
            lines += ["", f"## {title}", ""]
            lines += _table(
                ("Operation", "Method", "Path", "What it does", "Specification"),
                (
                    (
                        f"`{entry.id}`",
                        entry.method,
                        f"`{shown_path(entry)}`",
                        entry.summary + (" (deprecated)" if entry.deprecated else ""),
                        entry.spec if entry.documented else f"{entry.spec} ({_origin(entry)})",
                    )
                    for entry in own
                ),
            )
    return "\n".join(lines)


def assumptions_page(register: Sequence[Mapping[str, Any]]) -> str:
    """Returns the page of all assumptions by their basis, in Markdown."""
    lines = [
        "# Assumptions",
        "",
        "Made by `make docs` from the register; do not edit.",
        "",
        "What the sandbox does although the specification does not show it. An answer that depends "
        "on an assumption names it in `X-Mock-Assumptions`. An assumption marked *gap* covers "
        "something that the specification does not show at all; `--strict` refuses such requests.",
    ]
    for basis, text in _BASES.items():
        own = [entry for entry in register if entry["basis"] == basis]
        if own:
            lines += ["", f"## {basis.capitalize()}", "", text]
            for entry in own:
                lines += ["", f"### `{entry['id']}`", "", entry["text"]]
                if entry["source"]:
                    lines += ["", f"Source: {entry['source']}."]
                if entry["refused_by_strict"]:
                    lines += ["", "*Gap:* refused under `--strict`."]
                if entry["operations"]:
                    named = ", ".join(f"`{name}`" for name in entry["operations"])
                    many = len(entry["operations"])
                    lines += ["", f"Operations: {named if many <= _FEW else many}."]
    return "\n".join(lines)


def shown_path(operation: Operation) -> str:
    """Returns the path at which an operation is called, in the specification's notation."""
    return f"/sandbox{operation.path}" if operation.sandbox_only else operation.path


def _origin(operation: Operation) -> str:
    """Returns the origin of an operation: a document of the specification, or another source."""
    value = operation.origin.value
    return f"document {value}" if operation.documented else value


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]
