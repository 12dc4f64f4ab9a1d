"""OAuth 2.0 user context: the consent page, the exchange of codes and refresh tokens, revocation.

Document A names it with PKCE and scopes; its shapes are public facts (named endpoints, section 9).
The app-only `/oauth2/token` of document A is another endpoint.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.oauth import authorize_pages
from mock_platform.api.oauth.consent import authorizations, oauth2_browser
from mock_platform.api.oauth.consent.authorizations import (
    AUTHORIZE_REFUSALS,
    AUTHORIZE_REQUEST,
    CODE_REUSED,
    METHODS,
    ONE_GRANT_FOR_ADS,
    REVOKE_ENDS_CONSENT,
    TOKEN_LIFETIMES,
    TOKEN_SECONDS,
    find_scope_fault,
    is_well_formed,
    proves,
)
from mock_platform.api.oauth.consent.pages import PAGE_REFUSALS
from mock_platform.api.oauth.consent.tokens import REVOKE_EVENT, record_revocation
from mock_platform.api.v2.activity.account_activity_delivery import (
    REVOKED_ACCESS as SUBSCRIPTIONS_END,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.auth.oauth2 import SCOPE_NAMES, SCOPES, canonicalize, is_expired
from mock_platform.core.call import Call
from mock_platform.core.envelope import Document, Flat, Page
from mock_platform.core.failures.errors import Failure, TokenFailure, Unauthorized
from mock_platform.core.fields import Flag, Integer, Text
from mock_platform.core.operation import (
    NEW_CODE,
    PUBLISHED_CALLBACK,
    PUBLISHED_CLIENT_ID,
    PUBLISHED_USER_TOKEN,
    Example,
    Location,
    Operation,
    Origin,
)
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

USER_TOKEN_SHAPES = public_fact(
    "oauth2.user-context",
    "The endpoints of OAuth 2.0 user context have their public shapes; answers of the token "
    "endpoint have the form of RFC 6749, 5.1. The spec names PKCE and scopes alone.",
    "section 9 of the named endpoints",
    gap=True,
)
TOKEN_ERRORS = public_fact(
    "oauth2.token-errors",
    "Errors of oauth2/token and oauth2/revoke are error and error_description (RFC 6749, 5.2), "
    "with the words that several independent clients report: a code, refresh token, redirect_uri "
    "or code_verifier that does not fit is invalid_request with 400, a confidential client without "
    "its secret unauthorized_client with 401.",
    "reports of client projects",
)
RESOURCE_TAKEN = expectation(
    "oauth2.resource",
    "resource (RFC 8707), which clients of servers for agents send with both steps, is taken and "
    "has no effect: the scopes alone say what a token is for.",
)
_NO_STORE = (("Cache-Control", "no-store"), ("Pragma", "no-cache"))
_BAD_CODE = "Value passed for the authorization code was invalid."
_BAD_TOKEN = "Value passed for the token was invalid."
_BAD_REDIRECT = "Value passed for the redirect uri did not match the uri of the authorization code."
_BAD_VERIFIER = "Value passed for the code verifier did not match the code challenge."


def _translate_refusal(fault: Failure) -> Failure:
    kind = fault.fault if isinstance(fault, Unauthorized) else "malformed"
    if kind == "absent":
        return _make_missing_failure("client_id")
    refusal = TokenFailure(
        "unauthorized_client", "Missing valid authorization header", TOKEN_ERRORS, status=401
    )
    if kind == "consumer":
        text = "Value passed for the client id was invalid."
        refusal = TokenFailure("invalid_client", text, TOKEN_ERRORS, status=401)
    refusal.headers = fault.headers
    return refusal


SESSION = Auth(("session",))
CLIENT = Auth(("oauth2-client",), (TOKEN_ERRORS,), on_failure=_translate_refusal)


class AuthorizeQuery(Schema):
    """Parameters of the consent page; faults are answered as RFC 6749 says, not as a list."""

    response_type = Text(metadata={"description": "code", "x_required": True})
    client_id = Text(metadata={"x_required": True})
    redirect_uri = Text(
        metadata={"description": "one of the app's callback_urls", "x_required": True}
    )
    scope = Text(
        metadata={
            "description": f"separated by spaces, of: {', '.join(SCOPES)}",
            "x_required": True,
        }
    )
    resource = Text(metadata={"description": "the server that the token is for (RFC 8707)"})
    state = Text(metadata={"description": "comes back as it was sent; at most 500 characters"})
    code_challenge = Text(metadata={"x_required": True})
    code_challenge_method = Text(
        metadata={"description": f"{' or '.join(METHODS)}; without it, plain"}
    )


class ConsentForm(AuthorizeQuery):
    """Fields of the forms on the consent pages."""

    authenticity_token = Text(metadata={"description": "proves that the page was shown"})
    action = Text(metadata={"description": "log_in, allow, deny or switch"})
    screen_name = Text()
    password = Text()


class UserTokenRequest(Schema):
    """Form of the exchange; what is needed depends on `grant_type`."""

    grant_type = Text(
        metadata={"enum": ["authorization_code", "refresh_token"], "x_required": True}
    )
    client_id = Text(metadata={"description": "of a public client; others use HTTP Basic"})
    code = Text()
    redirect_uri = Text(metadata={"description": "the one of the consent page"})
    code_verifier = Text()
    refresh_token = Text()
    scope = Text(metadata={"description": "fewer scopes for the new access token"})
    resource = Text(metadata={"description": "the server that the token is for (RFC 8707)"})


class UserTokens(Schema):
    """An access token of a user, and a refresh token if the user allowed `offline.access`."""

    token_type = Text(required=True)
    expires_in = Integer(required=True)
    access_token = Text(required=True)
    scope = Text(required=True)
    refresh_token = Text()


class RevokeForm(Schema):
    """Form of a revocation."""

    token = Text(metadata={"description": "an access or refresh token", "x_required": True})
    token_type_hint = Text(metadata={"description": "has no effect; the kind is known"})
    client_id = Text(metadata={"description": "of a public client; others use HTTP Basic"})


class RevokedAnswer(Schema):
    """That the token is not valid any more."""

    revoked = Flag(required=True)


def authorize(call: Call, world: World) -> Document:
    """Ask the user whether the app may act for them with these scopes."""
    _note_resource(call)
    return oauth2_browser.show(call, world)


def submit_authorize(call: Call, world: World) -> Document:
    """Handle the form of the consent page."""
    return oauth2_browser.answer(call, world)


def token(call: Call, world: World) -> dict[str, Any]:
    """Exchange an authorization code, or a refresh token, each once, for an access token."""
    _note_resource(call)
    kind = call.params.get("grant_type")
    if not kind:
        raise _make_missing_failure("grant_type")
    if kind == "authorization_code":
        return _exchange_code(call, world)
    if kind == "refresh_token":
        return _refresh(call, world)
    if kind == "client_credentials":
        call.diagnosis = {
            "mistake": "grant_type",
            "explanation": "bearer tokens of apps come from POST /oauth2/token, without /2",
        }
    text = f"grant_type must be authorization_code or refresh_token, got {kind}."
    raise TokenFailure("unsupported_grant_type", text, TOKEN_ERRORS)


def _note_resource(call: Call) -> None:
    if call.params.get("resource"):
        call.assume(RESOURCE_TAKEN)


def _exchange_code(call: Call, world: World) -> dict[str, Any]:
    if call.caller.assumed and world.store.get("tokens", call.params.get("code", "")) is None:
        return _issue_unasked(call, world)
    code = _require(call, world, "code", "code", _BAD_CODE)
    # A code that comes a second time may have been stolen, and nobody knows which of the two was
    # the thief. So the tokens of the first exchange are ended too. The refusal keeps this change: a
    # failure that undid it would leave the thief with a token.
    if code["state"] == "used":
        call.assume(CODE_REUSED)
        if authorizations.end(world, code):
            record_revocation(world, code["app_id"], code["user_id"])
        raise _refuse(call, "code", "the code was used before; its tokens are revoked", _BAD_CODE)
    if is_expired(world, code):
        call.assume(TOKEN_LIFETIMES)
        why = f"the code expired at {code['expires_at']} on the world's clock"
        raise _refuse(call, "code", why, _BAD_CODE)
    if code["state"] != "active":
        raise _refuse(call, "code", "the consent of this code has ended", _BAD_CODE)
    if not call.caller.assumed:
        _check_proofs(call, code)
    app, user = _find_parties(call, world, code, _BAD_CODE)
    authorizations.use_up(world, code)
    authorizations.end_earlier_of_ads(world, code)
    access, refresh = authorizations.issue_tokens(
        world, app, user, code["scopes"], authorization_id=code["authorization_id"]
    )
    return _show(access, refresh)


def _check_proofs(call: Call, code: Record) -> None:
    """Require the `redirect_uri` and the verifier of the request that the code comes from."""
    if not call.params.get("redirect_uri"):
        raise _make_missing_failure("redirect_uri")
    if call.params["redirect_uri"] != code["callback"]:
        why = f"the code was issued for redirect_uri {code['callback']}"
        raise _refuse(call, "redirect_uri", why, _BAD_REDIRECT)
    verifier = call.params.get("code_verifier") or ""
    if not verifier:
        raise _make_missing_failure("code_verifier")
    if not proves(code, verifier):
        method = code["code_challenge_method"]
        why = f"code_verifier does not fit the code_challenge (method {method})"
        raise _refuse(call, "code_verifier", why, _BAD_VERIFIER)
    if not is_well_formed(verifier):
        call.warn("RFC 7636 wants a code_verifier of 43 to 128 letters, digits and -._~", NO_EFFECT)


def _refresh(call: Call, world: World) -> dict[str, Any]:
    held = _require(call, world, "refresh_token", "refresh", _BAD_TOKEN)
    if held["state"] != "active":
        why = f"this refresh token is {held['state']}; the exchange returned another"
        if held["state"] == "invalidated":
            why = "this refresh token was revoked"
        raise _refuse(call, "refresh_token", why, _BAD_TOKEN)
    wanted = (call.params.get("scope") or "").split() or held["scopes"]
    # A refresh may ask for fewer scopes, never for more. The new refresh token keeps all of them,
    # so a later refresh can ask for the rest again.
    allowed = {canonicalize(scope) for scope in held["scopes"]}
    fault = find_scope_fault(tuple(wanted))
    more = [scope for scope in wanted if canonicalize(scope) not in allowed]
    if fault or more:
        text = fault or f"The user did not allow the scope {more[0]}."
        raise TokenFailure("invalid_scope", text, TOKEN_ERRORS)
    app, user = _find_parties(call, world, held, _BAD_TOKEN)
    authorizations.use_up(world, held)
    access, refresh = authorizations.issue_tokens(
        world,
        app,
        user,
        wanted,
        authorization_id=held["authorization_id"],
        refresh_scopes=held["scopes"],
    )
    return _show(access, refresh)


def revoke(call: Call, world: World) -> dict[str, bool]:
    """End a user's consent to the app, by its access token or its refresh token."""
    value = call.params.get("token")
    if not value:
        raise _make_missing_failure("token")
    found = world.store.get("tokens", value)
    if found is None or found["kind"] not in {"oauth2", "refresh"}:
        call.warn("nothing was revoked: this is no OAuth 2.0 user token", NO_EFFECT)
        return {"revoked": True}
    app = call.caller.app
    assert app is not None
    if found["app_id"] != app["id"] and not call.caller.assumed:
        why = f"the token was issued to app {found['app_id']}, not to app {app['id']}"
        raise _refuse(call, "token", why, _BAD_TOKEN)
    if authorizations.end(world, found):
        record_revocation(world, found["app_id"], found["user_id"])
    return {"revoked": True}


