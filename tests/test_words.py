"""Names and docstrings are plain: functions are verbs, docstrings say something.

A function that is named by a bare participle, adverb or adjective (`_told`, `_beside`, `_whole`)
does not say what it does.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import mock_platform
from mock_platform.client.interface import PlatformFace
from mock_platform.client.world_parts import (
    ClockFace,
    JournalFace,
    SnapshotsFace,
    StateFace,
    StreamsFace,
    TableFace,
    TransitionsFace,
)

ROOT = Path(mock_platform.__file__).parent
VERBS_AND_NOUNS = {
    # Verbs that end like a participle.
    "embed", "exceed", "feed", "flatten", "happen", "listen", "need", "open", "proceed", "seed",
    "shorten", "succeed",
    # Nouns that do: the rest of the name says what is done with them.
    "token",
}  # fmt: skip
IRREGULAR = {
    "begun", "bound", "built", "done", "drawn", "found", "gone", "held", "kept", "known", "laid",
    "left", "lost", "made", "meant", "met", "said", "seen", "sent", "shown", "told", "understood",
}  # fmt: skip
ADVERBS_AND_PREPOSITIONS = {
    "above", "again", "among", "around", "back", "behind", "below", "beside", "between", "beyond",
    "by", "in", "inside", "of", "out", "there", "under", "with", "within", "without",
}  # fmt: skip
ADJECTIVES = {
    "absent", "alive", "bare", "common", "due", "foreign", "missing", "only", "outstanding",
    "own", "plain", "same", "strange", "usual", "visible", "whole",
}  # fmt: skip
NO_VERBS = IRREGULAR | ADVERBS_AND_PREPOSITIONS | ADJECTIVES
OLD_WORDS = re.compile(r"\b(?:anew|befalls?|mends?|mended|mishaps?|such none)\b", re.IGNORECASE)
OLD_PHRASES = re.compile(
    r"\b(?:gives|hands? back|told|tells|stands|stood|is none|are none|nobody)\b|"
    + OLD_WORDS.pattern
)
"""What docstrings do not say: the word list of the project has a plain word for each."""

PRIVATE_WORDS = {"arm": "start", "armed": "active, or started", "befall": "happen to"}
"""Words that only this project would understand, as parts of names, each with the plain one."""

COMPLETES_INTERFACE = {
    f"client/{name}.py"
    for name in (
        "local", "local_platform", "remote/world", "remote/world_parts", "remote/journal",
        "remote/state",
    )
}  # fmt: skip
INTERFACE_NAMES = {
    name
    for face in (
        PlatformFace,
        ClockFace,
        JournalFace,
        SnapshotsFace,
        StateFace,
        StreamsFace,
        TableFace,
        TransitionsFace,
    )
    for name in dir(face)
}
_PUBLIC = "a public name of the client"
_FAULT = "the kind of fault that it makes, like `invalid` and `exclusive` beside it"
ALLOWED = {
    "client/interface.py: unfired_expectations": _PUBLIC,
    "client/local.py: frozen": _PUBLIC,
    "client/local.py: unfired_expectations": _PUBLIC,
    "client/remote/world.py: frozen": _PUBLIC,
    "client/remote/world.py: unfired_expectations": _PUBLIC,
    "client/interface.py: frozen": _PUBLIC,
    "world/clock.py: frozen": _PUBLIC,
    "client/world_parts.py: ended": _PUBLIC,
    "world/journal.py: ended": _PUBLIC,
    "core/assumptions.py: settled": "a basis of assumptions, like `public_fact` and `expectation`",
    "core/faults.py: expected": _FAULT,
    "core/faults.py: missing": _FAULT,
    "core/faults.py: unlisted": _FAULT,
    "core/operation.py: documented": "the same name as in `core/failures/codes.py`",
    "serving/in_process/connection.py: chunked": "the word of HTTP, as in the standard library",
    "client/world_parts.py: frozen": _PUBLIC,
    "scenario/engine.py: unfired_expectations": _PUBLIC,
}
"""Functions that break the rule, as FILE: NAME, with the reason."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | Function


