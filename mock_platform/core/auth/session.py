"""Who is logged in in a browser, for the pages on which a user allows an app.

The cookie holds a value that nobody can guess. A record exists only once somebody logged in, so
that visits cost nothing; the token that guards the forms is derived from the cookie, so that an
anonymous visitor's forms are guarded as well.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from mock_platform.core.call import Call
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_seconds
from mock_platform.world.ids import unguessable
from mock_platform.world.world import World

TABLE = "_sessions"
"""The internal table of sessions in which somebody is logged in."""

_LENGTH = 40
_VALUE = re.compile(rf"[A-Za-z0-9]{{{_LENGTH}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Session:
    """One browser. `record` is `None` until somebody logs in."""

    id: str
    record: Record | None = None

    @classmethod
    def anonymous(cls) -> Session:
        """A browser that is new here."""
        return cls(unguessable(_LENGTH))

    def logged_in_for(self, request_token: str) -> bool:
        """Whether the user logged in on the way to allowing this request token."""
        return self.record is not None and self.record["request_token"] == request_token

    def authenticity_token(self, request_token: str) -> str:
        """What a form about this request token must carry to be this browser's own."""
        return hmac.digest(self.id.encode(), request_token.encode(), "sha256").hex()

    def sent(self, authenticity_token: str, request_token: str) -> bool:
        """Whether a form with this token came from a page that was shown to this browser."""
        expected = self.authenticity_token(request_token)
        return hmac.compare_digest(expected.encode(), authenticity_token.encode())


def find_session(call: Call, world: World) -> Session | None:
    """The session that a request's cookie names; `None` without a usable cookie."""
    name = _cookie_name(world)
    for part in (call.header("cookie") or "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name and _VALUE.fullmatch(value):
            return Session(value, world.store.get(TABLE, value))
    return None


def log_in(world: World, user: Record, request_token: str, previous: Session) -> Session:
    """A new session for a user; the previous one ends, so that nobody can plant its value."""
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
    """End a session, if anybody is logged in."""
    world.store.remove(TABLE, session.id)


def set_cookie(call: Call, world: World, session: Session) -> str:
    """The value of the `Set-Cookie` header that keeps a session, below the world's address only."""
    path = f"{urlsplit(call.base_url).path}/oauth"
    secure = "; Secure" if call.secure else ""
    return f"{_cookie_name(world)}={session.id}; Path={path}; HttpOnly; SameSite=Lax{secure}"


def _cookie_name(world: World) -> str:
    # Worlds that a header or a credential chose share one address, and so one path.
    return f"mock_platform_session_{world.name}"
