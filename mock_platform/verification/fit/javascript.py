"""Reads a file in JavaScript or TypeScript into the same nodes as a Python file.

tree-sitter parses it, of the extra `fit`. Types are passed over, and so is what is no valid syntax:
the rest of the file is read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

from mock_platform.core.installed import require_extra
from mock_platform.verification.fit.source import (
    UNBOUND,
    CallExpression,
    NameScope,
    SourceFile,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 300
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_PASSED_OVER = frozenset(
    ["comment", "type_annotation", "type_arguments", "type_parameters", "interface_declaration",
     "type_alias_declaration", "ambient_declaration", "function_signature", "method_signature",
     "abstract_method_signature"]
)  # fmt: skip
_FUNCTIONS = frozenset(
    ["function_declaration", "generator_function_declaration", "function_expression",
     "generator_function", "arrow_function", "method_definition"]
)  # fmt: skip
_CLASSES = frozenset(["class_declaration", "abstract_class_declaration", "class"])
_BLOCKS = frozenset(["statement_block", "switch_body", "object"])
_ASSIGNING = ("", "+=", "??=", "||=")
_BOUND = ("identifier", "shorthand_property_identifier_pattern", "object_pattern")


def read_javascript(path: str, text: str) -> SourceFile:
    """Return what a file in JavaScript or TypeScript has.

    Raises:
        MissingExtra: tree-sitter is not installed.
    """
    require_extra("Reading JavaScript and TypeScript", "fit", "tree_sitter_typescript")
    import tree_sitter_typescript as grammars
    from tree_sitter import Language, Parser

    # In JSX, `<Type>value` is an element; in TypeScript, JSX is not allowed.
    grammar = grammars.language_typescript if path.endswith("ts") else grammars.language_tsx
    source = SourceFile(path, "javascript")
    tree = Parser(Language(grammar())).parse(text.encode("utf-8", "replace"))
    _Reader(source).read(tree.root_node)
    return source


class _Reader:
    """Goes through a tree without recursion: first all expressions are made, then noted."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._made: dict[int, ast.expr] = {}
        """The nodes of Python, by the ids of those of the tree."""
        self._names: dict[int, str] = {}
        """The names to which functions and classes without one are assigned."""

    def read(self, root: Node) -> None:
        """Note everything that the tree has."""
        nodes = list(self._flatten(root))
        for node, kind, _ in reversed(nodes):  # what is inside comes after what is around it
            if kind in self._MAKERS:
                self._made[node.id] = _at(self._MAKERS[kind](self, node), node)
        scopes: list[NameScope] = []
        for node, kind, around in nodes:
            outer = scopes[around] if scopes else self._source.module
            if kind in _FUNCTIONS or kind in _CLASSES:
                scope = self._open(node, kind, outer)
            elif kind in _BLOCKS and nodes[around][1] not in _FUNCTIONS:
                scope = outer.add("block", "")
            else:
                scope = outer
                if kind in self._NOTES:
                    self._NOTES[kind](self, node, scope)
            scopes.append(scope)

    def _flatten(self, root: Node) -> Iterator[tuple[Node, str, int]]:
        """Yield each node with its kind and the place of the one around it."""
        stack, place = [(root, 0, 0)], 0
        while stack:
            node, around, depth = stack.pop()
            kind = node.type
            if kind == "ERROR":
                self._source.unclear = self._source.unclear or node.start_point[0] + 1
            elif kind not in _PASSED_OVER:
                yield node, kind, around
                if depth < _DEEPEST:
                    stack += [(each, place, depth + 1) for each in reversed(node.named_children)]
                place += 1

    # -- expressions -------------------------------------------------------------------------------

    def _get(self, node: Node | None) -> ast.expr:
        return (node and self._made.get(node.id)) or ast.Name("…", lineno=_line(node))

    def _get_part(self, node: Node, name: str) -> ast.expr:
        return self._get(node.child_by_field_name(name))

    def _make_name(self, node: Node) -> ast.expr:
        text = _text(node)
        return ast.Name("self" if text in {"this", "super"} else text)

    def _make_number(self, node: Node) -> ast.expr:
        text = _text(node)
        return ast.Constant(int(text)) if text.isdecimal() else ast.Name(text)

    def _make_text(self, node: Node) -> ast.expr:
        return ast.Constant(_unescape(_text(node)[1:-1]))

    def _make_template(self, node: Node) -> ast.expr:
        parts: list[ast.expr] = []
        for each in node.named_children:
            is_open = each.type == "template_substitution"
            value = self._get(each) if is_open else ast.Constant(_unescape(_text(each)))
            parts.append(ast.FormattedValue(value, -1) if is_open else value)
        return ast.JoinedStr(parts)

    def _make_first(self, node: Node) -> ast.expr:
        return self._get(next(iter(_list_parts(node)), None))

    def _make_last(self, node: Node) -> ast.expr:
        return self._get(_list_parts(node)[-1])

    def _make_choice(self, node: Node) -> ast.expr:
        fields = ("condition", "consequence", "alternative")
        return ast.IfExp(*(self._get_part(node, name) for name in fields))

    def _make_binary(self, node: Node) -> ast.expr:
        sign, left, right = _text(node, "operator"), *map(self._get, _list_parts(node)[-2:])
        if sign == "+":
            return ast.BinOp(left, ast.Add(), right)
        if sign in {"||", "??"}:
            return ast.BoolOp(ast.Or(), [left, right])
        return right if sign == "&&" else ast.Compare(left, [ast.Eq()], [right])

    def _make_member(self, node: Node) -> ast.expr:
        member = node.child_by_field_name("property")
        return _at(ast.Attribute(self._get_part(node, "object"), _text(member)), member)

    def _make_entry(self, node: Node) -> ast.expr:
        return ast.Subscript(self._get_part(node, "object"), self._get_part(node, "index"))

    def _make_call(self, node: Node) -> ast.expr:
        called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        given = node.child_by_field_name("arguments")
        if given is None or given.type != "arguments":  # `new Name`, or a template with a tag
            return self._get(called)
        values = [self._get(each) for each in _list_parts(given)]
        return ast.Call(self._get(called), values, [], lineno=self._get(called).lineno)

    def _make_list(self, node: Node) -> ast.expr:
        return ast.List([self._get(each) for each in _list_parts(node)])

    def _make_object(self, node: Node) -> ast.expr:
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for each in _list_parts(node):
            key = each.child_by_field_name("key")
            if each.type == "pair" and key is not None and key.type != "computed_property_name":
                is_text = key.type == "string"
                keys.append(self._get(key) if is_text else _at(ast.Constant(_text(key)), key))
                values.append(self._get_part(each, "value"))
            elif each.type == "shorthand_property_identifier":
                keys.append(_at(ast.Constant(_text(each)), each))
                values.append(self._get(each))
            elif each.type == "spread_element":
                keys.append(None)
                values.append(self._get(each))
        return ast.Dict(keys, values)

    def _make_function(self, node: Node) -> ast.expr:
        body = node.child_by_field_name("body")
        if body is None or body.type == "statement_block":
            return ast.Name("…")
        return ast.Lambda(ast.arguments([], [], None, [], [], None, []), self._get(body))

    # -- scopes ------------------------------------------------------------------------------------

    def _open(self, node: Node, kind: str, outer: NameScope) -> NameScope:
        """Open the scope of a function or a class."""
        name = _text(node, "name") or self._names.get(node.id, "")
        if kind in _CLASSES:
            scope = outer.add("class", name)
            heritages = [each for each in node.named_children if each.type == "class_heritage"]
            for clause in (each for heritage in heritages for each in heritage.named_children):
                if clause.type == "extends_clause":
                    scope.bases.append(self._get_part(clause, "value"))
            return scope
        scope = outer.add("function", name)
        single, listed = map(node.child_by_field_name, ("parameter", "parameters"))
        if single is not None:
            scope.params.append(_text(single))
        for each in _list_parts(listed) if listed is not None else ():
            self._add_parameter(each, scope)
        body = node.child_by_field_name("body")
        if body is not None and body.type != "statement_block":
            scope.returns.append(scope.express(self._get(body)))
        return scope

    def _add_parameter(self, node: Node, scope: NameScope) -> None:
        pattern, default = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        is_name = pattern is not None and pattern.type == "identifier"
        name = _text(pattern) if is_name else ""
        scope.params.append(name)
        if name:
            _note_type(node, name, scope)
            if default is not None:
                scope.defaults[name] = self._get(default)
            holder = scope.find("class")
            is_field = any(each.type in {"accessibility_modifier", "readonly"}
                           for each in node.children)  # fmt: skip
            if is_field and holder is not None:
                holder.assign(name, _at(ast.Name(name), node), scope)
        for part in _list_parts(pattern) if pattern is not None else ():  # `{a, b = 1}`
            if part.type == "object_assignment_pattern":
                scope.assign(_text(part, "left"), self._get_part(part, "right"))

    # -- what is noted -----------------------------------------------------------------------------

    def _note_text(self, node: Node, scope: NameScope) -> None:
        self._source.texts.append(scope.express(self._get(node)))

    def _note_call(self, node: Node, scope: NameScope) -> None:
        call = self._get(node)
        if isinstance(call, ast.Call):
            self._source.calls.append(CallExpression(call, scope, UNBOUND))

    def _note_member(self, node: Node, scope: NameScope) -> None:
        member = self._get(node)
        if isinstance(member, ast.Attribute):
            self._source.attributes.append((member, scope))

    def _note_return(self, node: Node, scope: NameScope) -> None:
        function, value = scope.find("function"), _list_parts(node)
        if function is not None and value:
            function.returns.append(scope.express(self._get(value[0])))

    def _note_export(self, node: Node, scope: NameScope) -> None:
        value = node.child_by_field_name("value")
        if value is not None and value.type not in _FUNCTIONS | _CLASSES:
            scope.assign("default", self._get(value))

    def _note_import(self, node: Node, scope: NameScope) -> None:
        """Note `import a, {b as c} from "d"`, also `import * as a`."""
        module, imports = _text(node, "source")[1:-1], self._source.module.imports
        clauses = [each for each in node.named_children if each.type == "import_clause"]
        for part in (each for clause in clauses for each in _list_parts(clause)):
            if part.type == "identifier":
                imports[_text(part)] = f"{module}|default"
            elif part.type == "namespace_import":
                imports[_text(part.named_children[-1])] = f"{module}|"
            for each in _list_parts(part) if part.type == "named_imports" else ():
                name = _text(each, "name")
                imports[_text(each, "alias") or name] = f"{module}|{name}"

    def _note_pair(self, node: Node, scope: NameScope) -> None:
        value = node.child_by_field_name("value")
        if value is not None:
            self._names[value.id] = _text(node, "key")

    def _note_declared(self, node: Node, scope: NameScope) -> None:
        """Note the value of a variable or a field where it is declared."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type == "array_pattern":
            return
        if name.type != "object_pattern":
            _note_type(node, _text(name), scope)
        if value is not None:
            self._names[value.id] = _text(name)
            self._assign_pattern(name, self._get(value), scope)

    def _assign_pattern(self, name: Node, value: ast.expr, scope: NameScope) -> None:
        """Assign to a name, or to the names in `{a, b: c, d = 1}`."""
        if name.type != "object_pattern":
            scope.assign(_text(name), value)
            return
        for part in _list_parts(name):
            bound = part.child_by_field_name("left") or part.child_by_field_name("value") or part
            bound = bound.child_by_field_name("left") or bound
            member = _text(part, "key") or _text(bound)
            if part.type != "rest_pattern" and bound.type in _BOUND:
                entry = ast.Attribute(value, member, lineno=value.lineno)
                self._assign_pattern(bound, entry, scope)

    def _note_assignment(self, node: Node, scope: NameScope) -> None:
        """Note the value of a name, of a field of `this`, or of what a module exports."""
        left, right = map(node.child_by_field_name, ("left", "right"))
        if left is None or right is None or _text(node, "operator") not in _ASSIGNING:
            return
        value, name = self._get(right), _text(left, "property") or _text(left)
        self._names[right.id] = name
        of = _text(left, "object")
        if left.type == "identifier":
            holder = next((each for each in scope.list_around() if name in each.values), scope)
            if _text(node, "operator") == "+=" and name in holder.values:
                before = holder.values[name][-1]
                whole = _at(ast.BinOp(before.node, ast.Add(), value), node)
                holder.values[name][-1] = before.move_to(whole)
            else:
                holder.assign(name, value, scope)
        elif of == "this" and (owner := scope.find("class")) is not None:
            owner.assign(name, value, scope)
        elif of == "module" and name == "exports":
            self._source.module.assign("default", value, scope)
        elif of in {"exports", "module.exports"}:
            self._source.module.assign(name, value, scope)

    _MAKERS: ClassVar[Mapping[str, Callable[[_Reader, Node], ast.expr]]] = {
        **dict.fromkeys(
            ["identifier", "this", "super", "import", "undefined", "null", "true", "false",
             "shorthand_property_identifier"],
            _make_name,
        ),
        **dict.fromkeys(
            ["await_expression", "parenthesized_expression", "as_expression",
             "satisfies_expression", "non_null_expression", "unary_expression",
             "update_expression", "spread_element", "yield_expression", "template_substitution",
             "instantiation_expression"],
            _make_first,
        ),
        **dict.fromkeys(
            ["sequence_expression", "type_assertion", "assignment_expression",
             "augmented_assignment_expression"],
            _make_last,
        ),
        "number": _make_number,
        "string": _make_text,
        "template_string": _make_template,
        "ternary_expression": _make_choice,
        "binary_expression": _make_binary,
        "member_expression": _make_member,
        "subscript_expression": _make_entry,
        "call_expression": _make_call,
        "new_expression": _make_call,
        "array": _make_list,
        "object": _make_object,
        "arrow_function": _make_function,
    }  # fmt: skip
    _NOTES: ClassVar[Mapping[str, Callable[[_Reader, Node, NameScope], None]]] = {
        "string": _note_text,
        "template_string": _note_text,
        "call_expression": _note_call,
        "new_expression": _note_call,
        "member_expression": _note_member,
        "return_statement": _note_return,
        "export_statement": _note_export,
        "import_statement": _note_import,
        "pair": _note_pair,
        "variable_declarator": _note_declared,
        "public_field_definition": _note_declared,
        "assignment_expression": _note_assignment,
        "augmented_assignment_expression": _note_assignment,
    }


def _list_parts(node: Node) -> list[Node]:
    """Return what is inside of a node, without comments and types."""
    return [each for each in node.named_children if each.type not in _PASSED_OVER]


def _text(node: Node | None, field: str = "") -> str:
    """Return the text of a node, or of a part of it; empty if it has no such part."""
    found = node.child_by_field_name(field) if node is not None and field else node
    return found.text.decode() if found is not None and found.text is not None else ""


def _line(node: Node | None) -> int:
    return 1 if node is None else node.start_point[0] + 1


def _note_type(node: Node, name: str, scope: NameScope) -> None:
    """Note the type of a name that is declared here, by its first word."""
    kind = node.child_by_field_name("type")
    if kind is not None:
        word = re.search(r"\w+", _text(kind))
        scope.annotations[name] = ast.Name(word[0] if word else "")


def _unescape(text: str) -> str:
    def read(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        if code:
            return chr(int(code, 16)) if int(code, 16) < 0x110000 else "\ufffd"
        return {"n": "\n", "t": "\t", "r": "\r", "\n": ""}.get(found[4], found[4])

    return _ESCAPE.sub(read, text) if "\\" in text else text


_Made = TypeVar("_Made", bound=ast.expr)


def _at(made: _Made, node: Node | None) -> _Made:
    """Give a node of Python its place, unless it has one."""
    if not hasattr(made, "lineno"):
        made.lineno = _line(node)
    return made
