"""`async_client`: what it does in this process equals what it does over a socket."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

import httpx
import pytest
import requests

from mock_platform import MockPlatform, WorldFace
from mock_platform.core.call import FaultKind
from mock_platform.core.errors import MissingCredentials
from mock_platform.core.installed import MissingExtra
from mock_platform.serving.in_process.session import AuthScheme, ForeignHost
from mock_platform.world.clock import UPTIME
from tests.waits import PATIENCE, run_async

T = TypeVar("T")
FAULTS: list[FaultKind] = ["reset", "empty", "truncate", "garbage", "timeout"]


@pytest.fixture(scope="module")
def started() -> Iterator[MockPlatform]:
    """A sandbox in this process."""
    with MockPlatform.start(stream_keepalive=0.01) as platform:
        yield platform


@pytest.fixture(scope="module")
def remote(started: MockPlatform) -> Iterator[WorldFace]:
    """The same, over a socket."""
    with MockPlatform.connect(started.base_url) as platform:
        yield platform


@pytest.fixture
def server(started: MockPlatform) -> MockPlatform:
    """The sandbox in this process as it started."""
    started.reset()
    return started


@pytest.fixture(params=["local", "remote"])
def platform(request: pytest.FixtureRequest, server: MockPlatform, remote: WorldFace) -> WorldFace:
    """The sandbox, called in this process or over a socket."""
    return server if request.param == "local" else remote


def wait_for_end(server: WorldFace) -> dict[str, Any]:
    """How the last answer ended, as soon as the server knows it."""
    until = UPTIME() + PATIENCE
    while (found := server.journal.find()[-1].ended) is None:
        assert UPTIME() < until
        requests.get(f"{server.base_url}/_mock/health", timeout=PATIENCE)
    return found


def use(
    world: WorldFace,
    act: Callable[[httpx.AsyncClient], Awaitable[T]],
    auth: AuthScheme | None = "bearer",
    *,
    sandbox: bool = False,
) -> T:
    """Use a client of a world on a loop of its own."""

    async def run() -> T:
        async with world.async_client(auth, sandbox=sandbox) as client:
            return await act(client)

    return run_async(run())


@pytest.mark.parametrize("auth", ["oauth1", "oauth2", "bearer", None])
def test_requests_are_signed_and_start_at_the_base_address(
    platform: WorldFace, auth: AuthScheme | None
) -> None:
    """A form, JSON, a query, and a body that is made as it is sent; on the sandbox address too."""

    async def parts() -> AsyncIterator[bytes]:
        yield b'{"text": '
        yield b'"Tea"}'

    async def act(client: httpx.AsyncClient) -> list[int]:
        json = {"Content-Type": "application/json"}
        answers = [
            await client.get("/2/users/me", params={"user.fields": "id,name"}),
            await client.post("/2/posts", json={"text": "Open!"}),
            await client.post("/2/posts", content=parts(), headers=json),
            await client.post("/oauth/request_token", data={"oauth_callback": "oob"}),
        ]
        return [answer.status_code for answer in answers]

    expected = {
        "oauth1": [200, 201, 201, 200],
        "oauth2": [200, 201, 201, 403],
        "bearer": [403, 403, 403, 403],
        None: [401, 401, 401, 400],
    }
    assert expected[auth] == use(platform, act, auth)

    async def list_accounts(client: httpx.AsyncClient) -> str:
        return str((await client.get("/12/accounts")).url)

    assert f"{platform.ads_sandbox_base_url}/12/accounts" == use(
        platform, list_accounts, auth, sandbox=True
    )


def test_an_answer_looks_like_one_of_a_server(server: MockPlatform, remote: WorldFace) -> None:
    """Status, reason, version and headers, in either way; a world of its own has its prefix."""

    async def act(client: httpx.AsyncClient) -> tuple[object, ...]:
        answer = await client.get("/12/accounts")
        names = {*answer.headers} - {"transfer-encoding"}
        return answer.status_code, answer.reason_phrase, answer.http_version, names, answer.text

    assert use(server, act) == use(remote, act)
    assert use(server.world("w1"), act) == use(remote, act)
    assert ["accounts.list"] == [entry.operation for entry in server.world("w1").journal]
    server.drop_world("w1")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("path", ["/12/accounts", "/2/activity/stream"])
def test_faults_are_met_as_over_a_socket(
    server: MockPlatform, remote: WorldFace, path: str, fault: FaultKind
) -> None:
    """The same exception, at the head or within a stream, and the same end in the journal."""

    async def act(client: httpx.AsyncClient) -> Exception:
        client.timeout = httpx.Timeout(1 if fault == "timeout" else PATIENCE)
        with pytest.raises(httpx.TransportError) as raised:
            async with client.stream("GET", path) as answer:
                await answer.aread()
        assert str(raised.value.request.url).endswith(path)
        return raised.value

    met = []
    for world in (server, remote):
        server.reset()
        server.activate("flaky-network", fault=fault, failures=1, on="accounts.list")
        server.activate("stream-cut", fault=fault, after_lines=0)
        error, ended = use(world, act), wait_for_end(server)
        # The system's own text of a reset or a time-out is none of httpx's.
        text = str(error)[:60] if isinstance(error, httpx.RemoteProtocolError) else ""
        met.append((type(error), text, ended["how"], ended["bytes"]))

    assert met[0] == met[1]


def test_a_late_answer_is_awaited(platform: WorldFace) -> None:
    """Other calls of the loop are answered meanwhile, and in the end so is the late one."""
    platform.activate("slow-network", on="accounts.list", least=300, most=300)

    async def act(client: httpx.AsyncClient) -> list[int]:
        late = asyncio.ensure_future(client.get("/12/accounts", timeout=None))
        statuses = [(await client.get("/2/users/me")).status_code for _ in range(3)]
        assert not late.done()
        late.cancel()
        await asyncio.to_thread(
            platform.activate, "slow-network", on="accounts.list", least=0.01, most=0.01
        )
        return [*statuses, (await client.get("/12/accounts")).status_code]

    assert [403, 403, 403, 200] == use(platform, act)


def test_other_tasks_run_between_calls(platform: WorldFace) -> None:
    """Whoever polls lets the other tasks of the loop go on, whatever the answers are made of."""

    async def act(client: httpx.AsyncClient) -> bool:
        other = asyncio.ensure_future(asyncio.sleep(0))
        await client.get("/12/accounts")
        await client.get("/12/accounts")
        return other.done()

    assert use(platform, act)


def test_a_delay_beyond_the_timeout_ends_at_once(server: MockPlatform) -> None:
    """As a session does it: the test that waits for a timeout need not wait."""
    server.activate("slow-network", least=300, most=300)

    async def act(client: httpx.AsyncClient) -> None:
        await client.get("/12/accounts", timeout=299)

    with pytest.raises(httpx.ReadTimeout):
        use(server, act)


def test_a_stream_has_each_line_as_it_comes(platform: WorldFace) -> None:
    """The event happens while the client reads; a reader that leaves is noticed."""
    user = platform.credentials["user"]["id"]

    async def act(client: httpx.AsyncClient) -> int:
        lines = 0
        async with client.stream("GET", "/2/activity/stream") as answer:
            async for line in answer.aiter_lines():
                if lines == 0:
                    platform.emit("profile.update.bio", user=user, payload={"after": "Tea."})
                lines += 1
                if "Tea." in line:
                    return lines
        return 0

    assert 1 < use(platform, act)
    assert "disconnected" == wait_for_end(platform)["how"]


def test_what_may_block_does_not_hold_the_loop(server: MockPlatform) -> None:
    """A webhook is registered at a receiver that runs on the same loop."""
    ticks: list[int] = []

    async def act(client: httpx.AsyncClient) -> int:
        async def answer_challenge(reader: asyncio.StreamReader, w: asyncio.StreamWriter) -> None:
            ticks.append(len(await reader.readuntil(b"\r\n\r\n")))
            w.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            await w.drain()
            w.close()

        async with await asyncio.start_server(answer_challenge, "127.0.0.1", 0) as receiver:
            port = receiver.sockets[0].getsockname()[1]
            body = {"url": f"http://127.0.0.1:{port}/hook"}
            return (await client.post("/2/webhooks", json=body)).status_code

    assert 400 == use(server, act)  # its answer to the challenge is wrong
    assert ticks


def test_a_call_that_is_cancelled_has_lost_its_client(server: MockPlatform) -> None:
    """Its answer was held back."""
    server.activate("slow-network", least=300, most=300)

    async def act(client: httpx.AsyncClient) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.get("/12/accounts", timeout=None), 0.05)

    use(server, act)
    assert "disconnected" == wait_for_end(server)["how"]


def test_other_hosts_are_refused(platform: WorldFace) -> None:
    """With the remedy; a host that is open is called, and so are other servers of this machine."""

    async def act(client: httpx.AsyncClient) -> int:
        with pytest.raises(ForeignHost, match=r"open it with passthrough=\['api.example.com'\]"):
            await client.get("https://api.example.com/2/users/me")
        with MockPlatform.start(auth="off") as other:
            return (await client.get(f"{other.base_url}/12/accounts")).status_code

    assert 200 == use(platform, act)
    with pytest.raises(ValueError, match="passthrough takes names of hosts"):
        platform.async_client(passthrough=["http://x"])


def test_what_is_missing_is_told(platform: WorldFace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of a scheme, a scheme itself, and httpx."""
    with pytest.raises(ValueError, match="auth must be 'oauth1'"):
        platform.async_client("basic")  # type: ignore[arg-type]
    for app in platform.state["apps"].all():
        platform.state["apps"].delete(app["id"])
    with pytest.raises(MissingCredentials, match="does not have"):
        platform.async_client("oauth1")
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'mock-platform\[httpx\]'"):
        platform.async_client()
