"""The platform's own servers for agents: tools that are operations, called as the others are.

One is at the v2 address, one at that of the advertising interface. The call of a tool becomes the
request to its operation; so world, rules, limits, journal and costs are those of that request, and
only the answer is framed for the agent.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core import mcp
from mock_platform.core.address import AGENT_PATHS
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth, Authenticator
from mock_platform.core.call import Call, Reply, ToolCall
from mock_platform.core.failures.errors import (
    AdsError,
    AdsFailure,
    Failure,
    NotShown,
    ProblemFailure,
    TokenFailure,
)
from mock_platform.core.faults import INVALID
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.core.pipeline import Compiled, work
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.core.unread import NO_EFFECT
from mock_platform.settings import NamesMode, Settings
from mock_platform.world.store.interface import Change
from mock_platform.world.world import World

AGENT_SERVERS = public_fact(
    "agents.servers",
    "POST /mcp speaks the Model Context Protocol 2025-06-18 (Streamable HTTP): at the v2 address "
    "tools are the operations of the public description, by their operationIds, without streams "
    "and webhooks; at the advertising address 23 tools. Answers are events. Sessions are optional: "
    "tools/list is answered without initialize.",
    "agents, sections 1 and 2",
    gap=True,
)
TOOL_RESULTS = expectation(
    "agents.results",
    "The result of a tool is the operation's JSON as text; a refusal is a result with isError, but "
    "for 401, and 403 for an app that is not enrolled, which are the status of the HTTP answer. "
    "The advertising server calls itself x-ads-mcp, and refuses a missing scope with "
    "UNAUTHORIZED_CLIENT_APPLICATION.",
)
ADS_TOOLS = public_fact(
    "agents.ads",
    "The advertising server takes OAuth 2.0 with the scopes ads.read and ads.write, serves "
    "discovery metadata for it, and answers 403 to an app that is not enrolled (_ads_agents of the "
    "app). Campaigns and line items are created PAUSED; only the activate tools start them.",
    "agents, section 2",
)
ASSUMPTIONS = (AGENT_SERVERS, TOOL_RESULTS, ADS_TOOLS)

Kind = Literal["v2", "ads"]
_SERVER_NAMES: Mapping[Kind, str] = {"v2": "xmcp", "ads": "x-ads-mcp"}
_INSTRUCTIONS: Mapping[Kind, str] = {
    "v2": "Posts, users, searches, bookmarks and more: each tool is an operation of the v2 "
    "interface, and returns its JSON.",
    "ads": "Campaigns, line items, promoted posts, targeting and statistics of ads accounts. "
    "Campaigns and line items are created PAUSED; the activate tools start them.",
}
_ADS_HOST = "ads-api"
_METADATA = re.compile(
    r"(/ads)?/\.well-known/(oauth-protected-resource|oauth-authorization-server)"
    r"(/~[^/]+)?(/ads)?(?:/mcp)?"
)
_STATUS, _ACTIVE, _PAUSED = "entity_status", "ACTIVE", "PAUSED"
_MESSAGE_HEADERS = frozenset({"content-type", "content-length", "accept", "origin"})
"""Those of the message, which the request to the operation does not have."""
_COMPONENT = re.compile(rb'"#/components/schemas/(\w+)"')
Describe = Callable[[Kind, NamesMode], Mapping[str, Any]]
Answer = Callable[[Call, World], tuple[Reply, Sequence[Change]]]


class AgentTool(Struct, frozen=True):
    """A tool: an operation, with the places of its arguments.

    Example:
        >>> tool = AgentTool("getThing", "things.get", "GET", "/2/things/{id}", ("id",), False, {})
        >>> tool.make_request({"id": "7", "max_results": 5, "exact": True})
        ('/2/things/7', 'max_results=5&exact=true', b'')
    """

    name: str
    operation: str
    method: str
    path: str
    in_path: tuple[str, ...]
    has_body: bool
    listed: Mapping[str, Any]
    """What `tools/list` shows of it."""
    in_query: frozenset[str] = frozenset()
    has_status: bool = False
    """Whether the operation takes an `entity_status`."""

    def make_request(self, arguments: Mapping[str, Any]) -> tuple[str, str, bytes]:
        """Return path, query and body of the request with these arguments.

        Raises:
            ProtocolError: A part of the path is missing, or is not a text.
        """
        path, left = self.path, dict(arguments)
        for name in self.in_path:
            value = left.pop(name, None)
            if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
                wrong = "is missing" if value is None or value == "" else "must be a text"
                text = f"Invalid arguments of {self.name}: {name} {wrong}."
                raise mcp.ProtocolError(200, mcp.INVALID_PARAMS, text)
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        sent = {name: value for name, value in left.items() if value is not None}
        body = b""
        if self.has_body:
            inside = {name: v for name, v in left.items() if name not in self.in_query}
            sent = {name: value for name, value in sent.items() if name in self.in_query}
            body = dumps(inside)
        return path, urlencode([(name, _write(value)) for name, value in sent.items()]), body


def _write(value: Any) -> str:
    """Return a value of the query."""
    if isinstance(value, list):
        return ",".join(map(_write, value))
    return value if isinstance(value, str) else dumps(value).decode()


def read_tools(
    document: Mapping[str, Any], names: Collection[str], kind: Kind
) -> Iterator[AgentTool]:
    """Return those operations of a description that are tools; `names` are those of all."""
    known = document["components"].get("schemas", {})
    for path, methods in document["paths"].items():
        if kind == "v2" and ("/stream" in path or "/webhooks" in path):
            continue
        for method, entry in methods.items():
            if entry.get("operationId") in names:
                yield _read_tool(path, method.upper(), entry, known, kind)


def _read_tool(
    path: str, method: str, entry: Mapping[str, Any], known: Mapping[str, Any], kind: Kind
) -> AgentTool:
    parameters = entry.get("parameters", ())
    properties = {each["name"]: each["schema"] for each in parameters}
    required = [each["name"] for each in parameters if each.get("required")]
    in_path = tuple(each["name"] for each in parameters if each["in"] == "path")
    in_query = frozenset(properties).difference(in_path)
    body = entry.get("requestBody", {})
    media = body.get("content", {}).get("application/json")
    if media is not None:
        form = media["schema"]
        form = known[form["$ref"].rpartition("/")[2]] if "$ref" in form else form
        properties = {**form.get("properties", {}), **properties}
        required += form.get("required", ()) if body["required"] else ()
    has_status = kind == "ads" and _STATUS in properties
    if has_status:
        shown = properties.pop(_STATUS)
        if method != "POST":
            allowed = [value for value in shown["enum"] if value != _ACTIVE]
            properties[_STATUS] = {**shown, "enum": allowed}
    schema = {"type": "object", "properties": properties, "required": [*dict.fromkeys(required)]}
    name = entry["operationId"]
    listed = {
        "name": name,
        "description": entry["summary"],
        "inputSchema": _embed(schema, known),
        "annotations": {"readOnlyHint": method == "GET", "destructiveHint": method == "DELETE"},
    }
    id_, has_body = entry["x-mock-operation"], media is not None
    return AgentTool(name, id_, method, path, in_path, has_body, listed, in_query, has_status)


def _embed(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    """Return a schema that contains the components to which it refers."""
    parts: dict[str, Any] = {}
    waiting = _COMPONENT.findall(dumps(schema))
    while waiting:
        name = waiting.pop().decode()
        if name not in parts:
            parts[name] = known[name]
            waiting += _COMPONENT.findall(dumps(known[name]))
    whole = dumps({**schema, "$defs": parts} if parts else schema)
    return loads(whole.replace(b"#/components/schemas/", b"#/$defs/"), max_nesting=256)


_MESSAGE = "mcp"
"""How what an agent sent that is no call of a tool begins in the journal, before its method."""


def is_message(custom: Any) -> bool:
    """Whether this is what the journal says of a message that is no call of a tool."""
    return isinstance(custom, str) and custom.partition(" ")[0] == _MESSAGE


class AgentServers:
    """Both servers of a platform; what they need is made with the first message."""

    def __init__(
        self,
        settings: Settings,
        operations: Sequence[Operation],
        names: Collection[str],
        describe: Describe,
        compile_one: Callable[[Operation], Compiled],
        answer: Answer,
    ) -> None:
        """`names` are those of the tools: ids of operations in what `describe` returns.

        `answer` answers the request to an operation.
        """
        self._settings = settings
        self._names = names
        self._describe = describe
        self._compile_one = compile_one
        self._answer = answer
        self._authenticator = Authenticator(settings)
        self._sessions = mcp.AgentSessions()
        self._tools: dict[tuple[Kind, NamesMode], Mapping[str, AgentTool]] = {}
        self._compiled: dict[str, Compiled] = {}
        self._operations = {op.id: op for op in operations}

    def answer(self, call: Call, world: World) -> tuple[Reply, Sequence[Change]] | None:
        """Return the answer to a message, or to a request for metadata; `None` if it is neither."""
        is_ads = call.surface == "sandbox" or call.host.startswith(_ADS_HOST)
        if call.path in AGENT_PATHS:
            return self._receive(call, world, "ads" if is_ads or call.path != "/mcp" else "v2")
        found = _METADATA.fullmatch(call.path)
        if found is None or call.method != "GET" or not (is_ads or found[1] or found[4]):
            return None
        call.assume(ADS_TOOLS)
        call.custom = found[2]
        return _show_metadata(call, found[2], found[3] or ""), ()

    def _receive(self, call: Call, world: World, kind: Kind) -> tuple[Reply, Sequence[Change]]:
        if self._settings.strict:
            raise NotShown(AGENT_SERVERS)
        call.custom = _MESSAGE
        call.assume(AGENT_SERVERS, TOOL_RESULTS, *((ADS_TOOLS,) if kind == "ads" else ()))
        session, owner = call.header(mcp.SESSION_HEADER), _name_owner(kind, world)
        message: mcp.AgentMessage | None = None
        try:
            mcp.check_origin(call.header("origin"), self._is_own)
            if call.method == "DELETE":
                if call.tool is None:
                    self._sessions.end(session, owner)
                return Reply(204), ()
            message = mcp.read_message(call.method, call.header, call.body)
            call.custom = f"{_MESSAGE} {message.method[:100]}".rstrip()
            if message.method != "initialize" and call.tool is None:
                self._sessions.check(session, owner)
            if message.method == "tools/call" and message.id is not None:
                return self._call_tool(call, world, message, kind)
            return work(call, world, partial(self._answer_general, message, kind))
        except mcp.ProtocolError as fault:
            call.diagnosis = {"mistake": "protocol", "explanation": str(fault)}
            return _make_reply(mcp.frame_error(fault, message)), ()

    def _is_own(self, host: str) -> bool:
        return self._settings.is_local(host) or host in PLATFORM_HOSTS

    def _answer_general(
        self, message: mcp.AgentMessage, kind: Kind, call: Call, world: World
    ) -> Reply:
        """Answer whatever is not the call of a tool, if the caller may call some."""
        self._authenticate(call, world, kind)
        if message.id is None:  # a notice, or an answer
            return Reply(202)
        result = mcp.answer_general(
            message,
            _SERVER_NAMES[kind],
            _INSTRUCTIONS[kind],
            lambda: [tool.listed for tool in self._find_tools(kind, call.names).values()],
        )
        headers = []
        if message.method == "initialize":
            headers = [(mcp.SESSION_HEADER, self._sessions.begin(_name_owner(kind, world)))]
        return _make_reply(mcp.frame_result(message, result, headers))

    def _authenticate(self, call: Call, world: World, kind: Kind) -> None:
        def refuse(fault: Failure) -> Failure:
            refused = TokenFailure("invalid_token", str(fault), TOOL_RESULTS, status=401)
            refused.headers = [_challenge(call, kind)]
            return refused

        auth = Auth(("oauth2",) if kind == "ads" else ("oauth2", "bearer"), on_failure=refuse)
        call.caller = self._authenticator.caller(call, world, auth)
        if kind == "ads" and not _is_enrolled(call):
            raise TokenFailure("access_denied", _NOT_ENROLLED, ADS_TOOLS, status=403)

    # -- tools -----------------------------------------------------------------------------------

    def _find_tools(self, kind: Kind, names: NamesMode) -> Mapping[str, AgentTool]:
        found = self._tools.get((kind, names))
        if found is None:  # two first callers make the same
            read = read_tools(self._describe(kind, names), self._names, kind)
            found = self._tools[kind, names] = {tool.name: tool for tool in read}
        return found

    def _call_tool(
        self, call: Call, world: World, message: mcp.AgentMessage, kind: Kind
    ) -> tuple[Reply, Sequence[Change]]:
        """Let the call become the request of a tool, and answer that."""
        tools = self._find_tools(kind, call.names)
        try:
            name, given = mcp.read_tool_call(message, tools)
            tool = tools[name]
            if tool.has_status and tool.method == "POST":
                given = _pause(call, given)
            path, query, body = tool.make_request(given)
        except mcp.ProtocolError as fault:  # nobody without a token learns of tools
            wrong = mcp.frame_error(fault, message)

            def refuse(call: Call, world: World) -> Reply:
                self._authenticate(call, world, kind)
                return _make_reply(wrong)

            return work(call, world, refuse)
        challenge = _challenge(call, kind)
        address = call.url.partition("?")[0].removesuffix("/mcp").removesuffix("/ads")
        headers = [pair for pair in call.headers if not _is_of_message(pair[0])]
        if body:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        call.redirect(tool.method, address, path, query, headers, body)
        call.custom = None
        compiled = self._compile(tool) if kind == "ads" else None
        call.tool = ToolCall(name, partial(_frame, message, challenge), compiled)
        return self._answer(call, world)

    def repeat(self, call: Call, name: str | None) -> None:
        """Let a recorded request be answered as before: the call of a tool, not framed.

        Without a name it is another message, whose session is not looked at.
        """
        tool = self._find_tools("ads", "neutral").get(name or "")
        compiled = None if tool is None else self._compile(tool)
        call.tool = ToolCall(name, lambda _call, _reply: None, compiled)

    def _compile(self, tool: AgentTool) -> Compiled:
        """Return an operation of the advertising interface as its tool calls it."""
        found = self._compiled.get(tool.name)
        if found is None:
            operation = self._operations[tool.operation]
            scope = "ads.read" if operation.method == "GET" else "ads.write"
            auth = Auth(("oauth2",), (), (scope,), on_failure=_refuse_as_ads)
            gates = [_require_enrolled, *((_refuse_start,) if tool.has_status else ())]
            changed = replace(operation, auth=auth, gates=(*gates, *operation.gates))
            found = self._compiled[tool.name] = self._compile_one(changed)
        return found


def _pause(call: Call, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a creation with which nothing starts."""
    if given.get(_STATUS) not in (None, _PAUSED):
        text = f"{_STATUS} is {_PAUSED} whatever the argument; the activate tools start it"
        call.warn(text, NO_EFFECT)
    return {**given, _STATUS: _PAUSED}


