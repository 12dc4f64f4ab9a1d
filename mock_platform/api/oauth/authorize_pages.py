"""OAuth 1.0a, three-legged: the pages on which a user allows or denies an app (spec A).

How they look is in `mock_platform.api.oauth.consent`; here is what happens in the user's browser
between request token and access token.
"""

from __future__ import annotations

from functools import partial
from typing import Literal
from urllib.parse import urlencode

from mock_platform.api.oauth.consent import tokens
from mock_platform.api.oauth.consent.pages import (
    OUT_OF_BAND,
    PAGE_REFUSALS,
    PageForm,
    check_password,
    list_abilities,
    read_name,
    render_consent_page,
    render_denial_page,
    render_login_page,
    render_pin_page,
    render_redirect,
    render_refusal_page,
    require_own_form,
)
from mock_platform.api.oauth.records import REQUEST_TOKEN_SECONDS
from mock_platform.core.assumptions import expectation, settled
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.auth.session import Session, find_session, log_in, log_out, set_cookie
from mock_platform.core.call import Call, Reply
from mock_platform.core.envelope import Document, Page
from mock_platform.core.failures.errors import Failure, NumericFailure, PlainFailure
from mock_platform.core.fields import Text
from mock_platform.core.operation import NEW_REQUEST_TOKEN, Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

WEB_PATHS = expectation(
    "oauth.web-paths",
    "The pages answer below /i/ as well, where the web host has them for some clients.",
)

CONSENT_PAGES = expectation(
    "oauth.pages",
    "How the pages look, that logging in and allowing are two pages, their forms and the cookie of "
    "the login session.",
)
WHEN_ASKED = settled(
    "oauth.when-asked",
    "authorize asks each time. authenticate does not ask a logged-in user who granted the app at "
    "least this access before, if the app's _sign_in_enabled is on and force_login is not true.",
    "A, Endpoints: GET {base_url}/oauth/authenticate",
)
OUT_OF_BAND_REFUSED = settled(
    "oauth.authenticate-out-of-band",
    "authenticate refuses out-of-band request tokens with 403: it is for callbacks only. With "
    "--wire recorded it shows their PIN, because the public page names both addresses.",
    "A, Endpoints: GET {base_url}/oauth/authenticate",
)

SESSION = Auth(("session",))
BrowserStep = Literal["authorize", "authenticate"]


class BrowserRequest(Schema):
    """Parameters of oauth/authorize and oauth/authenticate."""

    oauth_token = Text(
        metadata={
            "description": "the request token; a page says if it is missing",
            "x_required": True,
        }
    )
    force_login = Text(metadata={"description": "true: the user logs in again"})
    screen_name = Text(metadata={"description": "prefills the username box"})


class BrowserForm(BrowserRequest):
    """Fields of the forms on the pages of these two addresses."""

    authenticity_token = Text(metadata={"description": "proves that the page was shown"})
    action = Text(metadata={"description": "log_in, allow, deny or switch"})
    password = Text()


def authorize(call: Call, world: World) -> Document:
    """Ask the user, each time, whether the app may act for them."""
    _note_web_path(call)
    return _show(call, world, "authorize")


def submit_authorize(call: Call, world: World) -> Document:
    """Handle the form of the page of oauth/authorize."""
    _note_web_path(call)
    return _answer(call, world, "authorize")


def authenticate(call: Call, world: World) -> Document:
    """Redirect a user who granted the app before; ask all others."""
    _note_web_path(call)
    return _show(call, world, "authenticate")


def submit_authenticate(call: Call, world: World) -> Document:
    """Handle the form of the page of oauth/authenticate."""
    _note_web_path(call)
    return _answer(call, world, "authenticate")


def _note_web_path(call: Call) -> None:
    if call.path.startswith("/i/"):
        call.assume(WEB_PATHS)


def _show(call: Call, world: World, step: BrowserStep) -> Document:
    """Return the next page for this user, or the redirect back to the app."""
    token, app = _require_open_token(call, world, step)
    if any(name == "oauth_callback" for name, _ in call.query):
        text = "oauth_callback belongs to POST /oauth/request_token and has no effect here"
        call.warn(text, NO_EFFECT)
    session = find_session(call, world)
    cookies: tuple[str, ...] = ()
    if session is None:
        session = Session.anonymous()
        cookies = (set_cookie(call, world, session),)
    forced = _is_login_forced(call)
    form = _make_form(session, token, app, step, forced=forced, cookies=cookies)
    user = call.caller.user
    again = forced and not session.is_logged_in_for(token["id"]) and not call.caller.assumed
    if user is None or again:
        return render_login_page(form, app, call.params.get("screen_name", ""))
    _check_answerer(token, user)
    call.assume(WHEN_ASKED)
    known = step == "authenticate" and app["_sign_in_enabled"] and not forced
    if known and tokens.was_granted(world, token, user):
        return _allow(call, world, token, app, user)
    return render_consent_page(form, app, user, list_abilities(app, token["access"]))


