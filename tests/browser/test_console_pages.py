"""Every page of the console: readable in both color schemes, on a phone, by everyone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from mock_platform.control.console.serving import PAGES
from mock_platform.core.installed import folder
from tests.browser.conftest import NewContext, Profiles
from tests.browser.visits import DETAILS, PHONE, Visit
from tests.live_servers import LiveServer, LiveWorld

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


def test_a_long_path_fits_a_phone(new_context: NewContext, tmp_path: Path) -> None:
    """However deep the folder is from which a scenario was read."""
    own = tmp_path.joinpath("a_folder_with_a_long_name_" * 5, "another" * 20, "own.yaml")
    own.parent.mkdir(parents=True)
    packaged = folder("scenarios") / "rate-limited.yaml"
    own.write_text(packaged.read_text().replace("name: rate-limited", "name: own"))

    with LiveServer("--scenario", str(own.parents[1])) as server:
        visit = Visit(new_context().new_page(), server.world())
        visit.be("light", PHONE)
        for path in ("/console/scenarios/own", "/console/scenarios/own/edit"):
            page = visit.open(path)
            assert PHONE[0] == page.evaluate("document.documentElement.scrollWidth"), path


@pytest.mark.parametrize("visit", [False], indirect=True, ids=["no script"])
@pytest.mark.parametrize("path", PATHS)
def test_without_scripts(visit: Visit, path: str) -> None:
    """Every page shows its content without scripts too."""
    visit.complaints.clear()
    visit.open(path)

    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    assert [] == visit.complaints
