"""What the names of a project mean, across its files: values, functions, classes, libraries."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, product, zip_longest
from pathlib import PurePosixPath

from mock_platform.verification.fit.source import (
    Bound,
    CallExpression,
    Expression,
    NameScope,
    SourceFile,
    choices,
    label_of,
    unwrap_type,
)

_MOST_TEXTS = 12
_MOST_STEPS = 3000
_MOST_LOOKED_UP = 50_000
_DEEPEST = 24
_PERCENT = re.compile(r"%(?:\((\w+)\))?[sdr]")
_FIELD = re.compile(r"\{(\w*)[^{}]*\}")
_SAME = frozenset(
    ["rstrip", "strip", "lstrip", "lower", "upper", "trim", "trimEnd", "toString", "toLowerCase",
     "toUpperCase", "encode"]
)  # fmt: skip
_CONVERTERS = frozenset(
    ["str", "String", "quote", "quote_plus", "encodeURIComponent", "encodeURI", "URL", "Request",
     "HttpUrl"]
)  # fmt: skip
_SELF = frozenset({"self", "cls", "klass"})
_ENVIRONMENT = ("environ", "env", "getenv")
_SUFFIX = re.compile(r"\.(?:[mc]?[jt]s|[jt]sx)$")


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
    """The expressions in which the one at hand is."""
    steps: int = 0


class Names:
    """The names of all files of a project."""

    def __init__(self, sources: Sequence[SourceFile]) -> None:
        self._modules: dict[str, list[NameScope]] = {}
        self._running: set[int] = set()
        """The functions whose values are followed: they may call one another."""
        self._nested = 0
        """In how many expressions the one at hand is."""
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

    def resolve(self, one: Expression) -> list[Meaning]:
        """Return what an expression may be, all names followed to their ends."""
        key = (id(one.node), id(one.scope), id(one.bound))
        self._steps += 1
        if key not in self._meanings:
            if self._steps > _MOST_LOOKED_UP:
                return []
            # What an expression means while it is looked for is nothing: names may go in circles.
            self._meanings[key] = ([], one.bound)
            self._nested += 1
            if self._nested <= _DEEPEST:
                self._meanings[key] = (self._resolve(one), one.bound)
            self._nested -= 1
        return self._meanings[key][0]

    def _resolve(self, one: Expression) -> list[Meaning]:
        node = one.node
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return _unique(end for each in self.look_up(one) for end in self._follow(each))
        if isinstance(node, ast.Call):
            return self._result(CallExpression(node, one.scope, one.bound))
        ways = choices(node)
        return [end for each in ways for end in self.resolve(one.move_to(each))] if ways else [one]

    def look_up(self, one: Expression) -> list[Meaning]:
        """Return what a name, an attribute or an entry may be, one step away."""
        node = one.node
        if isinstance(node, ast.Name):
            return self._look_up_name(node, one.scope, one.bound)
        if isinstance(node, ast.Attribute):
            return [
                found
                for each in self.resolve(one.move_to(node.value))
                for found in self._attribute(each, node.attr, one.bound)
            ]
        return self._entry(node, one) if isinstance(node, ast.Subscript) else []

    def _look_up_self(self, scope: NameScope, bound: Bound) -> list[Meaning]:
        """Return the object of a method: that of its call, which may be one of a subclass."""
        method = scope.find_method()
        if method is None or method.parent is None:
            return []
        given = bound.get((id(method), "self"))
        if given is None or given.scope is scope:
            return [Instance(method.parent)]
        found = self.resolve(given.bind({**bound, **given.bound}))
        meant: list[Meaning] = [
            e for e in found if isinstance(e, Instance | NameScope | OpenParameter)
        ]
        return meant or [Instance(method.parent)]

    def _look_up_name(self, node: ast.Name, scope: NameScope, bound: Bound) -> list[Meaning]:
        name = node.id
        if is_self(name, scope):
            return self._look_up_self(scope, bound)
        for here in scope.list_around():
            found: list[Meaning] = []
            if here.kind != "class" or here is scope:
                found += [each.bind(bound) for each in here.list_reaching(node, scope)]
                if (id(here), name) in bound:
                    # Functions around the one that was called may have been bound after it.
                    given = bound[id(here), name]
                    found.append(given.bind({**bound, **given.bound} if given.bound else bound))
                elif name in here.params:
                    found.append(OpenParameter(here, name))
                if name in here.inner:  # a function is also the value of the name that it has
                    return [here.inner[name]]
            if not found and name in here.imports:
                return self._import(here.imports[name], here.file, bound)
            if found:
                return found
        return []

    def _attribute(self, of: Meaning, name: str, bound: Bound) -> list[Meaning]:
        if isinstance(of, str):
            return [f"{of}.{name}"]
        if isinstance(of, Instance):
            return self._member(of.of, name, bound)
        if isinstance(of, NameScope) and of.kind == "function":  # a property
            return self._list_returned(of, bound, name)
        if isinstance(of, NameScope):
            is_module = of.kind == "module"
            return (self._list_exported if is_module else self._member)(of, name, bound)
        return [*of.list_entries(name)] if isinstance(of, Expression) else []

    def _list_returned(self, of: NameScope, bound: Bound, name: str = "") -> list[Meaning]:
        """Return what a function may return, or an attribute of it."""
        if id(of) in self._running:
            return []
        self._running.add(id(of))
        found = [end for each in of.returns for end in self.resolve(each.bind(bound))]
        if name:
            found = [end for each in found for end in self._attribute(each, name, bound)]
        self._running.discard(id(of))
        return found

    def _member(self, holder: NameScope, name: str, bound: Bound) -> list[Meaning]:
        """Return what an attribute of a class may be, also one that it inherits."""
        found: list[Meaning] = []
        classes: list[NameScope | str] = [holder]
        for each in classes:  # it grows
            if isinstance(each, str):
                found.append(f"{each}().{name}")
            elif name in each.inner:
                return [*found, each.inner[name]]
            elif name in each.values:
                return [*found, *(value.bind(bound) for value in each.values[name])]
            elif each.parent is not None:
                bases = [Expression(base, each.parent, bound) for base in each.bases]
                meant = [one for base in bases for one in self.resolve(base)]
                classes += [e for e in meant if isinstance(e, NameScope | str) and e not in classes]
        return found

    def _entry(self, node: ast.Subscript, one: Expression) -> list[Meaning]:
        keys = self.texts(one.move_to(node.slice), Trace())
        found: list[Meaning] = []
        for each in self.resolve(one.move_to(node.value)):
            if isinstance(each, Expression) and isinstance(each.node, ast.Dict):
                entries = [entry for key in keys for entry in each.list_entries(key)]
                found += entries or [each.move_to(value) for value in each.node.values]
            elif isinstance(each, Expression) and isinstance(each.node, ast.Tuple | ast.List):
                numbers = [int(key) for key in keys if key.isdecimal() and len(key) < 3]
                values = [each.node.elts[n] for n in numbers if n < len(each.node.elts)]
                found += [each.move_to(value) for value in values]
        return found

    def _follow(self, found: Meaning) -> list[Meaning]:
        if isinstance(found, Expression):
            return self.resolve(found)
        if isinstance(found, OpenParameter):
            scope, kind = found.function, found.function.annotations.get(found.name)
            if kind is not None and scope.parent is not None:
                types = self.resolve(scope.parent.express(unwrap_type(kind)))
                made = [_make(each) for each in types if isinstance(each, NameScope | str)]
                return made or [found]
        return [found]

    def _result(self, call: CallExpression) -> list[Meaning]:
        """Return what a call may return."""
        called, args = call.node.func, call.node.args
        if isinstance(called, ast.Name) and called.id == "require" and args:
            text = getattr(args[0], "value", "")
            is_known = isinstance(text, str)
            return self._import(f"{text}|", call.scope.file, call.bound) if is_known else []
        found: list[Meaning] = []
        for each in self.resolve(call.move_to(called)):
            if isinstance(each, NameScope) and each.kind == "function":
                found += self._list_returned(each, self.bind(each, call))
            elif isinstance(each, NameScope | str):
                found.append(_make(each))
        return _unique(found) or [call]

    @staticmethod
    def bind(function: NameScope, call: CallExpression) -> Bound:
        """Return what the parameters of a function are in a call of it."""
        node, params = call.node, function.params[function.params[:1] in (["self"], ["cls"]) :]
        named = {each.arg: each.value for each in node.keywords if each.arg}
        if not any(isinstance(each, ast.Starred) for each in node.args):
            named |= dict(zip(params, node.args, strict=False))
        if isinstance(node.func, ast.Attribute):
            named["self"] = node.func.value
        return {
            **call.bound,
            **{(id(function), name): call.move_to(value) for name, value in named.items()},
        }

    # -- files -------------------------------------------------------------------------------------

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
            return self._list_exported(scope, member, bound) if scope else []
        parts = dotted.lstrip(".").split(".")
        for length in range(len(parts), 0, -1) if file.language == "python" else ():
            modules = self._modules.get(parts[length - 1], [])
            before = parts[length - 2] if length > 1 else ""
            near = [m for m in modules if not before or before in PurePosixPath(m.file.path).parts]
            folder = PurePosixPath(file.path).parent
            beside = [m for m in near or modules if PurePosixPath(m.file.path).parent == folder]
            chosen = beside or near or (modules if len(modules) == 1 else [])
            name, further = "".join(parts[length : length + 1]), parts[length + 1 :]
            found = [each for m in chosen for each in self._list_exported(m, name, bound)]
            for attribute in further:
                found = [new for each in found for new in self._attribute(each, attribute, bound)]
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

    def _list_exported(self, module: NameScope, name: str, bound: Bound) -> list[Meaning]:
        """Return what a module has under a name; without one, what it is as a whole."""
        whole = [each.bind(bound) for each in module.values.get("default", ())]
        if not name:
            is_one = module.file.language == "javascript" and len(whole) == 1
            if is_one and not isinstance(whole[0].node, ast.Dict):  # `module.exports = value`
                return [whole[0]]
            return [module]
        found: list[Meaning] = [each.bind(bound) for each in module.values.get(name, ())]
        if name in module.inner:
            found = [module.inner[name]]
        elif not found and name in module.imports:
            found = self._import(module.imports[name], module.file, bound)
        elif not found and name == "default":
            classes = [each for each in module.inner.values() if each.kind == "class"]
            found = [*(classes[:1] or [*module.inner.values()][-1:] or [module])]
        if not found and module.file.path.endswith("__init__.py"):
            beside = posixpath.join(posixpath.dirname(module.file.path), name)
            inner = self._files.get(beside) or self._files.get(f"{beside}/__init__")
            found = [] if inner is None else [inner]
        return found or [entry for each in whole for entry in each.list_entries(name)]

    # -- texts -------------------------------------------------------------------------------------

    def texts(self, one: Expression, trace: Trace) -> list[str]:
        """Return the texts that an expression may be; `{name}` is what is not written down."""
        trace.steps += 1
        is_deep = self._nested >= _DEEPEST
        if is_deep or trace.steps > _MOST_STEPS or id(one.node) in trace.active:
            return []
        trace.active.add(id(one.node))
        self._nested += 1
        found = self._texts(one, trace)
        self._nested -= 1
        trace.active.discard(id(one.node))
        return list(dict.fromkeys(found))[:_MOST_TEXTS]

    def _texts(self, one: Expression, trace: Trace) -> list[str]:
        def read(each: ast.expr) -> list[str]:
            return self.texts(one.move_to(each), trace) or [label_of(each)]

        node = one.node
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
            found = self._texts_of_name(one, trace)
        elif isinstance(node, ast.Call):
            written = self._write_out(node, read, trace)
            call = CallExpression(node, one.scope, one.bound)
            found = self._texts_of_call(call, trace) if written is None else written
        else:
            for each in choices(node):
                found += self.texts(one.move_to(each), trace)
        return found

    def _texts_of_name(self, one: Expression, trace: Trace) -> list[str]:
        found: list[str] = []
        parameter: OpenParameter | None = None
        for each in self.look_up(one):
            if isinstance(each, Expression):
                found += self.texts(each, trace)
            elif isinstance(each, OpenParameter):
                parameter = each
            elif isinstance(each, NameScope) and each.kind == "function":  # a property
                for value in each.returns:
                    found += self.texts(value.bind(one.bound), trace)
        if parameter is not None and not found:
            trace.open.append(parameter)
            default = parameter.function.defaults.get(parameter.name)
            around = parameter.function.parent
            if default is not None and around is not None:
                found = self.texts(Expression(default, around, one.bound), trace)
        return found or self._leave_open(one, trace)

    def _texts_of_call(self, call: CallExpression, trace: Trace) -> list[str]:
        found: list[str] = []
        for each in self.resolve(call.move_to(call.node.func)):
            if isinstance(each, NameScope) and each.kind == "function":
                within = self.bind(each, call)
                for value in each.returns:
                    found += self.texts(value.bind(within), trace)
        return found

    def _leave_open(self, one: Expression, trace: Trace) -> list[str]:
        """Return the name of a value that is not written down; note what it depends on."""
        node = one.node
        if not isinstance(node, ast.Attribute | ast.Subscript):
            return [label_of(node)]
        label, holder = label_of(node), node.value
        if isinstance(node, ast.Attribute) and isinstance(holder, ast.Name):
            method = one.scope.find_method() if is_self(holder.id, one.scope) else None
            is_free = method is not None and (id(method), "self") not in one.bound
            if method is not None and is_free and self._is_set_by_heirs(node.attr, method):
                trace.open.append(OpenParameter(method, "self"))
        meant = self.resolve(one.move_to(holder))
        trace.open += [each for each in meant if isinstance(each, OpenParameter)]
        if label_of(holder).strip("{}") in _ENVIRONMENT:
            if isinstance(node, ast.Subscript):
                label = "{" + "".join(self.texts(one.move_to(node.slice), trace)) + "}"
            trace.variables.append(label.strip("{}"))
        return [label]

    def _is_set_by_heirs(self, name: str, method: NameScope) -> bool:
        """Whether a class that inherits a method says what this attribute is."""
        wanted = {method.parent.name if method.parent is not None else ""}
        for _ in range(4):
            wanted |= {
                each.name
                for each in self._classes
                if wanted & {label_of(base).strip("{}") for base in each.bases}
            }
        return any(each.name in wanted and name in each.values for each in self._classes)

    def _write_out(self, node: ast.Call, read: _Read, trace: Trace) -> list[str] | None:
        """Return what a call makes of texts, `None` if it does not work on texts."""
        name, args = label_of(node.func).strip("{}"), node.args
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        holder = "" if inner is None else label_of(inner).strip("{}")
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

    @staticmethod
    def _fill(node: ast.Call | ast.BinOp, read: _Read) -> list[str]:
        """Return texts with their fields filled in, by `%` or by `format`."""
        named: dict[str, ast.expr] = {}
        if isinstance(node, ast.BinOp):
            pattern, whole = _PERCENT, read(node.left)
            values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        else:
            pattern, whole = _FIELD, read(getattr(node.func, "value", node.func))
            values = node.args
            named = {each.arg: each.value for each in node.keywords if each.arg}
        known = {str(at): read(each) for at, each in enumerate(values)}
        known |= {name: read(value) for name, value in named.items()}
        found: list[str] = []
        for text in whole:
            pieces, keys = pattern.split(text)[::2], pattern.findall(text)
            numbered = [key or str(at) for at, key in enumerate(keys)]
            found += [
                "".join(map("".join, zip_longest(pieces, filled, fillvalue="")))
                for filled in _combine([known.get(key, ["{" + key + "}"]) for key in numbered])
            ]
        return found


def is_self(name: str, scope: NameScope) -> bool:
    """Whether a name is that of the object, or the class, of the method around it."""
    method = scope.find_method()
    if scope.file.language != "python" or method is None:
        return name == "self"
    return method.params[:1] == [name] and name in _SELF


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


def _make(kind: NameScope | str) -> Meaning:
    return f"{kind}()" if isinstance(kind, str) else Instance(kind)
