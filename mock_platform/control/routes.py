"""All routes of the control plane, and the Flask application that serves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from flask import Flask, Response, request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import Map, RuleFactory

from mock_platform.control import (
    about,
    agents,
    clock,
    consent_route,
    costs,
    coverage,
    docs,
    follow_requests,
    guard,
    journal,
    making,
    operation_pages,
    pacts,
    rules,
    scenarios,
    shadow,
    snapshots,
    state,
    streams,
    transitions,
    webhooks,
    worlds,
)
from mock_platform.control.description import describe_all
from mock_platform.control.guard import Sessions
from mock_platform.control.late_rule import LateRule
from mock_platform.control.metrics import Metrics
from mock_platform.control.mistakes import MISTAKES, describe_mistake
from mock_platform.control.refusals import MEDIA_TYPE, ControlRefusal, as_refusal
from mock_platform.control.route import ControlRequest, Route, Services, body_of, query_of
from mock_platform.core.cluster_peers import NoAnswer
from mock_platform.core.description.views import Description
from mock_platform.core.jsonio import dumps
from mock_platform.core.warning_counts import WarningRecorder
from mock_platform.core.wire import find_unread_headers
from mock_platform.platform import Platform
from mock_platform.verification.costs.recorder import CostRecorder
from mock_platform.verification.coverage.outcomes import Recorder
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreError

ROUTES: tuple[Route, ...] = (
    *about.ROUTES,
    *worlds.ROUTES,
    *clock.ROUTES,
    *journal.ROUTES,
    *scenarios.ROUTES,
    *state.ROUTES,
    *making.ROUTES,
    *follow_requests.ROUTES,
    *snapshots.ROUTES,
    *webhooks.ROUTES,
    *rules.ROUTES,
    *streams.ROUTES,
    *transitions.ROUTES,
    *pacts.ROUTES,
    *consent_route.ROUTES,
    *operation_pages.ROUTES,
    *coverage.ROUTES,
    *costs.ROUTES,
    *shadow.ROUTES,
    *agents.ROUTES,
    *docs.ROUTES,
)
"""All routes of the control plane for programs, and the interactive documentation.

Each module of routes declares its own, beside the views.
"""
PUBLIC = "mock_platform.public"
"""Key of the application's extensions: the endpoints that need no control token."""


_POLICY = "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
"""The content security policy of what is no page: should a browser show it, it loads nothing."""
Answers = Mapping[Route, Callable[..., Response]]
"""The functions that answer routes, which take the values in the path by name."""
Extension = Callable[[Flask, Services], Answers]
"""Adds to the control plane what is built on it, and returns its routes."""


def create_control(
    platform: Platform,
    metrics: Metrics,
    recorder: Recorder,
    warning_recorder: WarningRecorder,
    cost_recorder: CostRecorder,
    sessions: Sessions,
    extend: Extension | None = None,
) -> Flask:
    """Return the Flask application of the control plane; `extend` adds routes to it."""
    app = Flask("mock_platform.control", static_folder=None)
    app.url_map = compile_rules(())  # whatever adds a rule by itself is told so
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    services = Services(
        platform,
        metrics,
        describe_everything(platform),
        recorder,
        warning_recorder,
        cost_recorder,
        sessions,
    )
    answers = {route: bind(route, services) for route in (*ROUTES, docs.ASSET)}
    public: set[str | None] = set()
    app.extensions[PUBLIC] = public
    app.before_request(
        lambda: guard.check(
            request.environ,
            platform.settings,
            services.guesses,
            sessions,
            public=request.endpoint in public,
        )
    )
    app.after_request(_add_headers)
    _handle_errors(app, platform)
    if extend is not None:
        answers |= extend(app, services)
    app.view_functions |= {route.id: answer for route, answer in answers.items()}
    app.url_map = compile_rules(tuple(answers))
    return app


# Compiling the rules takes most of the time of making a control plane. They depend on the routes
# alone, so all servers of a process with the same routes use the same rules; the functions that
# answer are in the application of each server.


class SharedRules(Map):
    """The rules of some routes. There are no others: another server may use them too."""

    def __init__(self, routes: tuple[Route, ...]) -> None:
        super().__init__(merge_slashes=False, redirect_defaults=False)
        for route in routes:
            super().add(LateRule(route.rule, endpoint=route.id, methods=[route.method]))
        self.update()

    def add(self, rulefactory: RuleFactory) -> None:
        """Refuse another rule.

        Raises:
            TypeError: Always.
        """
        raise TypeError(f"{rulefactory!r} cannot be added; an extension returns its routes.")


@lru_cache(8)
def compile_rules(routes: tuple[Route, ...]) -> Map:
    """Return the rules by which routes are found, compiled once for all servers of the process."""
    return SharedRules(routes)


