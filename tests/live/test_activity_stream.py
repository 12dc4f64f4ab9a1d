"""Clients read activity streams over sockets: live, after a cut, beside a webhook, many at once."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
import requests

from mock_platform import MockPlatform
from mock_platform.client.interface import WorldFace
from tests.conftest import Tool
from tests.live.sandboxes import starting
from tests.support import HARBOR
from tests.support_receiver import Receiver, sign
from tests.waits import PATIENCE

pytestmark = pytest.mark.live
USER = "2244994945"
PATH = "/2/activity/stream"
QUICK = 0.05

READER = """
import sys, requests
url, token = sys.argv[1:]
answer = requests.get(url, headers={"Authorization": "Bearer " + token}, stream=True)
for piece in answer.iter_content(1):
    print(answer.status_code, flush=True)
"""
FETCH = """
const [url, token] = process.argv.slice(1);
const seen = [];
async function follow(query, count) {
  const controller = new AbortController();
  const answer = await fetch(url + query, {
    headers: { Authorization: `Bearer ${token}` }, signal: controller.signal });
  console.log(JSON.stringify({ status: answer.status }));
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of answer.body) {
      text += decoder.decode(piece, { stream: true });
      const lines = text.split('\\r\\n');
      text = lines.pop();
      for (const line of lines.filter(Boolean)) {
        const { data } = JSON.parse(line);
        if (!data || seen.includes(data.event_uuid)) continue;
        seen.push(data.event_uuid);
        console.log(JSON.stringify(data.payload));
        if (seen.length === count) { controller.abort(); return; }
      }
    }
  } catch (fault) {
    console.log(JSON.stringify({ fault: fault.name }));
  }
}
(async () => { await follow('', 9); await follow('?backfill_minutes=5', 3); })();
"""


platform = starting("function", stream_keepalive=QUICK)
"""A server in a thread whose streams send many keep-alives."""


def headers_of(world: WorldFace) -> dict[str, str]:
    """The header with the app's token."""
    return {"Authorization": f"Bearer {world.credentials['bearer_token']}"}


def follow(world: WorldFace, query: str = "") -> requests.Response:
    """Open a stream."""
    url = f"{world.base_url}{PATH}{query}"
    return requests.get(url, headers=headers_of(world), stream=True, timeout=PATIENCE)


def lines_of(answer: requests.Response, part: int = 512) -> Iterator[dict[str, Any]]:
    """The lines of a stream as they come, read in parts, by default as small as clients read."""
    assert answer.status_code == 200, answer.text
    return (json.loads(line) for line in answer.iter_lines(chunk_size=part) if line)


def emit(world: WorldFace, text: str) -> dict[str, Any]:
    """Change the bio of the well-known user."""
    return world.emit("profile.update.bio", user=USER, payload={"after": text})


def text_of(line: dict[str, Any]) -> str:
    """The new bio of a line."""
    return str(line["data"]["payload"]["after"])


class TestRequests:
    """A client with requests."""

    def test_lines_arrive_live(self, platform: MockPlatform) -> None:
        """Each line is there before the next thing happens."""
        with follow(platform) as answer:
            lines = lines_of(answer)
            for text in ("one", "two", "Café"):
                emit(platform, text)
                assert text == text_of(next(lines))

    def test_keep_alives(self, platform: MockPlatform) -> None:
        """In silence CR LF comes again and again, as chunks of their own."""
        with follow(platform) as answer:
            assert b"\r\n" * 4 == answer.raw.read(8)
            assert "chunked" == answer.headers["Transfer-Encoding"]

    def test_reconnect_with_backfill(self, platform: MockPlatform) -> None:
        """After a cut, a backfill brings what was missed; repeats are known by their ids."""
        platform.activate("stream-cut", fault="reset")
        answer = follow(platform)
        got = [emit(platform, "first")["activity"]["event_uuid"]]
        with pytest.raises(requests.RequestException):
            list(answer.iter_content(512))
        missed = emit(platform, "second")["activity"]["event_uuid"]
        with follow(platform, "?backfill_minutes=5") as again:
            lines = lines_of(again)
            ids = [next(lines)["data"]["event_uuid"] for _ in range(2)]

        assert [*got, missed] == ids

    def test_killed_client(self, platform: MockPlatform) -> None:
        """A client that is killed frees its slot: the next connection finds it gone."""
        command = [sys.executable, "-c", READER, f"{platform.base_url}{PATH}",
                   headers_of(platform)["Authorization"].removeprefix("Bearer ")]  # fmt: skip
        with follow(platform):
            for _ in range(3):
                with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
                    assert client.stdout is not None
                    assert "200\n" == client.stdout.readline()
                    client.kill()
                with follow(platform) as answer:
                    assert 200 == answer.status_code

    def test_client_that_ends_its_side(self, platform: MockPlatform) -> None:
        """A client that ends its side of the connection has left."""
        host, port = platform.base_url.removeprefix("http://").split(":")
        token = headers_of(platform)["Authorization"]
        request = f"GET {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n"
        with socket.create_connection((host, int(port)), PATIENCE) as client:
            client.sendall(request.encode())
            assert b"HTTP/1.1 200" == client.recv(12, socket.MSG_WAITALL)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
        assert [] == platform.streams.list()


