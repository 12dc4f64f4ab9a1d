"""Plain data around a handler: the call, its caller, the challenge it wants, and the reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Struct, field

from mock_platform.core.assumptions import Assumption
from mock_platform.core.failures.errors import Failure
from mock_platform.core.jsonio import MAX_VALUES, BadJson, loads
from mock_platform.core.pairs import MAX_PAIRS, Pairs, decode_pairs
from mock_platform.settings import DOCUMENTED, NamesMode, WireChoice, WireForm
from mock_platform.world.clock import EARLIEST
from mock_platform.world.journal import JournalEntry
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# A challenge that an operation wants made before it decides. An address is asked to prove that
# it knows the app's secret. That takes real time, so it happens outside the world's lock,
# between the checks of a request and its handler.


class Challenge(Struct):
    """The challenge of one webhook's address; `fault` says why it failed, once it was made."""

    webhook_id: str
    url: str
    secret: str
    fault: str | None = None


Challenger = Callable[[World, Challenge], None]
"""Makes a challenge and sets its `fault`."""


Surface = Literal["plain", "sandbox"]
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
ABSENT: Any = object()
"""Stands for a value that was not sent, because `None` is a JSON value."""
FaultKind = Literal["reset", "empty", "truncate", "garbage", "timeout"]


class Caller(Struct, frozen=True):
    """Who makes a call, and how the sandbox knew it.

    `scheme` is `bearer`, `oauth1`, `oauth2`, `basic`, `session` or `none`; `app`, `user` and
    `token` are stored records.
    """

    scheme: str = "none"
    app: Record | None = None
    user: Record | None = None
    token: Record | None = None
    how: str = "no credentials were needed"
    assumed: bool = False
    """Whether the credentials were not verified (`--auth off`)."""

    @property
    def may_write(self) -> bool:
        """Whether token and app may not only read."""
        token, app = self.token or {}, self.app or {}
        return token.get("access") != "read" and "write" in app.get("_permissions", ["write"])

    def as_json(self) -> dict[str, Any]:
        """Return the caller in the form of the journal, without secrets."""
        return {
            "scheme": self.scheme,
            "app": None if self.app is None else self.app["id"],
            "user": None if self.user is None else self.user["id"],
            "how": self.how,
        }


NOBODY = Caller()
UNESTABLISHED = Caller(how="not established")


class ToolCall(Struct, frozen=True):
    """What makes a request the call of a tool by an agent (`core.agents`)."""

    name: str | None
    """`None` for another message of an agent, which a case repeats."""
    frame: Callable[[Call, Reply], None]
    """Turns the reply of the operation into the answer to the agent."""
    compiled: Any = None
    """The operation with other stages than requests to its own address have."""


