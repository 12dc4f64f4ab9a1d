"""Every way in leads to the same world: sockets, `session`, the adapter, httpx, Flask's client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient

from mock_platform import MockPlatform, WorldFace, WsgiAdapter
from mock_platform.serving.flask.sending import NoConnection
from mock_platform.world.clock import UPTIME
from tests.live.parity import direct
from tests.live.sandboxes import starting
from tests.loops import awaited
from tests.support import bearer
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

FAULTS = ("reset", "empty", "truncate", "garbage", "timeout")
POLL = {"name": "p", "first_choice": "a", "second_choice": "b", "duration_in_minutes": "1440"}

Ask = Callable[..., tuple[int, Any]]
"""Asks with a method, a path and parameters; gives status and JSON."""


platform = starting("function", auth="off")
"""A server that asks for no credentials."""


@pytest.fixture
def ways(platform: MockPlatform, request: pytest.FixtureRequest) -> Iterator[dict[str, Ask]]:
    """All ways into the world that the test names, by name."""
    world = platform.world(request.param)
    with ExitStack() as stack:
        own, socket = stack.enter_context(direct()), stack.enter_context(direct())
        own.mount(platform.base_url, WsgiAdapter(platform.wsgi))
        transport = httpx.WSGITransport(app=world.wsgi)
        session = stack.enter_context(world.session())
        inside = stack.enter_context(httpx.Client(transport=transport, base_url=world.base_url))
        outside = stack.enter_context(httpx.Client(base_url=world.base_url, trust_env=False))

        def ask(client: Any, base: str) -> Ask:
            def asked(method: str, path: str, **query: str) -> tuple[int, Any]:
                answer = client.request(method, base + path, params=query)
                return answer.status_code, answer.json()

            return asked

        yield {
            "session": ask(session, ""), "adapter": ask(own, world.base_url),
            "requests": ask(socket, world.base_url), "httpx.WSGITransport": ask(inside, ""),
            "httpx": ask(outside, ""), "Flask": _asking(world.test_client()),
        }  # fmt: skip


def _asking(client: FlaskClient) -> Ask:
    def asked(method: str, path: str, **query: str) -> tuple[int, Any]:
        answer = client.open(path, method=method, query_string=query)
        return answer.status_code, answer.get_json()

    return asked


def polls(world: WorldFace) -> str:
    """The path of the poll cards of the well-known account."""
    return f"/12/accounts/{world.credentials['accounts'][0]}/cards/poll"


@pytest.mark.parametrize("ways", ["default", "w1"], indirect=True)
def test_all_see_one_world(
    platform: MockPlatform, ways: dict[str, Ask], request: pytest.FixtureRequest
) -> None:
    """What is written by one way is read by each, and the journal has every call, in order."""
    name = request.node.callspec.params["ways"]
    world = platform.world(name)
    path = polls(world)
    before = len(world.state["poll_cards"])
    written = []

    for writer, write in ways.items():
        status, answer = write("POST", path, **{**POLL, "name": writer})
        assert 200 == status, writer
        written.append(answer["data"]["id"])
        for reader, read in ways.items():
            status, answer = read("GET", f"{path}/{written[-1]}")
            assert (200, writer) == (status, answer["data"]["name"]), reader

    assert len(ways) == len(set(written))
    assert before + len(ways) == len(world.state["poll_cards"])
    asked = [(entry.method, entry.status) for entry in world.journal]
    assert [("POST", 200), *[("GET", 200)] * len(ways)] * len(ways) == asked
    assert {world.base_url + path} == {
        entry.url.partition("?")[0].removesuffix(f"/{key}")
        for key in written
        for entry in world.journal
        if entry.method == "POST" or entry.url.endswith(key)
    }
    other = platform if name != "default" else platform.world("elsewhere")
    assert 0 == len(other.journal)


def test_flasks_client_begins_at_the_base_address(platform: MockPlatform) -> None:
    """Relative addresses get the world and, if asked, the sandbox; whole ones go where they say."""
    world = platform.world("w1")

    assert 405 == world.test_client().post("/12/accounts").status_code
    assert 200 == world.test_client(sandbox=True).post("/12/accounts").status_code
    assert 200 == world.test_client().get(f"{platform.base_url}/12/accounts").status_code
    assert [405, 200] == [entry.status for entry in world.journal]
    assert [200] == [entry.status for entry in platform.journal]


def test_flasks_client_keeps_cookies_and_follows(platform: MockPlatform) -> None:
    """It is Flask's own, so its arguments work."""
    then = {"respond": {"status": 302, "headers": {"Location": "/_mock/health"}}}
    platform.activate(platform.define({"name": "s", "rules": [{"on": "*", "then": then}]}))

    answer = platform.test_client().get("/12/accounts", follow_redirects=True)

    assert "ok" == answer.get_json()["status"]
    assert 1 == len(answer.history)


