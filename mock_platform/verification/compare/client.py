"""A client of another server: requests without a body to one base address, and nothing else.

Redirects are never followed and no proxy of the environment is used, so credentials and signatures
reach no other host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from http.client import RemoteDisconnected
from itertools import count
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import quote, urlencode, urlsplit

from oauthlib.common import generate_nonce, generate_timestamp
from urllib3.connection import HTTPConnection

from mock_platform.core.auth import oauth1 as signature
from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import FORM
from mock_platform.core.errors import escape
from mock_platform.core.operation import Location, Operation
from mock_platform.core.pairs import decode_pairs
from mock_platform.delivery.connections import FAULTS, explain_fault, name_remedy
from mock_platform.delivery.deadline import set_deadline
from mock_platform.delivery.upstream import Upstream, check_base_url
from mock_platform.settings import NamesMode
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.plan import Signing
from mock_platform.version import __version__
from mock_platform.world.clock import UPTIME

REQUEST_TIMEOUT_SECONDS = 30.0
"""Real seconds for each request, from its first byte to the last one of its answer."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Bytes of an answer that are read."""
CONNECTIONS = 4
"""Requests that are on their way to the other server at once, unless the user says otherwise."""
CLOSED = (RemoteDisconnected, ConnectionResetError, BrokenPipeError)
"""With which a connection shows that the server has closed it."""
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"mock-platform/{__version__}",
}
_PREFIX = "MOCK_PLATFORM_"
_UNKNOWN = "unknown-token-of-a-comparison"


def _make_nonces() -> Iterator[str]:
    """Return texts of which no other run has one; threads may share them."""
    start = generate_nonce()
    return map(f"{start}{{}}".format, count())


class ServerUnreachable(Exception):
    """The server did not answer, or answered too much."""


@dataclass(frozen=True, slots=True)
class SigningCredentials:
    """What requests are signed with: four OAuth 1.0a values, a bearer token, or both."""

    consumer_key: str | None = None
    consumer_secret: str | None = None
    access_token: str | None = None
    access_token_secret: str | None = None
    bearer_token: str | None = None
    _nonces: Iterator[str] = field(default_factory=_make_nonces, repr=False, compare=False)

    @classmethod
    def from_variables(cls, variables: Mapping[str, str]) -> Self:
        """Read the credentials from variables, named as by `mock-platform credentials`."""
        names = [each.name for each in fields(cls) if not each.name.startswith("_")]
        found: dict[str, Any] = {name: variables.get(_PREFIX + name.upper()) for name in names}
        return cls(**found)

    @property
    def has_user_context(self) -> bool:
        """Whether all four OAuth 1.0a values are given."""
        return None not in {
            self.consumer_key,
            self.consumer_secret,
            self.access_token,
            self.access_token_secret,
        }

    @property
    def is_usable(self) -> bool:
        """Whether requests can be signed at all."""
        return self.has_user_context or self.bearer_token is not None

    def list_schemes(self, schemes: tuple[Scheme, ...]) -> tuple[Scheme, ...]:
        """Return those of an operation's schemes for which there are credentials."""
        held: list[Scheme] = []
        if "oauth1" in schemes and self.has_user_context:
            held.append("oauth1")
        if "bearer" in schemes and self.bearer_token is not None:
            held.append("bearer")
        return tuple(held)

    def sign(
        self,
        method: str,
        url: str,
        schemes: tuple[Scheme, ...],
        signing: Signing,
        form: str | None = None,
    ) -> dict[str, str]:
        """Return the headers that sign a request, with its form body, for one of these schemes."""
        scheme = None if signing == "none" else next(iter(self.list_schemes(schemes)), None)
        if scheme == "oauth1":
            token = self.access_token if signing == "good" else _UNKNOWN
            kind = {} if form is None else {"Content-Type": FORM}
            return {**kind, "Authorization": self._sign_oauth1(method, url, form, token or "")}
        if scheme == "bearer":
            token = self.bearer_token if signing == "good" else _UNKNOWN
            return {"Authorization": f"Bearer {token}"}
        return {}

    def _sign_oauth1(self, method: str, url: str, form: str | None, token: str) -> str:
        """Return the header `Authorization` of OAuth 1.0a; a comparison signs 3,000 requests."""
        own = [
            ("oauth_consumer_key", self.consumer_key or ""),
            ("oauth_nonce", next(self._nonces)),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", generate_timestamp()),
            ("oauth_token", token),
            ("oauth_version", "1.0"),
        ]
        sent = decode_pairs(urlsplit(url).query) + decode_pairs(form or "")
        normalized = signature.normalize([*own, *sent])
        base = signature.base_string(method, signature.base_string_uri(url), normalized)
        secrets = (self.consumer_secret or "", self.access_token_secret or "")
        own.append(("oauth_signature", signature.sign(base, *secrets).decode()))
        return "OAuth " + ", ".join(f'{n}="{signature.escape(v)}"' for n, v in own)


