from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from functools import partial
from threading import Condition
from types import SimpleNamespace
from typing import Any

import pytest

# Imported here: pytester forgets what is imported within an inner run.
import mock_platform.testing  # noqa: F401
from mock_platform.client.testing import mutation
from mock_platform.core.call import Call
from mock_platform.platform import Platform
from mock_platform.scenario.failures import failures
from mock_platform.world.world import World
from tests.client.testing.conftest import Run
from tests.client.testing.reading import section

GET = "/12/accounts/18ce54d4x5t/line_items/itttx"
CODES = [str(failure) for failure in failures("line_items.get")]
SUITE = f"""
import unittest
import pytest
import requests
from mock_platform import MockPlatform
from mock_platform.testing import PlatformMixin

GET = "{GET}"

def get(world):
    return world.session("oauth1").get(GET)

@pytest.fixture(scope="module")
def server():
    with MockPlatform.start() as started:
        yield started

@pytest.fixture
def emptied(server):
    server.reset()
    return server

@pytest.fixture
def item(mock_platform):
    answer = get(mock_platform)
    answer.raise_for_status()
    return answer.json()

def test_blind(mock_platform):
    get(mock_platform)

def test_noticing(mock_platform, tmp_path):
    assert get(mock_platform).ok

def test_of_a_fixture(item):
    assert item

def test_common_server(emptied):
    get(emptied)

def test_made_world(server):
    get(server.world("own"))
    server.drop_world("own")

def test_own_server():
    with MockPlatform.start() as platform:
        get(platform)

def test_about_a_failure(mock_platform):
    mock_platform.fail("line_items.get-404-LINE_ITEM_NOT_FOUND")
    assert get(mock_platform).status_code == 404

class TestCase(PlatformMixin, unittest.TestCase):
    def test_unittest(self):
        get(self.mock_platform)
"""
UNGREEN = f"""
import pytest
calls = []
twice = []

def test_red(mock_platform):
    mock_platform.session("oauth1").get("{GET}")
    assert False

@pytest.mark.xfail
def test_expected_red(mock_platform):
    assert not mock_platform.session("oauth1").get("{GET}").ok

def test_not_twice(mock_platform):
    mock_platform.session("oauth1").get("{GET}")
    twice.append(1)
    assert twice == [1]

def test_only_once(mock_platform):
    if not calls:
        mock_platform.session("oauth1").get("{GET}")
    calls.append(1)
"""
Mutate = Callable[..., dict[str, Any]]


@pytest.fixture
def mutate(run: Run, pytester: pytest.Pytester) -> Mutate:
    """Runs a test file with `--mock-mutate` and returns the JSON of the report."""

    def start(source: str, *options: str) -> dict[str, Any]:
        run(source, "--mock-mutate", "--mock-mutate-report=found.json", *options)
        found: dict[str, Any] = json.loads(pytester.path.joinpath("found.json").read_text())
        return found

    return start


def test_who_stays_green(mutate: Mutate) -> None:
    """Each failure is given to each test, wherever its world is; those that look notice it."""
    found = mutate(SUITE)

    blind = ["test_blind", "test_common_server", "test_made_world", "test_own_server",
             "TestCase::test_unittest"]  # fmt: skip
    assert sorted((f"test_it.py::{test}", code) for test in blind for code in CODES) == sorted(
        (each["test"], each["failure"]) for each in found["survived"]
    )
    assert {"line_items.get"} == {each["operation"] for each in found["survived"]}
    assert (8, 1) == (found["tests"], found["expected"])
    assert 8 * len(CODES) - 1 == found["failures"]


def test_only_green_tests_are_tried(mutate: Mutate) -> None:
    """Other tests are counted, and so is a failure that a test did not meet again."""
    found = mutate(UNGREEN)

    assert (1, 3, 0, []) == tuple(
        found[name] for name in ("tests", "not_green", "failures", "survived")
    )
    assert len(CODES) == found["unmet"]


def test_a_run_that_was_stopped(run: Run) -> None:
    """After `-x` nothing is tried, and the summary does not look as if all was well."""
    result = run(UNGREEN, "--mock-mutate", "-x")

    lines = section(result, "mock_platform: would your tests notice?")
    assert ["no failure was tried, as the run was stopped before"] == lines


