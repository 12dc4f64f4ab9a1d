"""A `requests.Session` whose calls are answered in-process: no socket, no thread, no waiting.

The adapter hands each request to the WSGI application as a server would, and gives the answer back
as the HTTP adapter of requests would, so that redirects, cookies, streaming and repeated headers
work as they do over a socket.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from email.message import Message
from http.client import BadStatusLine, RemoteDisconnected
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import SplitResult, unquote, urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.auth import AuthBase
from requests.cookies import extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers
from urllib3 import HTTPHeaderDict, HTTPResponse
from urllib3.exceptions import ProtocolError

from mock_platform.faults import CONNECTION

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

AuthScheme = Literal["oauth1", "bearer"]

_CHUNK = 64 * 1024
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NO_BODY = frozenset({204, 304})
_FORM = "application/x-www-form-urlencoded"


class WsgiAdapter(BaseAdapter):
    """Answers the requests of a `requests.Session` from a WSGI application.

    What the application raises, the call raises. Where a scenario breaks the connection, the call
    raises what requests raises over a socket; a held one times out at once. `timeout`, `verify`,
    `cert` and `proxies` are accepted and have nothing to act on.
    """

    def __init__(self, application: WSGIApplication) -> None:
        super().__init__()
        self._application = application

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - the signature that requests calls
        timeout: Any = None,
        verify: Any = True,  # noqa: FBT002 - as above
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """The answer to a prepared request; its body is read as the caller reads it."""
        environ = _environ(request)
        wire = _Wire(request)
        environ[CONNECTION] = wire
        answer = _Answer(self._application, environ, wire)
        bodiless = request.method == "HEAD" or answer.status in _NO_BODY
        headers = HTTPHeaderDict()
        for name, value in answer.headers:
            headers.add(name, value)
        raw = HTTPResponse(
            body=io.BytesIO() if bodiless else io.BufferedReader(answer, _CHUNK),
            headers=headers,
            status=answer.status,
            reason=answer.reason,
            version=11,
            version_string="HTTP/1.1",
            preload_content=False,
            decode_content=False,
            original_response=_Original(answer.headers),  # type: ignore[arg-type]
            request_method=request.method,
            request_url=request.url,
        )
        if bodiless:
            answer.close()
        return self._response(request, raw)

    def close(self) -> None:
        """Nothing is kept open."""

    def _response(self, request: requests.PreparedRequest, raw: HTTPResponse) -> requests.Response:
        response = requests.Response()
        response.status_code = raw.status
        response.reason = raw.reason or ""
        response.headers = CaseInsensitiveDict(raw.headers)
        response.encoding = get_encoding_from_headers(response.headers)
        response.raw = raw
        response.url = request.url or ""
        response.request = request
        response.connection = self  # type: ignore[assignment]
        extract_cookies_to_jar(response.cookies, request, raw)  # type: ignore[no-untyped-call]
        return response


class PlatformSession(requests.Session):
    """A session whose relative addresses begin at a base address, answered by an application.

    Addresses of other servers are called over the network as usual; proxies and `.netrc` of the
    environment play no part.
    """

    def __init__(
        self, application: WSGIApplication, base_url: str, auth: AuthBase | None = None
    ) -> None:
        super().__init__()
        self.base_url = base_url.rstrip("/")
        self.auth = auth
        self.trust_env = False
        parts = urlsplit(base_url)
        self.mount(f"{parts.scheme}://{parts.netloc}/", WsgiAdapter(application))

    def request(
        self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any
    ) -> requests.Response:
        """Send a request; `/2/…` is joined to the base address."""
        if isinstance(url, str) and url.startswith("/"):
            url = self.base_url + url
        return super().request(method, url, *args, **kwargs)


class BearerAuth(AuthBase):
    """Sends a bearer token."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Put the token into the Authorization header."""
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request


