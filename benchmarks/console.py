"""What the live list of requests costs, and whether it stays usable on a busy server.

Run it with `python benchmarks/console.py`; it needs Chromium. A journal of 20,000 requests, the
list open in three browsers, and 300 requests a second: the longest task of a page (limit 100 ms).
Then as many requests as can be: how much less the server answers in a second of its processor time
(limit 5 percent); the browsers are on the same machine, and their own work does not count.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import shutil
import statistics
import sys
import threading
from contextlib import ExitStack
from urllib.parse import urlsplit
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright
from servers import processor_seconds, running

from mock_platform.world.clock import UPTIME

ENTRIES = 20_000
BROWSERS = 3
PER_SECOND = 300
SECONDS = 15.0
ROUNDS = 5
ROUND_SECONDS = 3.0

_WATCH = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longest = Math.max(longest, entry.duration);
  }).observe({type: 'longtask'});
}"""


def send(
    url: str, token: str, seconds: float, per_second: float, most: int = 0
) -> tuple[int, float]:
    """Requests over one connection, paced unless `per_second` is 0; how many, and in how long."""
    parts = urlsplit(url)
    client = http.client.HTTPConnection(parts.hostname or "", parts.port or 80)
    headers = {"Authorization": f"Bearer {token}"}
    begin, count, pause = UPTIME(), 0, threading.Event()
    while (most and count < most) or (not most and UPTIME() - begin < seconds):
        if per_second:
            pause.wait(max(0.0, begin + count / per_second - UPTIME()))
        client.request("GET", "/2/webhooks" if count % 3 else "/2/webhook", headers=headers)
        client.getresponse().read()
        count += 1
    return count, UPTIME() - begin


class Watched:
    """A server with a full journal, and browsers that may look at it."""

    def __init__(self, stack: ExitStack) -> None:
        """Everything is ended by `stack`."""
        command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0", "--limits", "off"]
        command += ["--journal-entries", str(ENTRIES), "--journal-bytes", "512M"]
        line, self.pid = stack.enter_context(running(command))
        self.url = json.loads(line.removeprefix("READY "))["url"]
        with urlopen(f"{self.url}/_mock/credentials") as answer:
            self.token = json.loads(answer.read())["bearer_token"]
        self.pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(1))
        self.pool.apply(send, (self.url, self.token, 0, 0, ENTRIES))
        playwright = stack.enter_context(sync_playwright())
        program = shutil.which("chromium") or shutil.which("google-chrome")
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        self.pages: list[Page] = []
        for _ in range(BROWSERS):
            browser = playwright.chromium.launch(executable_path=program, args=flags)
            stack.callback(browser.close)
            self.pages.append(browser.new_page())

    def look(self) -> None:
        """Open the list in every browser."""
        for page in self.pages:
            page.goto(f"{self.url}/_mock/")
            page.evaluate(_WATCH)

    def leave(self) -> None:
        """Open something else."""
        for page in self.pages:
            page.goto("about:blank")

    def run(self, per_second: float, seconds: float) -> tuple[float, float]:
        """Returns requests a second, and in a second of the server's processor time."""
        before = processor_seconds(self.pid)
        waiting = self.pool.apply_async(send, (self.url, self.token, seconds, per_second))
        while not waiting.ready():
            self.pages[0].wait_for_timeout(100)
        count, taken = waiting.get()
        return count / taken, count / (processor_seconds(self.pid) - before)


def main() -> None:
    """Measure, and print."""
    with ExitStack() as stack:
        watched = Watched(stack)
        free_rate, _ = watched.run(PER_SECOND, SECONDS)
        watched.look()
        rate, _ = watched.run(PER_SECOND, SECONDS)
        longest = max(page.evaluate("longest") for page in watched.pages)
        rows = [page.locator("#rows tr").count() for page in watched.pages]
        falls = []
        for _ in range(ROUNDS):
            watched.leave()
            _, free = watched.run(0, ROUND_SECONDS)
            watched.look()
            falls.append(1 - watched.run(0, ROUND_SECONDS)[1] / free)
    listed = ", ".join(f"{fall:+.1%}" for fall in falls)
    print(f"{ENTRIES:,} entries, {BROWSERS} browsers with {rows} rows")
    print(f"at {PER_SECOND}/s: {free_rate:.0f}/s alone, {rate:.0f}/s watched")
    print(f"longest task of a page: {longest:.0f} ms (limit 100; 0: none of 50 ms or more)")
    print(f"as many as can be: {statistics.median(falls):+.1%} less while watched (limit 5 %)")
    print(f"  each round: {listed}")


if __name__ == "__main__":
    main()
