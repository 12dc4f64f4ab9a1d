from __future__ import annotations

import asyncio
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest
import requests

from mock_platform.testing import PlatformMixin, PlatformTestCase


class Passing(PlatformTestCase):
    """What a suite of unittest looks like."""

    mock_clock = "2026-03-01T12:00:00Z"

    def test_a(self) -> None:
        """Leaves something behind."""
        self.mock_platform.state["users"].delete("3805104374")
        assert self.mock_platform_session.get("/12/accounts").status_code == 401

    def test_b(self) -> None:
        """Finds nothing of it."""
        assert "3805104374" in self.mock_platform.state["users"]
        assert self.mock_platform.clock.frozen
        assert ["default", self.mock_platform.name] == self.mock_platform_server.worlds


class Failing(PlatformMixin, unittest.TestCase):
    """Every way to fail."""

    __test__ = False  # for pytest; the tests below run it

    mock_scenarios = {"answer-lost": {"on": "accounts.list"}}
    mock_clock = "2026-03-01T12:00:00Z"

    def test_silent(self) -> None:
        """Asks nothing, so that the rule never acts."""

    def test_wrong(self) -> None:
        """Fails by itself."""
        self.mock_platform_session.get("/12/nowhere")
        self.fail("on purpose")

    def test_skipped(self) -> None:
        """Is not judged."""
        self.skipTest("on purpose")


class Recorded(PlatformTestCase):
    """On another wire, at another date of the contract."""

    mock_wire = "recorded"
    mock_as_of = "2026-03-01"

    def test_it(self) -> None:
        """Both hold for the world of the test."""
        answer = self.mock_platform_session.get("/12/nowhere")
        assert answer.headers["X-Mock-As-Of"] == "2026-03-01"
        assert answer.headers["X-Mock-Wire"] == "recorded"


class Late(PlatformTestCase):
    """A test that leaves something running."""

    __test__ = False
    urls: ClassVar[list[str]] = []

    def test_a(self) -> None:
        """Leaves its address behind."""
        self.urls.append(self.mock_platform.base_url)

    def test_b(self) -> None:
        """Calls there."""
        assert requests.get(f"{self.urls[0]}/12/accounts", timeout=120).status_code == 404


class Billed(PlatformTestCase):
    """A test that wants to know what it costs."""

    __test__ = False
    mock_costs = True

    def test_a(self) -> None:
        """Reads a user."""
        self.mock_platform.session("oauth1").get("/2/users/me")


class Receiving(PlatformTestCase):
    """Tests with webhooks."""

    __test__ = False
    receivers: ClassVar[list[Any]] = []

    def test_a(self) -> None:
        """Registers a receiver, which is challenged."""
        body = {"url": self.mock_webhook.url}
        assert self.mock_platform.session("bearer").post("/2/webhooks", json=body).ok
        assert 1 == len(self.mock_webhook.challenges)
        self.receivers.append(self.mock_webhook)

    def test_b(self) -> None:
        """Has a receiver of its own."""
        assert self.mock_webhook is self.mock_webhook
        assert self.mock_webhook not in self.receivers
        assert [] == self.mock_webhook.challenges


class Asynchronous(PlatformMixin, unittest.IsolatedAsyncioTestCase):
    """Tests that are coroutines."""

    __test__ = False
    mock_scenarios = {"answer-lost": {"on": "accounts.list"}}

    async def test_silent(self) -> None:
        """Asks nothing, so that the rule never acts."""
        await asyncio.sleep(0)

    async def test_acting(self) -> None:
        """Meets the rule."""
        await asyncio.sleep(0)
        with pytest.raises(requests.ConnectionError):
            self.mock_platform.session("oauth1").get("/12/accounts")


def _run(kind: type[unittest.TestCase], *names: str) -> unittest.TestResult:
    result = unittest.TestResult()
    loader = unittest.defaultTestLoader
    suite: Any = unittest.TestSuite(kind(name) for name in names or loader.getTestCaseNames(kind))
    suite.run(result)
    return result


@pytest.mark.parametrize("kind", [Passing, Receiving], ids=["world", "receiver"])
def test_each_test_has_its_own(kind: type[unittest.TestCase]) -> None:
    """The tests of a class share a server, and neither world nor receiver of webhooks."""
    result = _run(kind)

    assert (2, [], []) == (result.testsRun, result.failures, result.errors)


