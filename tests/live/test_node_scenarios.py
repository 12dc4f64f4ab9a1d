"""What node clients meet of scenarios: twitter-api-v2 over https, and connections with fetch."""

from __future__ import annotations

import json
from typing import Any

import pytest
import requests

from tests.commands import finished
from tests.conftest import Tool
from tests.live.test_node_ads import CLICKS, Run, call, run
from tests.live_servers import LiveWorld
from tests.support import ACCOUNT
from tests.waits import PATIENCE

__all__ = ["run"]
pytestmark = pytest.mark.live

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


def test_the_client_reads_an_invalidated_token(run: Run, live_world_tls: LiveWorld) -> None:
    """An authentication error with code 89, from an errors array."""
    activate(live_world_tls, "token-invalidated")

    (answer,) = run(call("get", "accounts"))

    error = answer["error"]
    assert (401, True, 89) == (
        error["code"], error["isAuthError"], error["data"]["errors"][0]["code"],
    )  # fmt: skip


def test_the_client_reads_a_rate_limit(run: Run, live_world_tls: LiveWorld) -> None:
    """A rate limit error with the window's numbers."""
    activate(live_world_tls, "rate-limited", limit=1)
    path = call("get", "/line_items")

    first, second = run(path, path)

    assert {"limit": 1, "remaining": 0}.items() <= first["rateLimit"].items()
    error = second["error"]
    assert (429, True) == (error["code"], error["rateLimitError"])
    assert {"limit": 1, "remaining": 0}.items() <= error["rateLimit"].items()


def test_the_client_deletes_twice(run: Run, live_world_tls: LiveWorld) -> None:
    """A line item that somebody else has deleted is a 404."""
    activate(live_world_tls, "line-item-deleted-twice")

    (answer,) = run(call("delete", f"/line_items/{CLICKS}"))

    error = answer["error"]
    assert (404, "LINE_ITEM_NOT_FOUND") == (error["code"], error["data"]["errors"][0]["code"])


def test_fetch_meets_a_flaky_network(live_world: LiveWorld, tool: Tool) -> None:
    """Two connections are reset, the third request is answered."""
    activate(live_world, "flaky-network", failures=2)
    url = f"{live_world.base_url}/12/accounts/{ACCOUNT}/line_items"

    ran = finished([tool("node"), "-e", FETCH, url, str(live_world.credentials["bearer_token"])])

    assert (0, "") == (ran.returncode, ran.stderr)
    assert ["ECONNRESET", "ECONNRESET", True] == json.loads(ran.stdout)
    told = requests.get(f"{live_world.control}/scenarios/flaky-network", timeout=PATIENCE).json()
    assert 2 == told["rules"][0]["fired"]
