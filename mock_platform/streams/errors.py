"""The exceptions about open streams. Commands import this module, so it is quick to load."""

from __future__ import annotations

from collections.abc import Iterable


class UnknownStream(LookupError):
    """No open stream has this id."""

    def __init__(self, id_: str, known: Iterable[str]) -> None:
        shown = ", ".join(known) or "none"
        super().__init__(f"No open stream has the id {id_!r}. Open streams: {shown}.")
