"""What may be drawn for a record that is made: ids, names, texts, money and times.

Everything follows from a hash of the seed, the table and the number of the record. So a record is
the same whatever is drawn for others, and costs one hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Any, TypeVar

from marshmallow.fields import Field, List
from marshmallow.validate import Length

from mock_platform.core.fields import Choice, Instant, Integer, Text
from mock_platform.core.tables.known import KnownRecords
from mock_platform.core.tables.table import Table
from mock_platform.world.store.interface import Record

TITLES = frozenset({"name", "title"})
"""Fields that name a record to people."""
_NOISE_BITS = 512

T = TypeVar("T")


class Draft:
    """One record that is being made: what is known of it, and what may be drawn for it.

    `record` has what was given and the references, `moment` is when it was created.
    """

    def __init__(
        self, known: KnownRecords, table: Table, index: int | str, moment: datetime
    ) -> None:
        self.record: Record = {}
        self.index = index
        self.moment = moment
        self._known = known
        self._table = table
        self._rest = 0
        self._bound = 1
        self._hashes = 0

    def draw_below(self, bound: int) -> int:
        """Return a number from 0 up, less than a bound of at most 64 bits."""
        if self._bound < bound << 64:
            label = f"{self._table.name}/{self.index}/{self._hashes}"
            self._rest = int.from_bytes(self._known.ids.noise(label))
            self._bound = 1 << _NOISE_BITS
            self._hashes += 1
        self._rest, found = divmod(self._rest, bound)
        self._bound //= bound
        return found

    def pick(self, options: Sequence[T]) -> T:
        """Return one of some values."""
        return options[self.draw_below(len(options))]

    def draw_between(self, low: int, high: int) -> int:
        """Return a whole number between two, ends included."""
        return low + self.draw_below(high - low + 1)

    def money(self, low: int, high: int) -> int:
        """Return an amount between two of whole units, in millionths, as people choose them."""
        amount = self.draw_between(low, high)
        step = next(step for step in (100, 50, 10, 5, 1) if step * 10 <= amount or step == 1)
        return max(low, amount // step * step) * 1_000_000

    def after(self, *, least_hours: float = 0, most_hours: float) -> datetime:
        """Return a full hour so long after the record was created."""
        hours = least_hours + self.draw_below(1000) / 1000 * (most_hours - least_hours)
        found = self.moment + timedelta(hours=max(1, ceil(hours)))
        return found.replace(minute=0, second=0, microsecond=0)

    def person(self) -> str:
        """Return the name of a person."""
        return f"{self.pick(FIRST_NAMES)} {self.pick(LAST_NAMES)}"

    def company(self) -> str:
        """Return the name of a business."""
        return f"{self.pick((*_PLACES, *LAST_NAMES))} {self.pick(_TRADES)}"

    def city(self) -> str:
        """Return the name of a city."""
        return self.pick(_CITIES)

    def title(self) -> str:
        """Return what somebody would call a list, a campaign or a collection."""
        return f"{self.pick(_SEASONS)} {self.pick(_THINGS)}"

    def sentence(self) -> str:
        """Return what somebody would post."""
        return f"{self.pick(_BEGINNINGS)} {self.pick(_THINGS)} {self.pick(_ENDINGS)}"

    def id(self, *, dated: bool = False) -> str:
        """Return a key of the table's form that no record has; `dated` ones tell their time."""
        return self._known.draw_key(self._table, self.moment if dated else None)

    def snowflake(self) -> str:
        """Return 19 digits that no other record has."""
        return self._known.ids.snowflake()

    def find_unused(self, options: Sequence[str]) -> str:
        """Return one of some keys that no record has.

        Raises:
            BadRecord: There are no more.
        """
        return self._known.find_unused(self._table, options, self.draw_below(len(options)))

    def model(self) -> Record:
        """Return what a record of the default fixtures says, with new names and times."""
        models = self._known.list_models(self._table)
        if not models:
            return {}
        model = self.pick(models)
        found = model.values | {name: self.moment + since for name, since in model.times}
        for name in TITLES & found.keys():
            found[name] = self.title()[: find_longest(self._table.find_field(name))]
        return found

    def usable(self, table: str) -> list[Record]:
        """Return the records of a table that others may refer to."""
        return self._known.list_usable(table)

    def secret(self, length: int) -> str:
        """Return letters and digits, for keys and tokens."""
        return self._known.ids.alphanumeric(length)

    def target(self, field: str) -> Record:
        """Return the record that a reference of this record leads to; empty without one."""
        reference = next(each for each in self._table.references if each.field == field)
        return self._known.find(reference, self.record.get(field)) or {}

    def first(self, table: str) -> Record | None:
        """Return the first usable record of a table, if it has one."""
        return next(iter(self.usable(table)), None)

    def as_sibling(self, field: str, name: str, options: Sequence[T]) -> T:
        """Return what the other records with the same value of `field` have as `name`."""
        agreed = self._known.list_agreed(self._table.name, field, name)
        key = self.record[field]
        if key not in agreed:
            agreed[key] = self.pick(options)
        found: T = agreed[key]
        return found


