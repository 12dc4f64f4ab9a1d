"""A `requests.Session` that is answered in-process, without a socket or a thread.

Retries, redirects, cookies, streaming, timeouts and the exceptions for a broken connection come
from requests and urllib3 themselves: only the connection is different (`connection`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit
from weakref import WeakMethod

import requests
from requests.adapters import DEFAULT_RETRIES, BaseAdapter, HTTPAdapter
from requests.auth import AuthBase

from mock_platform.core.platform_hosts import is_ip_address
from mock_platform.serving.in_process.connection import ApplicationFault, Pools
from mock_platform.settings import is_loopback

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from urllib3 import HTTPConnectionPool, Retry


# Which hosts a session may call: that of the sandbox, this machine, and those that were named.
# A client that forgets its base address would send a signed request to the real service. Such a
# request is refused before it leaves the process.

_NAME = re.compile(r"[a-z0-9._-]+")


class ForeignHost(RuntimeError):
    """A session was about to call a host that is not the sandbox's.

    It is no exception of requests on purpose: clients catch those and try again.
    """


class AllowedHosts:
    """The hosts that a session may call over the network."""

    def __init__(self, base_url: str, passthrough: Iterable[str] = ()) -> None:
        if isinstance(passthrough, str):
            raise TypeError(f"passthrough is a list of hosts: passthrough=[{passthrough!r}]")
        self._base_url = base_url
        self._own = (urlsplit(base_url).hostname or "").lower()
        self._opened = frozenset(_read_host(host) for host in passthrough)

    def check(self, method: str | None, url: str, *, remedies: Iterable[str] = ()) -> None:
        """Check the address of a request; `remedies` are ways that this kind of session has.

        Raises:
            ForeignHost: The session must not call this host.
        """
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if host in self._opened or host == self._own or is_loopback(host):
            return
        listed = "; ".join(
            [
                f"let your client call {self._base_url} (the base address of the sandbox)",
                *(text.format(origin=f"{parts.scheme}://{host}") for text in remedies),
                f"or, if {host} really is to be called, open it with passthrough=[{host!r}]",
            ]
        )
        raise ForeignHost(
            f"{method} {parts.scheme}://{host}{parts.path} was not sent: this session belongs to a "
            f"sandbox and calls no other host. What to do: {listed}."
        )


def _read_host(host: str) -> str:
    """Return the name of a host in small letters.

    Raises:
        ValueError: It is an address, or has a port.
    """
    name = host.lower().strip("[]")
    if _NAME.fullmatch(name) or is_ip_address(name):
        return name
    raise ValueError(f"passthrough takes names of hosts such as 'api.example.com', not {host!r}")


AuthScheme = Literal["oauth1", "oauth2", "bearer"]


class WsgiAdapter(HTTPAdapter):
    """Answers the requests of a `requests.Session` from a WSGI application.

    It answers for every address at which it is mounted, and replaces the `HTTPAdapter` of requests:
    `max_retries` is a number or a `urllib3.Retry`. If a scenario breaks the connection, or delays
    the answer for longer than `timeout`, the call raises the same as over a socket. A call that
    is certain to time out does so at once, as does one on a connection that is held for ever, even
    without `timeout`; shorter delays really pass. The call raises exceptions of the application.
    `verify`, `cert` and `proxies` have no effect.

    Example:
        >>> import requests
        >>> from mock_platform import WsgiAdapter, create_app
        >>> session = requests.Session()
        >>> session.mount("https://api.platform.com", WsgiAdapter(create_app()))
        >>> session.get("https://api.platform.com/2/users/1").status_code  # no credentials
        401
    """

    def __init__(
        self, application: WSGIApplication, max_retries: int | Retry = DEFAULT_RETRIES
    ) -> None:
        super().__init__(max_retries=max_retries)
        self._pools = Pools(application)

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: Any,
        proxies: Mapping[str, str] | None = None,
        cert: Any = None,
    ) -> HTTPConnectionPool:
        """The connections that call the application."""
        return self._pools.find_pool(request.url or "")

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Do nothing: no data are encrypted."""

    def send(
        self, request: requests.PreparedRequest, *args: Any, **kwargs: Any
    ) -> requests.Response:
        """Return the answer to a prepared request; its body is read when the caller reads it."""
        try:
            return super().send(request, *args, **kwargs)
        # An exception of the application travels through urllib3 in a wrapper, because the library
        # retries or translates many kinds of exceptions. The original is raised outside of the
        # `except`, so that its traceback has no chain of library frames.
        except ApplicationFault as raised:
            fault = raised.fault
        raise fault


