"""Real OAuth clients go through the flow of spec A against `mock-platform serve`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
import requests
import tweepy
from authlib.integrations import requests_client as authlib_client
from authlib.oauth1 import SIGNATURE_TYPE_BODY as AUTHLIB_BODY
from authlib.oauth1 import SIGNATURE_TYPE_HEADER as AUTHLIB_HEADER
from authlib.oauth1 import SIGNATURE_TYPE_QUERY as AUTHLIB_QUERY
from oauthlib.oauth1 import SIGNATURE_TYPE_AUTH_HEADER, SIGNATURE_TYPE_BODY, SIGNATURE_TYPE_QUERY
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth1, OAuth1Session, OAuth2Session
from requests_oauthlib.oauth1_session import TokenRequestDenied

from tests.live.conftest import NodeStep
from tests.live_servers import LiveServer, LiveWorld
from tests.visitor import Visitor

pytestmark = pytest.mark.live

CALLBACK = "https://desk.harbor-roasters.example/oauth/callback"
INVALIDATE = "/1.1/oauth/invalidate_token.json"


def user(world: LiveWorld) -> Visitor:
    """The well-known user's browser."""
    return Visitor(world.session(), world.base_url)


def allowed(world: LiveWorld, address: str) -> Visitor:
    """The user's browser after allowing what the client's address asks for."""
    assert address.startswith(world.base_url)
    page = user(world).open(address.removeprefix(world.base_url))
    page.submit("log_in", screen_name=world.screen_name, password=world.password)
    return page.submit("allow")


@pytest.fixture(params=["http", "https"])
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> LiveWorld:
    """A fresh world over http, and one over https, trusted as users do it: by the environment."""
    name = "live_world" if request.param == "http" else "live_world_tls"
    found: LiveWorld = request.getfixturevalue(name)
    if found.ca is not None:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", found.ca)
    return found


# -- tweepy --------------------------------------------------------------------------------------


class TweepyHandler(tweepy.OAuth1UserHandler):  # type: ignore[misc]
    """Tweepy's own handler, at the sandbox's address."""

    def __init__(self, world: LiveWorld, callback: str) -> None:
        super().__init__(world.key, world.secret, callback=callback)
        self._world = world

    def _get_oauth_url(self, endpoint: str) -> str:
        return f"{self._world.base_url}/oauth/{endpoint}"


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "Listed as not requiring")
@pytest.mark.spec("A, Authentication", "OAuth 1.0a, three-legged")
@pytest.mark.parametrize("sign_in", [False, True])
def test_tweepy_with_a_callback(world: LiveWorld, sign_in: bool) -> None:
    """Tweepy's handler gets the user's token through authorize and through authenticate."""
    handler = TweepyHandler(world, CALLBACK)
    address = handler.get_authorization_url(signin_with_twitter=sign_in)
    page = allowed(world, address)
    token, secret = handler.get_access_token(page.landed_with["oauth_verifier"])
    answer = world.session().post(world.base_url + INVALIDATE, auth=handler.apply_auth())

    assert f"{world.base_url}/oauth/{'authenticate' if sign_in else 'authorize'}?" in address
    assert page.landed_with["oauth_token"] == handler.request_token["oauth_token"]
    assert (token, secret) == (handler.access_token, handler.access_token_secret)
    assert {"access_token": token} == answer.json()


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "the value oob selects")
@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "oauth_verifier")
def test_tweepy_with_a_pin(world: LiveWorld) -> None:
    """Out of band: the user types the PIN of the page into the program."""
    handler = TweepyHandler(world, "oob")
    pin = allowed(world, handler.get_authorization_url()).pin
    token, _ = handler.get_access_token(pin)
    with pytest.raises(tweepy.TweepyException, match="Invalid request token"):
        handler.get_access_token(pin)

    assert token.startswith("2244994945-")


def test_tweepy_asks_for_read_access(world: LiveWorld) -> None:
    """x_auth_access_type in the query, as tweepy sends it, narrows the token."""
    handler = TweepyHandler(world, CALLBACK)
    page = allowed(world, handler.get_authorization_url(access_type="read"))
    token, _ = handler.get_access_token(page.landed_with["oauth_verifier"])

    assert "read" == world.record("tokens", token)["access"]


