"""The node client twitter-api-v2 against `mock-platform serve`, over https as it insists."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.api.ads.cards.creatives import IMAGE
from tests.commands import finished
from tests.conftest import Tool
from tests.live_servers import LiveServer, LiveWorld
from tests.support import ACCOUNT, OTHER_ACCOUNT
from tests.visitor import Visitor
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).parent / "node" / "ads.cjs"
CALLBACK = "https://desk.harbor-roasters.example/oauth/callback"
CLICKS = "itttx"

Step = dict[str, Any]
Run = Callable[..., list[Any]]


@pytest.fixture
def run(tool: Tool, node_modules: Path, live_world_tls: LiveWorld) -> Run:
    """Takes steps with the client, as the well-known user, in one process of node."""
    return make_run(tool, node_modules, live_world_tls)


def make_run(tool: Tool, node_modules: Path, world: LiveWorld) -> Run:
    """Returns what takes steps with the client in this world."""
    node = tool("node")
    assert world.ca is not None
    environment = dict(os.environ, NODE_PATH=str(node_modules), NODE_EXTRA_CA_CERTS=world.ca)
    who = {
        "base_url": world.base_url, "key": world.key, "secret": world.secret,
        "token": world.credentials["user"]["access_token"],
        "token_secret": world.credentials["user"]["access_token_secret"],
        "bearer": world.credentials["bearer_token"],
    }  # fmt: skip

    def take(*steps: Step) -> list[Any]:
        ran = finished([node, str(PROGRAM), json.dumps(who | {"steps": steps})], env=environment)
        assert ran.returncode == 0, ran.stderr
        found: list[Any] = json.loads(ran.stdout)
        return found

    return take


def call(
    method: str, path: str, sent: Any = None, client: str = "ads", **more: Any
) -> dict[str, Any]:
    """One call; `path` below the version, or below the account where it begins with a slash."""
    where = f"accounts/{ACCOUNT}{path}" if path.startswith("/") else path
    return {"client": client, "method": method, "path": where, "sent": sent or {}, **more}


def test_a_world_without_a_prefix(
    tool: Tool, node_modules: Path, live_server_tls: LiveServer
) -> None:
    """The client sends JSON only to paths that begin with /2/: own credentials choose the world."""
    world = live_server_tls.world(own=True)
    run = make_run(tool, node_modules, world)

    (answer,) = run(call("post", "posts", {"text": "No prefix needed"}, client="person"))

    post = world.record("posts", answer["data"]["data"]["id"])
    assert "No prefix needed" == post["full_text"]


def as_json(method: str, path: str, sent: Any) -> dict[str, Any]:
    """One call with a JSON body."""
    return call(method, path, sent, options={"forceBodyMode": "json"})


@pytest.mark.spec("B, Authentication", "The credential")
def test_reads_pages_and_features(run: Run) -> None:
    """Signed reads with a query: accounts, features, and a second page by its cursor."""
    accounts, features, first = run(
        call("get", "accounts", {"count": 2, "sort_by": "name-asc"}),
        call("get", "/features", {"feature_keys": "AGE_TARGETING,DR_TAP"}),
        call("get", "/line_items", {"count": 6, "with_total_count": True}),
    )
    cursor = first["data"]["next_cursor"]
    (second,) = run(call("get", "/line_items", {"count": 6, "cursor": cursor}))
    keys = [item["id"] for page in (first, second) for item in page["data"]["data"]]

    assert {"count": 2, "sort_by": ["name-asc"]} == accounts["data"]["request"]["params"]
    assert ["Harbor Roasters", "Harbor Roasters Europe"] == [
        account["name"] for account in accounts["data"]["data"]
    ]
    assert ["AGE_TARGETING"] == features["data"]["data"]
    assert first["data"]["total_count"] == len(keys) == len(set(keys)) == 9
    assert second["data"]["next_cursor"] is None
    assert (200, 199) == (first["rateLimit"]["limit"], first["rateLimit"]["remaining"])


def test_forms_and_json_bodies(run: Run) -> None:
    """A form body is part of the signature, a JSON body is not; both are understood."""
    poll = {"name": "Röstung & Mahlgrad", "first_choice": "hell*", "second_choice": "dunkel"}
    card = {
        "name": "From node",
        "components": [
            {"type": "MEDIA", "media_key": IMAGE},
            {
                "type": "DETAILS",
                "title": "Winter",
                "destination": {"type": "WEBSITE", "url": "https://shop.example.com/"},
            },
        ],
    }
    batch = [{"operation_type": "Update", "params": {"users": [{"partner_user_id": ["n-1"]}]}}]
    made, saved, carded, uploaded = run(
        call("post", "/cards/poll", poll | {"duration_in_minutes": 60}),
        call(
            "put", f"/line_items/{CLICKS}", {"name": "Renamed by node", "entity_status": "PAUSED"}
        ),
        as_json("post", "/cards", card),
        as_json("post", "/custom_audiences/1nmth/users", batch),
    )

    assert poll.items() <= made["data"]["data"].items()
    assert ("Renamed by node", "PAUSED") == (
        saved["data"]["data"]["name"], saved["data"]["data"]["entity_status"],
    )  # fmt: skip
    assert "IMAGE_WEBSITE" == carded["data"]["data"]["card_type"]
    assert {"success_count": 1, "total_count": 1} == uploaded["data"]["data"]


def test_sandbox_address(run: Run) -> None:
    """The client's sandbox makes an account and grants it features; the plain one cannot."""
    (made,) = run(call("post", "accounts", client="sandbox"))
    key = made["data"]["data"]["id"]
    granted, plain = run(
        call("post", f"accounts/{key}/features", {"feature_keys": "DR_TAP,BRAND_TPN"}, "sandbox"),
        call("post", "accounts"),
    )

    assert ["BRAND_TPN", "DR_TAP"] == granted["data"]["data"]
    assert 405 == plain["error"]["code"]