class TestOthers:
    """Clients of other kinds."""

    def test_asyncio(self, platform: MockPlatform) -> None:
        """Httpx in an event loop gets each line as it comes."""

        async def read() -> list[str]:
            got = []
            async with (
                httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client,
                client.stream(
                    "GET", f"{platform.base_url}{PATH}", headers=headers_of(platform)
                ) as answer,
            ):
                lines = answer.aiter_lines()
                for text in ("one", "two"):
                    await asyncio.to_thread(emit, platform, text)
                    async for line in lines:
                        if line:
                            got.append(text_of(json.loads(line)))
                            break
            return got

        # In a thread of its own: the browser's tests leave an event loop behind in this one.
        with ThreadPoolExecutor(1) as thread:
            assert ["one", "two"] == thread.submit(asyncio.run, read()).result(PATIENCE)

    def test_node(self, platform: MockPlatform, tool: Tool) -> None:
        """Fetch of node follows, is disconnected, and gets the rest after it has reconnected."""
        command = [tool("node"), "-e", FETCH, f"{platform.base_url}{PATH}",
                   headers_of(platform)["Authorization"].removeprefix("Bearer ")]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None

            def read() -> dict[str, Any]:
                assert client.stdout is not None
                found: dict[str, Any] = json.loads(client.stdout.readline())
                return found

            assert {"status": 200} == read()
            for text in ("one", "two"):
                emit(platform, text)
                assert {"after": text} == read()
            platform.streams.disconnect()
            assert {"status": 200} == read()
            emit(platform, "three")
            assert {"after": "three"} == read()
            assert 0 == client.wait(PATIENCE)


