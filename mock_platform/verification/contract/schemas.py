"""Compares the schemas of two contracts: what is sent, and in the other direction what is answered.

A narrower schema refuses requests that were right, and makes answers only more certain; a wider one
the other way round. So each difference has one rule for what is sent and one for what is answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from mock_platform.core.errors import shorten
from mock_platform.core.jsonio import canonical

Direction = Literal["sent", "answered"]
Schema = Mapping[str, Any]
AnySchema = Schema | bool
Components = Mapping[str, Schema]


class Contrast(NamedTuple):
    """One difference: the id of its rule, where it is, and both sides in words."""

    rule: str
    place: str
    old: str = ""
    new: str = ""

    def move_below(self, place: str) -> Contrast:
        """Return the same difference, seen from further above."""
        joined = place + (self.place if self.place.startswith("[") else f".{self.place}")
        return self._replace(place=joined.strip("."))


_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_NOTES = frozenset(
    ["$ref", "$schema", "$id", "title", "description", "example", "examples", "deprecated",
     "externalDocs", "xml", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"]
)  # fmt: skip
"""Keywords that no value is checked against."""
_READ = frozenset(
    ["additionalProperties", "allOf", "anyOf", "const", "default", "discriminator", "enum",
     "format", "items", "nullable", "oneOf", "pattern", "properties", "required", "type",
     "uniqueItems", *_LOWER, *_UPPER]
)  # fmt: skip
_WIDER_FORMATS = frozenset({("int32", "int64"), ("float", "double")})
_ALL_TYPES = frozenset({"array", "boolean", "integer", "number", "object", "string", "null"})
_NULL: Schema = {"type": "null"}
_MAX_SHOWN = 120


class SchemaComparison:
    """Compares schemas of two documents; each pair of components only once.

    With `serves_defaults`, keys that have a default are in every answer, as with this package.
    """

    def __init__(self, old: Components, new: Components, *, serves_defaults: bool = False) -> None:
        self._old = old
        self._new = new
        self._serves_defaults = serves_defaults
        self._known: dict[tuple[str, str, Direction], list[Contrast]] = {}

    def compare(self, old: AnySchema, new: AnySchema, direction: Direction) -> list[Contrast]:
        """Return the differences between two schemas, in the order of the keys."""
        old, new = _read_boolean(old), _read_boolean(new)
        names = str(old.get("$ref", "")), str(new.get("$ref", ""))
        if not all(names):
            return list(self._compare(old, new, direction))
        key = (*names, direction)
        if key not in self._known:
            self._known[key] = []  # a schema that contains itself ends here
            self._known[key] = list(self._compare(old, new, direction))
        return self._known[key]

    def _compare(self, old: Schema, new: Schema, direction: Direction) -> Iterator[Contrast]:
        old, new = _align_choices(old, new), _align_choices(new, old)
        before, after = _resolve(old, self._old), _resolve(new, self._new)
        sent = direction == "sent"
        yield from _compare_types(before, after, sent=sent)
        yield from _compare_values(before, after, sent=sent)
        yield from _compare_bounds(before, after, sent=sent)
        yield from _compare_texts(before, after, sent=sent)
        yield from _compare_rest(before, after, sent=sent)
        yield from self._compare_choices(before, after, direction)
        yield from self._compare_keys(before, after, direction)
        if isinstance(before.get("items"), Mapping) and isinstance(after.get("items"), Mapping):
            for each in self.compare(before["items"], after["items"], direction):
                yield each.move_below("[]")
        one, other = before.get("additionalProperties"), after.get("additionalProperties")
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for each in self.compare(one, other, direction):
                yield each.move_below("*")

    def _compare_keys(self, old: Schema, new: Schema, direction: Direction) -> Iterator[Contrast]:
        sent = direction == "sent"
        before, after = old.get("properties", {}), new.get("properties", {})
        needed, demanded = set(old.get("required", ())), set(new.get("required", ()))
        if self._serves_defaults and not sent:
            needed |= {name for name, each in before.items() if "default" in _read_boolean(each)}
            demanded |= {name for name, each in after.items() if "default" in _read_boolean(each)}
        for name in sorted({*before, *after}):
            if name not in after:
                yield Contrast("sent-key-removed" if sent else "answer-key-removed", name, "a key")
            elif name not in before:
                added = "required-key-added" if name in demanded else "sent-key-added"
                yield Contrast(added if sent else "answer-key-added", name, "", "a key")
            else:
                if name in demanded - needed:
                    rule = "sent-key-needed" if sent else "answer-key-certain"
                    yield Contrast(rule, name, "optional", "required")
                elif name in needed - demanded:
                    rule = "sent-key-spared" if sent else "answer-key-optional"
                    yield Contrast(rule, name, "required", "optional")
                for each in self.compare(before[name], after[name], direction):
                    yield each.move_below(name)
        closed = new.get("additionalProperties") is False
        if sent and closed != (old.get("additionalProperties") is False):
            yield Contrast("sent-keys-closed" if closed else "sent-keys-opened", "")

    def _compare_choices(
        self, old: Schema, new: Schema, direction: Direction
    ) -> Iterator[Contrast]:
        """Compare alternatives: by name, then those that are equal, then what is left, in order."""
        before, after = _list_choices(old), _list_choices(new)
        if not before or not after:
            if before or after:
                sent = direction == "sent"
                rule = "sent-condition-changed" if sent else "answer-condition-changed"
                yield Contrast(rule, "", _show([*before]), _show([*after]))
            return
        pairs, gone, come = _pair(before, after)
        for one, other in pairs:
            yield from self.compare(one, other, direction)
        sent = direction == "sent"
        for one in gone:
            if one == _NULL:
                rule = "sent-null-refused" if sent else "answer-null-removed"
            else:
                rule = "sent-choice-removed" if sent else "answer-choice-removed"
            yield Contrast(rule, "", _name(one))
        for one in come:
            if one == _NULL:
                rule = "sent-null-accepted" if sent else "answer-null-added"
            else:
                rule = "sent-choice-added" if sent else "answer-choice-added"
            yield Contrast(rule, "", "", _name(one))


def _read_boolean(schema: AnySchema) -> Schema:
    """Return a schema as an object: `true` accepts everything, `false` nothing."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return schema


