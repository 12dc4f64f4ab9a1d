"""What a table of a document's rules is made of, and what it must satisfy.

A row quotes the document and names the tests that hold what it says. A test is named as pytest
names it, `operations/test_cards.py::TestCreate::test_name`, without its module where it stands in
that of the section; `[…]` behind it names a case by a text that stands in the module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Row:
    """One row or rule: what the document says, and what holds it.

    `because` says why nothing can hold it, where the document states what a sandbox has no part in.
    """

    says: str
    held_by: tuple[str, ...] = ()
    operation: str | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """A documented limit: the tests that try it just inside, and those just outside."""

    says: str
    inside: tuple[str, ...]
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one heading; `module` holds the tests that are named without one."""

    title: str
    module: str
    rows: tuple[Row, ...]

    def tests(self, row: Row) -> list[str]:
        """Full names of the tests of a row."""
        return [name if ".py::" in name else f"{self.module}::{name}" for name in row.held_by]


def row(says: str, *held_by: str, op: str | None = None) -> Row:
    """A row that these tests hold; `op` is the operation that it describes."""
    return Row(says, held_by, op)


def beyond(says: str, because: str) -> Row:
    """A row that no test can hold."""
    return Row(says, because=because)


@dataclass(frozen=True, slots=True)
class Module:
    """The tests of one module and the texts that stand in it."""

    tests: frozenset[str]
    texts: tuple[str, ...]


@cache
def module(path: str) -> Module | None:
    """What stands in a test module; nothing is imported."""
    file = TESTS / path
    if not file.is_file():
        return None
    tree = ast.parse(file.read_text())
    texts = tuple(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return Module(frozenset(_tests(tree.body, "")), texts)


def _tests(body: Sequence[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _tests(node.body, f"{prefix}{node.name}::")
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield f"{prefix}{node.name}"


def missing(name: str) -> str | None:
    """What is wrong with the full name of a test; None if there is such a test."""
    path, _, rest = name.partition("::")
    found = module(path)
    if found is None:
        return f"{name}: there is no module {path}"
    test, _, case = rest.partition("[")
    if test not in found.tests:
        return f"{name}: {path} has no test {test}"
    if case and not any(case.removesuffix("]") in text for text in found.texts):
        return f"{name}: no text in {path} holds {case.removesuffix(']')!r}"
    return None


def assert_tried_on_both_sides(limits: Sequence[Limit]) -> None:
    """Hold that each limit names tests just inside and just outside, and that they exist."""
    for limit in limits:
        assert limit.inside, limit.says
        assert limit.outside, limit.says
        assert [] == [m for name in (*limit.inside, *limit.outside) if (m := missing(name))]


def faults(sections: Sequence[Section]) -> list[str]:
    """Everything that is wrong with a table: names of tests, rows without any, rows twice."""
    found: list[str] = []
    for section in sections:
        seen: set[str] = set()
        for each in section.rows:
            where = f"{section.title}: {each.says!r}"
            if each.says in seen:
                found.append(f"{where} stands twice")
            seen.add(each.says)
            if bool(each.held_by) == bool(each.because):
                found.append(f"{where} needs tests, or a reason why there are none")
            found += [fault for name in section.tests(each) if (fault := missing(name))]
    return found


def endpoint(says: str) -> tuple[str, str] | None:
    """Method and path at the beginning of a row, the path without its base address."""
    matched = re.match(r"(GET|POST|PUT|DELETE) (?:\{[a-z_]+\})?(/[^\s;,]*)", says)
    return None if matched is None else (matched[1], matched[2].rstrip(".:"))
