"""The page for JavaScript and the README of the package: every block is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.live.conftest import NodeProject
from tests.live.pages import Page, run_bash

pytestmark = pytest.mark.live

PAGE = Page("docs/for-javascript.md")
UNMODIFIED = Page("docs/node-clients.md")
README = Page("clients/javascript/README.md")


@pytest.mark.parametrize("page", [PAGE, README], ids=["page", "readme"])
def test_its_tests_pass(page: Page, node_project: NodeProject, tmp_path: Path) -> None:
    """Each block is a file of tests, named in its first line; node runs them together."""
    folder = node_project.folder / tmp_path.name
    folder.mkdir()
    blocks = page.blocks("js")
    for block in blocks:
        (name,) = re.findall(r"\A// (\w+\.test\.mjs)\n", block)
        (folder / name).write_text(block, "utf-8")
    written = re.findall(r"^test\(", "".join(blocks), re.MULTILINE)

    ran = node_project.run("--test", "--test-reporter=tap", folder=folder)

    assert {"js"} == page.languages
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"\n# pass {len(written)}\n" in ran.stdout


def test_a_client_as_it_is(node_project: NodeProject, node_modules: Path, tmp_path: Path) -> None:
    """The whole page in one shell: a post, an outage, and tests that pass."""
    folder = node_project.folder / tmp_path.name
    folder.mkdir()
    for block in UNMODIFIED.blocks("js"):
        (name,) = re.findall(r"\A// ([\w.]+\.cjs)\n", block)
        (folder / name).write_text(block, "utf-8")

    done = run_bash("\n".join(UNMODIFIED.blocks("bash")), folder, NODE_PATH=str(node_modules))

    assert {"js", "bash"} == UNMODIFIED.languages
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"posted \d+\nas it should\n", done.stdout)
    assert re.search(r"\bpass 2\n.*\bpass 1\n", done.stdout, re.DOTALL)


def test_a_world_for_each_test_takes_four_lines() -> None:
    """The page's figure: the lines of its first block that are there for the sandbox."""
    first = PAGE.blocks("js")[0]
    lines = re.findall(r"^.*(?:MockPlatform|platform\.stop|freshWorld).*$", first, re.MULTILINE)

    assert 4 == len(lines)
    assert "\nFour lines: " in PAGE.text