def _refuse_start(call: Call, world: World) -> None:
    """Refuse, as a gate, a change that would start something."""
    if (_STATUS, _ACTIVE) in call.query:
        text = f"{_STATUS} cannot be {_ACTIVE} here: only the activate tools start something"
        raise AdsFailure(AdsError(INVALID, text, _STATUS))


def _is_of_message(header: str) -> bool:
    name = header.lower()
    return name in _MESSAGE_HEADERS or name.startswith("mcp-")


def _is_enrolled(call: Call) -> bool:
    app = call.caller.app
    return app is None or bool(app.get("_ads_agents", True))


_NOT_ENROLLED = "This app is not enrolled for the advertising server (_ads_agents of the app)."


def _require_enrolled(call: Call, world: World) -> None:
    if not _is_enrolled(call):
        raise AdsFailure(AdsError("UNAUTHORIZED_CLIENT_APPLICATION", _NOT_ENROLLED))


def _refuse_as_ads(fault: Failure) -> Failure:
    """Return the refusal of a missing scope in the words of the advertising interface."""
    if not isinstance(fault, ProblemFailure):
        return fault
    return AdsFailure(AdsError("UNAUTHORIZED_CLIENT_APPLICATION", str(fault)))


def _frame(message: mcp.AgentMessage, challenge: tuple[str, str], call: Call, reply: Reply) -> None:
    """Turn the reply to an operation into the answer to the call of its tool."""
    if reply.parts is not None:
        reply.body, reply.parts = b"".join(reply.parts), None
    others = [pair for pair in reply.headers if pair[0].lower() != "www-authenticate"]
    if reply.status == 401:
        reply.headers = [*others, challenge]
        return
    if reply.status == 403 and call.tool and call.tool.compiled and not _is_enrolled(call):
        return
    kind = (reply.header("content-type") or "").partition(";")[0].lower()
    if "json" in kind or kind.startswith("text/") or not reply.body:
        content: dict[str, Any] = {"type": "text", "text": reply.body.decode("utf-8", "replace")}
    else:
        blob = {"uri": call.url, "mimeType": kind, "blob": b64encode(reply.body).decode()}
        content = {"type": "resource", "resource": blob}
    result = {"content": [content], "isError": reply.status >= 400}
    markers = [pair for pair in others if pair[0].lower().startswith("x-mock-")]
    frame = mcp.frame_result(message, result, markers)
    reply.status, reply.headers, reply.body, reply.reason = 200, frame.headers, frame.body, None


