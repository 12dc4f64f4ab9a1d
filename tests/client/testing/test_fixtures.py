from __future__ import annotations

import statistics
from importlib.metadata import entry_points
from time import thread_time

import pytest

from mock_platform import MockPlatform
from mock_platform.client.testing.servers import LocalServers, WorldRequest
from tests.client.testing.conftest import Run
from tests.client.testing.reading import headings, section
from tests.commands import python
from tests.support import find_inner


def test_it_is_registered() -> None:
    """Installing the package is enough for pytest to find the plugin."""
    (found,) = entry_points(group="pytest11", name="mock_platform")

    assert found.value == "mock_platform.pytest_plugin"


@pytest.mark.claim("`pytest_plugin.py` imports nothing of the package until a fixture is used.")
def test_loading_it_imports_nothing_of_ours() -> None:
    """A suite that uses no fixture loads the plugin's own module, and none that it works with."""
    code = (
        "import sys, pytest\n"
        "import mock_platform.pytest_plugin\n"
        "print(sorted(n for n in sys.modules if n.partition('.')[0] == 'mock_platform'))\n"
        "print(sorted({'flask', 'requests', 'marshmallow', 'werkzeug'} & set(sys.modules)))"
    )

    ended = python("-c", code, check=True)

    ours = ["mock_platform", "mock_platform.pytest_plugin", "mock_platform.version"]
    assert [str(ours), "[]"] == ended.stdout.splitlines()


def test_a_suite_without_it_runs_as_ever(pytester: pytest.Pytester) -> None:
    """A run in which no test uses a fixture ends without anything of ours imported."""
    pytester.makepyfile(
        test_it="""
        import sys

        def test_plain():
            assert "mock_platform.client.platform" not in sys.modules
            assert "mock_platform.core" not in sys.modules
            assert "flask" not in sys.modules
        """
    )

    result = pytester.runpytest_subprocess("-p", "no:randomly")

    result.assert_outcomes(passed=1)
    assert not any("mock_platform" in heading for heading in headings(result))


def test_a_test_loads_only_what_it_uses() -> None:
    """A world, a call and the end of the test need neither unittest nor what few tests need."""
    code = (
        "import sys\n"
        "from mock_platform.client.testing.servers import LocalServers\n"
        "from mock_platform.client.testing.servers import WorldRequest\n"
        "servers = LocalServers()\n"
        "world, verdict = servers.open(WorldRequest(), 'test')\n"
        "with world.session('bearer') as session:\n"
        "    assert session.get('/12/accounts').status_code == 200\n"
        "assert verdict.problems() == []\n"
        "verdict.end()\n"
        "servers.close(world)\n"
        "servers.stop()\n"
        "late = {'unittest', 'mock_platform.control.routes', 'ruamel', 'apispec', 'trustme',"
        " 'cryptography', 'prometheus_client', 'watchfiles', 'pycountry',"
        " 'mock_platform.client.testing.webhook_receiver',"
        " 'mock_platform.verification.har.reader'}\n"
        "print(sorted(late & set(sys.modules)))"
    )

    ended = python("-c", code, check=True)

    assert "[]\n" == ended.stdout


def test_each_test_has_a_fresh_world(wherever: Run) -> None:
    """What one test does to its world, the next one does not see."""
    result = wherever(
        """
        import pytest

        @pytest.mark.parametrize("time", [1, 2])
        def test_it(mock_platform, time):
            assert len(mock_platform.journal) == 0
            assert "3805104374" in mock_platform.state["users"]
            mock_platform.state["users"].delete("3805104374")
            assert mock_platform.session("oauth1").get("/12/accounts").status_code == 200
        """
    )

    result.assert_outcomes(passed=2)