def _require(call: Call, world: World, name: str, kind: str, text: str) -> Record:
    """Return the code or token in the parameter `name`, which was issued to the calling app."""
    value = call.params.get(name)
    if not value:
        raise _make_missing_failure(name)
    found = world.store.get("tokens", value)
    app = call.caller.app
    assert app is not None
    if found is None or found["kind"] != kind:
        kinds = "" if found is None else f"; this is a token of kind {found['kind']}"
        raise _refuse(call, name, f"no {name} of this value was issued here{kinds}", text)
    if found["app_id"] != app["id"] and not call.caller.assumed:
        why = f"the {name} was issued to app {found['app_id']}, not to app {app['id']}"
        raise _refuse(call, name, why, text)
    return found


def _find_parties(call: Call, world: World, record: Record, text: str) -> tuple[Record, Record]:
    """Return app and user of a code or token."""
    app = world.store.get("apps", record["app_id"])
    user = world.store.get("users", record["user_id"])
    if app is None or user is None:
        gone = "app" if app is None else "user"
        raise _refuse(call, gone, f"the {gone} is gone", text)
    return app, user


def _issue_unasked(call: Call, world: World) -> dict[str, Any]:
    """Issue tokens with all scopes for a code that is not known (`--auth off`)."""
    app, user = call.caller.app, call.caller.user
    if app is None or user is None:
        raise _refuse(call, "code", "the world has no app and user to act for", _BAD_CODE)
    return _show(*authorizations.issue_tokens(world, app, user, SCOPES))


