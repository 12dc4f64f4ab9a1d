"""The access tokens that apps hold for users: the pair that a sign-in returns, and new ones.

An app holds one valid pair for a user. Signing in again returns it; regenerating it, as the button
of the developers' portal does, invalidates it and issues another (spec A, "Authentication", rule
4).
"""

from __future__ import annotations

from mock_platform.core.assumptions import settled
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_seconds
from mock_platform.world.world import World

HELD = settled(
    "oauth.held-pair",
    "When a user allows an app again, the app gets the token and secret that are still valid for "
    "the two; they may do what the user allowed now. A new pair is issued once the old one was "
    "invalidated, by POST /_mock/credentials/regenerate, or with --fresh-tokens.",
    "A, Authentication, rule 4",
)
REGENERATED = settled(
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
        return issue(world, app, user, access), False
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
    return issue(world, app, user, access), [token["id"] for token in before]


def find_held(world: World, app: Record, user: Record) -> list[Record]:
    """Return the valid access tokens of an app for a user, the oldest first."""
    match = {"kind": "access", "state": "active", "app_id": app["id"], "user_id": user["id"]}
    return [entry.record for entry in world.store.page("tokens", match)]


def issue(world: World, app: Record, user: Record, access: str) -> Record:
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
