"""A headless Chromium, and pages in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.visits import furnish
from tests.conftest import Tool
from tests.serving import LiveServer, LiveWorld
from tests.waits import PATIENCE

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_MILLISECONDS = PATIENCE * 1000
"""A busy machine may take a while to load a page."""

NewContext = Callable[..., BrowserContext]


@pytest.fixture(scope="session")
def chromium(tool: Tool) -> Iterator[Browser]:
    """The installed Chromium, without a window."""
    expect.set_options(timeout=_MILLISECONDS)
    program = tool("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def new_context(chromium: Browser) -> Iterator[NewContext]:
    """Makes browser profiles of their own; they are closed at the end."""
    opened: list[BrowserContext] = []

    def make(**options: object) -> BrowserContext:
        context = chromium.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(_MILLISECONDS)
        opened.append(context)
        return context

    yield make
    for context in opened:
        context.close()


@pytest.fixture(scope="session")
def furnished_world(live_server: LiveServer) -> LiveWorld:
    """A world in which every page has something to show; tests that use it change nothing."""
    world = live_server.world()
    furnish(world)
    return world
