"""`docs/assumptions.md`: the register of assumptions, by what they rest on."""

from __future__ import annotations

from mock_platform.control import about
from mock_platform.platform import Platform

_BASES = {
    "public fact": "The public interface is known to do this.",
    "settled": "Specification and public facts allow several readings; the sandbox uses this one.",
    "expectation": "A user of such an interface would expect this.",
}
_MAX_NAMED = 12
"""Up to this number operations are named; more are only counted."""


def write_page() -> str:
    """Returns the page."""
    register = about.assumptions(Platform())["assumptions"]
    lines = [
        "# Assumptions",
        "",
        "Made by `make docs` from the register; do not edit.",
        "",
        "What the sandbox does although the specification does not show it. An answer that depends "
        "on an assumption names it in `X-Mock-Assumptions`. An assumption marked *gap* covers "
        "something that the specification does not show at all; `--strict` refuses such requests. "
        "*A, Events* is a heading of [document A](glossary.md#document-a-document-b).",
    ]
    for basis, text in _BASES.items():
        own = [entry for entry in register if entry["basis"] == basis]
        if own:
            lines += ["", f"## {basis.capitalize()}", "", text]
            for entry in own:
                lines += ["", f"### `{entry['id']}`", "", entry["text"]]
                if entry["completes"]:
                    lines += ["", f"Completes: “{entry['completes']}”."]
                if entry["source"]:
                    lines += ["", f"Source: {entry['source']}."]
                if entry["refused_by_strict"]:
                    lines += ["", "*Gap:* refused under `--strict`."]
                if entry["operations"]:
                    named = ", ".join(f"`{name}`" for name in entry["operations"])
                    many = len(entry["operations"])
                    lines += ["", f"Operations: {named if many <= _MAX_NAMED else many}."]
    return "\n".join(lines) + "\n"
