"""A user's consent without a browser: the login pages as one request."""

from __future__ import annotations

from typing import Any

from mock_platform.api.oauth.consent import authorizations, tokens
from mock_platform.api.oauth.consent.authorizations import find_scope_fault
from mock_platform.api.oauth.tester_access import approve
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.auth.lookup import find_app
from mock_platform.core.auth.oauth2 import SCOPES
from mock_platform.core.errors import did_you_mean
from mock_platform.core.fields import Choice, Flag, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


class ApproveBody(Schema):
    """What the app asks for, as a request token or as the address of the page, and the user."""

    oauth_token = Text(metadata={"description": "a request token of OAuth 1.0a"})
    url = Text(
        metadata={
            "description": "the address to which the app sends its user: oauth/authorize, "
            "oauth/authenticate, or oauth2/authorize with its parameters"
        }
    )
    user = Text(metadata={"description": "id or screen name of a user; default: the first one"})
    deny = Flag(load_default=False, metadata={"description": "true: the user denies"})


class ApproveAnswer(Schema):
    """What the browser would carry back to the app."""

    redirect = Text(required=True, allow_none=True)
    verifier = Text(required=True, allow_none=True)
    code = Text(required=True, allow_none=True)


def approve_request(request: ControlRequest) -> dict[str, Any]:
    """Let a user allow or deny an app, without the pages."""
    body = request.body
    asked = [body[name] for name in ("oauth_token", "url") if name in body]
    if len(asked) != 1:
        text = (
            "Send either oauth_token, a request token of OAuth 1.0a, or url, the address to which "
            "the app sends its user."
        )
        raise ControlRefusal(422, text)
    world = request.world
    with world.work():
        found = approve(world, asked[0], user=body.get("user"), deny=body["deny"])
    return found.as_json()


# New access tokens on request, like the button in the developer portal.


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
    held = tokens.find_held(world, app, user)
    if held:
        access = "write" if any(token["access"] == "write" for token in held) else "read"
    else:
        access = "write" if "write" in app["_permissions"] else "read"
    token, invalidated = tokens.regenerate(world, app, user, access)
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
        found = world.store.first("apps")
    else:
        found = world.store.get("apps", name) or find_app(world, name)
    if found is None:
        records = [entry.record for entry in world.store.page("apps")]
        raise _refuse_unknown("app", name, [app["id"] for app in records], "id or consumer key")
    return found


def _find_user(world: World, name: str | None) -> Record:
    if name is None:
        found = world.store.first("users")
    else:
        found = world.store.get("users", name) or world.store.first("users", {"screen_name": name})
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


ROUTES = (
    Route(
        "POST", "/credentials/regenerate", regenerate, body=RegenerateBody, returns=RegenerateAnswer
    ),
    Route("POST", "/oauth/approve", approve_request, body=ApproveBody, returns=ApproveAnswer),
)
