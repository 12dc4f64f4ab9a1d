"""The consent pages: how they are rendered without scripts, and logging in on them.

A page's form may be sent to this server alone; the answer may then lead to the app's callback and
from there wherever the app goes on to. Browsers check every step of that way against `form-action`,
so for callbacks on the web it names the schemes, not the hosts.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from mock_platform.api.v2.objects.post_text import find_user
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.session import Session, find_session
from mock_platform.core.call import Call
from mock_platform.core.envelope import Document
from mock_platform.core.failures.codes import phrase
from mock_platform.core.failures.errors import PlainFailure
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

if TYPE_CHECKING:
    from jinja2 import Environment

OUT_OF_BAND = "oob"
"""The callback of apps that have no address: the user carries a PIN (spec A, request_token)."""


class PageForm(Struct, frozen=True):
    """The content of a page's form, with the proof that its sender was shown the page."""

    address: Literal["authorize", "authenticate"]
    hidden: tuple[tuple[str, str], ...]
    """What the page is about, and the proof, as names and values of hidden fields."""
    callback: str
    callbacks: tuple[str, ...]
    """All callbacks of the app: the one that is called may lead on to another."""
    cookies: tuple[str, ...] = ()


def render_login_page(
    form: PageForm, app: Record, screen_name: str, fault: str | None = None
) -> Document:
    """Return the page that asks who the user is; with `fault`, the second try."""
    names = {"form": form, "app": app, "screen_name": screen_name, "fault": fault}
    return _render("login.html", names, form, 200 if fault is None else 403)


def render_consent_page(
    form: PageForm, app: Record, user: Record, abilities: tuple[list[str], list[str]]
) -> Document:
    """Return the page that asks the user to allow or deny an app what it would be able to do.

    `abilities` are what it would be able to do, and what not.
    """
    can, cannot = abilities
    names = {
        "form": form,
        "app": app,
        "user": user,
        "abilities": can,
        "inabilities": cannot,
        "afterwards": _describe_next_step(app, form.callback),
    }
    return _render("consent.html", names, form)


def render_pin_page(app: Record, pin: str) -> Document:
    """Return the page that shows the PIN in `<code id="pin">`."""
    return _render("pin.html", {"app": app, "pin": pin})


def render_denial_page(app: Record) -> Document:
    """Return the page after a denial, for apps without a callback address."""
    return _render("denied.html", {"app": app})


def render_refusal_page(status: int, text: str) -> Document:
    """Return a page that says why the request cannot be answered, and what to do."""
    names = {"title": phrase(status) or f"Status {status}", "text": text}
    return _render("refusal.html", names, status=status)


def render_redirect(address: str, status: int = 302, cookies: tuple[str, ...] = ()) -> Document:
    """Return a redirect to another address."""
    page = _render("redirect.html", {"address": address}, status=status)
    return Document(page.html, status, address, cookies, page.policy)


def _render(
    template: str, names: dict[str, Any], form: PageForm | None = None, status: int = 200
) -> Document:
    environment = _make_environment()
    html = environment.get_template(template).render(names)
    policy = (
        f"default-src 'none'; style-src {environment.globals['style_source']}; "
        f"form-action {_list_form_targets(form)}; frame-ancestors 'none'; base-uri 'none'"
    )
    return Document(html, status, cookies=() if form is None else form.cookies, policy=policy)


def _list_form_targets(form: PageForm | None) -> str:
    """Return the `form-action` sources: targets of the form and of the redirects after it."""
    if form is None:
        return "'none'"
    if form.callback == OUT_OF_BAND:
        return "'self'"
    addresses = (form.callback, *form.callbacks)
    schemes = {address.partition(":")[0].lower() for address in addresses}
    if schemes & {"http", "https"}:
        schemes |= {"http", "https"}
    return " ".join(["'self'", *(f"{scheme}:" for scheme in sorted(schemes))])


def list_abilities(app: Record, access: str) -> tuple[list[str], list[str]]:
    """Return what an app with `access` (read or write) will be able to do, and what not."""
    able = {
        "See your profile and your posts": True,
        "Post and change things in your name": access == "write",
        "Read and send your direct messages": access == "write"
        and "direct_messages" in app["_permissions"],
        "See your password": False,
    }
    return [a for a, can in able.items() if can], [a for a, can in able.items() if not can]


def _describe_next_step(app: Record, callback: str) -> str:
    if callback == OUT_OF_BAND:
        return f"If you allow it, you get a PIN to enter in {app['name']}."
    return f"Either way you are sent back to {callback.partition('?')[0].partition('#')[0]}."


@cache
def _make_environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # most runs show no page
    from markupsafe import Markup

    loader = PackageLoader("mock_platform.api.oauth.consent")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = loader.get_source(environment, "style.css")[0]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    environment.globals |= {
        "style": Markup(style),  # noqa: S704 - a file of this package
        "style_source": f"'sha256-{digest}'",
    }
    return environment


# Logging in on the pages: who the user is, and whether a form comes from a page of this server.

PAGE_REFUSALS = expectation(
    "oauth.page-refusals",
    "A page for a request token that is unknown answers 404, for one that is used up, denied or "
    "expired 410, without a token 400, for a form of another page or a wrong password 403.",
)


def read_name(call: Call) -> str:
    """Return the screen name in a login form, without the sign before it."""
    name: str = call.params.get("screen_name", "")
    return name.strip().removeprefix("@")


def check_password(call: Call, world: World) -> tuple[Record | None, str]:
    """Return the user of a login form, or what is wrong with it."""
    user = find_user(world, read_name(call))
    password = call.params.get("password", "")
    if user is not None and hmac.compare_digest(password.encode(), user["_password"].encode()):
        return user, ""
    call.assume(PAGE_REFUSALS)
    return None, (
        "No user has this username and password. The sandbox's users are in its table "
        f"“users”; {call.base_url}/_mock/credentials shows one who can log in."
    )


def require_own_form(call: Call, world: World, subject: str) -> Session:
    """Return the session of a form that came from a page about `subject`.

    Raises:
        PlainFailure: This browser was not shown that page.
    """
    session = find_session(call, world)
    if session is not None and session.accepts_form(
        call.params.get("authenticity_token", ""), subject
    ):
        return session
    if call.caller.assumed:
        return session or Session.anonymous()
    raise PlainFailure(
        403,
        "This form did not come from the page that was shown to this browser. Allow "
        "cookies for this address, open the app's link again and answer there.",
        PAGE_REFUSALS,
    )
