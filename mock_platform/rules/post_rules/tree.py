"""The parts of a parsed rule, as values.

Positions count characters from 1, as complaints about rules do. They take no part in comparisons:
two rules are equal if they say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ClauseKind = Literal["word", "phrase", "near", "hashtag", "mention", "cashtag", "operator"]
_SIGNS = {"hashtag": "#", "mention": "@", "cashtag": "$"}


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition: a word, a phrase, words near each other, an entity, or an operator.

    `value` has no quotes and no sign. `operator` is the neutral name of an operator, `distance` the
    number of tokens that may stand between words near each other.
    """

    kind: ClauseKind
    value: str
    operator: str = ""
    distance: int = 0
    quoted: bool = False
    position: int = field(default=1, compare=False)

    @property
    def text(self) -> str:
        """The clause as it is written in a rule."""
        if self.kind == "operator":
            return (
                f'{self.operator}:"{self.value}"'
                if self.quoted
                else f"{self.operator}:{self.value}"
            )
        if self.kind == "near":
            return f'"{self.value}"~{self.distance}'
        if self.kind == "phrase":
            return f'"{self.value}"'
        return _SIGNS.get(self.kind, "") + self.value


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a term."""

    term: Node
    position: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """All of several terms."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of several terms."""

    terms: tuple[Node, ...]


Node = Clause | Not | And | Or


def combine(kind: type[And | Or], terms: list[Node]) -> Node:
    """Join terms; one term stays as it is, and nested terms of the same kind are merged."""
    flat: list[Node] = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, kind) else (term,))
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def spell(node: Node) -> str:
    """Write a tree as a rule. Parsing the text returns an equal tree."""
    match node:
        case Clause():
            return node.text
        case Not():
            inner = spell(node.term)
            return f"-({inner})" if isinstance(node.term, And | Or) else f"-{inner}"
        case And():
            return " ".join(f"({spell(term)})" if isinstance(term, Or) else spell(term)
                            for term in node.terms)  # fmt: skip
        case Or():
            return " OR ".join(spell(term) for term in node.terms)


def list_clauses(node: Node, *, negated: bool = False) -> list[tuple[Clause, bool]]:
    """List the clauses of a tree from left to right, each with whether it is negated."""
    match node:
        case Clause():
            return [(node, negated)]
        case Not():
            return list_clauses(node.term, negated=not negated)
        case And() | Or():
            return [found for term in node.terms for found in list_clauses(term, negated=negated)]