def test_refusals(run: Run) -> None:
    """400, 401, 403 and 404 arrive as errors with their codes; 401 is known as one of auth."""
    wrong, stranger, foreign, gone, again = run(
        call("put", f"/line_items/{CLICKS}", {"bid_amount_local_micro": 0, "goal": "SALES"}),
        call("get", "accounts", client="stranger"), call("get", f"accounts/{OTHER_ACCOUNT}"),
        call("delete", f"/line_items/{CLICKS}"), call("delete", f"/line_items/{CLICKS}"),
    )  # fmt: skip
    refused = [result["error"] for result in (wrong, stranger, foreign, again)]

    assert [400, 401, 403, 404] == [error["code"] for error in refused]
    assert [False, True, False, False] == [error["isAuthError"] for error in refused]
    assert [2, 1, 1, 1] == [error["named"] for error in refused]
    assert {"bid_amount_local_micro", "goal"} == {
        fault["parameter"] for fault in refused[0]["data"]["errors"]
    }
    assert "Twitter code ACCOUNT_NOT_FOUND" in refused[2]["message"]
    assert gone["data"]["data"]["deleted"] is True


def test_rate_limit(run: Run) -> None:
    """The 201st request for a total is a rate limit error with its headers read."""
    total = {"count": 1, "with_total_count": True}
    last, over, without = run(
        call("get", "/line_items", total, times=200), call("get", "/line_items", total),
        call("get", "/account_media", total),
    )  # fmt: skip
    error = over["error"]

    assert 0 == last["rateLimit"]["remaining"]
    assert (429, True, True) == (error["code"], error["rateLimitError"], error["hit"])
    assert (200, 0) == (error["rateLimit"]["limit"], error["rateLimit"]["remaining"])
    assert last["rateLimit"]["reset"] == error["rateLimit"]["reset"]
    assert "TOO_MANY_REQUESTS" == error["data"]["errors"][0]["code"]
    assert 199 == without["rateLimit"]["remaining"]


