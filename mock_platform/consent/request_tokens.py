"""The life of a request token, and the records that a user's answer to it creates.

It goes `pending`, then `granted` or `denied` by the user, then `used` by the exchange (spec A,
"States and transitions: Credential life cycle").
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote, urlencode

from mock_platform.consent.pages import OUT_OF_BAND
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.store.interface import Entry, Record
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.world import World

LIFETIME_SECONDS = 3600
"""How long a request token can be answered and exchanged, on the world's clock."""

LIFETIME = expectation(
    "oauth.request-token-lifetime",
    f"A request token that was not exchanged within {LIFETIME_SECONDS} seconds on the world's "
    "clock has expired; the spec states no lifetime. Access tokens do not expire.",
)
SHAPES = public_fact(
    "oauth.token-shapes",
    "Request tokens are 27 letters and digits, access tokens <user_id>- and 40 of them, secrets "
    "41, verifiers 32; a PIN is 7 digits.",
    "section 4, token shapes",
)
CALLBACK_PARAMETERS = public_fact(
    "oauth.callback-parameters",
    "The callback is called with oauth_token and oauth_verifier added to its query, or with "
    "denied=<request token> if the user denied.",
    "section 4, callback redirect",
)

_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F))


def issue(world: World, app: Record, callback: str, access: str) -> Record:
    """Create and store a request token of an app."""
    token = {
        "id": world.ids.alphanumeric(27),
        "kind": "request",
        "state": "pending",
        "secret": world.ids.alphanumeric(41),
        "app_id": app["id"],
        "user_id": None,
        "access": access,
        "created_at": wire_seconds(world.clock.now()),
        "callback": callback,
        "verifier": None,
    }
    world.store.put("tokens", token["id"], token)
    return token


def is_expired(world: World, token: Record) -> bool:
    """Return whether a request token is older than `LIFETIME_SECONDS`."""
    age = world.clock.now() - parse_instant(token["created_at"])
    return age >= timedelta(seconds=LIFETIME_SECONDS)


def grant(world: World, token: Record, user: Record) -> Record:
    """Mark the token as granted by this user, with a verifier; a repeat returns the same token."""
    remember(world, token, user)
    if token["state"] == "granted" and token["user_id"] == user["id"]:
        return token
    by_hand = token["callback"] == OUT_OF_BAND
    verifier = world.ids.digits(7) if by_hand else world.ids.alphanumeric(32)
    granted = token | {"state": "granted", "user_id": user["id"], "verifier": verifier}
    world.store.put("tokens", token["id"], granted)
    return granted


def deny(world: World, token: Record) -> None:
    """Mark a request token as denied by the user."""
    world.store.put("tokens", token["id"], token | {"state": "denied", "verifier": None})


def remember(world: World, token: Record, user: Record) -> None:
    """Record that a user granted the token's app the token's access."""
    key = _make_grant_key(token["app_id"], user["id"])
    grant_ = {
        "_id": key,
        "app_id": token["app_id"],
        "user_id": user["id"],
        "access": token["access"],
        "scopes": None,
        "created_at": wire_seconds(world.clock.now()),
    }
    world.store.put("grants", key, grant_)


def was_granted(world: World, token: Record, user: Record) -> bool:
    """Return whether the user granted the app at least the access that the token asks for."""
    return any(
        entry.record["access"] == "write" or token["access"] == "read"
        for entry in _list_grants(world, token["app_id"], user["id"])
    )


def forget(world: World, app_id: str, user_id: str) -> None:
    """Remove the grants of access that a user made to an app by OAuth 1.0a."""
    for entry in _list_grants(world, app_id, user_id):
        world.store.remove("grants", entry.key)


def _list_grants(world: World, app_id: str, user_id: str) -> list[Entry]:
    found = world.store.page("grants", {"app_id": app_id, "user_id": user_id})
    return [entry for entry in found if entry.record.get("scopes") is None]


def build_callback(callback: str, **parameters: str) -> str:
    """Return a callback address with parameters added: after its query, before its fragment.

    Works on the text, because general URL functions rewrite addresses of custom schemes.
    """
    address, mark, fragment = callback.partition("#")
    joint = "&" if "?" in address else "?"
    if address.endswith(("?", "&")):
        joint = ""
    # Encode what a header may not contain: a callback can have been stored unchecked.
    return quote(f"{address}{joint}{urlencode(parameters)}{mark}{fragment}", safe=_PRINTABLE)


def _make_grant_key(app_id: str, user_id: str) -> str:
    return f"{app_id}-{user_id}"
