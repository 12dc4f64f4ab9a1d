"""Cards of any kind by their addresses, and by id."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.ads.support import echo, get
from tests.support import ACCOUNT, OTHER_ACCOUNT, Sandbox, data_of, refusal

IDS = {
    "cards": "1712860000001000003",
    "poll_cards": "1712870000001000003",
    "video_conversation_cards": "1712880000001000003",
}
LEGACY, GONE = "57i77", "57ia2"


def read(box: Sandbox, *addresses: str, **query: str) -> list[dict[str, Any]]:
    """The cards with these addresses."""
    response = get(box, "cards/all", card_uris=",".join(addresses), **query)
    assert {"request", "data"} == set(response.get_json())
    data: list[dict[str, Any]] = data_of(response)
    return data


def address(box: Sandbox, table: str, key: str) -> str:
    """The address of a card."""
    return str(box.record(table, key)["card_uri"])


def test_every_kind_in_the_order_that_was_asked(box: Sandbox) -> None:
    """Cards, polls, conversations and legacy cards, each with its own keys and none of ours."""
    keys = [("cards", LEGACY), *IDS.items()]
    found = read(box, *(address(box, table, key) for table, key in keys))
    kinds = {card["card_type"] for card in found}

    assert [key for _, key in keys] == [card["id"] for card in found]
    assert {"IMAGE_CONVERSATION", "VIDEO_CONVERSATION", "TEXT_POLLS"} < kinds
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
    over = get(box, "cards/all", card_uris=",".join(many))

    assert [] == read(box, *many[:200])
    assert (400, [("INVALID_PARAMETER", "card_uris")]) == refusal(over)
    assert (400, [("MISSING_PARAMETER", "card_uris")]) == refusal(get(box, "cards/all"))


@pytest.mark.parametrize("table", IDS)
def test_one_of_each_kind(box: Sandbox, table: str) -> None:
    """An object under data."""
    answer = get(box, f"cards/all/{IDS[table]}")

    assert IDS[table] == data_of(answer)["id"]
    assert {"card_id": IDS[table], "account_id": ACCOUNT} == echo(answer)
