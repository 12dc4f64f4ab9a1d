"""The site as its readers get it: from files, without a network."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.generators.site.building import STAMP, build
from docs.generators.site.navigation import HOW_TO, KINDS, arrange
from docs.generators.site.staging import stage
from tests.browser.conftest import NewContext
from tests.conftest import find_shared_folder

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.browser

_BUILT = ROOT / "build" / "site"
"""Where `make site` and `make wheel` put it."""
_LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src")}
"""What a browser loads by itself."""


class _Page(HTMLParser):
    """The links, loaded files and anchors of a page of HTML."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element refers to."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif (tag, name) in _LOADED and value:
                self.loaded.add(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.add(value)


@cache
def _read(file: Path) -> _Page:
    return _Page(file)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the pages as they are: the built one if it has the same sources.

    Otherwise it is built once for all processes that run tests.
    """
    checksum = stage(tmp_path_factory.mktemp("source"))
    shared = find_shared_folder(tmp_path_factory)
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for place in (_BUILT, shared / "site"):
            stamp = place / STAMP
            if stamp.is_file() and stamp.read_text("ascii").strip() == checksum:
                return place
        build(shared / "site")
    return shared / "site"


def _pages(site: Path) -> Iterator[_Page]:
    for file in sorted(site.rglob("*.html")):
        yield _read(file)


def test_every_link_and_anchor_of_the_site_is_there(site: Path) -> None:
    """Of every page, to every other page, file and heading."""
    dead = []
    for page in _pages(site):
        for link in page.links | page.loaded:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            file = page.file
            if parts.path:
                file = (page.file.parent / unquote(parts.path)).resolve()
            there = file.exists()
            if there and parts.fragment and file.suffix == ".html":
                there = unquote(parts.fragment) in _read(file).anchors | {"", "top"}
            if not there:
                dead.append(f"{page.file.name}: {link}")

    assert [] == dead


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """No page, style or script names another address from which a browser would load a file."""
    outside = [
        f"{page.file.name}: {address}"
        for page in _pages(site)
        for address in page.loaded
        if urlsplit(address).scheme not in {"", "data"} or address.startswith("//")
    ]
    for file in site.rglob("*.css"):
        outside += re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\s]+", file.read_text())

    assert [] == outside


def test_every_page_is_in_the_navigation(site: Path) -> None:
    """Whoever opens the first page, or any other, finds all others, by their kind."""
    pages = [file.relative_to(ROOT) for file in sorted((ROOT / "docs").glob("*.md"))]
    wanted = {(site / page).with_suffix(".html").resolve() for page in pages}

    for shown in (site / "index.html", site / "docs" / "tour.html"):
        links = (link.partition("#")[0] for link in _read(shown).links)
        found = {(shown.parent / link).resolve() for link in links}
        assert set() == wanted - found - {shown.resolve()}


def test_the_site_is_small_enough_to_be_shipped(site: Path) -> None:
    """A few megabytes; pictures and maps of styles would be more."""
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())

    assert size < 8_000_000
    assert [] == list(site.rglob("*.map"))


def test_a_page_that_nobody_placed_is_a_guide() -> None:
    """A new page is never lost; pages that are named but do not exist are left out."""
    arranged = arrange(["README", "docs/new-thing"])

    assert ["README"] == arranged["Learn"]
    assert ["docs/new-thing"] == arranged[HOW_TO]
    assert list(arranged) == [kind.title for kind in KINDS]


def test_the_search_works_from_files(site: Path, new_context: NewContext) -> None:
    """Opened without a server, the search finds pages by words, and no error is logged."""
    page = new_context().new_page()
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)

    page.goto(f"{site.as_uri()}/search.html?q=replay")
    page.wait_for_selector("#search-results li a")

    assert [] != page.locator("#search-results li a").all_inner_texts()
    assert [] == faults


def test_every_picture_and_style_is_found(site: Path, new_context: NewContext) -> None:
    """A page at phone width, in dark: nothing is missing, and nothing is wider than the screen."""
    page = new_context(color_scheme="dark", viewport={"width": 390, "height": 800}).new_page()
    missing: list[str] = []
    page.on("requestfailed", lambda request: missing.append(request.url))

    page.goto(f"{site.as_uri()}/docs/for-qa.html")

    assert [] == missing
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
