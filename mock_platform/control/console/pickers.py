"""What fields of forms offer to choose from: operations, records by name, calls, durations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec import Struct

from mock_platform.core.operation import Operation
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

AREAS = {
    "ads": "Advertising",
    "v2": "Posts, users, webhooks and streams",
    "oauth": "Sign-in and others",
}
"""The parts of the interface by which long lists are divided."""
MAX_RECORDS = 100
"""Of a table with more records, a field suggests the first ones and takes any key."""
TELLING = (
    "name", "title", "text", "screen_name", "username", "url", "value", "event_type",
    "entity_status", "status", "state", "created_at",
)  # fmt: skip
"""Fields that say most about a record, where a table has them."""
EVERY = "*"
CALLS = (
    ("1", "the first"),
    ("2", "the second"),
    ("3", "the third"),
    ("4", "the fourth"),
    ("5", "the fifth"),
)
MORE_CALLS = (('{"every":2}', "every second one"), ('{"from":2}', "all but the first"))
TIMES = (("1", "once"), ("2", "twice"), ("3", "three times"), ("5", "five times"))
DURATIONS = ("1s", "5s", "30s", "60s", "15m", "1h", "1d")


class Options(Struct, frozen=True):
    """The options of a choice, under a heading where there are several kinds."""

    title: str
    options: Sequence[tuple[str, str]]
    """Value and text of each."""


def list_operations(operations: Iterable[Operation]) -> list[Options]:
    """Return all operations by family, after the choice of every one."""
    groups = [Options("", [(EVERY, "every operation")])]
    for family, members in groupby(sorted(operations, key=_name_family), _name_family):
        rows = [
            (each.id, f"{each.id}: {each.method} {each.path}")
            for each in sorted(members, key=lambda each: each.id)
        ]
        groups.append(Options(family, rows))
    return groups


def list_records(world: World, table: str) -> list[tuple[str, str]]:
    """Return keys and names of the first records of a table that are not deleted."""
    with world.lock:
        page = world.store.page(
            table, where=lambda record: not record.get("deleted"), limit=MAX_RECORDS
        )
        return [(entry.key, name_record(entry.key, entry.record)) for entry in page]


def name_record(key: str, record: Record) -> str:
    """Return what a person knows a record by, and its key."""
    name = next((record[each] for each in TELLING if isinstance(record.get(each), str)), "")
    return f"{name[:60]} ({key})" if name and name != key else key


def _name_family(operation: Operation) -> str:
    return operation.id.partition(".")[0]