# -- faults and delays, for those who are not requests ---------------------------------------------


def arm(platform: MockPlatform, then: object) -> None:
    """A rule that acts on every call."""
    platform.activate(platform.define({"name": "s", "rules": [{"on": "*", "then": then}]}))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("reset", httpx.ReadError),
        ("empty", httpx.RemoteProtocolError),
        ("truncate", httpx.RemoteProtocolError),
        ("garbage", httpx.RemoteProtocolError),
        ("timeout", httpx.ReadTimeout),
    ],
)
def test_httpx_over_a_socket(platform: MockPlatform, fault: str, kind: type[Exception]) -> None:
    """It raises its own exceptions."""
    arm(platform, {"fault": fault})

    with httpx.Client(base_url=platform.base_url, trust_env=False) as client, pytest.raises(kind):
        client.get("/12/accounts", timeout=0.3 if fault == "timeout" else PATIENCE)


@pytest.mark.parametrize("stage", ["before_commit", "after_commit"])
@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_connection_none_can_break(
    platform: MockPlatform, fault: str, stage: str
) -> None:
    """Other transports learn where faults are possible; what the stage reports has happened."""
    arm(platform, {"fault": fault, "stage": stage})
    transport = httpx.WSGITransport(app=platform.wsgi)
    before = len(platform.state["poll_cards"])
    told = rf"network fault '{fault}'.*MockPlatform\.base_url.*platform\.session\(\).*WsgiAdapter"

    with (
        httpx.Client(transport=transport, base_url=platform.base_url) as client,
        pytest.raises(NoConnection, match=told),
    ):
        client.post(polls(platform), params=POLL)
    with pytest.raises(NoConnection, match=told):
        platform.test_client().post(polls(platform), query_string=POLL)

    assert 2 == platform.journal.count(operation="cards_poll.create")
    made = 2 if stage == "after_commit" else 0
    assert before + made == len(platform.state["poll_cards"])


def test_delays_are_waited_for_without_a_connection(platform: MockPlatform) -> None:
    """Transports that know no timeout wait as long as the scenario says."""
    arm(platform, {"delay": {"seconds": 0.2, "slow_body": 0.2}})
    transport = httpx.WSGITransport(app=platform.wsgi)
    began = UPTIME()

    with httpx.Client(transport=transport, base_url=platform.base_url) as client:
        assert 200 == client.get("/12/accounts", timeout=0.1).status_code
    assert UPTIME() - began >= 0.4
    assert platform.test_client().get("/12/accounts").get_json()["data"]
    assert UPTIME() - began >= 0.8


@pytest.mark.parametrize("way", ["session", "Flask"])
def test_delays_in_process_end_with_the_platform(way: str) -> None:
    """Whoever stops the platform need not wait for an answer that is no longer wanted."""
    platform = MockPlatform.start(auth="off")
    arm(platform, {"delay": 300})
    client: Any = platform.session() if way == "session" else platform.test_client()

    began = UPTIME()

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.get, "/12/accounts")
        while not len(platform.journal):
            assert UPTIME() - began < PATIENCE
        platform.stop()
        answer = asked.result(PATIENCE)

    assert 200 == answer.status_code


# -- asynchronous clients ------------------------------------------------------------------------


def test_an_asynchronous_client_calls_over_the_socket(mock_platform: WorldFace) -> None:
    """Calls at the same time reach the test's own world, while the test works on it."""
    awaited(_calls(mock_platform))

    assert 10 == len(mock_platform.journal)


async def _calls(mock_platform: WorldFace) -> None:
    headers = bearer(mock_platform.credentials["bearer_token"])
    account = mock_platform.credentials["accounts"][0]
    address = f"{mock_platform.base_url}/12/accounts/{account}"

    async with httpx.AsyncClient(headers=headers, trust_env=False) as client:
        answers = await asyncio.gather(*[client.get(address) for _ in range(8)])
        mock_platform.state["accounts"].patch(account, {"name": "Renamed"})
        renamed = await client.get(address)
        mock_platform.activate("rate-limited")
        limited = await client.get(f"{mock_platform.base_url}/12/accounts/{account}/line_items")

    assert [200] * 8 == [answer.status_code for answer in answers]
    assert "Renamed" == renamed.json()["data"]["name"]
    assert 429 == limited.status_code
