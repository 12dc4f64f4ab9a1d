from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import requests

from mock_platform import MockPlatform
from mock_platform.settings import Settings
from tests.cli.running import run as run_command
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


run = partial(run_command, "coverage")


@pytest.fixture
def platform() -> Iterator[MockPlatform]:
    """A running server that was asked for its description once, for accounts, and for a user."""
    query = {"count": "1", "q": "h", "sort_by": "name-asc", "with_deleted": "true"}
    with MockPlatform.start() as platform:
        assert platform.session("bearer").get("/12/accounts", params=query).ok
        assert platform.session("bearer").get("/2/users/2244994945").ok
        assert requests.get(f"{platform.base_url}/2/openapi.json", timeout=PATIENCE).ok
        yield platform


def test_text(platform: MockPlatform) -> None:
    """The text is printed, whatever the address ends with."""
    for end in ("", "/", "/_mock"):
        result = run("--format", "text", "--url", f"{platform.base_url}{end}")

        assert result.exit_code == 0, result.output
        assert re.search(r"  openapi\.get +1 requests", result.output)


def test_json_is_what_the_control_route_gives(platform: MockPlatform) -> None:
    """The document is that of the server; programs, which read no terminal, get it unasked."""
    result = run("--format", "json", MOCK_PLATFORM_COVERAGE_URL=platform.base_url)
    unasked = run(MOCK_PLATFORM_COVERAGE_URL=platform.base_url)

    answer = requests.get(f"{platform.base_url}/_mock/coverage", timeout=PATIENCE).json()
    assert answer == json.loads(result.stdout)
    assert result.stdout == unasked.stdout


def test_beside_run_it_needs_no_address(platform: MockPlatform) -> None:
    """The address that `run` passes on is used, unless the option has its own variable."""
    taken = run("--format", "json", MOCK_PLATFORM_URL=platform.base_url)
    own = {"MOCK_PLATFORM_COVERAGE_URL": f"{platform.base_url}/~w2", "MOCK_PLATFORM_URL": "x"}
    platform.world("w2")

    assert 0 < json.loads(taken.stdout)["percent"]
    assert 0 == json.loads(run("--format", "json", **own).stdout)["percent"]


def test_a_world(platform: MockPlatform) -> None:
    """Under a world's address, or with its name, it is what that world has exercised."""
    platform.world("w1")
    result = run("--format", "json", "--url", f"{platform.base_url}/~w1")
    named = run("--format", "json", "--url", platform.base_url, "--world", "w1")

    assert 0 == json.loads(result.stdout)["percent"]
    assert result.stdout == named.stdout


def test_html(platform: MockPlatform) -> None:
    """The page can be redirected into a file."""
    result = run("--format", "html", "--url", platform.base_url)

    assert result.stdout.startswith("<!doctype html>")
    assert result.stdout.rstrip().endswith("</html>")


@pytest.mark.parametrize(("demanded", "status"), [("0", 0), ("0.1", 0), ("50", 1)])
def test_fail_under(platform: MockPlatform, demanded: str, status: int) -> None:
    """Too low a coverage ends with status 1, after the report."""
    result = run("--format", "junit", "--fail-under", demanded, "--url", platform.base_url)

    assert status == result.exit_code
    assert str(status) == ET.fromstring(result.stdout).get("failures")
    assert (status == 1) == ("is below the required 50 %" in result.stderr)


def test_control_token() -> None:
    """A guarded server returns its coverage to who has the token, and refuses others."""
    with MockPlatform.start(Settings(control_token="t0ken")) as platform:
        refused = run("--url", platform.base_url)
        taken = run("--url", platform.base_url, "--control-token", "t0ken")
        from_environment = run("--url", platform.base_url, MOCK_PLATFORM_CONTROL_TOKEN="t0ken")

    assert 1 == refused.exit_code
    assert "401: The control token is missing" in refused.stderr
    assert (0, 0) == (taken.exit_code, from_environment.exit_code)


def test_another_server(platform: MockPlatform) -> None:
    """A world that does not exist is refused with the nearest, another address with its answer."""
    result = run("--url", f"{platform.base_url}/~defalt")
    elsewhere = run("--url", f"{platform.base_url}/2")

    assert (1, 1) == (result.exit_code, elsewhere.exit_code)
    assert "has no world 'defalt'. Did you mean 'default'?" in result.stderr
    assert "404: No operation answers /2/_mock/worlds." in elsewhere.stderr


def test_a_scope_and_a_baseline(platform: MockPlatform, tmp_path: Path) -> None:
    """The same as in `run` and pytest: what is lost ends with status 1 and is named."""
    address = ("--url", platform.base_url)
    scoped = run("--only", "line_items.*", "--format", "baseline", *address)
    file = tmp_path / "a.baseline"
    file.write_text(scoped.stdout + "line_items.delete 200\n")
    kept = run("--baseline", file, "--only", "line_items.list", "--format", "text", *address)
    lost = run("--baseline", file, "--format", "text", *address)

    assert (0, 0, 1) == (scoped.exit_code, kept.exit_code, lost.exit_code)
    assert all(line.startswith(("#", "line_items.")) for line in scoped.stdout.splitlines())
    assert " of line_items.list\n" in kept.stdout
    assert lost.stderr.endswith(
        f"Error: 1 outcome of {file} that earlier runs covered was not covered\n"
        "line_items.delete 200\n"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--only", "line_item.*"), "--only: 'line_item.*' matches no operation; did you mean"),
        (("--baseline", "nowhere"), "--baseline: nowhere:1:1: cannot be read: "),
    ],
)
def test_bad_conditions_are_usage_errors(
    platform: MockPlatform, words: tuple[str, str], told: str
) -> None:
    """A typo does not become an empty scope or an open gate."""
    result = run(*words, "--url", platform.base_url)

    assert 2 == result.exit_code
    assert told in result.stderr
