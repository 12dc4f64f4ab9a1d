"""The query language: a text is parsed into a tree, and complaints are worded as the platform's.

The details are those that clients of the real service saw (named endpoints, section 5.2). Positions
count characters from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from mock_platform.api.v2.search.operators import OPERATORS, Product, neutral_name
from mock_platform.core.assumptions import expectation, public_fact

if TYPE_CHECKING:
    from lark import Lark, Token, Tree


# The parts of a parsed rule, as values. Positions count characters from 1, as complaints about
# rules do. They take no part in comparisons: two rules are equal if they say the same.

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
    # `a (b c)` and `a b c` are the same rule, so they become the same tree; comparisons and the
    # evaluator need not know about brackets.
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


# Parses the text of a rule into a tree. AND is a space and binds tighter than `OR`; `-` negates
# the term or group that follows it. Which operators exist and where they may be used is checked
# afterwards (`read_rule`).

_GRAMMAR = r"""
start: disjunction
disjunction: conjunction (_OR conjunction)*
conjunction: factor+
factor: NOT* (group | clause)
group: "(" disjunction ")"
clause: OPERATOR | NEAR | PHRASE | WORD
_OR.3: /OR(?=[\s()]|$)/
NOT.2: /-(?=[^\s)])/
OPERATOR.2: /[A-Za-z_]+:(?:"[^"]*"|\[[^\]]*\]|[^\s()"]+)/
NEAR.2: /"[^"]+"~[0-9]+/
PHRASE.1: /"[^"]+"/
WORD: /[^\s()"\-\[\]][^\s()"]*/
%ignore /\s+/
"""
MAX_NESTING = 50
"""Groups and negations within one another: each takes several calls of Python's stack."""
_ENTITIES: dict[str, ClauseKind] = {"#": "hashtag", "@": "mention", "$": "cashtag"}


class RuleSyntaxError(ValueError):
    """A text that is no rule; the message says what was found, and at which position."""


def parse(text: str) -> Node:
    """Parse a rule.

    Raises:
        RuleSyntaxError: The text is no rule.
    """
    # lark takes as long to load as a server takes to start, so it is loaded with the first rule.
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return _disjunction(_parser().parse(text).children[0], 0)
    except UnexpectedCharacters as fault:
        raise RuleSyntaxError(
            _explain_unreadable(fault.char, (fault.pos_in_stream or 0) + 1)
        ) from fault
    except UnexpectedToken as fault:
        raise RuleSyntaxError(_explain_unexpected(fault.token, text)) from fault


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", lexer="basic")


def _explain_unreadable(char: str, position: int) -> str:
    if char in "[]":
        return f"no viable alternative at input '{char}' (at position {position})"
    return f"no viable alternative at character '{char}'(at position {position})"  # as it was seen


def _explain_unexpected(token: Token, text: str) -> str:
    if token.type == "$END":
        return f"no viable alternative at input '<EOF>' (at position {len(text) + 1})"
    position = (token.start_pos or 0) + 1
    # A closing bracket too many is what the real parser reports as a missing end; any other token
    # in a wrong place as an input without alternative.
    if token.type == "RPAR" and text[: position - 1].count("(") <= text[: position - 1].count(")"):
        return f"missing EOF at ')' (at position {position})"
    return f"no viable alternative at input '{token}' (at position {position})"


def _disjunction(tree: Any, depth: int) -> Node:
    return combine(Or, [_conjunction(child, depth) for child in tree.children])


def _conjunction(tree: Tree[Token], depth: int) -> Node:
    return combine(And, [_factor(child, depth) for child in tree.children])


def _factor(tree: Any, depth: int) -> Node:
    """Return a term with its signs; `depth` is how many groups and signs are around it."""
    *signs, last = tree.children
    inner, is_group = last.children[0], last.data == "group"
    # The parser itself does not recurse, but everything that walks the tree does. The depth is
    # limited here, where the position is still known.
    depth += len(signs) + is_group
    if depth > MAX_NESTING:
        raise RuleSyntaxError(
            f"Groups and negations may be nested {MAX_NESTING} deep, and these are nested deeper: "
            f"use fewer brackets and signs (at position {_find_position(tree)})"
        )
    node = _disjunction(inner, depth) if is_group else _clause(inner)
    for sign in reversed(signs):
        node = Not(node, position=sign.start_pos + 1)
    return node


def _find_position(part: Any) -> int:
    """Return the position of the first token of a part, counted from 1."""
    while hasattr(part, "children"):
        part = part.children[0]
    return int(part.start_pos) + 1


def _clause(token: Token) -> Clause:
    text, position = str(token), (token.start_pos or 0) + 1
    match token.type:
        case "OPERATOR":
            name, _, value = text.partition(":")
            quoted = value.startswith('"')
            operator, value = neutral_name(name.lower(), value.strip('"') if quoted else value)
            return Clause("operator", value, operator=operator, quoted=quoted, position=position)
        case "NEAR":
            words, _, distance = text.rpartition("~")
            return Clause("near", words.strip('"'), distance=int(distance), position=position)
        case "PHRASE":
            return Clause("phrase", text.strip('"'), position=position)
    kind = _ENTITIES.get(text[0])
    if kind is not None and len(text) > 1:
        return Clause(kind, text[1:], position=position)
    return Clause("word", text, position=position)


RULE_LANGUAGE = public_fact(
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
RULE_NESTING = expectation(
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
    # Length first, and alone: a text that is too long is not parsed at all. A text that cannot be
    # parsed has one fault, the first; a tree has all of its faults.
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
    # A rule with negations alone would match nearly every post, and so would one with only `is:`,
    # `has:` or `lang:`. Both are refused, each in its own words.
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
