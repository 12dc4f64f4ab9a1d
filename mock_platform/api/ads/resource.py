"""Lists, reads and deletes from one declaration, because document B repeats them.

A `Resource` declares the records of a family: their table, their parent, how they are found and how
they are deleted. Its methods return operations; the special parts of an operation are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Unpack

from marshmallow import fields
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mock_platform.api.ads.conventions import Many, One, ads, not_found
from mock_platform.api.ads.filters import Filter, apply_filters
from mock_platform.api.ads.lists import (
    NEXT_CURSOR,
    TOTAL_COUNT_LIMIT,
    PageOf,
    list_parameters,
    paginate,
)
from mock_platform.core.assumptions import Assumption, public_fact
from mock_platform.core.call import Call
from mock_platform.core.envelope import Returns
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import unlisted
from mock_platform.core.fields import Choice, Flag
from mock_platform.core.operation import (
    Echo,
    Gate,
    Handler,
    Operation,
    Origin,
    Particulars,
    locate_declaration,
)
from mock_platform.core.schema import Schema
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record, Within
from mock_platform.world.world import World

# Records below a deleted record: they keep `deleted: false`, and are read only if asked for.

CHILDREN_OF_DELETED = public_fact(
    "ads.children-of-deleted",
    "Records below a deleted one (a campaign, a line item) keep deleted: false; lists and reads of "
    "one show them only with_deleted. They can still be deleted.",
    "adjacent operations, section 1",
)


ACTIVATE_STARTS = public_fact(
    "ads.activate",
    "PUT …/activate sets entity_status ACTIVE, takes no parameters, and answers like the update. "
    "The server for agents has it for campaigns and line items; the spec does not show it.",
    "the platform's page on its server for agents",
    gap=True,
)


# Clients that save all that they loaded send each property of a record back, also those with a
# value that an update cannot set. An update takes such a value if it is stored, and sets no others.


class ChoiceOrStored(Choice):
    """One of the values that can be set; further ones of records are left to `refuse_new_values`.

    Example:
        >>> field = ChoiceOrStored(("ACTIVE", "PAUSED"), stored=("DRAFT",))
        >>> field.deserialize("DRAFT"), field.values
        ('DRAFT', ('ACTIVE', 'PAUSED'))
    """

    def __init__(self, values: Sequence[str], *, stored: Sequence[str]) -> None:
        self.stored = tuple(stored)
        super().__init__(values)

    def _validate(self, value: Any) -> None:
        if value not in self.stored:
            super()._validate(value)


class Parent(Struct, frozen=True):
    """The record to which records of a resource belong, and the one above it."""

    field: str
    table: str
    above: Parent | None = None

    def is_deleted(self, world: World, record: Record) -> bool:
        """Return whether the record's parent, or one above it, is deleted."""
        found = world.store.get(self.table, record.get(self.field) or "")
        if found is None:
            return False
        return bool(found["deleted"]) or (
            self.above is not None and self.above.is_deleted(world, found)
        )

    def make_test(self, world: World) -> Callable[[Record], bool]:
        """Return a test for records whose parent is not deleted; it looks at each parent once."""
        # A page has many records of few parents, so each parent is looked up once.
        known: dict[str | None, bool] = {}

        def is_shown(record: Record) -> bool:
            key = record.get(self.field)
            if key not in known:
                known[key] = not self.is_deleted(world, record)
            return known[key]

        return is_shown


CAMPAIGN = Parent("campaign_id", "campaigns")
"""What line items belong to."""
LINE_ITEM = Parent("line_item_id", "line_items", CAMPAIGN)
"""What promoted posts, targeting criteria and other parts of a line item belong to."""


TIMESTAMPS = ("created_at", "updated_at", "deleted")


class ResourceParticulars(Particulars, total=False):
    """The options that only some resources use for an operation."""

    echo: Echo


class WriteParticulars(ResourceParticulars, total=False):
    """The options of creations and updates."""

    returns: Returns
    origin: Origin
    assumptions: Sequence[Assumption]


