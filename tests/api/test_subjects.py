"""The list of subjects: one folder each, and all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from mock_platform.api.served import OPERATIONS, SUBJECTS, TABLES
from mock_platform.api.v2.release_history import EVENT_NAMES
from mock_platform.core.installed import folder

API = Path(__file__).parents[2] / "mock_platform" / "api"
NO_SUBJECTS = {"ads", "datasets", "v2"}
"""The folders of the two interfaces, and that of the larger worlds."""


def test_every_folder_is_a_subject_of_the_list() -> None:
    """A folder that was not added to `SUBJECTS` would not be served."""
    folders = {
        ".".join(path.parent.relative_to(API).parts)
        for pattern in ("*/__init__.py", "ads/*/__init__.py", "v2/*/__init__.py")
        for path in API.glob(pattern)
    }

    assert folders - NO_SUBJECTS == set(SUBJECTS)


def test_every_subject_shows_what_its_modules_declare() -> None:
    """What a module declares and its folder does not export would not be served."""
    names = ("OPERATIONS", "TABLES", "KINDS", "NOT_SERVED")
    for subject in SUBJECTS:
        package = import_module(f"mock_platform.api.{subject}")
        place = API / subject.replace(".", "/")
        modules = [
            import_module(f"mock_platform.api.{subject}.{path.stem}")
            for path in place.glob("*.py")
            if path.stem != "__init__"
        ]
        for name in names:
            declared = [id(value) for module in modules for value in vars(module).get(name, ())]
            exported = [id(value) for value in vars(package).get(name, ())]
            assert sorted(declared) == sorted(exported), f"{subject}: {name}"


def _list_texts(source: str) -> Iterator[str]:
    """Yields the literals of a module, without its docstrings."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_only_its_subject_names_an_operation() -> None:
    """A list of operations elsewhere would have to be changed for each new one."""
    # The event of a new post has the same name as the operation of the advertising interface.
    foreign = {each.id for each in OPERATIONS} - {event.name for event in EVENT_NAMES}
    own: dict[Path, set[str]] = {}
    for subject in SUBJECTS:
        package = import_module(f"mock_platform.api.{subject}")
        own[API / subject.replace(".", "/")] = {
            each.id for each in getattr(package, "OPERATIONS", ())
        }
    found = []
    for file in sorted(API.parent.rglob("*.py")):
        source = file.read_text("utf-8")
        its_own = {each for place in file.parents for each in own.get(place, ())}
        if others := foreign.intersection(re.findall(r"[\w.]+", source)) - its_own:
            found += [(file.name, text) for text in _list_texts(source) if text in others]

    assert found == []


def test_older_paths_follow_from_the_names() -> None:
    """Each operation of v2 is served at its path in the original words too, and no other is."""
    also = {each.path: each.also for each in OPERATIONS if each.dialect == "v2"}

    assert ("/2/users/:id/liked_tweets",) == also["/2/users/:id/liked_posts"]
    assert ("/2/tweets/:id/retweeted_by",) == also["/2/posts/:id/reposted_by"]
    assert () == also["/2/users/:id/followers"]


def test_tables_have_names_of_their_own_and_fixtures_are_theirs() -> None:
    """Two tables of one name would replace each other."""
    names = [table.name for table in TABLES]

    assert len(set(names)) == len(names)
    assert {path.stem for path in folder("fixtures").iterdir()} <= set(names)
