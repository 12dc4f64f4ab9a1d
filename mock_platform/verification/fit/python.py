"""Reads a Python file: its scopes, calls, attributes and texts."""

from __future__ import annotations

import ast

from mock_platform.verification.fit.source import (
    UNBOUND,
    CallExpression,
    Condition,
    Expression,
    NameScope,
    SourceFile,
    UnreadableSource,
)

_STARRED = ("*1", "*2", "*3")
"""Names for the first parameters in `*args`."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def read_python(path: str, text: str) -> SourceFile:
    """Return what a Python file has.

    Raises:
        UnreadableSource: It is not valid Python.
    """
    source = SourceFile(path, "python")
    try:
        tree = ast.parse(text)
        _Reader(source.module).visit(tree)
    except SyntaxError as fault:
        raise UnreadableSource(fault.lineno or 1, f"not Python 3: {fault.msg}") from fault
    except (ValueError, RecursionError, MemoryError) as fault:
        raise UnreadableSource(1, f"cannot be read: {fault or 'too deeply nested'}") from fault
    return source


class _Reader(ast.NodeVisitor):
    """Walks through a tree with the scope of each node."""

    def __init__(self, scope: NameScope) -> None:
        self.scope = scope
        self._in_text = False
        self._branches = 0
        """How many branches and loops of a function are around."""
        self._starred: dict[int, str] = {}
        self._conditions: tuple[Condition, ...] = ()

    def _visit_in(self, scope: NameScope, nodes: list[ast.AST]) -> None:
        outer, self.scope = self.scope, scope
        for node in nodes:
            self.visit(node)
        self.scope = outer

    def _define(self, node: _Function, name: str) -> None:
        scope = self.scope.add("function", name)
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        for each in (*positional, *arguments.kwonlyargs):
            scope.params.append(each.arg)
            if each.annotation is not None:
                scope.annotations[each.arg] = each.annotation
        if arguments.vararg is not None:
            scope.params += _STARRED
            self._starred[id(scope)] = arguments.vararg.arg
        if arguments.defaults:
            named = positional[-len(arguments.defaults) :]
            scope.defaults |= {
                each.arg: value for each, value in zip(named, arguments.defaults, strict=True)
            }
        for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if value is not None:
                scope.defaults[each.arg] = value
        if isinstance(node, ast.Lambda):
            scope.returns.append(scope.express(node.body))
            self._visit_in(scope, [node.body])
            return
        if any(getattr(each, "id", "") == "property" for each in node.decorator_list):
            self.scope.values.setdefault(name, [])
        self._visit_in(self.scope, [*node.decorator_list, arguments])
        branches, self._branches = self._branches, 0
        self._visit_in(scope, [*_skip_docstring(node.body)])
        self._branches = branches

    def visit_FunctionDef(self, node: _Function) -> None:
        """Open the scope of a function, which may have no name."""
        self._define(node, getattr(node, "name", ""))

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef  # noqa: N815 - a name of `ast`

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Open the scope of a class."""
        scope = self.scope.add("class", node.name)
        scope.bases += node.bases
        self._visit_in(self.scope, [*node.bases, *node.keywords, *node.decorator_list])
        self._visit_in(scope, [*_skip_docstring(node.body)])

    def visit_Module(self, node: ast.Module) -> None:
        """Read the statements of a file, without its docstring."""
        self._visit_in(self.scope, [*_skip_docstring(node.body)])

    def visit_Import(self, node: ast.Import) -> None:
        """Note what names of modules mean."""
        for each in node.names:
            name = each.asname or each.name.partition(".")[0]
            self.scope.imports[name] = each.name if each.asname else name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Note what imported names mean."""
        for each in node.names:
            whole = f"{'.' * node.level}{node.module or ''}"
            dot = "" if whole.endswith(".") or not whole else "."
            self.scope.imports[each.asname or each.name] = f"{whole}{dot}{each.name}"

    def visit_Return(self, node: ast.Return) -> None:
        """Note what a function returns."""
        if node.value is not None:
            self.scope.returns.append(self.scope.express(node.value))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Note the values of names and attributes."""
        for target in node.targets:
            self._assign(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Note the value of a name with a type."""
        if node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node.target, ast.Name):
            self.scope.annotations[node.target.id] = node.annotation
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Note what a name has after something was added."""
        if isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add):
            before = self.scope.values.get(node.target.id, [])
            for last in list(before[-1:]):
                added = ast.copy_location(ast.BinOp(last.node, ast.Add(), node.value), node)
                before[-1] = last.move_to(added)
                if id(last.node) in self.scope.certain and not self._branches:
                    self.scope.certain.add(id(added))
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """Note the value of a name."""
        self._assign(node.target, node.value)
        self.generic_visit(node)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        """Note the values of names in `with … as name`."""
        for item in node.items:
            if item.optional_vars is not None:
                self._assign(item.optional_vars, item.context_expr)
        self.generic_visit(node)

    visit_AsyncWith = visit_With  # noqa: N815 - a name of `ast`

    def visit_For(self, node: ast.For) -> None:
        """Note the values of a name that goes through a list that is written down."""
        if isinstance(node.iter, ast.List | ast.Tuple):
            for each in node.iter.elts:
                self._assign(node.target, each)
        self.visit_While(node)

    def visit_While(self, node: ast.AST) -> None:
        """Nothing in a loop or a handler is certain."""
        self._branches += 1
        self.generic_visit(node)
        self._branches -= 1

    visit_ExceptHandler = visit_While  # noqa: N815 - a name of `ast`

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.scope.assign(target.id, value)
            if not self._branches:
                self.scope.certain.add(id(value))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, each in zip(target.elts, value.elts, strict=False):
                self._assign(name, each)
        elif isinstance(target, ast.Tuple):
            for at, name in enumerate(target.elts):
                self._assign(name, ast.copy_location(ast.Subscript(value, ast.Constant(at)), value))
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            holder = self.scope.find("class")
            if holder is not None and target.value.id in {"self", "cls"}:
                holder.assign(target.attr, value, self.scope)

    def visit_Call(self, node: ast.Call) -> None:
        """Note a call; `*args` that are passed on become parameters."""
        # A wrapper such as `def get(self, *args): return self._send("GET", *args)` is read as if it
        # had some parameters that it passes on one by one, so that calls of it lead to their paths.
        function = self.scope.find("function")
        starred = self._starred.get(id(function)) if function is not None else None
        for at, each in enumerate(node.args):
            is_starred = isinstance(each, ast.Starred) and isinstance(each.value, ast.Name)
            if is_starred and starred == getattr(each.value, "id", ""):  # type: ignore[attr-defined]
                passed = [ast.copy_location(ast.Name(name), each) for name in _STARRED]
                node.args[at:] = passed
                break
        if self._conditions:
            self.scope.file.conditions[id(node)] = self._conditions
        self.scope.file.calls.append(CallExpression(node, self.scope, UNBOUND))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """Read each branch with what was known before it, and what its test makes true."""
        # Both branches start from the values before the `if`. Behind it a name may have the values
        # of either branch, except those of a branch that ends with `raise`, which nobody leaves.
        self.visit(node.test)
        before, values = self._conditions, self.scope.values
        self._branches += 1
        left: list[dict[str, list[Expression]]] = []
        for branch, is_true in ((node.body, True), (node.orelse, False)):
            self.scope.values = {name: [*known] for name, known in values.items()}
            self._conditions = (*before, *_read_test(node.test, is_true=is_true))
            self._visit_in(self.scope, [*branch])
            if not (branch and isinstance(branch[-1], ast.Raise)):
                left.append(self.scope.values)
        self._branches -= 1
        self._conditions = before
        self.scope.values = values
        for name in dict.fromkeys(name for each in left for name in each):
            values[name] = list(dict.fromkeys(v for each in left for v in each.get(name, ())))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Note an attribute that is read: it may be a method that is called later."""
        if isinstance(node.ctx, ast.Load):
            self.scope.file.attributes.append((node, self.scope))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Note a text that is written down as it is."""
        if isinstance(node.value, str) and not self._in_text:
            self.scope.file.texts.append(self.scope.express(node))

    def visit_JoinedStr(self, node: ast.expr) -> None:
        """Note a text that is put together."""
        if not self._in_text:
            self.scope.file.texts.append(self.scope.express(node))
        outer, self._in_text = self._in_text, True
        self.generic_visit(node)
        self._in_text = outer

    visit_BinOp = visit_JoinedStr  # noqa: N815 - a name of `ast`

    def visit_Expr(self, node: ast.Expr) -> None:
        """A text alone is a comment."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)


def _read_test(test: ast.expr, *, is_true: bool) -> list[Condition]:
    """Return what `if name == "text"` makes true, or not true, in a branch."""
    if isinstance(test, ast.Compare) and [type(each) for each in test.ops] == [ast.Eq]:
        known = test.comparators[0]
        if isinstance(known, ast.Constant) and isinstance(known.value, str):
            return [(test.left, known.value, is_true)]
    return []


def _skip_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_text else body
