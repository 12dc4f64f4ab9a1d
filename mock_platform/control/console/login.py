"""The login of the console, where the server has a control token."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flask import Response

from mock_platform.control.console.answers import go, render, root_of
from mock_platform.control.console.forms import FormState, read_form
from mock_platform.control.guard import MAX_SECONDS, name_cookie, try_token
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.fields import Text
from mock_platform.core.schema import Schema

PATH = "/console/login"


_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ADDRESS = "a path without control characters"


class QueryOfLogin(Schema):
    """The page to which the login leads."""

    next = Text(pattern=r"[^\x00-\x1f\x7f]*", pattern_text=_ADDRESS)


def show_login(request: ControlRequest) -> Response:
    """The form that asks for the control token."""
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
    response = go(request, _find_target(values.get("next", "")))
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
    response = go(request, PATH)
    environ, token = request.flask.environ, request.platform.settings.control_token
    if token is not None:
        request.services.sessions.end(environ, token)
    name = name_cookie(environ)
    response.delete_cookie(name, _cookie_path(request), httponly=True, samesite="Strict")
    return response


ROUTES = (
    Route("GET", PATH, show_login, query=QueryOfLogin, media_type=HTML),
    Route("POST", PATH, log_in, media_type=HTML, form=True),
)
"""These need no token."""
LOGOUT = Route("POST", "/console/logout", log_out, media_type=HTML, form=True)


def _ask_again(
    request: ControlRequest, values: Mapping[str, str], text: str, status: int
) -> Response:
    kept = {"next": values.get("next", "")}
    return render(request, "login.html", form=FormState(kept, {"token": [text]}, text, status))


def _find_target(path: str) -> str:
    """Returns a path below `/_mock` on this server; anything else leads to the first page."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"


def _cookie_path(request: ControlRequest) -> str:
    """All worlds of this server, wherever it is mounted."""
    return root_of(request).partition("/~")[0].removesuffix("/_mock") or "/"
