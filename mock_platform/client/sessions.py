"""Authentication of sessions, in this process and over the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mock_platform.core.auth.credential_texts import Credentials
from mock_platform.core.errors import MissingCredentials
from mock_platform.serving.in_process.session import AuthScheme, BearerAuth

if TYPE_CHECKING:
    from mock_platform.serving.in_process.oauth1 import OAuth1Auth


def authentication(world: str, found: Credentials, scheme: AuthScheme) -> OAuth1Auth | BearerAuth:
    """Returns the authentication that signs requests with the test credentials of a world.

    Raises:
        MissingCredentials: The world has no credentials of this kind, or no longer.
        ValueError: The scheme does not exist.
    """
    app, user, bearer = found["app"], found["user"], found["bearer_token"]
    if scheme == "oauth1":
        if app is None or user is None or user["access_token"] is None:
            raise _explain_missing(world, "an app, a user and an access token")
        from mock_platform.serving.in_process.oauth1 import OAuth1Auth

        return OAuth1Auth(
            app["consumer_key"],
            app["consumer_secret"],
            user["access_token"],
            user["access_token_secret"],
        )
    if scheme == "bearer":
        if bearer is None:
            raise _explain_missing(world, "a bearer token")
        return BearerAuth(bearer)
    if scheme == "oauth2":
        if user is None or user["oauth2_access_token"] is None:
            raise _explain_missing(world, "an OAuth 2.0 access token")
        return BearerAuth(user["oauth2_access_token"])
    raise ValueError(f"auth must be 'oauth1', 'oauth2', 'bearer' or None, not {scheme!r}")


def _explain_missing(world: str, what: str) -> MissingCredentials:
    return MissingCredentials(
        f"World {world!r} does not have {what} of its first app and user. Add them to "
        "its state, reset the world, or sign with other credentials."
    )
