"""What the names of a project mean, across its files: values, functions, classes, libraries."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import PurePosixPath

from mock_platform.verification.fit.source import NameScope, SourceFile

_MOST_TEXTS = 12
_MOST_STEPS = 3000
_MOST_LOOKED_UP = 50_000
_MOST_NESTED = 40
_DEEPEST = 24
_PERCENT = re.compile(r"%(?:\((\w+)\))?[sdr]")
_FIELD = re.compile(r"\{(\w*)[^{}]*\}")
_SAME = frozenset(
    [
        "rstrip",
        "strip",
        "lstrip",
        "lower",
        "upper",
        "trim",
        "trimEnd",
        "toString",
        "toLowerCase",
        "toUpperCase",
        "encode",
    ]
)
_CONVERTERS = frozenset(
    [
        "str",
        "String",
        "quote",
        "quote_plus",
        "encodeURIComponent",
        "encodeURI",
        "URL",
        "Request",
        "HttpUrl",
    ]
)
_SELF = frozenset({"self", "cls", "klass"})
_ENVIRONMENT = ("environ", "env", "getenv")
_SUFFIX = re.compile(r"\.(?:[mc]?[jt]s|[jt]sx)$")


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression in its scope; `bound` are parameters whose values are known."""

    node: ast.expr
    scope: NameScope
    bound: Bound


@dataclass(frozen=True)
class OpenParameter:
    """A parameter of a function of which nothing is known here."""

    function: NameScope
    name: str


@dataclass(frozen=True)
class Instance:
    """An object of a class of the project."""

    of: NameScope


_Read = Callable[[ast.expr], list[str]]
Bound = Mapping[tuple[int, str], Expression]
UNBOUND: Bound = {}
"""What parameters of functions are in one call of them."""
Meaning = Expression | OpenParameter | Instance | NameScope | str
"""What a name may mean; a text is the dotted name of something of a library, `tweepy.Client()`."""


@dataclass
class Trace:
    """What was met while a text was put together."""

    open: list[OpenParameter] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    """Variables of the environment that may replace what is written."""
    texts: set[int] = field(default_factory=set)
    active: set[int] = field(default_factory=set)
    steps: int = 0


