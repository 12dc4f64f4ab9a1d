from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
import requests

from mock_platform import MockPlatform
from tests.plugin.conftest import Run
from tests.plugin.reading import headings, section

ONE = """
def test_it(mock_platform):
    assert mock_platform.session("oauth1").get("/12/accounts").status_code == 200
"""


@pytest.fixture
def shared() -> Iterator[MockPlatform]:
    """A running server that the inner runs share."""
    with MockPlatform.start() as platform:
        yield platform


# -- coverage ------------------------------------------------------------------------------------


def test_coverage_is_summed_up(run: Run) -> None:
    """`--mock-coverage` alone tells the totals of the run."""
    result = run(ONE, "--mock-coverage")

    lines = section(result, "mock_platform: contract coverage")
    assert lines[0].startswith("Contract coverage 0.")
    assert lines[2].startswith("Operations called             1/")


def test_coverage_goes_to_files(pytester: pytest.Pytester, run: Run) -> None:
    """The name's ending tells the form; folders are made."""
    names = ["out/a.html", "out/a.xml", "out/a.json", "out/a.txt"]
    result = run(ONE, *(f"--mock-coverage={name}" for name in names))

    html, xml, document, text = (pytester.path.joinpath(name).read_text() for name in names)
    assert html.startswith("<!doctype html>")
    assert "testsuites" == ET.fromstring(xml).tag
    assert 1 == json.loads(document)["totals"]["operations"]["covered"]
    assert text.startswith("Contract coverage 0.")
    lines = section(result, "mock_platform: contract coverage")
    assert [f"written to {name}" for name in names] == lines[-4:]


def test_without_the_option_nothing_is_told(run: Run) -> None:
    """Coverage is counted by the server in any case, and told on demand."""
    assert not any("coverage" in heading for heading in headings(run(ONE)))


def test_too_little_coverage_fails_the_run(run: Run) -> None:
    """A run whose tests all pass fails under the gate, and says by how much."""
    result = run(ONE, "--mock-coverage-fail-under=50")

    assert pytest.ExitCode.TESTS_FAILED == result.ret
    result.assert_outcomes(passed=1)
    (line,) = [line for line in result.stdout.lines if line.startswith("FAILED: ")]
    assert line.endswith(" % is under the 50 % asked for")


def test_the_gate_is_open_at_its_own_mark(run: Run) -> None:
    """As much as was asked for is enough."""
    document = "--mock-coverage=a.json"
    run(ONE, document)
    lines = run(ONE, document, "--mock-coverage-fail-under=0").stdout.lines
    percent = next(line.split()[2] for line in lines if line.startswith("Contract coverage"))

    reached = run(ONE, f"--mock-coverage-fail-under={percent}")
    missed = run(ONE, f"--mock-coverage-fail-under={float(percent) + 0.1:.1f}")

    assert (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) == (reached.ret, missed.ret)


def test_a_run_without_the_sandbox_covers_nothing(run: Run) -> None:
    """The gate does not open because no test used the sandbox."""
    result = run("def test_it(): pass", "--mock-coverage-fail-under=1")

    assert pytest.ExitCode.TESTS_FAILED == result.ret
    assert ["no test used the sandbox", "FAILED: 0 % is under the 1 % asked for"] == section(
        result, "mock_platform: contract coverage"
    )


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "--mock-coverage=tests",
            "argument --mock-coverage: 'tests' does not tell the form: a file's name ends in "
            ".html, .json, .txt, .xml. Without a file, write the option last, or "
            "'--mock-coverage='.",
        ),
        *(
            (
                f"--mock-coverage-fail-under={wrong}",
                f"argument --mock-coverage-fail-under: '{wrong}' is no percentage: a number from 0 "
                "to 100.",
            )
            for wrong in ("101", "-1", "half", "nan")
        ),
    ],
)
def test_a_bad_option_is_told(run: Run, option: str, told: str) -> None:
    """What an option does not take ends the run with status 4."""
    result = run(ONE, option)

    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert f"pytest.main(): error: {told}" in result.stderr.lines


# -- a server elsewhere --------------------------------------------------------------------------