class Resource(Struct, frozen=True):
    """One kind of record of the advertising interface.

    `owner` is the field with the key of the parent record, `owner_parameter` the path parameter
    with the same value. Deleted `soft` records stay, with `deleted: true`; others are removed.
    Reads do not show records whose `parent` is deleted, unless `with_deleted` is sent. All
    operations have this `origin`, unless one says another, and these `assumptions`.

    Example:
        >>> shops = Resource(
        ...     name="shops", path="/12/accounts/:account_id/shops", schema=Schema, noun="shop",
        ...     spec="B, Shops",
        ... )
        >>> read, remove = shops.get(), shops.delete()
        >>> read.id, read.path
        ('shops.get', '/12/accounts/:account_id/shops/:shop_id')
        >>> remove.method, remove.summary
        ('DELETE', 'Delete one shop')
    """

    name: str
    path: str
    schema: type[Schema]
    noun: str
    spec: str
    table: str = ""
    """The table of its records; without it, `name`."""
    id_parameter: str = ""
    """The path parameter with the id of a record; without it, `noun` and `_id`."""
    owner: str | None = "_account_id"
    owner_parameter: str = "account_id"
    key: str = "id"
    missing: str = "NOT_FOUND"
    soft: bool = True
    card: bool = False
    parent: Parent | None = None
    origin: Origin = Origin.DOCUMENT_B
    assumptions: tuple[Assumption, ...] = ()
    gates: tuple[Gate, ...] = ()
    """The gates of all its operations."""
    most_reads: int | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "table", self.table or self.name)
        force_setattr(
            self, "id_parameter", self.id_parameter or f"{self.noun.replace(' ', '_')}_id"
        )

    def get_by_id(
        self, call: Call, world: World, *, with_deleted: bool = False, key: str | None = None
    ) -> Record:
        """Return the record in the path.

        Raises:
            AdsFailure: 404; it does not exist, belongs to another owner, or is deleted.
        """
        key = call.path_params[self.id_parameter] if key is None else key
        record = world.store.get(self.table, key)
        if (
            record is None
            or (self.owner and record[self.owner] != call.path_params[self.owner_parameter])
            or (self.soft and record["deleted"] and not with_deleted)
        ):
            raise not_found(self.missing, self.noun, self.id_parameter, key)
        return record

    def match(self, call: Call) -> dict[str, Any]:
        """Return the conditions for the records in a list, with `with_deleted`."""
        match: dict[str, Any] = {}
        if self.owner:
            match[self.owner] = call.path_params[self.owner_parameter]
        if self.soft and not call.params.get("with_deleted"):
            match["deleted"] = False
        return match

    def add(self, call: Call, world: World, fields: Mapping[str, Any]) -> Record:
        """Store a new record of the account in the path, and return it."""
        key = draw_unused_id(world, self.table)
        account_id = call.path_params["account_id"]
        record = {"id": key, **fields, **make_timestamps(world), "_account_id": account_id}
        world.store.put(self.table, key, record)
        return record

    def change(self, call: Call, world: World) -> Record:
        """Change the fields that were sent, and return the record; without any, it stays."""
        record = self.get_by_id(call, world)
        if not call.params:
            return record
        after = apply_changes(world, record, call.params)
        world.store.put(self.table, record["id"], after)
        return after

    def remove(self, world: World, key: str, record: Record) -> Record:
        """Delete a record, or mark a `soft` one as deleted; return it as the delete answers."""
        if not self.soft:
            world.store.remove(self.table, key)
            return record | {"deleted": True}
        gone = mark_deleted(world, record)
        world.store.put(self.table, key, gone)
        return gone

    def list(
        self,
        filters: Sequence[Filter] = (),
        *,
        summary: str | None = None,
        count: int = 200,
        most: int = 1000,
        sort: Sequence[str] = TIMESTAMPS,
        with_deleted: bool = True,
        with_total_count: bool = True,
        where: Callable[[Call], Callable[[Record], bool] | None] | None = None,
        extra: Mapping[str, fields.Field[Any]] | None = None,
        prepare: Callable[[Call, World], None] | None = None,
        show: Callable[[Call, World, Record], Record] | None = None,
        total: Callable[[Call, World, Mapping[str, Any], Within | None], int] | None = None,
        origin: Origin | None = None,
        assumptions: Sequence[Assumption] = (),
        **particulars: Unpack[ResourceParticulars],
    ) -> Operation:
        """Return the operation that lists the records.

        `where` and `extra` are for filters of other kinds; `prepare` runs first (settles
        transitions, checks the parent); `show` converts stored records to served ones. `total`
        counts the records of a list without looking at each, where `where` leaves some out.
        """

        def list_(call: Call, world: World) -> PageOf:
            if prepare is not None:
                prepare(call, world)
            # What an index can answer goes into the search (`match`, keys, one word); all that is
            # left is a test of each record, and there is none at all for a plain list. Only then is
            # the total a number that the index knows.
            own = [] if where is None else [where(call)]
            if self.parent is not None and not call.params.get("with_deleted"):
                own.append(self.parent.make_test(world))
            left = apply_filters(filters, call, world, self.table, self.key, self.match(call))
            tests = [*left.tests, *(test for test in own if test is not None)]
            test = (lambda record: all(t(record) for t in tests)) if tests else None
            count_all = None
            if total is not None and left.keys is None and left.term is None:
                count_all = partial(total, call, world, left.match, left.within)
            page = paginate(
                call,
                world,
                self.table,
                left.match,
                term=left.term,
                keys=left.keys,
                where=test,
                within=left.within,
                total=count_all,
            )
            if show is None:
                return page
            shown = [show(call, world, record) for record in page.records]
            return PageOf(shown, page.next_cursor, page.total_count)

        parameters = list_parameters(
            f"{self.name.title().replace('_', '')}List",
            {f.parameter: f.field() for f in filters} | dict(extra or {}),
            count=count,
            most=most,
            sort=sort,
            with_deleted=with_deleted,
            with_total_count=with_total_count,
        )
        return ads(
            f"{self.name}.list",
            "GET",
            self.path,
            list_,
            summary=summary or f"List {self.noun}s",
            spec=self.spec,
            gates=self.gates,
            most_reads=self.most_reads,
            declared_at=locate_declaration(),
            returns=Many(self.schema),
            params=parameters,
            limits=(TOTAL_COUNT_LIMIT,) if with_total_count else (),
            origin=origin or self.origin,
            assumptions=(NEXT_CURSOR, *self._reads_assume, *assumptions),
            errors=(self.missing,) if prepare else (),
            statuses=(404,) if prepare else (),
            **particulars,
        )

    def get(
        self,
        *,
        with_deleted: bool = True,
        extra: Mapping[str, fields.Field[Any]] | None = None,
        show: Callable[[Call, World, Record], Record] | None = None,
        origin: Origin | None = None,
        assumptions: Sequence[Assumption] = (),
        **particulars: Unpack[ResourceParticulars],
    ) -> Operation:
        """Return the operation that reads one record; `extra` are further parameters."""

        def get(call: Call, world: World) -> Record:
            shown = bool(call.params.get("with_deleted"))
            record = self.get_by_id(call, world, with_deleted=shown)
            if self.parent is not None and not shown and self.parent.is_deleted(world, record):
                key = call.path_params[self.id_parameter]
                raise not_found(self.missing, self.noun, self.id_parameter, key)
            return record if show is None else show(call, world, record)

        parameters = type(
            f"{self.name.title().replace('_', '')}Get",
            (Schema,),
            ({"with_deleted": Flag(load_default=False)} if with_deleted else {})
            | dict(extra or {}),
        )
        return ads(
            f"{self.name}.get",
            "GET",
            f"{self.path}/:{self.id_parameter}",
            get,
            summary=f"Read one {self.noun}",
            spec=self.spec,
            gates=self.gates,
            most_reads=self.most_reads,
            declared_at=locate_declaration(),
            returns=One(self.schema, card=self.card),
            params=parameters,
            errors=(self.missing,),
            statuses=(404,),
            origin=origin or self.origin,
            assumptions=(*self._reads_assume, *assumptions),
            **particulars,
        )

    @property
    def _reads_assume(self) -> tuple[Assumption, ...]:
        return (*(() if self.parent is None else (CHILDREN_OF_DELETED,)), *self.assumptions)

    def create(
        self,
        handler: Handler,
        params: type[Schema],
        summary: str,
        *,
        errors: tuple[str, ...] = (),
        statuses: tuple[int, ...] = (),
        **particulars: Unpack[WriteParticulars],
    ) -> Operation:
        """Return the operation that makes a record."""
        return self._write(
            ("create", "POST", self.path, handler), params, summary, errors, statuses, **particulars
        )

    def update(
        self,
        handler: Handler | None,
        params: type[Schema],
        summary: str,
        *,
        errors: tuple[str, ...] = (),
        **particulars: Unpack[WriteParticulars],
    ) -> Operation:
        """Return the operation that changes the record in the path, by `change` by default."""
        what = ("update", "PUT", f"{self.path}/:{self.id_parameter}", handler or self.change)
        place = locate_declaration() if handler is None else None
        errors = (self.missing, *errors)
        return self._write(what, params, summary, errors, (404,), declared_at=place, **particulars)

    def _write(
        self,
        what: tuple[str, str, str, Handler],
        params: type[Schema],
        summary: str,
        errors: tuple[str, ...],
        statuses: tuple[int, ...],
        *,
        returns: Returns | None = None,
        origin: Origin | None = None,
        assumptions: Sequence[Assumption] = (),
        declared_at: tuple[str, int] | None = None,
        **particulars: Unpack[ResourceParticulars],
    ) -> Operation:
        verb, method, path, handler = what
        return ads(
            f"{self.name}.{verb}",
            method,
            path,
            handler,
            summary=summary,
            spec=self.spec,
            gates=self.gates,
            returns=returns or One(self.schema, card=self.card),
            params=params,
            origin=origin or self.origin,
            assumptions=(*self.assumptions, *assumptions),
            errors=errors,
            statuses=statuses,
            declared_at=declared_at,
            **particulars,
        )

    def delete(
        self,
        *,
        summary: str | None = None,
        path: str | None = None,
        prepare: Callable[[Call, World], None] | None = None,
        before: Callable[[Call, World, Record], None] | None = None,
        show: Callable[[Call, World, Record], Record] | None = None,
        origin: Origin | None = None,
        assumptions: Sequence[Assumption] = (),
        **particulars: Unpack[ResourceParticulars],
    ) -> Operation:
        """Return the operation that deletes one record; its answer is the deleted record.

        `prepare` runs first (settles transitions); `before` gets the record before it is deleted.
        """

        def delete(call: Call, world: World) -> Record:
            if prepare is not None:
                prepare(call, world)
            record = self.get_by_id(call, world)
            if before is not None:
                before(call, world, record)
            gone = self.remove(world, call.path_params[self.id_parameter], record)
            return gone if show is None else show(call, world, gone)

        return ads(
            f"{self.name}.delete",
            "DELETE",
            path or f"{self.path}/:{self.id_parameter}",
            delete,
            summary=summary or f"Delete one {self.noun}",
            spec=self.spec,
            gates=self.gates,
            declared_at=locate_declaration(),
            returns=One(self.schema, card=self.card),
            errors=(self.missing,),
            statuses=(404,),
            origin=origin or self.origin,
            assumptions=(*self.assumptions, *assumptions),
            **particulars,
        )


