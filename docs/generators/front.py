"""`docs/README.md`: every page by its kind, in the order of the site."""

from __future__ import annotations

import re

from docs.generators.rooms import ROOT
from docs.generators.site.navigation import KINDS, arrange

_ROOT_PAGES = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")
_SELF = "docs/README"
_MADE = "Made by `make docs`"
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
"""What tools for agents read of a page before its text."""
_BLOCK = re.compile(r"^```.*?^```\n", re.DOTALL | re.MULTILINE)
_INTRODUCTION = """\
# All pages

Made by `make docs` from the order of the site and the first sentence of each page; do not edit.

New here? [The README](../README.md) says what this is and installs it, [a tour](tour.md) shows
everything once, and [the glossary](glossary.md) has the words, also what *document A* and
*document B* are. `mock-platform docs` lists the pages, `mock-platform docs PAGE` prints one, and
`mock-platform docs --open` opens them as a site with a search.
"""


def write_page() -> str:
    """Returns the page."""
    files = [ROOT / f"{name}.md" for name in _ROOT_PAGES] + sorted((ROOT / "docs").rglob("*.md"))
    names = [file.relative_to(ROOT).with_suffix("").as_posix() for file in files]
    arranged = arrange(names)
    parts = [_INTRODUCTION]
    for kind in KINDS:
        rows = [_write_row(page) for page in arranged[kind.title] if page != _SELF]
        parts.append("\n".join([f"## {kind.title}", "", kind.purpose, "", *rows, ""]))
    return "\n".join(parts)


def _write_row(page: str) -> str:
    text = _FRONT_MATTER.sub("", (ROOT / f"{page}.md").read_text("utf-8"))
    head, *paragraphs = _BLOCK.sub("", text).split("\n\n")
    text = next(each for each in paragraphs if each and not each.startswith((_MADE, "#", "|", "!")))
    sentence = _LINK.sub(r"\1", " ".join(text.split())).split(". ")[0].rstrip(":.") + "."
    title = head.removeprefix("# ").strip()
    path = page.removeprefix("docs/") if page.startswith("docs/") else f"../{page}"
    return f"- [{title}]({path}.md): {sentence}"