class OAuth1Auth(AuthBase):
    """Signs each request with OAuth 1.0a, HMAC-SHA1, in the Authorization header."""

    def __init__(
        self, consumer_key: str, consumer_secret: str, token: str, token_secret: str
    ) -> None:
        from oauthlib.oauth1 import Client  # 30 ms that sessions without it do not pay

        self._client = Client(consumer_key, consumer_secret, token, token_secret)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Sign; the parameters of a form body take part, other bodies do not."""
        media_type = str(request.headers.get("Content-Type", "")).partition(";")[0].strip()
        body = None
        headers: dict[str, str] = {}
        if media_type.lower() == _FORM and isinstance(request.body, str | bytes):
            body = request.body.decode() if isinstance(request.body, bytes) else request.body
            headers["Content-Type"] = _FORM
        method: Any = request.method or "GET"
        _, signed, _ = self._client.sign(request.url or "", method, body, headers)
        request.headers["Authorization"] = signed["Authorization"]
        return request


class _Answer(io.RawIOBase):
    """A WSGI application's answer to one request, read as a stream."""

    def __init__(self, application: WSGIApplication, environ: WSGIEnvironment, wire: _Wire) -> None:
        super().__init__()
        self.status = 0
        self.reason = ""
        self.headers: list[tuple[str, str]] = []
        self._written: list[bytes] = []
        self._parts: Iterable[bytes] = application(environ, self._start)
        self._iterator = iter(self._parts)
        self._rest = b""
        # An application may begin its answer as late as with its first part.
        while not self.status:
            try:
                self._written.append(next(self._iterator))
            except StopIteration:
                break
        wire.check()
        if not self.status:
            raise AssertionError("the WSGI application ended without calling start_response")

    def _start(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None, /
    ) -> Callable[[bytes], object]:
        code, _, self.reason = status.partition(" ")
        self.status = int(code)
        self.headers = list(headers)
        return self._written.append

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what comes next; 0 at the end."""
        while not self._rest:
            part = self._written.pop(0) if self._written else next(self._iterator, None)
            if part is None:
                return 0
            self._rest = part
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def close(self) -> None:
        """Tell the application that its answer is done with."""
        if not self.closed:
            super().close()
            finish = getattr(self._parts, "close", None)
            if finish is not None:
                finish()


class _Wire:
    """The connection of a call that has none: what is done to it, the call raises."""

    def __init__(self, request: requests.PreparedRequest) -> None:
        self.stopping = threading.Event()  # nobody sets it: there is no server to stop
        self.taken = False
        self._request = request
        self._broken: requests.RequestException | None = None

    def reset(self) -> None:
        """Connection reset by peer."""
        fault = ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        self._break(requests.ConnectionError, ProtocolError("Connection aborted.", fault))

    def close(self) -> None:
        """Remote end closed connection without response."""
        fault = RemoteDisconnected("Remote end closed connection without response")
        self._break(requests.ConnectionError, ProtocolError("Connection aborted.", fault))

    def hold(self) -> None:
        """Read timed out."""
        self._break(requests.ReadTimeout, "Read timed out.")

    def send_raw(self, data: bytes) -> None:
        """Whatever it is, it is no HTTP."""
        fault = BadStatusLine(data[:80].decode("latin-1"))
        self._break(requests.ConnectionError, ProtocolError("Connection aborted.", fault))

    def check(self) -> None:
        """Raise what was done."""
        if self._broken is not None:
            raise self._broken

    def _break(self, kind: type[requests.RequestException], told: object) -> None:
        self.taken = True
        self._broken = self._broken or kind(told, request=self._request)


class _Original:
    """What urllib3 and requests ask of the standard library's response: headers, and an end."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        self.msg = Message()
        for name, value in headers:
            self.msg[name] = value

    def close(self) -> None:
        """Nothing is kept open."""

    def isclosed(self) -> bool:
        """Whether a connection could be used again: there is none."""
        return False


class _Sent(io.RawIOBase):
    """A body that comes in parts, as the file that a WSGI application reads."""

    def __init__(self, parts: Iterator[str | bytes]) -> None:
        super().__init__()
        self._parts = parts
        self._rest = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what comes next; 0 at the end."""
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = part.encode() if isinstance(part, str) else part
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def _environ(request: requests.PreparedRequest) -> WSGIEnvironment:
    """The WSGI environment of a request, as a server would make it."""
    url = urlsplit(request.url or "")
    path = url.path or "/"
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": request.method or "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(path, "latin-1"),
        "QUERY_STRING": url.query,
        "REQUEST_URI": f"{path}?{url.query}" if url.query else path,
        "SERVER_NAME": url.hostname or "",
        "SERVER_PORT": str(url.port or _DEFAULT_PORTS.get(url.scheme, 80)),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": _host(url),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": url.scheme,
        "wsgi.input": _body(request.body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.items():
        key = _text(name).upper().replace("-", "_")
        if key not in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
            key = f"HTTP_{key}"
        environ[key] = _text(value)
    return environ


def _host(url: SplitResult) -> str:
    """The Host header that a client of this address sends."""
    name = url.hostname or ""
    if ":" in name:
        name = f"[{name}]"
    usual = url.port is None or url.port == _DEFAULT_PORTS.get(url.scheme)
    return name if usual else f"{name}:{url.port}"


def _body(body: Any) -> io.BufferedIOBase:
    """A request's body as a file: bytes, text, a file or parts."""
    if body is None:
        return io.BytesIO()
    if isinstance(body, str | bytes | bytearray):
        return io.BytesIO(body.encode() if isinstance(body, str) else body)
    read = getattr(body, "read", None)
    parts = iter(body) if read is None else _parts(read)
    return io.BufferedReader(_Sent(parts), _CHUNK)


def _parts(read: Callable[[int], str | bytes]) -> Iterator[str | bytes]:
    while part := read(_CHUNK):
        yield part


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
