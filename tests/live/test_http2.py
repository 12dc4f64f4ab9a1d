"""HTTP/2 as clients speak it: through the proxy, and to the server itself."""

from __future__ import annotations

import os
import sys

import httpx
import pytest

from mock_platform import MockPlatform
from mock_platform.core.auth.tester_access import environment
from mock_platform.settings import ConnectionSettings
from tests.commands import finished
from tests.conftest import Tool
from tests.live.sandboxes import starting
from tests.support import bearer
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

WITH_HTTPX = """
import os, ssl, httpx
token = os.environ["MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN"]
trust = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
with httpx.Client(http1=False, http2=True, verify=trust) as client:
    headers = {"Authorization": f"Bearer {token}"}
    answer = client.get("https://api.x.com/2/users/me", headers=headers)
assert "HTTP/2" == answer.http_version
assert answer.json()["data"]["id"] == os.environ["MOCK_PLATFORM_USER_ID"], answer.text
"""
WITH_NODE = """
const http2 = require("node:http2");
const client = http2.connect(process.env.MOCK_PLATFORM_URL);
const request = client.request({
  ":path": "/2/users/me",
  authorization: `Bearer ${process.env.MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN}`,
});
let body = "";
request.on("data", (part) => { body += part; });
request.on("end", () => { console.log(JSON.parse(body).data.id); client.close(); });
"""


platform = starting(connection=ConnectionSettings(http2=True))
"""A sandbox that speaks HTTP/2."""


def test_clients_that_insist_on_it_reach_the_real_hosts(platform: MockPlatform) -> None:
    """A client without HTTP/1.1 is answered as the real host, through the proxy."""
    with platform.intercept():
        variables = {**os.environ, **environment(platform.credentials)}
        ran = finished([sys.executable, "-c", WITH_HTTPX], env=variables)

    assert 0 == ran.returncode, ran.stderr


def test_node_without_tls(platform: MockPlatform, tool: Tool) -> None:
    """The client of node begins with HTTP/2 on the plain port."""
    variables = {**os.environ, **environment(platform.credentials)}
    variables["MOCK_PLATFORM_URL"] = platform.base_url

    ran = finished([tool("node"), "-e", WITH_NODE], env=variables)

    assert (0, platform.credentials["user"]["id"]) == (ran.returncode, ran.stdout.strip())


def test_scenarios_act_in_it(platform: MockPlatform) -> None:
    """A rule's refusal arrives, and a cut answer breaks one stream alone."""
    platform.reset()
    token = platform.credentials["bearer_token"]
    rules = [
        {"on": "webhooks.list", "call": 1, "then": {"fault": "truncate"}},
        {"on": "webhooks.list", "call": 2, "then": {"respond": {"status": 503}}},
    ]
    platform.activate(platform.define({"name": "faults", "rules": rules}))
    with httpx.Client(
        http1=False, http2=True, base_url=platform.base_url, timeout=PATIENCE, trust_env=False,
        headers=bearer(token),
    ) as client:  # fmt: skip
        with pytest.raises(httpx.RemoteProtocolError, match="StreamReset"):
            client.get("/2/webhooks")
        found = [client.get("/2/webhooks").status_code for _ in range(2)]

    assert [503, 200] == found
