"""OAuth 1.0a, three-legged: request token, the user's answer, access token, revocation (spec A).

Here is what apps call; the pages of the user are in `authorize_pages`.
"""

from __future__ import annotations

import hmac

from msgspec.structs import replace

from mock_platform.api.oauth.consent import tokens
from mock_platform.api.oauth.consent.pages import OUT_OF_BAND
from mock_platform.api.oauth.consent.tokens import REVOKE_EVENT, record_revocation
from mock_platform.api.v2.activity.account_activity_delivery import REVOKED_ACCESS
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import USER, Auth
from mock_platform.core.auth.oauth1_caller import LOOSE_EXCHANGE
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat, Pairwise
from mock_platform.core.errors import find_nearest
from mock_platform.core.failures.errors import (
    OAUTH_CODES,
    Failure,
    NumericFailure,
    PlainFailure,
    Unauthorized,
    UnsupportedAuthentication,
)
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import (
    NEW_VERIFIER,
    PUBLISHED_CALLBACK,
    Example,
    Handler,
    Location,
    Operation,
    Origin,
)
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FORM_ENCODED = public_fact(
    "oauth.form-encoded-answers",
    "Request and access tokens are answered with Content-Type text/html and headers that forbid "
    "caching.",
    "section 4, request_token 200",
)
CALLBACK_NOT_APPROVED = public_fact(
    "oauth.callback-not-approved",
    "oauth_callback must equal one of the app's callback_urls, character by character, or be oob, "
    "which needs one registered as well; otherwise 403 with code 415.",
    "section 4, callback not registered",
)
NO_CALLBACK = public_fact(
    "oauth.callback-as-recorded",
    "With --wire recorded, a request token without oauth_callback is an out-of-band one, as "
    "programs that run against the real service show.",
    "section 4, request_token 200",
)
ACCESS_LEVEL = expectation(
    "oauth.access-level",
    "A token never allows more than the app's _permissions: x_auth_access_type=write does not let "
    "an app write that may only read.",
)
REQUEST_TOKEN_AGAIN = expectation(
    "oauth.request-token-again",
    "request_token takes a request signed with an earlier request token of the app: clients that "
    "start over with the same object send it.",
)
PLAIN_REFUSALS = public_fact(
    "oauth.access-token-refusals",
    "access_token refuses in plain text with 401: 'Invalid request token.' for one that is "
    "missing, unknown, used, denied or expired, 'Invalid oauth_verifier parameter' for a verifier "
    "that is missing or wrong. A wrong verifier does not use the request token up.",
    "section 4, access_token",
)
INVALIDATE_ANSWER = public_fact(
    "oauth.invalidate-answer",
    "invalidate_token answers with the token that it invalidated.",
    "section 4, invalidate_token",
)
GRANT_ENDS = expectation(
    "oauth.invalidate-ends-grant",
    "Invalidating an access token removes the user's grant to the app, so that authenticate "
    "asks again.",
)
ASKED_WITH_GET = expectation(
    "oauth.get",
    "request_token and access_token take GET as well, with the same parameters and answers: older "
    "libraries and samples of the vendor ask so.",
    gap=True,
)
APP = Auth(("oauth1-app", "oauth1-request-token"), (REQUEST_TOKEN_AGAIN,))


def _translate_refusal(fault: Failure) -> Failure:
    unknown = isinstance(fault, Unauthorized) and fault.fault in {"token", "no-token", "revoked"}
    if unknown or isinstance(fault, UnsupportedAuthentication):
        return _make_invalid_request_token()
    return fault


def _make_invalid_request_token() -> PlainFailure:
    return PlainFailure(401, "Invalid request token.", PLAIN_REFUSALS)


REQUEST_TOKEN = Auth(("oauth1-request-token",), on_failure=_translate_refusal)


class RequestTokenRequest(Schema):
    """Parameters of the address oauth/request_token."""

    oauth_callback = Text(
        metadata={
            "description": "a registered callback, or oob for out-of-band PIN mode",
            "x_required": True,
        },
    )
    x_auth_access_type = Choice(
        ("read", "write"), metadata={"description": "overrides the requested access level"}
    )


class RequestToken(Schema):
    """The request token payload of document A."""

    oauth_token = Text(required=True)
    oauth_token_secret = Text(required=True)
    oauth_callback_confirmed = Text(required=True)


class AccessTokenRequest(Schema):
    """Parameters of oauth/access_token; `oauth_token` is part of the signature."""

    oauth_verifier = Text(
        metadata={"description": "verifier of the callback, or the PIN", "x_required": True}
    )