class TestServer:
    """What streams mean for the server."""

    def test_no_worker_is_held(self) -> None:
        """With a hook in Flask and more streams than workers, everything is answered."""
        with MockPlatform.start(stream_keepalive=QUICK, stream_connections=100) as platform:
            platform.app.before_request(lambda: None)
            opened = [follow(platform) for _ in range(60)]
            emit(platform, "all")
            lines = [lines_of(answer) for answer in opened]
            assert ["all"] * 60 == [text_of(next(each)) for each in lines]
            health = requests.get(f"{platform.control_url}/health", timeout=PATIENCE)
            assert (200, 60) == (health.status_code, len(platform.streams.list()))
            for answer in opened:
                answer.close()

    def test_stop(self) -> None:
        """A stop ends all streams with a last line, and does not wait for their clients."""
        platform = MockPlatform.start(stream_keepalive=3600)
        opened = [follow(platform) for _ in range(2)]
        platform.stop()

        for answer in opened:
            (last,) = lines_of(answer)
            assert "ForceDisconnect" == last["errors"][0]["disconnect_type"]

    def test_slow_reader(self) -> None:
        """A client that does not read is disconnected as a slow reader; others get every line."""
        with MockPlatform.start(stream_backlog=3, stream_keepalive=3600) as platform:
            slow, good = follow(platform), follow(platform)
            lines = lines_of(good, len(big := "x" * 500_000))
            count = 0
            while len(platform.streams.list()) == 2:
                emit(platform, f"{count} {big}")
                assert text_of(next(lines)).startswith(f"{count} ")
                count += 1
            records = platform.state["connections"].all()
            assert ["slow_reader"] == [
                found["disconnect_reason"]
                for found in records
                if found["client_ip"] == "127.0.0.1" and "disconnect_reason" in found
            ]
            *sent, last = lines_of(slow, len(big))
            assert "SlowReader" == last["errors"][0]["disconnect_type"]
            assert [f"{number} " for number in range(len(sent))] == [
                text_of(line)[:2] if number < 10 else text_of(line)[:3]
                for number, line in enumerate(sent)
            ]
            good.close()

    def test_load(self) -> None:
        """Nothing is lost or repeated, and the order is kept, for each of many subscriptions."""
        with MockPlatform.start(stream_connections=4) as platform:
            for entry in platform.state["activity_subscriptions"].all():
                platform.state["activity_subscriptions"].delete(entry["subscription_id"])
            template = {
                "event_type": "profile.update.bio", "filter": {"user_id": USER},
                "created_at": "2026-06-05T08:30:00.000Z",
                "updated_at": "2026-06-05T08:30:00.000Z", "_app_id": "11827",
            }  # fmt: skip
            for number in range(50):
                wanted = USER if number < 5 else str(9_000_000 + number)
                platform.state["activity_subscriptions"].put(
                    template
                    | {"subscription_id": str(number), "tag": str(number)}
                    | {"filter": {"user_id": wanted}}
                )
            opened = [follow(platform) for _ in range(4)]
            for number in range(200):
                emit(platform, str(number))
            for answer in opened:
                lines = lines_of(answer)
                got = [next(lines)["data"] for _ in range(1000)]
                for tag in "01234":
                    own = [data["payload"]["after"] for data in got if data["tag"] == tag]
                    assert [str(number) for number in range(200)] == own
                answer.close()


def test_story(receiver: Receiver) -> None:
    """An event reaches webhook and stream under one id; a replay brings what was missed."""
    with MockPlatform.start(
        stream_keepalive=QUICK, delivery_attempts=1, delivery_timeout=5
    ) as platform:
        headers = headers_of(platform)

        def call(method: str, path: str, **body: Any) -> Any:
            url = f"{platform.base_url}{path}"
            answer = requests.request(method, url, headers=headers, json=body, timeout=PATIENCE)
            assert answer.ok, answer.text
            return answer.json()

        for entry in platform.state["activity_subscriptions"].all():
            platform.state["activity_subscriptions"].delete(entry["subscription_id"])
        webhook = call("POST", "/2/webhooks", url=receiver.url)["id"]
        call(
            "POST", "/2/activity/subscriptions",
            event_type="profile.update.bio", filter={"user_id": USER}, webhook_id=webhook,
        )  # fmt: skip
        with follow(platform) as answer:
            lines = lines_of(answer)
            emit(platform, "first")
            first = next(lines)["data"]["event_uuid"]
            receiver.wait_until(lambda it: first in it.event_ids)
            receiver.plan.extend([503, 503])
            missed = [emit(platform, text)["activity"]["event_uuid"] for text in ("2", "3")]
            assert missed == [next(lines)["data"]["event_uuid"] for _ in range(2)]
            assert platform.wait_for_deliveries(PATIENCE)
        now = platform.clock.advance(minutes=2)
        received = len(receiver.received)
        start = now - timedelta(minutes=10)
        call(
            "POST", "/2/webhooks/replay", webhook_id=webhook,
            from_date=f"{start:%Y%m%d%H%M}", to_date=f"{now:%Y%m%d%H%M}",
        )  # fmt: skip
        platform.clock.advance(minutes=1)

        assert "Complete" == receiver.wait_for_end()["job_state"]
        again = [post.event_id for post in receiver.received[received:]]
        assert [first, *missed, None] == again
        for post in receiver.received:
            assert sign(HARBOR.secret, post.body) in post.headers.values()
