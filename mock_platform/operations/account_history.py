"""What happened to an account's entities: beta, allowlist required (document B, "Accounts").

The entries are written by the operations that change entities, with `rules.account_history`.
"""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.core.ads import Many, ads, require_allowlist
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.faults import Fault, expected, refuse
from mock_platform.core.fields import Choice, Instant, Text
from mock_platform.core.operation import Echo, Operation
from mock_platform.core.paging import NEXT_CURSOR, PageOf, list_parameters, paginate
from mock_platform.core.schema import Schema
from mock_platform.records.accounts import ENTITIES, AccountHistoryRecord
from mock_platform.rules.account_history import HISTORY
from mock_platform.store.interface import Record
from mock_platform.world.clock import parse_instant
from mock_platform.world.world import World

ECHO = public_fact(
    "account-history.echo",
    "The parameter entity_type is echoed as entity, in answers and refusals alike.",
    "section 3, account history echo",
)
WINDOW = settled(
    "account-history.window",
    "start_time and end_time are required; entries are those at or after start_time and before "
    "end_time, which must be later. Whole hours are whole in UTC: other minutes, seconds and "
    "fractions are refused.",
)
FOUND = expectation(
    "account-history.entries-found",
    "Entries come in the order in which things happened; an entity without entries, an unknown one "
    "included, has an empty history.",
)


class WholeHour(Instant):
    """An ISO 8601 moment on the hour, UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        # The wire form has lost fractions of a second, so the moment is read as it was sent.
        moment = parse_instant(value)
        if (moment.minute, moment.second, moment.microsecond) != (0, 0, 0):
            raise refuse(expected("a whole hour such as 2026-11-20T10:00:00Z", value))
        return text


class _Window(Schema):
    """The window of time of the entries."""

    start_time = WholeHour(required=True)
    end_time = WholeHour(required=True)

    @validates_schema(skip_on_field_errors=False)
    def check_order(self, data: dict[str, Any], **_: Any) -> None:
        """Require that the end is after the start."""
        start, end = data.get("start_time"), data.get("end_time")
        if start is not None and end is not None and end <= start:
            text = f"end_time ({end}) must be later than start_time ({start})"
            raise ValidationError([Fault(text, "INVALID_TIME_WINDOW")], "end_time")


def list_(call: Call, world: World) -> PageOf:
    """Return one page of an entity's entries within the window."""
    params = call.params
    start, end, user_id = params["start_time"], params["end_time"], params.get("user_id")

    def is_within(entry: Record) -> bool:
        changer = entry["change_by"]["user_id"]
        return start <= entry["change_time"] < end and user_id in {None, changer}

    match = {
        "_account_id": call.path_params["account_id"],
        "entity": params["entity_type"],
        "entity_id": params["entity_id"],
    }
    return paginate(call, world, "account_history", match, where=is_within)


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "account_history.list",
        "GET",
        "/12/accounts/:account_id/account_history",
        list_,
        summary="List what happened to an entity",
        spec="Accounts",
        returns=Many(AccountHistoryRecord),
        params=list_parameters(
            "AccountHistoryList",
            {
                "entity_type": Choice(ENTITIES, required=True),
                "entity_id": Text(required=True, min_length=1),
                "user_id": Text(pattern=r"[0-9]{1,19}", pattern_text="a user id of 1 to 19 digits"),
            },
            with_deleted=False,
            with_total_count=False,
            base=_Window,
        ),
        gates=(require_allowlist("account_history"),),
        echo=Echo(names={"entity_type": "entity"}),
        assumptions=(NEXT_CURSOR, ECHO, WINDOW, FOUND, HISTORY),
        errors=("INVALID_TIME_WINDOW", "UNAUTHORIZED_CLIENT_APPLICATION"),
    ),
)