class AccessToken(Schema):
    """The access token payload of document A."""

    oauth_token = Text(required=True)
    oauth_token_secret = Text(required=True)
    user_id = Text(required=True)
    screen_name = Text(required=True)


class InvalidatedToken(Schema):
    """The access token that was invalidated."""

    access_token = Text(required=True)


def request_token(call: Call, world: World) -> dict[str, str]:
    """Issue a request token for a callback that the app registered, or for out-of-band mode."""
    app = call.caller.app
    assert app is not None
    callback = call.params.get("oauth_callback")
    if callback is None and call.wire == "recorded":
        callback = OUT_OF_BAND
        call.assume(NO_CALLBACK)
        call.warn("oauth_callback is required; the request token without it was made for oob")
    if not callback:
        raise NumericFailure(38, "oauth_callback parameter is missing.")
    if not call.caller.assumed:
        _check_callback(call, app, callback)
    wanted = call.params.get("x_auth_access_type")
    allowed = "write" if "write" in app["_permissions"] else "read"
    if wanted is not None:
        call.assume(ACCESS_LEVEL)
    if wanted == "write" and allowed == "read":
        text = f"app {app['id']} may only read (_permissions); x_auth_access_type=write ignored"
        call.warn(text, NO_EFFECT)
    access = "read" if wanted == "read" else allowed
    token = tokens.issue_request_token(world, app, callback, access)
    return {
        "oauth_token": token["id"],
        "oauth_token_secret": token["secret"],
        "oauth_callback_confirmed": "true",
    }


def access_token(call: Call, world: World) -> dict[str, str]:
    """Exchange a granted request token, once, for the access token of the user who granted it."""
    app, user, access = _use_up(call, world)
    token, held = tokens.sign_in(world, app, user, access)
    if held:
        call.assume(tokens.SAME_PAIR_AGAIN)
    return _make_pair(token, user)


def fresh_access_token(call: Call, world: World) -> dict[str, str]:
    """Exchange a request token under `--fresh-tokens`: invalidates the pair that the app held."""
    app, user, access = _use_up(call, world)
    token, invalidated = tokens.regenerate(world, app, user, access)
    if invalidated:
        call.assume(tokens.REGENERATED_PAIR)
    return _make_pair(token, user)


def _choose_exchange(settings: Settings) -> Handler:
    return fresh_access_token if settings.fresh_tokens else access_token


def _use_up(call: Call, world: World) -> tuple[Record, Record, str]:
    """Mark the request token as used; return the app, the user who granted it, and the access."""
    app, token = call.caller.app, call.caller.token
    assert app is not None
    user = _require_granting_user(call, world, token)
    if token is None:
        return app, user, "write"
    world.store.put("tokens", token["id"], token | {"state": "used", "verifier": None})
    tokens.remember(world, token, user)
    return app, user, token["access"]


def _make_pair(token: Record, user: Record) -> dict[str, str]:
    return {
        "oauth_token": token["id"],
        "oauth_token_secret": token["secret"],
        "user_id": user["id"],
        "screen_name": user["screen_name"],
    }


def invalidate_token(call: Call, world: World) -> dict[str, str]:
    """Invalidate the access token that the request is signed with."""
    token = call.caller.token
    if token is None:  # only --auth off lets a call without a token reach this
        raise NumericFailure(89)
    world.store.put("tokens", token["id"], token | {"state": "invalidated"})
    tokens.forget(world, token["app_id"], token["user_id"])
    record_revocation(world, token["app_id"], token["user_id"])
    return {"access_token": token["id"]}


def _check_callback(call: Call, app: Record, callback: str) -> None:
    registered: list[str] = app["callback_urls"]
    if callback in registered or (callback == OUT_OF_BAND and registered):
        return
    where = f"callback_urls of app {app['id']} (apps.json or /_mock/state/apps/{app['id']})"
    if callback == OUT_OF_BAND:
        why = f"out-of-band mode needs a registered callback as well; add one to {where}"
    else:
        near = find_nearest(callback, registered)
        hint = "" if near is None else f"; did you mean {near!r}?"
        why = f"{callback!r} is not one of the {where}: {', '.join(registered) or 'none'}{hint}"
    call.diagnosis = {"mistake": "callback", "explanation": why}
    call.assume(CALLBACK_NOT_APPROVED)
    raise NumericFailure(415)


