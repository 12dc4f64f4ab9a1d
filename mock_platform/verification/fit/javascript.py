"""Reads a file in JavaScript or TypeScript into the same nodes as a Python file.

It is no parser of the language: it walks through the words from left to right, keeps the scopes
that braces open, and reads expressions as far as addresses and calls need them. What it does not
know it passes over, so types, JSX and syntax that is newer than this file are no mistakes.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect
from dataclasses import dataclass, field
from typing import TypeVar

from mock_platform.verification.fit.source import NameScope, SourceFile, UnreadableSource

_DEEPEST = 60
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|\A#![^\n]*)+", re.DOTALL)
_WORD = re.compile(r"[#@]?[A-Za-z_$\u0080-\uffff][\w$]*|\d[\w.]*")
_SIGN = re.compile(
    r"=>|\.\.\.|\?\.(?!\d)|\?\?=|\|\|=|&&=|\?\?|\|\||&&|[=!]==?|\+\+|--|[-+*/%&|^]=|\*\*|[<>]=|."
)
_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"", re.DOTALL)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_BEFORE_VALUE = frozenset(
    [
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "do",
        "await",
        "yield",
    ]
)
_NO_CALLS = frozenset(
    ["if", "for", "while", "switch", "catch", "function", "return", "typeof", "with", "do", "else"]
)
_OPEN, _CLOSED = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
_MODIFIERS = frozenset(
    [
        "static",
        "readonly",
        "public",
        "private",
        "protected",
        "declare",
        "async",
        "get",
        "set",
        "abstract",
        "override",
    ]
)


@dataclass
class _Token:
    kind: str
    """`word`, `sign`, `text`, `template` or `other`."""
    text: str
    line: int
    parts: list[str | list[_Token]] = field(default_factory=list)
    """Of a template: its texts, and the tokens between them."""
    node: ast.expr | None = None
    """Of a text and a template: its node, the same one wherever it is read."""


def read_javascript(path: str, text: str) -> SourceFile:
    """Return what a file in JavaScript or TypeScript has.

    Raises:
        UnreadableSource: A text, comment or bracket is not closed.
    """
    source = SourceFile(path, "javascript")
    try:
        tokens = _Splitter(text).split()
        _Walker(tokens, source.module).walk()
    except RecursionError as fault:
        raise UnreadableSource(1, "cannot be read: too deeply nested") from fault
    return source


class _Splitter:
    """Splits a file into words, signs and texts, without its comments."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._may_be_jsx = "</" in text or "/>" in text
        """Then quotation marks and brackets may be in the text of a page."""

    def _line(self, at: int) -> int:
        return bisect(self._breaks, at - 1) + 1

    def split(self, *, inside: bool = False) -> list[_Token]:
        """Return the tokens from here on; `inside` a template, up to the brace that ends them."""
        text, tokens, opened = self._text, list[_Token](), list[tuple[str, int]]()
        while self._at < len(text):
            at, char = self._at, text[self._at]
            if space := _SPACE.match(text, at):
                self._at = space.end()
                continue
            line = self._line(at)
            if text.startswith("/*", at):
                raise UnreadableSource(line, "the comment does not end")
            if char == "`":
                tokens.append(self._read_template())
                continue
            if char in _CLOSED and inside and not opened:
                return tokens
            kind, found = self._match(tokens)
            if kind == "sign":
                self._check_brackets(char, line, opened)
            value = _unescape(found[1] or found[2] or "") if kind == "text" else found[0]
            tokens.append(_Token(kind, value, line))
            self._at = found.end()
        if inside or (opened and not self._may_be_jsx):
            sign, line = opened[-1] if opened else ("${", self._line(self._at))
            raise UnreadableSource(line, f"{sign} is not closed")
        return tokens

    def _match(self, tokens: list[_Token]) -> tuple[str, re.Match[str]]:
        at, char = self._at, self._text[self._at]
        if char in "'\"" and (found := _QUOTED.match(self._text, at)):
            return "text", found
        if char == "/" and _begins_value(tokens) and (found := _REGEX.match(self._text, at)):
            return "other", found
        if found := _WORD.match(self._text, at):
            return "word", found
        if char in "'\"" and not self._may_be_jsx:
            raise UnreadableSource(self._line(at), f"{char} is not closed")
        found = _SIGN.match(self._text, at)
        assert found is not None, "its last form is any character"
        return "sign", found

    def _check_brackets(self, char: str, line: int, opened: list[tuple[str, int]]) -> None:
        if char in _OPEN:
            opened.append((char, line))
        elif char in _CLOSED:
            sign, where = opened.pop() if opened else ("", 0)
            if _OPEN.get(sign) != char and not self._may_be_jsx:
                told = f"{sign} of line {where}" if sign else "anything"
                raise UnreadableSource(line, f"{char} does not close {told}")

    def _read_template(self) -> _Token:
        text, begin = self._text, self._at + 1
        token = _Token("template", "", self._line(self._at))
        self._at = begin
        while self._at < len(text) and text[self._at] != "`":
            if text.startswith("${", self._at):
                token.parts.append(_unescape(text[begin : self._at]))
                self._at += 2
                token.parts.append(self.split(inside=True))
                begin = self._at + 1
            self._at += 2 if text[self._at] == "\\" else 1
        if self._at >= len(text):
            raise UnreadableSource(token.line, "` is not closed")
        token.parts.append(_unescape(text[begin : self._at]))
        self._at += 1
        return token


