"""OAuth 2.0 app-only: bearer token creation and revocation (document A, `/oauth2`)."""

from __future__ import annotations

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.auth.lookup import find_bearer
from mock_platform.core.call import Call
from mock_platform.core.envelope import NO_CACHE, Flat
from mock_platform.core.failures.errors import Failure, NumericFailure
from mock_platform.core.fields import Text
from mock_platform.core.operation import PUBLISHED_BEARER_TOKEN, Example, Limit, Location, Operation
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

APP_TOKEN_FAILURES = public_fact(
    "oauth2.failures-code-99",
    "Missing or other grant_type, wrong key or secret, and an unknown or revoked bearer token all "
    "answer 403 with code 99.",
    "section 4, oauth2/token failure",
)
PARAMETERS_IN_QUERY = public_fact(
    "oauth2.parameters-in-query",
    "Parameters of the /oauth2 endpoints are taken from the query as well as from the form.",
    "section 4",
)
INVALIDATE_APP_TOKEN = public_fact(
    "oauth2.invalidate-access-token",
    "oauth2/invalidate_token takes the bearer token as access_token, in form or query, and answers "
    "with it; the spec shows neither.",
    "section 4, oauth2/invalidate_token",
    gap=True,
)
EITHER_AUTH = public_fact(
    "oauth2.invalidate-auth",
    "oauth2/invalidate_token takes Basic, or OAuth 1.0a with the app's keys and the token of its "
    "owner (no other user's): the public pages contradict each other.",
    "section 4, oauth2/invalidate_token",
)
TOO_FREQUENT = expectation(
    "oauth2.too-frequent-threshold",
    "How often is too frequent is not shown; it is a setting (--bearer-threshold), off by default.",
)


def _make_unverified_failure(fault: Failure | None = None) -> NumericFailure:
    """Return code 99 for a case where the spec does not show it: all but too frequent requests."""
    failure = NumericFailure(99)
    failure.assumptions = (APP_TOKEN_FAILURES,)
    return failure


def _make_refusal(call: Call, mistake: str, explanation: str) -> NumericFailure:
    call.diagnosis = {"mistake": mistake, "explanation": explanation}
    return _make_unverified_failure()


def _make_too_frequent_failure() -> NumericFailure:
    return NumericFailure(99)


def _make_threshold(settings: Settings) -> tuple[Limit, ...]:
    if settings.bearer_threshold is None:
        return ()
    limit = Limit(
        "bearer_threshold",
        settings.bearer_threshold,
        settings.bearer_window,
        per="app",
        assumptions=(TOO_FREQUENT,),
        refusal=_make_too_frequent_failure,
    )
    return (limit,)


CLIENT = Auth(("basic",), (APP_TOKEN_FAILURES,), on_failure=_make_unverified_failure)
CLIENT_OR_OWNER = Auth(
    ("basic", "oauth1"), (APP_TOKEN_FAILURES, EITHER_AUTH), on_failure=_make_unverified_failure
)


class TokenRequest(Schema):
    """Parameters of the address oauth2/token."""

    grant_type = Text(
        metadata={
            "description": "only client_credentials is allowed",
            "enum": ["client_credentials"],
            "x_required": True,
        }
    )


class BearerToken(Schema):
    """The bearer token payload of document A."""

    token_type = Text(required=True)
    access_token = Text(required=True)


class InvalidateRequest(Schema):
    """Parameters of the address oauth2/invalidate_token."""

    access_token = Text()


class Oauth2InvalidatedToken(Schema):
    """The token that was revoked."""

    access_token = Text(required=True)


def token(call: Call, world: World) -> dict[str, str]:
    """Return the app's valid bearer token; create one if it has none."""
    app = call.caller.app
    assert app is not None
    if _is_in_query(call, "grant_type"):
        call.assume(PARAMETERS_IN_QUERY)
    given = call.params.get("grant_type")
    if given != "client_credentials":
        raise _make_refusal(
            call, "grant_type", f"grant_type must be client_credentials, got {given!r}"
        )
    found = find_outstanding(world, app) or _issue(world, app)
    return {"token_type": "bearer", "access_token": found["id"]}


def invalidate_token(call: Call, world: World) -> dict[str, str]:
    """Revoke the app's bearer token permanently."""
    app = call.caller.app
    assert app is not None
    user = call.caller.user
    if call.caller.scheme == "oauth1":
        call.assume(EITHER_AUTH)
        if not call.caller.assumed and (user is None or user["id"] != app.get("_owner_user_id")):
            raise _make_refusal(
                call, "owner", "the OAuth 1.0a token is not that of the app's owner"
            )
    if _is_in_query(call, "access_token"):
        call.assume(PARAMETERS_IN_QUERY)
    # Clients send the token percent-encoded, as they received it, or decoded once too often.
    found = find_bearer(call, world, call.params.get("access_token", ""))
    if found is None or found["app_id"] != app["id"] or found["state"] != "active":
        why = "access_token is not an outstanding bearer token of this app"
        raise _make_refusal(call, "access_token", why)
    world.store.put("tokens", found["id"], found | {"state": "invalidated"})
    return {"access_token": found["id"]}


def _is_in_query(call: Call, name: str) -> bool:
    return any(key == name for key, _ in call.query)


def find_outstanding(world: World, app: Record) -> Record | None:
    """Return the app's one valid bearer token, if any."""
    return world.store.first("tokens", {"app_id": app["id"], "kind": "bearer", "state": "active"})


def _issue(world: World, app: Record) -> Record:
    head, middle, tail = map(world.ids.alphanumeric, (24, 10, 50))
    value = f"AAAAAAAAAAAAAAAAAAAAA{head}%2F{middle}%3D{tail}"
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
        set_limits=_make_threshold,
        may_assume=(PARAMETERS_IN_QUERY, TOO_FREQUENT),
        example=Example(form={"grant_type": "client_credentials"}),
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
        returns=Flat(Oauth2InvalidatedToken, headers=tuple(NO_CACHE)),
        auth=CLIENT_OR_OWNER,
        errors=("99",),
        statuses=(403,),
        oauth_step=True,
        assumptions=(INVALIDATE_APP_TOKEN,),
        may_assume=(PARAMETERS_IN_QUERY,),
        example=Example(form={"access_token": PUBLISHED_BEARER_TOKEN}),
    ),
)
