"""Lists, reads and deletes from one declaration, because document B repeats them.

A `Resource` declares the records of a family: their table, their parent, how they are found and how
they are deleted. Its methods return operations; the special parts of an operation are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Unpack

from marshmallow import Schema, fields

from mock_platform.core.ads import Many, One, ads, not_found
from mock_platform.core.assumptions import Assumption
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Flag, Text
from mock_platform.core.operation import Echo, Operation, Origin, Particulars, locate_declaration
from mock_platform.core.paging import (
    NEXT_CURSOR,
    TOTAL_COUNT_LIMIT,
    PageOf,
    list_parameters,
    paginate,
)
from mock_platform.core.parents import CHILDREN, Parent
from mock_platform.store.interface import Record, Term, Within, words
from mock_platform.world.clock import wire_seconds
from mock_platform.world.world import World

TIMESTAMPS = ("created_at", "updated_at", "deleted")


@dataclass(frozen=True, slots=True)
class IdsFilter:
    """A filter by up to 200 values of the table's key (document B, Limits: "ID filters")."""

    parameter: str
    most: int = 200

    def field(self) -> fields.Field[Any]:
        """Returns the field of the filter's parameter."""
        return CommaList(Text(min_length=1), most=self.most)


@dataclass(frozen=True, slots=True)
class OneOfFilter:
    """A filter by the values of a field: separated by commas, of an enumeration or free."""

    parameter: str
    attribute: str
    values: tuple[str, ...] = ()
    most: int | None = None

    def field(self) -> fields.Field[Any]:
        """Returns the field of the filter's parameter."""
        return CommaList(Choice(self.values) if self.values else Text(min_length=1), most=self.most)


@dataclass(frozen=True, slots=True)
class ExactFilter:
    """A filter by some values of a field, found through an index.

    `find` returns the values of the field for those of the parameter, if they differ. All such
    filters of a list are about the same field.
    """

    parameter: str
    attribute: str
    most: int = 200
    required: bool = False
    find: Callable[[Call, World, Sequence[str]], Sequence[str]] | None = None

    def field(self) -> fields.Field[Any]:
        """Returns the field of the filter's parameter."""
        return CommaList(Text(min_length=1), most=self.most, required=self.required)


@dataclass(frozen=True, slots=True)
class EqualFilter:
    """A filter by one value of an enumeration, found through an index."""

    parameter: str
    attribute: str
    values: tuple[str, ...]

    def field(self) -> fields.Field[Any]:
        """Returns the field of the filter's parameter."""
        return Choice(self.values)


@dataclass(frozen=True, slots=True)
class PrefixFilter:
    """A case-insensitive prefix search."""

    parameter: str = "q"
    attribute: str = "name"
    longest: int | None = None

    def field(self) -> fields.Field[Any]:
        """Returns the field of the filter's parameter."""
        return Text(min_length=1, max_length=self.longest)


@dataclass(frozen=True, slots=True)
class WordsFilter:
    """A search for whole words, in any case, in any of some fields, found through an index.

    Each word of the parameter must be found; a parameter without words finds no record.
    """

    parameter: str
    attributes: tuple[str, ...]
    longest: int
    rule: Assumption

    def field(self) -> fields.Field[Any]:
        """Returns the field of the filter's parameter."""
        return Text(min_length=1, max_length=self.longest)

    def sought(self, call: Call) -> list[Term] | None:
        """Returns the value to find; `None` if the parameter was not sent."""
        text = call.params.get(self.parameter)
        if text is None:
            return None
        call.assume(self.rule)
        return [Term(self.attributes, word) for word in words(text)]


Filter = IdsFilter | OneOfFilter | ExactFilter | EqualFilter | PrefixFilter | WordsFilter