def _require_granting_user(call: Call, world: World, token: Record | None) -> Record:
    """Return the user who granted the request token.

    Raises:
        PlainFailure: The token is not granted, used, denied or expired, or the verifier is wrong.
    """
    if call.caller.assumed:
        assert call.caller.user is not None
        return call.caller.user
    assert token is not None
    if token["state"] not in {"pending", "granted"} or tokens.is_expired(world, token):
        state = "expired" if token["state"] in {"pending", "granted"} else token["state"]
        call.diagnosis = {"mistake": "token", "explanation": f"this request token is {state}"}
        raise _make_invalid_request_token()
    expected, given = token["verifier"], call.params.get("oauth_verifier", "")
    if expected is None or not hmac.compare_digest(expected.encode(), given.encode()):
        if expected is None:
            why = "the user has not allowed this request token yet"
        else:
            why = (
                "oauth_verifier is not the one of the callback or PIN page"
                if given
                else ("oauth_verifier is missing")
            )
        call.diagnosis = {"mistake": "verifier", "explanation": why}
        text = "Error processing your OAuth request: Invalid oauth_verifier parameter"
        raise PlainFailure(401, text, PLAIN_REFUSALS)
    user = world.store.get("users", token["user_id"])
    if user is None:
        call.diagnosis = {"mistake": "token", "explanation": "the user who allowed it is gone"}
        raise _make_invalid_request_token()
    return user


_EXCHANGE = (
    Operation(
        id="oauth.request_token",
        method="POST",
        path="/oauth/request_token",
        handler=request_token,
        summary="Begin the three-legged flow",
        spec="A, Endpoints: POST {base_url}/oauth/request_token",
        params=RequestTokenRequest,
        location=Location.OAUTH,
        returns=Pairwise(RequestToken),
        auth=APP,
        errors=("38", "415"),
        statuses=(403,),
        oauth_step=True,
        assumptions=(FORM_ENCODED, tokens.TOKEN_SHAPES),
        may_assume=(CALLBACK_NOT_APPROVED, NO_CALLBACK, ACCESS_LEVEL, OAUTH_CODES),
        example=Example(
            form={"oauth_callback": PUBLISHED_CALLBACK, "x_auth_access_type": "write"},
            is_refused=True,
            # Far from the clock, and refused before anything else.
            authorization='OAuth oauth_timestamp="1"',
        ),
    ),
    Operation(
        id="oauth.access_token",
        method="POST",
        path="/oauth/access_token",
        handler=access_token,
        configure=_choose_exchange,
        summary="Exchange a granted request token for an access token",
        spec="A, Endpoints: POST {base_url}/oauth/access_token",
        params=AccessTokenRequest,
        location=Location.OAUTH,
        returns=Pairwise(AccessToken),
        auth=REQUEST_TOKEN,
        errors=("Invalid request token.", "Invalid oauth_verifier parameter"),
        statuses=(401,),
        oauth_step=True,
        assumptions=(FORM_ENCODED, tokens.TOKEN_SHAPES),
        may_assume=(
            PLAIN_REFUSALS,
            tokens.SAME_PAIR_AGAIN,
            tokens.REGENERATED_PAIR,
            tokens.REQUEST_TOKEN_LIFETIME,
            LOOSE_EXCHANGE,
        ),
        example=Example(is_refused=True, page_values={"oauth_verifier": NEW_VERIFIER}),
    ),
)
OPERATIONS = (
    *_EXCHANGE,
    *(
        replace(
            step,
            id=f"{step.id}_by_get",
            method="GET",
            spec="Not shown in the specification",
            origin=Origin.ADJACENT,
            assumptions=(*step.assumptions, ASKED_WITH_GET),
            example=replace(step.example, query=step.example.form, form=None),
        )
        for step in _EXCHANGE
    ),
    Operation(
        id="oauth.invalidate_token",
        method="POST",
        path="/1.1/oauth/invalidate_token",
        also=("/1.1/oauth/invalidate_token.json",),
        handler=invalidate_token,
        summary="Invalidate an access token",
        spec="A, Endpoints: POST {base_url}/1.1/oauth/invalidate_token",
        location=Location.OAUTH,
        returns=Flat(InvalidatedToken),
        auth=USER,
        errors=("89",),
        statuses=(401,),
        oauth_step=True,
        assumptions=(INVALIDATE_ANSWER, GRANT_ENDS),
        may_assume=(REVOKED_ACCESS, REVOKE_EVENT),
        example=Example(is_refused=True),
    ),
)
