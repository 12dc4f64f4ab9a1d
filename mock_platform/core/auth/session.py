"""Sessions of browsers, for the pages on which a user allows an app.

The cookie has a value that cannot be guessed. A record exists only after a login, so visits cost
nothing. The token that protects the forms is derived from the cookie, so the forms of an anonymous
visitor are protected as well.
"""

from __future__ import annotations

import hmac
import re
from urllib.parse import urlsplit

from msgspec import Struct

from mock_platform.core.call import Call
from mock_platform.world.clock import wire_seconds
from mock_platform.world.ids import unguessable
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

TABLE = "_sessions"
"""The internal table of sessions with a logged-in user."""

_LENGTH = 40
_VALUE = re.compile(rf"[A-Za-z0-9]{{{_LENGTH}}}", re.ASCII)


class Session(Struct, frozen=True):
    """One browser. `record` is `None` until a user logs in."""

    id: str
    record: Record | None = None

    @classmethod
    def anonymous(cls) -> Session:
        """Return the session of a new browser."""
        return cls(unguessable(_LENGTH))

    def is_logged_in_for(self, request_token: str) -> bool:
        """Whether the user logged in in order to allow this request token."""
        return self.record is not None and self.record["request_token"] == request_token

    def authenticity_token(self, request_token: str) -> str:
        """Return the token that a form about this request token must contain."""
        return hmac.digest(self.id.encode(), request_token.encode(), "sha256").hex()

    def accepts_form(self, authenticity_token: str, request_token: str) -> bool:
        """Whether a form with this token comes from a page that this browser was shown."""
        expected = self.authenticity_token(request_token)
        return hmac.compare_digest(expected.encode(), authenticity_token.encode())


def find_session(call: Call, world: World) -> Session | None:
    """Return the session of a request's cookie; `None` without a usable cookie."""
    name = _cookie_name(world)
    for part in (call.header("cookie") or "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name and _VALUE.fullmatch(value):
            return Session(value, world.store.get(TABLE, value))
    return None


def log_in(world: World, user: Record, request_token: str, previous: Session) -> Session:
    """Start a session for a user; the previous one ends, so an attacker cannot plant its value."""
    log_out(world, previous)
    fresh = unguessable(_LENGTH)
    record = {
        "id": fresh,
        "user_id": user["id"],
        "request_token": request_token,
        "created_at": wire_seconds(world.clock.now()),
    }
    world.store.put(TABLE, fresh, record)
    return Session(fresh, record)


def log_out(world: World, session: Session) -> None:
    """End a session, if a user is logged in."""
    world.store.remove(TABLE, session.id)


def set_cookie(call: Call, world: World, session: Session) -> str:
    """Return the `Set-Cookie` header that keeps a session, for the pages beside this one only."""
    path = urlsplit(call.base_url).path + call.path.rpartition("/")[0]
    secure = "; Secure" if call.secure else ""
    return f"{_cookie_name(world)}={session.id}; Path={path}; HttpOnly; SameSite=Lax{secure}"


def _cookie_name(world: World) -> str:
    # Worlds that are chosen by a header or a credential share one address, and therefore one path.
    return f"mock_platform_session_{world.name}"
