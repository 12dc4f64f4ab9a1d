"""Every page of the console: readable in both color schemes, on a phone, by everyone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from mock_platform.console.pages import PAGES
from tests.browser.conftest import NewContext
from tests.browser.visits import DETAILS, Visit
from tests.serving import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]


@pytest.mark.parametrize("path", [*(page.path for page in PAGES), *DETAILS])
def test_looks(furnished_world: LiveWorld, new_context: NewContext, path: str) -> None:
    """No complaints of the browser, none of axe-core, nothing wider than a phone."""
    visit = Visit(new_context().new_page(), furnished_world)

    assert {} == visit.inspect(path)
    assert 1 == visit.page.get_by_role("heading", level=1).count()


@pytest.mark.parametrize("path", [*(page.path for page in PAGES), *DETAILS])
def test_without_scripts(furnished_world: LiveWorld, new_context: NewContext, path: str) -> None:
    """Every page shows its content without scripts too."""
    visit = Visit(new_context(java_script_enabled=False).new_page(), furnished_world)
    visit.open(path)

    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    assert [] == visit.complaints
