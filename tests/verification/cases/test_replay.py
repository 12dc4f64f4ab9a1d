"""The requests of a case get the recorded answers elsewhere, whatever happened between them."""

from __future__ import annotations

import base64
import json
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
import requests
from requests_oauthlib import OAuth1

from mock_platform import MockPlatform
from mock_platform.client.interface import WorldFace
from mock_platform.core.errors import BadCase
from mock_platform.settings import Settings
from mock_platform.testing import WebhookReceiver
from mock_platform.verification.cases.document import read_case
from mock_platform.verification.cases.replay import Replay, replay

CALLBACK = "http://127.0.0.1:8090/callback"
SMALL = Settings(dataset="small")
Repeat = Callable[[WorldFace], Replay]
Act = Callable[[WorldFace], None]


def write_posts(world: WorldFace) -> None:
    """Requests that depend on ids, moments and each other."""
    session = world.session(auth="oauth1")
    made = session.post("/2/posts", json={"text": "Fresh"}).json()["data"]["id"]
    session.get(f"/2/posts/{made}?post.fields=created_at")
    page = session.get("/2/users/2244994945/posts?max_results=5").json()
    next_page = page["meta"]["next_token"]
    session.get(f"/2/users/2244994945/posts?max_results=5&pagination_token={next_page}")


def change_beside(world: WorldFace) -> None:
    """Requests, with changes through the control plane between them."""
    session = world.session(auth="bearer")
    item = next(iter(world.state["line_items"]))["id"]
    for name in ("One", "Two"):
        world.clock.advance(hours=30)
        world.state["line_items"].patch(item, {"name": name})
        session.get("/12/accounts/18ce54d4x5t/line_items")
    world.emit("profile.update.bio", user="2244994945")
    session.get("/2/users/2244994945?user.fields=description")


def break_answers(world: WorldFace) -> None:
    """Requests that scenarios and headers make fail, one without an answer."""
    rules = [
        {"on": "users.me", "call": 2, "then": {"fault": "reset", "stage": "after_commit"}},
        {"on": "GET /2/shops/:id", "then": {"respond": {"status": 200, "json": {"open": True}}}},
    ]
    mine = world.define({"name": "mine", "description": "Mine.", "rules": rules})
    session = world.session(auth="oauth1")
    session.get("/2/users/me")
    world.activate(mine)
    session.get("/2/users/me")
    with pytest.raises(requests.ConnectionError):
        session.get("/2/users/me")
    session.get("/2/shops/7")
    session.get("/2/users/me", headers={"Prefer": "code=503"})
    world.deactivate()
    session.get("/2/shops/7")


def limit_again(world: WorldFace) -> None:
    """Rate limits that are switched on again, replaced, and switched off, between requests."""
    session = world.session(auth="bearer")
    limit = {"on": "users.get", "limit": 1, "window": 600}
    for switch in ("on", "on", "beside", "off", "on"):
        if switch == "on":
            world.activate("rate-limited", **limit)
        elif switch == "beside":
            world.activate("outage", on="users.me")
        else:
            world.deactivate("rate-limited")
        world.clock.advance(seconds=20)
        for _ in range(2):
            session.get("/2/users/2244994945")
    session.get("/2/users/2244994945", headers={"X-Mock-Scenario": "rate-limited"})


def send_bodies(world: WorldFace) -> None:
    """Forms, files and streams."""
    session = world.session(auth="oauth1")
    image = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
    session.post("/2/media/upload", files={"media": ("a.png", image, "image/png")},
                 data={"media_category": "tweet_image"})  # fmt: skip
    session.put("/12/accounts/18ce54d4x5t/line_items/none", data={"name": "é ü&="})
    token = {"Authorization": f"Bearer {world.credentials['bearer_token']}"}
    session.post("/2/posts", data=b" " * 17_000_000, headers={"Content-Type": "application/json"})
    stream = requests.get(f"{world.base_url}/2/posts/search/stream", headers=token, stream=True,
                          timeout=10)  # fmt: skip
    stream.close()


