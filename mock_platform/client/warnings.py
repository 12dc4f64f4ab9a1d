"""The values of `warnings` for a world, checked the same way here and on a server elsewhere."""

from __future__ import annotations


def is_error(warnings: str | None) -> bool | None:
    """Returns whether warnings are errors; `None` leaves it to the server.

    Raises:
        ValueError: It is another value.
    """
    if warnings not in {None, "ignore", "error"}:
        raise ValueError(f"warnings is 'ignore' or 'error', not {warnings!r}")
    return None if warnings is None else warnings == "error"
