"""The protocol, at each of the servers: what is not a message is refused as it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import USER_TOKEN, Sandbox
from tests.support_agents import read, send

SERVERS = ("/mcp", "/ads/mcp", "/_mock/mcp")
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def post(box: Sandbox, path: str, data: str | bytes, **headers: str) -> tuple[int, Any]:
    """Status and error code of a body that is sent as it is."""
    token = None if path.startswith("/_mock") else USER_TOKEN
    more = {"Content-Type": "application/json"}
    more |= {name.replace("_", "-"): value for name, value in headers.items()}
    answer = box.call("POST", path, keys=token, data=data, headers=more)
    found = read(answer) if answer.data else None
    return answer.status_code, (found or {}).get("code")


@pytest.mark.parametrize("path", SERVERS)
@pytest.mark.parametrize(("body", "expected"), [
    ("{bad", (400, -32700)),
    ("", (400, -32700)),
    (b"\xff\xfe", (400, -32700)),
    ("[" * 70 + "]" * 70, (400, -32700)),
    ("null", (400, -32600)),
    (json.dumps([PING]), (400, -32600)),
    (json.dumps({**PING, "jsonrpc": "1.0"}), (400, -32600)),
    (json.dumps({**PING, "id": None}), (400, -32600)),
    (json.dumps({**PING, "id": True}), (400, -32600)),
    (json.dumps({**PING, "id": [1]}), (400, -32600)),
    (json.dumps({**PING, "method": 5}), (400, -32600)),
    (json.dumps({"jsonrpc": "2.0", "id": 1}), (400, -32600)),
    (json.dumps({**PING, "params": []}), (400, -32600)),
    (json.dumps({**PING, "method": "resources/list"}), (200, -32601)),
    (json.dumps({**PING, "method": "x" * 5000}), (200, -32601)),
    (json.dumps({**PING, "method": "initialize"}), (200, -32602)),
    (json.dumps({**PING, "method": "tools/list", "params": {"cursor": "2"}}), (200, -32602)),
    (json.dumps({**PING, "method": "tools/call"}), (200, -32602)),
    (json.dumps({**PING, "method": "tools/call", "params": {"name": "nope"}}), (200, -32602)),
    (json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled"}), (202, None)),
    (json.dumps({"jsonrpc": "2.0", "method": "tools/call"}), (202, None)),
    (json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}), (202, None)),
    (json.dumps(PING), (200, None)),
])  # fmt: skip
def test_messages(box: Sandbox, path: str, body: str, expected: tuple[int, Any]) -> None:
    """A message that cannot be read has status 400, one that asks for too much an error."""
    assert expected == post(box, path, body)


@pytest.mark.parametrize("path", SERVERS)
@pytest.mark.parametrize(("headers", "status"), [
    ({"Content_Type": "text/plain"}, 415),
    ({"Accept": "text/html"}, 406),
    ({"Accept": "text/html, */*;q=0.1"}, 200),
    ({"MCP_Protocol_Version": "2026-07-28"}, 400),
    ({"MCP_Protocol_Version": "2025-11-25"}, 200),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost"}, 200),
])  # fmt: skip
def test_headers(box: Sandbox, path: str, headers: dict[str, str], status: int) -> None:
    """Media types, version and origin are checked before anything else happens."""
    assert status == post(box, path, json.dumps(PING), **headers)[0]


@pytest.mark.parametrize("path", SERVERS)
def test_a_huge_body(box: Sandbox, path: str) -> None:
    """It is refused unread."""
    size = box.platform.settings.max_body + 1

    answer = box.call("POST", path, keys=None, data=b" " * size, content_type="application/json")

    assert 413 == answer.status_code


@pytest.mark.parametrize("path", SERVERS)
def test_other_methods(box: Sandbox, path: str) -> None:
    """Nothing is sent to a client that waits, and the answer names what is allowed."""
    answers = [box.call(method, path, keys=None) for method in ("GET", "PUT", "PATCH")]

    assert {405} == {answer.status_code for answer in answers}
    assert all("POST" in answer.headers["Allow"] for answer in answers)


@pytest.mark.parametrize("path", SERVERS)
def test_answers_are_events_or_json(box: Sandbox, path: str) -> None:
    """An event, unless a client takes JSON alone."""
    token = None if path.startswith("/_mock") else USER_TOKEN
    event = send(box, "ping", path=path, token=token, number="a")
    plain = send(
        box, "ping", path=path, token=token, number="a", headers={"Accept": "application/json"}
    )

    assert 'event: message\ndata: {"jsonrpc":"2.0","id":"a","result":{}}\n\n' == event.text
    assert {"jsonrpc": "2.0", "id": "a", "result": {}} == plain.get_json()


def test_sessions(box: Sandbox) -> None:
    """One that was ended, or is of another server or world, is unknown; none is needed."""
    begin = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {}}
    began = send(box, "initialize", begin)
    own = {"Mcp-Session-Id": began.headers["Mcp-Session-Id"]}
    box.client.put("/_mock/worlds/w1")

    def status(path: str = "/mcp", **headers: str) -> int:
        return send(box, "ping", path=path, headers=headers).status_code

    assert "2025-06-18" == read(began)["protocolVersion"]
    assert [200, 200, 404] == [status(), status(**own), status(**{"Mcp-Session-Id": "x"})]
    assert [404, 404] == [status("/ads/mcp", **own), status("/~w1/mcp", **own)]
    ended = [
        box.call("DELETE", "/mcp", keys=None, headers=headers).status_code
        for headers in ({}, own, own)
    ]
    assert [400, 204, 404] == ended
    assert 404 == status(**own)
