"""Builds the site with Sphinx. A link or a heading that is not there fails the build."""

from __future__ import annotations

import gc
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from docs.generators.site.staging import stage, write_texts
from mock_platform.version import __version__

STAMP = "sources.txt"
"""The file of a site that has the checksum of its sources."""
_CONFIGURATION: dict[str, Any] = {
    "project": "mock_platform",
    "release": __version__,
    "html_title": f"mock_platform {__version__}",
    "extensions": ["myst_parser"],
    "myst_heading_anchors": 6,
    "html_theme": "furo",
    "html_copy_source": False,
    "html_show_sourcelink": False,
    "html_show_copyright": False,
    "html_show_sphinx": False,
    "html_use_index": False,
    # Opened from files, a browser does not let the search read the pages that it found.
    "html_show_search_summary": False,
    # Blocks of JSON with parts left out, or of several lines that are one object each.
    "suppress_warnings": ["misc.highlighting_failure"],
}


class BrokenSite(Exception):
    """The pages do not make a site; the message has what Sphinx printed."""


def build(place: Path) -> None:
    """Build the site into a folder, in place of what is there.

    Raises:
        BrokenSite: A page has a fault, such as a link that leads nowhere.
        LookupError: A link leads to no file of the checkout.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        source = work / "source"
        source.mkdir()
        checksum = stage(source)
        made = work / "site"
        with _collecting_nothing():
            _run_sphinx(source, made, work / "read")
            write_texts(made)
        for left in (*made.rglob("*.map"), made / ".buildinfo", made / "objects.inv"):
            left.unlink()
        (made / STAMP).write_text(f"{checksum}\n", "ascii")
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, place)


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Leave the garbage until the end: nearly everything is kept, and to scan it took a fifth."""
    runs = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if runs:
            gc.enable()


def _run_sphinx(source: Path, made: Path, read: Path) -> None:
    told = StringIO()
    # The themes and extensions warn one another about their own future.
    with warnings.catch_warnings(action="ignore"):
        from sphinx.application import Sphinx
        from sphinx.search.en import SearchEnglish

        class English(SearchEnglish):
            """English, in which the stem of each word is found once."""

            stem = cache(SearchEnglish.stem)

        settings: Any = {"confoverrides": _CONFIGURATION, "status": None, "warning": told}
        app = Sphinx(source, None, made, read, "html", **settings)
        app.add_search_language(English)
        app.connect("html-page-context", _Titles().use, priority=1)
        app.build()
    if told.getvalue():
        raise BrokenSite(told.getvalue().replace(f"{source}/", ""))


class _Titles:
    """Leaves the headings out of what the navigation of each page is made of: it shows titles.

    To copy and drop all headings for each page took a fifth of the time.
    """

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def use(
        self, app: Any, _page: str, _template: str, context: dict[str, Any], _tree: object
    ) -> None:
        """Let a page write its navigation with the titles."""
        whole, write = app.env.tocs, context.get("toctree")
        if write is None:  # a page that Sphinx makes itself
            return
        if not self._known:
            self._known = {name: _drop_headings(toc) for name, toc in whole.items()}

        def write_titles(**options: Any) -> str:
            app.env.tocs = self._known
            try:
                return str(write(**options))
            finally:
                app.env.tocs = whole

        context["toctree"] = write_titles


def _drop_headings(toc: Any) -> Any:
    titles = toc.deepcopy()
    for title in titles.children:
        del title[1:]
    return titles
