"""Pact files: what clients of a world exercised, and how a verifier brings a world into a state."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response
from marshmallow import EXCLUDE, fields

from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import WORLD, ControlRequest, Route
from mock_platform.control.worlds import addresses
from mock_platform.core.fields import Choice, Json, ListOf, Nested, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.schema import Schema
from mock_platform.delivery.envelope import make_body
from mock_platform.delivery.sender import find_names
from mock_platform.verification.pact import BEGINNING, EVENT, SIGNED, Parties, make_pact, read_world
from mock_platform.verification.pact.recorded import FORM, begin_again
from mock_platform.world.names import DEFAULT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


class PartiesQuery(Schema):
    """The names of the two parties."""

    consumer = Text(required=True, metadata={"description": "name of the client"})
    provider = Text(required=True, metadata={"description": "name of the interface"})


class LeftOutAnswer(Schema):
    """A request that is not in the file."""

    request = Text(required=True)
    reason = Text(required=True)


class PactAnswer(Schema):
    """The Pact file, and the requests that are not in it."""

    pact = fields.Dict(required=True)
    left_out = ListOf(Nested(LeftOutAnswer), required=True)


class StateBody(Schema):
    """A provider state, in the form in which Pact verifiers send it."""

    class Meta:
        """Verifiers send further keys, such as the name of the consumer."""

        unknown = EXCLUDE

    state = Text(required=True, metadata={"description": "name of the state"})
    params = Json(load_default=None, metadata={"description": "its parameters"})
    action = Choice(("setup", "teardown"), load_default="setup")


class NamedState(Schema):
    """A provider state as a Pact file has it."""

    name = Text(required=True)
    params = Json(load_default=None)


class MessageBody(Schema):
    """The message that a Pact verifier asks for."""

    class Meta:
        """Verifiers send further keys."""

        unknown = EXCLUDE

    description = Text(required=True)
    provider_states = ListOf(Nested(NamedState), data_key="providerStates")


def get_pact(request: ControlRequest) -> dict[str, Any]:
    """Return what clients of this world exercised, as a Pact file of version 4."""
    parties = Parties(request.query["consumer"], request.query["provider"])
    recorded = read_world(request.platform, request.world)
    openapi = request.services.description.at("http://localhost")
    pact, left_out = make_pact(parties, recorded, openapi)
    return {"pact": pact, "left_out": [each._asdict() for each in left_out]}


def put_state(request: ControlRequest) -> dict[str, Any]:
    """Bring the world into a provider state of a Pact file; return values for the request."""
    body = request.body
    if body["action"] == "teardown":
        return {}
    reach = _STATES.get(body["state"])
    if reach is None:
        known = ", ".join(repr(name) for name in _STATES)
        raise ControlRefusal(
            422,
            f"{body['state']!r} is not a state of this sandbox: {known}. For the states of "
            "another tool, give the verifier a handler of your own.",
        )
    try:
        return reach(request, body["params"] or {})
    except (AttributeError, KeyError, TypeError, ValueError) as fault:
        raise ControlRefusal(
            422,
            f"{body['state']!r} cannot be reached: {type(fault).__name__}: {fault}. Its "
            "parameters are those of a file that `mock-platform pact` wrote.",
        ) from fault


def make_message(request: ControlRequest) -> Response:
    """Return the body that a webhook receives for the event of the message's provider state."""
    named = request.body.get("provider_states", ())
    state = next((each for each in named if each["name"] == EVENT), None)
    if state is None:
        raise ControlRefusal(
            422,
            f"{request.body['description']!r} has no provider state {EVENT!r}: only messages that "
            "`mock-platform pact` wrote can be made again.",
        )
    world = request.world
    with world.lock:
        params = state["params"] or {}
        event = _find_event(world, params.get("event"))
        webhook = world.store.get("webhooks", event["webhook_id"] or "")
        app = None if webhook is None else world.store.get("apps", webhook["_app_id"])
        owner = "" if app is None else app.get("_owner_user_id") or ""
        names = find_names(world, event["webhook_id"] or "")
        made = make_body(event, owner, params.get("names", names))
    metadata = base64.b64encode(dumps({"contentType": "application/json"})).decode()
    return Response(
        dumps(made), content_type="application/json", headers={"Pact-Message-Metadata": metadata}
    )


