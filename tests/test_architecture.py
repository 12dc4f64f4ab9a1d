"""`docs/architecture.md` is true: what it claims is tested, here or by tests that quote it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generators.rooms import ROOT, find_direct_imports, read_rooms
from tests.commands import python

TESTS = Path(__file__).parent
PAGE = ROOT / "docs" / "architecture.md"
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
    """Boxes are the packages and modules; an arrow that two others imply is not drawn."""
    rooms = {room.name: room for room in read_rooms()}
    arrows = set(find_direct_imports(tuple(rooms.values())))

    package = ROOT / "mock_platform"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    assert modules | {path.parent.name for path in package.glob("*/__init__.py")} == set(rooms)
    assert all(target in rooms[source].imports for source, target in arrows)
    assert ("operations", "records") in arrows
    assert "core" in rooms["operations"].imports
    assert ("operations", "core") not in arrows
    assert all(room.purpose for room in rooms.values())


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
    for file in (ROOT / "mock_platform").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
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
