"""requests-oauthlib: signed requests of the advertising interface, answered without a socket."""

import pytest
import requests
from requests_oauthlib import OAuth1Session

from mock_platform import WsgiAdapter


@pytest.fixture
def signed(mock_platform):
    """Makes a session that signs as the well-known user; with a wrong secret if asked for."""

    def make(secret=None):
        app, user = mock_platform.credentials["app"], mock_platform.credentials["user"]
        session = OAuth1Session(
            app["consumer_key"],
            client_secret=secret or app["consumer_secret"],
            resource_owner_key=user["access_token"],
            resource_owner_secret=user["access_token_secret"],
        )
        session.mount(mock_platform.base_url, WsgiAdapter(mock_platform.wsgi))
        return session

    return make


@pytest.fixture
def polls(mock_platform):
    """The address of the poll cards of the user's first account."""
    account = mock_platform.credentials["accounts"][0]
    return f"{mock_platform.ads_base_url}/12/accounts/{account}/cards/poll"


POLL = {
    "name": "Röstung & Mahlgrad",
    "first_choice": "hell",
    "second_choice": "dunkel",
    "duration_in_minutes": 1440,
}


def test_a_poll_card_is_created(signed, polls, mock_platform):
    """Parameters that need escaping are signed and understood."""
    answer = signed().post(polls, params=POLL)
    answer.raise_for_status()

    card = mock_platform.state["poll_cards"].get(answer.json()["data"]["id"])
    assert card["name"] == "Röstung & Mahlgrad"


def test_all_faults_are_named_at_once(signed, polls):
    """A refusal names every parameter that is wrong."""
    answer = signed().post(polls, params={**POLL, "name": "", "duration_in_minutes": 1})

    assert answer.status_code == 400
    assert sorted(error["parameter"] for error in answer.json()["errors"]) == [
        "duration_in_minutes",
        "name",
    ]


def test_a_wrong_secret_is_explained(signed, polls, mock_platform):
    """The answer shows no more than the service does; the journal shows what is wrong."""
    assert signed(secret="wrong").get(polls).status_code == 401

    (entry,) = mock_platform.journal.find(status=401)
    assert "secret" in entry.diagnosis["explanation"]


@pytest.mark.mock_scenario("token-invalidated")
def test_a_revoked_token_is_code_89(signed, polls):
    """What a client sees whose user has taken the app's access back."""
    answer = signed().get(polls)

    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (401, 89)


@pytest.mark.mock_scenario("answer-lost")
def test_a_lost_answer_is_a_connection_error(signed, polls, mock_platform):
    """The session raises what it raises over a network, and the card was made all the same."""
    before = len(mock_platform.state["poll_cards"])

    with pytest.raises(requests.ConnectionError):
        signed().post(polls, params=POLL)

    assert len(mock_platform.state["poll_cards"]) == before + 1
