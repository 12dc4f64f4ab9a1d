"""A file as it was read: what its names may mean, and what it calls.

Both languages become nodes of Python's `ast`: a call, an attribute and a text look the same in
each, so that what follows them is written once. `this` is a name `self`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self


class UnreadableSource(ValueError):
    """A file has a mistake; `line` is its place."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression, the scope in which its names are looked up, and known parameters."""

    node: ast.expr
    scope: NameScope
    bound: Bound

    def move_to(self, node: ast.expr) -> Expression:
        """Return another expression in the same scope."""
        return Expression(node, self.scope, self.bound)

    def list_entries(self, *keys: str) -> list[Expression]:
        """Return the entries under these keys of a dictionary that is written down."""
        if not isinstance(self.node, ast.Dict):
            return []
        return [
            self.move_to(value)
            for key, value in zip(self.node.keys, self.node.values, strict=True)
            if isinstance(key, ast.Constant) and key.value in keys
        ]

    def find_entry(self, *keys: str) -> Expression | None:
        """Return the first entry under one of these keys."""
        return next(iter(self.list_entries(*keys)), None)

    def bind(self, bound: Bound) -> Self:
        """Return the same expression with other known parameters."""
        return replace(self, bound=bound)


@dataclass(frozen=True, eq=False)
class CallExpression(Expression):
    """A call in its scope, as another expression."""

    node: ast.Call


Bound = Mapping[tuple[int, str], Expression]
"""What parameters of functions are in one call of them."""
UNBOUND: Bound = {}


@dataclass(eq=False)
class NameScope:
    """A module, class, function or block, with the names that it defines."""

    kind: str
    name: str
    file: SourceFile
    parent: NameScope | None = None
    values: dict[str, list[Expression]] = field(default_factory=dict)
    """What is assigned to a name, anywhere in the scope."""
    imports: dict[str, str] = field(default_factory=dict)
    """Dotted names of what is imported: `{"Api": "tweepy.API"}`."""
    inner: dict[str, NameScope] = field(default_factory=dict)
    """The classes and functions that it defines."""
    params: list[str] = field(default_factory=list)
    defaults: dict[str, ast.expr] = field(default_factory=dict)
    annotations: dict[str, ast.expr] = field(default_factory=dict)
    bases: list[ast.expr] = field(default_factory=list)
    returns: list[Expression] = field(default_factory=list)
    certain: set[int] = field(default_factory=set)
    """The values, by the ids of their nodes, that are assigned whenever the scope runs."""

    def add(self, kind: str, name: str) -> NameScope:
        """Return a new scope inside of this one."""
        made = NameScope(kind, name, self.file, self)
        if name:
            self.inner[name] = made
        return made

    def express(self, node: ast.expr) -> Expression:
        """Return an expression of this scope."""
        return Expression(node, self, UNBOUND)

    def assign(self, name: str, value: ast.expr, where: NameScope | None = None) -> None:
        """Note that a name may have this value."""
        self.values.setdefault(name, []).append((where or self).express(value))

    def list_reaching(self, node: ast.Name, user: NameScope) -> list[Expression]:
        """Return the values that a name may have where it is used, of all that it ever has."""
        every = self.values.get(node.id, [])
        line = getattr(node, "lineno", 0)
        if len(every) < 2:
            return every
        for at, each in enumerate(every):
            if each.node.lineno <= line and any(part is node for part in ast.walk(each.node)):
                every = every[:at]  # `path = path.replace(…)`
                break
        around = list(user.list_around())
        for at in range(len(every) - 1, -1, -1):
            value, where = every[at].node, every[at].scope
            is_certain = id(value) in self.certain or self.file.language != "python"
            is_before = value.lineno <= line and where.find("function") is user.find("function")
            if is_certain and where in around and is_before:
                return [each for each in every[at:] if each.node.lineno <= line]
        return every

    def list_around(self) -> Iterator[NameScope]:
        """Yield this scope, the one around it, and so on."""
        scope: NameScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, kind: str) -> NameScope | None:
        """Return the innermost scope of a kind around this one, or itself."""
        return next((each for each in self.list_around() if each.kind == kind), None)

    def find_method(self) -> NameScope | None:
        """Return the method of a class in which something is."""
        around = self.list_around()
        return next((e for e in around if e.parent is not None and e.parent.kind == "class"), None)

    def describe(self) -> str:
        """Return its name with those of the classes and functions around it."""
        names = [each.name for each in self.list_around() if each.kind != "module" and each.name]
        return ".".join(reversed(names))


Condition = tuple[ast.expr, str, bool]
"""An expression that must be this text, or must not be it."""


@dataclass(eq=False)
class SourceFile:
    """A file: its module, its calls, the attributes that it reads, and its texts."""

    path: str
    """Relative to the project, with slashes."""
    language: str
    calls: list[CallExpression] = field(default_factory=list)
    attributes: list[tuple[ast.Attribute, NameScope]] = field(default_factory=list)
    texts: list[Expression] = field(default_factory=list)
    """Whole texts, also those that are put together: what may be an address."""
    conditions: dict[int, tuple[Condition, ...]] = field(default_factory=dict)
    """What must be true where a call is, by the id of its node."""
    unclear: int = 0
    """The line of the first part that is no valid syntax, and was passed over; 0 if none is."""
    module: NameScope = field(init=False)

    def __post_init__(self) -> None:
        self.module = NameScope("module", "", self)


def choices(node: ast.expr) -> list[ast.expr]:
    """Return the expressions of which one is taken."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Await | ast.Starred | ast.NamedExpr):
        return [node.value]
    return []


def label_of(node: ast.expr) -> str:
    """Return the name that an expression has in an address."""
    if isinstance(node, ast.Attribute):
        return "{" + node.attr + "}"
    if isinstance(node, ast.Call):
        return label_of(node.func)
    if isinstance(node, ast.Subscript):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return "{" + re.sub(r"\W+", "_", key.value) + "}"
        return label_of(node.value)
    return "{" + node.id + "}" if isinstance(node, ast.Name) else "{…}"


def name_of(func: ast.expr) -> str:
    """Return the last name of what is called."""
    if isinstance(func, ast.Attribute):
        return func.attr
    if isinstance(func, ast.Call):
        return name_of(func.func)
    return func.id if isinstance(func, ast.Name) else ""


def unwrap_type(kind: ast.expr) -> ast.expr:
    """Return the type in `Optional[Type]`, `Type | None` or `"Type"`."""
    if isinstance(kind, ast.Subscript):
        return unwrap_type(kind.slice)
    if isinstance(kind, ast.BinOp):
        return unwrap_type(kind.left)
    if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
        first, *rest = kind.value.split(".")
        node: ast.expr = ast.Name(first)
        for name in rest:
            node = ast.Attribute(node, name)
        return node
    return kind
