"""Every page of the console: readable in both color schemes, on a phone, by everyone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from mock_platform.console.pages import PAGES
from tests.browser.conftest import Profiles
from tests.browser.visits import DETAILS, Visit
from tests.serving import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]


PATHS = [*(page.path for page in PAGES), *DETAILS]


@pytest.fixture(scope="module")
def visit(
    request: pytest.FixtureRequest, furnished_world: LiveWorld, profiles: Profiles
) -> Iterator[Visit]:
    """One page of a browser for all paths, with JavaScript or without."""
    options: dict[str, object] = {} if request.param else {"java_script_enabled": False}
    context = profiles.take(**options)
    yield Visit(context.new_page(), furnished_world)
    profiles.give_back(context, **options)


@pytest.mark.parametrize("visit", [True], indirect=True, ids=["script"])
@pytest.mark.parametrize("path", PATHS)
def test_looks(visit: Visit, path: str) -> None:
    """No complaints of the browser, none of axe-core, nothing wider than a phone."""
    assert {} == visit.inspect(path)
    assert 1 == visit.page.get_by_role("heading", level=1).count()


@pytest.mark.parametrize("visit", [False], indirect=True, ids=["no script"])
@pytest.mark.parametrize("path", PATHS)
def test_without_scripts(visit: Visit, path: str) -> None:
    """Every page shows its content without scripts too."""
    visit.complaints.clear()
    visit.open(path)

    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    assert [] == visit.complaints
