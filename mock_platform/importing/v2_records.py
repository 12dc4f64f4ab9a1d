"""The posts and users that answers of the v2 interface show, put together from all of them.

An answer shows the fields that its request chose, so the same post may be shown in several forms;
what one answer left out may be in another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mock_platform.core.operation import Operation
from mock_platform.importing.replaying import RecordedCall
from mock_platform.store.interface import Record

_NEEDED = {"posts": ("author_id", "created_at", "text"), "users": ("name", "username")}
_PARAMETERS = {"posts": "post.fields", "users": "user.fields"}


class ShownRecords:
    """The posts and users of v2 answers, by table and id."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[RecordedCall, Record]] = {}
        self._made: set[tuple[str, str]] = set()

    def add(self, recorded: RecordedCall, operation: Operation, body: Mapping[str, Any]) -> None:
        """Take what an answer shows; what a request made was not there before."""
        for table, record in _list_shown(body):
            place = (table, record["id"])
            if operation.method != "GET":
                if place not in self._found:
                    self._made.add(place)
                continue
            if place not in self._made:
                kept = self._found.setdefault(place, (recorded, {}))[1]
                for name, value in record.items():
                    kept.setdefault(name, value)

    def list_places(self) -> Iterator[tuple[str, str]]:
        """Yields table and id of everything that was shown or made."""
        yield from (*self._found, *self._made)

    def finish(self) -> Iterator[tuple[str, str, RecordedCall, Record | str]]:
        """Yields table, id and source of each, and its record or why it cannot be one."""
        for (table, key), (source, record) in self._found.items():
            missing = [name for name in _NEEDED[table] if record.get(name) is None]
            if missing:
                names = ",".join(missing)
                text = f"no answer shows its {names} (ask for {_PARAMETERS[table]}={names})"
                yield table, key, source, text
            else:
                yield table, key, source, record


def _list_shown(body: Mapping[str, Any]) -> Iterator[tuple[str, Record]]:
    shown, included = body.get("data"), body.get("includes")
    for item in shown if isinstance(shown, list) else [shown]:
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            if "edit_history_post_ids" in item:
                yield "posts", item
            elif "username" in item:
                yield "users", item
    for table in _NEEDED:
        items = included.get(table) if isinstance(included, dict) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and isinstance(item.get("id"), str):
                yield table, item
