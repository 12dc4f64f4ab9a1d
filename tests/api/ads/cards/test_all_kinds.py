"""Cards of any kind by their addresses, and by id."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ACCOUNT, OTHER_ACCOUNT, Sandbox, refusal, sandbox

PATH = f"/12/accounts/{ACCOUNT}/cards/all"
IDS = {
    "cards": "1712860000001000003",
    "poll_cards": "1712870000001000003",
    "video_conversation_cards": "1712880000001000003",
}
LEGACY, GONE = "57i77", "57ia2"


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own."""
    return sandbox()


def read(box: Sandbox, *addresses: str, **query: str) -> list[dict[str, Any]]:
    """The cards with these addresses."""
    sent = {"card_uris": ",".join(addresses)} | query
    answer = box.call("GET", PATH, query_string=sent)
    assert 200 == answer.status_code, answer.text
    assert {"request", "data"} == set(answer.get_json())
    data: list[dict[str, Any]] = answer.get_json()["data"]
    return data


def address(box: Sandbox, table: str, key: str) -> str:
    """The address of a card."""
    return str(box.record(table, key)["card_uri"])


def test_every_kind_in_the_order_that_was_asked(box: Sandbox) -> None:
    """Cards, polls, conversations and legacy cards, each with its own keys and none of ours."""
    keys = [*IDS.items(), ("cards", LEGACY)]
    found = read(box, *(address(box, table, key) for table, key in reversed(keys)))

    assert [key for _, key in reversed(keys)] == [card["id"] for card in found]
    assert {"IMAGE_CONVERSATION", "VIDEO_CONVERSATION", "TEXT_POLLS"} < {
        card["card_type"] for card in found
    }
    assert not any(name.startswith("_") for card in found for name in card)


def test_what_is_left_out(box: Sandbox) -> None:
    """Unknown addresses, deleted cards unless asked for, and cards of other accounts."""
    gone, own = address(box, "cards", GONE), address(box, "cards", IDS["cards"])
    box.change("poll_cards", IDS["poll_cards"], _account_id=OTHER_ACCOUNT)
    foreign = address(box, "poll_cards", IDS["poll_cards"])
    every = (gone, own, foreign, "card://1", own)

    assert [IDS["cards"]] == [card["id"] for card in read(box, *every)]
    assert [GONE, IDS["cards"]] == [card["id"] for card in read(box, *every, with_deleted="true")]


def test_number_of_addresses(box: Sandbox) -> None:
    """They are required; 200 are accepted, 201 are not."""
    many = [f"card://{number}" for number in range(201)]

    assert [] == read(box, *many[:200])
    over = box.call("GET", PATH, query_string={"card_uris": ",".join(many)})
    assert (400, [("INVALID_PARAMETER", "card_uris")]) == refusal(over)
    assert (400, [("MISSING_PARAMETER", "card_uris")]) == refusal(box.call("GET", PATH))


@pytest.mark.parametrize("table", IDS)
def test_one_of_each_kind(box: Sandbox, table: str) -> None:
    """An object under data."""
    answer = box.call("GET", f"{PATH}/{IDS[table]}")

    assert IDS[table] == answer.get_json()["data"]["id"]
    assert {"card_id": IDS[table], "account_id": ACCOUNT} == answer.get_json()["request"]["params"]


@pytest.mark.parametrize("key", ["1", GONE])
def test_no_such_card(box: Sandbox, key: str) -> None:
    """Unknown and deleted cards answer 404; a deleted one is shown if asked for."""
    answer = box.call("GET", f"{PATH}/{key}")
    deleted = box.call("GET", f"{PATH}/{GONE}?with_deleted=true")

    assert (404, [("CARD_NOT_FOUND", "card_id")]) == refusal(answer)
    assert deleted.get_json()["data"]["deleted"] is True


@pytest.mark.parametrize("path", [f"{PATH}?card_uris=card://1", f"{PATH}/{LEGACY}"])
def test_strict_refuses_both(path: str) -> None:
    """The specification shows neither."""
    assert 501 == sandbox(strict=True).call("GET", path).status_code
