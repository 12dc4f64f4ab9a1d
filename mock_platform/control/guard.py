"""Protects the control plane from web pages and other machines.

The control plane can rewrite every record, so a web page that a developer happens to visit must not
reach it. Therefore a foreign `Host` (DNS rebinding) and a foreign `Origin` are refused, and a
request with a body must declare JSON, which a plain HTML form cannot do, or come from a page of the
console itself. On any address except loopback a token is required as well.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any

from mock_platform.control.mistakes import TOKEN_HEADER
from mock_platform.control.refusals import ControlRefusal
from mock_platform.core.cluster_peers import Alone, Peers
from mock_platform.core.platform_hosts import is_ip_address
from mock_platform.settings import Settings
from mock_platform.world.clock import UPTIME
from mock_platform.world.ids import unguessable

if TYPE_CHECKING:
    from itsdangerous import URLSafeTimedSerializer

# How fast the control token can be guessed. The first wrong tokens cost nothing, since people
# mistype. After them each wrong one makes its address wait, twice as long as the one before. While
# an address waits, a right token is refused as well: otherwise a guess would cost nothing. Sessions
# of the console are not affected. Each process of a server counts for itself.

FREE = 10
"""Wrong tokens of an address that cost nothing."""
MAX_WAIT_SECONDS = 60.0
FORGOTTEN_SECONDS = 15 * 60.0
"""Real seconds without a wrong token after which the count of an address starts at zero."""
_MAX_ADDRESSES = 10_000
"""The address that was wrong longest ago makes room for another one."""
_NETWORK_BITS = 64
"""What one customer has of IPv6, so it counts as one address."""


class Guesses:
    """The wrong tokens of each address; may be used by several threads."""

    def __init__(self, uptime: Callable[[], float] = UPTIME) -> None:
        """`uptime` returns real seconds."""
        self._uptime = uptime
        self._lock = threading.Lock()
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Check that an address may try a token now.

        Raises:
            ControlRefusal: 429, with the seconds to wait in `Retry-After`.
        """
        with self._lock:
            count, last = self._wrong.get(_group(address), (0, 0.0))
            seconds = last + _wait_after(count) - self._uptime()
        if seconds > 0:
            wait = str(math.ceil(seconds))
            raise ControlRefusal(
                429,
                f"Too many wrong control tokens came from {address}. Wait {wait} seconds, then "
                "send the token that the server was started with (--control-token).",
                headers=[("Retry-After", wait)],
            )

    def record_wrong(self, address: str) -> None:
        """Count a wrong token."""
        group, now = _group(address), self._uptime()
        with self._lock:
            count, last = self._wrong.pop(group, (0, now))
            begins = now - last > FORGOTTEN_SECONDS
            self._wrong[group] = (1 if begins else count + 1, now)
            if len(self._wrong) > _MAX_ADDRESSES:
                self._wrong.popitem(last=False)

    def forget(self, address: str) -> None:
        """Forget the wrong tokens of an address that sent the right one."""
        if self._wrong:  # most servers never see a wrong one
            with self._lock:
                self._wrong.pop(_group(address), None)


def _wait_after(count: int) -> float:
    """Return the seconds that an address waits after so many wrong tokens."""
    excess = count - FREE
    return 0.0 if excess < 0 else min(MAX_WAIT_SECONDS, 2.0 ** min(excess, 10))


def _group(address: str) -> str:
    """Return what is counted as one: an IPv4 address, a network of IPv6."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], _NETWORK_BITS), strict=False))


# Sessions of the console: what a browser keeps in place of the control token. The cookie is
# signed with the token and does not contain it, so it is worth nothing on a server with another
# token. The server knows which sessions are open: one that was ended, here or in another
# process of the server, is worth nothing either, and with the server all end.

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
        """Begin a session in all processes; return the value of its cookie.

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
        """Return the real seconds for which a session is open; 0 if it is not."""
        with self._lock:
            end = self._ends.get(session, 0.0)
        return max(0.0, end - self._uptime())


def name_cookie(environ: Mapping[str, Any]) -> str:
    """Return the name of the cookie: browsers send cookies to all ports of a host."""
    port = str(environ.get("HTTP_HOST", "")).rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdecimal() else COOKIE


def _read(environ: Mapping[str, Any], token: str) -> str | None:
    """Return the session that a request names; `None` if the server never made such a cookie."""
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


_HOST = re.compile(r"(\[[^\[\]/?#@\\\s]+\]|[^\[\]:/?#@\\\s]+)(?::[0-9]*)?", re.ASCII)
"""The whole of a `Host`: a name or an address, and a port."""
_WILDCARDS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - names them, binds nothing
_CHALLENGE = ("WWW-Authenticate", 'Basic realm="mock_platform control", charset="UTF-8"')

Environ = Mapping[str, Any]


