"""The page on original names, and the official Ads SDK with its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.pages import Page, run_python

pytestmark = pytest.mark.live

PAGE = Page("docs/original-names.md")


def test_page(tmp_path: Path) -> None:
    """Its program runs as it is written; nothing else in it can be run."""
    assert {"text", "python"} == PAGE.languages
    (program,) = PAGE.blocks("python")

    assert 0 == run_python(program, tmp_path).returncode
