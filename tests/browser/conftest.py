"""A headless Chromium, and pages in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.visits import Visit, furnish
from tests.conftest import Tool
from tests.live_servers import LiveServer, LiveWorld
from tests.waits import PATIENCE

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

_MILLISECONDS = PATIENCE * 1000
"""A busy machine may take a while to load a page."""

NewContext = Callable[..., BrowserContext]


@pytest.fixture(scope="session")
def chromium(tool: Tool) -> Iterator[Browser]:
    """The installed Chromium, without a window."""
    expect.set_options(timeout=_MILLISECONDS)
    program = tool("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


class Profiles:
    """Browser profiles, each made once for the same options and emptied after each use.

    What a profile has loaded stays in its cache, so that later pages open faster.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[BrowserContext]] = {}

    def take(self, **options: object) -> BrowserContext:
        """A profile with these options that no other test uses meanwhile."""
        free = self._free.setdefault(repr(sorted(options.items())), [])
        if free:
            return free.pop()
        context = self._browser.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(_MILLISECONDS)
        return context

    def give_back(self, context: BrowserContext, **options: object) -> None:
        """Close the pages of a profile and forget its cookies and permissions."""
        for page in context.pages:
            page.close()
        context.clear_cookies()
        context.clear_permissions()
        self._free[repr(sorted(options.items()))].append(context)


@pytest.fixture(scope="session")
def profiles(chromium: Browser) -> Profiles:
    """The profiles of the whole run."""
    return Profiles(chromium)


@pytest.fixture
def new_context(profiles: Profiles) -> Iterator[NewContext]:
    """Takes browser profiles; they are empty again at the end."""
    taken: list[tuple[BrowserContext, dict[str, object]]] = []

    def take(**options: object) -> BrowserContext:
        context = profiles.take(**options)
        taken.append((context, options))
        return context

    yield take
    for context, options in taken:
        profiles.give_back(context, **options)


@pytest.fixture
def visit(live_world: LiveWorld, new_context: NewContext) -> Iterator[Visit]:
    """A page of a fresh world in a browser, which complains of nothing but refused forms."""
    made = Visit(new_context().new_page(), live_world)
    yield made
    assert [] == [text for text in made.complaints if "status of 422" not in text]


@pytest.fixture(scope="session")
def furnished_world(live_server: LiveServer) -> LiveWorld:
    """A world in which every page has something to show; tests that use it change nothing."""
    world = live_server.world()
    furnish(world)
    return world
