"""A transport of httpx that is answered in the same process, without a socket."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Generator, Iterable
from types import SimpleNamespace
from typing import Any

import httpx
from requests.auth import AuthBase

from mock_platform.core.connection import Request
from mock_platform.serving.in_process.asgi import AsgiApplication, AsyncAnswer
from mock_platform.serving.in_process.connection import SERVER, format_date
from mock_platform.serving.in_process.session import AllowedHosts, BearerAuth
from mock_platform.world.clock import machine_now


def make_client(
    application: AsgiApplication | None,
    base_url: str,
    auth: AuthBase | None,
    passthrough: Iterable[str],
    *,
    verify: str | bool = True,
) -> httpx.AsyncClient:
    """Return a client whose relative addresses start at a base address, and that calls no other.

    Without an application it calls that address over the network. Proxies and `.netrc` of the
    environment are ignored.
    """
    transport = PlatformTransport(application, base_url, passthrough, verify=verify)
    signing = None if auth is None else _Signing(auth)
    return httpx.AsyncClient(transport=transport, base_url=base_url, auth=signing, trust_env=False)


class PlatformTransport(httpx.AsyncBaseTransport):
    """Answers requests to the base address from the application, and checks all others.

    Streams are read as they come. If a scenario breaks the connection, or delays the answer for
    longer than the read timeout, the call raises the same as over a socket.
    """

    def __init__(
        self,
        application: AsgiApplication | None,
        base_url: str,
        passthrough: Iterable[str],
        *,
        verify: str | bool,
    ) -> None:
        self._application = application
        self._base = httpx.URL(base_url)
        self._allowed = AllowedHosts(base_url, passthrough)
        self._verify = verify
        self._network: httpx.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to a request; its body is made when the caller reads it."""
        url, base = request.url, self._base
        is_own = (url.scheme, url.host, url.port) == (base.scheme, base.host, base.port)
        if self._application is None or not is_own:
            return await self._call_network(request)
        assert isinstance(request.stream, httpx.AsyncByteStream)
        answer = await self._application.answer(
            Request(
                request.method,
                url.raw_path.decode("ascii"),
                "",
                "1.1",
                request.headers.raw,
                await self._application.read_body(request.stream),
                keep_alive=True,
                scheme=url.scheme,
            ),
            timeout=request.extensions.get("timeout", {}).get("read"),
        ).__aenter__()
        status, _, reason = answer.status.partition(" ")
        return httpx.Response(
            int(status),
            headers=_complete(answer.headers),
            stream=_Body(answer),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": reason.encode("latin-1")},
        )

    async def aclose(self) -> None:
        """Close the connections to other hosts."""
        if self._network is not None:
            await self._network.aclose()

    async def _call_network(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if self._application is not None or url.host != self._base.host:
            self._allowed.check(request.method, str(url))
        if self._network is None:
            verify = self._verify
            trusted = ssl.create_default_context(cafile=verify) if isinstance(verify, str) else True
            self._network = httpx.AsyncHTTPTransport(verify=trusted, trust_env=False)
        return await self._network.handle_async_request(request)


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: AsyncAnswer) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer:
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


class _Signing(httpx.Auth):
    """Signs requests of httpx as those of requests are signed."""

    def __init__(self, auth: AuthBase) -> None:
        self._auth = auth
        self.requires_request_body = not isinstance(auth, BearerAuth)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        body = request.content if self.requires_request_body else None
        seen: Any = SimpleNamespace(
            method=request.method, url=str(request.url), headers=request.headers, body=body
        )
        self._auth(seen)
        yield request


def _complete(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return headers with those that a server adds."""
    found = [(name, value.lstrip(" \t")) for name, value in headers]
    names = {name.lower() for name, _ in found}
    added = {"Date": format_date(machine_now().replace(microsecond=0)), "Server": SERVER}
    return found + [pair for pair in added.items() if pair[0].lower() not in names]
