"""What happens in the user's browser at oauth2/authorize: login, consent, and the way back.

`show` answers the documented GET, `answer` the forms of the pages that it shows.
"""

from __future__ import annotations

from urllib.parse import urlencode

from mock_platform.api.oauth.consent import authorizations
from mock_platform.api.oauth.consent.authorizations import AuthorizeRequest, SentBack, read_request
from mock_platform.api.oauth.consent.pages import (
    PAGE_REFUSALS,
    PageForm,
    check_password,
    read_name,
    render_consent_page,
    render_login_page,
    render_redirect,
    require_own_form,
)
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.oauth2 import canonicalize
from mock_platform.core.auth.session import Session, find_session, log_in, log_out, set_cookie
from mock_platform.core.call import Call
from mock_platform.core.envelope import Document
from mock_platform.core.failures.errors import PlainFailure
from mock_platform.world.world import World

WHEN_ASKED = expectation(
    "oauth2.when-asked",
    "oauth2/authorize asks a logged-in user each time, also one who allowed the app before.",
)

_ABILITIES = {
    "post.read": "See the posts that you can see",
    "post.write": "Post and repost in your name",
    "post.moderate.write": "Hide and show replies to your posts",
    "users.read": "See the accounts that you can see",
    "users.email": "See your email address",
    "follows.read": "See whom you follow and who follows you",
    "follows.write": "Follow and unfollow in your name",
    "offline.access": "Keep its access while you do not use it",
    "space.read": "See the Spaces that you can see",
    "mute.read": "See the accounts that you muted",
    "mute.write": "Mute and unmute accounts",
    "like.read": "See the posts that you like",
    "like.write": "Like and unlike posts in your name",
    "list.read": "See your lists",
    "list.write": "Change your lists",
    "block.read": "See the accounts that you blocked",
    "block.write": "Block and unblock accounts",
    "bookmark.read": "See your bookmarks",
    "bookmark.write": "Change your bookmarks",
    "dm.read": "Read your direct messages",
    "dm.write": "Send direct messages in your name",
    "media.write": "Upload media in your name",
    "timeline.read": "See your timeline",
    "broadcast.read": "See your broadcasts",
    "broadcast.write": "Broadcast in your name",
    "ads.read": "See your ads accounts, campaigns and their figures",
    "ads.write": "Create and change campaigns, and start them",
}
_NEVER = "See your password"


def show(call: Call, world: World) -> Document:
    """Return the next page for this user, or the redirect back to the app."""
    try:
        request = read_request(call.params, call.caller.app)
    except SentBack as back:
        return _send_back(call, back)
    session = find_session(call, world)
    cookies: tuple[str, ...] = ()
    if session is None:
        session = Session.anonymous()
        cookies = (set_cookie(call, world, session),)
    form = _make_form(session, request, cookies)
    user = call.caller.user
    if user is None:
        return render_login_page(form, request.app, call.params.get("screen_name", ""))
    call.assume(WHEN_ASKED)
    return render_consent_page(form, request.app, user, list_abilities(request))


def answer(call: Call, world: World) -> Document:
    """Return the page or redirect that follows the user's click on a page."""
    try:
        request = read_request(call.params, call.caller.app)
        session = require_own_form(call, world, request.subject)
        return _act(call, world, request, session)
    except SentBack as back:
        return _send_back(call, back)


def _act(call: Call, world: World, request: AuthorizeRequest, session: Session) -> Document:
    action, user = call.params.get("action"), call.caller.user
    if action == "log_in":
        return _log_in(call, world, request, session)
    if action == "deny":
        raise request.deny()
    if action == "switch":
        log_out(world, session)
        return _redirect_to_page(request)
    if action != "allow":
        raise PlainFailure(
            400, "The form's action must be log_in, allow, deny or switch.", PAGE_REFUSALS
        )
    if user is None:  # the session ended while the page was shown
        return _redirect_to_page(request)
    code = authorizations.issue_code(world, request, user)
    return render_redirect(request.build_answer(code=code["id"]))


def _log_in(call: Call, world: World, request: AuthorizeRequest, session: Session) -> Document:
    user, fault = check_password(call, world)
    if user is None:
        form = _make_form(session, request)
        return render_login_page(form, request.app, read_name(call), fault)
    fresh = log_in(world, user, request.subject, session)
    return _redirect_to_page(request, (set_cookie(call, world, fresh),))


def list_abilities(request: AuthorizeRequest) -> tuple[list[str], list[str]]:
    """Return what an app will be able to do with the scopes that it asks for, and what not."""
    scopes = dict.fromkeys(map(canonicalize, request.scopes))
    return [_ABILITIES[scope] for scope in scopes], [_NEVER]


def _send_back(call: Call, back: SentBack) -> Document:
    call.diagnosis = {"mistake": back.error, "explanation": str(back)}
    return render_redirect(back.address)


def _redirect_to_page(request: AuthorizeRequest, cookies: tuple[str, ...] = ()) -> Document:
    """Redirect to the page itself by GET, so that a reload does not send the form again."""
    return render_redirect(f"authorize?{urlencode(request.fields)}", 303, cookies)


def _make_form(
    session: Session, request: AuthorizeRequest, cookies: tuple[str, ...] = ()
) -> PageForm:
    proof = ("authenticity_token", session.authenticity_token(request.subject))
    return PageForm(
        address="authorize",
        hidden=(*request.fields, proof),
        callback=request.redirect_uri,
        callbacks=tuple(request.app["callback_urls"]),
        cookies=cookies,
    )
