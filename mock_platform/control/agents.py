"""A server for agents that steer the sandbox (Model Context Protocol).

`mock-platform mcp` passes messages on from standard input.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from flask import Response

from mock_platform.control.agent_tools import TOOLS
from mock_platform.control.refusals import ControlRefusal, as_refusal
from mock_platform.control.route import WORLD, ControlRequest, Route, load_body
from mock_platform.core import mcp
from mock_platform.core.description.schemas import Converter
from mock_platform.core.errors import BadRecord
from mock_platform.platform import Platform

_NAME = "mock_platform"
_INSTRUCTIONS = (
    "Steers a sandbox that runs instead of a social platform's real API. Each tool acts on one "
    "world (without `world`, the default one). Usual steps: create_world; let the program call it; "
    "list_requests and explain_request say what happened and why; set_failure, move_clock, "
    "write_records and emit_event change what happens next."
)


@cache
def list_tools() -> list[dict[str, Any]]:
    """Return what `tools/list` shows."""
    from apispec import APISpec  # as in a description: most servers list none
    from apispec.ext.marshmallow import MarshmallowPlugin

    plugin = MarshmallowPlugin()
    APISpec(title="", version="", openapi_version="3.1.0", plugins=[plugin])
    converter = Converter(plugin.converter)
    return [
        {
            "name": tool.name,
            "description": tool.view.__doc__,
            "inputSchema": converter.inline(tool.schema),
            "annotations": {"readOnlyHint": tool.reads_only},
        }
        for tool in TOOLS.values()
    ]


def post_message(request: ControlRequest) -> Response:
    """Answer one message of an agent that steers the sandbox (Model Context Protocol)."""
    message: mcp.AgentMessage | None = None
    try:
        message = mcp.read_message("POST", request.flask.headers.get, request.body)
        if message.method == "tools/call":
            result = _call(request, message)
        else:
            result = mcp.answer_general(message, _NAME, _INSTRUCTIONS, list_tools)
        frame = mcp.frame_result(message, result)
    except mcp.ProtocolError as fault:
        frame = mcp.frame_error(fault, message)
    return Response(frame.body, frame.status, frame.headers)


def _call(request: ControlRequest, message: mcp.AgentMessage) -> dict[str, Any]:
    name, given = mcp.read_tool_call(message, TOOLS)
    tool = TOOLS[name]
    try:
        arguments = load_body(tool.schema(), given, "The arguments")
        _enter(request, arguments.get("world"))
        return mcp.make_result(tool.view(request, arguments))
    except Exception as fault:
        refusal = as_refusal(fault)
        if refusal is None:
            raise
        text = str(fault) if isinstance(fault, BadRecord) else refusal.detail
        return mcp.make_result(text, is_error=True)


def _enter(request: ControlRequest, name: str | None) -> None:
    """Let the request act on the world that an argument names.

    Raises:
        ControlRefusal: 409; the address names another one.
    """
    address = request.named_world
    if name is not None and address not in {None, name}:
        text = f"This server acts on world {address!r} alone, and the argument is {name!r}."
        raise ControlRefusal(409, f"{text} Leave `world` out, or use the address without a world.")
    if name is not None:
        request.flask.environ[WORLD] = name


def message_form(_platform: Platform, _converter: Converter) -> dict[str, Any]:
    """Return the description of a message."""
    return {
        "type": "object",
        "description": "a message of JSON-RPC, as the Model Context Protocol says",
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "id": {"type": ["string", "integer"]},
            "method": {"type": "string"},
            "params": {"type": "object"},
        },
        "required": ["jsonrpc"],
    }


ROUTES = (
    Route(
        "POST",
        "/mcp",
        post_message,
        body=None,
        body_form=message_form,
        raw=True,
        also=("text/event-stream",),
    ),
)
