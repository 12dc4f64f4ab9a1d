"""Cards of any kind, found by their addresses or by id: `cards/all`."""

from __future__ import annotations

from collections.abc import Iterator

from marshmallow import INCLUDE

from mock_platform.api.ads.cards.records import CARD_TABLES
from mock_platform.api.ads.conventions import CORE_READS, Data, One, ads, not_found
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.envelope import remove_internal_keys
from mock_platform.core.fields import CommaList, Flag, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema, Stamped
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ALL = public_fact(
    "cards-all.all",
    "Cards of every kind are read by address, without next_cursor, or by id: those of the card "
    "builder, legacy cards, polls and conversation cards, each with its own keys.",
    "adjacent operations, section 8.3",
    gap=True,
)
LEFT_OUT = expectation(
    "cards-all.left-out",
    "Addresses of unknown cards are left out; the others are returned in the order in which they "
    "were sent.",
)


class AnyCard(Stamped):
    """What cards of every kind have; each kind has keys of its own."""

    class Meta:
        """Further keys belong to the kind of the card."""

        unknown = INCLUDE

    id = Text(required=True)
    name = Text(required=True)
    card_type = Text(required=True)
    card_uri = Text(required=True)


class AllCardsQuery(Schema):
    """Which cards to read."""

    card_uris = CommaList(Text(min_length=1), required=True, most=200)
    with_deleted = Flag(load_default=False)


class OneOfAllQuery(Schema):
    """Whether a deleted card is shown."""

    with_deleted = Flag(load_default=False)


def list_(call: Call, world: World) -> list[Record]:
    """Return the cards with these addresses."""
    addresses = dict.fromkeys(call.params["card_uris"])
    return [card for address in addresses for card in _find(call, world, address)]


def get(call: Call, world: World) -> Record:
    """Return the card with the id in the path, of any kind."""
    key = call.path_params["card_id"]
    for table in CARD_TABLES:
        card = world.store.get(table, key)
        if card is not None and _is_shown(call, card):
            return card
    raise not_found("CARD_NOT_FOUND", "card", "card_id", key)


def _find(call: Call, world: World, address: str) -> Iterator[Record]:
    match = {"_account_id": call.path_params["account_id"], "card_uri": address}
    for table in CARD_TABLES:
        for entry in world.store.page(table, match):
            if _is_shown(call, entry.record):
                yield remove_internal_keys(entry.record)


def _is_shown(call: Call, card: Record) -> bool:
    own = card["_account_id"] == call.path_params["account_id"]
    return own and (call.params["with_deleted"] or not card["deleted"])


_PATH = "/12/accounts/:account_id/cards/all"

OPERATIONS: tuple[Operation, ...] = (
    ads(
        "cards_all.list",
        "GET",
        _PATH,
        list_,
        summary="Read cards of any kind by their addresses",
        spec="not shown",
        returns=Data(AnyCard, many=True),
        params=AllCardsQuery,
        origin=Origin.ADJACENT,
        assumptions=(ALL, LEFT_OUT),
        most_reads=CORE_READS,
    ),
    ads(
        "cards_all.get",
        "GET",
        f"{_PATH}/:card_id",
        get,
        summary="Read one card of any kind",
        spec="not shown",
        returns=One(AnyCard),
        params=OneOfAllQuery,
        origin=Origin.ADJACENT,
        assumptions=(ALL,),
        errors=("CARD_NOT_FOUND",),
        statuses=(404,),
        most_reads=CORE_READS,
    ),
)