def sign_in(world: WorldFace) -> None:
    """Both sign-ins; tokens of answers are used later; wrong credentials too."""
    app = world.credentials["app"]
    pair = app["consumer_key"], app["consumer_secret"]
    asked = requests.post(f"{world.base_url}/oauth/request_token",
                          auth=OAuth1(*pair, callback_uri=CALLBACK), timeout=10)  # fmt: skip
    token = dict(parse_qsl(asked.text))
    verifier = world.authorize(token["oauth_token"])
    signed = OAuth1(*pair, token["oauth_token"], token["oauth_token_secret"], verifier=verifier)
    answer = requests.post(f"{world.base_url}/oauth/access_token", auth=signed, timeout=10)
    access = dict(parse_qsl(answer.text))
    for secret in (access["oauth_token_secret"], "wrong-secret"):
        me = OAuth1(*pair, access["oauth_token"], secret)
        requests.get(f"{world.base_url}/2/users/me", auth=me, timeout=10)

    query = {"response_type": "code", "client_id": app["client_id"], "redirect_uri": CALLBACK,
             "scope": "post.read users.read offline.access", "state": "s",
             "code_challenge": "abc" * 15, "code_challenge_method": "plain"}  # fmt: skip
    sent_to = world.authorize(f"{world.base_url}/oauth2/authorize?{urlencode(query)}")
    session, client = world.session(), (app["client_id"], app["client_secret"])
    code = dict(parse_qsl(sent_to.partition("?")[2]))["code"]
    form = {"grant_type": "authorization_code", "redirect_uri": CALLBACK, "code": code,
            "code_verifier": "abc" * 15}  # fmt: skip
    tokens = session.post("/2/oauth2/token", data=form, auth=client).json()
    again = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    session.post("/2/oauth2/token", data=again, auth=client)
    session.get("/2/users/me", headers={"Authorization": f"Bearer {tokens['access_token']}"})
    for secret in (app["consumer_secret"], "wrong"):
        session.post("/oauth2/token", data={"grant_type": "client_credentials"},
                     auth=(app["consumer_key"], secret))  # fmt: skip
    session.get("/2/users/me", headers={"Authorization": "Bearer no-such-token-0123456789"})
    session.get("/2/users/me")


def write_at_once(world: WorldFace) -> None:
    """Writes from four threads: their order decides the ids."""

    def write(name: int) -> None:
        session = world.session(auth="oauth1")
        for number in range(4):
            session.post("/2/posts", json={"text": f"{name} {number}"})

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def use_tools(world: WorldFace) -> None:
    """An agent: it connects, calls tools of both servers, and leaves."""
    session = world.session(auth="oauth2")
    funds = {"account_id": "18ce54d4x5t", "funding_instrument_id": "m2k8s", "name": "A"}

    def send(path: str, method: str, params: object, **headers: str) -> requests.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return session.post(path, json=message, headers=headers)

    begun = send("/ads/mcp", "initialize", {"protocolVersion": "2025-06-18"})
    own = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
    send("/ads/mcp", "tools/call", {"name": "create_campaign", "arguments": funds}, **own)
    send("/mcp", "tools/call", {"name": "createPosts", "arguments": {"text": "x"}})
    send("/mcp", "tools/call", {"name": "getUsersById"})
    session.delete("/ads/mcp", headers=own)


@pytest.mark.parametrize("act", [
    write_posts, change_beside, limit_again, use_tools, break_answers, send_bodies, sign_in,
    write_at_once,
], ids=lambda act: act.__name__)  # fmt: skip
@pytest.mark.parametrize("where", ["default", "another, stopped", "own credentials"])
def test_every_answer_is_the_recorded_one(repeat: Repeat, act: Act, where: str) -> None:
    """In the default world and others, which draw other ids, whatever the session does."""
    # The records of followers, which take most of the time, are in one of the three.
    dataset: Any = "social" if where == "default" else "small"
    with MockPlatform.start(seed=3, dataset=dataset) as platform:
        world: WorldFace = platform
        if where == "another, stopped":
            world = platform.world("shop", seed=5, freeze="2026-11-20T12:00:00Z")
        elif where == "own credentials":
            world = platform.world("shop", own_credentials=True)
        act(world)
        done = repeat(world)
        sent, statuses = len(world.journal), [entry.status for entry in world.journal]

    assert [] == done.differences
    assert [] == done.notes
    assert statuses == [entry.status for entry in done.entries]
    assert sent == len(done.entries) > 0


@pytest.mark.parametrize(
    "settings", [{"wire": "recorded", "names": "original"}, {"limits": "public"}]
)
def test_settings_are_kept(repeat: Repeat, settings: dict[str, Any]) -> None:
    """Names, wire and limits are those of the server."""
    with MockPlatform.start(SMALL, **settings) as platform:
        session = platform.session(auth="oauth1")
        for _ in range(2):
            session.get("/2/tweets/search/recent?query=coffee", headers={"Accept-Encoding": "gzip"})
        done = repeat(platform)

    assert [] == done.differences


def test_challenges_and_deliveries_end_as_they_did(repeat: Repeat) -> None:
    """Nothing is sent: the receiver has gone, and its webhook is made all the same."""
    with MockPlatform.start(SMALL) as platform:
        session = platform.session(auth="bearer")
        with WebhookReceiver(platform.credentials["app"]["consumer_secret"]) as receiver:
            made = session.post("/2/webhooks", json={"url": receiver.url}).json()["id"]
            path = f"/2/account_activity/webhooks/{made}/subscriptions/all"
            platform.session(auth="oauth1").post(path, json={})
            platform.session(auth="oauth1").post("/2/posts", json={"text": "Delivered"})
            platform.wait_for_deliveries()
            count = len(receiver.deliveries)
        session.post("/2/webhooks", json={"url": "http://127.0.0.1:1/nobody"})
        session.get("/2/webhooks")
        done = repeat(platform)

    assert [] == done.differences
    assert 1 == count


