"""Adds the console to the control plane: pages, their files, the login, refusals as pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from flask import Flask, Request, Response
from flask import request as current

from mock_platform.control.console import (
    assumptions_page,
    clock,
    coverage_page,
    login,
    operations_page,
    records,
    replay,
    requests_page,
    rules,
    scenario_editor,
    streams,
    transitions,
    webhooks,
    worlds,
)
from mock_platform.control.console.answers import KEY, ConsolePage, go, make_console, render_refusal
from mock_platform.control.refusals import MEDIA_TYPE, ControlRefusal, as_refusal
from mock_platform.control.route import HTML, ControlRequest, Route, Services
from mock_platform.control.routes import PUBLIC, add_route, bind

# All pages of the console, in the order of the navigation. A page is added here in one line.

PAGES: tuple[ConsolePage, ...] = (
    requests_page.PAGE,
    scenario_editor.PAGE,
    worlds.PAGE,
    clock.PAGE,
    records.PAGE,
    transitions.PAGE,
    replay.PAGE,
    webhooks.PAGE,
    streams.PAGE,
    rules.PAGE,
    coverage_page.PAGE,
    operations_page.PAGE,
    assumptions_page.PAGE,
)  # fmt: skip
"""Requests, Scenarios, Worlds, Clock, Records, Transitions, Replay and deliveries, Webhooks,
Streams, Rules, Coverage, Operations, Assumptions: in this order, as far as they exist.
"""


def add_console(app: Flask, services: Services) -> None:
    """Add all pages to the application of the control plane."""
    console = make_console(PAGES)
    app.extensions[KEY] = console
    routes = [route for page in PAGES for route in page.routes]
    routes += [*login.ROUTES, login.LOGOUT, console.assets.route]
    for route in routes:
        add_route(app, route, _show_refusals(route, services))
    app.extensions[PUBLIC].update(route.id for route in (*login.ROUTES, console.assets.route))
    ids = frozenset(route.id for route in routes)

    def lead_to_login(response: Response) -> Response:
        """Replace the refusals of the guard, which come before any view."""
        refused = response.status_code in {401, 403} and response.mimetype == MEDIA_TYPE
        if refused and current.endpoint in ids and _is_browser(current):
            return _replace(ControlRequest(services, current, {}, {}, None), response)
        return response

    app.after_request(lead_to_login)


def _show_refusals(route: Route, services: Services) -> Callable[..., Response]:
    """Returns the function that answers a route of the console, with refusals as pages."""
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
    """Returns the login for a request without the token, or the refusal as a page."""
    if refused.status_code == 401:
        path, query = request.flask.path, request.flask.query_string.decode("latin-1")
        here = quote(path.removeprefix("/_mock")) + (f"?{query}" if query else "")
        wanted = here if request.flask.method == "GET" else "/"
        response = go(request, f"{login.PATH}?next={quote(wanted)}")
        if "HX-Request" in request.flask.headers:  # a part of a page cannot show the login
            response.headers["HX-Redirect"] = response.headers.pop("Location")
            response.status_code = 200
        return response
    problem: dict[str, Any] = refused.get_json()
    return render_refusal(request, ControlRefusal(refused.status_code, problem["detail"]))


def _is_browser(request: Request) -> bool:
    """Whether the client shows pages: browsers ask for HTML by name, other clients do not."""
    return HTML in request.headers.get("Accept", "").lower() or "HX-Request" in request.headers
