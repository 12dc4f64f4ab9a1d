"""Request tokens and access tokens of OAuth 1.0a: their life, and what an answer creates.

It goes `pending`, then `granted` or `denied` by the user, then `used` by the exchange (spec A,
"States and transitions: Credential life cycle").
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote, urlencode

from mock_platform.api.oauth.consent.pages import OUT_OF_BAND
from mock_platform.api.oauth.records import REQUEST_TOKEN_SECONDS
from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.store.interface import Entry, Record
from mock_platform.world.world import World

REQUEST_TOKEN_LIFETIME = expectation(
    "oauth.request-token-lifetime",
    f"A request token that was not exchanged within {REQUEST_TOKEN_SECONDS} seconds on the world's "
    "clock has expired; the spec states no lifetime. Access tokens do not expire.",
)
TOKEN_SHAPES = public_fact(
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


def issue_request_token(world: World, app: Record, callback: str, access: str) -> Record:
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
    """Return whether a request token is older than `REQUEST_TOKEN_SECONDS`."""
    age = world.clock.now() - parse_instant(token["created_at"])
    return age >= timedelta(seconds=REQUEST_TOKEN_SECONDS)


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


# The access tokens that apps hold for users: the pair that a sign-in returns, and new ones. An
# app holds one valid pair for a user. Signing in again returns it; regenerating it, as the
# button of the developers' portal does, invalidates it and issues another (spec A,
# "Authentication", rule 4).

SAME_PAIR_AGAIN = settled(
    "oauth.held-pair",
    "When a user allows an app again, the app gets the token and secret that are still valid for "
    "the two; they may do what the user allowed now. A new pair is issued once the old one was "
    "invalidated, by POST /_mock/credentials/regenerate, or with --fresh-tokens.",
    "A, Authentication, rule 4",
)
REGENERATED_PAIR = settled(
    "oauth.regenerated-pair",
    "With --fresh-tokens every exchange issues a new pair and invalidates the one that the same "
    "app held for the same user: the other reading of regenerating.",
    "A, Authentication, rule 4",
)


def sign_in(world: World, app: Record, user: Record, access: str) -> tuple[Record, bool]:
    """Return the access token of an app for a user, and whether the app already held it.

    `access` is what the user allowed now, `read` or `write`.
    """
    held = find_held(world, app, user)
    if not held:
        return issue_access_token(world, app, user, access), False
    token = held[0]
    if token["access"] != access:
        token = token | {"access": access}
        world.store.put("tokens", token["id"], token)
    return token, True


def regenerate(world: World, app: Record, user: Record, access: str) -> tuple[Record, list[str]]:
    """Replace the valid access tokens by a new one; return it and the ids of the old ones."""
    before = find_held(world, app, user)
    for token in before:
        world.store.put("tokens", token["id"], token | {"state": "invalidated"})
    return issue_access_token(world, app, user, access), [token["id"] for token in before]


def find_held(world: World, app: Record, user: Record) -> list[Record]:
    """Return the valid access tokens of an app for a user, the oldest first."""
    match = {"kind": "access", "state": "active", "app_id": app["id"], "user_id": user["id"]}
    return [entry.record for entry in world.store.page("tokens", match)]


def issue_access_token(world: World, app: Record, user: Record, access: str) -> Record:
    """Create and store an access token of an app for a user."""
    token = {
        "id": f"{user['id']}-{world.ids.alphanumeric(40)}",
        "kind": "access",
        "state": "active",
        "secret": world.ids.alphanumeric(41),
        "app_id": app["id"],
        "user_id": user["id"],
        "access": access,
        "created_at": wire_seconds(world.clock.now()),
        "callback": None,
        "verifier": None,
    }
    world.store.put("tokens", token["id"], token)
    return token


# Revocations: a user takes an app's access back, and the app hears of it.

EVENT = "oauth.revoke"
REVOKE_EVENT = public_fact(
    "oauth.revoke-event",
    "When the access of an app to a user ends, by oauth2/revoke or by invalidate_token, the app's "
    "own subscriptions to oauth.revoke get the event.",
    "section 3.3 of the named endpoints",
)


def record_revocation(world: World, app_id: str, user_id: str) -> FanOut:
    """Record that a user took an app's access back; what reaches the app ends with it.

    Called after the token has ended, within `world.work()`.
    """
    payload = make_revocation(world, app_id, user_id)
    return record_activity(world, EVENT, user_id=user_id, payload=payload)


def make_revocation(world: World, app_id: str, user_id: str) -> dict[str, str]:
    """Return the payload of the event."""
    moment = f"{world.clock.now():%Y-%m-%dT%H:%M:%S}+00:00"
    return {"date_time": moment, "user_id": user_id, "app_id": app_id}


def end_access(world: World, app_id: str, user_id: str) -> None:
    """Invalidate all tokens that an app has of a user, and remove what the user granted it."""
    match = {"app_id": app_id, "user_id": user_id}
    for entry in world.store.page("tokens", match | {"state": "active"}):
        world.store.put("tokens", entry.key, entry.record | {"state": "invalidated"})
    for entry in world.store.page("grants", match):
        world.store.remove("grants", entry.key)
