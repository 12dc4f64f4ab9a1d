"""Takes the pictures of the console in a real browser: `python -m docs.generators.pictures`.

That is the one of the README, and one for each step of the click lesson. It needs Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import requests
from playwright.sync_api import Page, sync_playwright

from mock_platform import MockPlatform, WorldFace

IMAGES = Path(__file__).parents[1] / "images"
_WIDE = {"width": 1180, "height": 720}
_LESSON = {"width": 1100, "height": 600}
_MOMENT = "2026-11-20T10:00:00Z"
_SECONDS = 60
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def take_pictures(folder: Path = IMAGES) -> None:
    """Write `console.png` and `lesson-1.png` to `lesson-5.png`; without a browser, say so."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        names = ", ".join(_BROWSERS)
        print(f"The pictures stay as they are: they need one of {names}.", file=sys.stderr)
        return
    folder.mkdir(parents=True, exist_ok=True)
    arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        with MockPlatform.start(freeze=_MOMENT) as platform:
            _make_traffic(platform)
            page = browser.new_page(viewport=_WIDE)  # type: ignore[arg-type]
            page.goto(f"{platform.base_url}/_mock/")
            page.screenshot(path=folder / "console.png")
        with MockPlatform.start(freeze=_MOMENT) as platform:
            page = browser.new_page(viewport=_LESSON)  # type: ignore[arg-type]
            _take_lesson(platform, page, folder)
        browser.close()


def _take_lesson(platform: WorldFace, page: Page, folder: Path) -> None:
    """Do what the click lesson says, and take a picture after each step."""
    page.goto(f"{platform.base_url}/_mock/")
    page.get_by_role("link", name="Scenarios", exact=True).click()
    page.get_by_label("Search", exact=True).fill("429")
    page.get_by_text("158 of 158").wait_for(state="detached")
    found = page.get_by_role("link", name="rate-limited", exact=True).first
    found.scroll_into_view_if_needed()
    page.screenshot(path=folder / "lesson-1.png")

    found.click()
    page.get_by_label("Which operation", exact=True).select_option("accounts.list")
    page.get_by_label("How many calls are let through", exact=True).fill("1")
    page.get_by_label("How long until the next ones are", exact=True).fill("60s")
    switch = page.get_by_role("button", name="Switch on", exact=True)
    switch.evaluate("button => button.scrollIntoView({block: 'end'})")
    page.screenshot(path=folder / "lesson-2.png")
    switch.click()
    page.get_by_role("status").wait_for()

    bearer = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}
    for _ in range(2):
        requests.get(f"{platform.base_url}/12/accounts", headers=bearer, timeout=_SECONDS)
    page.get_by_role("link", name="Requests", exact=True).click()
    page.get_by_text("429").first.click()
    page.screenshot(path=folder / "lesson-3.png")

    page.get_by_role("link", name="Clock", exact=True).click()
    page.get_by_role("button", name="+ 1 minute", exact=True).click()
    page.get_by_role("status").wait_for()
    page.screenshot(path=folder / "lesson-4.png")

    page.get_by_role("link", name="Reset…", exact=True).click()
    page.get_by_role("button", name="Reset default", exact=True).wait_for()
    page.screenshot(path=folder / "lesson-5.png")


def _make_traffic(platform: WorldFace) -> None:
    """Let a client succeed, be limited, sign wrongly, and name a path that does not exist."""
    base, account = platform.base_url, platform.credentials["accounts"][0]
    bearer = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}

    def call(method: str, path: str, **more: object) -> None:
        requests.request(method, f"{base}{path}", timeout=_SECONDS, **more)  # type: ignore[arg-type]

    call("GET", f"/12/accounts/{account}/line_items?count=5", headers=bearer)
    call("GET", f"/12/accounts/{account}/line_item", headers=bearer)
    call("GET", f"/12/accounts/{account}/campaigns?cuont=5", headers=bearer)
    call("POST", "/2/webhooks/replay", headers=bearer, json={"webhook_id": "1"})
    call("GET", "/2/webhooks", headers={"Authorization": "Bearer wrong"})
    platform.activate("rate-limited", on="accounts.list", limit=1, window=900)
    call("GET", "/12/accounts", headers=bearer)
    call("GET", "/12/accounts", headers=bearer)


if __name__ == "__main__":
    take_pictures()
