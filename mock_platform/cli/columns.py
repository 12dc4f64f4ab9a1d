"""Columns of text for the commands that print tables."""

from __future__ import annotations

from collections.abc import Sequence


def align(rows: Sequence[Sequence[str]]) -> str:
    """Returns rows as columns, with two spaces between them."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
