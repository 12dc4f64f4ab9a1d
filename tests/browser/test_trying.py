"""The interactive documentation: the first click works."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.serving import LiveServer

pytestmark = [pytest.mark.live, pytest.mark.browser]


@pytest.mark.parametrize(
    ("operation", "status"),
    [("webhooks.replay", 200), ("account.verify_credentials", 200)],
    ids=["bearer token", "OAuth 1.0a"],
)
def test_the_first_click_works(
    live_server: LiveServer, new_context: NewContext, operation: str, status: int
) -> None:
    """Credentials, path, query and body are filled in: one opens an operation and executes it."""
    world = live_server.world()
    page = new_context().new_page()
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))

    page.goto(f"{world.base_url}/_mock/docs/#/{operation.partition('.')[0]}/{operation}")
    page.get_by_role("button", name="Execute").first.click()

    answer = page.locator(".live-responses-table tbody .response-col_status").first
    expect(answer).to_contain_text(str(status))
    assert [] == faults
    assert (
        1
        == page.locator(f'a[href="{world.base_url}/_mock/console/operations/{operation}"]').count()
    )
