"""`docs/operations.md`: every operation, by family."""

from __future__ import annotations

from collections import Counter

from docs.generators.markdown import table
from mock_platform.cli.printing import display_path, sort_operations
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform

_FAMILIES = {
    "v2": "The v2 interface",
    "oauth": "OAuth",
    "ads": "The advertising interface",
}


def write_page() -> str:
    """Returns the page."""
    operations = sort_operations(Platform().operations)
    counts = Counter(_origin(operation) for operation in operations)
    counted = ", ".join(f"{origin} {count}" for origin, count in sorted(counts.items()))
    lines = [
        "# Operations",
        "",
        "Made by `make docs` from the table of operations; do not edit.",
        "",
        "Every request that is served, with what it does and where that is from. "
        "*A, Versioning* is a heading of [document A](glossary.md#document-a-document-b).",
        "",
        f'{len(operations)} operations: {counted}. `mock-platform where "METHOD PATH"` prints the '
        "code that answers a request. A running sandbox has a page for each: "
        "`/_mock/operations/ID.txt`.",
    ]
    for family, title in _FAMILIES.items():
        own = [operation for operation in operations if operation.dialect == family]
        if own:
            lines += ["", f"## {title}", ""]
            lines += table(
                ("Operation", "Method", "Path", "What it does", "Specification"), map(_row, own)
            )
    return "\n".join(lines) + "\n"


def _row(operation: Operation) -> tuple[str, ...]:
    spec = operation.spec if operation.documented else f"{operation.spec} ({_origin(operation)})"
    return (
        f"`{operation.id}`",
        operation.method,
        f"`{display_path(operation)}`",
        operation.summary + (" (deprecated)" if operation.deprecated else ""),
        spec,
    )


def _origin(operation: Operation) -> str:
    """Returns the origin of an operation: a document of the specification, or another source."""
    value = operation.origin.value
    return f"document {value}" if operation.documented else value
