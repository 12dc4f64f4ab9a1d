"""The pages for test authors: every file on them is run as it is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

# Imported here once: pytester forgets what is imported within an inner run.
import mock_platform.client.testing.servers  # noqa: F401
from tests.live.pages import Page, run_bash

pytestmark = pytest.mark.live

NAMES = ("for-test-authors", "test-recipes", "failures-in-turn", "account-activity")
PAGES = [Page(f"docs/{name}.md") for name in NAMES]
RUNS = [run for page in PAGES for run in page.runs()]
ALONE = ("-p", "no:randomly", "--strict-markers", "--strict-config")


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of both pages; a terminal is as wide there as on paper."""
    monkeypatch.setenv("COLUMNS", "80")
    for page in PAGES:
        for name, text in page.files().items():
            file = pytester.path / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
    return pytester.path


def test_every_block_is_tried() -> None:
    """No block is there that nothing below runs; of `console` only what installs is not run."""
    for page in PAGES:
        assert page.languages <= {"console", "bash", "python", "yaml", "json", "text"}
        kept = [block for name in ("python", "yaml", "json", "text") for block in page.blocks(name)]
        assert sorted(kept) == sorted(page.files().values())
        shown = [
            block for block in page.blocks("console") if not block.startswith("$ pip install ")
        ]
        assert len(shown) == len(page.runs())


def test_tests_that_pass(pytester: pytest.Pytester, folder: Path) -> None:
    """Every file whose output is not shown passes, without a warning."""
    names = [file.name for file in folder.glob("test_*.py") if not _shown(file.name)]

    result = pytester.runpytest_inprocess(*ALONE, "-W", "error", *names)

    outcomes = result.parseoutcomes()
    assert {"passed"} == set(outcomes)
    assert outcomes["passed"] > len(names)


@pytest.mark.parametrize(("command", "shown"), RUNS, ids=[command for command, _ in RUNS])
def test_output_is_as_shown(
    pytester: pytest.Pytester, folder: Path, command: str, shown: list[list[str]]
) -> None:
    """What the page prints, pytest prints, line for line and in this order."""
    program, *args = shlex.split(command)
    assert "pytest" == program

    lines = pytester.runpytest_inprocess(*ALONE, *args).stdout.lines

    for part in shown:
        size = len(part)
        place = next((at for at in range(len(lines)) if lines[at : at + size] == part), None)
        assert place is not None, "\n".join(["not in the output, or too early:", *part])
        lines = lines[place + size :]


def test_commands_work(folder: Path) -> None:
    """Workers on a shared server, and unittest."""
    script = "\n".join(block for page in PAGES for block in page.blocks("bash"))

    done = run_bash(script, folder)

    assert 0 == done.returncode, done.stdout + done.stderr
    assert "2 passed in" in done.stdout
    assert "OK" == done.stderr.splitlines()[-1]


def test_nothing_of_the_plugin_is_left_out(pytester: pytest.Pytester) -> None:
    """Each fixture, marker and option that pytest lists is in a table, and no other."""
    asked = ("--help", "--markers", "--fixtures")
    lines = [line for option in asked for line in pytester.runpytest_inprocess(option).stdout.lines]
    starts = re.compile(r"(?:@pytest\.mark\.)?(mock_\w+|  --mock-[\w-]+)")
    there = {match[1].strip() for match in map(starts.match, lines) if match}

    told = set(re.findall(r"^\| `(mock_\w+|--mock-[\w-]+)", PAGES[0].text, re.MULTILINE))

    assert {"mock_platform", "mock_strict", "--mock-platform-url"} <= there
    assert there == told


def _shown(name: str) -> bool:
    alone = {f"pytest {name}", f"pytest {name} --mock-block-network"}
    return any(command in alone for command, _ in RUNS)
