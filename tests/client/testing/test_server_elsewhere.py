from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from wsgiref.simple_server import make_server

import pytest
import requests
from werkzeug import Response

from mock_platform import MockPlatform
from mock_platform.client.testing.servers import SharedServer
from tests.client.testing.conftest import Run
from tests.client.testing.reading import section
from tests.live.processes import serving

ONE = """
def test_it(mock_platform):
    assert mock_platform.session("oauth1").get("/12/accounts").status_code == 200
"""


def test_a_running_server_is_used(run: Run, shared: MockPlatform) -> None:
    """With a URL fixtures work through the control plane, in a world that is gone afterwards."""
    result = run(
        """
        import pytest

        def test_it(mock_platform, mock_platform_server, mock_platform_session):
            assert mock_platform.name in mock_platform_server.worlds
            assert mock_platform.name.startswith("pytest-")
            assert mock_platform_session.get("/12/accounts").status_code == 401
            (entry,) = mock_platform.journal.find(operation="accounts.list")
            assert (entry.status, entry.caller["scheme"]) == (401, "none")
            with pytest.raises(RuntimeError, match="no WSGI application"):
                mock_platform.wsgi
        """,
        f"--mock-platform-url={shared.base_url}",
        "--mock-coverage",
        "-Werror",
    )

    result.assert_outcomes(passed=1)
    assert ["default"] == shared.worlds
    lines = section(result, "mock_platform: contract coverage")
    assert re.match(r"Operations called +1/", lines[2])


def test_a_running_server_judges_as_well(run: Run, shared: MockPlatform) -> None:
    """Rules that had to act fail the test, and what happened is reported, over an address too."""
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
        "mock_platform: mock_strict needs a server that this run starts. Leave out "
        "--mock-platform-url, or start that server with --strict and leave out the marker."
    ] == section(result, "ERROR at setup of test_strict")


def test_late_requests_to_a_running_server_are_told(run: Run, shared: MockPlatform) -> None:
    """What comes between two tests belongs to the earlier one, and the later one begins empty."""
    result = run(
        """
        import pytest, requests

        @pytest.fixture(autouse=True)
        def straggler(request):
            if request.node.name == "test_second":
                requests.get(urls[0] + "/12/accounts", timeout=120)

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


def test_the_address_of_a_world_is_refused(pytester: pytest.Pytester) -> None:
    """Each worker makes a world of its own, so that one would not be used."""
    result = pytester.runpytest_inprocess("--mock-platform-url=http://127.0.0.1:1/~w1")

    assert pytest.ExitCode.USAGE_ERROR == result.ret
    told = "is the address of a world, but each worker makes its own; write http://127.0.0.1:1"
    assert any(line.endswith(told) for line in result.stderr.lines)


def test_a_server_that_is_not_there_is_told(run: Run) -> None:
    """Each test that needs it says how to start it."""
    with MockPlatform.start() as platform:
        url = platform.base_url

    result = run(ONE, f"--mock-platform-url={url}")

    result.assert_outcomes(errors=1)
    assert [
        f"mock_platform: --mock-platform-url: no server answers at {url}/_mock/worlds. Start a "
        "server with `mock-platform serve`."
    ] == section(result, "ERROR at setup of test_it")


@pytest.mark.parametrize(("status", "shown"), [(200, ""), (404, "404: ")])
def test_a_server_that_is_none_of_ours_is_told(run: Run, status: int, shown: str) -> None:
    """Whatever another server answers, it is said what to use instead."""
    app = Response("<html>", status)
    with make_server("127.0.0.1", 0, app) as server, ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever)
        address = f"http://127.0.0.1:{server.server_port}"
        result = run(ONE, f"--mock-platform-url={address}")
        server.shutdown()

    assert [
        f"mock_platform: --mock-platform-url: GET {address}/_mock/worlds: {shown}the answer does "
        "not come from a mock_platform. Use the url of its READY line."
    ] == section(result, "ERROR at setup of test_it")


def test_a_server_that_goes_away_is_told(run: Run) -> None:
    """Each test that needed it says so in a line, and the run comes to its end."""
    with serving() as server:
        result = run(
            f"""
            import os, signal

            def test_last(mock_platform):
                for pid in {server.pids}:
                    os.kill(pid, signal.SIGKILL)

            def test_next(mock_platform):
                pass
            """,
            f"--mock-platform-url={server.url}",
            "--mock-coverage",
        )

    result.assert_outcomes(failed=1, errors=2)
    told = re.compile(
        rf"mock_platform: no server answers at {server.url}/~pytest-main-\d+-\S+/_mock/requests\. "
        "Start a server with `mock-platform serve`\\."
    )
    for title in "test_last", "ERROR at teardown of test_last", "ERROR at setup of test_next":
        (line,) = section(result, title)
        assert told.fullmatch(line)
    (journal,) = section(result, "mock_platform journal")
    assert journal.startswith("cannot be read: no server answers at ")
    assert ["no test used the sandbox"] == section(result, "mock_platform: contract coverage")


def test_a_world_left_over_is_replaced(shared: MockPlatform) -> None:
    """A run that was killed leaves its world behind; the next of that name begins afresh."""
    shared.world("w1").state["users"].delete("3805104374")

    server = SharedServer(shared.base_url, "w1")

    assert "3805104374" in shared.world("w1").state["users"]
    server.stop()
    assert ["default"] == shared.worlds
    assert requests.get(f"{shared.control_url}/health", timeout=120).ok


def test_fixtures_may_refer_to_those_of_the_server(pytester: pytest.Pytester, run: Run) -> None:
    """What a test adds on top refers to records that only that server has."""
    server, more = pytester.mkdir("server"), pytester.mkdir("more")
    server.joinpath("apps.json").write_text(
        '[{"id": "9", "name": "Nine", "consumer_key": "k9", "consumer_secret": "s9"}]'
    )
    more.joinpath("webhooks.json").write_text(
        '[{"id": "7", "url": "http://127.0.0.1:1/", "valid": true, '
        '"created_at": "2026-01-12T09:05:00Z", "_app_id": "9"}]'
    )
    with MockPlatform.start(fixtures=server) as platform:
        result = run(
            """
            import pytest

            @pytest.mark.mock_fixtures("more")
            def test_it(mock_platform):
                assert "7" in mock_platform.state["webhooks"]
            """,
            f"--mock-platform-url={platform.base_url}",
        )

    result.assert_outcomes(passed=1)
