"""The published test credentials of a world: one app, one user, and their tokens and accounts.

The control plane, the command line and the Python interface return the same ones (interfaces,
section 5).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from mock_platform.core.auth.authenticate import first
from mock_platform.platform import Platform
from mock_platform.store.interface import Record
from mock_platform.world.world import World

Credentials = dict[str, Any]

_APP_KEYS = (
    "id", "consumer_key", "consumer_secret", "client_id", "client_secret", "callback_urls",
)  # fmt: skip
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "CONSUMER_KEY": ("app", "consumer_key"),
    "CONSUMER_SECRET": ("app", "consumer_secret"),
    "ACCESS_TOKEN": ("user", "access_token"),
    "ACCESS_TOKEN_SECRET": ("user", "access_token_secret"),
    "CLIENT_ID": ("app", "client_id"),
    "CLIENT_SECRET": ("app", "client_secret"),
    "OAUTH2_ACCESS_TOKEN": ("user", "oauth2_access_token"),
    "BEARER_TOKEN": ("bearer_token",),
    "ACCOUNT_ID": ("accounts",),
    "USER_ID": ("user", "id"),
    "WEBHOOK_ID": ("webhook_id",),
}


def credentials(platform: Platform, world: World | None = None) -> Credentials:
    """Returns the credentials of a world, by default the default one: its first app and user.

    A value that the world does not have (any more) is null, and `accounts` is empty.
    """
    world = world or platform.worlds.default
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


def environment(found: Credentials) -> dict[str, str]:
    """Returns credentials as environment variables, `MOCK_PLATFORM_CONSUMER_KEY` and so on.

    Missing credentials are left out; of several accounts the first one is used.
    """
    variables = {}
    for name, steps in _VARIABLES.items():
        value: Any = found
        for step in steps:
            value = None if value is None else value[step]
        if isinstance(value, list):
            value = value[0] if value else None
        if value is not None:
            variables[f"MOCK_PLATFORM_{name}"] = str(value)
    return variables


def environment_text(found: Credentials) -> str:
    """Returns credentials as `NAME=value` lines for a shell."""
    return "".join(f"{name}={shlex.quote(v)}\n" for name, v in environment(found).items())


def shell_text(found: Credentials, url: str) -> str:
    """Returns credentials and the addresses at `url` as `export NAME=value` lines for a shell."""
    own = {"MOCK_PLATFORM_URL": url, "MOCK_PLATFORM_SANDBOX_URL": f"{url}/sandbox"}
    variables = own | environment(found)
    return "".join(f"export {name}={shlex.quote(v)}\n" for name, v in variables.items())


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