def _answer(call: Call, world: World, step: BrowserStep) -> Document:
    """Return the page or redirect that follows the user's click on a page."""
    token, app = _require_open_token(call, world, step)
    session = require_own_form(call, world, token["id"])
    action = call.params.get("action")
    user = call.caller.user
    if action == "log_in":
        return _log_in(call, world, step, token, app, session)
    if action == "deny":
        return _deny(call, world, token, app)
    if action == "switch":
        log_out(world, session)
        return _redirect_to_page(token, step)
    if action != "allow":
        raise PlainFailure(
            400, "The form's action must be log_in, allow, deny or switch.", PAGE_REFUSALS
        )
    if user is None:  # the session ended while the page was shown
        return _redirect_to_page(token, step, forced=_is_login_forced(call))
    _check_answerer(token, user)
    return _allow(call, world, token, app, user)


def render_failure(call: Call, failure: Failure, reply: Reply) -> Reply:
    """Render a failure of these steps as a page."""
    text = failure.message if isinstance(failure, NumericFailure) else str(failure)
    page = Page().reply(call, render_refusal_page(reply.status, text or "The request failed."))
    page.headers += failure.headers
    return page


# -- what may be answered ----------------------------------------------------------------------


def _require_open_token(call: Call, world: World, step: BrowserStep) -> tuple[Record, Record]:
    """Return the request token that the user is asked about, and its app.

    Raises:
        PlainFailure: The token is missing, unknown, used, denied or expired, or not for this page.
    """
    token, app = call.caller.token, call.caller.app
    if not call.params.get("oauth_token"):
        raise PlainFailure(
            400,
            "The address has no oauth_token. Open the link that the app shows: it ends in "
            "oauth_token= and the token of POST /oauth/request_token.",
            PAGE_REFUSALS,
        )
    if token is None or app is None:
        raise PlainFailure(
            404,
            "This sandbox did not issue the request token of this address. Go back to the app and "
            "start again; if the app uses a world of its own, open the address with its prefix.",
            PAGE_REFUSALS,
        )
    if token["state"] in {"used", "denied"}:
        what = "used already" if token["state"] == "used" else "denied"
        raise PlainFailure(
            410, f"This request was {what}. Go back to the app and start again.", PAGE_REFUSALS
        )
    if tokens.is_expired(world, token):
        raise PlainFailure(
            410,
            f"This request is older than {REQUEST_TOKEN_SECONDS} seconds and has "
            "expired. Go back to the app and start again.",
            PAGE_REFUSALS,
            tokens.REQUEST_TOKEN_LIFETIME,
        )
    if step == "authenticate" and token["callback"] == OUT_OF_BAND:
        if call.wire == "recorded":
            call.assume(OUT_OF_BAND_REFUSED)
            call.warn("apps that use a PIN are documented to send their users to /oauth/authorize")
            return token, app
        raise PlainFailure(
            403,
            "Apps that use a PIN must send their users to /oauth/authorize.",
            OUT_OF_BAND_REFUSED,
        )
    return token, app


def _check_answerer(token: Record, user: Record) -> None:
    if token["state"] == "granted" and token["user_id"] != user["id"]:
        raise PlainFailure(
            410,
            "Another user has allowed this request already. Go back to the app and start again.",
            PAGE_REFUSALS,
        )


def _is_login_forced(call: Call) -> bool:
    value: str = call.params.get("force_login", "false").lower()
    if value not in {"true", "false"}:
        call.warn(f"force_login accepts true; {value!r} was taken as false", NO_EFFECT)
    return value == "true"


# -- what the user does -----------------------------------------------------------------------


