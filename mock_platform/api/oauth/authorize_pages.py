"""OAuth 1.0a, three-legged: the pages on which a user allows or denies an app (spec A).

`mock_platform.api.oauth.consent` has what they show and do; here are the declarations.
"""

from __future__ import annotations

from functools import partial

from mock_platform.api.oauth.consent import browser, tokens
from mock_platform.api.oauth.consent.pages import PAGE_REFUSALS
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Document, Page
from mock_platform.core.example import NEW_REQUEST_TOKEN, Example
from mock_platform.core.fields import Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.world import World

WEB_PATHS = expectation(
    "oauth.web-paths",
    "The pages answer below /i/ as well, where the web host has them for some clients.",
)

SESSION = Auth(("session",))


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
    return browser.show(call, world, "authorize")


def submit_authorize(call: Call, world: World) -> Document:
    """Handle the form of the page of oauth/authorize."""
    _note_web_path(call)
    return browser.answer(call, world, "authorize")


def authenticate(call: Call, world: World) -> Document:
    """Redirect a user who granted the app before; ask all others."""
    _note_web_path(call)
    return browser.show(call, world, "authenticate")


def submit_authenticate(call: Call, world: World) -> Document:
    """Handle the form of the page of oauth/authenticate."""
    _note_web_path(call)
    return browser.answer(call, world, "authenticate")


def _note_web_path(call: Call) -> None:
    if call.path.startswith("/i/"):
        call.assume(WEB_PATHS)


_browser_step = partial(
    Operation,
    returns=Page(),
    auth=SESSION,
    statuses=(302, 303, 400, 403, 404, 410),
    assumptions=(browser.CONSENT_PAGES,),
    may_assume=(
        browser.WHEN_ASKED,
        PAGE_REFUSALS,
        browser.OUT_OF_BAND_REFUSED,
        tokens.REQUEST_TOKEN_LIFETIME,
        tokens.TOKEN_SHAPES,
        tokens.CALLBACK_PARAMETERS,
        WEB_PATHS,
    ),
    oauth_step=True,
    dress=browser.render_failure,
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
