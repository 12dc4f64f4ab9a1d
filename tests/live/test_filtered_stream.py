"""Published clients follow a filtered stream: rules, posts, a cut, and what they missed."""

from __future__ import annotations

import json
import os
import queue
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
import tweepy
from requests import Response
from requests_oauthlib import OAuth1

from tests.conftest import Tool
from tests.live.clients import REAL, Redirect
from tests.live.pages import Page, run_bash
from tests.live.processes import quick, serving
from tests.live_servers import LiveWorld
from tests.support import NORTHBIKE
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

RULES = "/2/posts/search/stream/rules"
PAGE = Page("docs/streams.md", "The filtered stream")
PROGRAM = Path(__file__).parent / "node" / "stream.cjs"


class Follower(tweepy.StreamingClient):  # type: ignore[misc]
    """Tweepy's own client; it drops repeats and keeps what else it is called with."""

    def __init__(self, world: LiveWorld) -> None:
        super().__init__(world.credentials["bearer_token"], daemon=True)
        self.session.trust_env = False
        self.session.mount(REAL, Redirect(world.base_url))
        self.seen: queue.Queue[tuple[str, list[str]]] = queue.Queue()
        self.events: queue.Queue[Any] = queue.Queue()
        self.repeats: list[str] = []
        self._known: set[int] = set()

    def on_response(self, response: tweepy.StreamResponse) -> None:
        """Keep the text and the tags of a post that is new."""
        if response.data is None:  # a line with errors, which `on_errors` gets as well
            return
        if response.data.id in self._known:
            self.repeats.append(response.data.text)
            return
        self._known.add(response.data.id)
        tags = [rule.tag for rule in response.matching_rules]
        self.seen.put((response.data.text, tags))

    def on_connect(self) -> None:
        """Keep that it is connected."""
        self.events.put("connected")

    def on_errors(self, errors: list[dict[str, Any]]) -> None:
        """Keep how the stream ends."""
        self.events.put([error["disconnect_type"] for error in errors])

    def on_connection_error(self) -> None:
        """Keep that the connection broke."""
        self.events.put("broken")

    def on_closed(self, response: Response) -> None:
        """Keep that the stream ended."""
        self.events.put("closed")

    def on_request_error(self, status_code: int) -> None:
        """Keep the status, and give up."""
        self.events.put(status_code)
        self.disconnect()


@contextmanager
def following(world: LiveWorld, **params: Any) -> Iterator[Follower]:
    """A follower in a thread of its own, which has an answer."""
    follower = Follower(world)
    thread = follower.filter(threaded=True, **params)
    try:
        yield follower
    finally:
        follower.disconnect()
        end(world)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def end(world: LiveWorld, **how: Any) -> None:
    """End all open streams of the world."""
    answer = world.session().post(f"{world.control}/streams/all/disconnect", json=how)
    assert answer.ok, answer.text


def post(world: LiveWorld, text: str) -> None:
    """Let another user post."""
    auth = OAuth1(NORTHBIKE.key, NORTHBIKE.secret, NORTHBIKE.token, NORTHBIKE.token_secret)
    answer = world.session().post(f"{world.base_url}/2/posts", json={"text": text}, auth=auth)
    assert answer.status_code == 201, answer.text


def clear(world: LiveWorld) -> None:
    """Delete all rules of the app."""
    url = f"{world.base_url}{RULES}?delete_all=true"
    answer = world.session().post(url, headers=world.bearer)
    assert answer.ok, answer.text


