"""Adds the console to the control plane: pages, their files, the login, refusals as pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from flask import Flask, Request, Response
from flask import request as current

from mock_platform.control.console import (
    clock,
    contract_pages,
    costs,
    records,
    requests_page,
    scenario_editor,
    streams,
    webhooks,
    worlds,
)
from mock_platform.control.console.answers import (
    KEY,
    ConsolePage,
    FormState,
    find_base,
    find_nearest_page,
    find_target,
    go,
    make_console,
    read_form,
    render,
    render_refusal,
    root_of,
)
from mock_platform.control.guard import MAX_SECONDS, name_cookie, try_token
from mock_platform.control.refusals import MEDIA_TYPE, ControlRefusal, as_refusal
from mock_platform.control.route import HTML, ControlRequest, Route, Services
from mock_platform.control.routes import PUBLIC, Answers, bind
from mock_platform.core.fields import Text
from mock_platform.core.schema import Schema

LOGIN = "/console/login"
_OWN = "/_mock/console/"


_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ADDRESS = "a path without control characters"


class QueryOfLogin(Schema):
    """The page to which the login leads."""

    next = Text(pattern=r"[^\x00-\x1f\x7f]*", pattern_text=_ADDRESS)


def show_login(request: ControlRequest) -> Response:
    """Return the form that asks for the control token."""
    if request.platform.settings.control_token is None:
        return go(request, "/")
    return render(request, "login.html", form=FormState({"next": request.query.get("next", "")}))


def log_in(request: ControlRequest) -> Response:
    """Start a session if the token is right, and lead to the page that was asked for."""
    values = read_form(request)
    token = request.platform.settings.control_token
    if token is None:
        return go(request, "/")
    if _CONTROL.search(values.get("next", "")):
        text = f"next must be {_ADDRESS} such as /console/requests; got {values['next'][:200]!r}."
        raise ControlRefusal(400, text)
    given = values.get("token", "").strip().encode()
    environ, settings = request.flask.environ, request.platform.settings
    try:
        right = try_token(given, environ, settings, request.services.guesses)
    except ControlRefusal as refusal:
        answer = _ask_again(request, values, refusal.detail, refusal.status)
        answer.headers.extend(refusal.headers)
        return answer
    if not right:
        text = "This is not the server's control token: the one given with --control-token."
        return _ask_again(request, values, text, 422)
    response = go(request, find_target(values.get("next", "")))
    response.set_cookie(
        name_cookie(request.flask.environ),
        request.services.sessions.start(token),
        max_age=MAX_SECONDS,
        path=_cookie_path(request),
        secure=request.flask.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return response


def log_out(request: ControlRequest) -> Response:
    """End the session: also a copy of its cookie opens nothing afterwards."""
    response = go(request, LOGIN)
    environ, token = request.flask.environ, request.platform.settings.control_token
    if token is not None:
        request.services.sessions.end(environ, token)
    name = name_cookie(environ)
    response.delete_cookie(name, _cookie_path(request), httponly=True, samesite="Strict")
    return response


LOGIN_ROUTES = (
    Route("GET", LOGIN, show_login, query=QueryOfLogin, media_type=HTML),
    Route("POST", LOGIN, log_in, media_type=HTML, form=True),
)
"""These need no token."""
LOGOUT = Route("POST", "/console/logout", log_out, media_type=HTML, form=True)


def _ask_again(
    request: ControlRequest, values: Mapping[str, str], text: str, status: int
) -> Response:
    kept = {"next": values.get("next", "")}
    return render(request, "login.html", form=FormState(kept, {"token": [text]}, text, status))


def _cookie_path(request: ControlRequest) -> str:
    """All worlds of this server, wherever it is mounted."""
    return find_base(request) or "/"


# All pages of the console, in the order of the navigation. A page is added here in one line.

PAGES: tuple[ConsolePage, ...] = (
    requests_page.PAGE,
    scenario_editor.PAGE,
    worlds.PAGE,
    clock.CLOCK,
    records.PAGE,
    clock.TRANSITIONS,
    webhooks.DELIVERIES,
    webhooks.WEBHOOKS,
    streams.STREAMS,
    streams.RULES,
    costs.PAGE,
    *contract_pages.PAGES,
    worlds.CREDENTIALS,
)  # fmt: skip
"""Requests, Scenarios, Worlds, Clock, Records, Transitions, Replay and deliveries, Webhooks,
Streams, Rules, Costs, Coverage, Operations, Assumptions: in this order, as far as they exist.
"""


def add_console(app: Flask, services: Services) -> Answers:
    """Add all pages to the application of the control plane, and return their routes."""
    console = make_console(PAGES)
    app.extensions[KEY] = console
    routes = [route for page in PAGES for route in page.routes]
    routes += [*LOGIN_ROUTES, LOGOUT, *console.assets.routes]
    app.extensions[PUBLIC].update(route.id for route in (*LOGIN_ROUTES, *console.assets.routes))
    ids = frozenset(route.id for route in routes)

    def lead_to_login(response: Response) -> Response:
        """Replace refusals that no view made: of the guard, of unknown addresses, of failures."""
        is_ours = current.endpoint in ids or current.path.startswith(_OWN)
        if is_ours and response.mimetype == MEDIA_TYPE and _is_browser(current):
            return _replace(ControlRequest(services, current, {}, {}, None), response)
        return response

    app.after_request(lead_to_login)
    return {route: _show_refusals(route, services) for route in routes}


def _show_refusals(route: Route, services: Services) -> Callable[..., Response]:
    """Return the function that answers a route of the console, with refusals as pages."""
    answer = bind(route, services)

    def show(**args: str) -> Response:
        try:
            return answer(**args)
        except Exception as fault:
            refusal = as_refusal(fault)
            if refusal is None or route.media_type != HTML:
                raise
            return render_refusal(ControlRequest(services, current, args, {}, None), refusal)

    return show


def _replace(request: ControlRequest, refused: Response) -> Response:
    """Return the login for a request without the token, or the refusal as a page."""
    if refused.status_code == 401:
        is_part, is_sent = "HX-Request" in request.flask.headers, request.flask.method != "GET"
        if is_part and is_sent:  # what is being written is on the page that the login would replace
            return render_refusal(request, ControlRefusal(401, _ENDED))
        said = _NOT_DONE if is_sent else ""
        response = go(request, f"{LOGIN}?next={quote(_find_page(request))}", said)
        if is_part:  # it cannot show the login
            response.headers["HX-Redirect"] = response.headers.pop("Location")
            response.status_code = 200
        return response
    if refused.status_code == 405 and request.flask.method == "GET":
        # Whoever reloads the page of a refused form, or returns to it, wants the form.
        return go(request, find_nearest_page(PAGES, request.flask.path.removeprefix("/_mock")))
    problem: dict[str, Any] = refused.get_json()
    if refused.status_code == 404 and current.url_rule is None:
        text = f"The console has no page {request.flask.path}. The menu has all pages."
        return render_refusal(request, ControlRefusal(404, text))
    return render_refusal(request, ControlRefusal(refused.status_code, problem["detail"]))


_ENDED = "The session has ended. Log in on another page, then go on with this one."
_NOT_DONE = "Nothing was done: the session had ended. Log in, and do it again."


def _find_page(request: ControlRequest) -> str:
    """Return the page below `/_mock` that a login leads to: what was asked for, or is shown."""
    flask = request.flask
    if "HX-Request" in flask.headers:  # a part of a page has no address to show
        shown = urlsplit(flask.headers.get("HX-Current-URL", ""))
        root = root_of(request)
        path, query = shown.path.removeprefix(root), shown.query
        if path == shown.path:
            return "/"
    elif flask.method == "GET":
        path = quote(flask.path.removeprefix("/_mock"))
        query = flask.query_string.decode("latin-1")
    else:
        return "/"
    return path + (f"?{query}" if query else "")


def _is_browser(request: Request) -> bool:
    """Whether the client shows pages: browsers ask for HTML by name, other clients do not."""
    return HTML in request.headers.get("Accept", "").lower() or "HX-Request" in request.headers