def test_a_running_server_is_used(run: Run, shared: MockPlatform) -> None:
    """With a URL fixtures work through the control plane, in a world that is gone afterwards."""
    result = run(
        """
        import pytest
        from datetime import datetime, UTC

        @pytest.mark.mock_clock("2026-03-01T12:00:00Z")
        @pytest.mark.mock_scenario("usage-capped", period="Daily")
        def test_one(mock_platform, mock_platform_server, mock_platform_session):
            assert mock_platform.name in mock_platform_server.worlds
            assert mock_platform.name.startswith("pytest-")
            clock = mock_platform.clock
            assert (clock.now(), clock.frozen) == (datetime(2026, 3, 1, 12, tzinfo=UTC), True)
            assert clock.advance(hours=1).hour == 13
            job = {"from_date": "202603010000", "to_date": "202603010100", "webhook_id": "1"}
            answer = mock_platform.session("bearer").post("/2/webhooks/replay", json=job)
            assert answer.json()["period"] == "Daily"
            assert mock_platform_session.get("/12/accounts").status_code == 401
            (entry,) = mock_platform.journal.find(operation="accounts.list")
            assert (entry.status, entry.caller["scheme"]) == (401, "none")
            assert 2 == len(mock_platform.journal) == mock_platform.journal.count()
            assert entry.id == mock_platform.journal.get(entry.id).id
            assert mock_platform.journal.get("r0") is None
            users = mock_platform.state["users"]
            users.delete("3805104374")
            assert "3805104374" not in users
            users.patch("2244994945", {"name": "Renamed"})
            assert users.get("2244994945")["name"] == "Renamed"
            with pytest.raises(RuntimeError, match="no WSGI application"):
                mock_platform.wsgi

        def test_two(mock_platform):
            assert 0 == len(mock_platform.journal)
            assert not mock_platform.clock.frozen
            assert "3805104374" in mock_platform.state["users"]
            assert mock_platform.session("oauth1").get("/12/accounts").status_code == 200
        """,
        f"--mock-platform-url={shared.base_url}",
        "--mock-coverage",
        "-Werror",
    )

    result.assert_outcomes(passed=2)
    assert ["default"] == shared.worlds
    lines = section(result, "mock_platform: contract coverage")
    assert lines[2].startswith("Operations called             2/")


def test_fixtures_and_scenario_files_reach_a_running_server(
    pytester: pytest.Pytester, run: Run, shared: MockPlatform
) -> None:
    """Files lie with the tests, not with the server."""
    folder = pytester.mkdir("more")
    folder.joinpath("users.json").write_text('[{"id": "9", "screen_name": "nine", "name": "N"}]')
    pytester.path.joinpath("down.yaml").write_text(
        '{"name": "down", "rules": [{"on": "accounts.list", "then": {"respond": {"status": 503}}}]}'
    )

    result = run(
        """
        import pytest

        @pytest.mark.mock_fixtures("more")
        @pytest.mark.mock_scenario("down.yaml")
        def test_it(mock_platform):
            assert mock_platform.state["users"].get("9")["screen_name"] == "nine"
            assert "3805104374" in mock_platform.state["users"]
            assert mock_platform.session("oauth1").get("/12/accounts").status_code == 503
        """,
        f"--mock-platform-url={shared.base_url}",
    )

    result.assert_outcomes(passed=1)


def test_a_running_server_judges_as_well(run: Run, shared: MockPlatform) -> None:
    """Rules that had to act fail the test, and the story is told, over an address too."""
    result = run(
        """
        import pytest

        @pytest.mark.mock_scenario("answer-lost")
        def test_it(mock_platform_session):
            mock_platform_session.get("/12/accounts")

        @pytest.mark.mock_strict
        def test_strict(mock_platform): pass
        """,
        f"--mock-platform-url={shared.base_url}",
    )

    result.assert_outcomes(failed=1, errors=1)
    assert [
        "mock_platform: Scenario answer-lost, rule 0, was expected to act but never did; 0 calls "
        "matched it."
    ] == section(result, "test_it")
    assert section(result, "mock_platform journal")[0].endswith(
        "GET /12/accounts -> 401 accounts.list"
    )
    assert [
        "mock_platform: mock_strict needs a server of the run's own. Leave --mock-platform-url "
        "out, or start that server with --strict and leave the marker out."
    ] == section(result, "ERROR at setup of test_strict")


def test_late_requests_to_a_running_server_are_told(run: Run, shared: MockPlatform) -> None:
    """What comes between two tests belongs to the earlier one, and the later one begins empty."""
    result = run(
        """
        import pytest, requests

        @pytest.fixture(autouse=True)
        def straggler(request):
            if request.node.name == "test_second":
                requests.get(urls[0] + "/12/accounts", timeout=10)

        urls = []

        def test_first(mock_platform):
            urls.append(mock_platform.base_url)

        def test_second(mock_platform):
            assert 0 == len(mock_platform.journal)
        """,
        f"--mock-platform-url={shared.base_url}",
    )

    result.assert_outcomes(passed=2)
    assert ["test_it.py::test_first: GET /12/accounts"] == section(
        result, "mock_platform: requests after their test's end"
    )


def test_a_server_that_is_not_there_is_told(run: Run) -> None:
    """Each test that needs it says how to start it."""
    with MockPlatform.start() as platform:
        url = platform.base_url

    result = run(ONE, f"--mock-platform-url={url}")

    result.assert_outcomes(errors=1)
    assert [
        f"mock_platform: --mock-platform-url {url}: nobody answers there. Start one with "
        "`mock-platform serve`."
    ] == section(result, "ERROR at setup of test_it")


def test_a_world_left_over_is_replaced(shared: MockPlatform) -> None:
    """A run that was killed leaves its world behind; the next of that name begins afresh."""
    from mock_platform.testing.shared import SharedServer

    shared.world("w1").state["users"].delete("3805104374")

    server = SharedServer(shared.base_url, "w1")

    assert "3805104374" in shared.world("w1").state["users"]
    server.stop()
    assert ["default"] == shared.worlds
    assert requests.get(f"{shared.control_url}/health", timeout=10).ok
