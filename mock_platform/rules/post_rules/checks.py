"""What a rule must satisfy beyond its grammar; complaints are worded as the platform's.

The details are those that clients of the real service saw (named endpoints, section 5.2). Positions
count characters from 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.rules.post_rules.operators import OPERATORS, Product
from mock_platform.rules.post_rules.syntax import MAX_NESTING, RuleSyntaxError, parse
from mock_platform.rules.post_rules.tree import And, Clause, Node, Not, Or, list_clauses

LANGUAGE = public_fact(
    "post-rules.language",
    "Rules and queries follow the public rule language: a space is AND, OR is a word of its own, - "
    "negates, parentheses group. At least one standalone condition must not be negated.",
    "section 5.2 of the named endpoints",
)
ACCEPTED_ONLY = public_fact(
    "post-rules.accepted-only",
    "Operators on places, profiles and pages behind links are accepted and never match.",
    "section 5.2 of the named endpoints",
)
NESTING = expectation(
    "post-rules.nesting",
    f"Groups and negations may be nested {MAX_NESTING} deep; a rule or query with more is refused.",
)
_LONGEST_DISTANCE = 6
_STANDALONE = "is/has/lang cannot be used as a standalone operator (at position 1)"
_NEGATED_ONLY = (
    "Rules must contain a non-negation term (at position 1)",
    "Rules must contain at least one positive, non-stopword clause (at position 1)",
)


class CheckedRule(Struct, frozen=True):
    """A rule that was read: its tree, or what is wrong with it, and what is accepted in vain."""

    text: str
    tree: Node | None
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_rule(
    text: str, product: Product, *, longest: int = 1024, strict: bool = False
) -> CheckedRule:
    """Read a rule and find everything that is wrong with it.

    `longest` is in characters. With `strict` a negated group is refused, which the documentation
    advises against; otherwise it is evaluated with a warning.
    """
    if len(text) > longest:
        fault = f"Rules must be at most {longest} characters long, this one has {len(text)}"
        return CheckedRule(text, None, (fault,))
    try:
        tree = parse(text)
    except RuleSyntaxError as fault:
        return CheckedRule(text, None, (str(fault),))
    faults = [*_faults_of_whole(tree), *_faults_of_parts(tree, product)]
    groups = [
        f"a negated group is evaluated, but the documentation advises against it (at position {at})"
        for at in _find_negated_groups(tree)
    ]
    if strict:
        faults += groups
        groups = []
    if faults:
        return CheckedRule(text, None, tuple(dict.fromkeys(faults)))
    unused = [
        f"{clause.operator}: is accepted here but never matches (at position {clause.position})"
        for clause, _ in list_clauses(tree)
        if clause.kind == "operator" and not OPERATORS[clause.operator].evaluated
    ]
    return CheckedRule(text, tree, (), tuple(groups + unused))


def _faults_of_whole(tree: Node) -> Iterator[str]:
    found = list_clauses(tree)
    positive = [clause for clause, negated in found if not negated]
    if not positive or _begins_with_two_signs(tree):
        yield from _NEGATED_ONLY
    elif not any(_stands_alone(clause) for clause in positive):
        yield _STANDALONE


def _begins_with_two_signs(tree: Node) -> bool:
    return isinstance(tree, Not) and isinstance(tree.term, Not)


def _stands_alone(clause: Clause) -> bool:
    if clause.kind != "operator":
        return True
    operator = OPERATORS.get(clause.operator)
    return operator is None or operator.standalone  # an unknown one has its own fault


def _faults_of_parts(tree: Node, product: Product) -> Iterator[str]:
    found = list_clauses(tree)
    for clause, negated in found:
        at = f"(at position {clause.position})"
        if clause.kind == "word":
            yield from _faults_of_word(clause, at, alone=len(found) == 1)
        elif clause.kind == "near" and not 1 <= clause.distance <= _LONGEST_DISTANCE:
            yield f"The distance of {clause.text} must be from 1 to {_LONGEST_DISTANCE} {at}"
        elif clause.kind == "operator":
            yield from _faults_of_operator(clause, at, product, negated=negated)
    if not _begins_with_two_signs(tree):
        for at_sign in _double_signs(tree):
            yield f"no viable alternative at input '--' (at position {at_sign})"


def _faults_of_word(clause: Clause, at: str, *, alone: bool) -> Iterator[str]:
    word = clause.value
    if word.lower() == "and" and not alone:
        yield (
            "Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "
            f'"and" to find occurrences of and in text {at}'
        )
    elif word.endswith(":"):
        yield f"Reference to invalid field '{word[:-1]}' {at}"
    elif word in {"#", "@", "$"}:
        yield f"no viable alternative at input '{word}' {at}"


def _faults_of_operator(
    clause: Clause, at: str, product: Product, *, negated: bool
) -> Iterator[str]:
    operator = OPERATORS.get(clause.operator)
    if operator is None:
        yield f"Reference to invalid field '{clause.operator}' {at}"
    elif not operator.available:
        yield (
            f"Reference to invalid operator '{clause.text}'. Operator is not available in current "
            f"product {at}"
        )
    elif product not in operator.products or not operator.accepts(clause.value):
        yield f"Reference to invalid operator '{clause.text}'"
    elif negated and not operator.may_negate:
        yield f"{clause.operator}: cannot be negated {at}"
    elif (clause.operator, clause.value.lower()) == ("is", "nullcast") and not negated:
        yield f"is:nullcast must be negated {at}"


def _double_signs(node: Node) -> Iterator[int]:
    match node:
        case Not():
            if isinstance(node.term, Not):
                yield node.position
            yield from _double_signs(node.term)
        case And() | Or():
            for term in node.terms:
                yield from _double_signs(term)


def _find_negated_groups(node: Node) -> Iterator[int]:
    match node:
        case Not():
            if isinstance(node.term, And | Or):
                yield node.position
            yield from _find_negated_groups(node.term)
        case And() | Or():
            for term in node.terms:
                yield from _find_negated_groups(term)