DEFINED = re.compile(r"\bdef (\w+)")
OTHER_MOOD = {"Returns", "Yields", "Raises", "Gets", "Makes"}
MAKERS = {"public_fact", "settled", "expectation", "Assumption"}


@cache
def texts() -> list[tuple[str, str]]:
    """Path below the package and text of every module."""
    return [
        (path.relative_to(ROOT).as_posix(), path.read_text()) for path in sorted(ROOT.rglob("*.py"))
    ]


def find_texts(words: Iterable[str]) -> list[tuple[str, str]]:
    """Path and text of the modules in which one of these is; to parse the others takes long."""
    searched = re.compile("|".join(words), re.IGNORECASE)
    return [(path, text) for path, text in texts() if searched.search(text)]


def is_no_verb(word: str) -> bool:
    """Whether a word says what something is, or where, but not what is done."""
    if word in VERBS_AND_NOUNS:
        return False
    return word in NO_VERBS or re.search(r"\w(?:ed|en)$", word) is not None


def is_value(function: Function) -> bool:
    """Whether a method is read like an attribute, so that a noun with an adjective names it."""
    names = {ast.unparse(each).partition("(")[0] for each in function.decorator_list}
    return not names.isdisjoint({"property", "cached_property", "cache"})


def is_badly_named(function: Function) -> bool:
    """Whether a function begins with a word that is no verb; a value may, if a noun follows."""
    noun_follows = "_" in function.name.strip("_")
    return begins_badly(function.name) and not (noun_follows and is_value(function))


def begins_badly(name: str) -> bool:
    """Whether the name of a function begins with a word that is no verb."""
    return not name.startswith("__") and is_no_verb(name.strip("_").partition("_")[0])


def definitions(tree: ast.AST, *, public: bool = True) -> Iterator[tuple[Documented, bool]]:
    """Every module, class and function, and whether its name is public at every level."""
    if isinstance(tree, ast.Module):
        yield tree, True
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue  # nothing is defined there
        if isinstance(node, Function) and "overload" in map(ast.unparse, node.decorator_list):
            continue  # the function below it has the docstring of all of them
        if isinstance(node, ast.ClassDef | Function):
            seen = public and not node.name.startswith("_")
            yield node, seen
            inside = seen and isinstance(node, ast.ClassDef)
            yield from definitions(node, public=inside)
        else:
            yield from definitions(node, public=public)


def list_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a module defines, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | Function):
            yield node.lineno, node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def find_private_word(name: str) -> str | None:
    """The private word in a name, whether it is written with underscores or capitals."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return next((part for part in parts if part in PRIVATE_WORDS), None)


def may_say(source: str) -> bool:
    """Whether an old phrase is between quotes of docstrings, and so may be in one of them."""
    quoted = source.split('"""')[1::2]
    other_quotes = "'''" in source or '\'"""' in source
    return any(map(OLD_PHRASES.search, [source] if other_quotes else quoted))


def test_functions_are_named_by_verbs() -> None:
    """No function begins with a participle, an adverb, a preposition or a bare adjective."""
    bad = [
        f"{path}:{node.lineno}: {node.name}"
        for path, text in texts()
        if any(map(begins_badly, DEFINED.findall(text)))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, Function) and is_badly_named(node)
        if f"{path}: {node.name}" not in ALLOWED
    ]

    assert "" == "\n".join(bad)


def test_no_private_words_in_names() -> None:
    """No function, class, argument or value has a word that only this project would understand."""
    bad = [
        f"{path}:{line}: {name} (say {PRIVATE_WORDS[word]})"
        for path, text in find_texts(PRIVATE_WORDS)
        for line, name in list_names(ast.parse(text))
        if (word := find_private_word(name)) is not None
    ]

    assert "" == "\n".join(bad)