def leave_out_signature(operation: Operation, form: str) -> str:
    """Return a query or form without a signature of OAuth 1.0a: it holds for one request alone.

    The steps of OAuth have such parameters of their own, and keep them.
    """
    if operation.location is Location.OAUTH or "oauth_" not in form:
        return form
    return "&".join(each for each in form.split("&") if not each.startswith("oauth_"))


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A request without a body: path, filled in, and query."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    schemes: tuple[Scheme, ...] = ()
    """Those that may be used; empty for none."""
    signing: Signing = "good"
    names: NamesMode = "neutral"
    """The names that a sandbox should answer with; path and query are sent as they are."""

    @property
    def target(self) -> str:
        """Path and query as they are sent."""
        query = urlencode(self.query, quote_via=quote, safe="")
        return f"{self.path}?{query}" if query else self.path


Wait = Callable[[], ComparedAnswer]
"""Waits for the answer to a request that was sent, and returns it; to be called once."""


class Server(Protocol):
    """A server that is compared: the other one, or the sandbox."""

    @property
    def base_url(self) -> str:
        """The address before each path."""

    @property
    def connections(self) -> int:
        """How many requests may be on their way at once."""

    def list_schemes(self, schemes: tuple[Scheme, ...]) -> tuple[Scheme, ...]:
        """Return those of these schemes for which there are credentials, the best one first."""

    def start(self, request: ProbeRequest) -> Wait:
        """Send one request, and return what waits for its answer."""


class HttpClient:
    """A client of one address, which keeps its connections. One thread may use it.

    Several requests can be on their way: the server answers them while the caller does other work.
    """

    def __init__(
        self,
        base_url: str,
        credentials: SigningCredentials,
        ca: Path | None = None,
        *,
        connections: int = CONNECTIONS,
    ) -> None:
        """`ca` is a file with authorities to trust beside those of the system.

        Raises:
            BadBaseUrl: It is not an address, or would send credentials unencrypted elsewhere.
            OSError: `ca` cannot be read.
        """
        self._upstream = Upstream(base_url, ca=ca)
        self.base_url = check_base_url(base_url)
        self.connections = connections
        self._path = urlsplit(self.base_url).path
        self._credentials = credentials
        self._open: list[HTTPConnection] = []
        self._idle: list[HTTPConnection] = []

    def list_schemes(self, schemes: tuple[Scheme, ...]) -> tuple[Scheme, ...]:
        """Return those of these schemes for which there are credentials, the best one first."""
        return self._credentials.list_schemes(schemes)

    def start(self, request: ProbeRequest) -> Wait:
        """Send one request, and return what waits for its answer.

        Both raise `ServerUnreachable`.
        """
        url = self.base_url + request.target
        with self._translate_faults(url):
            kept = self._idle.pop() if self._idle else None
            if kept is not None:
                try:
                    self._send(kept, request, url)
                except CLOSED:
                    kept.close()
                    kept = None
            connection = kept or self._send(self._connect(), request, url)
        return partial(self._finish, connection, request, url, is_kept=kept is not None)

    def _connect(self) -> HTTPConnection:
        connection = self._upstream.connect(self.base_url)
        self._open.append(connection)
        return connection

    def _send(self, connection: HTTPConnection, request: ProbeRequest, url: str) -> HTTPConnection:
        signed = self._credentials.sign(request.method, url, request.schemes, request.signing)
        if connection.sock is None:
            connection.connect()
        set_deadline(connection.sock, UPTIME() + REQUEST_TIMEOUT_SECONDS)
        connection.request(
            request.method, self._path + request.target, headers={**_HEADERS, **signed},
            preload_content=False, decode_content=True, enforce_content_length=True,
        )  # fmt: skip
        return connection

    def _finish(
        self, connection: HTTPConnection, request: ProbeRequest, url: str, *, is_kept: bool
    ) -> ComparedAnswer:
        with self._translate_faults(url):
            try:
                response = connection.getresponse()
            except CLOSED:
                connection.close()
                if not is_kept:
                    raise
                # A kept connection may have been closed: all requests only read, so this one is
                # repeated, once.
                connection = self._send(self._connect(), request, url)
                response = connection.getresponse()
            body = response.read(MAX_ANSWER_BYTES + 1, decode_content=True)
            if len(body) > MAX_ANSWER_BYTES:
                raise ServerUnreachable(f"{url} answered more than {MAX_ANSWER_BYTES // 1024**2}M.")
        self._idle.append(connection)
        return ComparedAnswer(response.status, response.headers.items(), body)

    def close(self) -> None:
        """Close all connections, also those of requests without an answer."""
        self._idle.clear()
        while self._open:
            self._open.pop().close()

    @contextmanager
    def _translate_faults(self, url: str) -> Iterator[None]:
        try:
            yield
        except FAULTS as fault:
            where = urlsplit(self.base_url).netloc
            text = escape(explain_fault(fault, where, REQUEST_TIMEOUT_SECONDS)[1].strip())
            remedy = name_remedy(fault)
            raise ServerUnreachable(f"{url} cannot be reached: {text}{remedy}.") from fault
