"""A client of another server: requests without a body to one base address, and nothing else.

Redirects are never followed, so credentials and signatures reach no other host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import quote, urlencode, urlsplit

import requests
from oauthlib.oauth1 import Client
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import FORM
from mock_platform.drift.answers import ComparedAnswer
from mock_platform.drift.plan import Signing
from mock_platform.settings import Settings

REQUEST_TIMEOUT_SECONDS = 30.0
"""Real seconds for each request."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Bytes of an answer that are read."""
_PREFIX = "MOCK_PLATFORM_"
_UNKNOWN = "unknown-token-of-a-comparison"


class BadBaseUrl(ValueError):
    """An address to which signed requests should not be sent."""


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
            client = Client(
                self.consumer_key or "", self.consumer_secret, token, self.access_token_secret
            )
            kind = {} if form is None else {"Content-Type": FORM}
            _, headers, _ = client.sign(url, method, form, kind)  # type: ignore[arg-type]
            return {str(name): str(value) for name, value in headers.items()}
        if scheme == "bearer":
            token = self.bearer_token if signing == "good" else _UNKNOWN
            return {"Authorization": f"Bearer {token}"}
        return {}


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A request without a body: path, filled in, and query."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    schemes: tuple[Scheme, ...] = ()
    """Those that the operation accepts; empty for none."""
    signing: Signing = "good"

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
    """A client of one base address, with its session."""

    def __init__(
        self, base_url: str, credentials: SigningCredentials, ca: Path | None = None
    ) -> None:
        self.base_url = check_base_url(base_url)
        self._credentials = credentials
        self._session = requests.Session()
        # The environment may hold a .netrc, whose credentials would replace the signature.
        self._session.trust_env = False
        self._session.proxies.update(get_environ_proxies(self.base_url))
        if ca is not None:
            self._session.verify = str(ca)

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
            with self._session.request(
                request.method,
                url,
                headers={"Accept": "application/json", **signed},
                timeout=REQUEST_TIMEOUT_SECONDS,
                allow_redirects=False,
                stream=True,
            ) as response:
                body = response.raw.read(MAX_ANSWER_BYTES + 1, decode_content=True)
                if len(body) > MAX_ANSWER_BYTES:
                    raise ServerUnreachable(
                        f"{url} answered more than {MAX_ANSWER_BYTES // 1024**2}M."
                    )
                return ComparedAnswer(response.status_code, response.headers.items(), body)
        except (requests.RequestException, HTTPError, OSError) as fault:
            raise ServerUnreachable(f"{url} cannot be reached: {fault}") from fault

    def close(self) -> None:
        """Close the session and its connections."""
        self._session.close()


def check_base_url(base_url: str) -> str:
    """Return a base address without a slash at its end.

    Raises:
        BadBaseUrl: It is not an address, has more than scheme, host and path, or would send
            credentials unencrypted beyond this machine.
    """
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as fault:
        raise BadBaseUrl(f"{base_url!r} is no address: {fault}") from fault
    if parts.scheme not in {"http", "https"} or not host:
        raise BadBaseUrl(
            f"{base_url!r} is no base address: give one such as https://api.example.com"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise BadBaseUrl("A base address has no user, query or fragment, only scheme, host, path.")
    if parts.scheme == "http" and not Settings().is_local(host):
        raise BadBaseUrl(f"{host} is another machine, so credentials go there over https only.")
    return base_url.rstrip("/")
