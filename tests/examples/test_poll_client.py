"""How somebody tests such a client with the plugin, and how the plugin shows its bug."""

from __future__ import annotations

import pytest
import requests

from mock_platform import WorldFace
from tests.client.testing.reading import section
from tests.examples.poll_client import PollClient, PollError

CHOICES = ("Light", "Dark")


@pytest.fixture
def polls(mock_platform: WorldFace) -> PollClient:
    """The client under test, in the world of the test."""
    account = mock_platform.credentials["accounts"][0]
    session = mock_platform.session("oauth1")
    return PollClient(session, mock_platform.ads_base_url, account)


def test_a_card_is_created(polls: PollClient, mock_platform: WorldFace) -> None:
    """What the client creates is in the world's records."""
    card = polls.create("Roast", CHOICES)

    stored = mock_platform.state["poll_cards"].get(card)
    assert stored is not None
    assert ("Roast", "1440") == (stored["name"], stored["duration_in_minutes"])


def test_all_pages_are_read(polls: PollClient, mock_platform: WorldFace) -> None:
    """The client follows the cursor to the end."""
    before = len(polls.list())
    mock_platform.journal.clear()
    for number in range(3):
        polls.create(f"Roast {number}", CHOICES)

    assert before + 3 == len(polls.list())
    assert (before + 3 + 1) // 2 == mock_platform.journal.count(operation="cards_poll.list")


def test_a_refusal_is_told(polls: PollClient) -> None:
    """The platform's own word for the fault reaches the caller."""
    with pytest.raises(PollError) as raised:
        polls.create("Roast", CHOICES, minutes=1)

    assert 400 == raised.value.status
    assert "INVALID_PARAMETER" == raised.value.code


@pytest.mark.mock_scenario("answer-lost")
def test_a_lost_answer_makes_one_card(polls: PollClient) -> None:
    """The card whose answer was lost is found again, not created again."""
    card = polls.create("Roast", CHOICES)

    assert [card] == [each["id"] for each in polls.list() if each["name"] == "Roast"]


@pytest.mark.mock_scenario("answer-lost", times=None)
def test_the_last_attempt_raises(mock_platform: WorldFace) -> None:
    """A client that cannot look stops after its attempts."""

    class Blind(PollClient):
        def _after_lost_answer(self, name: str) -> str | None:
            return None

    account = mock_platform.credentials["accounts"][0]
    client = Blind(mock_platform.session("oauth1"), mock_platform.ads_base_url, account)

    with pytest.raises(requests.ConnectionError):
        client.create("Roast", CHOICES)

    assert 3 == mock_platform.journal.count(operation="cards_poll.create")


def test_the_hasty_client_is_found_out(pytester: pytest.Pytester) -> None:
    """The journal of the failing test shows two equal requests and the two cards they made."""
    pytester.makepyfile(
        test_hasty="""
        import pytest
        from tests.examples.poll_client import HastyPollClient

        @pytest.mark.mock_clock("2026-03-01T12:00:00Z")
        @pytest.mark.mock_scenario("answer-lost")
        def test_one_card(mock_platform):
            account = mock_platform.credentials["accounts"][0]
            session = mock_platform.session("oauth1")
            client = HastyPollClient(session, mock_platform.ads_base_url, account)

            client.create("Roast", ("Light", "Dark"))

            cards = mock_platform.state["poll_cards"].all()
            assert 1 == sum(card["name"] == "Roast" for card in cards)
        """
    )

    result = pytester.runpytest_inprocess("-p", "no:randomly")

    result.assert_outcomes(failed=1)
    request = (
        "12:00:00.000 POST /12/accounts/18ce54d4x5t/cards/poll?name=Roast&first_choice=Light"
        "&second_choice=Dark&duration_in_minutes=1440 -> 200 cards_poll.create"
    )
    assert [
        f"1. {request}, reset after 0 bytes",
        "     why: Rule 0 of scenario answer-lost acted: the connection was broken, and the "
        "changes were kept.",
        "     created: poll_cards 1990000000004313240",
        f"2. {request}",
        "     the same request as 1",
        "     why: Rule 0 of scenario answer-lost did not act: it acts once, and has done so; this "
        "was call 2.",
        "     created: poll_cards 1990000000011226336",
    ] == section(result, "mock_platform journal")
    assert ["request 2: answer-lost/0: it acts once, and has done so; this was call 2"] == section(
        result, "mock_platform nearest misses"
    )
