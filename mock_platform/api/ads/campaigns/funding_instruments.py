"""Funding instruments: list and read; on the sandbox creation and deletion.

Document B only names them; their form is a public fact.
"""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.ads.campaigns.records import FUNDING_TYPES, FundingInstrument
from mock_platform.api.ads.campaigns.servability import ABILITY, complete_funding_instrument
from mock_platform.api.ads.campaigns.spend import USED_UP
from mock_platform.api.ads.conventions import CORE_READS, One, ads
from mock_platform.api.ads.filters import IdsFilter
from mock_platform.api.ads.resource import TIMESTAMPS, Resource, draw_unused_id, make_timestamps
from mock_platform.api.ads.user_rights import may_use_campaigns
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Choice, CurrencyCode, Instant, Long
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FUNDING_INSTRUMENTS = Resource(
    name="funding_instruments",
    table="funding_instruments",
    path="/12/accounts/:account_id/funding_instruments",
    id_parameter="funding_instrument_id",
    schema=FundingInstrument,
    noun="funding instrument",
    spec="Endpoints not shown",
    missing="FUNDING_INSTRUMENT_NOT_FOUND",
    most_reads=CORE_READS,
    gates=(may_use_campaigns,),
)
SHAPE = public_fact(
    "funding-instruments.all",
    "Funding instruments are only named; their operations and records are as documented publicly. "
    "Creation and deletion exist on the sandbox only.",
    "adjacent operations, section 2",
    gap=True,
)
AMOUNTS = expectation(
    "funding-instruments.amounts",
    "The amounts of a new funding instrument are those that were sent, whatever its type; end_time "
    "must be later than start_time.",
)
NO_METHOD = "(no payment method has been set up yet)"
"""The description of funding instruments that were created on the sandbox."""


class FundingInstrumentCreate(Schema):
    """Parameters of the creation."""

    currency = CurrencyCode(required=True)
    start_time = Instant(required=True)
    type = Choice(FUNDING_TYPES, required=True)
    end_time = Instant()
    credit_limit_local_micro = Long(low=0)
    funded_amount_local_micro = Long(low=0)

    @validates_schema(skip_on_field_errors=False)
    def check_order(self, data: dict[str, Any], **_: Any) -> None:
        """Require that the end is after the start."""
        start, end = data.get("start_time"), data.get("end_time")
        if start is not None and end is not None and end <= start:
            text = f"end_time ({end}) must be later than start_time ({start})"
            raise ValidationError([Fault(text, "INVALID_TIME_WINDOW")], "end_time")


def _show(call: Call, world: World, record: Record) -> Record:
    return complete_funding_instrument(world, record)


def create(call: Call, world: World) -> Record:
    """Create a funding instrument on the sandbox, so that campaigns can be paid for."""
    sent = call.params
    record = {
        "id": draw_unused_id(world, FUNDING_INSTRUMENTS.table),
        "type": sent["type"],
        "description": NO_METHOD,
        "currency": sent["currency"],
        "entity_status": "ACTIVE",
        "credit_limit_local_micro": sent.get("credit_limit_local_micro"),
        "credit_remaining_local_micro": None,
        "funded_amount_local_micro": sent.get("funded_amount_local_micro"),
        "io_header": None,
        "start_time": sent["start_time"],
        "end_time": sent.get("end_time"),
        **make_timestamps(world),
        "_account_id": call.path_params["account_id"],
    }
    world.store.put(FUNDING_INSTRUMENTS.table, record["id"], record)
    return complete_funding_instrument(world, record)


_ASSUMED = (SHAPE, ABILITY, USED_UP)

OPERATIONS: tuple[Operation, ...] = (
    FUNDING_INSTRUMENTS.list(
        (IdsFilter("funding_instrument_ids"),),
        sort=(*TIMESTAMPS, "funded_amount_local_micro", "start_time", "end_time"),
        show=_show,
        origin=Origin.NAMED,
        assumptions=_ASSUMED,
    ),
    FUNDING_INSTRUMENTS.get(show=_show, origin=Origin.NAMED, assumptions=_ASSUMED),
    ads(
        "funding_instruments.create",
        "POST",
        FUNDING_INSTRUMENTS.path,
        create,
        summary="Create a funding instrument on the sandbox",
        spec=FUNDING_INSTRUMENTS.spec,
        returns=One(FundingInstrument),
        params=FundingInstrumentCreate,
        sandbox_only=True,
        origin=Origin.NAMED,
        assumptions=(*_ASSUMED, AMOUNTS),
        errors=("INVALID_TIME_WINDOW",),
        example=Example(
            query={
                "type": "CREDIT_LINE",
                "currency": "USD",
                "start_time": "2026-03-01T00:00:00Z",
            }
        ),
        gates=(may_use_campaigns,),
    ),
    FUNDING_INSTRUMENTS.delete(
        summary="Delete a funding instrument on the sandbox",
        show=_show,
        sandbox_only=True,
        origin=Origin.NAMED,
        assumptions=_ASSUMED,
    ),
)
