"""Scenarios over a real socket: what breaks really breaks, and every way to switch one on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import requests
from requests_oauthlib import OAuth1

from mock_platform import MockPlatform
from mock_platform.serving.flask.sending import GARBAGE
from mock_platform.world.clock import UPTIME
from tests.live.clients import four_keys
from tests.live.sandboxes import starting
from tests.live_servers import LiveServer
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


platform = starting("function", auth="off")
"""A server in a thread that asks for no credentials."""


def url(platform: MockPlatform) -> str:
    """The address of the line items."""
    account = platform.credentials["accounts"][0]
    return f"{platform.base_url}/12/accounts/{account}/line_items"


def arm(platform: MockPlatform, **rule: Any) -> None:
    """Activate a scenario of one rule."""
    platform.activate(platform.define({"name": "s", "rules": [rule]}))


def test_the_bytes_of_garbage_are_no_http() -> None:
    """They cannot be mistaken for an answer."""
    assert not GARBAGE.startswith(b"HTTP")


def test_delay_holds_up_nobody_else() -> None:
    """While one answer waits, the same world answers others, and the server stops at once."""
    platform = MockPlatform.start(auth="off")
    arm(platform, on="line_items.list", call=1, then={"delay": 300})
    thread = threading.Thread(target=_ignore, args=(url(platform),))
    thread.start()
    _await_request(platform)

    assert 200 == requests.get(url(platform), timeout=PATIENCE).status_code
    assert thread.is_alive()
    platform.stop()
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.mark.parametrize("delay", [0.3, {"slow_body": 0.3}], ids=str)
def test_delays(platform: MockPlatform, delay: object) -> None:
    """The answer waits as long as said, or its body comes over the seconds; it comes whole."""
    plain = requests.get(url(platform), timeout=PATIENCE).content
    arm(platform, on="line_items.list", then={"delay": delay})
    started = UPTIME()

    assert plain == requests.get(url(platform), timeout=PATIENCE).content
    assert UPTIME() - started >= 0.3


def test_the_head_of_a_slow_body_comes_with_its_first_part() -> None:
    """The headers do not wait for the rest of the body, which a server that stops sends at once."""
    with MockPlatform.start(auth="off") as platform:
        plain = requests.get(url(platform), timeout=PATIENCE).content
        arm(platform, on="line_items.list", then={"delay": {"slow_body": 40}})

        with requests.get(url(platform), timeout=PATIENCE, stream=True) as answer:
            platform.stop()

            assert plain == answer.content
        assert 2 <= answer.elapsed.total_seconds() < 40


def _await_request(platform: MockPlatform) -> None:
    started = UPTIME()
    while not len(platform.journal):
        assert UPTIME() - started < PATIENCE


def _ignore(address: str) -> None:
    try:
        requests.get(address, timeout=10 * PATIENCE)
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


def test_command_line(tmp_path: Path) -> None:
    """`serve --scenario` is active from the start and after a reset; routes and headers switch."""
    file = tmp_path / "lost.yaml"
    file.write_text("name: lost\nrules: [{on: line_items.list, times: 1, then: {fault: empty}}]")
    document = {"rules": [{"on": "line_items.list", "then": {"error": 88}}]}
    with LiveServer("--scenario", str(file)) as server:
        world = server.world()
        keys = world.credentials
        oauth = OAuth1(*four_keys(keys))
        address = f"{world.base_url}/12/accounts/{keys['accounts'][0]}/line_items"
        client = world.session()
        found: list[Any] = []

        def ask(**headers: str) -> None:
            try:
                answer = client.get(address, auth=oauth, timeout=PATIENCE, headers=headers)
                found.append(answer.status_code)
            except requests.ConnectionError:
                found.append("lost")

        ask()
        ask()
        assert client.post(f"{world.control}/reset", timeout=PATIENCE).ok
        ask()
        assert client.put(f"{world.control}/scenarios/own", json=document, timeout=PATIENCE).ok
        ask(**{"X-Mock-Scenario": "own"})
        ask(Prefer="code=503")
        ask()
        assert client.post(f"{world.control}/scenarios/own/activate", timeout=PATIENCE).ok
        ask()

    assert ["lost", 200, "lost", 429, 503, 200, 429] == found
