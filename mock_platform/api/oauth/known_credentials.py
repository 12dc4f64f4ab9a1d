"""The published test credentials of a world: one app, one user, and their tokens and accounts.

The control plane, the command line and the Python interface return the same ones (interfaces,
section 5).
"""

from __future__ import annotations

from typing import Any

from mock_platform.core.auth.lookup import first
from mock_platform.core.auth.tester_access import Credentials
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_APP_KEYS = (
    "id", "consumer_key", "consumer_secret", "client_id", "client_secret", "callback_urls",
)  # fmt: skip


def credentials(world: World) -> Credentials:
    """Return the credentials of a world: its first app and user.

    A value that the world does not have (any more) is null, and `accounts` is empty.
    """
    with world.lock:
        app = first(world, "apps", {})
        user = first(world, "users", {})
        access = oauth2 = bearer = webhook = None
        if app is not None:
            mine = {"app_id": app["id"], "state": "active"}
            bearer = first(world, "tokens", {**mine, "kind": "bearer"})
            webhook = first(world, "webhooks", {"_app_id": app["id"]})
            if user is not None:
                of_user = {**mine, "user_id": user["id"]}
                access = first(world, "tokens", {**of_user, "kind": "access"})
                oauth2 = first(world, "tokens", {**of_user, "kind": "oauth2"})
        return {
            "app": None if app is None else _app(app),
            "user": None if user is None else _user(user, access, oauth2),
            "bearer_token": None if bearer is None else bearer["id"],
            "accounts": [] if user is None else _accounts(world, user["id"]),
            "webhook_id": None if webhook is None else webhook["id"],
        }


def _app(app: Record) -> dict[str, Any]:
    return {key: app[key] for key in _APP_KEYS}


def _user(user: Record, access: Record | None, oauth2: Record | None) -> dict[str, Any]:
    return {
        "id": user["id"],
        "screen_name": user["screen_name"],
        "password": user["_password"],
        "access_token": None if access is None else access["id"],
        "access_token_secret": None if access is None else access["secret"],
        "oauth2_access_token": None if oauth2 is None else oauth2["id"],
    }


def _accounts(world: World, user_id: str) -> list[str]:
    return [
        entry.key
        for entry in world.store.page("accounts")
        if user_id in entry.record["_users"] and not entry.record["deleted"]
    ]
