"""What testers use without a browser: credentials as text for shells, and a user's answer.

Commands that only print load nothing else.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

Credentials = dict[str, Any]
"""What `GET /_mock/credentials` answers."""

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


def environment(found: Credentials) -> dict[str, str]:
    """Return credentials as environment variables, `MOCK_PLATFORM_CONSUMER_KEY` and so on.

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
    """Return credentials as `NAME=value` lines for a shell."""
    return "".join(f"{name}={shlex.quote(v)}\n" for name, v in environment(found).items())


def shell_text(found: Credentials, url: str) -> str:
    """Return credentials and the addresses at `url` as `export NAME=value` lines for a shell."""
    own = {"MOCK_PLATFORM_URL": url, "MOCK_PLATFORM_SANDBOX_URL": f"{url}/sandbox"}
    variables = own | environment(found)
    return "".join(f"export {name}={shlex.quote(v)}\n" for name, v in variables.items())


class CannotApprove(ValueError):
    """A request that no user can allow or deny; the text says why."""


def is_address(asked: str) -> bool:
    """Return whether this is the address of a page, not a request token."""
    return "?" in asked or "://" in asked


def choose_answer(asked: str, found: Mapping[str, Any], *, deny: bool) -> str:
    """Return what a test wants of an approval: the verifier of a token, else the redirect."""
    wanted = "redirect" if deny or is_address(asked) else "verifier"
    return str(found[wanted] or "")
