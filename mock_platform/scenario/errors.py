"""The exceptions about scenarios. Commands import this module, so it is quick to load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from mock_platform.core.hints import did_you_mean


class ScenarioComplaint(Struct, frozen=True):
    """One fault of a document: file, place from 1, the field, what is wrong and what is allowed."""

    file: Path
    line: int
    column: int
    field: str
    text: str

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return f"{self.file}:{self.line}:{self.column}: {where}{self.text}"


class BadScenario(ValueError):
    """A document with faults; `complaints` holds all of them."""

    def __init__(self, complaints: Sequence[ScenarioComplaint]) -> None:
        super().__init__("\n".join(str(complaint) for complaint in complaints))
        self.complaints = list(complaints)


class BadParameters(ValueError):
    """Values that a scenario cannot be activated with; `faults` are (parameter, text)."""

    def __init__(self, name: str, faults: Sequence[tuple[str, str]]) -> None:
        listed = "; ".join(f"{parameter}: {text}" if parameter else text
                         for parameter, text in faults)  # fmt: skip
        super().__init__(f"The scenario {name!r} cannot be activated so: {listed}")
        self.faults = list(faults)


class CannotPerform(ValueError):
    """The server cannot do what a scenario needs."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The scenario {name!r} breaks connections, which this server cannot do. Serve with "
            "`mock-platform serve` to use it."
        )


class NotDefinedHere(ValueError):
    """A scenario that every world knows was to be removed from one."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The scenario {name!r} is one of the server's, which every world knows. "
            f"POST /_mock/scenarios/{name}/deactivate switches it off."
        )


class UnknownScenario(LookupError):
    """A scenario was asked for that does not exist."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        hint = did_you_mean(name, names)
        super().__init__(
            f"There is no scenario {name!r}.{hint} GET /_mock/scenarios lists those there are; "
            "PUT /_mock/scenarios/NAME defines one."
        )
        self.name = name