class Names:
    """The names of all files of a project."""

    def __init__(self, sources: Sequence[SourceFile]) -> None:
        self._modules: dict[str, list[NameScope]] = {}
        self._running: set[int] = set()
        self._nested = 0
        self._steps = 0
        """How much was looked up for the call at hand."""
        self._importing: set[tuple[str, int]] = set()
        self._meanings: dict[tuple[int, int, int], tuple[list[Meaning], Bound]] = {}
        """What was resolved; the bound parameters are kept, so that their ids stay theirs."""
        self._files: dict[str, NameScope] = {}
        self._classes = [
            each for s in sources for each in s.module.inner.values() if each.kind == "class"
        ]
        for source in sources:
            path = PurePosixPath(source.path)
            self._files[_SUFFIX.sub("", source.path)] = source.module
            is_folder = path.stem in {"__init__", "index"}
            for name in {path.stem, path.parent.name} if is_folder else {path.stem}:
                self._modules.setdefault(name, []).append(source.module)

    def start(self) -> None:
        """Begin with another call: what was looked up for the one before does not count."""
        self._steps = self._nested = 0
        self._running.clear()
        self._importing.clear()

    # -- meanings ----------------------------------------------------------------------------------

    def look_up(self, node: ast.expr, scope: NameScope, bound: Bound, depth: int) -> list[Meaning]:
        """Return what a name, an attribute or an entry may be, one step away."""
        if isinstance(node, ast.Name):
            return self._look_up_name(node, scope, bound, depth)
        if isinstance(node, ast.Attribute):
            return [
                found
                for each in self.resolve(node.value, scope, bound, depth + 1)
                for found in self._attribute(each, node.attr, bound, depth)
            ]
        if isinstance(node, ast.Subscript):
            return self._entry(node, scope, bound, depth)
        return []

    def _look_up_self(self, scope: NameScope, bound: Bound, depth: int) -> list[Meaning]:
        """Return the object of a method: that of its call, which may be one of a subclass."""
        method = find_method(scope)
        if method is None or method.parent is None:
            return []
        given = bound.get((id(method), "self"))
        if given is None or given.scope is scope:
            return [Instance(method.parent)]
        found = self.resolve(given.node, given.scope, {**bound, **given.bound}, depth + 1)
        meant: list[Meaning] = [
            e for e in found if isinstance(e, Instance | NameScope | OpenParameter)
        ]
        return meant or [Instance(method.parent)]

    def _look_up_name(
        self, node: ast.Name, scope: NameScope, bound: Bound, depth: int
    ) -> list[Meaning]:
        name = node.id
        if is_self(name, scope):
            return self._look_up_self(scope, bound, depth)
        here: NameScope | None = scope
        while here is not None:
            visible = here.kind != "class" or here is scope
            found: list[Meaning] = []
            if visible:
                values = here.list_reaching(node, scope)
                found += [Expression(*value, bound) for value in values]
                if (id(here), name) in bound:
                    # Functions around the one that was called may have been bound after it.
                    given = bound[id(here), name]
                    whole = {**bound, **given.bound} if given.bound else bound
                    found.append(Expression(given.node, given.scope, whole))
                elif name in here.params:
                    found.append(OpenParameter(here, name))
                if name in here.inner:  # a function is also the value of the name that it has
                    return [here.inner[name]]
            if not found and name in here.imports:
                return self._import(here.imports[name], here.file, bound)
            if found:
                return found
            here = here.parent
        return []

    def _attribute(self, of: Meaning, name: str, bound: Bound, depth: int) -> list[Meaning]:
        if isinstance(of, str):
            return [f"{of}.{name}"]
        if isinstance(of, Instance):
            return self._member(of.of, name, bound, depth)
        if isinstance(of, NameScope) and of.kind == "function":  # a property
            return [
                found
                for value, where in (of.returns if depth < _DEEPEST else ())
                for each in self.resolve(value, where, bound, depth + 1)
                for found in self._attribute(each, name, bound, depth + 1)
            ]
        if isinstance(of, NameScope):
            if of.kind == "module":
                return self._list_exported(of, [name], bound)
            return self._member(of, name, bound, depth)
        return _entries(of, name) if isinstance(of, Expression) else []

    def _member(self, holder: NameScope, name: str, bound: Bound, depth: int) -> list[Meaning]:
        """Return what an attribute of a class may be, also one that it inherits."""
        if name in holder.inner:
            return [holder.inner[name]]
        if name in holder.values:
            return [Expression(*value, bound) for value in holder.values[name]]
        found: list[Meaning] = []
        for base in holder.bases if depth < _DEEPEST and holder.parent is not None else ():
            for each in self.resolve(base, holder.parent or holder, bound, depth + 1):
                if isinstance(each, NameScope) and each is not holder:
                    found += self._member(each, name, bound, depth + 1)
                elif isinstance(each, str):
                    found.append(f"{each}().{name}")
        return found

    def _entry(
        self, node: ast.Subscript, scope: NameScope, bound: Bound, depth: int
    ) -> list[Meaning]:
        keys = self.texts(node.slice, scope, bound, Trace(), depth + 1)
        found: list[Meaning] = []
        for each in self.resolve(node.value, scope, bound, depth + 1):
            if isinstance(each, Expression) and isinstance(each.node, ast.Dict):
                entries = [entry for key in keys for entry in _entries(each, key)]
                every = [Expression(one, each.scope, each.bound) for one in each.node.values]
                found += entries or every
            elif isinstance(each, Expression) and isinstance(each.node, ast.Tuple | ast.List):
                numbers = [int(key) for key in keys if key.isdecimal() and len(key) < 3]
                values = [each.node.elts[n] for n in numbers if n < len(each.node.elts)]
                found += [Expression(one, each.scope, each.bound) for one in values]
        return found

    def _import(self, dotted: str, file: SourceFile, bound: Bound) -> list[Meaning]:
        """Return what an import means: something of the project, or the dotted name itself."""
        if (dotted, id(file)) in self._importing:  # files that import one another
            return []
        self._importing.add((dotted, id(file)))
        try:
            found = self._find_in_project(dotted, file, bound)
        finally:
            self._importing.discard((dotted, id(file)))
        outside = dotted.replace("|", ".").strip(".")
        return found or ([] if dotted.startswith(".") else [outside])

    def _find_in_project(self, dotted: str, file: SourceFile, bound: Bound) -> list[Meaning]:
        if "|" in dotted:
            module, _, member = dotted.partition("|")
            scope = self._find_module(module, file)
            return self._list_exported(scope, [member] if member else [], bound) if scope else []
        parts = dotted.lstrip(".").split(".")
        for length in range(len(parts), 0, -1) if file.language == "python" else ():
            modules = self._modules.get(parts[length - 1], [])
            before = parts[length - 2] if length > 1 else ""
            near = [m for m in modules if not before or before in PurePosixPath(m.file.path).parts]
            folder = PurePosixPath(file.path).parent
            beside = [m for m in near or modules if PurePosixPath(m.file.path).parent == folder]
            chosen = beside or near or (modules if len(modules) == 1 else [])
            found = [each for m in chosen for each in self._list_exported(m, parts[length:], bound)]
            if found:
                return found
        return []

    def _find_module(self, module: str, file: SourceFile) -> NameScope | None:
        """Return the file that JavaScript imports under this name, if it is in the project."""
        name = _SUFFIX.sub("", module)
        if module.startswith("."):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), name))
            found = [self._files.get(place), self._files.get(f"{place}/index".removeprefix("./"))]
            return next((each for each in found if each is not None), None)
        if not module.startswith(("@/", "~/", "src/", "#")):
            return None
        end = "/" + name.lstrip("@~#/")
        fits = [
            each for path, each in self._files.items() if f"/{path}".endswith((end, f"{end}/index"))
        ]
        return fits[0] if len(fits) == 1 else None

    def _list_exported(self, module: NameScope, rest: Sequence[str], bound: Bound) -> list[Meaning]:
        if not rest:
            whole = module.values.get("default", [])
            is_one = module.file.language == "javascript" and len(whole) == 1
            if is_one and not isinstance(whole[0][0], ast.Dict):  # `module.exports = value`
                return [Expression(*whole[0], bound)]
            return [module]
        name = rest[0]
        found: list[Meaning] = [Expression(*value, bound) for value in module.values.get(name, ())]
        if name in module.inner:
            found = [module.inner[name]]
        elif not found and name in module.imports:
            found = self._import(module.imports[name], module.file, bound)
        elif not found and name == "default":
            classes = [each for each in module.inner.values() if each.kind == "class"]
            found = [*(classes[:1] or [*module.inner.values()][-1:] or [module])]
        beside = posixpath.join(posixpath.dirname(module.file.path), name)
        if not found and module.file.path.endswith("__init__.py"):
            inner = self._files.get(beside) or self._files.get(f"{beside}/__init__")
            found = [] if inner is None else [inner]
        for value in module.values.get("default", ()) if not found else ():
            found += _entries(Expression(*value, bound), name)
        for further in rest[1:]:
            found = [new for each in found for new in self._attribute(each, further, bound, 0)]
        return found

    def resolve(
        self, node: ast.expr, scope: NameScope, bound: Bound, depth: int = 0
    ) -> list[Meaning]:
        """Return what an expression may be, all names followed to their ends."""
        key = (id(node), id(scope), id(bound))
        self._steps += 1
        if key not in self._meanings:
            if self._steps > _MOST_LOOKED_UP:
                return []
            # What an expression means while it is looked for is nothing: names may go in circles.
            self._meanings[key] = ([], bound)
            self._nested += 1
            if self._nested < _MOST_NESTED:
                self._meanings[key] = (self._resolve(node, scope, bound, depth), bound)
            self._nested -= 1
        return self._meanings[key][0]

    def _resolve(self, node: ast.expr, scope: NameScope, bound: Bound, depth: int) -> list[Meaning]:
        if depth > _DEEPEST:
            return []
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            found = self.look_up(node, scope, bound, depth)
            return _unique(end for each in found for end in self._follow(each, depth))
        if isinstance(node, ast.Call):
            return self._result(node, scope, bound, depth)
        choices = _choices(node)
        if choices:
            return [e for each in choices for e in self.resolve(each, scope, bound, depth + 1)]
        return [Expression(node, scope, bound)]

    def _follow(self, found: Meaning, depth: int) -> list[Meaning]:
        if isinstance(found, Expression):
            return self.resolve(found.node, found.scope, found.bound, depth + 1)
        if isinstance(found, OpenParameter):
            scope, kind = found.function, found.function.annotations.get(found.name)
            if kind is not None and scope.parent is not None:
                types = self.resolve(_unwrap_type(kind), scope.parent, UNBOUND, depth + 1)
                made = [_make(each) for each in types if isinstance(each, NameScope | str)]
                return made or [found]
        return [found]

    def _result(self, node: ast.Call, scope: NameScope, bound: Bound, depth: int) -> list[Meaning]:
        """Return what a call may return."""
        called = node.func
        if isinstance(called, ast.Name) and called.id == "require" and node.args:
            text = getattr(node.args[0], "value", "")
            return self._import(f"{text}|", scope.file, bound) if isinstance(text, str) else []
        found: list[Meaning] = []
        for each in self.resolve(called, scope, bound, depth + 1):
            if isinstance(each, NameScope) and each.kind == "function":
                if id(each) in self._running:  # functions that call one another
                    continue
                inner = self.bind(each, node, scope, bound)
                self._running.add(id(each))
                for value, where in each.returns:
                    found += self.resolve(value, where, inner, depth + 1)
                self._running.discard(id(each))
            elif isinstance(each, NameScope | str):
                found.append(_make(each))
        return _unique(found) or [Expression(node, scope, bound)]

    @staticmethod
    def bind(function: NameScope, call: ast.Call, scope: NameScope, bound: Bound) -> Bound:
        """Return what the parameters of a function are in a call of it."""
        params = function.params[function.params[:1] in (["self"], ["cls"]) :]
        named = {each.arg: each.value for each in call.keywords if each.arg}
        if not any(isinstance(each, ast.Starred) for each in call.args):
            named |= dict(zip(params, call.args, strict=False))
        if isinstance(call.func, ast.Attribute):
            named["self"] = call.func.value
        new = {(id(function), name): Expression(v, scope, bound) for name, v in named.items()}
        return {**bound, **new}

    # -- texts -------------------------------------------------------------------------------------

    def texts(
        self, node: ast.expr, scope: NameScope, bound: Bound, trace: Trace, depth: int = 0
    ) -> list[str]:
        """Return the texts that an expression may be; `{name}` is what is not written down."""
        trace.steps += 1
        if depth > _DEEPEST or trace.steps > _MOST_STEPS or id(node) in trace.active:
            return []
        trace.active.add(id(node))
        found = self._texts(node, scope, bound, trace, depth + 1)
        trace.active.discard(id(node))
        return list(dict.fromkeys(found))[:_MOST_TEXTS]

    def _texts(
        self, node: ast.expr, scope: NameScope, bound: Bound, trace: Trace, depth: int
    ) -> list[str]:
        def read(each: ast.expr) -> list[str]:
            return self.texts(each, scope, bound, trace, depth) or [_label(each)]

        found: list[str] = []
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
            trace.texts.add(id(node))
        if isinstance(node, ast.Constant):
            is_text = isinstance(node.value, str | int) and not isinstance(node.value, bool)
            found = [str(node.value)] if is_text else []
        elif isinstance(node, ast.Name) and node.id in {"null", "undefined"}:
            pass
        elif isinstance(node, ast.JoinedStr):
            found = ["".join(each) for each in _combine(map(read, node.values))]
        elif isinstance(node, ast.FormattedValue):
            found = read(node.value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            found = self._fill(node, read)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            found = ["".join(each) for each in _combine([read(node.left), read(node.right)])]
        elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            found = self._texts_of_name(node, scope, bound, trace, depth)
        elif isinstance(node, ast.Call):
            found = self._texts_of_call(node, scope, bound, trace, depth)
        else:
            for each in _choices(node):
                found += self.texts(each, scope, bound, trace, depth)
        return found

    def _texts_of_name(
        self, node: ast.expr, scope: NameScope, bound: Bound, trace: Trace, depth: int
    ) -> list[str]:
        found: list[str] = []
        parameter: OpenParameter | None = None
        for each in self.look_up(node, scope, bound, depth):
            if isinstance(each, Expression):
                found += self.texts(each.node, each.scope, each.bound, trace, depth)
            elif isinstance(each, OpenParameter):
                parameter = each
            elif isinstance(each, NameScope) and each.kind == "function":  # a property
                for value, where in each.returns:
                    found += self.texts(value, where, bound, trace, depth)
        if parameter is not None and not found:
            trace.open.append(parameter)
            default = parameter.function.defaults.get(parameter.name)
            around = parameter.function.parent
            if default is not None and around is not None:
                found = self.texts(default, around, bound, trace, depth)
        return found or self._leave_open(node, scope, bound, trace, depth)

    def _leave_open(
        self, node: ast.expr, scope: NameScope, bound: Bound, trace: Trace, depth: int
    ) -> list[str]:
        """Return the name of a value that is not written down; note what it depends on."""
        if not isinstance(node, ast.Attribute | ast.Subscript):
            return [_label(node)]
        label, holder = _label(node), node.value
        if isinstance(node, ast.Attribute) and isinstance(holder, ast.Name):
            method = find_method(scope) if is_self(holder.id, scope) else None
            is_free = method is not None and (id(method), "self") not in bound
            if method is not None and is_free and self._is_set_by_heirs(node.attr, method):
                trace.open.append(OpenParameter(method, "self"))
        meant = self.resolve(holder, scope, bound, depth)
        trace.open += [each for each in meant if isinstance(each, OpenParameter)]
        if _label(holder).strip("{}") in _ENVIRONMENT:
            if isinstance(node, ast.Subscript):
                label = "{" + "".join(self.texts(node.slice, scope, bound, trace, depth)) + "}"
            trace.variables.append(label.strip("{}"))
        return [label]

    def _is_set_by_heirs(self, name: str, method: NameScope) -> bool:
        """Whether a class that inherits a method says what this attribute is."""
        wanted = {method.parent.name if method.parent is not None else ""}
        for _ in range(4):
            wanted |= {each.name for each in self._classes if wanted & _list_bases(each)}
        return any(each.name in wanted and name in each.values for each in self._classes)

    def _texts_of_call(
        self, node: ast.Call, scope: NameScope, bound: Bound, trace: Trace, depth: int
    ) -> list[str]:
        def read(each: ast.expr) -> list[str]:
            return self.texts(each, scope, bound, trace, depth) or [_label(each)]

        written = self._write_out(node, read, trace)
        if written is not None:
            return written
        found: list[str] = []
        for each in self.resolve(node.func, scope, bound, depth):
            if isinstance(each, NameScope) and each.kind == "function":
                within = self.bind(each, node, scope, bound)
                for value, where in each.returns:
                    found += self.texts(value, where, within, trace, depth)
        return found

    def _write_out(self, node: ast.Call, read: _Read, trace: Trace) -> list[str] | None:
        """Return what a call makes of texts, `None` if it does not work on texts."""
        name, args = _label(node.func).strip("{}"), node.args
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        holder = "" if inner is None else _label(inner).strip("{}")
        if name == "getenv" or (name == "get" and holder == "environ"):
            return self._read_variable(node, read, trace) if args else None
        if name in {"urljoin", "URL"} and len(args) == 2:
            base, path = reversed(args) if name == "URL" else args
            return [join_address(*each) for each in _combine([read(base), read(path)])]
        if name in _CONVERTERS and args:
            return read(args[0])
        if inner is None:
            return None
        found: list[str] | None = None
        if name in _SAME:
            found = read(inner)
        elif name in {"rstrip", "strip"}:
            found = [text.rstrip("/") for text in read(inner)]
        elif name in {"replace", "replaceAll"} and len(args) > 1:
            parts = _combine([read(inner), read(args[0]), read(args[1])])
            found = [text.replace(old, new) if old else text for text, old, new in parts]
        elif name == "format":
            found = self._fill(node, read)
        elif name == "concat":
            found = ["".join(each) for each in _combine(map(read, [inner, *args]))]
        elif name == "join" and args:
            glue, listed = (args[0], inner) if isinstance(inner, ast.List) else (inner, args[0])
            if isinstance(listed, ast.List | ast.Tuple):
                joined = _combine([read(glue), *map(read, listed.elts)])
                found = [each[0].join(each[1:]) for each in joined]
        return found

    @staticmethod
    def _read_variable(node: ast.Call, read: _Read, trace: Trace) -> list[str]:
        """Return the default of a variable of the environment, or its name."""
        variable = read(node.args[0])[0].strip("{}")
        trace.variables.append(variable)
        rest = [*node.args[1:2], *(each.value for each in node.keywords)]
        return read(rest[0]) if rest else ["{" + variable + "}"]

    def _fill(self, node: ast.Call | ast.BinOp, read: _Read) -> list[str]:
        """Return texts with their fields filled in, by `%` or by `format`."""
        if isinstance(node, ast.BinOp):
            pattern, whole = _PERCENT, read(node.left)
            values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            named: dict[str, ast.expr] = {}
        else:
            pattern, whole = _FIELD, read(getattr(node.func, "value", node.func))
            values = node.args
            named = {each.arg: each.value for each in node.keywords if each.arg}
        known = {str(at): read(each) for at, each in enumerate(values)}
        known |= {name: read(value) for name, value in named.items()}
        found = []
        for text in whole:
            keys = [match[1] or str(at) for at, match in enumerate(pattern.finditer(text))]
            ways = _combine([known.get(key, ["{" + key + "}"]) for key in keys])
            found += [pattern.sub(_Next(filled), text) for filled in ways]
        return found


def is_self(name: str, scope: NameScope) -> bool:
    """Whether a name is that of the object, or the class, of the method around it."""
    method = find_method(scope)
    if scope.file.language != "python" or method is None:
        return name == "self"
    return method.params[:1] == [name] and name in _SELF


def _list_bases(of: NameScope) -> set[str]:
    return {_label(each).strip("{}") for each in of.bases}


def find_method(scope: NameScope) -> NameScope | None:
    """Return the method of a class in which something is."""
    here: NameScope | None = scope
    while here is not None and (here.parent is None or here.parent.kind != "class"):
        here = here.parent
    return here


class _Next:
    """Replaces each match with the next text."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = iter(texts)

    def __call__(self, _: re.Match[str]) -> str:
        return next(self._texts)


def join_address(base: str, path: str) -> str:
    """Return the address of a path below a base, or the path itself if it is whole."""
    if "://" in path or not base:
        return path
    if not path:
        return base
    return f"{base.rstrip('/')}/{path.lstrip('/')}"


def _combine(parts: Iterable[list[str]]) -> list[tuple[str, ...]]:
    return list(islice(product(*parts), _MOST_TEXTS))


def _unique(found: Iterable[Meaning]) -> list[Meaning]:
    return list({(id(e.node) if isinstance(e, Expression) else e): e for e in found}.values())


def _choices(node: ast.expr) -> list[ast.expr]:
    """Return the expressions of which one is taken."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Await | ast.Starred | ast.NamedExpr):
        return [node.value]
    return []


def _label(node: ast.expr) -> str:
    """Return the name that an expression has in an address."""
    if isinstance(node, ast.Attribute):
        return "{" + node.attr + "}"
    if isinstance(node, ast.Call):
        return _label(node.func)
    if isinstance(node, ast.Subscript):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return "{" + re.sub(r"\W+", "_", key.value) + "}"
        return _label(node.value)
    return "{" + node.id + "}" if isinstance(node, ast.Name) else "{…}"


def _unwrap_type(kind: ast.expr) -> ast.expr:
    """Return the type in `Optional[Type]`, `Type | None` or `"Type"`."""
    if isinstance(kind, ast.Subscript):
        return _unwrap_type(kind.slice)
    if isinstance(kind, ast.BinOp):
        return _unwrap_type(kind.left)
    if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
        first, *rest = kind.value.split(".")
        node: ast.expr = ast.Name(first)
        for name in rest:
            node = ast.Attribute(node, name)
        return node
    return kind


def _make(kind: NameScope | str) -> Meaning:
    return f"{kind}()" if isinstance(kind, str) else Instance(kind)


def _entries(of: Expression, key: str) -> list[Meaning]:
    """Return the entry of a dictionary that is written down."""
    if not isinstance(of.node, ast.Dict):
        return []
    return [
        Expression(value, of.scope, of.bound)
        for name, value in zip(of.node.keys, of.node.values, strict=True)
        if isinstance(name, ast.Constant) and name.value == key
    ]
