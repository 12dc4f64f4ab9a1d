"""The records that answers of the v2 interface show, put together from all of them.

An answer shows the fields that its request chose, so the same post may be shown in several forms;
what one answer left out may be in another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.core.operation import Operation
from mock_platform.importing.replaying import CallLabel
from mock_platform.store.interface import Record


class _Kind(Struct, frozen=True):
    """What makes an object of an answer a record of a table."""

    needed: tuple[str, ...]
    """Keys without which it cannot be one."""
    parameter: str = ""
    """The parameter that asks for them."""
    operations: tuple[str, ...] = ()
    """The operations whose `data` has such records; posts and users are known by their keys."""
    key: str = "id"
    is_of_app: bool = False
    """Whether it belongs to the app that asked."""


_KINDS: Mapping[str, _Kind] = {
    "posts": _Kind(("author_id", "created_at", "text"), "post.fields"),
    "users": _Kind(("name", "username"), "user.fields"),
    "news": _Kind(("name", "updated_at"), "news.fields", ("news.get", "news.search")),
    "direct_messages": _Kind(
        ("event_type", "dm_conversation_id", "sender_id", "created_at"),
        "dm_event.fields",
        ("dm_events.list", "dm_events.get", "dm_conversations.list",
         "dm_conversations.list_with_user"),
    ),
    "webhooks": _Kind(("url", "created_at"), "", ("webhooks.list",), is_of_app=True),
    "stream_rules": _Kind(("value",), "", ("stream_rules.list",), is_of_app=True),
    "activity_subscriptions": _Kind(
        ("event_type", "filter", "created_at", "updated_at"), "", ("activity.list",),
        "subscription_id", is_of_app=True,
    ),
}  # fmt: skip
_TABLES = {operation: name for name, kind in _KINDS.items() for operation in kind.operations}
_KEYS = frozenset(kind.key for kind in _KINDS.values())
_NESTING = 4


class ShownRecords:
    """The records of v2 answers, by table and id."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[CallLabel, Record]] = {}
        self._keys: set[str] = set()
        """The ids in `_found`, without their tables."""
        self._made: set[str] = set()

    def add(self, source: CallLabel, operation: Operation, body: Mapping[str, Any]) -> None:
        """Take what an answer shows; what a request made was not there before."""
        if operation.method != "GET":
            self._made.update(each for each in _list_ids(body, 0) if each not in self._keys)
            return
        for table, key, record in _list_shown(operation, body):
            if key not in self._made:
                self._keys.add(key)
                kept = self._found.setdefault((table, key), (source, {}))[1]
                for name, value in record.items():
                    kept.setdefault(name, value)

    def list_places(self) -> Iterator[tuple[str, str]]:
        """Yields table and id of everything that was shown."""
        yield from self._found

    def list_made(self) -> Iterator[str]:
        """Yields the ids of what requests made."""
        yield from self._made

    def finish(self, app_id: str) -> Iterator[tuple[str, str, CallLabel, Record | str]]:
        """Yields table, id and source of each, and its record or why it cannot be one.

        What belongs to an app belongs to that of `app_id`.
        """
        for (table, key), (source, record) in self._found.items():
            kind = _KINDS[table]
            missing = [name for name in kind.needed if record.get(name) is None]
            if missing:
                names = ",".join(missing)
                way = f" (ask for {kind.parameter}={names})" if kind.parameter else ""
                yield table, key, source, f"no answer shows its {names}{way}"
            elif table == "direct_messages":
                yield table, key, source, _add_participants(record)
            else:
                yield (
                    table,
                    key,
                    source,
                    {**record, "_app_id": app_id} if kind.is_of_app else record,
                )


def _list_shown(operation: Operation, body: Mapping[str, Any]) -> Iterator[tuple[str, str, Record]]:
    """Yields table, id and form of each record in an answer."""
    shown, included = body.get("data"), body.get("includes")
    for item in shown if isinstance(shown, list) else [shown]:
        if not isinstance(item, dict):
            continue
        table = _TABLES.get(operation.id)
        if table is None:
            is_post = "edit_history_post_ids" in item
            table = "posts" if is_post else "users" if "username" in item else None
        if table is not None and isinstance(item.get(_KINDS[table].key), str):
            yield table, item[_KINDS[table].key], item
    for table in ("posts", "users"):
        items = included.get(table) if isinstance(included, dict) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and isinstance(item.get("id"), str):
                yield table, item["id"], item


def _list_ids(value: Any, depth: int) -> Iterator[str]:
    """Yields the ids in the answer to a request that may have made something."""
    if isinstance(value, dict) and depth < _NESTING:
        for name, item in value.items():
            if name in _KEYS and isinstance(item, str):
                yield item
            else:
                yield from _list_ids(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _list_ids(item, depth + 1)


def _add_participants(message: Record) -> Record | str:
    """Returns a message with those who see it; of a group, an answer has to name them."""
    pair = message["dm_conversation_id"].split("-")
    found = pair if len(pair) == 2 and all(map(str.isdecimal, pair)) else None
    found = found or message.get("participant_ids")
    if not found:
        return "it is of a group whose members no answer shows"
    return {**message, "_participants": list(found)}