def test_tweepy_tells_a_callback_that_is_not_approved(world: LiveWorld) -> None:
    """The reason reaches whoever uses tweepy."""
    handler = TweepyHandler(world, "https://elsewhere.example/")
    with pytest.raises(tweepy.TweepyException, match="Callback URL not approved"):
        handler.get_authorization_url()


def test_tweepy_app_handler(world: LiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """OAuth2AppHandler gets the bearer token, which authenticates a v2 request."""
    post = requests.post

    def here(url: str, **more: Any) -> requests.Response:
        return post(url.replace("https://api.twitter.com", world.base_url), **more)

    monkeypatch.setattr("tweepy.auth.requests.post", here)
    handler = tweepy.OAuth2AppHandler(world.key, world.secret)
    replay = f"{world.base_url}/2/webhooks/replay"
    answer = world.session().post(replay, json={}, auth=handler.apply_auth())

    assert world.credentials["bearer_token"] == handler._bearer_token
    assert 400 == answer.status_code  # an empty body, but an accepted token
    assert 401 == world.session().post(replay, json={}).status_code


# -- requests-oauthlib ---------------------------------------------------------------------------


@pytest.mark.spec("A, Other v2 endpoints", "OAuth 1.0a endpoints")
@pytest.mark.spec("A, Authentication", "Steps: request_token")
@pytest.mark.parametrize(
    "place", [SIGNATURE_TYPE_AUTH_HEADER, SIGNATURE_TYPE_QUERY, SIGNATURE_TYPE_BODY]
)
def test_requests_oauthlib(world: LiveWorld, place: str) -> None:
    """OAuth1Session, its parameters in header, query or body: begin, exchange, use, revoke."""
    client = OAuth1Session(
        world.key, client_secret=world.secret, callback_uri=CALLBACK, signature_type=place
    )
    begun = client.fetch_request_token(f"{world.base_url}/oauth/request_token")
    page = allowed(world, client.authorization_url(f"{world.base_url}/oauth/authorize"))
    client.parse_authorization_response(page.landed)
    found = client.fetch_access_token(f"{world.base_url}/oauth/access_token")
    revoked = client.post(world.base_url + INVALIDATE)
    after = client.post(world.base_url + INVALIDATE)

    assert "true" == begun["oauth_callback_confirmed"]
    assert world.screen_name == found["screen_name"]
    assert (200, {"access_token": found["oauth_token"]}) == (revoked.status_code, revoked.json())
    assert (401, 89) == (after.status_code, after.json()["errors"][0]["code"])


def test_requests_oauthlib_with_a_wrong_verifier(world: LiveWorld) -> None:
    """The plain text that clients match reaches them; the right PIN still works after."""
    client = OAuth1Session(world.key, client_secret=world.secret, callback_uri="oob")
    client.fetch_request_token(f"{world.base_url}/oauth/request_token")
    pin = allowed(world, client.authorization_url(f"{world.base_url}/oauth/authorize")).pin
    address = f"{world.base_url}/oauth/access_token"
    with pytest.raises(TokenRequestDenied, match="Invalid oauth_verifier parameter"):
        client.fetch_access_token(address, verifier="0000000")

    assert world.screen_name == client.fetch_access_token(address, verifier=pin)["screen_name"]


def test_requests_oauthlib_gets_a_bearer_token(live_world_tls: LiveWorld) -> None:
    """The client credentials grant of a general OAuth 2.0 client, which insists on https."""
    world = live_world_tls
    client = OAuth2Session(client=BackendApplicationClient(client_id=world.key))
    found = client.fetch_token(
        f"{world.base_url}/oauth2/token", client_id=world.key, client_secret=world.secret,
        verify=world.ca,
    )  # fmt: skip

    assert world.credentials["bearer_token"] == found["access_token"]


# -- Authlib -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [AUTHLIB_HEADER, AUTHLIB_QUERY, AUTHLIB_BODY])
def test_authlib(world: LiveWorld, place: str) -> None:
    """Authlib's OAuth1Session goes through the flow, its parameters in each of the places."""
    client = authlib_client.OAuth1Session(
        world.key, world.secret, redirect_uri=CALLBACK, signature_type=place
    )
    client.fetch_request_token(f"{world.base_url}/oauth/request_token")
    page = allowed(world, client.create_authorization_url(f"{world.base_url}/oauth/authorize"))
    client.parse_authorization_response(page.landed)
    found = client.fetch_access_token(f"{world.base_url}/oauth/access_token")
    revoked = client.post(world.base_url + INVALIDATE)

    assert world.screen_name == found["screen_name"]
    assert {"access_token": found["oauth_token"]} == revoked.json()


def test_authlib_can_start_over(world: LiveWorld) -> None:
    """The same session begins again, sending along the request token that it holds."""
    client = authlib_client.OAuth1Session(world.key, world.secret, redirect_uri="oob")
    first = client.fetch_request_token(f"{world.base_url}/oauth/request_token")
    second = client.fetch_request_token(f"{world.base_url}/oauth/request_token")
    pin = allowed(world, client.create_authorization_url(f"{world.base_url}/oauth/authorize")).pin
    found = client.fetch_access_token(f"{world.base_url}/oauth/access_token", verifier=pin)

    assert first["oauth_token"] != second["oauth_token"]
    assert world.screen_name == found["screen_name"]


@pytest.mark.spec("A, Other v2 endpoints", "OAuth 1.0a endpoints")
def test_authlib_gets_and_revokes_a_bearer_token(world: LiveWorld) -> None:
    """Client credentials by Basic; the token dies by oauth2/invalidate_token, the next differs."""
    client = authlib_client.OAuth2Session(world.key, world.secret)
    address = f"{world.base_url}/oauth2/token"
    first = client.fetch_token(address, grant_type="client_credentials")["access_token"]
    replay = f"{world.base_url}/2/webhooks/replay"
    before = client.post(replay, json={})
    revoked = world.session().post(
        f"{world.base_url}/oauth2/invalidate_token", data={"access_token": first},
        auth=(quote(world.key), quote(world.secret)),
    )  # fmt: skip
    after = client.post(replay, json={})
    second = client.fetch_token(address, grant_type="client_credentials")["access_token"]

    assert {"access_token": first} == revoked.json()
    assert (400, 401) == (before.status_code, after.status_code)
    assert first != second


# -- node-oauth ----------------------------------------------------------------------------------


@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "Replaces authorize")
def test_node_oauth_with_a_callback(world: LiveWorld, node: NodeStep) -> None:
    """node-oauth begins, exchanges and revokes; a second exchange is refused."""
    begun = node("begin", world, callback=CALLBACK)
    address = f"{world.base_url}/oauth/authenticate?oauth_token={begun['token']}"
    verifier = allowed(world, address).landed_with["oauth_verifier"]
    request = {"token": begun["token"], "token_secret": begun["secret"], "verifier": verifier}
    found = node("exchange", world, **request)
    again = node("exchange", world, **request)
    pair = {"token": found["token"], "token_secret": found["secret"]}
    revoked = node("invalidate", world, **pair)
    after = node("invalidate", world, **pair)

    assert "true" == begun["confirmed"]
    assert world.screen_name == found["screen_name"]
    assert {"status": 401, "body": "Invalid request token."} == again["error"]
    assert {"access_token": found["token"]} == revoked
    assert 401 == after["error"]["status"]
    assert '"code":89' in after["error"]["body"]


def test_node_oauth_gets_a_bearer_token(world: LiveWorld, node: NodeStep) -> None:
    """The client credentials grant of node's OAuth 2.0 client, with Basic."""
    found = node("bearer", world)

    assert {"token": world.credentials["bearer_token"], "type": "bearer"} == found


# -- transport -----------------------------------------------------------------------------------


@pytest.mark.spec("A, Authentication", "All OAuth authorization")
def test_plain_http_is_refused_where_https_is_required() -> None:
    """--require-https on a server that does not speak it: 403 with code 92."""
    with LiveServer("--require-https") as server:
        world = server.world()
        auth = OAuth1(world.key, world.secret, callback_uri=CALLBACK)
        answer = world.session().post(f"{world.base_url}/oauth/request_token", auth=auth)

    assert (403, 92) == (answer.status_code, answer.json()["errors"][0]["code"])