def _begin(request: ControlRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    """Reset the world, then change what the state says."""
    begin_again(request.platform, request.world, params)
    return {}


def _prepare_signature(request: ControlRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    """Sign the request that the state describes, for its header Authorization."""
    return {"authorization": _sign(request, params)}


def _require_event(request: ControlRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    """Make sure that the event of a message is there."""
    with request.world.lock:
        _find_event(request.world, params.get("event"))
    return {}


def _find_event(world: World, key: str | None) -> Record:
    event = world.store.get("events", key or "")
    if event is None:
        raise ControlRefusal(
            404,
            f"The world has no event {key!r}. A message needs the state {BEGINNING!r} first, with "
            "the event among its records.",
        )
    return event


# -- signatures ------------------------------------------------------------------------------------


def _sign(request: ControlRequest, params: Mapping[str, Any]) -> str:
    """Return the Authorization header of a request that a state describes.

    Raises:
        ControlRefusal: The world has no such credentials.
    """
    world, scheme = request.world, params.get("scheme")
    with world.lock:
        app = world.store.get("apps", params["app"]) if "app" in params else None
        app = app or world.store.first("apps")
        user = params.get("user") or (world.store.first("users") or {}).get("id")
        if app is None:
            raise _refuse(scheme, "app")
        if scheme == "basic":
            return _write_basic(app["consumer_key"], app["consumer_secret"])
        if scheme == "oauth2-client":
            return _write_basic(app["client_id"], app["client_secret"])
        if scheme == "oauth1-app":
            return _sign_oauth1(request, params, app, None)
        kinds = {"bearer": "bearer", "oauth2": "oauth2", "oauth1": "access"}
        if scheme not in kinds:
            known = "oauth1, oauth1-app, oauth2, bearer, basic, oauth2-client"
            raise ControlRefusal(422, f"{scheme!r} is not a kind of credentials: {known}.")
        wanted = {"app_id": app["id"], "state": "active", "kind": kinds[scheme]}
        if scheme != "bearer":
            wanted["user_id"] = user
        token = world.store.first("tokens", wanted)
    if token is None:
        raise _refuse(scheme, f"token for the app {app['id']} and the user {user}")
    if scheme == "oauth1":
        return _sign_oauth1(request, params, app, token)
    return f"Bearer {token['id']}"


def _sign_oauth1(
    request: ControlRequest, params: Mapping[str, Any], app: Record, token: Record | None
) -> str:
    # Loaded here: only verifiers need it.
    from oauthlib.oauth1 import Client

    base = addresses(request.origin, request.flask.environ.get(WORLD) or DEFAULT)["base_url"]
    query = urlencode([tuple(pair) for pair in params.get("query", ())])
    form = urlencode([tuple(pair) for pair in params.get("form", ())])
    client = Client(
        app["consumer_key"],
        app["consumer_secret"],
        None if token is None else token["id"],
        None if token is None else token["secret"],
        callback_uri=params.get("callback"),
    )
    _, headers, _ = client.sign(
        f"{base}{params['path']}" + (f"?{query}" if query else ""),
        params["method"],
        form or None,
        {"Content-Type": FORM} if form else {},
    )
    return str(headers["Authorization"])


def _write_basic(name: str, secret: str) -> str:
    pair = f"{quote(name, safe='')}:{quote(secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _refuse(scheme: str | None, what: str) -> ControlRefusal:
    return ControlRefusal(
        404,
        f"The world has no {what}, which a request with {scheme} needs. Add it to the fixtures of "
        "the server.",
    )


_STATES: Mapping[str, Callable[[ControlRequest, Mapping[str, Any]], dict[str, Any]]] = {
    BEGINNING: _begin,
    SIGNED: _prepare_signature,
    EVENT: _require_event,
}
"""How each state is reached; what a function returns, the verifier puts into the request."""


ROUTES = (
    Route("GET", "/pact", get_pact, query=PartiesQuery, returns=PactAnswer),
    Route("POST", "/provider-states", put_state, body=StateBody),
    Route("POST", "/provider-messages", make_message, body=MessageBody),
)