def _name_owner(kind: Kind, world: World) -> str:
    """Return to what a session belongs: one server in one world."""
    return f"{kind} {world.name}"


def _make_reply(frame: mcp.FramedAnswer) -> Reply:
    return Reply(frame.status, frame.body, frame.headers)


# -- what clients read before they ask for a token ---------------------------------------------


def _find_addresses(call: Call, world: str = "") -> tuple[str, str, str]:
    """Return the addresses of the advertising server, of the consent page, and of tokens.

    `world` is the prefix of a world, where the path has it at its end.
    """
    base = f"{call.base_url}{world}"
    scheme, _, rest = base.partition("://")
    if call.host in PLATFORM_HOSTS and call.host.startswith(_ADS_HOST):
        name = call.host.partition(".")[2]
        rest = rest.removeprefix(call.host)
        api = f"{scheme}://api.{name}{rest}"
        return base, f"{scheme}://{name}{rest}/i/oauth2/authorize", api
    prefix = "/ads"
    if call.surface == "sandbox" or call.host.startswith(_ADS_HOST):
        prefix = "/sandbox" if "/sandbox/" in call.url.partition("?")[0] else ""
    return f"{base}{prefix}", f"{base}/2/oauth2/authorize", base


def _challenge(call: Call, kind: Kind) -> tuple[str, str]:
    """Return the header of an answer with 401."""
    value = "Bearer"
    if call.header("authorization") is not None:
        value += ' error="invalid_token"'
    if kind == "ads":
        sign = "," if " " in value else ""
        address, *_ = _find_addresses(call)
        value += f'{sign} resource_metadata="{address}/.well-known/oauth-protected-resource"'
    return "WWW-Authenticate", value


def _show_metadata(call: Call, name: str, world: str) -> Reply:
    address, page, api = _find_addresses(call, world)
    shown: dict[str, Any] = {
        "scopes_supported": ["ads.read", "ads.write", "offline.access"],
    }
    if name == "oauth-protected-resource":
        shown |= {
            "resource": f"{address}/mcp",
            "authorization_servers": [address],
            "bearer_methods_supported": ["header"],
        }
    else:
        shown |= {
            "issuer": address,
            "authorization_endpoint": page,
            "token_endpoint": f"{api}/2/oauth2/token",
            "revocation_endpoint": f"{api}/2/oauth2/revoke",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
        }
    return Reply(200, dumps(shown), [("Content-Type", "application/json")])