def _show(access: Record, refresh: Record | None) -> dict[str, Any]:
    shown = {
        "token_type": "bearer",
        "expires_in": TOKEN_SECONDS,
        "access_token": access["id"],
        "scope": " ".join(access["scopes"]),
    }
    return shown if refresh is None else shown | {"refresh_token": refresh["id"]}


def _make_missing_failure(name: str) -> TokenFailure:
    return TokenFailure("invalid_request", f"Missing required parameter [{name}].", TOKEN_ERRORS)


def _refuse(call: Call, mistake: str, why: str, text: str) -> Failure:
    """Return a refusal; `why` goes to the journal. It keeps the changes made before it."""
    call.diagnosis = {"mistake": mistake, "explanation": why}
    return TokenFailure("invalid_request", text, TOKEN_ERRORS).keeping()


CODE_VERIFIER = "slow-roasted-in-the-harbor-since-nineteen-ninety-one"
_SPEC = "A, Authentication: OAuth 2.0 user context"
_browser_step = partial(
    Operation,
    path="/2/oauth2/authorize",
    also=("/i/oauth2/authorize",),
    returns=Page(),
    spec=_SPEC,
    auth=SESSION,
    statuses=(302, 303, 400, 403),
    origin=Origin.NAMED,
    assumptions=(
        USER_TOKEN_SHAPES,
        AUTHORIZE_REQUEST,
        AUTHORIZE_REFUSALS,
        SCOPE_NAMES,
        authorize_pages.CONSENT_PAGES,
    ),
    may_assume=(RESOURCE_TAKEN, oauth2_browser.WHEN_ASKED, PAGE_REFUSALS),
    oauth_step=True,
    dress=authorize_pages.render_failure,
)
_client_step = partial(
    Operation,
    method="POST",
    spec=_SPEC,
    location=Location.FORM,
    auth=CLIENT,
    origin=Origin.NAMED,
    statuses=(400, 401),
    oauth_step=True,
)

