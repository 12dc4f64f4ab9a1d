"""New access tokens on request, like the button in the developer portal."""

from __future__ import annotations

from typing import Any

from mock_platform.consent import access_tokens, authorizations
from mock_platform.consent.authorize_request import find_scope_fault
from mock_platform.control.refusal import ControlRefusal
from mock_platform.control.route import ControlRequest
from mock_platform.core.auth.lookup import find_app, first
from mock_platform.core.auth.scopes import SCOPES
from mock_platform.core.fields import Choice, ListOf, Text
from mock_platform.core.hints import did_you_mean
from mock_platform.core.schema import Schema
from mock_platform.store.interface import Record
from mock_platform.world.world import World


class RegenerateBody(Schema):
    """The kind of token, the app and the user; by default those of the test credentials."""

    kind = Choice(("oauth1", "oauth2"), load_default="oauth1")
    scopes = ListOf(
        Text(), metadata={"description": "scopes of an OAuth 2.0 token; default: all of them"}
    )

    app = Text(metadata={"description": "id or consumer key of an app; default: the first one"})
    user = Text(metadata={"description": "id or screen name of a user; default: the first one"})


class RegenerateAnswer(Schema):
    """The new tokens, and the access tokens that are invalid from now on."""

    app_id = Text(required=True)
    user_id = Text(required=True)
    screen_name = Text(required=True)
    access_token = Text(required=True)
    access_token_secret = Text(
        required=True, allow_none=True, metadata={"description": "of OAuth 1.0a"}
    )
    refresh_token = Text(
        required=True,
        allow_none=True,
        metadata={"description": "of OAuth 2.0, with offline.access"},
    )
    scopes = ListOf(Text(), required=True, metadata={"description": "of OAuth 2.0"})
    invalidated = ListOf(Text(), required=True)


def regenerate(request: ControlRequest) -> dict[str, Any]:
    """Issue a new access token to an app for a user, and invalidate the old ones of its kind."""
    world, body = request.world, request.body
    scopes = tuple(body.get("scopes", SCOPES))
    fault = find_scope_fault(scopes)
    if fault or ("scopes" in body and body["kind"] != "oauth2"):
        text = fault or 'scopes are for OAuth 2.0 tokens: send "kind": "oauth2" with them.'
        raise ControlRefusal(422, text)
    with world.work():
        app = _find_app(world, body.get("app"))
        user = _find_user(world, body.get("user"))
        made = _make_pair(world, app, user) if body["kind"] == "oauth1" else None
        made = made or _make_user_tokens(world, app, user, scopes)
    return {
        "app_id": app["id"],
        "user_id": user["id"],
        "screen_name": user["screen_name"],
        **made,
    }


def _make_pair(world: World, app: Record, user: Record) -> dict[str, Any]:
    held = access_tokens.find_held(world, app, user)
    if held:
        access = "write" if any(token["access"] == "write" for token in held) else "read"
    else:
        access = "write" if "write" in app["_permissions"] else "read"
    token, invalidated = access_tokens.regenerate(world, app, user, access)
    return {
        "access_token": token["id"],
        "access_token_secret": token["secret"],
        "refresh_token": None,
        "scopes": [],
        "invalidated": invalidated,
    }


def _make_user_tokens(
    world: World, app: Record, user: Record, scopes: tuple[str, ...]
) -> dict[str, Any]:
    invalidated = authorizations.end_all(world, app, user)
    token, refresh = authorizations.issue_tokens(world, app, user, scopes)
    authorizations.remember(world, app, user, scopes)
    return {
        "access_token": token["id"],
        "access_token_secret": None,
        "refresh_token": None if refresh is None else refresh["id"],
        "scopes": list(scopes),
        "invalidated": invalidated,
    }


def _find_app(world: World, name: str | None) -> Record:
    if name is None:
        found = first(world, "apps", {})
    else:
        found = world.store.get("apps", name) or find_app(world, name)
    if found is None:
        records = [entry.record for entry in world.store.page("apps")]
        raise _refuse_unknown("app", name, [app["id"] for app in records], "id or consumer key")
    return found


def _find_user(world: World, name: str | None) -> Record:
    if name is None:
        found = first(world, "users", {})
    else:
        found = world.store.get("users", name) or first(world, "users", {"screen_name": name})
    if found is None:
        records = [entry.record for entry in world.store.page("users", limit=1000)]
        names = [user["screen_name"] for user in records]
        raise _refuse_unknown("user", name, names, "id or screen name")
    return found


def _refuse_unknown(what: str, name: str | None, known: list[str], by: str) -> ControlRefusal:
    if name is None:
        return ControlRefusal(404, f"This world has no {what}; first add one to its table {what}s.")
    shown = ", ".join(known[:10]) or "none"
    return ControlRefusal(
        404, f"No {what} has the {by} {name!r}.{did_you_mean(name, known)} Known: {shown}."
    )
