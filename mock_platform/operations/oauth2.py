"""OAuth 2.0 app-only: bearer token creation and revocation (document A, `/oauth2`)."""

from __future__ import annotations

from marshmallow import Schema

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.authenticate import Auth, first
from mock_platform.core.call import Call
from mock_platform.core.envelope import NO_CACHE, Flat
from mock_platform.core.errors import NumericFailure
from mock_platform.core.fields import Text
from mock_platform.core.operation import Location, Operation
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store import Record
from mock_platform.world.world import World

FAILURES = public_fact(
    "oauth2.failures-code-99",
    "Missing or other grant_type, wrong key or secret, and an unknown or revoked bearer token all "
    "answer 403 with code 99.",
    "section 4, oauth2/token failure",
)
QUERY = public_fact(
    "oauth2.parameters-in-query",
    "Parameters of the /oauth2 endpoints are taken from the query as well as from the form.",
    "section 4",
)
INVALIDATE = public_fact(
    "oauth2.invalidate-access-token",
    "oauth2/invalidate_token takes the bearer token as access_token, in form or query, and answers "
    "with it; the spec shows neither.",
    "section 4, oauth2/invalidate_token",
    gap=True,
)
EITHER_AUTH = public_fact(
    "oauth2.invalidate-auth",
    "oauth2/invalidate_token takes Basic, or OAuth 1.0a with the app's keys and its owner's token: "
    "the public pages contradict each other.",
    "section 4, oauth2/invalidate_token",
)
FREQUENT = expectation(
    "oauth2.too-frequent-threshold",
    "How often is too frequent is not shown; it is a setting (--bearer-threshold), off by default.",
)


def _unverified() -> NumericFailure:
    return NumericFailure(99)


CLIENT = Auth(("basic",), (FAILURES,), on_failure=_unverified)
CLIENT_OR_OWNER = Auth(("basic", "oauth1"), (FAILURES, EITHER_AUTH), on_failure=_unverified)


class TokenRequest(Schema):
    """Parameters of oauth2/token."""

    grant_type = Text(metadata={"description": "only client_credentials is allowed"})


class BearerToken(Schema):
    """The bearer token payload of document A."""

    token_type = Text(required=True)
    access_token = Text(required=True)


class InvalidateRequest(Schema):
    """Parameters of oauth2/invalidate_token."""

    access_token = Text()


class InvalidatedToken(Schema):
    """The token that was revoked."""

    access_token = Text(required=True)


def token(call: Call, world: World) -> dict[str, str]:
    """Create the app's bearer token, or give the outstanding one again."""
    if call.params.get("grant_type") != "client_credentials":
        call.assume(FAILURES)
        raise NumericFailure(99)
    app = call.caller.app
    assert app is not None
    found = outstanding(world, app) or _issue(world, app)
    return {"token_type": "bearer", "access_token": found["id"]}


def invalidate_token(call: Call, world: World) -> dict[str, str]:
    """Revoke the app's bearer token for good."""
    app = call.caller.app
    assert app is not None
    value = call.params.get("access_token")
    found = world.store.get("tokens", value) if value else None
    # Clients send the token as they received it, still percent-encoded, or decoded once too often.
    if found is None or found["app_id"] != app["id"] or found["kind"] != "bearer":
        call.assume(FAILURES)
        raise NumericFailure(99)
    if found["state"] != "active":
        call.assume(FAILURES)
        raise NumericFailure(99)
    world.store.put("tokens", found["id"], found | {"state": "invalidated"})
    return {"access_token": found["id"]}


def outstanding(world: World, app: Record) -> Record | None:
    """The app's one outstanding bearer token."""
    return first(world, "tokens", {"app_id": app["id"], "kind": "bearer", "state": "active"})


def _issue(world: World, app: Record) -> Record:
    value = f"AAAAAAAAAAAAAAAAAAAAA{world.ids.alphanumeric(24)}%2F{world.ids.alphanumeric(48)}%3D"
    record = {
        "id": value,
        "kind": "bearer",
        "state": "active",
        "secret": None,
        "app_id": app["id"],
        "user_id": None,
        "access": "write",
        "created_at": wire_seconds(world.clock.now()),
        "callback": None,
        "verifier": None,
    }
    world.store.put("tokens", value, record)
    return record


OPERATIONS = (
    Operation(
        id="oauth2.token",
        method="POST",
        path="/oauth2/token",
        handler=token,
        summary="Create the app's bearer token",
        spec="A, Endpoints: POST {base_url}/oauth2/token",
        params=TokenRequest,
        location=Location.QUERY,
        returns=Flat(BearerToken, headers=tuple(NO_CACHE)),
        auth=CLIENT,
        errors=("99",),
        statuses=(403,),
        oauth_step=True,
        may_assume=(QUERY, FREQUENT),
    ),
    Operation(
        id="oauth2.invalidate_token",
        method="POST",
        path="/oauth2/invalidate_token",
        handler=invalidate_token,
        summary="Revoke a bearer token",
        spec="A, Endpoints: POST {base_url}/oauth2/invalidate_token",
        params=InvalidateRequest,
        location=Location.QUERY,
        returns=Flat(InvalidatedToken, headers=tuple(NO_CACHE)),
        auth=CLIENT_OR_OWNER,
        errors=("99",),
        statuses=(403,),
        oauth_step=True,
        assumptions=(INVALIDATE,),
        may_assume=(QUERY,),
    ),
)
