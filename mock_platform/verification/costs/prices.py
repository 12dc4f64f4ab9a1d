"""Prices: those of the public list, dated, and on top of them those of a file of the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mock_platform.core.documents.forms import (
    DAY,
    EntriesForm,
    FieldsForm,
    FlagForm,
    Form,
    ListForm,
    ReadableForm,
    load_document,
)
from mock_platform.core.documents.source import DocumentKind, read
from mock_platform.core.errors import BadDocument

_FILE = Path(__file__).with_name("prices.json")
_FLAGS = ("includes_are_free", "bare_hosts_are_text")
_PARTS = ("classes", "events")
_HIGHEST = Decimal(1000)
_PLACES = 6
_MEANING = (
    f'a price in US dollars such as "0.005": 0 to {_HIGHEST}, with up to {_PLACES} decimals, or '
    "null for none"
)
_KIND = DocumentKind("file of prices", "prices")


class BadPrices(BadDocument):
    """A file of prices that cannot be used."""


class PricesOfDay(Struct, frozen=True):
    """The prices that are in force on a day."""

    since: date | None
    """When the newest of them came into force; `None` if there are none."""
    classes: Mapping[str, Decimal]
    events: Mapping[str, Decimal]

    def find_event(self, name: str) -> Decimal | None:
        """Return the price of an event, by its name or that of its family; `None` without one."""
        found = self.events.get(name)
        return self.events.get(f"{name.rpartition('.')[0]}.*") if found is None else found


class _Change(Struct, frozen=True):
    """What the prices are from a day on; `None` removes one."""

    since: date
    classes: Mapping[str, Decimal | None]
    events: Mapping[str, Decimal | None]


class PriceList(Struct):
    """The prices of a server: of each kind the own ones, else the public ones."""

    public: tuple[_Change, ...]
    own: tuple[_Change, ...] = ()
    includes_are_free: bool = False
    """Whether posts and users that are only in `includes` cost nothing."""
    bare_hosts_are_text: bool = False
    """Whether only an address with `http://` or `https://` makes a post dearer."""
    _days: dict[date, PricesOfDay] = field(default_factory=dict)

    def find(self, day: date) -> PricesOfDay:
        """Return the prices that are in force on a day."""
        found = self._days.get(day)
        if found is None:
            found = self._days[day] = self._make(day)
        return found

    def _make(self, day: date) -> PricesOfDay:
        changes = [each for each in (*self.public, *self.own) if each.since <= day]
        return PricesOfDay(
            max((each.since for each in changes), default=None),
            _join(each.classes for each in changes),
            _join(each.events for each in changes),
        )


def _join(parts: Iterable[Mapping[str, Decimal | None]]) -> dict[str, Decimal]:
    whole: dict[str, Decimal | None] = {}
    for part in parts:
        whole.update(part)
    return {name: price for name, price in whole.items() if price is not None}


@cache
def _read_public() -> tuple[_Change, ...]:
    source = read(_FILE, _FILE.read_bytes())
    return tuple(_read_change(each) for each in source.data["prices"])


def read_prices(file: Path | None) -> PriceList:
    """Return the public prices, with those of a file on top.

    Raises:
        BadPrices: The file cannot be read, or has faults.
    """
    public = _read_public()
    if file is None:
        return PriceList(public)
    source = load_document(file, _KIND, _make_form(public), BadPrices)
    flags = {name: source.data[name] for name in _FLAGS if name in source.data}
    changes = sorted(map(_read_change, source.data.get("prices", ())), key=lambda each: each.since)
    return PriceList(public, tuple(changes), **flags)


def _read_change(row: Mapping[str, Any]) -> _Change:
    classes, events = (
        {name: None if price is None else _read_price(price) for name, price in part.items()}
        for part in (row.get(name, {}) for name in _PARTS)
    )
    return _Change(date.fromisoformat(row["from"]), classes, events)


def _read_price(value: Any) -> Decimal:
    """Return a price.

    Raises:
        TypeError, ValueError: It cannot be one.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(value)
    try:
        price = Decimal(str(value))
    except InvalidOperation as fault:
        raise ValueError(value) from fault
    if not (price.is_finite() and 0 <= price <= _HIGHEST and price == round(price, _PLACES)):
        raise ValueError(value)
    return price


def _make_form(public: Iterable[_Change]) -> FieldsForm:
    """Return the form of a file of prices."""
    price = ReadableForm(lambda value: value is None or _read_price(value), _MEANING)
    classes = [name for each in public for name in each.classes]
    parts: Mapping[str, Form] = {
        "from": DAY,
        "classes": FieldsForm(dict.fromkeys(classes, price)),
        # An event may be one that the public list does not name: it has a price then.
        "events": EntriesForm(price, least=0, most=1000),
    }
    rows = ListForm(FieldsForm(parts, required=("from",)), least=0)
    return FieldsForm({"prices": rows, **dict.fromkeys(_FLAGS, FlagForm())})
