"""Scenarios as a tester chooses them: by what is seen, from a card, by the name of a record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from mock_platform.cli.main import group
from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]


def test_a_failure_is_found_by_what_is_seen(live_world: LiveWorld, new_context: NewContext) -> None:
    """A sentence finds it, the card switches it on, and it is on top the next time."""
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/console/scenarios")
    page.get_by_label("Search").fill("second delete gives 404")
    found = page.get_by_role("listitem").filter(has_text="404 LINE_ITEM_NOT_FOUND")
    expect(page.get_by_text(re.compile("^2 of "))).to_be_visible()
    found.get_by_role("button", name="Switch line-item-deleted-twice on").click()
    expect(page.get_by_role("status").first).to_have_text("line-item-deleted-twice is on.")
    page.get_by_role("button", name="Switch line-item-deleted-twice off").click()

    expect(page.get_by_text("Recently used 1")).to_be_visible()
    page.get_by_role("link", name="line-item-deleted-twice").first.click()
    page.get_by_label("Which line item").select_option("Holiday clicks, US (itttx)")
    page.get_by_label("Which call").select_option("the second")
    page.get_by_role("button", name="Switch on").click()
    told = visit.world.session().get(f"{live_world.control}/scenarios/line-item-deleted-twice")
    assert {"line_item_id": "itttx", "call": 2} == told.json()["given"]
    assert [] == visit.complaints


def test_a_failure_of_ones_own(
    live_world: LiveWorld, new_context: NewContext, tmp_path: Path
) -> None:
    """It is put together from choices; its file is beside them, and `check` accepts it."""
    visit = Visit(new_context(accept_downloads=True).new_page(), live_world)
    page = visit.open("/console/scenarios")
    page.get_by_role("link", name="A failure of your own").click()
    page.get_by_label("Which operation").select_option("post_search.recent")
    page.get_by_label("Which call").select_option("the second")
    page.get_by_label("Which error").select_option("429 usage-capped")
    page.get_by_label("Text of the error").fill("No more searches")
    file = page.get_by_label("The file")
    expect(file).to_contain_text("detail: No more searches")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert "post-search-recent-429-usage-capped.yaml" == saved.name
    assert 0 == CliRunner().invoke(group, ["check", str(saved)]).exit_code

    page.get_by_role("button", name="Switch on").click()
    session, url = live_world.session(), f"{live_world.base_url}/2/tweets/search/recent?query=a"
    session.headers["Authorization"] = f"Bearer {live_world.credentials['bearer_token']}"
    expect(page.get_by_role("status").first).to_contain_text("is on.")
    assert [200, 429, 200] == [session.get(url).status_code for _ in range(3)]
    assert [] == visit.complaints
