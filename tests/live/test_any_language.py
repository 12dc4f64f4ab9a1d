from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.pages import Page, run_bash

pytestmark = pytest.mark.live

PAGE = Page("docs/any-language.md")


def test_every_block_is_tried() -> None:
    """Commands are run; `text` shows what is no test of itself."""
    assert {"bash", "text"} == PAGE.languages


def test_the_commands_do_what_the_page_says(tmp_path: Path) -> None:
    """Each with a server of its own; the last one meets the limit, and passes it a minute later."""
    done = run_bash("\n".join(PAGE.blocks("bash")), tmp_path)

    assert 0 == done.returncode, done.stderr
    assert done.stdout.endswith('\n200 429 200\n{"count":1}')
    assert "Harbor Roasters" in done.stdout
