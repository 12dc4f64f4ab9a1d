"""Requests that are sent from the console: one of the journal again, perhaps changed, or a replay.

They go to the platform as those of clients do, with the test credentials of the world, and have an
entry in the journal. A broken connection is noted there; no delay is waited for.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlsplit

from flask import Response

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.console.answers import answer_form, go
from mock_platform.control.console.entry import find_scheme, read_sent, show_entry
from mock_platform.control.journal import METHODS, find_entry
from mock_platform.control.refusals import ControlRefusal, refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.address import is_control, split_surface, split_world
from mock_platform.core.call import FORM, Call, Reply
from mock_platform.core.documents.forms import describe_choice
from mock_platform.core.journal_entries import end_unsent


def send_as_client(
    request: ControlRequest,
    method: str,
    address: str,
    headers: Sequence[tuple[str, str]] = (),
    body: str = "",
    scheme: str = "bearer",
) -> Reply:
    """Send a request with the test credentials; `address` is a path with its query, or absolute.

    Raises:
        ControlRefusal: 422; the method does not exist, or clients cannot call the address.
    """
    if method not in METHODS:
        text = f"method: {describe_choice(method, METHODS)}"
        raise refuse_values(422, [("method", text)], "The request was not sent")
    url = address if "://" in address else request.base_url + address
    parts = urlsplit(url)
    world, path = split_world(parts.path)
    if not parts.path.startswith("/") or is_control(path) or not url.isascii() or " " in url:
        text = "address: begins with / and is one that clients call, encoded, such as /2/users/me"
        raise refuse_values(422, [("address", text)], "The request was not sent")
    surface, _, path = split_surface(path, parts.netloc)
    origin = f"{parts.scheme}://{parts.netloc}"
    form = body if any(value.startswith(FORM) for name, value in headers if name.lower() == _TYPE) \
        else None  # fmt: skip
    call = Call(
        method=method,
        url=url,
        path=path,
        base_url=origin if world is None else f"{origin}/~{world}",
        headers=[("Host", parts.netloc), *headers, *_sign(request, method, url, form, scheme)],
        body=body.encode(),
        query_string=parts.query,
        surface=surface,
        world_prefix=world,
    )
    reply = request.platform.handle(call)
    if reply.stream is not None:
        reply.stream.close()
    end_unsent(reply)
    return reply


_TYPE = "content-type"


def _sign(
    request: ControlRequest, method: str, url: str, form: str | None, scheme: str
) -> list[tuple[str, str]]:
    """Return the header with the credentials of the world, if it has them."""
    # A server is up without oauthlib, which only this needs.
    from mock_platform.verification.compare.client import SigningCredentials

    found = credentials(request.world)
    app, user = found["app"] or {}, found["user"] or {}
    if scheme == "basic" and app:
        pair = f"{app['consumer_key']}:{app['consumer_secret']}".encode()
        return [("Authorization", f"Basic {base64.b64encode(pair).decode()}")]
    if scheme == "oauth2" and user.get("oauth2_access_token"):
        return [("Authorization", f"Bearer {user['oauth2_access_token']}")]
    keys = SigningCredentials(
        app.get("consumer_key"), app.get("consumer_secret"), user.get("access_token"),
        user.get("access_token_secret"), found["bearer_token"],
    )  # fmt: skip
    wanted = {"oauth1": ("oauth1",), "bearer": ("bearer",)}.get(scheme, ())
    signed = keys.sign(method, url, wanted, "good", form)  # type: ignore[arg-type]
    return [(name, value) for name, value in signed.items() if name == "Authorization"]


def send_again(request: ControlRequest) -> Response:
    """Send a request of the journal again, as it was or with other values, and show what came."""

    def send(values: Mapping[str, str]) -> Response:
        entry = find_entry(request.platform, request.world, request.args["key"]).as_json()
        sent = read_sent(entry)
        reply = send_as_client(
            request,
            values.get("method", sent.method).strip().upper(),
            values.get("address", sent.url).strip(),
            sent.headers,
            values.get("body", sent.body),
            values.get("scheme", find_scheme(sent, entry)),
        )
        if reply.entry is None:
            raise ControlRefusal(409, "The request was answered, but is in no journal.")
        path = f"/console/requests/{quote(reply.entry.id)}"
        return go(request, path, f"Sent again: {reply.status}.")

    return answer_form(request, send, show_entry)


ROUTES = (Route("POST", "/console/requests/<key>/again", send_again, media_type=HTML, form=True),)
