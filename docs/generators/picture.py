"""Takes the picture of the console that the README shows: `python -m docs.generators.picture`."""

from __future__ import annotations

from pathlib import Path

import requests
from playwright.sync_api import sync_playwright

from mock_platform import MockPlatform, WorldFace

PICTURE = Path(__file__).parents[1] / "images" / "console.png"
_SIZE = {"width": 1180, "height": 720}
_CHROMIUM = "/usr/bin/chromium"
_MOMENT = "2026-11-20T10:00:00Z"
_SECONDS = 60


def take_picture(file: Path = PICTURE) -> None:
    """Write the picture of a world in which a client meets several failures."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with MockPlatform.start(freeze=_MOMENT) as platform, sync_playwright() as playwright:
        _make_traffic(platform)
        browser = playwright.chromium.launch(
            executable_path=_CHROMIUM, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=_SIZE)  # type: ignore[arg-type]
        page.goto(f"{platform.base_url}/_mock/")
        page.screenshot(path=file)
        browser.close()


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
    take_picture()