SUITES = {
    # The server is one for the run, over the network too; a test's world is gone after it.
    "one server serves all tests": ({"passed": 2}, """
import requests

worlds = []

def test_one(mock_platform, mock_platform_server):
    worlds.append((mock_platform.name, mock_platform_server))
    assert mock_platform.base_url.startswith(mock_platform_server.base_url + "/~")
    headers = {"Authorization": "Bearer " + mock_platform.credentials["bearer_token"]}
    url = mock_platform.base_url + "/12/accounts"
    assert requests.get(url, headers=headers, timeout=120).status_code == 200
    assert 1 == len(mock_platform.journal)

def test_two(mock_platform, mock_platform_server):
    name, server = worlds[0]
    assert server is mock_platform_server
    assert ["default", mock_platform.name] == server.worlds
    assert name != mock_platform.name
"""),
    # It reaches the test's world and sends no credentials by itself.
    "the session is answered in process": ({"passed": 1}, """
def test_it(mock_platform, mock_platform_session):
    assert mock_platform_session.get("/12/accounts").status_code == 401
    (entry,) = mock_platform.journal.find(operation="accounts.list")
    assert "none" == entry.caller["scheme"]
"""),
    # Pytest keeps all tests until the end; their worlds go with the test, failed ones too.
    "a run keeps no world": ({"passed": 2, "failed": 1}, """
import weakref

import pytest

worlds = []

@pytest.mark.parametrize("number", range(3))
def test_one(mock_platform, number):
    assert all(world() is None for world in worlds)
    worlds.append(weakref.ref(mock_platform._world))
    with mock_platform.session("bearer") as session:
        session.get("/12/accounts")
    assert number != 1
"""),
}  # fmt: skip


@pytest.mark.parametrize(("outcomes", "source"), SUITES.values(), ids=SUITES)
def test_what_the_tests_of_a_run_have(run: Run, outcomes: dict[str, int], source: str) -> None:
    """Each suite ends as it says."""
    run(source).assert_outcomes(**outcomes)


def test_a_fresh_world_costs_next_to_nothing() -> None:
    """Making and ending the world of a test takes this thread a few milliseconds at most."""
    servers = LocalServers()
    took = []
    for number in range(50):
        began = thread_time()
        world, trial = servers.open(WorldRequest(), f"test {number}")
        assert [] == trial.problems()
        servers.close(world)
        took.append(thread_time() - began)
    servers.stop()

    assert statistics.median(took) < 0.01


def test_late_requests_are_refused_and_told(run: Run) -> None:
    """A request to the world of an earlier test finds it closed; the end of the run reports it."""
    result = run(
        """
        import requests

        late = []

        def test_first(mock_platform):
            late.append(mock_platform.base_url)

        def test_second(mock_platform):
            for _ in range(2):
                url = late[0] + "/12/accounts?oauth_token=secret"
                assert requests.get(url, timeout=120).status_code == 404
            assert 0 == len(mock_platform.journal)
        """
    )

    result.assert_outcomes(passed=2)
    assert ["test_it.py::test_first: GET /12/accounts (2 times)"] == section(
        result, "mock_platform: requests after their test's end"
    )


def test_ids_of_a_test_repeat() -> None:
    """What a world draws depends on its test alone, not on the tests that ran before it."""
    drawn = []
    for earlier in (["test_a"], ["test_b", "test_c"]):
        servers = LocalServers()
        names = []
        for test in [*earlier, "test_it", "test_it"]:
            world, _ = servers.open(WorldRequest(), test)
            names.append(world.name)
            servers.close(world)
        servers.stop()
        drawn.append(names[-2:])

    assert drawn[0] == drawn[1]
    first, again = drawn[0]
    assert f"{first}-2" == again


def test_a_request_that_outlives_its_world_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is answered while its world is dropped counts as late too."""
    seen: list[tuple[str, str, str]] = []
    with MockPlatform.start() as platform:
        platform.on_stray(lambda *stray: seen.append(stray))
        world = platform.world("w1")
        monkeypatch.setattr(
            find_inner(platform), "observers", [lambda _: platform.drop_world("w1")]
        )

        world.session("oauth1").get("/12/accounts")

    assert [("w1", "GET", f"{world.base_url}/12/accounts")] == seen
