"""The history of an account: written with each change of an entity, and listed (beta, document B).

The entries are written by the operations that change entities, with `record_change`.
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.accounts.records import ENTITIES, AccountHistoryRecord
from mock_platform.api.ads.conventions import Many, ads, may_use_campaigns, require_allowlist
from mock_platform.api.ads.lists import NEXT_CURSOR, OrderedTimes, PageOf, list_parameters, paginate
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.faults import expected, refuse
from mock_platform.core.fields import Choice, Instant, Text
from mock_platform.core.operation import Echo, Example, Operation
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

# Writes an account's history: an entry for each entity that an operation creates or changes.

HISTORY_ENTRIES = settled(
    "ads.history-entries",
    "changes maps each changed field to its value before and after; change types beside CREATE are "
    "UPDATE and DELETE; change_by.platform is API_OTHER. The spec shows CREATE only.",
    "B, Account history entry",
)
_UNRECORDED_FIELDS = frozenset({"id", "updated_at"})


def record_change(
    call: Call, world: World, entity: str, before: Record | None, after: Record
) -> None:
    """Record a change of an entity of the call's account; an update without changes is skipped."""
    assert call.account is not None
    assert call.caller.user is not None
    user_id = call.caller.user["id"]
    record_change_of(world, call.account["id"], user_id, entity, before, after)


def record_change_of(
    world: World,
    account_id: str,
    user_id: str,
    entity: str,
    before: Record | None,
    after: Record,
) -> None:
    """Record a change of an entity of an account, which a user made; now or long before."""
    if before is None:
        kind, changes = "CREATE", {}
    else:
        kind = "DELETE" if after.get("deleted") and not before.get("deleted") else "UPDATE"
        changes = _compare(before, after)
        if not changes:
            return
    new = remove_internal_keys(after)
    del new["id"]
    key = world.ids.base36(10)
    entry = {
        "change_by": {"user_id": user_id, "platform": "API_OTHER"},
        "changes": changes,
        "change_time": wire_seconds(world.clock.now()),
        "change_type": kind,
        "entity": entity,
        "entity_id": after["id"],
        "entity_data": new,
        "_id": key,
        "_account_id": account_id,
    }
    world.store.put("account_history", key, entry)


def _compare(before: Record, after: Record) -> dict[str, dict[str, Any]]:
    """Return the values before and after of each field that changed and is recorded."""
    return {
        name: {"before": before.get(name), "after": value}
        for name, value in after.items()
        if name not in _UNRECORDED_FIELDS and before.get(name) != value and name[0] != "_"
    }


ACCOUNT_HISTORY_ECHO = public_fact(
    "account-history.echo",
    "The parameter entity_type is echoed as entity, in answers and refusals alike.",
    "section 3, account history echo",
)
ACCOUNT_HISTORY_WINDOW = settled(
    "account-history.window",
    "start_time and end_time are required; entries are those at or after start_time and before "
    "end_time, which must be later. Whole hours are whole in UTC: other minutes, seconds and "
    "fractions are refused.",
)
ACCOUNT_HISTORY_ENTRIES_FOUND = expectation(
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


class _Window(OrderedTimes):
    """The window of time of the entries."""

    start_time = WholeHour(required=True)
    end_time = WholeHour(required=True)


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
        gates=(require_allowlist("account_history"), may_use_campaigns),
        echo=Echo(names={"entity_type": "entity"}),
        assumptions=(
            NEXT_CURSOR,
            ACCOUNT_HISTORY_ECHO,
            ACCOUNT_HISTORY_WINDOW,
            ACCOUNT_HISTORY_ENTRIES_FOUND,
            HISTORY_ENTRIES,
        ),
        errors=("INVALID_TIME_WINDOW", "UNAUTHORIZED_CLIENT_APPLICATION"),
        example=Example(
            query={
                "entity_type": "CAMPAIGN",
                "entity_id": "8wku2",
                "start_time": "2026-03-01T00:00:00Z",
                "end_time": "2026-03-02T00:00:00Z",
            }
        ),
    ),
)
