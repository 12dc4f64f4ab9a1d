"""Scenarios over a real socket: what breaks really breaks, and every way to switch one on."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from requests_oauthlib import OAuth1

from mock_platform import MockPlatform
from mock_platform.sending import GARBAGE
from mock_platform.world.clock import UPTIME
from tests.serving import LiveServer

pytestmark = pytest.mark.live

FAULTS = ("reset", "empty", "truncate", "garbage", "timeout")


@pytest.fixture
def platform() -> Iterator[MockPlatform]:
    """A server in a thread that asks for no credentials."""
    with MockPlatform.start(auth="off") as started:
        yield started


def url(platform: MockPlatform, path: str = "") -> str:
    """The address of the line items, or of one."""
    account = platform.credentials["accounts"][0]
    return f"{platform.base_url}/12/accounts/{account}/line_items{path}"


def arm(platform: MockPlatform, **rule: Any) -> None:
    """Activate a scenario of one rule."""
    platform.activate(platform.define({"name": "s", "rules": [rule]}))


def session(platform: MockPlatform, *, live: bool) -> requests.Session:
    """A session over a socket, or in-process."""
    if not live:
        return platform.session()
    made = requests.Session()
    made.trust_env = False
    return made


def rooted(fault: BaseException) -> BaseException:
    """What an exception is about in the end."""
    while True:
        inner = next((each for each in fault.args if isinstance(each, BaseException)), None)
        inner = inner or getattr(fault, "reason", None)
        if not isinstance(inner, BaseException):
            return fault
        fault = inner


@pytest.mark.parametrize("live", [True, False], ids=["socket", "in-process"])
@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        ("reset", requests.ConnectionError, "Connection reset by peer"),
        ("empty", requests.ConnectionError, "Remote end closed connection without response"),
        ("truncate", requests.exceptions.ChunkedEncodingError, "IncompleteRead"),
        ("garbage", requests.ConnectionError, "Connection aborted."),
        ("timeout", requests.ReadTimeout, "Read timed out."),
    ],
)
def test_faults(
    platform: MockPlatform,
    fault: str,
    kind: type[Exception],
    told: str,
    live: bool,
) -> None:
    """Each fault is what requests raises over a network, in-process as well."""
    arm(platform, on="line_items.list", call=1, then={"fault": fault})
    client = session(platform, live=live)

    with pytest.raises(kind) as raised:
        client.get(url(platform), timeout=1)

    assert told in str(raised.value)
    if fault == "reset":
        root = rooted(raised.value)
        assert isinstance(root, ConnectionResetError)
        assert errno.ECONNRESET == root.errno
    assert 200 == client.get(url(platform), timeout=5).status_code


def test_the_bytes_of_garbage_are_no_http() -> None:
    """Nobody could take them for an answer."""
    assert not GARBAGE.startswith(b"HTTP")


@pytest.mark.parametrize(("stage", "retried"), [("before_commit", 200), ("after_commit", 404)])
def test_a_lost_delete(platform: MockPlatform, stage: str, retried: int) -> None:
    """The retry of a lost delete finds the record, or finds it gone: the stage decides."""
    arm(platform, on="line_items.delete", call=1, then={"fault": "reset", "stage": stage})
    client = session(platform, live=True)

    with pytest.raises(requests.ConnectionError):
        client.delete(url(platform, "/itttx"), timeout=5)

    assert retried == client.delete(url(platform, "/itttx"), timeout=5).status_code


def test_delay_holds_up_nobody_else(platform: MockPlatform) -> None:
    """While one answer waits, the same world answers others; the wait is as long as said."""
    arm(platform, on="line_items.list", call=1, then={"delay": 0.6})
    took: list[float] = []

    def slow() -> None:
        started = UPTIME()
        requests.get(url(platform), timeout=5)
        took.append(UPTIME() - started)

    thread = threading.Thread(target=slow)
    started = UPTIME()
    thread.start()
    while not len(platform.journal):
        assert UPTIME() - started < 5
    requests.get(url(platform), timeout=5)
    others = UPTIME() - started
    thread.join()

    assert others < 0.6 <= took[0] < 5


def test_slow_body(platform: MockPlatform) -> None:
    """The headers come at once, the body over the seconds, whole."""
    plain = requests.get(url(platform), timeout=5).content
    arm(platform, on="line_items.list", then={"delay": {"slow_body": 0.5}})
    started = UPTIME()

    with requests.get(url(platform), timeout=5, stream=True) as answer:
        head = UPTIME() - started
        body = answer.content

    assert head < 0.4
    assert UPTIME() - started >= 0.5
    assert plain == body


def test_delays_end_with_the_server() -> None:
    """A server stops at once, however long an answer was to wait."""
    platform = MockPlatform.start(auth="off")
    arm(platform, on="line_items.list", then={"delay": 300})
    address = url(platform)
    thread = threading.Thread(target=_ignore, args=(address,))
    started = UPTIME()
    thread.start()
    while not len(platform.journal):
        assert UPTIME() - started < 5
    platform.stop()
    thread.join(10)

    assert not thread.is_alive()
    assert UPTIME() - started < 10


def _ignore(address: str) -> None:
    try:
        requests.get(address, timeout=30)
    except requests.RequestException:
        return


def test_python(platform: MockPlatform) -> None:
    """From Python: a mapping, YAML or a file; parameters by name; per world; reset forgets."""
    name = platform.define(
        "name: capped\nparameters: {period: Daily}\nrules:\n"
        "- on: line_items.list\n  then: {problem: usage-capped, period: $period}\n  expect: fired\n"
    )
    platform.world("w1")
    platform.activate(name, period="Monthly")
    unfired = [str(each) for each in platform.unfired_expectations()]
    answer = platform.session().get(url(platform))

    assert ["Scenario capped, rule 0, was expected to act but never did; 0 calls matched it."] == (
        unfired
    )
    assert (429, "Monthly") == (answer.status_code, answer.json()["period"])
    assert [] == platform.unfired_expectations()
    assert ["capped"] == [entry["name"] for entry in platform.scenarios if entry["active"]]
    assert "capped" not in [entry["name"] for entry in platform.world("w1").scenarios]
    platform.deactivate(name)
    assert 200 == platform.session().get(url(platform)).status_code
    platform.reset()
    assert name not in [entry["name"] for entry in platform.scenarios]


def test_python_file(platform: MockPlatform, tmp_path: Path) -> None:
    """A file is defined by its path."""
    file = tmp_path / "a.yaml"
    file.write_text("name: a\nrules: [{on: line_items.list, then: {error: 89}}]")
    platform.activate(platform.define(file))

    assert 401 == platform.session().get(url(platform)).status_code


def test_command_line(tmp_path: Path) -> None:
    """`serve --scenario` is active from the start and after a reset; routes and headers switch."""
    file = tmp_path / "lost.yaml"
    file.write_text("name: lost\nrules: [{on: line_items.list, times: 1, then: {fault: empty}}]")
    document = {"rules": [{"on": "line_items.list", "then": {"error": 88}}]}
    with LiveServer("--scenario", str(file)) as server:
        world = server.world()
        keys = world.credentials
        oauth = OAuth1(world.key, world.secret, keys["user"]["access_token"],
                       keys["user"]["access_token_secret"])  # fmt: skip
        address = f"{world.base_url}/12/accounts/{keys['accounts'][0]}/line_items"
        client = world.session()
        found: list[Any] = []

        def ask(**headers: str) -> None:
            try:
                answer = client.get(address, auth=oauth, timeout=5, headers=headers)
                found.append(answer.status_code)
            except requests.ConnectionError:
                found.append("lost")

        ask()
        ask()
        assert client.post(f"{world.control}/reset", timeout=5).ok
        ask()
        assert client.put(f"{world.control}/scenarios/own", json=document, timeout=5).ok
        ask(**{"X-Mock-Scenario": "own"})
        ask(Prefer="code=503")
        ask()
        assert client.post(f"{world.control}/scenarios/own/activate", timeout=5).ok
        ask()

    assert ["lost", 200, "lost", 429, 503, 200, 429] == found
