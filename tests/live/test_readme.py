from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.pages import Page, run_bash_of_a_stranger, run_python
from tests.live.processes import Served, serving

pytestmark = pytest.mark.live

README = Page("README.md")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """The server that the tour speaks of, on a port of its own."""
    with serving() as running:
        yield running


def test_it_begins_with_what_it_does() -> None:
    """First comes what it does and for whom; the comparison and the limits are there too."""
    headings = re.findall(r"^## (.+)$", README.text, re.MULTILINE)

    assert headings[:2] == ["What it does, and for whom", "Start"]
    assert {"Compared with others", "What it does not promise"} < set(headings)


def test_the_picture_is_light() -> None:
    """The picture of the console is there, and no reader waits for it."""
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README.text)

    assert 200_000 > (ROOT / picture).stat().st_size


def test_every_block_is_tried() -> None:
    """No language is there that nothing below runs; `console` shows, it is not to be copied."""
    assert {"console", "bash", "python"} == README.languages


def test_the_tour_works_in_a_checkout(served: Served, tmp_path: Path) -> None:
    """Every command of the tour, as copied into a new shell; only the port is another."""
    script = "\n".join(README.blocks("bash")).replace("http://127.0.0.1:8080", served.url)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(Path(sys.executable).parent)

    done = run_bash_of_a_stranger(script, tmp_path)

    assert (0, "") == (done.returncode, done.stderr)
    assert '"job_id":' in done.stdout
    assert "line_items.update" in done.stdout


@pytest.mark.parametrize("program", README.programs())
def test_python_examples_work(program: str, tmp_path: Path) -> None:
    """Each example runs by itself, in a folder of its own."""
    done = run_python(program, tmp_path)

    assert (0, "") == (done.returncode, done.stderr)


def test_test_files_pass(pytester: pytest.Pytester) -> None:
    """Examples that are test files pass, without a warning."""
    for name, text in README.files().items():
        pytester.path.joinpath(name).write_text(text, "utf-8")

    result = pytester.runpytest_inprocess("-p", "no:randomly", "-W", "error")

    result.assert_outcomes(passed=1)


def test_the_documentation_is_linked_to() -> None:
    """Readers find the pages from here."""
    assert "](docs/" in README.text
