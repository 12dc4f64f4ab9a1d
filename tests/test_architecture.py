"""`docs/architecture.md` is true: what it claims is tested, here or by tests that quote it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.generators.rooms import (
    BESIDE,
    ROOT,
    find_direct_imports,
    read_rooms,
    read_subjects,
)
from mock_platform.api.served import SUBJECTS
from tests.commands import python
from tests.lanes import LANES

TESTS = Path(__file__).parent
PAGE = ROOT / "docs" / "architecture.md"
HAND_WRITTEN = (
    PAGE,
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / name for name in ("console.md", "glossary.md", "streams.md")),
    *sorted((ROOT / "docs" / "contributing").glob("*.md")),
)
"""The pages that name files of the package."""
DOORS = {"clock.py": "time", "ids.py": "secrets"}
"""The modules of `world` that may read the time and draw random values, and what they import."""


def read_claims() -> Iterator[tuple[str, str]]:
    """Yields each marker `claim` of a test: what it quotes, and where it is."""
    for file in sorted(TESTS.rglob("test_*.py")):
        text = file.read_text("utf-8")
        if "pytest.mark.claim(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.claim":
                (quoted,) = node.args
                yield ast.literal_eval(quoted), f"{file.relative_to(TESTS)}:{node.lineno}"


def test_every_claim_that_a_test_quotes_is_on_the_page() -> None:
    """A sentence that is rewritten is rewritten where a test quotes it."""
    page = " ".join(PAGE.read_text("utf-8").split())

    assert [(text, place) for text, place in read_claims() if text not in page] == []


def test_at_least_ten_claims_are_tested() -> None:
    """More of the page is checked than its words."""
    assert len({text for text, _ in read_claims()}) >= 10


@pytest.mark.claim("a module imports only from rooms below its own")
def test_imports_go_downwards_only() -> None:
    """All contracts of `pyproject.toml` are kept; every module has its place in the layers."""
    # In a process of its own: the linter disables every logger that exists before it.
    check = "import sys; from importlinter.cli import lint_imports as l; sys.exit(l(no_cache=True))"

    ended = python("-c", check, cwd=ROOT)

    assert ended.returncode == 0, ended.stdout


def test_the_picture_has_every_room_and_leaves_out_what_follows() -> None:
    """Boxes are the folders and modules at the top; an arrow that two others imply is not drawn."""
    rooms = {room.name: room for room in read_rooms()}
    drawn = tuple(room for room in rooms.values() if room.name not in BESIDE)
    arrows = set(find_direct_imports(drawn))

    package = ROOT / "mock_platform"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    assert modules | {path.parent.name for path in package.glob("*/__init__.py")} == set(rooms)
    assert set(rooms) >= set(BESIDE)
    assert len(drawn) == 12
    assert all(target in rooms[source].imports for source, target in arrows)
    assert {source for source, _ in arrows} | {target for _, target in arrows} == {
        room.name for room in drawn
    }
    assert ("api", "core") in arrows
    assert "world" in rooms["api"].imports
    assert ("api", "world") not in arrows
    assert all(room.purpose for room in rooms.values())


def test_every_subject_that_is_served_is_listed() -> None:
    """The list of subjects has all of `api/served.py`, with a sentence about each."""
    listed = dict(read_subjects())

    assert {f"api/{name.replace('.', '/')}/" for name in SUBJECTS} <= set(listed)
    assert all(listed.values())


def test_the_walk_is_the_one_of_a_real_request() -> None:
    """A signed PUT of a line item enters the modules of the page, in their order."""
    page = PAGE.read_text("utf-8")
    listed = re.findall(r"^\| \d+ \| `([\w/]+\.py)` \|", page, re.MULTILINE)

    done = python("-m", "tests.walk", cwd=ROOT)

    assert done.returncode == 0, done.stderr
    walked = json.loads(done.stdout)
    assert listed == walked["modules"]
    rooms = {module.partition("/")[0] for module in listed}
    assert (len(listed), len(rooms), len(walked["upwards"])) == (48, 8, 5)
    (counted,) = re.findall(r"That is (\d+) modules of (\w+) rooms", page)
    assert counted == ("48", "eight")
    assert "Five times a module calls\none that lies above it" in page


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: page.name)
def test_every_path_on_a_page_exists(page: Path) -> None:
    """A file or folder that a page names is in the package or the repository.

    What a reader makes by following the page is not, and a name without a folder may be anywhere.
    """
    text = page.read_text("utf-8")
    made = set(re.findall(r"^`([\w./-]+)`:$", text, re.MULTILINE))
    made |= {f"{Path(name).parent.as_posix()}/" for name in made}
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*(?:\.py|/))`", text)

    lost = [path for path in named if not made & {path, f"mock_platform/{path}"}]
    assert [path for path in lost if not _exists(path)] == []


def test_the_tests_that_a_run_begins_with_exist() -> None:
    """A lane that names a file which moved would have no effect."""
    assert [name for lane in LANES for name in lane if not (TESTS / name).exists()] == []


def _exists(path: str) -> bool:
    """Whether a path is there: from the root, in the package, or anywhere if it has no folder."""
    if "/" not in path:
        return (ROOT / path).exists() or path in _list_names()
    return (ROOT / path).exists() or (ROOT / "mock_platform" / path).exists()


@cache
def _list_names() -> frozenset[str]:
    """Returns the names of all files and folders of the package."""
    return frozenset(path.name for path in (ROOT / "mock_platform").rglob("*"))


@pytest.mark.claim("Below the edge, no module uses the web framework.")
def test_the_platform_works_without_a_web_framework() -> None:
    """A platform answers a call while neither Flask nor werkzeug can be imported."""
    code = (
        "import sys\n"
        "sys.modules |= {'flask': None, 'werkzeug': None}\n"
        "from mock_platform.core.call import Call\n"
        "from mock_platform.platform import Platform\n"
        "call = Call('GET', 'http://x/2/openapi.json', '/2/openapi.json', 'http://x', [])\n"
        "print(Platform().handle(call).status)"
    )

    done = python("-c", code)

    assert (done.stdout, done.stderr) == ("200\n", "")


@pytest.mark.claim(
    "No module reads the real time except `world.clock`, or draws random values except `world.ids`."
)
def test_time_and_chance_have_one_door_each() -> None:
    """Nothing else imports a module of the standard library that knows the time or draws."""
    found = set()
    modules = r"^ *(?:import|from) .*\b(?:time|random|secrets|uuid)\b"
    some = re.compile(rf"{modules}|\bdatetime\.(?:utc)?now\b", re.MULTILINE)
    for file in (ROOT / "mock_platform").rglob("*.py"):
        source = file.read_text("utf-8")
        if some.search(source) is None:  # parsing takes long
            continue
        for node in ast.walk(ast.parse(source)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Attribute) and node.attr in {"now", "utcnow", "today"}:
                names = [ast.unparse(node)]
            doors = {"time", "random", "secrets", "uuid", "datetime.now", "datetime.utcnow"}
            found |= {(file.name, name) for name in names if name in doors}

    assert found == set(DOORS.items())