def find_longest(field: Field[Any]) -> int | None:
    """Return how many characters a text may have; `None` without a limit."""
    return next((each.max for each in field.validators if isinstance(each, Length)), None)


def invent(draft: Draft, name: str, field: Field[Any]) -> Any:
    """Return a value of the type of a field for which there is no model."""
    if isinstance(field, Choice):
        return draft.pick(field.values)
    if isinstance(field, Instant):
        return field.form(draft.moment)
    if isinstance(field, Text):
        return draft.title()[: find_longest(field)] if name in TITLES else draft.sentence()
    return (
        draft.draw_below(1000)
        if isinstance(field, Integer)
        else []
        if isinstance(field, List)
        else {}
    )


# Words. A first and a last name, or a beginning, a thing and an ending, make thousands of others.

FIRST_NAMES = (
    "Ada", "Amara", "Anders", "Aylin", "Bao", "Carla", "Chidi", "Clara", "Dmitri", "Elif", "Emma",
    "Farid", "Grace", "Hana", "Ines", "Ivan", "Jonas", "Jun", "Kavya", "Keiko", "Lars", "Leila",
    "Liam", "Lucia", "Mateo", "Maya", "Mina", "Nadia", "Noah", "Nora", "Omar", "Priya", "Ravi",
    "Rosa", "Sofia", "Tariq", "Tomas", "Uma", "Yusuf", "Zoe",
)  # fmt: skip
LAST_NAMES = (
    "Abebe", "Adeyemi", "Almeida", "Bauer", "Bianchi", "Brooks", "Castillo", "Chen", "Dubois",
    "Duarte", "Eriksen", "Fischer", "Garcia", "Hansen", "Haddad", "Ito", "Jansen", "Kapoor", "Khan",
    "Kim", "Kowalski", "Laurent", "Lindqvist", "Mbeki", "Meyer", "Moreau", "Nakamura", "Nguyen",
    "Novak", "Okafor", "Osman", "Park", "Patel", "Rossi", "Santos", "Silva", "Tanaka", "Walsh",
    "Weber", "Yilmaz",
)  # fmt: skip
_PLACES = (
    "Bayside", "Cedar", "Harbor", "Hillcrest", "Juniper", "Lakeside", "Maple", "Meridian",
    "Northside", "Old Town", "Riverside", "Sunrise",
)  # fmt: skip
_TRADES = (
    "Bakery", "Bikes", "Books", "Ceramics", "Coffee", "Fitness", "Flowers", "Furniture", "Garden",
    "Hotels", "Optics", "Outdoor", "Records", "Studio", "Travel", "Wines",
)  # fmt: skip
_CITIES = (
    "Accra", "Austin, TX", "Bergen", "Bogotá", "Chicago, IL", "Dublin", "Hamburg", "Istanbul",
    "Kyoto", "Lagos", "Lisbon", "Lyon", "Manila", "Melbourne", "Mumbai", "Nairobi", "Oslo",
    "Portland, OR", "Porto", "Seattle, WA", "Seoul", "Toronto", "Valencia", "Warsaw",
)  # fmt: skip
_SEASONS = (
    "Spring", "Summer", "Autumn", "Winter", "Weekend", "Holiday", "Early", "Local", "Everyday",
    "New", "Best", "Night",
)  # fmt: skip
_THINGS = (
    "bread", "bikes", "books", "coffee", "concert", "designs", "garden", "kitchen", "lamps",
    "market", "menu", "news", "photos", "recipes", "sale", "shoes", "stories", "tea", "tickets",
    "trails", "travel", "workshop",
)  # fmt: skip
_BEGINNINGS = (
    "Just back from the", "Nobody told me about the", "We spent the morning with the",
    "Three things about the", "Still thinking about the", "A short thread on the",
    "Thank you all for the", "Who else is here for the", "Today it is all about the",
    "Finally some time for the", "Small update on the", "Behind the scenes of the",
)  # fmt: skip
_ENDINGS = (
    "by the river.", "in the rain!", "and it was worth it.", "this weekend.",
    "before everyone else.", "with old friends.", "after a long winter.", "around the corner.",
    "- what do you think?", "that we all needed.", "from seven to nine.",
    "and there is more to come.",
)  # fmt: skip