def _begins_value(tokens: list[_Token]) -> bool:
    """Whether a slash begins a regular expression here: after what wants a value."""
    if not tokens:
        return True
    last = tokens[-1]
    if last.kind == "word":
        return last.text in _BEFORE_VALUE
    return last.kind == "sign" and last.text not in {")", "]", "}", "++", "--"}


def _unescape(text: str) -> str:
    def read(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        if code:
            return chr(int(code, 16)) if int(code, 16) < 0x110000 else "\ufffd"
        return {"n": "\n", "t": "\t", "r": "\r", "\n": ""}.get(found[4], found[4])

    return _ESCAPE.sub(read, text) if "\\" in text else text


class _Walker:
    """Walks through tokens once, and keeps which scope each is in."""

    def __init__(self, tokens: list[_Token], scope: NameScope) -> None:
        self._tokens = [*tokens, *(_Token("end", "", tokens[-1].line if tokens else 1),) * 3]
        self._read = _Expressions(self._tokens)
        self._scope = scope
        self._braces: list[NameScope | None] = []
        """The scopes to come back to, one for each open brace."""
        self._ends: list[tuple[int, NameScope]] = []
        """Where functions without braces end, and the scopes around them."""
        self._pending: dict[int, NameScope] = {}
        """The scopes of the braces at these places."""

    def walk(self) -> None:
        """Note everything that the tokens have."""
        for at in range(len(self._tokens) - 3):
            while self._ends and self._ends[-1][0] <= at:
                self._scope = self._ends.pop()[1]
            token = self._tokens[at]
            if token.kind == "text":
                self._scope.file.texts.append((_text(token), self._scope))
            elif token.kind == "template":
                self._scope.file.texts.append((self._read.template(token), self._scope))
                for part in token.parts:
                    if isinstance(part, list) and part:
                        _Walker(part, self._scope).walk()
            elif token.kind == "sign":
                self._meet_sign(at, token.text)
            elif token.kind == "word":
                self._meet_word(at, token.text)

    # -- scopes ------------------------------------------------------------------------------------

    def _meet_sign(self, at: int, sign: str) -> None:
        if sign == "{":
            self._braces.append(self._scope)
            opened = self._pending.pop(at) if at in self._pending else None
            self._scope = opened or self._scope.add("block", "")
        elif sign == "}" and self._braces:
            self._scope = self._braces.pop() or self._scope
        elif sign == "(":
            closed = self._read.closing(at)
            arrow = self._read.pass_type(closed + 1, {"=>"})
            if self._is(arrow, "=>"):
                self._open_arrow(at, closed, arrow)
            elif self._is(closed + 1, "(") and self._tokens[at - 1].kind != "word":
                self._read_chain(at)

    def _open_arrow(self, at: int, closed: int, arrow: int) -> None:
        """Open the scope of `(…) => …` or `name => …`."""
        before = at - 1 if not self._is(at - 1, "async") else at - 2
        name = ""
        if self._is(before, "=", ":"):
            back = before - 1
            while back > 0 and before - back < 40 and not self._is(back - 1, *_DECLARE):
                back -= 1
            named = back if self._is(before, "=") and self._is(back - 1, *_DECLARE) else before - 1
            name = self._tokens[named].text if self._tokens[named].kind == "word" else ""
        scope = self._scope.add("function", name)
        self._read_parameters(scope, at, closed)
        if self._is(arrow + 1, "{"):
            self._pending[arrow + 1] = scope
            return
        value, end = self._read.expression(arrow + 1)
        scope.returns.append((value, scope))
        self._ends.append((end, self._scope))
        self._scope = scope

    def _open_function(self, name: str, at: int) -> bool:
        """Open the scope of a function whose parameters begin here, if a body follows."""
        closed = self._read.closing(at)
        body = self._read.pass_type(closed + 1, {"{"})
        if not self._is(body, "{"):
            return False
        scope = self._scope.add("function", name)
        self._read_parameters(scope, at, closed)
        self._pending[body] = scope
        return True

    def _read_parameters(self, scope: NameScope, at: int, closed: int) -> None:
        if self._tokens[at].kind == "word":
            scope.params.append(self._tokens[at].text)
            return
        at += 1
        while at < closed:
            while self._tokens[at].text in _MODIFIERS and self._tokens[at + 1].kind == "word":
                modifier, at = self._tokens[at].text, at + 1
                holder = scope.find("class")
                if modifier in _FIELD and holder is not None:
                    name = self._tokens[at].text
                    holder.assign(name, ast.Name(name), scope)
            token = self._tokens[at]
            scope.params.append(token.text if token.kind == "word" else "")
            for place in range(at + 1, self._read.closing(at)):  # `{a, b = 1}`
                if self._tokens[place].kind == "word" and self._is(place + 1, "="):
                    default = self._read.expression(place + 2)[0]
                    scope.assign(self._tokens[place].text, default)
            at = self._read.closing(at) + 1 if token.text in _OPEN else at + 1
            if self._is(at, "?"):
                at += 1
            if self._is(at, ":"):
                scope.annotations[token.text] = ast.Name(self._tokens[at + 1].text)
                at = self._read.pass_type(at, {"=", ","})
            if self._is(at, "="):
                scope.defaults[token.text], at = self._read.expression(at + 1)
            while at < closed and not self._is(at, ","):
                at = self._read.closing(at) + 1 if self._tokens[at].text in _OPEN else at + 1
            at += 1

    # -- words -------------------------------------------------------------------------------------

    def _is(self, at: int, *texts: str) -> bool:
        token = self._tokens[at] if 0 <= at < len(self._tokens) else self._tokens[-1]
        return token.text in texts and token.kind in {"sign", "word"}

    def _meet_word(self, at: int, word: str) -> None:
        after_dot = self._is(at - 1, ".", "?.")
        if word == "import" and not after_dot and not self._is(at + 1, "(", "."):
            self._read_import(at)
        elif word == "function":
            star = at + 2 if self._is(at + 1, "*") else at + 1
            named = self._tokens[star].kind == "word"
            name = self._tokens[star].text if named else self._name_before(at)
            opening = self._read.pass_generic(star + named)
            if self._is(opening, "("):
                self._open_function(name, opening)
        elif word == "class" and not after_dot:
            self._open_class(at)
        elif word == "default" and self._is(at - 1, "export"):
            if not self._is(at + 1, "class", "function", "async"):
                self._scope.assign("default", self._read.expression(at + 1)[0])
        elif word == "return" and not after_dot:
            function = self._scope.find("function")
            if function is not None and not self._is(at + 1, ";", "}"):
                function.returns.append((self._read.expression(at + 1)[0], self._scope))
        elif self._is(at + 1, "=>"):
            self._open_arrow(at, at, at + 1)
        elif not self._is_method(at, word):
            self._read_assignment(at, word, after_dot=after_dot)
            if not after_dot and word not in _NO_CALLS and not self._is(at - 1, "new"):
                self._read_chain(at)

    def _name_before(self, at: int) -> str:
        """Return the name to which a function without a name is assigned."""
        back = at - 2 if self._is(at - 1, "async") else at - 1
        if self._is(back, "=", ":") and self._tokens[back - 1].kind == "word":
            return self._tokens[back - 1].text
        return ""

    def _is_method(self, at: int, word: str) -> bool:
        """Open the scope of a method of a class or an object, if this is its name."""
        opening = self._read.pass_generic(at + 1)
        return (
            self._is(opening, "(")
            and word not in _NO_CALLS
            and (self._is(at - 1, "{", "}", ";", ",", "*") or self._tokens[at - 1].kind != "sign")
            and not self._is(at - 1, "new", "await", "return", "function")
            and self._open_function(word, opening)
        )

    def _open_class(self, at: int) -> None:
        named = self._tokens[at + 1].kind == "word" and not self._is(at + 1, "extends")
        name = self._tokens[at + 1].text if named else self._name_before(at)
        scope = self._scope.add("class", name)
        at += 2 if named else 1
        while not self._is(at, "{", "") and at < len(self._tokens) - 3:
            if self._is(at, "extends"):
                scope.bases.append(self._read.expression(at + 1)[0])
                at += 1
            at += 1
        self._pending[at] = scope

    def _read_import(self, at: int) -> None:
        """Read `import a, {b as c} from "d"`, also `import * as a`."""
        names: dict[str, str] = {}
        at += 2 if self._is(at + 1, "type") and not self._is(at + 2, "from", ",") else 1
        while self._tokens[at].kind != "end" and not self._is(at, "from", ";", "="):
            token, following = self._tokens[at], self._tokens[at + 1].text
            if token.kind == "text":
                return
            if token.text == "*" and following == "as":
                names[self._tokens[at + 2].text] = ""
                at += 2
            elif token.kind == "word" and following == "as":
                names[self._tokens[at + 2].text] = token.text
                at += 2
            elif token.kind == "word" and token.text != "type":
                names[token.text] = token.text if self._is_in_braces(at) else "default"
            at += 1
        module = self._tokens[at + 1]
        if self._is(at, "from") and module.kind == "text":
            for name, member in names.items():
                self._scope.file.module.imports[name] = f"{module.text}|{member}"

    def _is_in_braces(self, at: int) -> bool:
        while not self._is(at, "import"):
            at -= 1
            if self._is(at, "{"):
                return True
        return False

    # -- values and calls --------------------------------------------------------------------------

    def _read_assignment(self, at: int, word: str, *, after_dot: bool) -> None:
        if word in _DECLARE and self._is(at + 1, "{", "["):
            self._read_pattern(at + 1)
            return
        declared = self._is(at - 1, *_DECLARE, *_MODIFIERS) or self._scope.kind == "class"
        equals = self._pass_annotation(at, word) if declared else at + 1
        if not self._is(equals, "=", "+=", "??=", "||="):
            return
        value, _ = self._read.expression(equals + 1)
        holder: NameScope | None = self._scope
        if not after_dot:
            while not declared and holder is not None and word not in holder.values:
                holder = holder.parent
            self._assign(holder or self._scope, word, value, adds=self._is(equals, "+="))
        elif self._is(at - 2, "this") and (holder := self._scope.find("class")) is not None:
            holder.assign(word, value, self._scope)
        elif word == "exports" and self._is(at - 2, "module"):
            self._scope.file.module.assign("default", value, self._scope)
        elif self._is(at - 2, "exports"):
            self._scope.file.module.assign(word, value, self._scope)

    def _pass_annotation(self, at: int, word: str) -> int:
        """Note the type of a name that is declared here; return the place after it."""
        after = at + 1 + self._is(at + 1, "!", "?")
        if not self._is(after, ":"):
            return after
        self._scope.annotations[word] = ast.Name(self._tokens[after + 1].text)
        return self._read.pass_type(after, {"=", ";"})

    def _assign(self, holder: NameScope, word: str, value: ast.expr, *, adds: bool) -> None:
        if adds and holder.values.get(word):
            before, where = holder.values[word][-1]
            holder.values[word][-1] = (_at(ast.BinOp(before, ast.Add(), value), value), where)
        else:
            holder.assign(word, value, self._scope)

    def _read_pattern(self, at: int) -> None:
        """Read `const {a, b: c} = value`."""
        closed = self._read.closing(at)
        equals = self._read.pass_type(closed + 1, {"="})
        if not self._is(equals, "="):
            return
        value, _ = self._read.expression(equals + 1)
        for place in range(at + 1, closed):
            token, following = self._tokens[place], self._tokens[place + 1].text
            if token.kind == "word" and following in {",", "}", "="} and self._is(at, "{"):
                renamed = self._is(place - 1, ":")
                member = self._tokens[place - 2].text if renamed else token.text
                self._scope.assign(token.text, _at(ast.Attribute(value, member), value))

    def _read_chain(self, at: int) -> None:
        """Note the calls and attributes of a chain such as `client.v2.get(…).then(…)`."""
        node: ast.expr = self._read.postfix(at)[0]
        while True:
            if isinstance(node, ast.Call):
                self._scope.file.calls.append((node, self._scope))
                node = node.func
            elif isinstance(node, ast.Attribute):
                self._scope.file.attributes.append((node, self._scope))
                node = node.value
            elif isinstance(node, ast.Subscript):
                node = node.value
            else:
                return


class _Expressions:
    """Reads an expression from a place on; returns its node, and the place after it."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._depth = 0
        self._closings: dict[int, int] = {}
        opened: list[tuple[int, str]] = []
        for at, token in enumerate(tokens):
            if token.kind == "sign" and token.text in _OPEN:
                opened.append((at, _OPEN[token.text]))
            elif token.kind == "sign" and token.text in _CLOSED:
                while opened and opened[-1][1] != token.text:
                    opened.pop()
                if opened:
                    self._closings[opened.pop()[0]] = at

    def closing(self, at: int) -> int:
        """Return the place of the bracket that closes the one here; the same place if none does."""
        return self._closings.get(at, at)

    def _text(self, at: int) -> str:
        token = self._tokens[min(at, len(self._tokens) - 1)]
        return token.text if token.kind in {"word", "sign"} else ""

    def pass_type(self, at: int, ends: set[str]) -> int:
        """Return the place after `: Type`, where one of these signs is; the same place if not."""
        if self._text(at) != ":":
            return at
        here = at + 1
        while here < len(self._tokens) - 1 and here - at < 400:
            text = self._text(here)
            if text in ends and not (text == "{" and self._text(here - 1) in _IN_TYPE):
                return here
            if text in {";", ")", "]", "}"} or (text == "=" and "=" not in ends):
                return here
            here = self.closing(here) + 1
            if self._text(here) == "=>" and "=>" not in ends:
                here += 1
        return at

    def pass_generic(self, at: int) -> int:
        """Return the place after `<Type>`, if there is one here that belongs to a call."""
        if self._text(at) != "<":
            return at
        depth, here = 0, at
        while here < len(self._tokens) - 1 and here - at < 200:
            text = self._text(here)
            depth += (text == "<") - (text == ">")
            if depth == 0:
                return here + 1 if self._text(here + 1) == "(" else at
            if text in {";", "=>", "&&", "||", ")"} or (text == "=" and depth == 0):
                return at
            here = self.closing(here) + 1
        return at

    def expression(self, at: int) -> tuple[ast.expr, int]:
        """Read a whole expression: choices first, then sums."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return _unknown(self._tokens[at]), at + 1
            value, at = self._sum(at)
            if self._text(at) != "?":
                return value, at
            first, at = self.expression(at + 1)
            if self._text(at) != ":":
                return value, at
            second, at = self.expression(at + 1)
            return _at(ast.IfExp(value, first, second), first), at
        finally:
            self._depth -= 1

    def _sum(self, at: int) -> tuple[ast.expr, int]:
        value, at = self._unary(at)
        while True:
            sign = self._text(at)
            if sign in {"as", "satisfies"}:
                at = self._pass_simple_type(at + 1)
            elif sign not in _OPERATORS:
                return value, at
            else:
                read = self._sum if sign in {"||", "??", "&&"} else self._unary
                other, at = read(at + 1)
                value = _join(value, sign, other)

    def _pass_simple_type(self, at: int) -> int:
        while self._tokens[at].kind != "end":
            at = self.closing(at) + 1
            if self._text(at) == "<":
                depth = 0
                while self._tokens[at].kind != "end":
                    depth += (self._text(at) == "<") - (self._text(at) == ">")
                    at += 1
                    if depth == 0:
                        break
            while self._text(at) == "[":
                at = self.closing(at) + 1
            if self._text(at) not in {".", "|", "&"}:
                return at
            at += 1
        return at

    def _unary(self, at: int) -> tuple[ast.expr, int]:
        while self._text(at) in _PREFIXES:
            at += 1
        return self.postfix(at)

    def postfix(self, at: int) -> tuple[ast.expr, int]:
        """Read a value with all that hangs on it: members, calls."""
        if self._text(at) == "new":
            value, at = self._members(*self._primary(at + 1), calls=False)
            value, at = self._call(value, at) if self._text(at) == "(" else (value, at)
            return self._members(value, at, calls=True)
        return self._members(*self._primary(at), calls=True)

    def _members(self, value: ast.expr, at: int, *, calls: bool) -> tuple[ast.expr, int]:
        while True:
            token, sign = self._tokens[at], self._text(at)
            if sign in {".", "?."} and self._tokens[at + 1].kind == "word":
                value = _at(ast.Attribute(value, self._tokens[at + 1].text), self._tokens[at + 1])
                at += 2
            elif sign == "?." and self._text(at + 1) in {"(", "["}:
                at += 1
            elif sign == "[":
                index, _ = self.expression(at + 1)
                value, at = _at(ast.Subscript(value, index), token), self.closing(at) + 1
            elif calls and sign == "<" and self.pass_generic(at) != at:
                at = self.pass_generic(at)
            elif calls and sign == "(":
                value, at = self._call(value, at)
            elif (sign == "!" and self._text(at + 1) in {".", ")", ",", ";", "[", "}"}) or (
                token.kind == "template" and not isinstance(value, ast.Constant)
            ):
                at += 1
            else:
                return value, at

    def _call(self, value: ast.expr, at: int) -> tuple[ast.expr, int]:
        arguments, closed = self._list(at)
        call = _at(ast.Call(value, arguments, []), value)
        call.end_lineno = self._tokens[closed].line
        return call, closed + 1

    def _list(self, at: int) -> tuple[list[ast.expr], int]:
        """Read what is between brackets and commas; return the place of the closing bracket too."""
        closed, found = self.closing(at), list[ast.expr]()
        at += 1
        while at < closed:
            value, at = self.expression(at)
            found.append(value)
            while at < closed and self._text(at) != ",":
                at = self.closing(at) + 1
            at += 1
        return found, closed

    def _primary(self, at: int) -> tuple[ast.expr, int]:
        token, sign, closed = self._tokens[at], self._text(at), self.closing(at)
        value, after = _unknown(token), at + (sign not in _CLOSED and token.kind != "end")
        is_arrow = sign == "(" and self._text(self.pass_type(closed + 1, {"=>"})) == "=>"
        is_async = sign == "async" and self._text(at + 1) != "."
        if is_arrow or is_async or sign in {"function", "class"} or self._text(at + 1) == "=>":
            value, after = self._pass_function(at)
        elif token.kind == "text":
            value = _text(token)
        elif token.kind == "template":
            value = self.template(token)
        elif sign == "(":  # of `(0, request.rest)` the last one counts
            values, _ = self._list(at)
            value, after = (values[-1] if values else value), closed + 1
        elif sign == "[":
            value, after = _at(ast.List(self._list(at)[0]), token), closed + 1
        elif sign == "{":
            value, after = self._object(at), closed + 1
        elif token.kind == "word":
            value = _at(ast.Name("self" if sign in {"this", "super"} else sign), token)
        return value, after

    def _pass_function(self, at: int) -> tuple[ast.expr, int]:
        """Pass over a function or class; the walk comes to its inside by itself."""
        token = self._tokens[at]
        while self._tokens[at].kind != "end" and self._text(at) not in {"{", "=>", ",", ";"}:
            at = self.closing(at) + 1
        if self._text(at) == "=>" and self._text(at + 1) != "{":
            value, at = self.expression(at + 1)
            arguments = ast.arguments([], [], None, [], [], None, [])
            return _at(ast.Lambda(arguments, value), token), at
        body = at + 1 if self._text(at) == "=>" else at
        return _unknown(token), self.closing(body) + 1

    def _object(self, at: int) -> ast.expr:
        token, closed = self._tokens[at], self.closing(at)
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        at += 1
        while at < closed:
            key, following = self._tokens[at], self._text(at + 1)
            if self._text(at) == "...":
                value, at = self.expression(at + 1)
                keys.append(None)
                values.append(value)
            elif following == ":":
                value, at = self.expression(at + 2)
                keys.append(_text(key))
                values.append(value)
            elif key.kind == "word" and following in {",", "}"}:
                keys.append(_text(key))
                values.append(_at(ast.Name(key.text), key))
            while at < closed and self._text(at) != ",":
                at = self.closing(at) + 1
            at += 1
        return _at(ast.Dict(keys, values), token)

    def template(self, token: _Token) -> ast.expr:
        """Return the node of a template, in Python's form."""
        if token.node is not None:
            return token.node
        parts: list[ast.expr] = []
        for part in token.parts:
            if isinstance(part, str):
                parts.append(ast.Constant(part))
            else:
                inner = [*part, *(_Token("end", "", token.line),) * 3]
                value = _Expressions(inner).expression(0)[0]
                parts.append(ast.FormattedValue(value, -1))
        token.node = _at(ast.JoinedStr(parts), token)
        return token.node


_DECLARE = ("const", "let", "var")
_FIELD = frozenset({"private", "public", "protected", "readonly"})
_PREFIXES = frozenset({"await", "!", "-", "+", "~", "typeof", "void", "delete", "...", "++", "--"})
_OPERATORS = frozenset(
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "**",
        "==",
        "===",
        "!=",
        "!==",
        "<",
        ">",
        "<=",
        ">=",
        "&",
        "|",
        "^",
        "&&",
        "||",
        "??",
        "in",
        "instanceof",
    ]
)
_IN_TYPE = frozenset({":", "|", "&", "<", ",", "=>"})


def _join(value: ast.expr, sign: str, other: ast.expr) -> ast.expr:
    if sign == "+":
        return _at(ast.BinOp(value, ast.Add(), other), value)
    if sign in {"||", "??"}:
        return _at(ast.BoolOp(ast.Or(), [value, other]), value)
    return other if sign == "&&" else _at(ast.Compare(value, [ast.Eq()], [other]), value)


def _text(token: _Token) -> ast.expr:
    if token.node is None:
        token.node = _at(ast.Constant(token.text), token)
    return token.node


def _unknown(token: _Token) -> ast.expr:
    return _at(ast.Name("…"), token)


_Node = TypeVar("_Node", bound=ast.expr)


def _at(node: _Node, place: _Token | ast.expr) -> _Node:
    node.lineno = place.line if isinstance(place, _Token) else place.lineno
    node.col_offset = 0
    return node
