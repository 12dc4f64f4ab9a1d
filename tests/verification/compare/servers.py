"""A second sandbox that differs on purpose: a real server whose answers are rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from werkzeug import Request, Response
from werkzeug.test import Client

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.cli.comparing import make_shadow
from mock_platform.control.routes import describe_everything
from mock_platform.core.auth.tester_access import environment
from mock_platform.core.jsonio import dumps, loads
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.serving.http import ServerThread
from mock_platform.settings import Settings
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.check import check
from mock_platform.verification.compare.client import (
    HttpClient,
    ProbeRequest,
    Server,
    SigningCredentials,
)
from mock_platform.verification.compare.findings import Drift, DriftScope
from mock_platform.verification.compare.shadow import ShadowSettings, ShadowTraffic
from mock_platform.verification.compare.side import OwnSandbox
from mock_platform.world.clock import machine_now
from tests.support import Sandbox, sandbox

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

Patch = Callable[[Request, Response], None]
"""Changes an answer in place."""
_IDLE_SECONDS = 60


class Differing:
    """A second sandbox. `patches` change its answers, `asked` has what it was asked."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.platform = Platform(settings or Settings())
        self._inner = create_app(self.platform).wsgi_app
        self.patches: list[Patch] = []
        self.asked: list[tuple[str, str]] = []

    @cached_property
    def url(self) -> str:
        """Its address; it is started for whoever asks."""
        self._server = ServerThread(self)
        return self._server.start().url

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer one request, with the patches."""
        asked = Request(environ)
        self.asked.append((asked.method, asked.path))
        if not self.patches:
            return self._inner(environ, start)
        response = Response.from_app(self._inner, environ)
        for patch in self.patches:
            patch(asked, response)
        return response(environ, start)

    def start_over(self) -> None:
        """Be as at first: without patches, asked nothing, with the records of the beginning."""
        self.patches.clear()
        self.asked.clear()
        self.platform.worlds.default.reset()

    def close(self) -> None:
        """Stop the server."""
        if "url" in vars(self):
            self._server.stop()
        self.platform.close()


class Beside:
    """A second sandbox without a connection to it, which is half of the work of a comparison."""

    base_url = "http://127.0.0.1:1"
    connections = 1

    def __init__(self, server: Differing, credentials: SigningCredentials) -> None:
        self._client = Client(server)
        self._sign = credentials.sign
        self.list_schemes = credentials.list_schemes

    def start(self, request: ProbeRequest) -> Callable[[], ComparedAnswer]:
        """Return what asks it."""
        return partial(self.ask, request)

    def ask(self, request: ProbeRequest) -> ComparedAnswer:
        """Return one answer."""
        url = self.base_url + request.target
        found = self._client.open(
            request.target, self.base_url, method=request.method,
            headers=self._sign(request.method, url, request.schemes, request.signing),
        )  # fmt: skip
        return ComparedAnswer(found.status_code, found.headers.items(), found.get_data())


@contextmanager
def differing(*patches: Patch) -> Iterator[Differing]:
    """A running sandbox with these differences."""
    server = Differing()
    server.patches += patches
    try:
        yield server
    finally:
        server.close()


def on(path: str, change: Callable[[Any], Any], status: int = 200) -> Patch:
    """Changes the JSON of answers with this status, of paths that end so (`*` for any)."""

    def patch(asked: Request, response: Response) -> None:
        if (path == "*" or asked.path.endswith(path)) and response.status_code == status:
            body = loads(response.get_data())
            found = change(body)
            response.set_data(dumps(body if found is None else found))

    return patch


def asking(name: str, change: Callable[[Any], Any]) -> Patch:
    """Changes the JSON of answers to requests that have a parameter."""
    patch = on("*", change)
    return lambda asked, response: patch(asked, response) if name in asked.args else None


def set_header(path: str, name: str, value: str | None) -> Patch:
    """Changes a header where it is, or takes it away, in answers of paths that end so."""

    def patch(asked: Request, response: Response) -> None:
        if (path == "*" or asked.path.endswith(path)) and name in response.headers:
            response.headers.pop(name)
            if value is not None:
                response.headers[name] = value

    return patch


def each(change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], None]:
    """Changes each record of an answer."""

    def patch(body: Any) -> None:
        data = body["data"]
        for record in data if isinstance(data, list) else [data]:
            change(record)

    return patch


@contextmanager
def shadowing(
    other: Differing | str, box: Sandbox | None = None, **settings: Any
) -> Iterator[tuple[Sandbox, ShadowTraffic]]:
    """A sandbox whose requests are sent to another server; at the end all were."""
    box, url = box or sandbox(), other if isinstance(other, str) else other.url
    traffic = make_shadow(box.platform, ShadowSettings(url, **settings))
    traffic.start()
    try:
        yield box, traffic
        assert traffic.wait_until_idle(_IDLE_SECONDS)
    finally:
        traffic.stop()


def known_credentials() -> SigningCredentials:
    """The well-known credentials, which every sandbox has."""
    platform = Platform()
    try:
        return SigningCredentials.from_variables(environment(credentials(platform.worlds.default)))
    finally:
        platform.close()


class Comparison:
    """Compares servers with one sandbox, made once."""

    def __init__(self) -> None:
        self.platform = Platform()
        self.credentials = known_credentials()
        self.description = describe_everything(self.platform).at("http://x")

    def close(self) -> None:
        """Stop the sandbox."""
        self.platform.close()

    def run(
        self,
        server: Differing | Server,
        *only: str,
        credentials: SigningCredentials | None = None,
        **scope: Any,
    ) -> Drift:
        """How a server differs, which has these `credentials`, or the well-known ones."""
        self.platform.worlds.default.reset()
        own = OwnSandbox(self.platform, self.credentials)
        if isinstance(server, Differing):
            server = Beside(server, credentials or self.credentials)
        wanted = DriftScope(only=only, **scope)
        return check(server, own, self.description, machine_now(), wanted)

    def run_over_http(self, url: str, *only: str, **scope: Any) -> Drift:
        """How the server at this address differs."""
        client = HttpClient(url, self.credentials)
        try:
            return self.run(client, *only, **scope)
        finally:
            client.close()