def check(
    environ: Environ,
    settings: Settings,
    guesses: Guesses,
    sessions: Sessions,
    *,
    public: bool = False,
) -> None:
    """Check a request to the control plane; a `public` route needs no token.

    Raises:
        Refusal: 403 for a foreign Host or Origin, or if a token is required and none is set; 401
            for a missing or wrong token, 429 after many wrong ones.
        NoAnswer: Another process, which may know the browser's session, does not answer.
    """
    _check_host(environ, settings)
    _check_origin(environ)
    if not public:
        _check_token(environ, settings, guesses, sessions)


def check_form(environ: Environ) -> None:
    """Check a form of the console: the browser must confirm that the console sent it.

    Raises:
        Refusal: 403; another page sent it.
    """
    told = environ.get("HTTP_ORIGIN") or environ.get("HTTP_SEC_FETCH_SITE") == "same-origin"
    if not told:
        raise ControlRefusal(
            403,
            "Forms are accepted from the console's own pages only. From elsewhere, "
            "use the JSON routes under /_mock.",
        )


def _check_host(environ: Environ, settings: Settings) -> None:
    host = environ.get("HTTP_HOST")
    if host is None:  # HTTP/1.0; no browser sends such
        return
    found = _HOST.fullmatch(host)
    own = settings.host.lower()
    if found is not None:
        name = found[1].strip("[]").lower()
        if settings.is_local(name) or name == own:
            return
        # An attacker can rebind a name but not an address, and on all interfaces each address is
        # ours.
        if own in _WILDCARDS and is_ip_address(name):
            return
    raise ControlRefusal(
        403,
        f"The control plane does not answer to the Host {host!r}. Call it by a loopback name "
        "(127.0.0.1, localhost), or name the host with --public-host.",
    )


def _check_origin(environ: Environ) -> None:
    origin = environ.get("HTTP_ORIGIN")
    host = environ.get("HTTP_HOST", "")
    if origin is not None and origin.lower() not in {
        f"http://{host}".lower(),
        f"https://{host}".lower(),
    }:
        raise ControlRefusal(
            403,
            f"A page of {origin} may not use the control plane. Call it from a test or a command "
            "line, or from a page of this server.",
        )
    if environ.get("HTTP_SEC_FETCH_SITE") != "cross-site":
        return
    # A link to the console opens it for the person; the page with the link cannot read it.
    if environ["REQUEST_METHOD"] == "GET" and (
        environ.get("HTTP_SEC_FETCH_MODE") == "navigate"
        and environ.get("HTTP_SEC_FETCH_DEST") == "document"
    ):
        return
    raise ControlRefusal(
        403,
        "A page of another site may not use the control plane. Call it from a test or a command "
        "line, or from a page of this server.",
    )


def _check_token(
    environ: Environ, settings: Settings, guesses: Guesses, sessions: Sessions
) -> None:
    wanted = settings.control_token
    if wanted is None:
        if settings.loopback:
            return
        raise ControlRefusal(
            403,
            "Other machines can reach this server, so its control plane needs a "
            "token, and none was set. Start the server with --control-token TOKEN, "
            "or on 127.0.0.1.",
        )
    given = _read_token(environ)
    if given is not None and try_token(given, environ, settings, guesses):
        return
    if given is None and sessions.has(environ, wanted):
        # Browsers send cookies by themselves, so whatever changes something must be our page's.
        if environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            check_form(environ)
        return
    wrong = "is missing" if given is None else "is wrong"
    raise ControlRefusal(
        401,
        f"The control token {wrong}. Send the server's token as `{TOKEN_HEADER}: "
        "TOKEN` or `Authorization: Bearer TOKEN`; in a browser, log in at /_mock/, or use it as "
        "the password of the browser's dialog.",
        headers=[_CHALLENGE],
    )


def try_token(given: bytes, environ: Environ, settings: Settings, guesses: Guesses) -> bool:
    """Whether this is the server's control token; takes equally long for every wrong one.

    Raises:
        ControlRefusal: 429; too many wrong ones came from this address.
    """
    address = str(environ.get("REMOTE_ADDR", ""))
    guesses.check(address)
    wanted = settings.control_token
    if wanted is not None and hmac.compare_digest(given, wanted.encode()):
        guesses.forget(address)
        return True
    guesses.record_wrong(address)
    return False


def _read_token(environ: Environ) -> bytes | None:
    """Return the token as it was sent; a WSGI environ contains header bytes as Latin-1."""
    header: str | None = environ.get("HTTP_X_MOCK_CONTROL_TOKEN")
    if header is not None:
        return header.encode("latin-1")
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").encode("latin-1").partition(b" ")
    if scheme.lower() == b"bearer":
        return bytes(rest.strip())
    if scheme.lower() == b"basic":
        try:
            pair = base64.b64decode(rest.strip(), validate=True)
        except binascii.Error:
            return None
        return pair.partition(b":")[2]
    return None