class ResourceParticulars(Particulars, total=False):
    """The options that only some resources use for an operation."""

    origin: Origin
    echo: Echo


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of record of the advertising interface.

    `owner` is the field with the key of the parent record, `owner_parameter` the path parameter
    with the same value. Deleted `soft` records stay, with `deleted: true`; others are removed.
    Reads do not show records whose `parent` is deleted, unless `with_deleted` is sent.
    """

    name: str
    table: str
    path: str
    id_parameter: str
    schema: type[Schema]
    noun: str
    spec: str
    owner: str | None = "_account_id"
    owner_parameter: str = "account_id"
    key: str = "id"
    missing: str = "NOT_FOUND"
    soft: bool = True
    card: bool = False
    parent: Parent | None = None

    def get_by_id(
        self, call: Call, world: World, *, with_deleted: bool = False, key: str | None = None
    ) -> Record:
        """Returns the record in the path.

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
        """Returns the conditions for the records in a list, with `with_deleted`."""
        match: dict[str, Any] = {}
        if self.owner:
            match[self.owner] = call.path_params[self.owner_parameter]
        if self.soft and not call.params.get("with_deleted"):
            match["deleted"] = False
        return match

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
        assumptions: Sequence[Assumption] = (),
        **particulars: Unpack[ResourceParticulars],
    ) -> Operation:
        """Returns the operation that lists the records.

        `where` and `extra` are for filters of other kinds; `prepare` runs first (settles
        transitions, checks the parent); `show` converts stored records to served ones. `total`
        counts the records of a list without looking at each, where `where` leaves some out.
        """

        def list_(call: Call, world: World) -> PageOf:
            if prepare is not None:
                prepare(call, world)
            match = self.match(call) | _equal(filters, call)
            keys = _keys(self, filters, call, world)
            tests = _tests(filters, call, where)
            if self.parent is not None and not call.params.get("with_deleted"):
                tests.append(self.parent.make_test(world))
            within = _find_exact(filters, call, world)
            if within is not None and keys is not None:
                tests.append(partial(_has_one_of, within))
            terms, term = _terms(filters, call), None
            if terms == []:
                keys = ()
            elif terms and keys is None:  # the rarest leads; the others are sought where it stands
                term = min(terms, key=lambda each: world.store.count(self.table, match, each))
            tests += [each.stands_in for each in terms or () if each is not term]
            test = (lambda record: all(t(record) for t in tests)) if tests else None
            counted = keys is None and term is None and total is not None
            page = paginate(
                call,
                world,
                self.table,
                match,
                term=term,
                keys=keys,
                where=test,
                within=within,
                total=partial(total, call, world, match, within) if counted and total else None,
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
            declared_at=locate_declaration(),
            returns=Many(self.schema),
            params=parameters,
            limits=(TOTAL_COUNT_LIMIT,) if with_total_count else (),
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
        assumptions: Sequence[Assumption] = (),
        **particulars: Unpack[ResourceParticulars],
    ) -> Operation:
        """Returns the operation that reads one record; `extra` are further parameters."""

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
            declared_at=locate_declaration(),
            returns=One(self.schema, card=self.card),
            params=parameters,
            errors=(self.missing,),
            statuses=(404,),
            assumptions=(*self._reads_assume, *assumptions),
            **particulars,
        )

    @property
    def _reads_assume(self) -> tuple[Assumption, ...]:
        return () if self.parent is None else (CHILDREN,)

    def delete(
        self,
        *,
        summary: str | None = None,
        path: str | None = None,
        prepare: Callable[[Call, World], None] | None = None,
        before: Callable[[Call, World, Record], None] | None = None,
        show: Callable[[Call, World, Record], Record] | None = None,
        assumptions: Sequence[Assumption] = (),
        **particulars: Unpack[ResourceParticulars],
    ) -> Operation:
        """Returns the operation that deletes one record; its answer is the deleted record.

        `prepare` runs first (settles transitions); `before` gets the record before it is deleted.
        """

        def delete(call: Call, world: World) -> Record:
            if prepare is not None:
                prepare(call, world)
            record = self.get_by_id(call, world)
            if before is not None:
                before(call, world, record)
            gone = mark_deleted(world, record) if self.soft else record | {"deleted": True}
            if self.soft:
                world.store.put(self.table, call.path_params[self.id_parameter], gone)
            else:
                world.store.remove(self.table, call.path_params[self.id_parameter])
            return gone if show is None else show(call, world, gone)

        return ads(
            f"{self.name}.delete",
            "DELETE",
            path or f"{self.path}/:{self.id_parameter}",
            delete,
            summary=summary or f"Delete one {self.noun}",
            spec=self.spec,
            declared_at=locate_declaration(),
            returns=One(self.schema, card=self.card),
            errors=(self.missing,),
            statuses=(404,),
            assumptions=assumptions,
            **particulars,
        )


