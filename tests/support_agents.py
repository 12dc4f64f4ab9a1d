"""What the tests of the servers for agents share: messages, and answers read back."""

from __future__ import annotations

import json
from typing import Any

from werkzeug.test import TestResponse

from tests.support import USER_TOKEN, Sandbox

STEERING = "/_mock/mcp"


def send(
    box: Sandbox,
    method: str,
    params: Any = None,
    *,
    path: str = "/mcp",
    token: str | None = USER_TOKEN,
    headers: dict[str, str] | None = None,
    number: int | str | None = 1,
) -> TestResponse:
    """One message; without a number it is a notice."""
    message = {"jsonrpc": "2.0", "method": method}
    message |= {} if number is None else {"id": number}  # type: ignore[dict-item]
    message |= {} if params is None else {"params": params}
    return box.call("POST", path, keys=token, json=message, headers=headers)


def read(answer: TestResponse) -> Any:
    """The message in an answer: its result, or its error."""
    text = answer.text
    if answer.content_type == "text/event-stream":
        assert text.startswith("event: message\ndata: ")
        assert text.endswith("\n\n")
        text = text.removeprefix("event: message\ndata: ")
    found = json.loads(text)
    return found.get("result", found.get("error"))


def use(
    box: Sandbox, tool: str, /, path: str = "/mcp", token: str | None = USER_TOKEN, **arguments: Any
) -> tuple[bool, Any]:
    """Whether a tool refused, and the JSON of its text."""
    params = {"name": tool, "arguments": arguments}
    result = read(send(box, "tools/call", params, path=path, token=token))
    return result["isError"], json.loads(result["content"][0]["text"])


def steer(box: Sandbox, tool: str, /, path: str = STEERING, **arguments: Any) -> tuple[bool, str]:
    """Whether a tool that steers the sandbox refused, and its text."""
    params = {"name": tool, "arguments": arguments}
    result = read(send(box, "tools/call", params, path=path, token=None))
    return result["isError"], result["content"][0]["text"]
