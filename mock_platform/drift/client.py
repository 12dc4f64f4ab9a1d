"""A client of another server: requests without a body to one base address, and nothing else.

Redirects are never followed, so credentials and signatures reach no other host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import quote, unquote, urlencode, urlsplit

import urllib3
from oauthlib.common import generate_nonce, generate_timestamp
from requests.utils import DEFAULT_CA_BUNDLE_PATH, get_environ_proxies, select_proxy
from urllib3.exceptions import HTTPError

from mock_platform.core.auth import signature
from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import FORM
from mock_platform.core.pairs import decode_pairs
from mock_platform.delivery.base_address import check_base_url
from mock_platform.drift.answers import ComparedAnswer
from mock_platform.drift.plan import Signing
from mock_platform.settings import NamesMode
from mock_platform.version import __version__

REQUEST_TIMEOUT_SECONDS = 30.0
"""Real seconds for each request."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Bytes of an answer that are read."""
CONNECTIONS = 4
"""Requests that are on their way to the other server at once."""
_RETRIES = urllib3.Retry(1, redirect=False, status=False, raise_on_redirect=False)
"""A kept connection may have been closed: all requests only read, so they may be repeated."""
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"mock-platform/{__version__}",
}
_PREFIX = "MOCK_PLATFORM_"
_UNKNOWN = "unknown-token-of-a-comparison"


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

    @classmethod
    def from_variables(cls, variables: Mapping[str, str]) -> Self:
        """Read the credentials from variables, named as by `mock-platform credentials`."""
        return cls(**{name: variables.get(_PREFIX + name.upper()) for name in cls.__slots__})

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

    def find_scheme(self, schemes: tuple[Scheme, ...]) -> Scheme | None:
        """Return the first scheme of an operation for which there are credentials."""
        if "oauth1" in schemes and self.has_user_context:
            return "oauth1"
        return "bearer" if "bearer" in schemes and self.bearer_token is not None else None

    def sign(
        self,
        method: str,
        url: str,
        schemes: tuple[Scheme, ...],
        signing: Signing,
        form: str | None = None,
    ) -> dict[str, str]:
        """Return the headers that sign a request, with its form body, for one of these schemes."""
        scheme = None if signing == "none" else self.find_scheme(schemes)
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
            ("oauth_nonce", generate_nonce()),
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


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A request without a body: path, filled in, and query."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    schemes: tuple[Scheme, ...] = ()
    """Those that the operation accepts; empty for none."""
    signing: Signing = "good"
    names: NamesMode = "neutral"
    """The names that a sandbox should answer with; path and query are sent as they are."""

    @property
    def target(self) -> str:
        """Path and query as they are sent."""
        query = urlencode(self.query, quote_via=quote, safe="")
        return f"{self.path}?{query}" if query else self.path


class Server(Protocol):
    """A server that is compared: the other one, or the sandbox."""

    @property
    def base_url(self) -> str:
        """The address before each path."""

    def has_credentials(self, schemes: tuple[Scheme, ...]) -> bool:
        """Return whether requests can carry credentials of one of these kinds."""

    def ask(self, request: ProbeRequest) -> ComparedAnswer:
        """Return the answer to one request."""


class HttpClient:
    """A client of one base address, which keeps its connections; threads may share it."""

    def __init__(
        self, base_url: str, credentials: SigningCredentials, ca: Path | None = None
    ) -> None:
        self.base_url = check_base_url(base_url)
        self._credentials = credentials
        self._pool = _open_pool(self.base_url, DEFAULT_CA_BUNDLE_PATH if ca is None else str(ca))

    def has_credentials(self, schemes: tuple[Scheme, ...]) -> bool:
        """Return whether requests can carry credentials of one of these kinds."""
        return self._credentials.find_scheme(schemes) is not None

    def ask(self, request: ProbeRequest) -> ComparedAnswer:
        """Return one answer.

        Raises:
            ServerUnreachable: The server did not answer, or its answer is too large.
        """
        url = self.base_url + request.target
        signed = self._credentials.sign(request.method, url, request.schemes, request.signing)
        try:
            response = self._pool.request(
                request.method, url, headers={**_HEADERS, **signed},
                timeout=REQUEST_TIMEOUT_SECONDS, redirect=False, retries=_RETRIES,
                preload_content=False,
            )  # fmt: skip
            try:
                body = response.read(MAX_ANSWER_BYTES + 1, decode_content=True)
                if len(body) > MAX_ANSWER_BYTES:
                    response.close()
                    raise ServerUnreachable(
                        f"{url} answered more than {MAX_ANSWER_BYTES // 1024**2}M."
                    )
            finally:
                response.release_conn()
            return ComparedAnswer(response.status, response.headers.items(), body)
        except (HTTPError, OSError) as fault:
            raise ServerUnreachable(f"{url} cannot be reached: {fault}") from fault

    def close(self) -> None:
        """Close all kept connections."""
        self._pool.clear()


def _open_pool(base_url: str, ca: str) -> urllib3.PoolManager:
    """Return connections to a server, by the proxy that the environment names for it."""
    proxy = select_proxy(base_url, get_environ_proxies(base_url))
    if not proxy:
        return urllib3.PoolManager(maxsize=CONNECTIONS, ca_certs=ca)
    user = urlsplit(proxy)
    given = f"{unquote(user.username)}:{unquote(user.password or '')}" if user.username else None
    headers = urllib3.make_headers(proxy_basic_auth=given)
    return urllib3.ProxyManager(proxy, maxsize=CONNECTIONS, ca_certs=ca, proxy_headers=headers)
