"""Collects the records that recorded answers show, as they were before the requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mock_platform.api.served import ORIGINAL_NAMES, TABLES
from mock_platform.core.jsonio import pretty
from mock_platform.core.operation import Operation
from mock_platform.core.original_names.translation import Reading
from mock_platform.core.tables.known import read_shipped
from mock_platform.core.tables.table import AS, RECORDED, Shown, Table
from mock_platform.settings import NamesMode
from mock_platform.verification.importing.recorded import CallLabel, RecordedCall
from mock_platform.world.store.interface import Record

# The records that answers of the v2 interface show, put together from all of them. An answer
# shows the fields that its request chose, so the same post may be shown in several forms; what
# one answer left out may be in another.


_SHOWN: Mapping[str, Shown] = {t.name: t.shown for t in TABLES if t.shown is not None}
_TABLES = {operation: name for name, shown in _SHOWN.items() for operation in shown.operations}
_KNOWN_BY = {shown.known_by: name for name, shown in sorted(_SHOWN.items()) if shown.known_by}
_KEYS = frozenset(shown.key for shown in _SHOWN.values())
_PARTS = ("places", "polls")
_INCLUDED = {"space_topics": "topics"}
"""Names of tables in `includes`, where they differ."""
_NESTING = 4
_USUAL_POLL_MINUTES = 1440


class ShownRecords:
    """The records of v2 answers, by table and id."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[CallLabel, Record]] = {}
        self._keys: set[str] = set()
        """The ids in `_found`, without their tables."""
        self._made: set[str] = set()
        self._parts: dict[tuple[str, str], Record] = {}
        """Places and polls, which are parts of the posts that name them."""
        self.unknown: set[str] = set()
        """Operations whose answers show objects of no table."""

    def add(self, source: CallLabel, operation: Operation, body: Mapping[str, Any]) -> None:
        """Take what an answer shows; what a request made was not there before."""
        # The records are to be those from before the recorded requests. What a request made was not
        # there then, so whatever its answer names, and no earlier answer showed, is left out from
        # now on.
        if operation.method != "GET":
            self._made.update(each for each in _list_ids(body, 0) if each not in self._keys)
            return
        for table, key, record in _list_shown(operation, body):
            if table in _PARTS:
                self._parts.setdefault((table, key), record)
            elif table is None:
                self.unknown.add(operation.id)
            elif key not in self._made:
                self._keys.add(key)
                kept = self._found.setdefault((table, key), (source, {}))[1]
                for name, value in record.items():
                    kept.setdefault(name, value)

    def list_places(self) -> Iterator[tuple[str, str]]:
        """Yield table and id of everything that was shown."""
        yield from self._found

    def list_made(self) -> Iterator[str]:
        """Yield the ids of what requests made."""
        yield from self._made

    def finish(self, app_id: str) -> Iterator[tuple[str, str, CallLabel, Record | str]]:
        """Yield table, id and source of each, and its record or why it cannot be one.

        What belongs to an app belongs to that of `app_id`.
        """
        for (table, key), (source, record) in self._found.items():
            kind = _SHOWN[table]
            missing = [name for name in kind.needed if record.get(name) is None]
            if missing:
                names = ",".join(missing)
                way = f" (ask for {kind.parameter}={names})" if kind.parameter else ""
                yield table, key, source, f"no answer shows its {names}{way}"
            else:
                owner = {"_app_id": app_id} if kind.is_of_app else {}
                parts = self._find_parts(record) if table == "posts" else {}
                yield table, key, source, kind.complete({**record, **owner, **parts})

    def _find_parts(self, post: Record) -> Record:
        """Return the place and the poll of a post, if an answer includes them."""
        place = self._parts.get(("places", (post.get("geo") or {}).get("place_id", "")))
        polls = (post.get("attachments") or {}).get("poll_ids") or [""]
        poll = self._parts.get(("polls", polls[0]))
        found: Record = {} if place is None else {"place": place}
        if poll is not None and poll.get("options"):
            known = {"id": poll["id"], "options": poll["options"]}
            minutes = poll.get("duration_minutes", _USUAL_POLL_MINUTES)
            found["_poll"] = {**known, "duration_minutes": minutes}
        return found


