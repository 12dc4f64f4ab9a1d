"""Writes every generated page: `python -m docs.generators`, in a checkout."""

from __future__ import annotations

from docs.generators.pages import DOCS, PAGES

for name, write_page in PAGES.items():
    (DOCS / name).write_text(write_page(), "utf-8", newline="\n")
