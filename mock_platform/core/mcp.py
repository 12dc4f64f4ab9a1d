"""The Model Context Protocol over HTTP, for servers that have tools and nothing else.

Reads what a client sends, and frames what it gets; the servers themselves are in `core.agents`, for
the platform's own, and in `control.agents`. The official SDK is a second web server, which takes
longer to load than everything else here; what a server of tools needs of the protocol is this page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.core.errors import did_you_mean
from mock_platform.core.jsonio import MAX_VALUES, BadJson, dumps, loads
from mock_platform.core.pairs import Pairs
from mock_platform.version import __version__
from mock_platform.world.ids import unguessable

VERSION = "2025-06-18"
"""The version of the protocol that is offered."""
_TAKEN = frozenset({"2025-03-26", VERSION, "2025-11-25"})
"""Versions in which a message has the same form."""
SESSION_HEADER = "Mcp-Session-Id"
_VERSION_HEADER = "MCP-Protocol-Version"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NO_SESSION = -32001
_JSON, _EVENTS = "application/json", "text/event-stream"
_TAKE_EVENTS = frozenset({_EVENTS, "text/*", "*/*"})
_TAKE_JSON = frozenset({_JSON, "application/*"})
_METHODS = ("POST", "DELETE")
_MOST_SESSIONS = 1000
"""AgentSessions that a server remembers; the oldest one makes room."""

ReadHeader = Callable[[str], str | None]
"""Returns a header of a request, whatever its case."""


class ProtocolError(Exception):
    """A message that is refused as the protocol says: a status of HTTP, and an error in its body.

    With status 200 the message itself was well-formed.
    """

    def __init__(
        self, status: int, code: int, text: str, *, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.headers = headers


class AgentMessage(Struct, frozen=True):
    """A message of a client. One without an `id` gets no answer."""

    method: str
    """Empty for an answer to a question, which these servers never ask."""
    params: Mapping[str, Any] = {}
    id: str | int | None = None
    as_events: bool = True
    """Whether the client takes its answer framed as an event."""


class FramedAnswer(Struct, frozen=True):
    """What is sent: status, headers and body."""

    status: int
    headers: Pairs
    body: bytes = b""


# -- what a client sends -----------------------------------------------------------------------


def check_origin(origin: str | None, is_own: Callable[[str], bool]) -> None:
    """Check that no web page of somebody else sends the request (DNS rebinding).

    Raises:
        ProtocolError: 403; `is_own` does not know the host of the origin.
    """
    if origin is None:
        return
    host = origin.partition("://")[2].rpartition("@")[2]
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if not name or not is_own(name.lower()):
        raise ProtocolError(403, INVALID_REQUEST, f"A page of {origin} may not call this server.")


def read_message(method: str, header: ReadHeader, body: bytes) -> AgentMessage:
    """Return the message in a request.

    Raises:
        ProtocolError: The request or the message does not have the form that the protocol says.
    """
    if method != "POST":
        text = f"{method} is not answered here: messages are sent with POST, and DELETE ends a "
        text += "session. The server never sends any on its own."
        raise ProtocolError(405, INVALID_REQUEST, text, headers=[("Allow", ", ".join(_METHODS))])
    kinds = _split(header("content-type"), ";")[:1]
    if kinds != [_JSON]:
        text = f"A message needs Content-Type {_JSON}; got {header('content-type') or 'none'}."
        raise ProtocolError(415, INVALID_REQUEST, text)
    accepted = {each.partition(";")[0].strip() for each in _split(header("accept"), ",")}
    as_events = not accepted or bool(accepted & _TAKE_EVENTS)
    if not as_events and not accepted & _TAKE_JSON:
        text = f"Accept must have {_JSON} and {_EVENTS}; got {header('accept')}."
        raise ProtocolError(406, INVALID_REQUEST, text)
    try:
        sent = loads(body, max_values=MAX_VALUES)
    except BadJson as fault:
        raise ProtocolError(400, PARSE_ERROR, f"The message is {fault}.") from fault
    message = _read(sent, as_events=as_events)
    version = header(_VERSION_HEADER)
    if version is not None and version not in _TAKEN and message.method != "initialize":
        text = f"{_VERSION_HEADER} {version} is not spoken here; this server speaks {VERSION}."
        raise ProtocolError(400, INVALID_REQUEST, text)
    return message


def _split(value: str | None, sign: str) -> list[str]:
    return [part.strip().lower() for part in (value or "").split(sign) if part.strip()]


def _read(sent: Any, *, as_events: bool) -> AgentMessage:
    if not isinstance(sent, dict):
        kind = (
            "a batch, which this version does not have" if isinstance(sent, list) else "no object"
        )
        raise ProtocolError(400, INVALID_REQUEST, f"The message is {kind}; send one JSON object.")
    method, params, number = sent.get("method"), sent.get("params", {}), sent.get("id")
    if sent.get("jsonrpc") != "2.0":
        raise ProtocolError(400, INVALID_REQUEST, 'The message needs "jsonrpc": "2.0".')
    if "id" in sent and (isinstance(number, bool) or not isinstance(number, str | int)):
        raise ProtocolError(400, INVALID_REQUEST, "id must be a text or an integer.")
    if "method" not in sent and ("result" in sent or "error" in sent):
        return AgentMessage("")
    if not isinstance(method, str) or not method:
        raise ProtocolError(400, INVALID_REQUEST, "The message needs a method, as a text.")
    if not isinstance(params, dict):
        raise ProtocolError(400, INVALID_REQUEST, "params must be an object.")
    return AgentMessage(method, params, number, as_events)


def read_tool_call(
    message: AgentMessage, known: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any]]:
    """Return the tool that a message calls, and its arguments.

    Raises:
        ProtocolError: There is no such tool, or the arguments are not an object.
    """
    name, given = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str):
        raise ProtocolError(200, INVALID_PARAMS, "name must be the name of a tool, as a text.")
    if name not in known:
        text = f"Unknown tool: {name[:200]}.{did_you_mean(name[:200], known)} tools/list lists all."
        raise ProtocolError(200, INVALID_PARAMS, text)
    if given is not None and not isinstance(given, dict):
        raise ProtocolError(200, INVALID_PARAMS, "arguments must be an object.")
    return name, given or {}


def find_world(body: bytes) -> str | None:
    """Return the world that the arguments of a tool name, whatever else is wrong with a message."""
    try:
        found = loads(body, max_values=MAX_VALUES)
        name = found["params"]["arguments"]["world"]
    except (BadJson, LookupError, TypeError):
        return None
    return name if isinstance(name, str) else None


# -- what it gets ------------------------------------------------------------------------------


def answer_general(
    message: AgentMessage, name: str, instructions: str, list_tools: Callable[[], Any]
) -> Any:
    """Return the result of every request but the call of a tool.

    Raises:
        ProtocolError: The server has no such method, or its parameters are wrong.
    """
    if message.method == "initialize":
        if not isinstance(message.params.get("protocolVersion"), str):
            raise ProtocolError(200, INVALID_PARAMS, "initialize needs a protocolVersion, a text.")
        return {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": name, "version": __version__},
            "instructions": instructions,
        }
    if message.method == "ping":
        return {}
    if message.method == "tools/list":
        if message.params.get("cursor") is not None:
            text = "There is no such cursor: one answer has all tools."
            raise ProtocolError(200, INVALID_PARAMS, text)
        return {"tools": list_tools()}
    text = f"Method not found: {message.method[:200]}. This server has tools alone."
    raise ProtocolError(200, METHOD_NOT_FOUND, text)


def make_result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """Return the result of a tool: one text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def frame_result(message: AgentMessage, result: Any, headers: Pairs | None = None) -> FramedAnswer:
    """Return the answer with a result; a message without an id gets none."""
    if message.id is None:
        return FramedAnswer(202, headers or [])
    return _frame(message, {"result": result}, headers or [])