def test_docstrings_say_something() -> None:
    """What is public has a docstring, and no docstring has fewer than four words.

    Methods of the Python client that the interface declares have theirs there.
    """
    bad = []
    for path, text in texts():
        declared = set() if path not in COMPLETES_INTERFACE else INTERFACE_NAMES
        for node, public in definitions(ast.parse(text)):
            said = ast.get_docstring(node, clean=False)
            name = "the module" if isinstance(node, ast.Module) else node.name
            if said is None and public and name not in declared:
                bad.append(f"{path}: {name} has no docstring")
            elif said is not None and len(said.split()) < 4:
                bad.append(f"{path}: {name} says only {said!r}")

    assert "" == "\n".join(bad)


def test_docstrings_are_in_one_mood() -> None:
    """A function says `Return ...`, as all others of the package, and not `Returns ...`."""
    bad = [
        f"{path}: {node.name} says {said.splitlines()[0]!r}"
        for path, text in find_texts(rf'"""\s*{word}\b' for word in OTHER_MOOD)
        for node, _ in definitions(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        if (said := ast.get_docstring(node)) is not None
        if said.split(maxsplit=1)[0] in OTHER_MOOD
    ]

    assert "" == "\n".join(bad)


def test_assumption_constants_have_two_words() -> None:
    """A constant of an assumption can be read where it is used."""
    bad = [
        f"{path}:{node.lineno}: {ast.unparse(target)}"
        for path, text in find_texts(rf"\b{maker}\(" for maker in MAKERS)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if ast.unparse(node.value.func).split(".")[-1] in MAKERS
        for target in node.targets
        if "_" not in ast.unparse(target).strip("_")
    ]

    assert "" == "\n".join(bad)


def test_no_old_words() -> None:
    """Words that a dictionary calls old or rare are not used in code, comments and messages."""
    bad = [
        f"{path}:{number}: {line.strip()}"
        for path, text in find_texts([OLD_WORDS.pattern])
        for number, line in enumerate(text.splitlines(), 1)
        if OLD_WORDS.search(line)
    ]

    assert "" == "\n".join(bad)


def test_no_old_phrases_in_docstrings() -> None:
    """Docstrings of the package, its tests, benchmarks and examples are in the project's words."""
    top = ROOT.parent
    bad = [
        f"{path.relative_to(top)}:{node.body[0].lineno}: {text}"
        for folder in ("mock_platform", "tests", "benchmarks", "docs")
        for path in sorted((top / folder).rglob("*.py"))
        for source in [path.read_text()]
        if may_say(source)  # parsing takes long
        for node, _ in definitions(ast.parse(source))
        if (text := ast.get_docstring(node)) is not None and OLD_PHRASES.search(text)
    ]

    assert "" == "\n".join(bad)


def test_the_rule_finds_what_it_bans() -> None:
    """Participles, adverbs and adjectives are found with and without underscores, verbs pass."""
    source = """
def _told(): ...
def _beside(): ...
def asked_for(): ...
def find_held(): ...
class A:
    @property
    def timed_fields(self): ...
    @property
    def timed(self): ...
"""

    found = [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, Function) and is_badly_named(node)
    ]

    assert ["_told", "_beside", "asked_for", "timed"] == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def is_armed(): ...", "armed"),
        ("class ArmedRule: ...", "armed"),
        ("def f(armed): ...", "armed"),
        ("self.armed_rules = 1", "armed"),
        ("alarm = army = 1", None),
        ("armed", None),  # it is used, and was named elsewhere
    ],
)
def test_private_words_are_found(source: str, found: str | None) -> None:
    """A word counts as a part of a name, wherever the name is given."""
    words = {find_private_word(name) for _, name in list_names(ast.parse(source))} - {None}

    assert words == ({found} if found else set())


def test_no_class_has_the_name_of_another() -> None:
    """A public class can be found, and spoken of, by its name alone."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in ROOT.rglob("*.py"):
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(), re.MULTILINE):
            places[name].append(str(path.relative_to(ROOT)))

    assert {} == {name: found for name, found in places.items() if len(found) > 1}
    assert 300 < len(places)
