"""Visits of pages: what a person would see, hear and complain about."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import ConsoleMessage, Page

from tests.live_servers import LiveWorld

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
_WANTED = "TEST_PICTURES" in os.environ
"""Pictures take a quarter of the time of all pages: TEST_PICTURES=1 pytest -m browser."""
WIDE = (1280, 800)
PHONE = (390, 844)
_SHOWN_HEIGHT = 4000
"""Pixels of a page that a picture shows; to keep all of a long table takes seconds."""

_AXE = """async (only) => {
  const options = {resultTypes: ['violations']};
  if (only.length) options.runOnly = only;
  const seen = {}, apart = [];
  for (const row of document.querySelectorAll('tbody > tr, li')) {
    const parts = [row, ...row.querySelectorAll('*')].map((e) => `${e.tagName}.${e.className}`);
    const kind = [...new Set(parts)].sort().join(' ');
    seen[kind] = (seen[kind] || 0) + 1;
    if (seen[kind] > 3) {
      const place = document.createComment('');
      apart.push([place, row]);
      row.replaceWith(place);
    }
  }
  const found = await axe.run(document, options);
  for (const [place, row] of apart.reverse()) place.replaceWith(row);
  return found.violations.map((v) => `${v.id}: ${v.help}; `
    + v.nodes.map((n) => `${n.target.join(' ')} ${n.failureSummary}`).join('; '));
}"""

DETAILS: tuple[str, ...] = (
    "/console/requests/{refused}", "/console/requests/{refused}/scenario",
    "/console/scenarios/rate-limited", "/console/scenarios/+new", "/console/scenarios/+own",
    "/console/worlds/default", "/console/records/line_items",
    "/console/records/line_items/record?key=itttx", "/console/records/line_items/new",
    "/console/transitions/audience", "/console/operations/webhooks.replay",
)  # fmt: skip
"""Pages below those of the navigation, as paths after `/_mock`, in the world of `furnish`.

`{refused}` is the request for a replay that `furnish` makes.
"""


def furnish(world: LiveWorld) -> None:
    """Make every page of a world show something: requests, failures, scenarios, deliveries."""
    session = world.session()
    session.get(f"{world.base_url}/oauth2/tokn")
    session.post(
        f"{world.base_url}/2/webhooks/replay", json={"webhook_id": "x"}, headers=world.bearer
    )
    session.get(f"{world.base_url}/2/webhooks", headers=world.bearer)
    for name in ("rate-limited", "token-revoked-midway"):
        session.post(f"{world.control}/scenarios/{name}/activate", json={})


class Visit:
    """A page of a world in a browser; it collects what the browser complains about."""

    def __init__(self, page: Page, world: LiveWorld) -> None:
        self.page = page
        self.world = world
        self.complaints: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda fault: self.complaints.append(str(fault)))

    def open(self, path: str) -> Page:
        """Open a page by its path after `/_mock`."""
        if "{refused}" in path:
            list_of = f"{self.world.control}/requests?operation=webhooks.replay"
            (refused, *_) = self.world.session().get(list_of).json()["requests"]
            path = path.replace("{refused}", refused["id"])
        self.page.goto(f"{self.world.control}{path}")
        return self.page

    def be(self, scheme: Literal["light", "dark"], size: tuple[int, int] = WIDE) -> None:
        """Take this color scheme and this size of the window."""
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def find_violations(self, *only: str) -> list[str]:
        """What axe-core complains of; `only` names its rules.

        Of rows and items that are made of the same kinds of elements it looks at three; the others
        are apart meanwhile, because axe-core walks through what it leaves out as well.
        """
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE_SCRIPT)
        found: list[str] = self.page.evaluate(_AXE, list(only))
        return found

    def shoot(self, name: str) -> None:
        """Keep a picture of the page for people, if wanted; of a long one only the beginning."""
        if not _WANTED:
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        size = self.page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        self.page.screenshot(
            path=SCREENSHOTS / f"{name}.png", full_page=True,
            clip={"x": 0, "y": 0, "width": size[0], "height": min(size[1], _SHOWN_HEIGHT)},
        )  # fmt: skip

    def inspect(self, path: str) -> dict[str, Any]:
        """Look at a page on a screen in light and on a phone in dark; returns what is wrong."""
        name = re.sub(r"\W+", "-", path).strip("-").removeprefix("console-") or "first"
        self.complaints.clear()
        self.be("light")
        self.open(path)
        wrong = {"light": self.find_violations()}
        self.shoot(f"{name}-light")
        self.be("dark", PHONE)
        wrong["dark"] = self.find_violations()
        width = self.page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE[0]:
            wrong["phone"] = [f"the page is {width} pixels wide"]
        self.shoot(f"{name}-phone-dark")
        wrong["complaints"] = [*self.complaints]
        return {where: what for where, what in wrong.items() if what}

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)
