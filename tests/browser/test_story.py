"""A QA engineer finds out why a client fails, and hands the failure over, from the page alone."""

from __future__ import annotations

import re

import pytest
import requests
from click.testing import CliRunner
from playwright.sync_api import expect

from mock_platform.cli.main import group
from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveServer

pytestmark = [pytest.mark.live, pytest.mark.browser]


class Client:
    """The client under test: it lists the media of an account."""

    def __init__(self, server: LiveServer) -> None:
        self.world = server.world()
        self._session = self.world.session()
        self._session.headers["Authorization"] = f"Bearer {self.world.credentials['bearer_token']}"
        self.account = self.world.credentials["accounts"][0]

    def list_media(self, **query: str) -> requests.Response:
        """Call the platform."""
        url = f"{self.world.base_url}/12/accounts/{self.account}/account_media"
        return self._session.get(url, params=query)


def test_story(live_server: LiveServer, new_context: NewContext) -> None:
    """See it fail, find why, limit the rate, watch that, move the clock, save, hand over."""
    client = Client(live_server)
    visit = Visit(new_context(accept_downloads=True).new_page(), client.world)
    page = visit.open("/")
    rows = page.locator("#rows tr")

    # A client fails, and the list shows it.
    assert 400 == client.list_media(count="0").status_code
    expect(rows.first).to_contain_text("400")
    rows.first.get_by_role("link").click()
    why = page.get_by_role("region", name="Why this answer")
    expect(why).to_contain_text("count must be between 1 and 1000, got 0")

    # A scenario with parameters: one call, then none until the clock moves on.
    page.get_by_role("link", name="Scenarios", exact=True).click()
    page.get_by_label("Search").fill("rate-limited")
    expect(page).to_have_url(re.compile("=rate-limited"))
    page.get_by_role("link", name="rate-limited").click()
    page.get_by_label("Which operation").select_option("account_media.list")
    page.get_by_label("How many calls are let through").fill("1")
    page.get_by_role("button", name="Switch on").click()
    counts = page.get_by_role("region", name="What it did")
    expect(counts).to_contain_text("0 fired")
    assert [200, 429] == [client.list_media().status_code for _ in range(2)]
    expect(counts).to_contain_text(re.compile("[12] fired"))

    # The window of the limit ends.
    page.get_by_role("link", name="Clock", exact=True).click()
    page.get_by_label("By", exact=True).fill("15m")
    page.get_by_role("button", name="Move the clock").click()
    expect(page.get_by_role("status")).to_be_visible()
    assert 200 == client.list_media().status_code

    # What was seen becomes a file, which others can use.
    page.get_by_role("link", name="Requests", exact=True).click()
    page.get_by_label("Status").fill("429")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(rows).to_have_count(1)
    rows.first.get_by_role("link").click()
    page.get_by_role("link", name="Save as scenario").click()
    page.get_by_label("Name").fill("media-rate-limited")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    file = download.value.path().with_name("media-rate-limited.yaml")
    download.value.save_as(file)

    colleague = Client(live_server)
    put = f"{colleague.world.control}/scenarios/media-rate-limited"
    text = {"Content-Type": "application/yaml"}
    assert 0 == CliRunner().invoke(group, ["check", str(file)]).exit_code
    assert requests.put(put, data=file.read_bytes(), headers=text, timeout=60).ok
    assert requests.post(f"{put}/activate", json={}, timeout=60).ok
    assert 429 == colleague.list_media().status_code
    assert [] == visit.complaints
