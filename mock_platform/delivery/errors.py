"""The exceptions about events from outside. Commands import this module, so it is quick to load."""

from __future__ import annotations


class BadEvent(ValueError):
    """An event that cannot be added; `faults` holds (field, what is wrong) for each fault."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(text for _, text in faults))
        self.faults = faults
