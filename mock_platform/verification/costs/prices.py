"""Prices: those of the public list, dated, and on top of them those of a file of the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mock_platform.core.documents.source import Malformed, Source, read
from mock_platform.core.errors import did_you_mean

_FILE = Path(__file__).with_name("prices.json")
_FLAGS = ("includes_are_free", "bare_hosts_are_text")
_KEYS = ("prices", *_FLAGS)
_PARTS = ("classes", "events")
_HIGHEST = Decimal(1000)
_PLACES = 6
_FORM = f'a price in US dollars such as "0.005": 0 to {_HIGHEST}, with up to {_PLACES} decimals'


class BadPrices(ValueError):
    """A file of prices that cannot be used; each line of the text names a place in it."""


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
    try:
        source = read(file, file.read_bytes())
    except OSError as fault:
        raise BadPrices(f"{file} cannot be read: {fault.strerror}") from fault
    except Malformed as fault:
        raise BadPrices(f"{file}:{fault.line}:{fault.column}: {fault.text}") from fault
    faults = [
        f"{file}:{line}:{column}: {text}"
        for at, text in _find_faults(source, public)
        for line, column in [source.locate(at)]
    ]
    if faults:
        raise BadPrices("\n".join(faults))
    flags = {name: source.data[name] for name in _FLAGS if name in source.data}
    changes = sorted(map(_read_change, source.data.get("prices", ())), key=lambda each: each.since)
    return PriceList(public, tuple(changes), **flags)


def _read_change(row: Mapping[str, Any]) -> _Change:
    classes, events = (
        {name: None if price is None else Decimal(str(price)) for name, price in part.items()}
        for part in (row.get(name, {}) for name in _PARTS)
    )
    return _Change(date.fromisoformat(row["from"]), classes, events)


_Fault = tuple[tuple[str | int, ...], str]
"""The place of a value in the file, and what is wrong with it."""


def _find_faults(source: Source, public: Iterable[_Change]) -> Iterator[_Fault]:
    """Yield everything that is wrong with a file of prices."""
    data = source.data
    if not isinstance(data, dict):
        yield (), f"a price file is an object with {', '.join(_KEYS)}"
        return
    yield from _find_unknown((), data, _KEYS)
    for name in _FLAGS:
        if not isinstance(data.get(name, False), bool):
            yield (name,), f"{name} must be true or false"
    rows = data.get("prices", [])
    if not isinstance(rows, list):
        yield ("prices",), 'prices must be a list of objects such as {"from": "2026-04-20", …}'
        return
    known: dict[str, dict[str, None]] = {
        "classes": dict.fromkeys(name for each in public for name in each.classes),
        "events": dict.fromkeys(name for each in public for name in each.events),
    }
    for number, row in enumerate(rows):
        at = ("prices", number)
        if not isinstance(row, dict):
            yield at, f"each of prices is an object with from, {' and '.join(_PARTS)}"
            continue
        yield from _find_unknown(at, row, ("from", *_PARTS))
        if not _is_day(row.get("from")):
            yield (*at, "from"), 'from must be the first day, such as "2026-04-20"'
        for part in _PARTS:
            yield from _find_wrong_prices((*at, part), row.get(part, {}), known[part])


def _find_wrong_prices(
    at: tuple[str | int, ...], given: Any, known: Mapping[str, None]
) -> Iterator[_Fault]:
    if not isinstance(given, dict):
        yield at, f'{at[-1]} must be an object such as {{"{next(iter(known))}": "0.005"}}'
        return
    # An event may be one that the public list does not name: it has a price then.
    if at[-1] == "classes":
        yield from _find_unknown(at, given, known)
    for name, price in given.items():
        if price is not None and not _is_price(price):
            yield (*at, name), f"{name} must be {_FORM}, or null for none; got {price!r}"


def _find_unknown(
    at: tuple[str | int, ...], given: Mapping[str, Any], known: Iterable[str]
) -> Iterator[_Fault]:
    names = list(known)
    for name in given:
        if name not in names:
            text = f"{name!r} is not known.{did_you_mean(name, names)}"
            yield (*at, name), f"{text} Known: {', '.join(names)}"


def _is_day(value: Any) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_price(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        return False
    return price.is_finite() and 0 <= price <= _HIGHEST and price == round(price, _PLACES)
