"""tweepy, unchanged, against the sandbox.

Its clients name the host of the real service. `WsgiAdapter` lets the sandbox answer their sessions
for that host, without a socket; a header says in which world.
"""

import re
from datetime import timedelta

import pytest
import tweepy

from mock_platform import WsgiAdapter

SERVICE = "https://api.twitter.com"


@pytest.fixture
def client(mock_platform):
    """A client of version 2 for the well-known app."""
    client = tweepy.Client(mock_platform.credentials["bearer_token"])
    client.session.mount(SERVICE, WsgiAdapter(mock_platform.wsgi))
    client.session.headers["X-Mock-World"] = mock_platform.name
    return client


@pytest.fixture
def replay(client, mock_platform):
    """Asks for the events of the last ten minutes to be delivered again; returns the answer."""

    def ask():
        now = mock_platform.clock.now()
        wanted = {
            "webhook_id": mock_platform.credentials["webhook_id"],
            "from_date": f"{now - timedelta(minutes=10):%Y%m%d%H%M}",
            "to_date": f"{now:%Y%m%d%H%M}",
        }
        return client.request("POST", "/2/webhooks/replay", json=wanted).json()

    return ask


def test_a_replay_job_is_created(replay, mock_platform):
    """The job that the answer names is in the sandbox's records."""
    job = replay()

    stored = mock_platform.state["replay_jobs"].get(job["job_id"])
    assert stored["webhook_id"] == mock_platform.credentials["webhook_id"]


@pytest.mark.mock_scenario("replay-conflict")
def test_a_job_in_progress_is_told(replay, mock_platform):
    """Tweepy knows no class of its own for 409; its reason is in the problem document."""
    with pytest.raises(tweepy.HTTPException) as refused:
        replay()

    assert refused.value.response.status_code == 409
    assert "in progress" in refused.value.response.json()["detail"]
    assert len(mock_platform.state["replay_jobs"]) == 0


@pytest.mark.mock_scenario("usage-capped", period="Daily")
def test_a_spent_cap_is_not_retried(replay, mock_platform):
    """One request was sent, and it was refused."""
    with pytest.raises(tweepy.TooManyRequests) as refused:
        replay()

    assert refused.value.response.json()["period"] == "Daily"
    assert mock_platform.journal.count(operation="webhooks.replay") == 1


class Handler(tweepy.OAuth1UserHandler):
    """It makes a new session for each step, so here the address itself is another one."""

    def __init__(self, mock_platform):
        app = mock_platform.credentials["app"]
        super().__init__(app["consumer_key"], app["consumer_secret"], callback="oob")
        self.base_url = mock_platform.base_url

    def _get_oauth_url(self, endpoint):
        return f"{self.base_url}/oauth/{endpoint}"


def pin_of(browser, address, user):
    """The PIN that a user gets, who logs in and allows what the page asks for."""
    page = browser.get(address)
    login = {"screen_name": user["screen_name"], "password": user["password"]}
    for pressed in ({"action": "log_in", **login}, {"action": "allow"}):
        hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text)
        page = browser.post(page.url, data={**dict(hidden), **pressed})
    return re.search(r"<code[^>]*>(\d+)</code>", page.text)[1]


def test_a_user_logs_in_with_a_pin(mock_platform, mock_platform_session):
    """The token that tweepy got for the user is one that the sandbox has handed out."""
    handler = Handler(mock_platform)
    address = handler.get_authorization_url()
    pin = pin_of(mock_platform_session, address, mock_platform.credentials["user"])
    token, secret = handler.get_access_token(pin)

    assert mock_platform.state["tokens"].get(token)["secret"] == secret


def test_a_pin_works_once(mock_platform, mock_platform_session):
    """Tweepy passes on that the request token was used up."""
    handler = Handler(mock_platform)
    address = handler.get_authorization_url()
    pin = pin_of(mock_platform_session, address, mock_platform.credentials["user"])
    handler.get_access_token(pin)

    with pytest.raises(tweepy.TweepyException, match="Invalid request token"):
        handler.get_access_token(pin)
