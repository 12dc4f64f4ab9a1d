"""A description as it is asked for: at an address, in names, on a wire, as of a date.

It is made once, as it is documented today; a view of it changes what is different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Dated, Operation
from mock_platform.settings import DOCUMENTED, NamesMode, WireChoice

HERE = "http://base-address.invalid"
"""Placeholder for the address at which the document is requested."""

JsonObject = dict[str, Any]

RECORDED = "x-mock-recorded"
"""What an object of a description has beside, or in place of, its other keys on that wire."""
_NEVER = datetime.min.replace(tzinfo=UTC)


class Description:
    """A document that is made at the first request; later requests only change its addresses."""

    def __init__(
        self,
        make: Callable[[], JsonObject],
        write: Callable[[JsonObject], JsonObject] = lambda document: document,
        operations: Callable[[], Iterable[Operation]] = tuple,
    ) -> None:
        """`write` returns the document with original names; `operations` are those in it."""
        self._make = make
        self._write = write
        self._operations = operations
        self._texts: dict[tuple[str | datetime | None, ...], bytes] = {}

    def at(
        self,
        base_url: str,
        names: NamesMode = "neutral",
        wire: WireChoice = DOCUMENTED,
        as_of: datetime | None = None,
    ) -> JsonObject:
        """Return the document with this base address and these names, of this wire and date."""
        # Making the document takes long, and only the base address differs from request to request.
        # So it is kept as text with a placeholder, and replacing that in the text is all that a
        # request costs.
        # Between two changes of the release history all dates have the same one.
        history = () if as_of is None else [x for o in self._operations() for x in o.history]
        dates = [each.at for each in history if as_of is not None and each.at <= as_of]
        changed = None if as_of is None else max(dates, default=_NEVER)
        key = (names, wire.form, wire.rules, wire.problems, changed)
        text = self._texts.get(key)
        if text is None:  # two first readers make the same text
            made = self._make()
            if wire != DOCUMENTED:
                _describe_as_chosen(made, wire)
            if changed is not None:
                made = loads(dumps(made), max_nesting=256)  # parts of it are shared
                _describe_as_of(made, {o.id: o for o in self._operations()}, changed)
            text = dumps(self._write(made) if names == "original" else made)
            self._texts[key] = text
        document: JsonObject = loads(
            text.replace(HERE.encode(), dumps(base_url)[1:-1]), max_nesting=256
        )
        return document


def _describe_as_of(
    document: JsonObject, operations: Mapping[str, Operation], moment: datetime
) -> None:
    """Take what was not there at a moment of the release history out of a description."""
    schemas = document.get("components", {}).get("schemas", {})
    for path, methods in [*document["paths"].items()]:
        for method, entry in [*methods.items()]:
            operation = operations.get(entry.get("x-mock-operation"))
            if operation is None:
                continue
            if not operation.exists_at(moment):
                del methods[method]
            for each in operation.history:
                if each.at > moment:
                    _take_back(entry, each, schemas)
        if not methods:
            del document["paths"][path]


def _take_back(entry: JsonObject, change: Dated, schemas: JsonObject) -> None:
    """Undo a change in the description of its operation, and in the schemas that it has."""
    where, _, name = change.place.rpartition(" ")
    if change.rule == "operation-deprecated":
        entry.pop("deprecated", None)
    elif change.rule == "authentication-added":
        entry["security"] = [each for each in entry["security"] if change.new not in each]
    elif change.rule == "sent-key-added":
        body = entry["requestBody"]["content"]["application/json"]["schema"]
        for owner, key in _find_properties([body], name, schemas):
            del owner[key]
    elif change.rule == "answer-key-added":
        for owner, key in _find_properties(schemas.values(), name, schemas):
            del owner[key]
    elif change.rule == "answer-type-changed":
        for owner, key in _find_properties(schemas.values(), name, schemas):
            owner[key] = {"type": change.old}
    elif change.rule == "sent-value-accepted" and where == "query parameter":
        for schema in _find_parameters(entry, name):
            values = schema.get("items", {}).get("enum", ())
            if change.new in values:
                values.remove(change.new)


def _find_parameters(entry: JsonObject, name: str) -> Iterator[JsonObject]:
    """Yield the schemas of a parameter, in the query and in forms that may have it in its place."""
    for parameter in entry.get("parameters", ()):
        if parameter["name"] == name:
            yield parameter["schema"]
    for body in entry.get("requestBody", {}).get("content", {}).values():
        properties = body["schema"].get("properties", {})
        if name in properties:
            yield properties[name]


def _find_properties(
    owners: Iterable[JsonObject], path: str, schemas: JsonObject
) -> Iterator[tuple[JsonObject, str]]:
    """Yield the properties at a path such as `filter.direction`, each with where it is."""
    first, _, rest = path.partition(".")
    for owner in owners:
        resolved = schemas.get(owner.get("$ref", "").rpartition("/")[2], owner)
        properties = resolved.get("properties", {})
        if first in properties and rest:
            yield from _find_properties([properties[first]], rest, schemas)
        elif first in properties:
            yield properties, first


def _describe_as_chosen(value: Any, wire: WireChoice) -> None:
    """Turn a description into that of another wire, in place."""
    if isinstance(value, list):
        for each in value:
            _describe_as_chosen(each, wire)
    elif isinstance(value, dict):
        # Where problems have the media type of everything else, one list has all forms. The control
        # plane has none: its problems are the same on every wire.
        problem = value.get("application/problem+json")
        forms = value.get("application/json", {}).get("schema", {}).get("anyOf")
        if problem is not None and forms is not None and wire.problems == "json":
            value["application/json"] = {"schema": {"anyOf": [problem["schema"], *forms]}}
            del value["application/problem+json"]
        recorded = value.get(RECORDED, {})
        is_status = any(key.isdecimal() for key in recorded)
        if wire.rules == "201" if is_status else wire.form == "recorded":
            value.update(value.pop(RECORDED, {}))
        for each in value.values():
            _describe_as_chosen(each, wire)
