from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.pages import Page, run_bash, run_python

pytestmark = pytest.mark.live

PAGE = Page("docs/as-a-flask-application.md")


def test_every_block_is_tried() -> None:
    """No language is there that nothing below runs."""
    assert {"bash", "python"} == PAGE.languages


@pytest.mark.parametrize("program", PAGE.programs())
def test_examples_work(program: str, tmp_path: Path) -> None:
    """Each example runs by itself, in a folder of its own."""
    done = run_python(program, tmp_path)

    assert (0, "") == (done.returncode, done.stderr)


def test_commands_work() -> None:
    """As copied."""
    done = run_bash("\n".join(PAGE.blocks("bash")))

    assert (0, "") == (done.returncode, done.stderr)


def test_links_lead_somewhere() -> None:
    """Every file that the page links to is there."""
    assert [] == PAGE.dead_links()
