"""Markdown that several pages need."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; `|` in a cell is escaped."""
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]


def paragraphs(docstring: str | None) -> str:
    """A docstring as text of a page.

    Raises:
        ValueError: It is missing.
    """
    if not docstring:
        raise ValueError("a docstring is missing: it becomes the text of a page")
    return inspect.cleandoc(docstring)