class BasedSession(requests.Session):
    """A session whose relative addresses start at a base address, and that calls no other host.

    Beside the host of the base address it calls this machine, the hosts in `passthrough`, and
    whatever an adapter other than that of requests answers. Proxies and `.netrc` of the environment
    are ignored.
    """

    remedies: tuple[str, ...] = ()
    """What else may be done about another host, where `{origin}` is its address."""

    def __init__(self, base_url: str, passthrough: Iterable[str] = ()) -> None:
        super().__init__()
        self.base_url = base_url.rstrip("/")
        self.trust_env = False
        self._allowed = AllowedHosts(self.base_url, passthrough)
        self._below_base = f"{self.base_url}/"

    def request(
        self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any
    ) -> requests.Response:
        """Send a request; `/2/…` is joined to the base address."""
        if isinstance(url, str) and url.startswith("/"):
            url = self.base_url + url
        return super().request(method, url, *args, **kwargs)

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Send a prepared request.

        Raises:
            ForeignHost: Its host is not the sandbox's.
        """
        url = request.url or ""
        if not url.startswith(self._below_base):  # most are
            adapter = self.get_adapter(url)
            if isinstance(adapter, HTTPAdapter) and not isinstance(adapter, WsgiAdapter):
                self._allowed.check(request.method, url, remedies=self.remedies)
        return super().send(request, **kwargs)

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        """Return the settings of a request: its own, or else those of the session.

        Without proxies there are no mappings to merge. On Python 3.11 requests takes a twentieth of
        a call to find that out.
        """
        if self.trust_env or proxies or self.proxies:
            return super().merge_environment_settings(url, proxies, stream, verify, cert)
        return {
            "proxies": {},
            "stream": self.stream if stream is None else stream,
            "verify": self.verify if verify is None else verify,
            "cert": self.cert if cert is None else cert,
        }

    def resolve_redirects(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Follow redirects; one to another host is refused as well."""
        try:
            yield from super().resolve_redirects(*args, **kwargs)
        except ForeignHost as fault:
            text = f"{fault} It was a redirect: with allow_redirects=False it is not followed."
            raise ForeignHost(text) from None


class PlatformSession(BasedSession):
    """A session whose relative addresses start at a base address, answered by an application.

    This is true with any adapters: those of requests keep their retries and other settings, but
    call the application instead of the network. Other servers of this machine, and the hosts in
    `passthrough`, are called over the network.
    """

    remedies = (
        "or let the sandbox answer for that host: session.mount({origin!r}, "
        "WsgiAdapter(platform.wsgi))",
    )

    def __init__(
        self,
        application: WSGIApplication,
        base_url: str,
        auth: AuthBase | None = None,
        passthrough: Iterable[str] = (),
    ) -> None:
        parts = urlsplit(base_url)
        self._origin = f"{parts.scheme}://{parts.netloc}/".lower()
        self._pools = Pools(application)
        super().__init__(base_url, passthrough)
        self.auth = auth

    def mount(self, prefix: str | bytes, adapter: BaseAdapter) -> None:
        """Use an adapter for addresses with this prefix."""
        if isinstance(adapter, HTTPAdapter) and not isinstance(adapter, WsgiAdapter):
            self._divert(adapter)
        super().mount(prefix, adapter)

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Send a prepared request; raises the exceptions of the application."""
        try:
            return super().send(request, **kwargs)
        except ApplicationFault as raised:
            fault = raised.fault
        raise fault

    def _divert(self, adapter: HTTPAdapter) -> None:
        """Give an adapter the application's connections, for the application's addresses only."""
        origin, pools = self._origin, self._pools
        usual = adapter.get_connection_with_tls_context
        # An adapter that refers to itself stays until the garbage collector comes, with its pools.
        elsewhere = WeakMethod(usual) if isinstance(usual, MethodType) else lambda: usual

        def connection(request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> Any:
            url = request.url or ""
            if url.lower().startswith(origin):
                return pools.find_pool(url)
            find: Any = elsewhere()
            return find(request, *args, **kwargs)

        adapter.get_connection_with_tls_context = connection  # type: ignore[method-assign]


class BearerAuth(AuthBase):
    """Sends a bearer token, that of an app or of a user."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Put the token into the Authorization header."""
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request
