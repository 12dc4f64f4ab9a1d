"""A file as it was read: what its names may mean, and what it calls.

Both languages become nodes of Python's `ast`: a call, an attribute and a text look the same in
each, so that what follows them is written once. `this` is a name `self`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


class UnreadableSource(ValueError):
    """A file has a mistake; `line` is its place."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


@dataclass(eq=False)
class NameScope:
    """A module, class, function or block, with the names that it defines."""

    kind: str
    name: str
    file: SourceFile
    parent: NameScope | None = None
    values: dict[str, list[Value]] = field(default_factory=dict)
    """What is assigned to a name, anywhere in the scope."""
    imports: dict[str, str] = field(default_factory=dict)
    """Dotted names of what is imported: `{"Api": "tweepy.API"}`."""
    inner: dict[str, NameScope] = field(default_factory=dict)
    """The classes and functions that it defines."""
    params: list[str] = field(default_factory=list)
    defaults: dict[str, ast.expr] = field(default_factory=dict)
    annotations: dict[str, ast.expr] = field(default_factory=dict)
    bases: list[ast.expr] = field(default_factory=list)
    returns: list[Value] = field(default_factory=list)
    certain: set[int] = field(default_factory=set)
    """The values, by the ids of their nodes, that are assigned whenever the scope runs."""

    def add(self, kind: str, name: str) -> NameScope:
        """Return a new scope inside of this one."""
        made = NameScope(kind, name, self.file, self)
        if name:
            self.inner[name] = made
        return made

    def assign(self, name: str, value: ast.expr, where: NameScope | None = None) -> None:
        """Note that a name may have this value."""
        self.values.setdefault(name, []).append((value, where or self))

    def list_reaching(self, node: ast.Name, user: NameScope) -> list[Value]:
        """Return the values that a name may have where it is used, of all that it ever has."""
        every = self.values.get(node.id, [])
        line = getattr(node, "lineno", 0)
        if len(every) < 2:
            return every
        for at, (value, _) in enumerate(every):
            if value.lineno <= line and any(part is node for part in ast.walk(value)):
                every = every[:at]  # `path = path.replace(…)`
                break
        around: set[int] = set()
        scope: NameScope | None = user
        while scope is not None:
            around.add(id(scope))
            scope = scope.parent
        for at in range(len(every) - 1, -1, -1):
            value, where = every[at]
            is_certain = id(value) in self.certain or self.file.language != "python"
            is_before = value.lineno <= line and where.find("function") is user.find("function")
            if is_certain and id(where) in around and is_before:
                return [each for each in every[at:] if each[0].lineno <= line]
        return every

    def find(self, kind: str) -> NameScope | None:
        """Return the innermost scope of a kind around this one, or itself."""
        scope: NameScope | None = self
        while scope is not None and scope.kind != kind:
            scope = scope.parent
        return scope

    def describe(self) -> str:
        """Return its name with those of the classes and functions around it."""
        names: list[str] = []
        scope: NameScope | None = self
        while scope is not None and scope.kind != "module":
            if scope.name:
                names.append(scope.name)
            scope = scope.parent
        return ".".join(reversed(names))


Condition = tuple[ast.expr, str, bool]
"""An expression that must be this text, or must not be it."""
Value = tuple[ast.expr, NameScope]
"""An expression, and the scope in which its names are looked up."""


@dataclass(eq=False)
class SourceFile:
    """A file: its module, its calls, the attributes that it reads, and its texts."""

    path: str
    """Relative to the project, with slashes."""
    language: str
    calls: list[tuple[ast.Call, NameScope]] = field(default_factory=list)
    attributes: list[tuple[ast.Attribute, NameScope]] = field(default_factory=list)
    texts: list[Value] = field(default_factory=list)
    """Whole texts, also those that are put together: what may be an address."""
    conditions: dict[int, tuple[Condition, ...]] = field(default_factory=dict)
    """What must be true where a call is, by the id of its node."""
    unclear: int = 0
    """The line of the first part that is no valid syntax, and was passed over; 0 if none is."""
    module: NameScope = field(init=False)

    def __post_init__(self) -> None:
        self.module = NameScope("module", "", self)