def draw_unused_id(world: World, table: str, length: int = 6) -> str:
    """Returns a base 36 id that is not used, so that no record is replaced."""
    while world.store.get(table, found := world.ids.base36(length)) is not None:
        pass  # so few characters repeat sooner or later
    return found


def make_timestamps(world: World, now: datetime | None = None) -> dict[str, Any]:
    """Returns the timestamps of a record that is created now, by the world's clock if not given."""
    created = wire_seconds(now or world.clock.now())
    return {"created_at": created, "updated_at": created, "deleted": False}


def apply_changes(world: World, record: Record, changes: Mapping[str, Any]) -> Record:
    """Returns the record with changes and a new `updated_at`."""
    return {**record, **changes, "updated_at": wire_seconds(world.clock.now())}


def mark_deleted(world: World, record: Record) -> Record:
    """Returns the record as deleted."""
    return apply_changes(world, record, {"deleted": True})


def _equal(filters: Sequence[Filter], call: Call) -> dict[str, Any]:
    return {
        item.attribute: call.params[item.parameter]
        for item in filters
        if isinstance(item, EqualFilter) and item.parameter in call.params
    }


def _keys(
    resource: Resource, filters: Sequence[Filter], call: Call, world: World
) -> Iterable[str] | None:
    """Returns the keys that match id filters and prefix searches, `None` without such filters."""
    found: list[set[str]] = []
    for item in filters:
        wanted = call.params.get(item.parameter)
        if wanted is not None and isinstance(item, IdsFilter):
            found.append(set(wanted))
        elif wanted is not None and isinstance(item, PrefixFilter):
            hits = world.store.prefix(resource.table, resource.match(call), item.attribute, wanted)
            found.append({record[resource.key] for record in hits})
    return set.intersection(*found) if found else None


def _tests(
    filters: Sequence[Filter],
    call: Call,
    where: Callable[[Call], Callable[[Record], bool] | None] | None,
) -> list[Callable[[Record], bool]]:
    tests: list[Callable[[Record], bool]] = []
    for item in filters:
        wanted = call.params.get(item.parameter)
        if isinstance(item, OneOfFilter) and wanted is not None:
            tests.append(partial(_accepts, item, wanted))
    extra = None if where is None else where(call)
    if extra is not None:
        tests.append(extra)
    return tests


def _find_exact(filters: Sequence[Filter], call: Call, world: World) -> Within | None:
    """Returns the values to which filters restrict a field; `None` without such filters."""
    within: Within | None = None
    for item in filters:
        wanted = call.params.get(item.parameter)
        if wanted is None or not isinstance(item, ExactFilter):
            continue
        values = wanted if item.find is None else item.find(call, world, wanted)
        if within is not None:
            both = set(values)
            values = [value for value in within.values if value in both]
        within = Within(item.attribute, values)
    return within


def _has_one_of(within: Within, record: Record) -> bool:
    return record.get(within.field) in within.values


def _terms(filters: Sequence[Filter], call: Call) -> list[Term] | None:
    """Returns the words of a search; `None` if there is no search."""
    found = [item.sought(call) for item in filters if isinstance(item, WordsFilter)]
    return next((terms for terms in found if terms is not None), None)


def _accepts(item: OneOfFilter, wanted: Sequence[str], record: Record) -> bool:
    return record.get(item.attribute) in wanted
