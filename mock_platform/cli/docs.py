"""`docs`: the pages of the documentation that the package contains, without a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from mock_platform.cli.command import CheckFailed, align
from mock_platform.core.errors import did_you_mean
from mock_platform.core.installed import folder

_FRONT = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")
"""Pages that are beside `docs/` in a checkout, and inside it in the package."""
_INDEX = "index"
"""The page with the list of all others: `docs/README.md` of a checkout."""


def list_pages() -> str:
    """Return the names of all pages, each with its title."""
    rows = [("PAGE", "TITLE")]
    rows += [(name, _read_title(file)) for name, file in _find_pages().items()]
    return align(rows)


def read_page(name: str) -> str:
    """Return the text of a page.

    Raises:
        CheckFailed: No page has this name; the message names the nearest one.
    """
    return _find_page(name).read_text("utf-8")


def open_site(name: str | None) -> Path | None:
    """Open a page of the site in a browser, the first one unless it is named.

    Returns:
        The page, or `None` where the site was not built: then nothing was opened.

    Raises:
        CheckFailed: No page has this name, or no program opens it.
    """
    file = None if name in {None, _INDEX} else _find_page(name)
    site = _find_site()
    if site is None:
        return None
    page = site / "index.html"
    if file is not None:
        place = site if file.stem in _FRONT else site / "docs"
        page = place / f"{file.stem}.html"
    _launch(page)
    return page


def open_page(name: str) -> None:
    """Open the text of a page with the program that this machine uses for such files.

    Raises:
        CheckFailed: No page has this name, or no program opens it.
    """
    _launch(_find_page(name))


def _launch(file: Path) -> None:
    if click.launch(str(file)) != 0:
        raise CheckFailed(f"No program of this machine opens the page. Its file is {file}.")


def _find_site() -> Path | None:
    """Return the folder of the built site: in the package, or where `make site` puts it."""
    docs = folder("docs")
    for site in (docs / "site", docs.parent / "build" / "site"):
        if (site / "index.html").is_file():
            return site
    return None


def _find_page(name: str) -> Path:
    pages = _find_pages()
    wanted = name.lower().removesuffix(".md").removeprefix("docs/")
    if wanted not in pages:
        hint = did_you_mean(wanted, pages)
        raise CheckFailed(f"There is no page {name!r}.{hint} `mock-platform docs` lists all pages.")
    return pages[wanted]


def _find_pages() -> Mapping[str, Path]:
    """Return the files of all pages by name: first those to start with, then by alphabet."""
    docs = folder("docs")
    found = {}
    for name in _FRONT:
        beside = docs.parent / f"{name}.md"
        found[name.lower()] = beside if beside.is_file() else docs / f"{name}.md"
    for file in sorted(docs.glob("*.md")):
        if file not in found.values():
            found[_INDEX if file.stem == "README" else file.stem.lower()] = file
    return {name: file for name, file in found.items() if file.is_file()}


def _read_title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), "")
