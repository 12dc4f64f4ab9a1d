"""The options of a world, checked the same way here and on a server elsewhere."""

from __future__ import annotations

from mock_platform.settings import NAMES, NamesMode


def is_error(warnings: str | None) -> bool | None:
    """Returns whether warnings are errors; `None` leaves it to the server.

    Raises:
        ValueError: It is another value.
    """
    if warnings not in {None, "ignore", "error"}:
        raise ValueError(f"warnings is 'ignore' or 'error', not {warnings!r}")
    return None if warnings is None else warnings == "error"


def check_names(names: NamesMode | None) -> NamesMode | None:
    """Returns which names a world uses; `None` leaves it to the server.

    Raises:
        ValueError: It is another value.
    """
    if names is not None and names not in NAMES:
        raise ValueError(f"names is {' or '.join(map(repr, NAMES))}, not {names!r}")
    return names