class Call(Struct):
    """One request. The first fields are what arrived, the later ones are set by the pipeline."""

    method: str
    url: str
    """The absolute address that the client called, world prefix and query included."""
    path: str
    """Path within the interface: without world prefix and `/sandbox`, still percent-encoded."""
    base_url: str
    """`{base_url}` as the client called it, with the world prefix if it was used."""
    headers: Sequence[tuple[str, str]]
    body: bytes = b""
    query_string: str = ""
    surface: Surface = "plain"
    world_prefix: str | None = None
    remote_address: str = ""
    request_id: str = ""
    came: tuple[datetime, int] = (EARLIEST, -1)
    """When it came, on the world's clock, and how often that had jumped then."""
    turn: int | None = None
    """Its number among the requests of its world."""

    names: NamesMode = "neutral"
    """Which names the client uses and gets."""
    wire: WireForm = "spec"
    """Answers as documented or as recorded, where the two differ."""
    chosen: WireChoice = DOCUMENTED
    """The same, with what was seen in more than one form."""
    as_of: datetime | None = None
    """The date of the contract that answers it; `None` for that of the clock."""
    neutral_body: bytes | None = None
    """The JSON body with neutral names, if it was translated."""
    operation: str | None = None
    """The id of the operation that answers it."""
    dress: Callable[[Call, Failure, Reply], Reply] | None = None
    """The form in which that operation shows its refusals, if it has its own."""
    path_params: Mapping[str, str] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    sent: Iterable[str] = ()
    """Names of the operation's parameters that were sent, valid or not."""
    caller: Caller = NOBODY
    account: Record | None = None
    echo: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    coded_warnings: list[tuple[str, str]] = field(default_factory=list)
    """Those about what was sent and ignored, each with its code for `X-Mock-Warnings`."""
    assumptions: dict[str, Assumption] = field(default_factory=dict)
    diagnosis: dict[str, Any] | None = None
    extra_headers: Pairs = field(default_factory=list)
    rule: dict[str, Any] | None = None
    """The scenario rule that acted: `scenario`, `rule`, `call`."""
    without_effect: str | None = None
    """Why a scenario did nothing that the request named for itself, or that counted it."""
    is_of_time: bool = False
    """Whether it was refused again and again within a rate window of the world's clock."""
    near_misses: list[dict[str, Any]] = field(default_factory=list)
    """The nearest rules that did not act, each with its first difference."""
    stream: LiveBody | None = None
    """The stream that was opened for this call."""
    challenge: Challenge | None = None
    """The challenge that was made for this call, if its operation wants one."""
    rules_asked: bool = False
    """Whether the rules for otherwise correct requests were checked."""
    custom: str | None = None
    """The endpoint of a user's route, if that answered in place of an operation."""
    give_back: Callable[[], object] | None = None
    """Undoes what the request used up outside of its world: to be called if it was not executed."""
    tool: ToolCall | None = None
    """The call of a tool by an agent, if it is one."""
    switch: Any = None
    """Scenario rules that were requested for this request alone."""
    _json: Any = None
    _header_map: dict[str, str] | None = None
    _query: Pairs | None = None
    _form: Pairs | None = None

    def redirect(
        self,
        method: str,
        address: str,
        path: str,
        query: str,
        headers: Pairs,
        body: bytes,
    ) -> None:
        """Become the request to another path; `address` is what the path is appended to."""
        self.method, self.path, self.query_string = method, path, query
        self.url = f"{address}{path}?{query}" if query else f"{address}{path}"
        self.headers, self.body = headers, body
        self._json = self._header_map = self._query = self._form = None

    def take_back(self) -> None:
        """Undo what the request used up, because it was not executed and may be sent again."""
        if self.give_back is not None:
            self.give_back()
            self.give_back = None

    def header(self, name: str) -> str | None:
        """Return the first header of that name in any case, or `None`."""
        return (self._header_map or self.first_headers).get(name.lower())

    @property
    def first_headers(self) -> Mapping[str, str]:
        """The first header of each name, by its name in small letters."""
        folded = self._header_map
        if folded is None:
            folded = self._header_map = {}
            for key, value in self.headers:
                folded.setdefault(key.lower(), value)
        return folded

    @property
    def secure(self) -> bool:
        """Whether the client used https."""
        return self.url.startswith("https:")

    @property
    def host(self) -> str:
        """The host that the client called, without port and brackets."""
        return urlsplit(self.url).hostname or ""

    @property
    def media_type(self) -> str:
        """The body's media type in lower case, without parameters; may be empty."""
        named = self.header("content-type")
        return named.partition(";")[0].strip().lower() if named else ""

    @property
    def query(self) -> Pairs:
        """The query's parameters in order, decoded."""
        if self._query is None:
            self._query = decode_pairs(self.query_string)
        return self._query

    @property
    def form(self) -> Pairs:
        """The form body's parameters in order, decoded; empty for other media types.

        One that `has_too_many_pairs` is empty: every operation refuses it.
        """
        if self._form is None:
            too_many = len(self.body) > MAX_PAIRS and self.has_too_many_pairs
            text = None if too_many else self.form_text
            self._form = [] if text is None else decode_pairs(text)
        return self._form

    @property
    def has_too_many_pairs(self) -> bool:
        """Whether the body is a form with more parameters than are read."""
        body = self.body
        return len(body) > MAX_PAIRS and body.count(b"&") >= MAX_PAIRS and self.media_type == FORM

    def replace_query(self, pairs: Pairs) -> None:
        """Let the query have other parameters than those that were sent."""
        self._query = pairs

    def replace_form(self, pairs: Pairs) -> None:
        """Let the form have other parameters than those that were sent."""
        self._form = pairs

    @property
    def json_body(self) -> bytes:
        """The body as the operation reads it."""
        return self.body if self.neutral_body is None else self.neutral_body

    @property
    def form_text(self) -> str | None:
        """The body as text if it is a form."""
        if self.media_type != FORM:
            return None
        return self.body.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        """The body as JSON, whatever its media type; `ABSENT` if it is not JSON."""
        if self._json is None:
            try:
                # The value is kept in a tuple, so that a body that is `null` and one that was not
                # read yet differ.
                found = loads(self.json_body, max_values=MAX_VALUES) if self.body else ABSENT
                self._json = (found,)
            except BadJson:
                self._json = (ABSENT,)
        return self._json[0]

    def assume(self, *assumptions: Assumption) -> None:
        """Record that the answer depends on these assumptions."""
        for assumption in assumptions:
            self.assumptions[assumption.id] = assumption

    def warn(self, text: str, code: str | None = None) -> None:
        """Add a warning to the journal; a code says that something in the request was ignored."""
        self.warnings.append(text)
        if code is not None:
            self.coded_warnings.append((code, text))


