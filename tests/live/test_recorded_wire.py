"""Published clients on the recorded wire, as they are: limits, pages and errors as they read them.

Where a client waits for a limit, the clock of the world moves in place of time.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests
import tweepy
import twitter
from TwitterAPI import TwitterAPI, TwitterPager

from mock_platform import MockPlatform
from mock_platform.core.auth.tester_access import environment
from tests.commands import finished
from tests.conftest import Tool
from tests.live import python_samples
from tests.live.clients import four_keys
from tests.live.sandboxes import starting

pytestmark = pytest.mark.live

OWN, MISSING = "2244994945", "99"
PROGRAMS = Path(__file__).parent / "node"
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
NOT_FOUND = "Could not find user with id: [99]."
TIME_OF = ("tweepy.client", "TwitterAPI.TwitterPager", "tests.live.python_samples")
"""The modules whose time stands still while they wait; that of twarc, if it is installed."""


started = starting(freeze=NOON, intercepted=True)
"""A sandbox; names and wire are those of the hosts that clients call."""


@pytest.fixture
def platform(started: MockPlatform) -> MockPlatform:
    """The sandbox as it begins, behind the platform's own hosts."""
    started.reset()
    return started


@pytest.fixture
def waits(platform: MockPlatform, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a client waited, by the clock of the world and in no time."""
    found: list[float] = []

    def sleep(seconds: float) -> None:
        found.append(seconds)
        platform.clock.advance(seconds=seconds)

    def now() -> float:
        return platform.clock.now().timestamp()

    for module in filter(sys.modules.get, (*TIME_OF, "twarc.decorators2")):
        monkeypatch.setattr(sys.modules[module], "time", SimpleNamespace(sleep=sleep, time=now))
    return found


def test_tweepy(platform: MockPlatform, waits: list[float]) -> None:
    """It waits for the reset of a used-up limit, follows pages, and raises its own errors."""
    bearer = platform.credentials["bearer_token"]
    client = tweepy.Client(bearer, *four_keys(platform.credentials), wait_on_rate_limit=True)

    for _ in range(16):  # a user has 15 in 15 minutes
        client.get_blocked()
    pages = list(tweepy.Paginator(client.get_users_followers, OWN, max_results=50))

    assert [901] == waits
    assert 3 == len(pages)
    with pytest.raises(tweepy.NotFound, match="Not Found"):
        client.get_user(id=MISSING)
    impatient = tweepy.Client(bearer)
    impatient.search_all_tweets("coffee")
    with pytest.raises(tweepy.TooManyRequests) as limited:
        impatient.search_all_tweets("coffee")
    assert int(platform.clock.now().timestamp()) + 1 == limited.value.reset_time


def test_twitterapi(platform: MockPlatform, waits: list[float]) -> None:
    """It reads the quota, pauses between pages, and shows refusals as they are."""
    client = TwitterAPI(*four_keys(platform.credentials), api_version="2")

    pager = TwitterPager(client, f"users/:{OWN}/followers", {"max_results": 50})
    found = list(pager.get_iterator(wait=2))
    for _ in range(15):
        last = client.request(f"users/:{OWN}/blocking")
    missing = client.request(f"users/:{MISSING}")
    refused = client.request(f"users/:{OWN}/blocking")

    assert len(found) == len({each["id"] for each in found}) > 100
    assert [2, 2] == waits
    assert (15, 0) == (last.get_quota()["limit"], last.get_quota()["remaining"])
    assert int(platform.clock.now().timestamp()) + 900 == last.get_quota()["reset"].timestamp()
    assert (404, NOT_FOUND) == (missing.status_code, missing.json()["detail"])
    assert (429, "Too Many Requests") == (refused.status_code, refused.json()["title"])


def test_python_twitter(platform: MockPlatform) -> None:
    """It keeps the limit of an address, and raises the code of a refusal."""
    api = twitter.Api(*four_keys(platform.credentials))

    api.VerifyCredentials()
    with pytest.raises(twitter.TwitterError) as missing:
        api.GetUser(screen_name="nobody_at_all")
    for _ in range(74):
        api.VerifyCredentials()
    with pytest.raises(twitter.TwitterError) as limited:
        api.VerifyCredentials()
    limit = api.rate_limit.get_limit("https://api.twitter.com/1.1/account/verify_credentials.json")

    assert 50 == missing.value.args[0][0]["code"]
    assert 88 == limited.value.args[0][0]["code"]
    assert (75, 0) == (int(limit.limit), int(limit.remaining))
    stranger = twitter.Api("x", "y", "z", "s")
    with pytest.raises(twitter.TwitterError, match=r"Could not authenticate you\."):
        stranger.VerifyCredentials()


def test_the_vendors_sdk(platform: MockPlatform) -> None:
    """It follows pages, and raises what requests raises, with the reset of a used-up limit."""
    from xdk import Client

    client = Client(bearer_token=platform.credentials["bearer_token"])

    pages = list(client.users.get_followers(OWN, max_results=50))
    with pytest.raises(requests.HTTPError) as missing:
        client.users.get_by_id(MISSING)
    for _ in range(75):
        client.trends.get_by_woeid(1)
    with pytest.raises(requests.HTTPError) as limited:
        client.trends.get_by_woeid(1)

    assert 3 == len(pages)
    assert NOT_FOUND == missing.value.response.json()["errors"][0]["detail"]
    headers = limited.value.response.headers
    assert ("75", "0") == (headers["x-rate-limit-limit"], headers["x-rate-limit-remaining"])
    assert str(int(NOON.timestamp()) + 900) == headers["x-rate-limit-reset"]


@pytest.fixture
def twarc2() -> Any:
    """The class of twarc for version 2."""
    return pytest.importorskip("twarc", exc_type=ImportError).Twarc2


def test_twarc(twarc2: Any, platform: MockPlatform, waits: list[float]) -> None:
    """It waits for a reset, follows pages, and raises what requests raises, by app and by user."""
    by_app = twarc2(bearer_token=platform.credentials["bearer_token"], metadata=False)
    by_user = twarc2(*four_keys(platform.credentials), metadata=False)

    pages = list(by_app.followers(OWN, user_id=OWN, max_results=50))
    for _ in range(76):
        by_app.get("https://api.twitter.com/2/trends/by/woeid/1")
    mine = next(by_user.user_lookup([OWN, MISSING]))
    with pytest.raises(requests.HTTPError) as missing:
        by_app.get(f"https://api.twitter.com/2/users/{MISSING}")

    assert 3 == len(pages)
    assert 100 < len({user["id"] for page in pages for user in page["data"]})
    assert [901] == waits
    assert ([OWN], NOT_FOUND.replace("id:", "ids:")) == (
        [user["id"] for user in mine["data"]], mine["errors"][0]["detail"],
    )  # fmt: skip
    assert NOT_FOUND == missing.value.response.json()["detail"]


def test_programs_in_the_form_of_the_vendors_samples(
    platform: MockPlatform, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They need 201 for rules, follow tokens, and sleep until the reset that a 429 names."""
    monkeypatch.setenv("MOCK_PLATFORM_BEARER_TOKEN", platform.credentials["bearer_token"])
    for _ in range(2):  # the second time there are rules to delete
        made = python_samples.set_rules([{"value": "espresso", "tag": "coffee"}])

    followers = f"{python_samples.HOST}/users/{OWN}/followers"
    pages = list(python_samples.list_pages(followers, "pagination_token", max_results=50))
    found = list(
        python_samples.list_pages(
            f"{python_samples.HOST}/tweets/search/recent", "next_token",
            query="the", max_results=10,
        )
    )  # fmt: skip
    for _ in range(2):  # one in a second
        python_samples.connect_to_endpoint(
            f"{python_samples.HOST}/tweets/search/all", {"query": "coffee"}
        )

    assert 1 == made["meta"]["summary"]["created"]
    assert 3 == len(pages)
    assert len(found) > 1
    assert [2] == waits
    with pytest.raises(RuntimeError, match=r"error: 404 .*Could not find user with id"):
        python_samples.connect_to_endpoint(f"{python_samples.HOST}/users/{MISSING}")


def run_in_node(node: str, program: str, platform: MockPlatform, **more: str) -> Any:
    """What a program of `node/` printed."""
    command = [node, str(PROGRAMS / program), platform.base_url]
    found = {**environment(platform.credentials), **more}
    ran = finished(command, env={**os.environ, **found})
    assert 0 == ran.returncode, ran.stderr
    return json.loads(ran.stdout)


def test_programs_of_node_in_the_form_of_the_vendors_samples(
    platform: MockPlatform, tool: Tool
) -> None:
    """With fetch, as the samples in JavaScript have it: rules, pages, a sleep, an error."""
    told = run_in_node(tool("node"), "samples.cjs", platform)
    pages, followers = told["followers"]

    assert (1, 3) == (told["rules"], pages)
    assert followers > 100
    assert [901] == told["slept"]
    assert f"404: {NOT_FOUND}" == told["missing"]


def test_twitter_api_v2(platform: MockPlatform, tool: Tool, node_modules: Path) -> None:
    """The client of node reads both windows, waits, follows pages, and types its errors."""
    told = run_in_node(tool("node"), "wire.cjs", platform, NODE_PATH=str(node_modules))

    assert {"limit": 15, "remaining": 0} == told["limited"]["window"]
    assert 900 == told["limited"]["wait"]
    assert told["limited"]["typed"]
    assert 0 == told["again"]
    assert 3 == told["pages"]
    assert {"limit": 1000, "remaining": 999} == told["day"]
    assert [404, NOT_FOUND] == told["missing"]
