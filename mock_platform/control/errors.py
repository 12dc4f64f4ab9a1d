"""The exceptions of views. Commands import this module, so it is quick to load."""

from __future__ import annotations

from collections.abc import Iterable


class BadQuery(ValueError):
    """A query that cannot be used; `faults` are pairs of parameter and message."""

    def __init__(self, faults: Iterable[tuple[str, str]]) -> None:
        self.faults = [(name, str(text)) for name, text in faults]
        super().__init__(f"The query cannot be used: {'; '.join(text for _, text in self.faults)}")
