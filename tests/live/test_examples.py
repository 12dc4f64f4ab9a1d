"""The files that users copy, run as their page says, in a copy of their folder."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.commands import FEW_PLUGINS, environment, finished
from tests.conftest import Tool
from tests.live.pages import Page, run_bash
from tests.live.processes import quick

pytestmark = pytest.mark.live

PAGE = Page("docs/examples/README.md")
FOLDER = PAGE.file.parent
PYTHON, SHARED, NODE, SHELL, COVERAGE = PAGE.blocks("bash")
QUIET = {
    "PYTEST_ADDOPTS": f"-p no:randomly -p no:cacheprovider {FEW_PLUGINS} -W error",
    "npm_config_update_notifier": "false",
}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """What a user has who has copied the folder."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(FOLDER, tmp_path / "examples", ignore=ignored))


def occurrences(pattern: str, *paths: str) -> int:
    """How often lines of example files begin so."""
    texts = [(FOLDER / path).read_text("utf-8") for path in paths]
    return sum(len(re.findall(pattern, text, re.MULTILINE)) for text in texts)


def test_no_other_commands_are_shown() -> None:
    """All code blocks are commands, so those above are all there is."""
    assert {"bash"} == PAGE.languages


def test_python_examples_pass(copied: Path) -> None:
    """One run of pytest, every test of every file."""
    done = run_bash(PYTHON, copied, **QUIET)

    written = occurrences("^def test_", *(f"python/{file.name}" for file in _python_files()))
    assert 0 == done.returncode, done.stdout
    assert f"= {written} passed in " in done.stdout


def test_python_examples_share_a_server(copied: Path) -> None:
    """Those that call over a socket pass against a server elsewhere."""
    done = run_bash(SHARED, copied, **QUIET)

    assert 0 == done.returncode, done.stdout
    assert f"= {occurrences('^def test_', 'python/test_ads_sdk.py')} passed in " in done.stdout


def test_node_examples_pass(copied: Path, tool: Tool) -> None:
    """Node's own runner through npm, without any package."""
    tool("node")
    tool("npm")

    done = run_bash(NODE, copied, **QUIET)

    assert 0 == done.returncode, done.stdout
    found = re.search(r"^\S+ pass (\d+)$", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    assert occurrences("^test\\(", "javascript/polls.test.js") == int(found[1])


def test_node_examples_need_no_package() -> None:
    """Nothing has to be installed, and `npm test` is node's runner."""
    package = json.loads((FOLDER / "javascript" / "package.json").read_text("utf-8"))

    assert {"test": "node --test"} == package["scripts"]
    assert {"name", "private", "type", "engines", "scripts"} == package.keys()


def test_the_smoke_test_passes(copied: Path, tool: Tool) -> None:
    """One line for each step."""
    tool("curl")

    done = run_bash(SHELL, copied, **QUIET)

    assert (0, "") == (done.returncode, done.stderr)
    lines = done.stdout.splitlines()
    assert occurrences("^(expect|holds) ", "shell/smoke.sh") == len(lines)
    assert ["ok"] * len(lines) == [line.split()[0] for line in lines]


def test_the_smoke_test_finds_an_outage(tool: Tool) -> None:
    """With a server that fails it stops at the first answer that is not as it should be."""
    tool("curl")
    script = FOLDER / "shell" / "smoke.sh"

    done = finished(quick("run", "--scenario", "outage", "--", script), env=environment())

    assert 1 == done.returncode
    told = "FAILED without credentials nobody reads: status 503 instead of 401: "
    assert done.stderr.startswith(told)


def test_the_smoke_test_says_how_to_run_it() -> None:
    """Without a server its message is the command."""
    done = run_bash("shell/smoke.sh", FOLDER)

    assert 0 != done.returncode
    assert "Run me as: mock-platform run -- shell/smoke.sh" in done.stderr


def test_the_contract_coverage_is_printed(copied: Path, tool: Tool) -> None:
    """The server knows what the script exercised, although the script's world is gone."""
    tool("curl")

    done = run_bash(COVERAGE, copied, **QUIET)

    assert 0 == done.returncode, done.stderr
    assert re.search(r"^Operations called +3/", done.stdout, re.MULTILINE)


def test_python_examples_are_a_users() -> None:
    """They import nothing of this project's tests, and nothing private."""
    texts = [file.read_text("utf-8") for file in _python_files()]
    imported = {
        name for text in texts for name in re.findall(r"^(?:from|import) (\S+)", text, re.MULTILINE)
    }

    assert {"mock_platform"} == {name for name in imported if "mock_platform" in name}
    assert not any(name.split(".")[0] == "tests" for name in imported)


def test_every_example_is_linked_to() -> None:
    """Readers of the page find all of them."""
    for file in _python_files():
        assert f"](python/{file.name})" in PAGE.text


def _python_files() -> list[Path]:
    return sorted((FOLDER / "python").glob("*.py"))
