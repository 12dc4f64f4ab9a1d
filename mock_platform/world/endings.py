"""How an answer ended for its client: whole, late, broken, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

How = Literal[
    "complete", "lost", "reset", "empty", "truncated", "garbage", "stalled", "disconnected"
]
HOWS: tuple[str, ...] = get_args(How)
"""The ways in which an answer can end."""


class AnswerEnding(Struct, frozen=True, gc=False):
    """How an answer ended where it left the sandbox."""

    how: How
    bytes: int | None = None
    """The bytes of the body that were sent; `None` if that is not known, or nothing is missing."""
    after: float = 0.0
    """Milliseconds from when the answer was made until it ended."""
    is_late: bool = False
    """Whether a scenario held it back for that time."""


COMPLETE = AnswerEnding("complete")
"""The ending of nearly all answers: they are sent whole, as soon as they are made."""


def is_unusual(ended: Mapping[str, Any] | None) -> bool:
    """Whether there is something to say of an ending, given in the form of the journal."""
    return ended is None or ended["how"] != "complete" or "late_milliseconds" in ended


def describe_end(ended: Mapping[str, Any] | None) -> str:
    """Return an ending in words, given in the form of the journal.

    Example:
        >>> describe_end({"how": "truncated", "bytes": 512, "late_milliseconds": 250.0})
        'truncated after 512 bytes, 250 ms late'
        >>> describe_end(None)
        'still being sent'
    """
    if ended is None:
        return "still being sent"
    text: str = ended["how"]
    if "bytes" in ended and text != "complete":
        text += f" after {ended['bytes']} byte{'' if ended['bytes'] == 1 else 's'}"
    if "late_milliseconds" in ended:
        text += f", {ended['late_milliseconds']:.0f} ms late"
    return text
