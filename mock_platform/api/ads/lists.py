"""Lists of the advertising interface: page size, cursors, sorting, totals.

Document B, "Common conventions".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import marshmallow
from marshmallow import ValidationError, fields, validates_schema
from msgspec import Struct

from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.cursors import BadCursor, make_cursor, read_cursor
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import Fault, exclusive, expected
from mock_platform.core.fields import Choice, CommaList, Flag, Integer, Text
from mock_platform.core.operation import Gate, Limit
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.core.validators import Between
from mock_platform.world.store.interface import Order, Position, Record, Term, Within
from mock_platform.world.world import World

NEXT_CURSOR = public_fact(
    "ads.next-cursor-null",
    "next_cursor is an opaque string, and null when no further entity remains.",
    "section 3, next_cursor",
)
SORT_BY = public_fact(
    "ads.sort-by",
    "sort_by is <attribute>-asc or <attribute>-desc and is echoed as a list; the spec shows "
    "neither the form nor which attributes sort.",
    "section 3, sort",
)
TOTAL_WINDOW = settled(
    "ads.with-total-count-window",
    "The 200 requests per 15 minutes with with_total_count are counted per user and endpoint in a "
    "fixed window that starts with its first request.",
)

COUNT_CLAMPED = expectation(
    "ads.count-clamped",
    "With --wire recorded, a count beyond the largest page is taken as that, with a warning in the "
    "journal; otherwise it is refused.",
)

_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)
_SORTED_BY = {"paused": "entity_status"}
"""The fields by which attributes sort that records do not have any more."""
TOTAL_COUNT_LIMIT = Limit(
    "with_total_count",
    200,
    900,
    when=lambda call: bool(call.params.get("with_total_count")),
    assumptions=(TOTAL_WINDOW,),
)


class PageOf(Struct, frozen=True):
    """The result of a list handler: the records of one page, and the start of the next one."""

    records: Sequence[Record]
    next_cursor: str | None = None
    total_count: int | None = None


class SortBy(CommaList):
    """`attribute-asc` or `attribute-desc`; of several, separated by commas, the first is used."""

    def __init__(self, attributes: Sequence[str]) -> None:
        self.attributes = tuple(attributes)
        ways = [f"{name}-{way}" for name in attributes for way in ("asc", "desc")]
        super().__init__(Choice(ways))


class _ListParameters(Schema):
    """The parameters of all lists."""

    @validates_schema(skip_on_field_errors=False)
    def check_exclusive(self, data: dict[str, Any], **_: Any) -> None:
        """Check that with_total_count and cursor are not sent together."""
        if data.get("with_total_count") and data.get("cursor") is not None:
            raise ValidationError([exclusive("with_total_count", "cursor")], "with_total_count")


class OrderedTimes(Schema):
    """Parameters of which `end_time`, if it is sent, must be later than `start_time`."""

    @validates_schema(skip_on_field_errors=False)
    def check_order(self, data: dict[str, Any], **_: Any) -> None:
        """Require that the end is after the start."""
        start, end = data.get("start_time"), data.get("end_time")
        if start is not None and end is not None and end <= start:
            text = f"end_time ({end}) must be later than start_time ({start})"
            raise ValidationError([Fault(text, "INVALID_TIME_WINDOW")], "end_time")


def list_parameters(
    name: str,
    filters: Mapping[str, fields.Field[Any]] = {},
    *,
    count: int = 200,
    most: int = 1000,
    sort: Sequence[str] = (),
    with_deleted: bool = True,
    with_total_count: bool = True,
    base: type[Schema] = _ListParameters,
) -> type[Schema]:
    """Return the parameters of one list: the common ones with its bounds, and its own filters."""
    common: dict[str, Any] = {
        "count": Integer(low=1, high=most, load_default=count),
        "cursor": Text(min_length=1),
    }
    if sort:
        common["sort_by"] = SortBy(sort)
    if with_deleted:
        common["with_deleted"] = Flag(load_default=False)
    if with_total_count:
        common["with_total_count"] = Flag(load_default=False)
    parts = (
        base
        if issubclass(base, _ListParameters)
        else type(base.__name__, (base, _ListParameters), {})
    )
    return type(name, (parts,), common | dict(filters))


def clamp_count(params: type[marshmallow.Schema]) -> list[Gate]:
    """Return the gate that bounds `count` on the recorded wire, if the parameters have one."""
    count = params._declared_fields.get("count")  # noqa: SLF001 - an instance takes a while
    found = () if count is None else count.validators
    most = next((check.max for check in found if isinstance(check, Between)), None)
    if most is None:
        return []

    def gate(call: Call, world: World) -> None:
        if call.wire != "recorded":
            return
        for index, (name, value) in enumerate(call.query):
            if name == "count" and _NUMBER.fullmatch(value) and int(value) > most:
                call.query[index] = (name, str(most))
                call.assume(COUNT_CLAMPED)
                call.warn(f"count={value} was taken as {most}, the largest page")

    return [gate]


def order_of(call: Call) -> Order:
    """Return the order of `sort_by`, or insertion order."""
    wanted = call.params.get("sort_by")
    if not wanted:
        return Order()
    call.assume(SORT_BY)
    if len(wanted) > 1:
        call.warn(f"of sort_by only {wanted[0]} counts", NO_EFFECT)
    name, _, direction = wanted[0].rpartition("-")
    return Order(_SORTED_BY.get(name, name), descending=direction == "desc")


def paginate(
    call: Call,
    world: World,
    table: str,
    match: Mapping[str, Any],
    *,
    term: Term | None = None,
    keys: Iterable[str] | None = None,
    where: Callable[[Record], bool] | None = None,
    within: Within | None = None,
    total: Callable[[], int] | None = None,
) -> PageOf:
    """Return one page of the matching records, with `count`, `cursor` and `sort_by`.

    `keys`, or else `term` and `within`, restrict the page to these records; `where` filters
    further.

    Raises:
        AdsFailure: The cursor does not belong to this list.
    """
    count: int = call.params["count"]
    order = order_of(call)
    after = _position(call, order)
    if keys is None:
        found = world.store.page(
            # One record more than asked for: if it is there, there is a next page, and no count is
            # needed.
            table,
            match,
            term=term,
            order=order,
            after=after,
            limit=count + 1,
            where=where,
            within=within,
        )
    else:
        keys = list(keys)
        found = world.store.pick(
            table, keys, match, order=order, after=after, limit=count + 1, where=where
        )
    total_count = None
    if call.params.get("with_total_count"):
        if total is not None:
            # From the cheapest to the dearest way: a count that the list knows itself, one over a
            # few keys, and only if each record has to be tested, a walk over all. Without tests an
            # index knows the number.
            total_count = total()
        elif keys is not None:
            total_count = len(world.store.pick(table, keys, match, where=where))
        elif where is not None:
            total_count = len(world.store.page(table, match, term=term, where=where, within=within))
        else:
            total_count = world.store.count(table, match, term, within)
    more = len(found) > count
    page = found[:count]
    cursor = make_cursor(call, order, page[-1]) if more else None
    return PageOf([entry.record for entry in page], cursor, total_count)


def _position(call: Call, order: Order) -> Position | None:
    text = call.params.get("cursor")
    if text is None:
        return None
    try:
        return read_cursor(call, order, text)
    except BadCursor as bad:
        fault = Fault(
            expected("cursor", text[:200]),
            details="invalid cursor",
            value=text[:200],
            hint="It must be a next_cursor of this list with the same sort_by",
        )
        call.echo.pop("cursor", None)
        raise AdsFailure(AdsError.from_fault("cursor", fault.naming("cursor"))) from bad
