"""Sessions of the console: what a browser keeps in place of the control token.

The cookie is signed with the token and does not contain it, so it is worth nothing on a server with
another token. The server knows which sessions are open: one that was ended, here or in another
process of the server, is worth nothing either, and with the server all end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any

from mock_platform.placement.peers import Alone, Peers
from mock_platform.world.clock import UPTIME
from mock_platform.world.ids import unguessable

if TYPE_CHECKING:
    from itsdangerous import URLSafeTimedSerializer

MAX_SECONDS = 12 * 60 * 60
"""Real seconds after which a session ends."""
OPEN_SESSION = "open session"
"""Remember a session that another process began."""
END_SESSION = "end session"
SESSION_SECONDS = "session seconds"
"""The real seconds for which a session is open; 0 if it is not."""
COOKIE = "mock_platform_console"
"""The name of the cookie, or its beginning."""


class Sessions:
    """The open sessions that this process knows; may be used by several threads."""

    def __init__(
        self, find_peers: Callable[[], Peers] = Alone, uptime: Callable[[], float] = UPTIME
    ) -> None:
        """`find_peers` returns the other processes, `uptime` real seconds."""
        self._find_peers = find_peers
        self._uptime = uptime
        self._lock = threading.Lock()
        self._ends: dict[str, float] = {}

    def start(self, token: str) -> str:
        """Begin a session in all processes; returns the value of its cookie.

        Raises:
            NoAnswer: Another process does not answer.
        """
        session = unguessable(24)
        self._find_peers().ask_all(OPEN_SESSION, session)
        self.open(session)
        return str(_signer(token).dumps(session))

    def end(self, environ: Mapping[str, Any], token: str) -> None:
        """End the session to which a request belongs, if any, in all processes.

        Raises:
            NoAnswer: Another process does not answer.
        """
        session = _read(environ, token)
        if session is not None:
            self.close(session)
            self._find_peers().ask_all(END_SESSION, session)

    def has(self, environ: Mapping[str, Any], token: str) -> bool:
        """Whether a request belongs to a session that is open.

        Raises:
            NoAnswer: Another process, which may know the session, does not answer.
        """
        session = _read(environ, token)
        if session is None:
            return False
        if self.find_seconds(session) > 0:
            return True
        # A process that began after the session did has not heard of it.
        peers = self._find_peers()
        known = peers.ask_all(SESSION_SECONDS, session) if peers.count > 1 else {}
        seconds = max(known.values(), default=0.0)
        if seconds > 0:
            self.open(session, seconds)
        return seconds > 0

    def open(self, session: str, seconds: float = MAX_SECONDS) -> None:
        """Remember a session for so many real seconds."""
        now = self._uptime()
        with self._lock:
            self._ends = {each: end for each, end in self._ends.items() if end > now}
            self._ends[session] = now + seconds

    def close(self, session: str) -> None:
        """Forget a session. Idempotent."""
        with self._lock:
            self._ends.pop(session, None)

    def find_seconds(self, session: str) -> float:
        """Returns the real seconds for which a session is open; 0 if it is not."""
        with self._lock:
            end = self._ends.get(session, 0.0)
        return max(0.0, end - self._uptime())


def name_cookie(environ: Mapping[str, Any]) -> str:
    """Returns the name of the cookie: browsers send cookies to all ports of a host."""
    port = str(environ.get("HTTP_HOST", "")).rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdecimal() else COOKIE


def _read(environ: Mapping[str, Any], token: str) -> str | None:
    """Returns the session that a request names; `None` if the server never made such a cookie."""
    from itsdangerous import BadData

    sent: SimpleCookie = SimpleCookie()
    try:
        sent.load(environ.get("HTTP_COOKIE", ""))
    except CookieError:
        return None
    found = sent.get(name_cookie(environ))
    if found is None:
        return None
    try:
        return str(_signer(token).loads(found.value, max_age=MAX_SECONDS))
    except BadData:
        return None


def _signer(token: str) -> URLSafeTimedSerializer:
    from itsdangerous import URLSafeTimedSerializer  # most servers have no token

    return URLSafeTimedSerializer(token, salt="mock_platform.console")
