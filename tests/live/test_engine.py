"""Servers on an engine, as clients and receivers see them: pauses, kills, an engine that hangs."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
import requests

from mock_platform.world.store.redis.address import parse_address
from tests.conftest import Tool
from tests.engine import EngineServer
from tests.live.processes import Served, quick, serving
from tests.support import BEARER
from tests.support_receiver import Receiver, hang
from tests.support_replay import WEBHOOK, window_before
from tests.waits import PATIENCE

pytestmark = [pytest.mark.live, pytest.mark.crash]
_ALONE = "--workers", 1
"""What happens to a server happens to the one process that it is."""
_LEASE = "--lease", "1s", *_ALONE


@pytest.fixture(scope="module")
def url(engine: EngineServer) -> str:
    """The address of the engine, with keys of this module."""
    return engine.url()


@pytest.fixture(scope="module")
def second(url: str) -> Iterator[Served]:
    """The server that takes over the worlds of another one."""
    with serving("--store", url, *_LEASE, command=quick) as found:
        yield found


@pytest.fixture
def first(url: str) -> Iterator[Served]:
    """The server that something happens to."""
    with serving("--store", url, *_LEASE, command=quick) as found:
        yield found


def ask(served: Served, method: str, path: str, body: Any = None) -> requests.Response:
    """One request of a client."""
    headers = {"Authorization": f"Bearer {BEARER}"}
    return requests.request(method, served.url + path, json=body, headers=headers, timeout=PATIENCE)


def put_user(served: Served, key: str) -> int:
    """Write a record of the world `w1`; returns the status."""
    user = {"id": key, "screen_name": f"u{key}", "name": "Someone"}
    return ask(served, "PUT", f"/~w1/_mock/state/users/{key}", user).status_code


def wait_until_gone(engine: EngineServer, url: str, served: Served) -> None:
    """Wait until the lease of a process has ended."""
    with engine.connect() as client:
        while any(
            (client.get(key) or b"").split(b" ")[0].endswith(b"/%d" % served.pid)
            for key in client.scan_iter(f"{parse_address(url).prefix}process:*")
        ):
            client.blpop(["nothing"], timeout=0.05)


def test_a_process_that_was_paused(
    engine: EngineServer, url: str, first: Served, second: Served
) -> None:
    """Awake after its lease has ended, it writes nothing: the next owner alone decides."""
    assert 200 == ask(first, "PUT", "/_mock/worlds/w1").status_code
    assert 200 == put_user(first, "901")
    with ThreadPoolExecutor() as threads:
        first.pause()
        try:
            late = threads.submit(put_user, first, "902")
            wait_until_gone(engine, url, first)
            assert 200 == put_user(second, "903")
        finally:
            first.go_on()
        status = late.result(PATIENCE)

    assert status in {200, 503}  # 200 if it handed the request to the owner
    wanted = {"901", "903"} | ({"902"} if status == 200 else set())
    found = ask(second, "GET", "/~w1/_mock/state/users").json()["records"]
    assert wanted == {each["id"] for each in found if each["id"].startswith("90")}
    with engine.connect() as client:
        log: Any = client.xrange(f"{parse_address(url).prefix}log:w1")
    tokens = [int(fields[b"t"]) for _, fields in log]
    assert sorted(tokens) == tokens
    assert 2 == len(set(tokens))


def test_the_first_read_after_a_pause(
    engine: EngineServer, url: str, first: Served, second: Served
) -> None:
    """It has what another owner has changed meanwhile, or is refused; each time."""
    assert 200 == ask(first, "PUT", "/_mock/worlds/w3").status_code
    for number in range(3):
        path = f"/~w3/_mock/state/users/{number + 1}"
        user = {"id": str(number + 1), "screen_name": f"u{number}", "name": "Someone"}
        assert 404 == ask(first, "GET", path).status_code
        with ThreadPoolExecutor() as threads:
            first.pause()
            try:
                waiting = threads.submit(ask, first, "GET", path)
                wait_until_gone(engine, url, first)
                assert 200 == ask(second, "PUT", path, user).status_code
            finally:
                first.go_on()
            later = ask(first, "GET", path)
            assert {200, 503} >= {waiting.result(PATIENCE).status_code, later.status_code}


def test_an_engine_that_is_started_again_and_again(tool: Tool) -> None:
    """However often it is killed under load, the server answers and has what it acknowledged."""
    tool("redis-server")
    engine = EngineServer()
    made: list[str] = []
    stopped = threading.Event()
    try:
        with serving("--store", engine.url(), *_LEASE, command=quick) as served:
            assert 200 == put_world(served)

            def write() -> None:
                for number in range(1000, 100_000):
                    if stopped.is_set():
                        return
                    if put_user(served, str(number)) == 200:
                        made.append(str(number))

            with ThreadPoolExecutor() as threads:
                writing = threads.submit(write)
                for _ in range(60):
                    engine.kill()
                    engine.start()
                stopped.set()
                writing.result(PATIENCE)
            while put_user(served, "999") != 200:
                with engine.connect() as client:
                    client.blpop(["nothing"], timeout=0.05)
            found = ask(served, "GET", "/~w1/_mock/state/users").json()["records"]
            assert {*made, "999"} <= {each["id"] for each in found}
            assert 200 == ask(served, "GET", "/_mock/health/ready").status_code
    finally:
        stopped.set()
        engine.close()


def test_a_replay_goes_on_in_the_next_process(
    engine: EngineServer, url: str, first: Served, second: Served, receiver: Receiver
) -> None:
    """Without a request for it; no event comes twice except the one in doubt, which is named."""
    receiver.plan.extend([200, 200, hang])
    ask(first, "PUT", "/_mock/worlds/w2")
    ask(first, "PATCH", f"/~w2/_mock/state/webhooks/{WEBHOOK}", {"url": receiver.url})
    now = datetime.fromisoformat(ask(first, "GET", "/~w2/_mock/clock").json()["now"])
    body = window_before(now, hours=23, minutes=50)
    created = ask(first, "POST", "/~w2/2/webhooks/replay", body)
    assert 200 == created.status_code, created.text
    receiver.wait_until(lambda found: len(found.event_ids) == 3)
    first.kill()
    wait_until_gone(engine, url, first)

    assert "Complete" == receiver.wait_for_end()["job_state"]

    events = receiver.event_ids
    assert events[2] == events[3]
    assert 15 == len(set(events)) == len(events) - 1
    assert 1 == len(receiver.challenges)
    said = ask(second, "GET", "/~w2/_mock/deliveries").json()["deliveries"][0]
    assert (events[2], 0) == (said["event_id"], said["attempt"])
    assert "may arrive twice" in said["error"]


def test_health_while_the_engine_hangs() -> None:
    """The server answers for itself, refuses writes at once, and goes on when the engine does."""
    engine = EngineServer()
    try:
        with serving("--store", engine.url(), "--lease", "60s", *_ALONE, command=quick) as served:
            assert 200 == put_world(served)
            os.kill(engine.pid, signal.SIGSTOP)
            try:
                with ThreadPoolExecutor(4) as threads:
                    late = [threads.submit(put_user, served, str(n)) for n in range(901, 909)]
                    for _ in range(20):
                        assert 200 == ask(served, "GET", "/_mock/health").status_code
                    assert {503} == {each.result(PATIENCE) for each in late}
                assert 503 == ask(served, "GET", "/_mock/health/ready").status_code
                assert 200 == ask(served, "GET", "/~w1/12/accounts").status_code
            finally:
                os.kill(engine.pid, signal.SIGCONT)
            served.wait_for_log("can be reached again")
            assert 200 == put_user(served, "910")
            assert 404 == ask(served, "GET", "/~w1/_mock/state/users/901").status_code
    finally:
        engine.close()


def put_world(served: Served) -> int:
    """Make the world `w1`; returns the status."""
    return ask(served, "PUT", "/_mock/worlds/w1").status_code
