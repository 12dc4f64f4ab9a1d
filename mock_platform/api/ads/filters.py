"""The filters of a list, each a value that an operation declares, and how they find records.

A `Resource` reads them: what an index answers is asked of the store, the rest is a test of each
record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack

from marshmallow import fields
from msgspec import Struct

from mock_platform.core.assumptions import Assumption
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Text, TextOptions
from mock_platform.world.store.interface import Record, Term, Within, words
from mock_platform.world.world import World


class FieldSearch(Struct, frozen=True):
    """Which records a text finds, in any case.

    Their first attribute begins with it or contains it, or all its words are in the attributes.
    """

    way: Literal["beginning", "part", "words"]
    attributes: tuple[str, ...] = ("name",)

    def make_test(self, text: str) -> Callable[[Record], bool]:
        """Return the test that the records pass which a text finds."""
        if self.way == "words":
            terms = [Term(self.attributes, word) for word in words(text)]
            return lambda record: bool(terms) and all(term.stands_in(record) for term in terms)
        name, wanted = self.attributes[0], text.casefold()
        if self.way == "part":
            return lambda record: wanted in (record.get(name) or "").casefold()
        return lambda record: (record.get(name) or "").casefold().startswith(wanted)

    def describe(self, parameter: str) -> str:
        """Return in words what a parameter leaves of a list."""
        if self.way == "words":
            places = ", ".join(self.attributes)
            return f"only records with each word of {parameter} in one of {places}"
        way = "contains" if self.way == "part" else "begins with"
        return f"only records whose {self.attributes[0]} {way} {parameter}"


class SearchText(Text):
    """A text that finds records; it declares how."""

    def __init__(self, search: FieldSearch, **options: Unpack[TextOptions]) -> None:
        self.search = search
        super().__init__(**options)


class IdsFilter(Struct, frozen=True):
    """A filter by up to 200 values of the table's key (document B, Limits: "ID filters")."""

    parameter: str
    most: int = 200

    def field(self) -> fields.Field[Any]:
        """Return the field of the filter's parameter."""
        return CommaList(Text(min_length=1), most=self.most)


class OneOfFilter(Struct, frozen=True):
    """A filter by the values of a field: separated by commas, of an enumeration or free."""

    parameter: str
    attribute: str
    values: tuple[str, ...] = ()
    most: int | None = None

    def field(self) -> fields.Field[Any]:
        """Return the field of the filter's parameter."""
        return CommaList(Choice(self.values) if self.values else Text(min_length=1), most=self.most)


class ExactFilter(Struct, frozen=True):
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
        """Return the field of the filter's parameter."""
        return CommaList(Text(min_length=1), most=self.most, required=self.required)


class EqualFilter(Struct, frozen=True):
    """A filter by one value of an enumeration, found through an index."""

    parameter: str
    attribute: str
    values: tuple[str, ...]

    def field(self) -> fields.Field[Any]:
        """Return the field of the filter's parameter."""
        return Choice(self.values)


class PrefixFilter(Struct, frozen=True):
    """A case-insensitive prefix search."""

    parameter: str = "q"
    attribute: str = "name"
    longest: int | None = None

    def field(self) -> fields.Field[Any]:
        """Return the field of the filter's parameter."""
        search = FieldSearch("beginning", (self.attribute,))
        return SearchText(search, min_length=1, max_length=self.longest)


class WordsFilter(Struct, frozen=True):
    """A search for whole words, in any case, in any of some fields, found through an index.

    Each word of the parameter must be found; a parameter without words finds no record.
    """

    parameter: str
    attributes: tuple[str, ...]
    longest: int
    rule: Assumption

    def field(self) -> fields.Field[Any]:
        """Return the field of the filter's parameter."""
        search = FieldSearch("words", self.attributes)
        return SearchText(search, min_length=1, max_length=self.longest)

    def sought(self, call: Call) -> list[Term] | None:
        """Return the value to find; `None` if the parameter was not sent."""
        text = call.params.get(self.parameter)
        if text is None:
            return None
        call.assume(self.rule)
        return [Term(self.attributes, word) for word in words(text)]


Filter = IdsFilter | OneOfFilter | ExactFilter | EqualFilter | PrefixFilter | WordsFilter


class Filtered(Struct):
    """What the filters of one call leave of a table."""

    match: Mapping[str, Any]
    keys: Iterable[str] | None
    """The keys that may be left; `None`: any."""
    term: Term | None
    """A word by which the store finds the records."""
    within: Within | None
    """The values that a field may have, found through its index."""
    tests: list[Callable[[Record], bool]]
    """What each record must pass as well."""


def apply_filters(
    filters: Sequence[Filter],
    call: Call,
    world: World,
    table: str,
    key: str,
    match: Mapping[str, Any],
) -> Filtered:
    """Return what the filters of a call leave of the records with these conditions.

    `key` is the field that holds a record's key.
    """
    # Each filter is answered where it is cheapest. Equality and values of one field go into an
    # index, ids and beginnings become a set of keys, one word leads through the index of words.
    # Whatever cannot lead any more, because something else does, is a test of each record that is
    # left.
    narrow = {**match, **_equal(filters, call)}
    keys = _keys(filters, call, key, partial(world.store.prefix, table, match))
    tests = _tests(filters, call)
    within = _find_exact(filters, call, world)
    if within is not None and keys is not None:
        tests.append(partial(_has_one_of, within))
    terms, term = _terms(filters, call), None
    if terms == []:
        keys = ()
    elif terms and keys is None:  # the rarest leads; the others are sought where it stands
        term = min(terms, key=lambda each: world.store.count(table, narrow, each))
    tests += [each.stands_in for each in terms or () if each is not term]
    return Filtered(narrow, keys, term, within, tests)


def _equal(filters: Sequence[Filter], call: Call) -> dict[str, Any]:
    return {
        item.attribute: call.params[item.parameter]
        for item in filters
        if isinstance(item, EqualFilter) and item.parameter in call.params
    }


def _keys(
    filters: Sequence[Filter],
    call: Call,
    key: str,
    search: Callable[[str, str], Iterable[Record]],
) -> Iterable[str] | None:
    """Return the keys that match id filters and prefix searches, `None` without such filters.

    `search` returns the records whose field of this name begins with a text.
    """
    found: list[set[str]] = []
    for item in filters:
        wanted = call.params.get(item.parameter)
        if wanted is not None and isinstance(item, IdsFilter):
            found.append(set(wanted))
        elif wanted is not None and isinstance(item, PrefixFilter):
            found.append({record[key] for record in search(item.attribute, wanted)})
    return set.intersection(*found) if found else None


def _tests(filters: Sequence[Filter], call: Call) -> list[Callable[[Record], bool]]:
    tests: list[Callable[[Record], bool]] = []
    for item in filters:
        wanted = call.params.get(item.parameter)
        if isinstance(item, OneOfFilter) and wanted is not None:
            tests.append(partial(_accepts, item, wanted))
    return tests


def _find_exact(filters: Sequence[Filter], call: Call, world: World) -> Within | None:
    """Return the values to which filters restrict a field; `None` without such filters."""
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
    """Return the words of a search; `None` if there is no search."""
    found = [item.sought(call) for item in filters if isinstance(item, WordsFilter)]
    return next((terms for terms in found if terms is not None), None)


def _accepts(item: OneOfFilter, wanted: Sequence[str], record: Record) -> bool:
    return record.get(item.attribute) in wanted