def test_a_rule_that_had_to_act_fails_the_test() -> None:
    """The failure names the rule, and the notes report what happened."""
    result = _run(Failing, "test_silent")

    ((_, told),) = result.failures
    assert (
        "AssertionError: mock_platform: Scenario answer-lost, rule 0, was expected to act but "
        "never did; 0 calls matched it.\n"
        "mock_platform journal:\n"
        "no request reached this test's world\n"
        "mock_platform rules that never acted:\n"
        "answer-lost/0: never acted; 0 calls matched it, on accounts.list\n"
    ) == told[told.index("AssertionError") :]


def test_a_failing_test_tells_its_story() -> None:
    """What the test itself failed of comes first."""
    result = _run(Failing, "test_wrong")

    ((_, told),) = result.failures
    assert "AssertionError: on purpose\nmock_platform journal:\n1. 12:00:00.000 GET" in told


def test_a_skipped_test_is_not_judged() -> None:
    """Skipping stays skipping."""
    result = _run(Failing, "test_skipped")

    assert ([], [], 1) == (result.failures, result.errors, len(result.skipped))


def test_late_requests_are_told() -> None:
    """A request to the world of an earlier test is refused, and a warning names its test."""
    with pytest.warns(UserWarning, match="after their test's end") as told:
        result = _run(Late)

    assert (2, [], []) == (result.testsRun, result.failures, result.errors)
    assert [
        f"mock_platform: requests after their test's end:\n{__name__}.Late.test_a: GET /12/accounts"
    ] == [str(each.message) for each in told]


def test_costs_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A class that asks for it ends with a line."""
    _run(Billed)

    assert "Billed: 1 call would have cost $0.010 (prices of " in capsys.readouterr().err


def test_coroutines_are_judged_when_they_end() -> None:
    """A rule that acts within an awaited test is seen, one that does not fails it."""
    # In a thread of its own: a browser test before may have left a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(_run, Asynchronous).result()

    assert (2, []) == (result.testsRun, result.errors)
    assert ["test_silent"] == [case._testMethodName for case, _ in result.failures]


def test_an_attribute_that_nothing_reads_is_warned_of() -> None:
    """A misspelt one is named with what may be meant; one of the suite's own is left alone."""
    with pytest.warns(UserWarning, match="is not read") as told:

        class Misspelt(PlatformTestCase):
            mock_scenario: ClassVar[dict[str, Any]] = {"answer-lost": {}}
            mock_service = "shop"

    assert [
        "mock_platform: Misspelt.mock_scenario is not read. Did you mean 'mock_scenarios'?"
    ] == [str(each.message) for each in told]


def test_attributes_of_another_form_are_told(tmp_path: Path) -> None:
    """One folder is enough; scenarios without their parameters are refused with an example."""
    (tmp_path / "users.json").write_text('[{"id": "9", "screen_name": "nine", "name": "Nine"}]')

    class OneFolder(PlatformTestCase):
        mock_fixtures = str(tmp_path)

        def test_it(self) -> None:
            assert "9" in self.mock_platform.state["users"]

    class Listed(PlatformTestCase):
        mock_scenarios: ClassVar[Any] = ["outage"]

        def test_it(self) -> None: ...

    assert _run(OneFolder).wasSuccessful()
    ((_, told),) = _run(Listed).errors
    assert "Listed.mock_scenarios are names with their parameters, as in {'outage': {}}" in told


def test_it_runs_under_pytest_as_well(pytester: pytest.Pytester) -> None:
    """Pytest collects such cases and shows the notes."""
    pytester.makepyfile(
        test_case="""
        from mock_platform.testing import PlatformTestCase

        class Case(PlatformTestCase):
            mock_scenarios = {"answer-lost": {}}

            def test_silent(self):
                pass
        """
    )

    result = pytester.runpytest_inprocess("-p", "no:randomly")

    result.assert_outcomes(failed=1)
    told = [line.removeprefix("E").strip() for line in result.stdout.lines]
    assert "answer-lost/0: never acted; 0 calls matched it, on cards_poll.create" in told