@pytest.mark.parametrize("lost", [0, 1])
def test_a_test_that_waits_for_ever(
    mutate: Mutate, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    """A test that waits until its call succeeds is stopped, also if it catches that once."""
    monkeypatch.setattr(mutation, "_LEAST_LIMIT_SECONDS", 0.05)
    monkeypatch.setattr(mutation, "_LOST_SECONDS", 0.3)
    monkeypatch.setattr(mutation, "_LIMIT_FACTOR", 1)
    waiting = f"""
def test_waiting(mock_platform):
    session, lost = mock_platform.session("oauth1"), {lost}
    while True:
        try:
            while not session.get("{GET}").ok:
                pass
            return
        except BaseException:
            if not lost:
                raise
            lost -= 1
"""
    assert (0, len(CODES)) == (
        (found := mutate(waiting))["failures"] + len(found["survived"]),
        found["endless"],
    )


def test_no_request_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An alarm within a request, or while a world is locked, stops the test only after that."""
    platform = Platform()
    world, done = platform.worlds.default, []

    def find(call: Call) -> World:
        signal.raise_signal(signal.SIGALRM)
        done.append("found")
        return world

    monkeypatch.setattr(platform, "world_of", find)
    base = "http://127.0.0.1"
    call = Call("GET", f"{base}{GET}", GET, base, [])

    def call_in_time() -> None:
        assert platform.handle(call).status == 401
        done.append("answered")
        signal.raise_signal(signal.SIGALRM)

    with pytest.raises(mutation._Endless):
        mutation._run_limited(call_in_time, 1000)
    assert ["found", "answered"] == done


def test_no_lock_is_left_behind() -> None:
    """An alarm while a lock is taken stops the test only when the lock can be released."""
    done: list[str] = []
    alarm = partial(signal.raise_signal, signal.SIGALRM)
    lock = SimpleNamespace(
        acquire=None, release=None, __enter__=alarm, __exit__=lambda *_: done.append("released")
    )
    condition = Condition(lock)  # type: ignore[arg-type]

    def call_in_time() -> None:
        with condition:
            done.append("taken")
            alarm()

    with pytest.raises(mutation._Endless):
        mutation._run_limited(call_in_time, 1000)
    assert ["taken", "released"] == done


def test_an_alarm_after_the_end(mutate: Mutate) -> None:
    """An alarm that comes when the test has ended stops nothing of the run."""
    late = f"""
import signal

class Late(Exception):
    @property
    def __class__(self):  # pytest reads it when the test has ended
        if signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            signal.raise_signal(signal.SIGALRM)
        return Late

def test_it(mock_platform):
    if not mock_platform.session("oauth1").get("{GET}").ok:
        raise Late
"""
    found = mutate(late)

    assert (len(CODES), 0, []) == (found["failures"], found["endless"], found["survived"])


def test_the_run_is_what_it_was(run: Run, pytester: pytest.Pytester) -> None:
    """Results, coverage and warnings are those of the first run, and survivors fail nothing."""
    options = ("--mock-coverage=c.json", "--mock-coverage-only=line_items.get")
    result = run(SUITE.replace("GET)", 'GET + "?x=1")'), "--mock-mutate", *options)

    result.assert_outcomes(passed=8)
    assert pytest.ExitCode.OK == result.ret
    (row,) = json.loads(pytester.path.joinpath("c.json").read_text())["operations"]
    assert row["requests"] == 4
    lines = section(result, "mock_platform: would your tests notice?")
    assert lines[0].startswith(f"8 tests met {8 * len(CODES) - 1} failures, one at a time; ")
    assert section(result, "mock_platform: 4 requests with warnings")


def test_the_time_is_used_up(mutate: Mutate) -> None:
    """Beyond the budget the failures that were not tried are counted."""
    found = mutate(SUITE, "--mock-mutate-budget=1ms")

    assert found["left_out"] >= 7 * len(CODES)


def test_order(mutate: Mutate, pytester: pytest.Pytester) -> None:
    """Tests of the file that changed last come first; the rest of the order is that of the seed."""
    source = f"""
def test_one(mock_platform):
    mock_platform.session("oauth1").get("{GET}")
    with open("order.txt", "a") as file:
        print(__name__, mock_platform.journal.find()[0].status, file=file)
"""
    order = pytester.path / "order.txt"

    def tried(seed: int) -> list[str]:
        pytester.makepyfile(test_a=source, test_b=source)
        os.utime(pytester.path / "test_a.py", (1, 1))
        os.utime(pytester.path / "test_b.py", (2, 2))
        order.unlink(missing_ok=True)
        mutate("", f"--mock-mutate-seed={seed}")
        return [line for line in order.read_text().splitlines() if not line.endswith(" 200")]

    first = tried(1)

    assert ["test_b"] * len(CODES) + ["test_a"] * len(CODES) == [line.split()[0] for line in first]
    assert first == tried(1)
    assert first != tried(2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--mock-mutate", "--mock-mutate-budget=soon"], "such as 60s or 5m"),
        (["--mock-mutate", "--mock-mutate-budget=0s"], "'0s' is no time"),
        (["--mock-mutate", "--mock-mutate-report=x.csv"], "must end in .html, .json, .txt, .xml."),
        (["--mock-mutate", "--mock-mutate-seed=x"], "invalid int value: 'x'"),
        (["--mock-mutate", "--mock-mutate-report=test_it.py/x.txt"], "that can be written."),
        (["--mock-mutate-budget=1s"], "--mock-mutate-budget needs --mock-mutate"),
        (["--mock-mutate-report=x.txt"], "--mock-mutate-report needs --mock-mutate"),
        (["--mock-mutate-seed=1"], "--mock-mutate-seed needs --mock-mutate"),
        (["--mock-mutate", "--mock-platform-url=http://127.0.0.1:1"], "leave out "
                                                                      "--mock-platform-url."),
    ],
)  # fmt: skip
def test_bad_options(run: Run, options: list[str], text: str) -> None:
    """What cannot be done is refused at the start, with the remedy."""
    result = run(SUITE, *options)

    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert any(text in line for line in result.stderr.lines)


@pytest.mark.live
def test_workers(pytester: pytest.Pytester) -> None:
    """Each worker tries its own tests, and the controller joins what they found."""
    pytester.makepyfile(test_it=SUITE, test_other=UNGREEN)
    result = pytester.runpytest_subprocess(
        "-n", "2", "--mock-mutate", "--mock-mutate-report=found.json"
    )

    found = json.loads(pytester.path.joinpath("found.json").read_text())
    assert (9, 5 * len(CODES)) == (found["tests"], len(found["survived"]))
    assert any("gw0: mock_platform: " in line for line in result.stderr.lines)
