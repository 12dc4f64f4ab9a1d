"""Parses the text of a rule into a tree.

AND is a space and binds tighter than `OR`; `-` negates the term or group that follows it. Which
operators exist and where they may be used is checked afterwards (`checks.py`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from mock_platform.rules.post_rules.operators import neutral_name
from mock_platform.rules.post_rules.tree import And, Clause, ClauseKind, Node, Not, Or, combine

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

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
