"""What the sandbox answers although the spec does not show it, each on record with its reason.

An assumption is a value that stands next to the code resting on it. Operations and failures name
the ones they rest on; from there they reach `X-Mock-Assumptions`, the documentation and OpenAPI.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Basis(Enum):
    """What an assumption rests on, best first."""

    PUBLIC_FACT = "public fact"
    SETTLED = "settled"
    EXPECTATION = "expectation"


@dataclass(frozen=True, slots=True)
class Assumption:
    """One recorded assumption.

    `gap` marks what the spec does not show at all (an operation, a parameter, a whole answer):
    `--strict` refuses it. The others fill in a detail of something that the spec does show.
    """

    id: str
    text: str
    basis: Basis
    source: str = ""
    gap: bool = False

    def as_json(self) -> dict[str, Any]:
        """The assumption as the register shows it."""
        return {
            "id": self.id,
            "text": self.text,
            "basis": self.basis.value,
            "source": self.source,
            "refused_by_strict": self.gap,
        }


def public_fact(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """An assumption that rests on what the public interface is known to do."""
    return Assumption(id_, text, Basis.PUBLIC_FACT, source, gap)


def settled(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """An assumption that was settled because spec and public facts leave room."""
    return Assumption(id_, text, Basis.SETTLED, source, gap)


def expectation(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """An assumption that rests on what a user of such an interface would expect."""
    return Assumption(id_, text, Basis.EXPECTATION, source, gap)


def register(*groups: Iterable[Assumption]) -> dict[str, Assumption]:
    """All assumptions by id, sorted.

    Raises:
        ValueError: Two different assumptions share an id.
    """
    found: dict[str, Assumption] = {}
    for group in groups:
        for assumption in group:
            if found.setdefault(assumption.id, assumption) != assumption:
                raise ValueError(f"two assumptions share the id {assumption.id!r}")
    return dict(sorted(found.items()))
