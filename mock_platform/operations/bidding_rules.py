"""Bidding rules: the bounds of bids in each currency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from mock_platform.core.ads import JSON_TYPE, ads
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call, Reply
from mock_platform.core.description.schemas import REQUEST_ECHO
from mock_platform.core.fields import Integer, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.records.table import Table
from mock_platform.store.interface import Record
from mock_platform.world.world import World

ALL = public_fact(
    "bidding-rules.all",
    "Bidding rules are listed with data_type and total_count and without next_cursor. Without "
    "currency all are listed; a currency without a rule has none.",
    "adjacent operations, section 9",
    gap=True,
)


class BiddingRuleRecord(Schema):
    """The smallest and the largest bid in a currency, and the unit of all bids."""

    currency = Text(required=True, pattern=r"[A-Z]{3}", pattern_text="an ISO 4217 code such as USD")
    minimum_cpe_bid_local_micro = Integer(low=0, required=True)
    maximum_cpe_bid_local_micro = Integer(low=0, required=True)
    minimum_denomination = Integer(low=1, required=True)


class BiddingRulesList(Schema):
    """Parameters of the list of bidding rules."""

    currency = Text(pattern=r"[A-Z]{3}", pattern_text="an ISO 4217 code such as USD")


class BiddingRules(Struct, frozen=True):
    """All rules under `data`, with `data_type` and `total_count`."""

    schema: type[Schema] = BiddingRuleRecord
    status: int = 200
    media_type: str = "application/json"

    def describe_body(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the body."""
        properties = {
            "data_type": {"const": "bidding_rule"},
            "data": {"type": "array", "items": data},
            "total_count": {"type": "integer", "minimum": 0},
            "request": REQUEST_ECHO,
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def reply(self, call: Call, result: Sequence[Record]) -> Reply:
        """Return the reply for a list of rules."""
        body = {
            "data_type": "bidding_rule",
            "data": result,
            "total_count": len(result),
            "request": {"params": call.echo},
        }
        return Reply(self.status, dumps(body), [JSON_TYPE])


def list_(call: Call, world: World) -> list[Record]:
    """Return all rules, or that of one currency."""
    currency = call.params.get("currency")
    if currency is None:
        return [entry.record for entry in world.store.page("bidding_rules")]
    found = world.store.get("bidding_rules", currency)
    return [] if found is None else [found]


TABLES = (Table("bidding_rules", BiddingRuleRecord, key="currency"),)
OPERATIONS: tuple[Operation, ...] = (
    ads(
        "bidding_rules.list",
        "GET",
        "/12/bidding_rules",
        list_,
        summary="List bidding rules",
        spec="not shown",
        returns=BiddingRules(),
        params=BiddingRulesList,
        origin=Origin.ADJACENT,
        assumptions=(ALL,),
    ),
)