class Sending(Struct, frozen=True):
    """What the edge does to an answer: a delay in real seconds, a network fault."""

    delay: float = 0.0
    slow_body: float = 0.0
    """Seconds over which the body is sent."""
    fault: FaultKind | None = None
    is_committed: bool = False
    """Whether the request keeps its changes although its answer is lost."""


class Resume(Protocol):
    """Called from any thread."""

    def __call__(self, *, urgent: bool) -> object:
        """Read the body again; `urgent`: although the client does not take what was sent."""


class LiveBody(Protocol):
    """A body without an end in sight, whose pieces come when something happens."""

    def read(self) -> bytes | None:
        """Return the next piece to send; empty if nothing is due now, `None` at the end."""

    def wait_seconds(self) -> float:
        """Return the real seconds until a piece is due, whatever happens."""

    def attach(self, resume: Resume, is_client_gone: Callable[[], bool]) -> None:
        """Use a client's connection; `resume` is called when there is something to read early."""

    def end_for_stop(self) -> None:
        """End it because the server stops; the last piece can still be read."""

    def close(self, *, slow: bool = False) -> None:
        """The client has gone, or does not read what it was sent (`slow`). Idempotent."""

    @property
    def is_silent(self) -> bool:
        """Whether it sends nothing although its client waits, because it was asked to."""

    @property
    def fault(self) -> FaultKind | None:
        """The network fault with which it ends, when `read` returned `None`."""


class Reply(Struct):
    """One answer, ready to be sent."""

    status: int
    body: bytes = b""
    headers: Pairs = field(default_factory=list)
    sending: Sending | None = None
    reason: str | None = None
    """The reason phrase, if it is not the standard one."""
    parts: Iterator[bytes] | None = None
    """The body of a user's route as it was returned, in place of `body`."""
    stream: LiveBody | None = None
    """The body of a stream, in place of `body`."""
    is_verbatim: bool = False
    """Whether somebody wrote the body as it is to be sent, so that no name in it is translated."""
    entry: JournalEntry | None = None
    """Its entry in the journal, which whoever sends it completes."""

    @property
    def is_open_ended(self) -> bool:
        """Whether the length of the body is unknown."""
        return self.parts is not None or self.stream is not None

    def header(self, name: str) -> str | None:
        """Return the first header of that name in any case, or `None`."""
        folded, length = name.lower(), len(name)
        for key, value in self.headers:
            if len(key) == length and key.lower() == folded:
                return value
        return None