# The client knows one default field of posts by its older name alone.
@pytest.mark.filterwarnings("ignore:Tweet data missing default edit_history:RuntimeWarning")
class TestTweepy:
    """tweepy's StreamingClient, as published."""

    def test_stream(self, live_world: LiveWorld) -> None:
        """A post of another user arrives; after a cut the client connects again and has all."""
        clear(live_world)
        Follower(live_world).add_rules(
            [tweepy.StreamRule("coffee", tag="drinks"), tweepy.StreamRule("from:northbike_co")]
        )
        with following(live_world, backfill_minutes=5, tweet_fields=["author_id"]) as follower:
            assert "connected" == follower.events.get(timeout=PATIENCE)
            post(live_world, "Coffee after the ride")
            assert ("Coffee after the ride", ["drinks", ""]) == follower.seen.get(timeout=PATIENCE)
            end(live_world, disconnect_type="UpstreamOperationalDisconnect")
            post(live_world, "No more coffee")
            assert [["UpstreamOperationalDisconnect"], "closed", "connected"] == [
                follower.events.get(timeout=PATIENCE) for _ in range(3)
            ]
            assert ("No more coffee", ["drinks", ""]) == follower.seen.get(timeout=PATIENCE)
            assert ["Coffee after the ride"] == follower.repeats

    def test_cut(self, live_world: LiveWorld) -> None:
        """A scenario breaks the stream inside a line; the client connects again and gets it."""
        answer = live_world.session().post(
            f"{live_world.control}/scenarios/stream-cut/activate",
            json={"parameters": {"on": "filtered_stream.open"}},
        )
        assert answer.ok, answer.text
        with following(live_world, backfill_minutes=5) as follower:
            assert "connected" == follower.events.get(timeout=PATIENCE)
            post(live_world, "Cold brew coffee")
            assert ["broken", "connected"] == [
                follower.events.get(timeout=PATIENCE) for _ in range(2)
            ]
            assert ("Cold brew coffee", ["cold brew"]) == follower.seen.get(timeout=PATIENCE)

    def test_one_connection_too_many(self, live_world: LiveWorld) -> None:
        """A second connection of a self-serve app is refused, and the first one stays."""
        live_world.change("apps", live_world.app_id, _tier="self_serve")
        with following(live_world) as first:
            assert "connected" == first.events.get(timeout=PATIENCE)
            second = Follower(live_world)
            second.filter()
            post(live_world, "Cold brew coffee")

            assert 429 == second.events.get(timeout=PATIENCE)
            assert "Cold brew coffee" == first.seen.get(timeout=PATIENCE)[0]


class TestNode:
    """The node client twitter-api-v2, as published, over https as it insists."""

    def test_stream(self, tool: Tool, node_modules: Path, live_world_tls: LiveWorld) -> None:
        """It adds rules, gets a post, connects again after a cut, and gets the next one."""
        world = live_world_tls
        assert world.ca is not None
        clear(world)
        base_url, _, name = world.base_url.partition("/~")
        asked = {
            "base_url": base_url, "world": name, "bearer": world.credentials["bearer_token"],
        }  # fmt: skip
        environment = dict(os.environ, NODE_PATH=str(node_modules), NODE_EXTRA_CA_CERTS=world.ca)
        command = [tool("node"), str(PROGRAM), json.dumps(asked)]
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                added = read(process.stdout)
                assert ["coffee", 2] == [added["rules"][0], added["refused"]]
                assert {"event": "connected"} == read(process.stdout)
                post(world, "Coffee after the ride")
                assert {"text": "Coffee after the ride", "tags": ["drinks"]} == read(process.stdout)
                end(world, line=False)
                assert {"event": "reconnected"} == read(process.stdout)
                post(world, "More coffee")
                assert {"text": "More coffee", "tags": ["drinks"]} == read(process.stdout)
            finally:
                process.stdin.close()
            assert 0 == process.wait(PATIENCE)


class TestPage:
    """The page on the filtered stream, walked as it is written."""

    def test_languages(self) -> None:
        """Nothing is there that nothing below runs."""
        assert {"bash", "python"} == PAGE.languages

    def test_commands(self, tmp_path: Path) -> None:
        """The commands work one after the other, and show what the page says."""
        with serving(command=quick) as served:
            script = "\n".join(PAGE.blocks("bash")).replace("http://127.0.0.1:8080", served.url)
            done = run_bash(f"export MOCK_PLATFORM_URL={served.url}\n{script}", tmp_path)

        assert 0 == done.returncode, done.stderr
        assert '"title":"UnprocessableEntity"' in done.stdout
        stream = (tmp_path / "lines.txt").read_bytes().split(b"\r\n")
        lines = [json.loads(line) for line in stream if line]
        assert [["milk"], "ForceDisconnect"] == [
            [rule["tag"] for rule in lines[0]["matching_rules"]],
            lines[1]["errors"][0]["disconnect_type"],
        ]
        assert '"failed":[{"text":"\\"flat white\\""' in done.stdout
        assert "RuleConfigurationIssue" in done.stdout


def read(output: IO[str]) -> dict[str, Any]:
    """The next line that the program prints."""
    found: dict[str, Any] = json.loads(output.readline())
    return found