def test_a_journal_that_was_emptied_begins_there(repeat: Repeat) -> None:
    """So does one of a world that was restored; what was active before still is."""
    with MockPlatform.start(SMALL) as platform:
        session = platform.session(auth="oauth1")
        session.post("/2/posts", json={"text": "Before"})
        busy = platform.define(
            {"name": "busy", "rules": [{"on": "users.me", "then": {"respond": {"status": 429}}}]}
        )
        platform.activate(busy)
        platform.journal.clear()
        session.get("/2/users/me")
        cleared = repeat(platform)
        platform.state.load(platform.state.dump())
        session.get("/2/users/me")
        loaded = repeat(platform)

    for done in (cleared, loaded):
        assert [429] == [entry.status for entry in done.entries]
        assert [] == done.differences


def test_what_the_journal_dropped_cannot_be_repeated(repeat: Repeat) -> None:
    """The case says why, and has the state at the end."""
    with MockPlatform.start(SMALL, journal_entries=2) as platform:
        session = platform.session(auth="oauth1")
        for number in range(3):
            session.post("/2/posts", json={"text": f"{number}"})
        done = repeat(platform)
        posts = platform.state["posts"].all()

    assert "the journal dropped 1 older requests for space" == done.case.document.why_not
    assert [] == done.entries
    assert posts == [entry.record for entry in done.world.store.page("posts")]


def change_journal(file: Path, change: Callable[[dict[str, object]], None]) -> Path:
    """The same case, with something else in the log of its journal."""
    with zipfile.ZipFile(file) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    log = json.loads(members["journal.har"])
    change(log["log"])
    members["journal.har"] = json.dumps(log).encode()
    with zipfile.ZipFile(file, "w") as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return file


def test_differences_name_request_place_and_both_values(tmp_path: Path) -> None:
    """Of the status, of a header, and of the first place in a body."""
    with MockPlatform.start(SMALL, freeze="2026-03-01T12:00:00Z") as platform:
        for _ in range(4):
            platform.session(auth="bearer").get("/2/users/2244994945")
        file = platform.save_case(tmp_path / "case.zip")

    def change(log: dict[str, object]) -> None:
        first, second, third, fourth = [each["response"] for each in log["entries"]]  # type: ignore[attr-defined]
        first["status"] = 404
        second["content"]["text"] = second["content"]["text"].replace("Harbor", "Port", 1)
        third["headers"] = [each for each in third["headers"] if each["name"] != "Content-Type"]
        fourth["headers"].append({"name": "X\x1b[2J\n", "value": "1"})

    done = replay(read_case(change_journal(file, change)))
    done.platform.close()
    found = [str(each) for each in done.differences]

    assert "request 1, GET /2/users/2244994945: status was 404, is 200" == found[0]
    assert 'request 2, GET /2/users/2244994945: body data.name was "Port' in found[1]
    assert "header content-type was missing, is application/json" in found[2]
    assert r"header x\x1b[2j\n was 1, is missing" in found[3]


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [("_turn", None, "entry 0"), ("_at", "noon", "_at: not an ISO 8601"), ("_mock", 1, "_mock")],
)
def test_entries_of_elsewhere(tmp_path: Path, key: str, value: object, text: str) -> None:
    """An archive that no case has is named with its place."""
    with MockPlatform.start(SMALL) as platform:
        platform.session(auth="bearer").get("/2/users/2244994945")
        file = platform.save_case(tmp_path / "case.zip")
    change_journal(file, lambda log: log["entries"][0].update({key: value}))  # type: ignore[index]

    with pytest.raises(BadCase, match=text):
        replay(read_case(file))


def test_basic_names_are_kept_without_secrets(tmp_path: Path) -> None:
    """A key identifies; what is behind it is hidden in base64 too."""
    with MockPlatform.start(SMALL) as platform:
        app = platform.credentials["app"]
        pair = (app["consumer_key"], app["consumer_secret"])
        platform.session().post("/oauth2/token", auth=pair,
                                data={"grant_type": "client_credentials"})  # fmt: skip
        file = platform.save_case(tmp_path / "case.zip")
    with zipfile.ZipFile(file) as packed:
        text = packed.read("journal.har").decode()

    assert app["consumer_key"] in text
    assert base64.b64encode(":".join(pair).encode()).decode() not in text
