"""The rules of both documents, and the tests that say which of them they check.

`document_a.yaml` and `document_b.yaml` hold every row and rule, heading by heading. A test names
those that it checks: `@pytest.mark.spec("B, Cards", "POST /12/accounts/:account_id/cards")`. The
first text is the document's letter and the heading; each other one is the beginning of a row, long
enough that only one row of the heading begins so. `spec("operations", "cards.create", "cards.get")`
names the rows of operations by their ids, under whatever heading they are.
`case="…"` names a parametrized case by a text of the test's module, or several of them,
`side="inside"` or `side="outside"` the side of a limit (without it, both).
Rows that several tests check are in `rows.py`, and are named by their name: `spec(PAGED)`.
A row of a table of refusals (`tests/refusals.py`) names them as `spec={"B, Cards": ["POST"]}`; it
is the outside of a limit.

Markers are read from the source, so that a run of a single module also sees all of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ruamel.yaml import YAML

from tests.spec import rows

TESTS = Path(__file__).parents[1]
LIMITS = "Limits"
"""The heading whose rows must be checked on both sides."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row or rule.

    `operation` is the id of the operation that it describes. `because` says why no test can check
    it, where the document states what a sandbox has no part in.
    """

    says: str
    operation: str | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one heading."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """One text of a marker `spec`: a test checks a row."""

    test: str
    heading: str
    begins: str
    case: str | tuple[str, ...] = ()
    side: Literal["inside", "outside"] | None = None


@cache
def sections(letter: Literal["A", "B"]) -> tuple[Section, ...]:
    """The headings of a document, with their rows."""
    file = Path(__file__).with_name(f"document_{letter.lower()}.yaml")
    found: dict[str, list[Any]] = YAML(typ="safe").load(file)
    return tuple(
        Section(title, tuple(Row(row) if isinstance(row, str) else Row(**row) for row in under))
        for title, under in found.items()
    )


def section(letter: Literal["A", "B"], title: str) -> Section:
    """The section of a document under a heading."""
    (found,) = (each for each in sections(letter) if each.title == title)
    return found


@cache
def marks() -> tuple[tuple[Mark, ...], tuple[str, ...]]:
    """All markers `spec` of the tests, and what is wrong with single ones of them."""
    found: list[Mark] = []
    faults: list[str] = []
    for file in sorted(TESTS.rglob("test_*.py")):
        text = file.read_text()
        if "mark.spec(" not in text and "spec=" not in text:
            continue
        tree = ast.parse(text)
        assigned = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        for mark in _marks(tree.body, f"{file.relative_to(TESTS)}::", assigned):
            found.append(mark)
            cases = (mark.case,) if isinstance(mark.case, str) else mark.case
            faults += [
                f"{mark.test}: no text of the module contains the case {case!r}"
                for case in cases
                if not any(isinstance(each, str) and case in each for each in texts)
            ]
    return tuple(found), tuple(faults)


def _marks(
    body: Sequence[ast.stmt], prefix: str, assigned: Mapping[str, ast.expr]
) -> Iterator[Mark]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _marks(node.body, f"{prefix}{node.name}::", assigned)
        elif isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.spec":
                    options = {k.arg or "": ast.literal_eval(k.value) for k in call.keywords}
                    for heading, texts in _rows(call.args).items():
                        for begins in texts:
                            yield Mark(f"{prefix}{node.name}", heading, begins, **options)
                elif isinstance(call, ast.Call) and ast.unparse(call.func) == "refusals":
                    yield from _marks_of_refusals(f"{prefix}{node.name}", call, assigned)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "make_refusal_test"
        ):
            test = f"{prefix}{ast.unparse(node.targets[0])}"
            yield from _marks_of_refusals(test, node.value, assigned)


def _marks_of_refusals(
    test: str, call: ast.Call, assigned: Mapping[str, ast.expr]
) -> Iterator[Mark]:
    for rows_of_one in _refused(call.args, assigned):
        for heading, texts in _rows([rows_of_one]).items():
            for begins in texts:
                yield Mark(test, heading, begins, side="outside")


def _refused(arguments: Sequence[ast.expr], assigned: Mapping[str, ast.expr]) -> Iterator[ast.expr]:
    """The `spec` of each refusal in a decorator, or in the lists of the module that it names."""
    for argument in arguments:
        for node in ast.walk(argument):
            if isinstance(node, ast.Name) and node.id in assigned:
                yield from _refused([assigned[node.id]], {})
            elif isinstance(node, ast.keyword) and node.arg == "spec":
                yield node.value


def _rows(arguments: Sequence[ast.expr]) -> rows.Rows:
    """Headings with rows, as the arguments of a marker say them."""
    first, *rest = [
        vars(rows)[each.id] if isinstance(each, ast.Name) else ast.literal_eval(each)
        for each in arguments
    ]
    found = dict(first) if isinstance(first, dict) else {first: rest}
    for heading, texts in _rows_of_operations(found.pop("operations", [])).items():
        found[heading] = [*found.get(heading, []), *texts]
    return found


def _rows_of_operations(ids: Sequence[str]) -> rows.Rows:
    """Headings with the rows of operations; an id without a row is left as an unknown heading."""
    places = {
        row.operation: (f"{letter}, {each.title}", row.says)
        for letter in ("A", "B")
        for each in sections(letter)
        for row in each.rows
    }
    found: rows.Rows = {}
    for operation in ids:
        heading, says = places.get(operation, (f"B, no operation {operation}", operation))
        found.setdefault(heading, []).append(says)
    return found


def faults(letter: Literal["A", "B"]) -> list[str]:
    """Everything that is wrong with a document's rows and with the markers that name them.

    A heading or a row that does not exist, a beginning that several rows share, a row without a
    test or a reason, a limit that is tried on one side only.
    """
    found, wrong = [mark for mark in marks()[0] if mark.heading.startswith(f"{letter}, ")], []
    checked: dict[tuple[str, str], list[Mark]] = {}
    titles = {f"{letter}, {each.title}": each for each in sections(letter)}
    for mark in found:
        if mark.heading not in titles:
            wrong.append(f"{mark.test}: the document has no heading {mark.heading!r}")
            continue
        says = [row.says for row in titles[mark.heading].rows if row.says.startswith(mark.begins)]
        if mark.begins in says:  # a whole row, although longer ones begin with it
            says = [mark.begins]
        if len(says) != 1:
            wrong.append(f"{mark.test}: {len(says)} rows of {mark.heading!r} begin {mark.begins!r}")
            continue
        checked.setdefault((titles[mark.heading].title, says[0]), []).append(mark)
    for each in sections(letter):
        for row in each.rows:
            where, tests = f"{each.title}: {row.says!r}", checked.get((each.title, row.says), [])
            if bool(tests) == bool(row.because):
                wrong.append(f"{where} needs either tests or a reason why there are none")
            if each.title == LIMITS and tests:
                missing = {"inside", "outside"} - {test.side for test in tests}
                if missing and not any(test.side is None for test in tests):
                    wrong.append(f"{where} is not tried {' and '.join(sorted(missing))}")
    return wrong


def endpoint(says: str) -> tuple[str, str] | None:
    """Method and path at the beginning of a row, the path without its base address."""
    matched = re.match(r"(GET|POST|PUT|DELETE) (?:\{[a-z_]+\})?(/[^\s;,]*)", says)
    return None if matched is None else (matched[1], matched[2].rstrip(".:"))