def _resolve(schema: Schema, components: Components) -> dict[str, Any]:
    """Return a schema without references and `allOf`, in the form of OpenAPI 3.1."""
    found: dict[str, Any] = {}
    seen = set()
    while "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        if name in seen or name not in components:
            return {"$ref": name}
        seen.add(name)
        found |= {key: value for key, value in schema.items() if key != "$ref"}
        schema = components[name]
    found = {**schema, **found}
    for part in found.pop("allOf", ()):
        more = _resolve(_read_boolean(part), components)
        found["properties"] = {**more.pop("properties", {}), **found.get("properties", {})}
        found["required"] = [*more.pop("required", ()), *found.get("required", ())]
        found = {**more, **found}
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if found.pop("nullable", False) and "type" in found:  # OpenAPI 3.0
        kinds = found["type"] if isinstance(found["type"], list) else [found["type"]]
        found["type"] = [*kinds, "null"]
    for bound in ("Minimum", "Maximum"):
        if found.get(f"exclusive{bound}") is True:  # OpenAPI 3.0
            found[f"exclusive{bound}"] = found.pop(bound.lower(), None)
    return found


def _read_types(schema: Schema) -> frozenset[str]:
    kinds = schema.get("type")
    if kinds is None:
        return _ALL_TYPES
    return frozenset([kinds] if isinstance(kinds, str) else kinds)


def _compare_types(old: Schema, new: Schema, *, sent: bool) -> Iterator[Contrast]:
    before, after = _read_types(old), _read_types(new)
    if "null" in before - after and after != _ALL_TYPES:
        yield Contrast("sent-null-refused" if sent else "answer-null-removed", "", "or null")
    elif "null" in after - before and before != _ALL_TYPES:
        yield Contrast("sent-null-accepted" if sent else "answer-null-added", "", "", "or null")
    gone, come = before - after - {"null"}, after - before - {"null"}
    # Every integer is a number.
    gone -= {"integer"} if "number" in after else set()
    come -= {"integer"} if "number" in before else set()
    shown = _show_types(before), _show_types(after)
    # A type in place of another one is one change: what it refuses, or what is answered instead.
    if gone and (sent or not come):
        yield Contrast("sent-type-narrowed" if sent else "answer-type-narrowed", "", *shown)
    if come and not (sent and gone):
        yield Contrast("sent-type-widened" if sent else "answer-type-changed", "", *shown)


def _compare_values(old: Schema, new: Schema, *, sent: bool) -> Iterator[Contrast]:
    if "enum" not in old and "enum" not in new:
        return
    if "enum" not in old or "enum" not in new:
        shown = [_show(each["enum"]) if "enum" in each else "any" for each in (old, new)]
        if "enum" in new:
            yield Contrast("sent-value-refused" if sent else "answer-value-removed", "", *shown)
        else:
            yield Contrast("sent-value-accepted" if sent else "answer-value-added", "", *shown)
        return
    before = {canonical(value): value for value in old["enum"] if value is not None}
    after = {canonical(value): value for value in new["enum"] if value is not None}
    gone = [value for key, value in before.items() if key not in after]
    come = [value for key, value in after.items() if key not in before]
    if gone:
        rule = "sent-value-refused" if sent else "answer-value-removed"
        yield Contrast(rule, "", _show(gone))
    if come:
        rule = "sent-value-accepted" if sent else "answer-value-added"
        yield Contrast(rule, "", "", _show(come))


