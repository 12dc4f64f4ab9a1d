"""The page about ad accounts is true: its commands run, and its links lead somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.pages import Page, run_bash
from tests.live.processes import serving

pytestmark = pytest.mark.live
PAGE = Page("docs/ad-accounts.md")


def test_the_commands_work_one_after_the_other(tmp_path: Path) -> None:
    """The page from the rights of a user to the post that was scheduled."""
    with serving() as served:
        script = "\n".join(PAGE.blocks("bash")).replace("http://127.0.0.1:8080", served.url)
        script = script.replace("localhost:8080", served.url)
        done = run_bash(f"export MOCK_PLATFORM_URL={served.url}\n{script}", tmp_path)

    assert 0 == done.returncode, done.stderr
    assert '"permissions":["CAMPAIGN_ANALYST"]' in done.stdout
    assert '"targeting_type":"LOCATION"' in done.stdout
    assert '"scheduled_status":"SUCCESS"' in done.stdout
    assert '"feed_url":"http://127.0.0.1:9/shop.csv"' in done.stdout


def test_links_lead_somewhere() -> None:
    """Files and headings that the page links to are there."""
    assert [] == PAGE.dead_links()
