"""The servers for agents with two clients for node, and the protocol's own tests.

The clients run at the platform's real addresses, in a world of its own.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mock_platform import MockPlatform
from mock_platform.core.auth.tester_access import environment
from tests.commands import finished
from tests.conftest import Tool
from tests.live.sandboxes import starting

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).parent / "node" / "agents.cjs"
CONFORMANCE = Path("@modelcontextprotocol", "conformance", "dist", "index.js")
SERVERS = ("/mcp", "/ads/mcp", "/_mock/mcp")
SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""What a server can pass that has tools of its own and nothing else."""


platform = starting()
"""A sandbox that lets clients without a token in: the protocol's tests have none."""


@pytest.mark.parametrize("client", ["official", "ai"])
def test_ten_stories(platform: MockPlatform, tool: Tool, node_modules: Path, client: str) -> None:
    """Each ends as it would there; the names are the original ones, by the hosts."""
    world = platform.world(f"stories-{client}")
    own = {"NODE_PATH": str(node_modules), "CONTROL": world.control_url}
    with world.intercept():
        env = {**os.environ, **environment(world.credentials), **own}
        ran = finished([tool("node"), str(PROGRAM), client], env=env, check=True)

    assert {
        "search": ["xmcp", 148, True], "post": ["From node", True], "bookmark": True,
        "campaign": [23, "PAUSED", "ACTIVE"], "statistics": True, "signIn": [True, True, 1],
        "scope": [True, "UNAUTHORIZED_CLIENT_APPLICATION", True, "Forbidden"],
        "limit": [False, True, False], "lost": "Again", "expired": 401,
    } == json.loads(ran.stdout)  # fmt: skip


open_platform = starting(auth="off")
"""A sandbox that lets everybody in: the protocol's own tests send no token."""


@pytest.mark.parametrize("path", SERVERS)
def test_conformance(
    open_platform: MockPlatform, tool: Tool, node_modules: Path, tmp_path: Path, path: str
) -> None:
    """The tests of the protocol pass, as far as they do not need tools of their own."""
    url = open_platform.base_url.replace("127.0.0.1", "localhost") + path
    command = [tool("node"), str(node_modules / CONFORMANCE), "server", "--url", url]

    # One run of all its tests takes no longer than one of them: to load it takes most of the time.
    finished([*command, "--output-dir", tmp_path], cwd=tmp_path)

    for scenario in SCENARIOS:
        (file,) = tmp_path.glob(f"server-{scenario}-2*/checks.json")
        assert {"SUCCESS"} == {each["status"] for each in json.loads(file.read_text("utf-8"))}
