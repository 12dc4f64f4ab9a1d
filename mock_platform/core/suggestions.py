"""What to add to the message about an unknown name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(value: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?`, or an empty text if no known value is near."""
    near = get_close_matches(value, list(known), 1)
    return f" Did you mean {near[0]!r}?" if near else ""
