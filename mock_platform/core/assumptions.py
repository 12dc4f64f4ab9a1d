"""Assumptions: what the sandbox does although the specification does not show it, with the reason.

An assumption is a value that is defined next to the code that depends on it. Operations and
failures name their assumptions; from there they reach `X-Mock-Assumptions`, the documentation and
OpenAPI.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from msgspec import Struct


class Basis(Enum):
    """The basis of an assumption, best first."""

    PUBLIC_FACT = "public fact"
    SETTLED = "settled"
    EXPECTATION = "expectation"


class Assumption(Struct, frozen=True):
    """One recorded assumption.

    `gap` marks what the spec does not show at all (an operation, a parameter, a whole answer):
    `--strict` refuses it. Other assumptions add a detail to something that the spec does show.
    """

    id: str
    text: str
    basis: Basis
    source: str = ""
    gap: bool = False

    def as_json(self) -> dict[str, Any]:
        """Returns the assumption in the form of `GET /_mock/assumptions`."""
        return {
            "id": self.id,
            "text": self.text,
            "basis": self.basis.value,
            "source": self.source,
            "refused_by_strict": self.gap,
        }


def public_fact(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """Returns an assumption: the public interface is known to do this."""
    return Assumption(id_, text, Basis.PUBLIC_FACT, source, gap)


def settled(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """Returns an assumption: one of several readings of spec and public facts was chosen."""
    return Assumption(id_, text, Basis.SETTLED, source, gap)


def expectation(id_: str, text: str, source: str = "", *, gap: bool = False) -> Assumption:
    """Returns an assumption: a user of such an interface would expect this."""
    return Assumption(id_, text, Basis.EXPECTATION, source, gap)


def register(*groups: Iterable[Assumption]) -> dict[str, Assumption]:
    """Returns all assumptions by id, sorted.

    Raises:
        ValueError: Two different assumptions share an id.
    """
    found: dict[str, Assumption] = {}
    for group in groups:
        for assumption in group:
            if found.setdefault(assumption.id, assumption) != assumption:
                raise ValueError(f"two assumptions share the id {assumption.id!r}")
    return dict(sorted(found.items()))
