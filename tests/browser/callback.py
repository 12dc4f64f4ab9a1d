"""The address of an app to which browsers are sent back, and one beyond it."""

from __future__ import annotations

import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit

from tests.waits import PATIENCE


class CallbackServer:
    """Listens on a free loopback port and keeps the parameters with which it was called.

    `url` is the callback. With `onward` it leads on to that address, as apps do once they have
    what they need.
    """

    def __init__(self, onward: str | None = None) -> None:
        self._calls: queue.Queue[dict[str, str]] = queue.Queue()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path == "/callback":
                    found = {name: values[0] for name, values in parse_qs(parts.query).items()}
                    outer._calls.put(found)
                leads = parts.path == "/callback" and onward is not None
                page = b"<!doctype html><title>Arrived</title><h1>Arrived</h1>"
                self.send_response(302 if leads else 200)
                if leads:
                    self.send_header("Location", str(onward))
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, format: str, *args: object) -> None:
                """Keep quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/callback"

    def called_with(self) -> dict[str, str]:
        """The parameters of the next call; waits for it."""
        return self._calls.get(timeout=PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
