"""The interactive documentation: the first click works, in operations that differ in kind."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.visits import PHONE, Visit
from tests.live_servers import LiveServer

RESOLVE = """async () => {
  const {fn, specSelectors} = ui.getSystem();
  const whole = specSelectors.specJson().toJS();
  Object.defineProperty(whole.paths, "/2/openapi.json", {
    enumerable: true,
    get() { throw new Error("the other operations are read as well"); },
  });
  const {spec} = await fn.resolveSubtree(whole, ["paths", "/2/webhooks/replay", "post"]);
  const {properties} = spec.requestBody.content["application/json"].schema;
  return Object.keys(properties).sort();
}"""
"""Resolves the references of one operation, in a document of which another cannot be read."""

pytestmark = [pytest.mark.live, pytest.mark.browser]

KINDS = {
    "webhooks.replay": "bearer token, JSON body", "account.verify_credentials": "OAuth 1.0a",
    "oauth.request_token": "form body, signed by the app",
    "oauth.access_token": "a request token that was approved before",
    "product_catalogs.create": "a request that is sent before", "media.upload": "media",
    "activity_stream.open": "a stream, of which the beginning is shown",
}  # fmt: skip
LAST = [*KINDS][-1]


def test_the_first_click_works(live_server: LiveServer, new_context: NewContext) -> None:
    """Credentials, path, query and body are filled in: one opens an operation and executes it."""
    world = live_server.world()
    page = new_context().new_page()
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    answered: dict[str, str] = {}
    for operation in KINDS:
        family = operation.partition(".")[0]
        if not answered:  # a link opens the operation
            page.goto(f"{world.base_url}/_mock/docs/#/{family}/{operation}")
            expect(page.get_by_role("button", name="Execute")).to_be_visible()
        else:
            page.locator(f"#operations-tag-{family}").click()
            page.locator(f'[id$="{operation.rpartition(".")[2]}"] .opblock-summary').click()
        block = page.locator(".opblock.is-open")
        block.get_by_role("button", name="Execute").click()
        status = block.locator(".live-responses-table tbody .response-col_status")
        expect(status).to_have_text(re.compile(r"\d{3}"))
        answered[operation] = status.inner_text()[:3]
        console = f"{world.base_url}/_mock/console/operations/{operation}"
        assert 1 == block.locator(f'a[href="{console}"]').count()
        if operation != LAST:
            block.locator(".opblock-summary-control").click()
            page.locator(f"#operations-tag-{family}").click()

    visit = Visit(page, world)
    visit.be("dark", PHONE)
    expect(page.locator("html")).to_have_class("dark-mode")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    visit.shoot("docs-phone-dark")

    assert dict.fromkeys(KINDS, "200") == answered
    assert [] == faults
    # To resolve the whole document takes a browser seconds for each operation.
    assert ["from_date", "to_date", "webhook_id"] == page.evaluate(RESOLVE)