OPERATIONS = (
    _browser_step(
        id="oauth2.authorize",
        method="GET",
        handler=authorize,
        summary="Show the page on which the user allows or denies the scopes",
        params=AuthorizeQuery,
        example=Example(
            query={
                "response_type": "code",
                "client_id": PUBLISHED_CLIENT_ID,
                "redirect_uri": PUBLISHED_CALLBACK,
                "scope": "post.read users.read offline.access",
                "state": "harbor",
                "code_challenge": CODE_VERIFIER,
                "code_challenge_method": "plain",
            }
        ),
    ),
    _browser_step(
        id="oauth2.submit_authorize",
        method="POST",
        handler=submit_authorize,
        summary="The form of that page",
        params=ConsentForm,
        example=Example(is_refused=True),
    ),
    _client_step(
        id="oauth2.user_token",
        path="/2/oauth2/token",
        handler=token,
        summary="Exchange a code or a refresh token for a user's access token",
        params=UserTokenRequest,
        returns=Flat(UserTokens, headers=_NO_STORE),
        errors=(
            "invalid_request",
            "invalid_client",
            "unauthorized_client",
            "unsupported_grant_type",
            "invalid_scope",
        ),
        assumptions=(USER_TOKEN_SHAPES, TOKEN_LIFETIMES, SCOPE_NAMES),
        may_assume=(
            RESOURCE_TAKEN,
            CODE_REUSED,
            ONE_GRANT_FOR_ADS,
            REVOKE_EVENT,
            SUBSCRIPTIONS_END,
        ),
        example=Example(
            form={"grant_type": "refresh_token", "refresh_token": "used-before"},
            is_refused=True,
            page_values={
                "grant_type": "authorization_code",
                "code": NEW_CODE,
                "redirect_uri": PUBLISHED_CALLBACK,
                "code_verifier": CODE_VERIFIER,
            },
        ),
    ),
    _client_step(
        id="oauth2.revoke",
        path="/2/oauth2/revoke",
        handler=revoke,
        summary="End a user's consent to the app",
        params=RevokeForm,
        returns=Flat(RevokedAnswer, headers=_NO_STORE),
        errors=("invalid_request", "invalid_client", "unauthorized_client"),
        assumptions=(USER_TOKEN_SHAPES, REVOKE_ENDS_CONSENT),
        may_assume=(REVOKE_EVENT, SUBSCRIPTIONS_END),
        example=Example(form={"token": PUBLISHED_USER_TOKEN}),
    ),
)
