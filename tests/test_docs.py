"""The documentation knows everything that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generators.pages import PAGES
from mock_platform.control.routes import ROUTES

DOCS = Path(__file__).parent.parent / "docs"
_PAGE_ONLY = {"/console", "/console/requests/<key>"}
"""Parts of the console, not routes for programs."""


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_what_the_generator_writes(name: str) -> None:
    """The committed page shows the code as it is; `make docs` writes it."""
    assert PAGES[name]() == (DOCS / name).read_text("utf-8"), "run `make docs`"


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
