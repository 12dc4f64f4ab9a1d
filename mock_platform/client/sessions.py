"""How the sessions of a world sign, wherever the world is."""

from __future__ import annotations

from mock_platform.client.errors import MissingCredentials
from mock_platform.control.known_credentials import Credentials
from mock_platform.in_process.session import AuthScheme, BearerAuth, OAuth1Auth


def authentication(world: str, found: Credentials, scheme: AuthScheme) -> OAuth1Auth | BearerAuth:
    """What signs requests with the well-known credentials of a world.

    Raises:
        MissingCredentials: The world holds none of that kind (any more).
        ValueError: There is no such scheme.
    """
    app, user, bearer = found["app"], found["user"], found["bearer_token"]
    if scheme == "oauth1":
        if app is None or user is None or user["access_token"] is None:
            raise _missing(world, "an app, a user and an access token")
        return OAuth1Auth(
            app["consumer_key"],
            app["consumer_secret"],
            user["access_token"],
            user["access_token_secret"],
        )
    if scheme == "bearer":
        if bearer is None:
            raise _missing(world, "a bearer token")
        return BearerAuth(bearer)
    raise ValueError(f"auth is 'oauth1', 'bearer' or None, not {scheme!r}")


def _missing(world: str, what: str) -> MissingCredentials:
    return MissingCredentials(
        f"World {world!r} does not hold {what} of its first app and user. Put them into its state "
        "or reset it, or sign with credentials of your own."
    )