@pytest.mark.spec("A, Other v2 endpoints", "OAuth 1.0a endpoints")
@pytest.mark.parametrize("mode", ["authorize", "authenticate"])
def test_login_with_a_callback(run: Run, live_world_tls: LiveWorld, mode: str) -> None:
    """generateAuthLink, the user's consent, login; the new client reads the user's accounts."""
    world = live_world_tls
    (link,) = run({"step": "link", "callback": CALLBACK, "mode": mode})
    assert link["url"].startswith(f"{world.base_url}/oauth/{mode}?")
    page = Visitor(world.session(), world.base_url).open(link["url"].removeprefix(world.base_url))
    page.submit("log_in", screen_name=world.screen_name, password=world.password)
    verifier = page.submit("allow").landed_with["oauth_verifier"]
    step = {"token": link["oauth_token"], "secret": link["oauth_token_secret"]}
    found, again = run(*[{"step": "login", "verifier": verifier} | step] * 2)

    assert "true" == link["oauth_callback_confirmed"]
    assert (world.screen_name, world.credentials["user"]["id"]) == (
        found["screenName"], found["userId"],
    )  # fmt: skip
    assert world.credentials["accounts"] == [account["id"] for account in found["accounts"]]
    assert 401 == again["error"]["code"]


@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Response HTTP 200")
@pytest.mark.spec("A, Authentication", "OAuth 2.0 app-only")
def test_app_login_and_a_problem(run: Run, live_world_tls: LiveWorld) -> None:
    """An app logs in for its bearer token; a refused replay is a problem it can read."""
    tokens, replay = run(
        {"step": "bearer"},
        call(
            "post", "webhooks/replay", {"webhook_id": "x"}, "v2", options={"forceBodyMode": "json"}
        ),
    )

    assert {"type": "oauth2", "bearerToken": live_world_tls.credentials["bearer_token"]} == tokens
    assert 400 == replay["error"]["code"]
    assert replay["error"]["data"]["type"].endswith("/2/problems/invalid-request")
    assert {"webhook_id", "from_date", "to_date"} == {
        name for fault in replay["error"]["data"]["errors"] for name in fault["parameters"]
    }


@pytest.mark.spec("A, POST {base_url}/1.1/oauth/invalidate_token", "A .json suffix")
@pytest.mark.spec("A, Errors", "Use of an invalidated")
def test_v1_requests_in_user_context(run: Run) -> None:
    """v1 calls are signed with the access token, which dies by its own revocation."""
    done, after = run(
        call("post", "oauth/invalidate_token.json", client="v1"), call("get", "accounts")
    )

    assert {"access_token"} == done["data"].keys()
    assert (401, True) == (after["error"]["code"], after["error"]["isAuthError"])
    assert 89 == after["error"]["data"]["errors"][0]["code"]


FETCH = """
const [url, token] = process.argv.slice(1);
const told = [];
(async () => {
  for (let number = 0; number < 3; number += 1) {
    try {
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      told.push((await answer.json()).data.length > 0);
    } catch (error) {
      told.push(error.cause.code);
    }
  }
  process.stdout.write(JSON.stringify(told));
})();
"""


def activate(world: LiveWorld, name: str, **parameters: Any) -> None:
    """Switch a scenario on."""
    session = world.session()
    answer = session.post(
        f"{world.control}/scenarios/{name}/activate", json={"parameters": parameters}
    )
    assert answer.ok, answer.text


def test_fetch_meets_a_flaky_network(live_world: LiveWorld, tool: Tool) -> None:
    """Two connections are reset, the third request is answered."""
    activate(live_world, "flaky-network", failures=2)
    url = f"{live_world.base_url}/12/accounts/{ACCOUNT}/line_items"

    ran = finished([tool("node"), "-e", FETCH, url, str(live_world.credentials["bearer_token"])])

    assert (0, "") == (ran.returncode, ran.stderr)
    assert ["ECONNRESET", "ECONNRESET", True] == json.loads(ran.stdout)
    told = requests.get(f"{live_world.control}/scenarios/flaky-network", timeout=PATIENCE).json()
    assert 2 == told["rules"][0]["fired"]
