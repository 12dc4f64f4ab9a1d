"""`collection: FILE | [RECORD, …] | {file | items, id, envelope}` — records behind a path.

For rules on a path without a method, such as `on: /2/shops`: GET lists the records, POST creates
one, and below the path GET, PUT or PATCH (both merge) and DELETE act on one record. A file is JSON,
an array of objects, in or below the folder of the scenario. Each world has its own copy, which a
reset or a new activation returns to its start. With `envelope: none` the answers are the records
themselves, else they are in `data`, as in the interface that the path belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.core.call import ABSENT, Call, Reply
from mock_platform.core.documents.forms import (
    AnyForm,
    EntriesForm,
    FaultReport,
    ListForm,
    StructureForm,
    TypedForm,
    WordForm,
    make_keyed,
    make_object,
)
from mock_platform.core.documents.source import Path, quote
from mock_platform.core.failures.rendering import JSON
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import dialect_of
from mock_platform.core.tables.checking import merge_patch
from mock_platform.scenario.catalog import ITEM
from mock_platform.scenario.effects.effect import EffectKind, Staging
from mock_platform.scenario.effects.error import ErrorEffect
from mock_platform.world.world import World

TABLE = "_collections"
"""The changed records of all collections of a world, by scenario, rule and id."""
MAX_ITEMS = 1_000
_ENVELOPES = ("data", "none")
_FILE = StructureForm(WordForm(least=1, most=300))
_RECORD = EntriesForm(AnyForm(), least=0)
_ITEMS = ListForm(_RECORD, least=0, most=MAX_ITEMS)


class CollectionEffect(Struct, frozen=True):
    """Lists, returns, creates, changes and deletes records that the author wrote."""

    items: Mapping[str, Mapping[str, Any]]
    """The records at the start, by id."""
    id: str = "id"
    """The field with the id."""
    wrapped: bool = True
    """Whether answers have an envelope."""

    def answer(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Return the answer to one of the six requests."""
        call = staging.call
        rows = _Rows(staging, self)
        key = call.path_params.get(ITEM)
        if key is None:
            if call.method == "POST":
                return self._create(staging, rows)
            return self._reply(call, rows.list(), 200)
        record = rows.find(key)
        if record is None:
            text = f"There is no record with the {self.id} {key!r} in this collection."
            raise ErrorEffect("NOT_FOUND", text).make_failure(call.path)
        if call.method in {"PUT", "PATCH"}:
            body, id_ = _read_body(call), record[self.id]
            if self.id in body and body[self.id] not in {id_, key}:
                call.warn(f"the {self.id} of a record does not change: {quote(id_)} stays")
            record = {**merge_patch(record, body), self.id: id_}
            rows.put(key, record)
        elif call.method == "DELETE":
            rows.put(key, None)
            return self._reply(call, self._describe_deleted(call, record), 200)
        return self._reply(call, record, 200)

    def _create(self, staging: Staging, rows: _Rows) -> Reply:
        call = staging.call
        body = _read_body(call)
        id_ = body.pop(self.id, None)
        if id_ is None or id_ == "":
            id_ = staging.world.ids.snowflake()
        elif not _is_id(id_):
            text = f"Expected a text or a whole number as {self.id}, got {quote(id_)}."
            raise ErrorEffect("INVALID_PARAMETER", text).make_failure(call.path)
        key = str(id_)
        if rows.find(key) is not None:
            text = f"There is already a record with the {self.id} {key!r} in this collection."
            raise ErrorEffect("ALREADY_EXISTS", text, 409).make_failure(call.path)
        record = {self.id: id_, **body}
        rows.put(key, record)
        return self._reply(call, record, 200 if dialect_of(call.path) == "ads" else 201)

    def _describe_deleted(self, call: Call, record: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.wrapped and dialect_of(call.path) == "v2":
            return {"deleted": True}
        return {**record, "deleted": True}

    def _reply(self, call: Call, data: Any, status: int) -> Reply:
        body = data
        if self.wrapped:
            body = {"data": data}
            many = isinstance(data, list)
            if dialect_of(call.path) == "ads":
                body |= {"request": {"params": dict(call.path_params)}}
                body |= {"next_cursor": None} if many else {}
            elif many:
                body |= {"meta": {"result_count": len(data)}}
        return Reply(status, dumps(body), [("Content-Type", JSON)])


class _Rows:
    """The records of one collection in one world: those of the author, and what changed since."""

    def __init__(self, staging: Staging, effect: CollectionEffect) -> None:
        name, index = staging.rule
        self._store = staging.world.store
        self._start = effect.items
        self._prefix = f"{name}/{index}/"

    def find(self, key: str) -> dict[str, Any] | None:
        """Return a record, or `None`."""
        # The author's records are never copied into the world; only those that changed are stored
        # there, and a deleted one as a row without a record. So a reset is free, and rows in the
        # store always win.
        row = self._store.get(TABLE, self._prefix + key)
        found = self._start.get(key) if row is None else row["record"]
        return None if found is None else dict(found)

    def list(self) -> list[dict[str, Any]]:
        """Return all records: those of the author in their order, then the created ones."""
        created = [
            entry.key.removeprefix(self._prefix)
            for entry in self._store.page(TABLE)
            if entry.key.startswith(self._prefix)
        ]
        found = (self.find(key) for key in dict.fromkeys([*self._start, *created]))
        return [record for record in found if record is not None]

    def put(self, key: str, record: Mapping[str, Any] | None) -> None:
        """Create, replace or (`None`) delete a record."""
        self._store.put(TABLE, self._prefix + key, {"record": record})


def forget_changes(world: World, scenario: str) -> None:
    """Return the collections of a scenario to their start; part of a transaction."""
    for entry in world.store.page(TABLE):
        if entry.key.startswith(f"{scenario}/"):
            world.store.remove(TABLE, entry.key)


def _read_body(call: Call) -> dict[str, Any]:
    """Return what a request sends: a JSON object, or the parameters of form and query.

    Raises:
        Failure: The body is something else.
    """
    if isinstance(call.json, dict):
        return dict(call.json)
    if call.json is ABSENT and (call.form or not call.body):
        return dict([*call.query, *call.form])
    text = "Expected a JSON object, or parameters in a form or in the query."
    raise ErrorEffect("INVALID_PARAMETER", text).make_failure(call.path)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def find_item_violations(items: Sequence[Any], id_: str) -> list[tuple[int, str]]:
    """Return what is wrong with the records of a collection: index and text."""
    found: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    if len(items) > MAX_ITEMS:
        found.append((MAX_ITEMS, f"a collection has at most {MAX_ITEMS:,} records"))
    for index, item in enumerate(items[:MAX_ITEMS]):
        key = item.get(id_) if isinstance(item, dict) else None
        if not isinstance(item, dict):
            found.append((index, f"expected an object, got {quote(item)}"))
        elif not _is_id(key):
            got = "it is missing" if id_ not in item else f"got {quote(key)}"
            found.append((index, f"expected a text or a whole number as {id_}; {got}"))
        elif (first := seen.setdefault(str(key), index)) != index:
            found.append((index, f"record {first} has the {id_} {quote(key)} already"))
    return found


def _cross_check(value: Mapping[str, Any], at: Path, report: FaultReport) -> None:
    given = value["collection"]
    if isinstance(given, dict) and ("items" in given) == ("file" in given):
        report(at, "expected one of items and file")
    items = given.get("items") if isinstance(given, dict) else given
    if isinstance(items, list):
        inside = (*at, "items") if isinstance(given, dict) else at
        id_ = given.get("id", "id") if isinstance(given, dict) else "id"
        for index, text in find_item_violations(items, id_):
            report((*inside, index), text)


def _make(value: Mapping[str, Any]) -> CollectionEffect:
    given = value["collection"]
    whole = given if isinstance(given, dict) else {"items": given}
    id_ = whole.get("id", "id")
    items = {str(item[id_]): item for item in whole["items"]}
    return CollectionEffect(items, id_, whole.get("envelope", "data") == "data")


_WHOLE = make_object(
    {
        "file": (
            _FILE,
            "A JSON file with an array of records, in the folder of the scenario or below it.",
        ),
        "items": (StructureForm(_ITEMS), "The records themselves."),
        "id": (StructureForm(WordForm(least=1, most=100)), "The field with a record's id.", "id"),
        "envelope": (
            StructureForm(WordForm(_ENVELOPES)),
            "Whether answers have the interface's envelope.",
            "data",
        ),
    },
    least=1,
    excluding=("file", "items"),
)
KIND = EffectKind(
    "collection",
    _make,
    cross_check=_cross_check,
    form=make_keyed(
        "collection",
        StructureForm(
            TypedForm(
                text=_FILE,
                items=_ITEMS,
                object=_WHOLE,
                what="the name of a JSON file, a list of records, or an object with file or items, "
                "id, envelope",
            )
        ),
        "Records behind a path that no operation serves: list, get, create, update, delete.",
    ),
    answers=True,
    acts_on="collection",
)
