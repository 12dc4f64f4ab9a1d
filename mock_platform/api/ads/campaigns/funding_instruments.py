"""Funding instruments: list and read; on the sandbox creation and deletion.

Document B only names them; their form is a public fact.
"""

from __future__ import annotations

from mock_platform.api.ads.campaigns.records import FUNDING_TYPES, FundingInstrument
from mock_platform.api.ads.campaigns.servability import (
    FUNDING_INSTRUMENTS_ABLE_TO_FUND,
    complete_funding_instrument,
)
from mock_platform.api.ads.campaigns.spend import USED_UP
from mock_platform.api.ads.filters import IdsFilter
from mock_platform.api.ads.lists import OrderedTimes
from mock_platform.api.ads.resource import TIMESTAMPS, Resource
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CurrencyCode, Instant, Long
from mock_platform.core.operation import Operation, Origin
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FUNDING_INSTRUMENTS_ALL = public_fact(
    "funding-instruments.all",
    "Funding instruments are only named; their operations and records are as documented publicly. "
    "Creation and deletion exist on the sandbox only.",
    "adjacent operations, section 2",
    gap=True,
)
FUNDING_INSTRUMENTS = Resource(
    name="funding_instruments",
    table="funding_instruments",
    path="/12/accounts/:account_id/funding_instruments",
    id_parameter="funding_instrument_id",
    schema=FundingInstrument,
    noun="funding instrument",
    spec="Endpoints not shown",
    missing="FUNDING_INSTRUMENT_NOT_FOUND",
    origin=Origin.NAMED,
    assumptions=(FUNDING_INSTRUMENTS_ALL, FUNDING_INSTRUMENTS_ABLE_TO_FUND, USED_UP),
)
FUNDING_INSTRUMENTS_AMOUNTS = expectation(
    "funding-instruments.amounts",
    "The amounts of a new funding instrument are those that were sent, whatever its type; end_time "
    "must be later than start_time.",
)
NO_METHOD = "(no payment method has been set up yet)"
"""The description of funding instruments that were created on the sandbox."""


class FundingInstrumentCreate(OrderedTimes):
    """Parameters of the creation."""

    currency = CurrencyCode(required=True)
    start_time = Instant(required=True)
    type = Choice(FUNDING_TYPES, required=True)
    end_time = Instant()
    credit_limit_local_micro = Long(low=0)
    funded_amount_local_micro = Long(low=0)


def _show(call: Call, world: World, record: Record) -> Record:
    return complete_funding_instrument(world, record)


def create(call: Call, world: World) -> Record:
    """Create a funding instrument on the sandbox, so that campaigns can be paid for."""
    sent = call.params
    fields = {
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
    }
    return complete_funding_instrument(world, FUNDING_INSTRUMENTS.add(call, world, fields))


OPERATIONS: tuple[Operation, ...] = (
    FUNDING_INSTRUMENTS.list(
        (IdsFilter("funding_instrument_ids"),),
        sort=(*TIMESTAMPS, "funded_amount_local_micro", "start_time", "end_time"),
        show=_show,
    ),
    FUNDING_INSTRUMENTS.get(show=_show),
    FUNDING_INSTRUMENTS.create(
        create,
        FundingInstrumentCreate,
        "Create a funding instrument on the sandbox",
        sandbox_only=True,
        assumptions=(FUNDING_INSTRUMENTS_AMOUNTS,),
        errors=("INVALID_TIME_WINDOW",),
    ),
    FUNDING_INSTRUMENTS.delete(
        summary="Delete a funding instrument on the sandbox", show=_show, sandbox_only=True
    ),
)