def describe_everything(platform: Platform) -> Description:
    """Return the document of `/_mock/openapi.json`."""
    return describe_all(platform, ROUTES)


def bind(route: Route, services: Services) -> Callable[..., Response]:
    """Return the function that answers a route: it checks the request and calls the view."""

    def answer(**args: str) -> Response:
        if route.form:
            guard.check_form(request.environ)
        _check_headers(request.headers)
        query = query_of(route, request)
        body = body_of(route, request, services.platform)
        result = _view(route, ControlRequest(services, request, args, query, body))
        if isinstance(result, Response):
            return result
        if route.status == 204:
            return Response(status=204)
        return _json(result, route.status, route.media_type)

    return answer


def _check_headers(sent: Headers) -> None:
    """Check that each header that looks like ours is read: a misspelt world would be another one.

    Raises:
        Refusal: 400; one is not.
    """
    for unread in find_unread_headers(name for name, _ in sent):
        raise ControlRefusal(400, f"Nothing was done: {unread}.")


def _view(route: Route, asked: ControlRequest) -> Any:
    """Return what a view does, once more if its world was put to rest, or another process had it.

    A change needs no check of the latter, because the archive makes it.
    """
    # What was read may be outdated if this process lost the world while it read. Then the view runs
    # once more: the world is opened here again, or the refusal says who has it. The same if the
    # world was put to rest before the view could use it, since nothing was done then.
    while True:
        try:
            result = route.view(asked)
            if route.method == "GET" and asked.read_world is not None:
                asked.platform.worlds.check_still_here(asked.read_world, ())
        except UnknownWorld:
            if asked.read_world is None or not asked.read_world.moved:
                raise
        else:
            return result


def _json(value: Any, status: int, media_type: str = "application/json") -> Response:
    return Response(dumps(value), status, content_type=media_type)


def _add_headers(response: Response) -> Response:
    if response.status_code == 204:  # Flask gives even nothing a type
        response.headers.pop("Content-Type", None)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("X-Frame-Options", "DENY")
    # With `no-referrer`, browsers would send `Origin: null` with the console's own forms.
    response.headers.setdefault("Referrer-Policy", "same-origin")
    response.headers.setdefault("Content-Security-Policy", _POLICY)
    return response


# -- refusals ----------------------------------------------------------------------------------


def _handle_errors(app: Flask, platform: Platform) -> None:
    def refuse(refusal: ControlRefusal, because: Exception | None = None) -> Response:
        problem = refusal.as_json()
        mistake = describe_mistake(because or refusal.__cause__)
        if mistake is not None:
            problem["mistake"] = mistake
        response = _json(problem, refusal.status, MEDIA_TYPE)
        response.headers.extend(refusal.headers)
        return response

    def refuse_mistake(fault: Exception) -> Response:
        refusal = as_refusal(fault)
        return fail(fault) if refusal is None else refuse(refusal, fault)

    def http(fault: HTTPException) -> Response:
        if isinstance(fault, NotFound):
            return refuse(_unknown_path(request.path))
        headers = []
        if isinstance(fault, MethodNotAllowed):
            allowed = ", ".join(sorted(fault.valid_methods or ()))
            headers = [("Allow", allowed)]
            text = f"{request.method} is not allowed here; allowed: {allowed}."
            return refuse(ControlRefusal(405, text, headers=headers))
        if fault.response is not None or fault.code is None or fault.code < 400:
            return fault.get_response()  # type: ignore[return-value]
        return refuse(ControlRefusal(fault.code, fault.description or fault.name))

    def fail(fault: Exception) -> Response:
        platform.on_error(fault)
        text = (
            f"The sandbox itself failed ({type(fault).__name__}: {fault}). This is an "
            "error in mock_platform, not in your request."
        )
        return refuse(ControlRefusal(500, text))

    app.register_error_handler(ControlRefusal, refuse)
    for kind in (NoAnswer, StoreError):
        app.register_error_handler(kind, refuse_mistake)
    for mistake in MISTAKES:
        app.register_error_handler(mistake.kind, refuse_mistake)
    app.register_error_handler(HTTPException, http)
    app.register_error_handler(Exception, fail)


def _unknown_path(path: str) -> ControlRefusal:
    def closeness(route: Route) -> float:
        return SequenceMatcher(None, path[:200], route.rule).ratio()

    near = sorted(ROUTES, key=closeness, reverse=True)[:3]
    nearest = [f"{route.method} {route.rule}" for route in near if closeness(route) > 0.5]
    hint = f" Nearest: {'; '.join(nearest)}." if nearest else " GET /_mock/docs/ lists all routes."
    return ControlRefusal(404, f"The control plane has no route {path}.{hint}", nearest=nearest)