def _compare_bounds(old: Schema, new: Schema, *, sent: bool) -> Iterator[Contrast]:
    for name in (*_LOWER, *_UPPER, "uniqueItems"):
        before, after = old.get(name), new.get(name)
        if name == "uniqueItems":
            before, after = before or None, after or None
        if before == after:
            continue
        if before is None or after is None:
            narrower = before is None
        else:
            narrower = (after > before) == (name in _LOWER)
        rule = "limit-narrowed" if narrower else "limit-widened"
        shown = [f"{name} {'none' if value is None else value}" for value in (before, after)]
        yield Contrast(f"{'sent' if sent else 'answer'}-{rule}", "", *shown)


def _compare_texts(old: Schema, new: Schema, *, sent: bool) -> Iterator[Contrast]:
    before, after = old.get("pattern"), new.get("pattern")
    if before != after:
        if sent:
            kind = "changed" if before and after else "added" if after else "removed"
            yield Contrast(f"sent-pattern-{kind}", "", before or "", after or "")
        else:
            kind = "changed" if before else "added"
            yield Contrast(f"answer-pattern-{kind}", "", before or "", after or "")
    before, after = old.get("format"), new.get("format")
    if before != after:
        wider = after is None or (before, after) in _WIDER_FORMATS
        narrower = before is None or (after, before) in _WIDER_FORMATS
        shown = (before or "any", after or "any")
        if sent:
            yield Contrast("sent-format-widened" if wider else "sent-format-narrowed", "", *shown)
        else:
            rule = "answer-format-narrowed" if narrower else "answer-format-changed"
            yield Contrast(rule, "", *shown)


def _compare_rest(old: Schema, new: Schema, *, sent: bool) -> Iterator[Contrast]:
    if sent and old.get("default") != new.get("default"):
        shown = [_show(each["default"]) if "default" in each else "none" for each in (old, new)]
        yield Contrast("sent-default-changed", "", *shown)
    for name in sorted({*old, *new} - _READ - _NOTES):
        if name.startswith("x-") or old.get(name) == new.get(name):
            continue
        # Whatever no rule reads is told: somebody has to look at it.
        rule = "sent-condition-changed" if sent else "answer-condition-changed"
        shown = [f"{name} {_show(each[name])}" if name in each else "none" for each in (old, new)]
        yield Contrast(rule, "", *shown)


def _align_choices(schema: Schema, other: Schema) -> Schema:
    """Return a schema as the only choice, if it is one of the choices of the other one."""
    if _list_choices(schema) or schema not in _list_choices(other):
        return schema
    return {"anyOf": [schema]}


def _list_choices(schema: Schema) -> list[Schema]:
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())]


def _pair(
    old: list[Schema], new: list[Schema]
) -> tuple[list[tuple[Schema, Schema]], list[Schema], list[Schema]]:
    """Return the alternatives that belong together, those that are gone, and the new ones."""
    left = {_identify(each): each for each in new}
    pairs: list[tuple[Schema, Schema]] = []
    gone = []
    for each in old:
        other = left.pop(_identify(each), None)
        if other is None:
            gone.append(each)
        else:
            pairs.append((each, other))
    unnamed = [each for each in gone if "$ref" not in _read_boolean(each)]
    come = list(left.values())
    for each, other in zip(
        unnamed, [each for each in come if "$ref" not in _read_boolean(each)], strict=False
    ):
        pairs.append((each, other))
        gone.remove(each)
        come.remove(other)
    return pairs, gone, come


def _identify(schema: AnySchema) -> bytes:
    """Return what two alternatives that belong together have in common: a name, or everything."""
    schema = _read_boolean(schema)
    return canonical(schema.get("$ref", schema))


def _name(schema: AnySchema) -> str:
    schema = _read_boolean(schema)
    return str(schema["$ref"]).rpartition("/")[2] if "$ref" in schema else _show(schema)


def _show_types(kinds: frozenset[str]) -> str:
    return "anything" if kinds == _ALL_TYPES else " or ".join(sorted(kinds))


def _show(value: Any) -> str:
    """Return a value as JSON, cut if it is long."""
    text = (
        ", ".join(each if isinstance(each, str) else canonical(each).decode() for each in value)
        if isinstance(value, list)
        else canonical(value).decode()
    )
    return shorten(text, _MAX_SHOWN)
