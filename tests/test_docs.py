"""The documentation knows everything that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generators.pages import PAGES
from mock_platform.control.routes import ROUTES
from mock_platform.operations import TABLES
from mock_platform.records.table import Table

DOCS = Path(__file__).parent.parent / "docs"
_PAGE_ONLY = {"/console", "/console/requests/<key>"}
"""Parts of the console, not routes for programs."""


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_what_the_generator_writes(name: str) -> None:
    """The committed page shows the code as it is; `make docs` writes it."""
    assert PAGES[name]() == (DOCS / name).read_text("utf-8"), "run `make docs`"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_is_documented(table: Table) -> None:
    """Each table stands in the page on fixtures with its key and all keys of our own."""
    name = table.name
    text = (DOCS / "fixtures.md").read_text("utf-8")
    row = next((line for line in text.splitlines() if line.startswith(f"| `{name}` |")), "")

    assert f"`{table.key}`" in row
    own = {field for field in table.fields if field.startswith("_")}
    assert own - set(re.findall(r"`(\w+)`", row)) == set()


def test_every_control_route_is_documented() -> None:
    """Each route of the control plane stands in its page, with its method."""
    text = (DOCS / "control-plane.md").read_text("utf-8")
    missing = []
    for route in ROUTES:
        if route.path in _PAGE_ONLY:
            continue
        path = re.sub(r"<(?:path:)?\w+>", "[A-Z]+", route.path.replace(".", r"\."))
        pattern = rf"{route.method}[^\n]*`?/_mock{path}(?:`|$|\?)"
        if re.search(pattern, text, re.MULTILINE) is None:
            missing.append(f"{route.method} {route.path}")

    assert missing == []
