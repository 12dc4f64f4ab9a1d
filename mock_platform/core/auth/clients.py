"""The clients of OAuth 2.0 user context: apps with a `client_id`, and how they prove who they are.

A confidential client sends its secret by HTTP Basic, a public one only its `client_id` in the form.
"""

from __future__ import annotations

import hmac

from mock_platform.core.auth.lookup import find_app, find_client, read_basic_pair
from mock_platform.core.call import Call, Caller
from mock_platform.core.failures.errors import Unauthorized
from mock_platform.core.pairs import first_values
from mock_platform.store.interface import Record
from mock_platform.world.world import World


def authenticate_client(call: Call, world: World) -> Caller:
    """Returns the app that calls, by Basic or by `client_id` in the form.

    Raises:
        Unauthorized: `absent` without a `client_id`, `consumer` for an unknown one, `no-token` for
            a confidential client without its secret, `signature` for a wrong secret.
    """
    scheme, _, rest = (call.header("authorization") or "").strip().partition(" ")
    sent = first_values(call.form)[0].get("client_id", "")
    if scheme.lower() == "basic":
        client_id, secret = read_basic_pair(rest.strip())
        app = _require_client(world, client_id)
        if sent and sent != client_id:
            raise Unauthorized("consumer", "client_id in the form is not the one of Basic")
        expected = app["client_secret"] or ""
        if app["_client_type"] == "public" and not secret:
            expected = ""  # libraries send public clients so: the secret is empty
        if not hmac.compare_digest(expected.encode(), secret.encode()):
            why = f"wrong client_secret for the client_id {client_id!r}"
            if hmac.compare_digest(app["consumer_secret"].encode(), secret.encode()):
                why = "the consumer secret was sent; this endpoint takes the client_secret"
            raise Unauthorized("signature", why)
        return Caller("basic", app, None, None, "client_id and secret by HTTP Basic")
    if scheme:
        raise Unauthorized("no-token", f"this endpoint takes Basic or no header, not {scheme!r}")
    if not sent:
        raise Unauthorized("absent", "no client_id: neither by HTTP Basic nor in the form body")
    app = _require_client(world, sent)
    if app["_client_type"] == "confidential":
        why = f"app {app['id']} is a confidential client: it sends client_id and secret by Basic"
        raise Unauthorized("no-token", why)
    return Caller("basic", app, None, None, "client_id of a public client")


def _require_client(world: World, client_id: str) -> Record:
    app = find_client(world, client_id) if client_id else None
    if app is not None:
        return app
    if find_app(world, client_id) is not None:
        why = "the consumer key was sent; OAuth 2.0 user context takes client_id and client_secret"
        raise Unauthorized("consumer", why)
    raise Unauthorized(
        "consumer", f"no app in world {world.name!r} has the client_id {client_id!r}"
    )
