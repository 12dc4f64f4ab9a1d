"""Real OAuth 2.0 clients go through the flow with PKCE against `mock-platform serve`."""

from __future__ import annotations

from pathlib import Path

import pytest
import tweepy
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from authlib.integrations.requests_client import OAuthError
from oauthlib.oauth2 import AccessDeniedError, OAuth2Error
from requests_oauthlib import OAuth2Session

from tests.live.clients import REAL, Redirect
from tests.live.pages import Page
from tests.live_servers import LiveWorld
from tests.prepared_python import PreparedPython
from tests.visitor import Visitor

pytestmark = pytest.mark.live

CALLBACK = "https://desk.harbor-roasters.example/oauth/callback"
SCOPES = ["post.read", "users.read", "like.read", "offline.access"]
LIST = "/2/activity/subscriptions"
PAGE = Page("docs/oauth2.md")


def answered(world: LiveWorld, address: str, button: str = "allow") -> str:
    """The address that the user's browser is sent back to."""
    page = Visitor(world.session(), world.base_url).open(address.removeprefix(world.base_url))
    page.submit("log_in", screen_name=world.screen_name, password=world.password)
    return page.submit(button).landed


def endpoint(world: LiveWorld, step: str) -> str:
    """The address of a step."""
    return f"{world.base_url}/2/oauth2/{step}"


def test_authlib(live_world: LiveWorld) -> None:
    """Authorize with PKCE, exchange, call, refresh, revoke; a used refresh token is refused."""
    world, app = live_world, live_world.credentials["app"]
    client = AuthlibSession(
        app["client_id"], app["client_secret"], scope=" ".join(SCOPES), redirect_uri=CALLBACK,
        code_challenge_method="S256", token_endpoint=endpoint(world, "token"),
        revocation_endpoint_auth_method="client_secret_basic",
    )  # fmt: skip
    client.trust_env = False
    verifier = generate_token(48)
    address, state = client.create_authorization_url(
        endpoint(world, "authorize"), code_verifier=verifier
    )
    landed = answered(world, address)
    first = client.fetch_token(
        endpoint(world, "token"), authorization_response=landed, code_verifier=verifier, state=state
    )
    called = client.get(world.base_url + LIST)
    second = client.refresh_token(endpoint(world, "token"))
    with pytest.raises(OAuthError, match="Value passed for the token was invalid"):
        client.refresh_token(endpoint(world, "token"), refresh_token=first["refresh_token"])
    revoked = client.revoke_token(endpoint(world, "revoke"), second["access_token"])

    assert (" ".join(SCOPES), 7200) == (first["scope"], first["expires_in"])
    assert 200 == called.status_code
    assert first["access_token"] != second["access_token"]
    assert {"revoked": True} == revoked.json()
    bearer = {"Authorization": f"Bearer {second['access_token']}"}
    assert 401 == world.session().get(world.base_url + LIST, headers=bearer).status_code


def test_requests_oauthlib(live_world: LiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its session with PKCE, over http as its own switch for local servers allows."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    world, app = live_world, live_world.credentials["app"]
    client = OAuth2Session(app["client_id"], redirect_uri=CALLBACK, scope=SCOPES, pkce="S256")
    client.trust_env = False
    address, _ = client.authorization_url(endpoint(world, "authorize"))
    landed = answered(world, address)
    secret = {"client_secret": app["client_secret"]}
    first = client.fetch_token(endpoint(world, "token"), authorization_response=landed, **secret)
    called = client.get(world.base_url + LIST)
    second = client.refresh_token(
        endpoint(world, "token"), auth=(app["client_id"], app["client_secret"])
    )
    with pytest.raises(OAuth2Error, match="authorization code was invalid"):
        client.fetch_token(endpoint(world, "token"), authorization_response=landed, **secret)

    assert SCOPES == list(first["scope"])
    assert 200 == called.status_code
    assert first["refresh_token"] != second["refresh_token"]


def test_a_denial(live_world: LiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of the callback reaches whoever uses the library."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    app = live_world.credentials["app"]
    client = OAuth2Session(app["client_id"], redirect_uri=CALLBACK, scope=SCOPES, pkce="S256")
    address, _ = client.authorization_url(endpoint(live_world, "authorize"))
    landed = answered(live_world, address, "deny")

    with pytest.raises(AccessDeniedError, match="The user denied the request"):
        client.fetch_token(REAL, authorization_response=landed)


@pytest.mark.parametrize("confidential", [True, False])
def test_tweepy(live_world: LiveWorld, confidential: bool) -> None:
    """OAuth2UserHandler gets a token, with which its client calls as the user."""
    world = live_world
    app = world.credentials["app"]
    if not confidential:
        world.change("apps", app["id"], _client_type="public")
    handler = tweepy.OAuth2UserHandler(
        client_id=app["client_id"], redirect_uri=CALLBACK, scope=["tweet.read", "users.read"],
        client_secret=app["client_secret"] if confidential else None,
    )  # fmt: skip
    handler.trust_env = False
    handler.mount(REAL, Redirect(world.base_url))
    _, _, path = handler.get_authorization_url().partition("/i/oauth2/")
    landed = answered(world, f"{world.base_url}/i/oauth2/{path}")
    found = handler.fetch_token(landed)
    client = tweepy.Client(found["access_token"])
    client.session.trust_env = False
    client.session.mount(REAL, Redirect(world.base_url))
    me = client.get_me(user_auth=False)

    assert "tweet.read users.read" == " ".join(found["scope"])
    assert world.screen_name == me.data.username


class TestPage:
    """The page of the documentation."""

    @pytest.mark.parametrize(
        ("program", "shown"),
        [
            (PAGE.blocks("python")[0], "harbor_roasters\n"),
            (
                PAGE.blocks("python")[1],
                "403 This endpoint needs the scope post.read, which the token does not have. The "
                "user allowed: users.read. Ask the user again, with the missing scope.\n",
            ),
            (PAGE.blocks("python")[2], "bearer 7200 users.read\n"),
        ],
        ids=["session", "scopes", "flow"],
    )
    def test_programs(
        self, loaded_python: PreparedPython, tmp_path: Path, program: str, shown: str
    ) -> None:
        """Each program runs as it is, and prints what the page says."""
        assert ({"python"}, 3) == (PAGE.languages, len(PAGE.blocks("python")))
        ended = loaded_python.run(program, tmp_path)

        assert (0, shown) == (ended.returncode, ended.stdout), ended.stderr