def frame_error(fault: ProtocolError, message: AgentMessage | None = None) -> FramedAnswer:
    """Return the answer with an error, to a message if that could be read."""
    error = {"error": {"code": fault.code, "message": str(fault)}}
    if message is not None and message.id is None:
        return FramedAnswer(202, [])
    if message is not None and fault.status == 200:
        return _frame(message, error, [])
    number = None if message is None else message.id
    body = dumps({"jsonrpc": "2.0", "id": number, **error})
    return FramedAnswer(fault.status, [("Content-Type", _JSON), *fault.headers], body)


def _frame(message: AgentMessage, content: Mapping[str, Any], headers: Pairs) -> FramedAnswer:
    body = dumps({"jsonrpc": "2.0", "id": message.id, **content})
    if not message.as_events:
        return FramedAnswer(200, [("Content-Type", _JSON), *headers], body)
    shown = [("Content-Type", _EVENTS), ("Cache-Control", "no-cache"), *headers]
    return FramedAnswer(200, shown, b"event: message\ndata: " + body + b"\n\n")


class AgentSessions:
    """The sessions that a server gave out. A client that uses none is answered as well."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, str] = OrderedDict()

    def begin(self, owner: str) -> str:
        """Return the id of a new session, which belongs to `owner`."""
        number = unguessable(24)
        self._known[number] = owner
        if len(self._known) > _MOST_SESSIONS:
            self._known.popitem(last=False)
        return number

    def check(self, number: str | None, owner: str) -> None:
        """Check the session that a request names, if any.

        Raises:
            ProtocolError: 404; it was ended, or never began here: the client has to begin again.
        """
        if number is not None and self._known.get(number) != owner:
            text = "Session not found: send initialize again, without its id."
            raise ProtocolError(404, NO_SESSION, text)

    def end(self, number: str | None, owner: str) -> None:
        """End a session.

        Raises:
            ProtocolError: 400 without an id, 404 for one that is not known.
        """
        if number is None:
            raise ProtocolError(400, INVALID_REQUEST, f"DELETE needs the header {SESSION_HEADER}.")
        self.check(number, owner)
        self._known.pop(number, None)