def _list_shown(
    operation: Operation, body: Mapping[str, Any]
) -> Iterator[tuple[str | None, str, Record]]:
    """Yield table, id and form of each record in an answer; the table is `None` if it is not known.

    Places and polls are parts of posts and have no table.
    """
    shown, included = body.get("data"), body.get("includes")
    for item in shown if isinstance(shown, list) else [shown]:
        if not isinstance(item, dict):
            continue
        table = _TABLES.get(operation.id)
        if table is None:
            table = next((name for key, name in _KNOWN_BY.items() if key in item), None)
        key = item.get("id" if table is None else _SHOWN[table].key)
        if isinstance(key, str):
            yield table, key, item
    for table in (*_SHOWN, *_PARTS):
        shown_as = _INCLUDED.get(table, table)
        items = included.get(shown_as) if isinstance(included, dict) else None
        name = _SHOWN[table].key if table in _SHOWN else "id"
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and isinstance(item.get(name), str):
                yield table, item[name], item


def _list_ids(value: Any, depth: int) -> Iterator[str]:
    """Yield the ids in the answer to a request that may have made something."""
    if isinstance(value, dict) and depth < _NESTING:
        for name, item in value.items():
            if name in _KEYS and isinstance(item, str):
                yield item
            else:
                yield from _list_ids(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _list_ids(item, depth + 1)


_IDENTITY = ("apps", "users", "tokens")
"""Tables whose default records are copied: nobody could sign in without them."""
_OF_DELIVERIES = ("events", "webhooks")
Note = tuple[CallLabel | None, str]


class RecordCollection:
    """The records of a folder, by table and key, and why others could not become records."""

    def __init__(
        self, *, with_made: bool = False, rewrite: Callable[[Record], Record] = dict
    ) -> None:
        """`with_made`: also take the records that a recorded request made.

        `rewrite` is what becomes of records of the default fixtures.
        """
        self._with_made = with_made
        self._rewrite = rewrite
        self.made: dict[tuple[str, str], CallLabel] = {}
        """By table and key, the request that made a record; it was not there before."""
        self.tables: dict[str, Table] = {table.name: table for table in TABLES}
        self.records: dict[str, dict[str, Record]] = {}
        self.notes: list[Note] = []
        self._defaults: dict[str, dict[str, Record]] = {}
        self._seen: set[tuple[str, str]] = set()
        self._shown = ShownRecords()
        self._sources: dict[tuple[str, str], CallLabel] = {}
        for name in _IDENTITY:
            self.records[name] = dict(self.read_defaults(name))

    def add_answer(
        self, recorded: RecordedCall, operation: Operation, names: NamesMode = "neutral"
    ) -> None:
        """Take the records of a successful answer, the first time that each is shown."""
        table = find_table(operation, self.tables)
        body = recorded.answer
        if not isinstance(body, dict) or (table is None and operation.dialect != "v2"):
            return
        if names == "original":
            body = ORIGINAL_NAMES.make_neutral_spelling(operation).write(body)
        label = recorded.label
        if table is None:
            self._shown.add(label, operation, body)
            return
        shown = body.get("data")
        for item in shown if isinstance(shown, list) else [shown]:
            if isinstance(item, dict):
                self._add(recorded, label, operation, table, item)

    def add_account(self, key: str) -> None:
        """Take an account that answered, whether or not an answer shows it."""
        if key not in self.records.get("accounts", {}):
            self._follow("accounts", key)

    def add_event(self, event: Record) -> str | None:
        """Take an event that a webhook got; return why it cannot be a record, if so."""
        fault = self.find_fault("events", event)
        if fault is None:
            self.records.setdefault("events", {})[event["id"]] = event
        return fault

    def find_fault(self, name: str, record: Record) -> str | None:
        """Return why a table cannot hold a record; `None` if it can."""
        faults = self.tables[name].load(dict(record))[1]
        if not faults:
            return None
        more = f" and {len(faults) - 1} more faults" if len(faults) > 1 else ""
        return f"{faults[0][0]}: {faults[0][1]}{more}"

    def finish(self) -> dict[str, list[Record]]:
        """Return the records by table, without those that no folder may hold."""
        self._add_shown()
        self._check_records()
        # Of equal times, what was stored last is the newest, and answers begin with it.
        for name in ("posts", "lists", "direct_messages"):
            found = sorted(self.records.get(name, {}).items(), key=lambda each: int(each[0]))
            self.records[name] = dict(found)
        while missing := self._find_missing():
            for name, key, other, target in missing:
                if self._follow(other, target, self.records[name].get(key)):
                    continue
                self.records[name].pop(key, None)
                text = f"{name}/{key} refers to {other}/{target}, which no answer shows"
                self.notes.append((self._sources.get((name, key)), text))
        return {name: list(found.values()) for name, found in self.records.items() if found}

    def list_shown(self) -> dict[str, list[Record]]:
        """Return all records as they were shown, with those they refer to as far as known."""
        while any(self._follow(name, key) for _, _, name, key in self._find_missing()):
            pass
        return {name: list(found.values()) for name, found in self.records.items() if found}

    def list_shown_places(self) -> Iterator[tuple[str, str]]:
        """Yield table and key of what answers of the v2 interface showed."""
        return self._shown.list_places()

    def list_keys(self) -> Iterator[tuple[str, str]]:
        """Yield table and key of every record that was shown, made or referred to.

        The published apps, users and tokens of the sandbox are left out, and what is made for
        deliveries.
        """
        places = {*self._seen, *self.made, *self._shown.list_places()}
        # Which table a made record belongs to makes no difference: its id shows its form.
        places |= {("posts", key) for key in self._shown.list_made()}
        places |= {(name, key) for name, found in self.records.items() for key in found}
        for name, found in self.records.items():
            for record in found.values():
                for reference in self.tables[name].references:
                    places |= {(reference.table, key) for key in reference.find_targets(record)}
        for name, key in sorted(places):
            is_published = name in _IDENTITY and key in self.read_defaults(name)
            if not is_published and name not in _OF_DELIVERIES:
                yield name, key

    # -- details ------------------------------------------------------------------------------

    def _add(
        self,
        recorded: RecordedCall,
        label: CallLabel,
        operation: Operation,
        table: Table,
        item: Mapping[str, Any],
    ) -> None:
        declared = frozenset(table.fields)
        reading = Reading(ORIGINAL_NAMES.find_pairs(operation), declared)
        record: Record = reading.read(dict(item), lambda *_: None) if reading else dict(item)
        key = table.key_of(record)
        if key is None or (table.name, key) in self._seen:
            return
        self._seen.add((table.name, key))
        if operation.method == "POST" and not recorded.path.endswith(key):
            self.made[table.name, key] = label
            if not self._with_made:
                return
        if operation.method == "DELETE" and record.get("deleted") is True:
            record["deleted"] = False
        for name in table.fields:
            if name.startswith("_") and name[1:] in recorded.path_params:
                record[name] = recorded.path_params[name[1:]]
        record[AS] = RECORDED
        known = self.read_defaults(table.name).get(key)
        if known is not None:  # our own record: its keys that are not served are known
            own = {name: value for name, value in known.items() if name[0] == "_"}
            record = {**own, **record}
        elif table.name == "accounts":
            record["_users"] = [next(iter(self.records["users"]))]
        self.records.setdefault(table.name, {})[key] = record
        self._sources[table.name, key] = label

    def _add_shown(self) -> None:
        """Take the records of the v2 interface that no other answer showed."""
        for name, key, source, record in self._shown.finish(next(iter(self.records["apps"]))):
            if key in self.records.get(name, {}):
                continue
            known = self.read_defaults(name).get(key)
            if known is None and isinstance(record, str):
                self.notes.append((source, f"{name}/{key} is no record: {record}"))
            elif isinstance(record, dict) and (known is None or name in _IDENTITY):
                own = {each: value for each, value in (known or {}).items() if each[0] == "_"}
                self.records.setdefault(name, {})[key] = {**own, **record, AS: RECORDED}
                self._sources[name, key] = source
            elif known is not None:
                self.records.setdefault(name, {})[key] = known
        if self._shown.unknown:
            names = ", ".join(sorted(self._shown.unknown))
            text = f"no table has what these show; rules answer the same requests alike: {names}"
            self.notes.append((None, text))

    def _check_records(self) -> None:
        for name, found in self.records.items():
            for key, record in list(found.items()):
                if (name, key) not in self._sources:
                    continue
                fault = self.find_fault(name, record)
                if fault is not None:
                    del found[key]
                    self.notes.append((self._sources[name, key], f"{name}/{key}: {fault}"))

    def _find_missing(self) -> list[tuple[str, str, str, str]]:
        def has(name: str, key: str) -> bool:
            return key in self.records.get(name, {})

        found = []
        for name, records in self.records.items():
            table = self.tables[name]
            for key, record in records.items():
                loaded, _ = table.load(dict(record))
                for reference, target in _list_missing(table, loaded, has):
                    found.append((name, key, reference, target))
        return found

    def _follow(self, name: str, key: str, referring: Record | None = None) -> bool:
        """Take a record that others refer to from the defaults; some are made up.

        What a campaign or a funding instrument refers to itself is that of the `referring` record.
        """
        if key in self.records.get(name, {}):
            return True
        known = self.read_defaults(name).get(key)
        if known is None and name == "accounts":
            model = next(iter(self.read_defaults(name).values()))
            known = {**model, "id": key, "name": f"Account {key}", "_post_grants": []}
            self.notes.append((None, f"accounts/{key} was never shown, so it is made up"))
        elif known is None and name == "users":
            known = {"id": key, "screen_name": f"user_{key}"[:15], "name": f"User {key}"}
            self.notes.append((None, f"users/{key} was never shown, so it is made up"))
        elif known is None and name in _INCLUDED:
            known = {"id": key, "name": f"Topic {key}"}
            self.notes.append((None, f"{name}/{key} was never shown, so it is made up"))
        elif known is None and (naming := self.tables[name].made_up) is not None:
            model = next(iter(self.read_defaults(name).values()))
            fields = [each.field for each in self.tables[name].references]
            source = referring or {}
            shared = {each: source[each] for each in fields if each in source}
            if len(shared) == len(fields):
                field, noun = naming
                known = {**model, **shared, "id": key, field: f"{noun} {key}"}
                self.notes.append((None, f"{name}/{key} was never shown, so it is made up"))
        if known is None:
            return False
        self.records.setdefault(name, {})[key] = known
        return True

    def read_defaults(self, name: str) -> Mapping[str, Record]:
        """Return the records of a table of the default fixtures, by key."""
        if name not in self._defaults:
            found = read_shipped(self.tables[name]).items()
            self._defaults[name] = {key: self._rewrite(record) for key, record in found}
        return self._defaults[name]


def write_records(file: Path, records: Iterable[Record]) -> None:
    """Write the file of a table, one record after the other, as people read them.

    Raises:
        OSError: It cannot be written.
    """
    with file.open("w", encoding="utf-8") as opened:
        before = "[\n  "
        for record in records:
            opened.write(before + pretty(record).replace("\n", "\n  "))
            before = ",\n  "
        opened.write("\n]\n")


def find_table(operation: Operation, tables: Mapping[str, Table]) -> Table | None:
    """Return the table whose records an operation's answers show; `None` if there is not one."""
    schema = operation.returns.schema
    if operation.dialect != "ads" or schema is None:
        return None
    exact = [table for table in tables.values() if table.schema is schema]
    if len(exact) == 1:
        return exact[0]
    below = [table for table in tables.values() if issubclass(table.schema, schema)]
    above = [table for table in tables.values() if issubclass(schema, table.schema)]
    found = below if len(below) == 1 else above
    return found[0] if len(found) == 1 else None


def _list_missing(table: Table, record: Record, has: Any) -> Iterator[tuple[str, str]]:
    for reference in table.references:
        for target in reference.find_targets(record):
            if not any(has(name, target) for name in reference.tables):
                yield reference.table, target
