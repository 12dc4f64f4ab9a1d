"""Requests to an application in this process, without a client that takes as long as the answer."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from werkzeug import Request
from werkzeug.test import TestResponse, run_wsgi_app

from mock_platform.serving.flask.application import PlatformClient

_PLAIN = re.compile(r"/(?!/)[\w.~!$&'()*+,;=:@/%-]*(?:\?[\w.~!$&'()*+,;=:@/?%-]+)?", re.ASCII)
"""Targets in which a client changes nothing."""
_BY_CLIENT = {"Cookie", "Content-Length", "Host"}
"""Headers that a client has thoughts of its own about."""
_HOST = "localhost"
_FORM = "application/x-www-form-urlencoded"


class QuickClient(PlatformClient):
    """The test client of the application, with its own way for what is ordinary.

    Cookies, files, redirects and odd characters go the usual way.
    """

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        """Send a request; the answer is the same that the usual client gets."""
        environ = self.make_environ(*args, **kwargs) if len(args) == 1 else None
        if environ is None:
            return super().open(*args, **kwargs)
        answer = run_wsgi_app(self.application, environ)
        set_cookies = answer[2].getlist("Set-Cookie")
        if set_cookies:
            path = environ["REQUEST_URI"].partition("?")[0]
            self._update_cookies_from_response(_HOST, path, set_cookies)
        request = Request(environ, populate_request=False)
        response = self.response_wrapper(*answer, request=request)
        response.json_module = self.application.json  # type: ignore[assignment]
        return response

    def make_environ(
        self,
        target: object,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        data: object = None,
        json: object = None,
        content_type: str | None = None,
        **more: Any,
    ) -> dict[str, Any] | None:
        """The environment that the usual client makes of simple parts; else `None`."""
        pairs = [*(headers.items() if isinstance(headers, Mapping) else headers or ())]
        spelled = {name.title(): value for name, value in pairs}
        has_twice = len(spelled) < len(pairs)
        given = spelled.pop("Content-Type", None)
        content_type = content_type or given or (None if json is None else "application/json")
        mimetype = (content_type or "").partition(";")[0].strip().lower()
        body = (
            (b"" if json is None else self.application.json.dumps(json)) if data is None else data
        )
        if isinstance(body, str):
            body = body.encode()
        if (
            more
            or has_twice
            or self.preserve_context
            or (data is not None and json is not None)
            or self._cookies
            or not isinstance(body, bytes)
            or mimetype.startswith("multipart/")
            or not _BY_CLIENT.isdisjoint(spelled)
            or not all(isinstance(value, str) and value.isprintable() for value in spelled.values())
            or not (isinstance(target, str) and _PLAIN.fullmatch(target))
        ):
            return None
        path, _, query = target.partition("?")
        environ = self.environ_base | {
            "REQUEST_METHOD": method, "SCRIPT_NAME": "", "QUERY_STRING": query,
            "PATH_INFO": unquote(path).encode().decode("latin-1"),
            "REQUEST_URI": target, "RAW_URI": target, "SERVER_NAME": _HOST, "SERVER_PORT": "80",
            "HTTP_HOST": _HOST, "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body), "wsgi.errors": sys.stderr,
            "wsgi.multithread": False, "wsgi.multiprocess": False, "wsgi.run_once": False,
        }  # fmt: skip
        if content_type is not None:
            environ["CONTENT_TYPE"] = content_type
        if body or mimetype == _FORM:
            environ["CONTENT_LENGTH"] = str(len(body))
        for name, value in spelled.items():
            environ[f"HTTP_{name.upper().replace('-', '_')}"] = value
        return environ