def _log_in(
    call: Call, world: World, step: BrowserStep, token: Record, app: Record, session: Session
) -> Document:
    user, fault = check_password(call, world)
    if user is None:
        form = _make_form(session, token, app, step, forced=_is_login_forced(call))
        return render_login_page(form, app, read_name(call), fault)
    fresh = log_in(world, user, token["id"], session)
    return _redirect_to_page(
        token, step, forced=_is_login_forced(call), cookies=(set_cookie(call, world, fresh),)
    )


def _deny(call: Call, world: World, token: Record, app: Record) -> Document:
    tokens.deny(world, token)
    if token["callback"] == OUT_OF_BAND:
        return render_denial_page(app)
    call.assume(tokens.CALLBACK_PARAMETERS)
    return render_redirect(tokens.build_callback(token["callback"], denied=token["id"]))


def _allow(call: Call, world: World, token: Record, app: Record, user: Record) -> Document:
    granted = tokens.grant(world, token, user)
    call.assume(tokens.TOKEN_SHAPES)
    if granted["callback"] == OUT_OF_BAND:
        return render_pin_page(app, granted["verifier"])
    call.assume(tokens.CALLBACK_PARAMETERS)
    address = tokens.build_callback(
        granted["callback"], oauth_token=granted["id"], oauth_verifier=granted["verifier"]
    )
    return render_redirect(address)


def _redirect_to_page(
    token: Record, step: BrowserStep, *, forced: bool = False, cookies: tuple[str, ...] = ()
) -> Document:
    """Redirect to the page itself by GET, so that a reload does not send the form again."""
    query = {"oauth_token": token["id"]} | ({"force_login": "true"} if forced else {})
    return render_redirect(f"{step}?{urlencode(query)}", 303, cookies)


def _make_form(
    session: Session,
    token: Record,
    app: Record,
    step: BrowserStep,
    *,
    forced: bool,
    cookies: tuple[str, ...] = (),
) -> PageForm:
    return PageForm(
        address=step,
        hidden=(
            ("oauth_token", token["id"]),
            ("authenticity_token", session.authenticity_token(token["id"])),
            *((("force_login", "true"),) if forced else ()),
        ),
        callback=token["callback"],
        callbacks=tuple(app["callback_urls"]),
        cookies=cookies,
    )


_browser_step = partial(
    Operation,
    returns=Page(),
    auth=SESSION,
    statuses=(302, 303, 400, 403, 404, 410),
    assumptions=(CONSENT_PAGES,),
    may_assume=(
        WHEN_ASKED,
        PAGE_REFUSALS,
        OUT_OF_BAND_REFUSED,
        tokens.REQUEST_TOKEN_LIFETIME,
        tokens.TOKEN_SHAPES,
        tokens.CALLBACK_PARAMETERS,
        WEB_PATHS,
    ),
    oauth_step=True,
    dress=render_failure,
)

OPERATIONS = (
    _browser_step(
        id="oauth.authorize",
        method="GET",
        path="/oauth/authorize",
        also=("/i/oauth/authorize",),
        handler=authorize,
        summary="Show the page on which the user allows or denies the app",
        spec="A, Endpoints: GET {base_url}/oauth/authorize",
        params=BrowserRequest,
        example=Example(is_refused=True, page_values={"oauth_token": NEW_REQUEST_TOKEN}),
    ),
    _browser_step(
        id="oauth.submit_authorize",
        method="POST",
        path="/oauth/authorize",
        also=("/i/oauth/authorize",),
        handler=submit_authorize,
        summary="The form of that page",
        spec="A, Endpoints: GET {base_url}/oauth/authorize",
        params=BrowserForm,
        origin=Origin.EXPECTATION,
        example=Example(is_refused=True),
    ),
    _browser_step(
        id="oauth.authenticate",
        method="GET",
        path="/oauth/authenticate",
        also=("/i/oauth/authenticate",),
        handler=authenticate,
        summary="Show the page, or skip it if the user granted the app before",
        spec="A, Endpoints: GET {base_url}/oauth/authenticate",
        params=BrowserRequest,
        example=Example(is_refused=True, page_values={"oauth_token": NEW_REQUEST_TOKEN}),
    ),
    _browser_step(
        id="oauth.submit_authenticate",
        method="POST",
        path="/oauth/authenticate",
        also=("/i/oauth/authenticate",),
        handler=submit_authenticate,
        summary="The form of that page",
        spec="A, Endpoints: GET {base_url}/oauth/authenticate",
        params=BrowserForm,
        origin=Origin.EXPECTATION,
        example=Example(is_refused=True),
    ),
)