def declare_activation(update: Operation) -> Operation:
    """Return the operation that starts what `update` changes, by its entity_status alone."""

    def activate(call: Call, world: World) -> Record:
        call.params = {"entity_status": "ACTIVE"}
        record: Record = update.handler(call, world)
        return record

    return replace(
        update,
        id=update.id.replace(".update", ".activate"),
        path=f"{update.path}/activate",
        handler=activate,
        summary=update.summary.replace("Change", "Start"),
        params=None,
        errors=update.errors[:1],  # not found; the others are about parameters
        origin=Origin.PUBLIC_FACT,
        assumptions=(ACTIVATE_STARTS, *update.assumptions),
        declared_at=locate_declaration(),
    )


def find_own(call: Call, world: World, table: str, key: str) -> Record | None:
    """Return a record of the account in the path; `None` if it is unknown or deleted."""
    found = world.store.get(table, key)
    if found is None or found["deleted"]:
        return None
    return found if found["_account_id"] == call.path_params["account_id"] else None


def draw_unused_id(world: World, table: str, length: int = 6) -> str:
    """Return a base 36 id that is not used, so that no record is replaced."""
    while world.store.get(table, found := world.ids.base36(length)) is not None:
        pass  # so few characters repeat sooner or later
    return found


def make_timestamps(world: World, now: datetime | None = None) -> dict[str, Any]:
    """Return the timestamps of a record that is created now, by the world's clock if not given."""
    created = wire_seconds(now or world.clock.now())
    return {"created_at": created, "updated_at": created, "deleted": False}


def refuse_new_values(call: Call, before: Record, settable: Mapping[str, Sequence[str]]) -> None:
    """Refuse values that are neither settable nor stored.

    Raises:
        InvalidParameters: A parameter has such a value.
    """
    refused = {
        name: value
        for name in settable
        if (value := call.params.get(name)) is not None
        and value != before[name]
        and value not in settable[name]
    }
    if not refused:
        return
    for name in refused:
        del call.echo[name]
    faults = [
        (name, unlisted(settable[name], value).naming(name)) for name, value in refused.items()
    ]
    raise InvalidParameters(faults, refused, call.params)


def apply_changes(world: World, record: Record, changes: Mapping[str, Any]) -> Record:
    """Return the record with changes and a new `updated_at`."""
    return {**record, **changes, "updated_at": wire_seconds(world.clock.now())}


def mark_deleted(world: World, record: Record) -> Record:
    """Return the record as deleted."""
    return apply_changes(world, record, {"deleted": True})
