"""The description of what is served, with original names: what a client of those names meets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from mock_platform.core.operation import Operation
from mock_platform.core.original_names.exchange import Translator
from mock_platform.core.original_names.translation import Names, Pairs, Spelling

JsonObject = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_LISTS_OF_FORMS = frozenset({"anyOf", "oneOf", "allOf"})
_FORMS = frozenset({"items", "additionalProperties", "not"})
_VALUES = frozenset({"const", "default", "enum", "example", "examples"})
_Keys = tuple[frozenset[str], frozenset[tuple[str, str]]]
_VARYING = re.compile(r"{(\w+)}")


class _Place(Struct, frozen=True):
    """The names and values that hold at a place of an answer or a body."""

    spelling: Spelling
    pairs: Pairs
    names: Names
    values: Mapping[str, Names]

    def go_into(self, key: str) -> _Place:
        """Return the names below a key."""
        if key in self.pairs.free:
            return _NOTHING
        inner = self.pairs.within.get(key)
        if inner is None:
            return self
        names, values = {**self.names, **inner.names}, {**self.values, **inner.values}
        return _Place(self.spelling, self.pairs, names, values)

    def write_value(self, key: str, value: Any) -> Any:
        """Return an enumerated value of a key, or a list of those."""
        if isinstance(value, list):
            return [self.write_value(key, each) for each in value]
        if not isinstance(value, str):
            return value
        if key in self.pairs.named:
            return self.spelling.write_name(value)
        return self.values.get(key, {}).get(value, value)

    def sign(self, keys: frozenset[str], listed: frozenset[tuple[str, str]]) -> str:
        """Return what makes objects with these keys differ from those of another place.

        `listed` has keys with a value that the description lists.
        """
        pairs = self.pairs
        inner = [pairs.within[key] for key in sorted(keys & pairs.within.keys())]
        signs = (
            _pick(self.names, keys),
            _pick_values(self.values, listed),
            [(_pick(each.names, keys), _pick_values(each.values, listed)) for each in inner],
            sorted(keys & pairs.free),
            sorted({key for key, _ in listed} & pairs.named),
        )
        return repr(signs)


def _pick(names: Names, keys: frozenset[str]) -> list[tuple[str, str]]:
    return [(key, names[key]) for key in sorted(keys & names.keys())]


def _pick_values(
    values: Mapping[str, Names], listed: frozenset[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    found = ((key, each, values.get(key, {}).get(each)) for key, each in sorted(listed))
    return [(key, each, other) for key, each, other in found if other is not None]


_NOTHING = _Place(Spelling(Pairs()), Pairs(), {}, {})


class _Writer:
    """Writes a document; a component that has other names elsewhere becomes several."""

    def __init__(self, document: JsonObject) -> None:
        self._known: Mapping[str, Any] = document["components"].get("schemas", {})
        self._keys: dict[str, _Keys] = {}
        self._written: dict[tuple[str, str], str] = {}
        self.components: JsonObject = {}

    def write_operation(self, entry: JsonObject, place: _Place) -> JsonObject:
        written = {**entry}
        if "security" in entry:
            written["security"] = [
                {scheme: place.write_value("scope", scopes) for scheme, scopes in each.items()}
                for each in entry["security"]
            ]
        if "parameters" in entry:
            found: dict[tuple[str, str], JsonObject] = {}
            for each in entry["parameters"]:
                name = place.names.get(each["name"], each["name"])
                form = self.write(each["schema"], place, each["name"])
                found.setdefault((each["in"], name), {**each, "name": name, "schema": form})
            written["parameters"] = list(found.values())
        if "requestBody" in entry:
            written["requestBody"] = self._write_content(entry["requestBody"], place)
        written["responses"] = {
            status: self._write_content(response, place)
            for status, response in entry["responses"].items()
        }
        return written

    def _write_content(self, holder: JsonObject, place: _Place) -> JsonObject:
        if "content" not in holder:
            return holder
        content = {
            kind: {**media, "schema": self.write(media["schema"], place)}
            for kind, media in holder["content"].items()
        }
        for media in content.values():
            if "encoding" in media:
                names = place.names
                media["encoding"] = {names.get(n, n): v for n, v in media["encoding"].items()}
        return {**holder, "content": content}

    def _write_properties(self, properties: JsonObject, place: _Place) -> JsonObject:
        # An older name may be taken beside the newer one that is written in the same way.
        written: JsonObject = {}
        for name, inner in properties.items():
            form = self.write(inner, place.go_into(name), name)
            written.setdefault(place.names.get(name, name), form)
        return written

    def write(self, form: Any, place: _Place, key: str = "") -> Any:
        """Return a JSON Schema with the names of a place; it is that of the value of a key."""
        if not isinstance(form, dict):
            return form
        written: JsonObject = {}
        for word, value in form.items():
            if word == "$ref":
                written[word] = self._refer(value, place, key)
            elif word == "properties":
                written[word] = self._write_properties(value, place)
            elif word == "required" and isinstance(value, list):
                written[word] = [place.names.get(name, name) for name in value]
            elif word in _LISTS_OF_FORMS:
                written[word] = [self.write(each, place, key) for each in value]
            elif word in _FORMS:
                written[word] = self.write(value, place, key)
            elif word in _VALUES:
                written[word] = place.write_value(key, value)
            elif word == "discriminator":
                refer = partial(self._refer, place=place, key=key)
                mapping = {name: refer(each) for name, each in value["mapping"].items()}
                written[word] = {**value, "mapping": mapping}
            else:
                written[word] = value
        return written

    def _refer(self, reference: str, place: _Place, key: str) -> str:
        name = reference.removeprefix(_REFERENCE)
        keys, listed = self._list_keys(name)
        sign = place.sign(keys, frozenset((own or key, value) for own, value in listed))
        new = self._written.get((name, sign))
        if new is None:
            # A component is in the document before its parts are looked at, as it may refer to
            # itself.
            new = name if name not in self.components else self._number(name)
            self._written[name, sign] = new
            self.components[new] = {}
            self.components[new] = self.write(self._known[name], place, key)
        return _REFERENCE + new

    def _number(self, name: str) -> str:
        return next(new for n in range(2, 99) if (new := f"{name}{n}") not in self.components)

    def _list_keys(self, component: str) -> _Keys:
        """Return all keys of the objects that a component describes, and the values it lists.

        They are found at any depth, each value with its key.
        """
        known = self._keys.get(component)
        if known is None:
            self._keys[component] = frozenset(), frozenset()  # it may refer to itself
            found = list(self._find_keys(self._known[component], ""))
            keys = frozenset(key for key, value in found if value is None)
            known = keys, frozenset((key, value) for key, value in found if value is not None)
            self._keys[component] = known
        return known

    def _find_keys(self, form: Any, key: str) -> Iterator[tuple[str, str | None]]:
        if isinstance(form, list):
            for each in form:
                yield from self._find_keys(each, key)
        elif isinstance(form, dict):
            for word, value in form.items():
                if word == "$ref":
                    keys, listed = self._list_keys(value.removeprefix(_REFERENCE))
                    yield from ((each, None) for each in keys)
                    yield from ((own or key, each) for own, each in listed)
                elif word == "properties":
                    for name, inner in value.items():
                        yield name, None
                        yield from self._find_keys(inner, name)
                elif word in _VALUES:
                    found = value if isinstance(value, list) else [value]
                    yield from ((key, each) for each in found if isinstance(each, str))
                elif word in _FORMS or word in _LISTS_OF_FORMS:
                    yield from self._find_keys(value, key)


def write_description(
    document: JsonObject, operations: Iterable[Operation], translator: Translator
) -> JsonObject:
    """Return the document with original names: paths, parameters, keys and enumerated values.

    An operation is described under the path that the platform has. What is not one of `operations`
    stays as it is.
    """
    known = {operation.id: operation for operation in operations}
    writer = _Writer(document)
    paths: dict[str, JsonObject] = {}
    for path, methods in document["paths"].items():
        for method, entry in methods.items():
            operation = known.get(entry.get("x-mock-operation", ""))
            place, shown = _NOTHING, path
            if operation is not None:
                pairs = translator.find_pairs(operation)
                place = _Place(Spelling(pairs), pairs, pairs.names, pairs.values)
                shown = _write_path(path, operation, translator, place)
            written = writer.write_operation(entry, place)
            other = paths.setdefault(shown, {}).get(method)
            # Where an older path is served anyway it is in the document twice now, once with the
            # id.
            if other is None or "operationId" not in other:
                paths[shown][method] = written
    components = {**document["components"], "schemas": writer.components}
    if "oauth2" in components.get("securitySchemes", {}):
        scopes = translator.pairs["v2"].values.get("scope", {})
        components["securitySchemes"] = {
            **components["securitySchemes"],
            "oauth2": _write_scopes(components["securitySchemes"]["oauth2"], scopes),
        }
    return {**document, "paths": paths, "components": components}


def _write_scopes(scheme: JsonObject, names: Names) -> JsonObject:
    flows = {
        name: {**flow, "scopes": {names.get(n, n): text for n, text in flow["scopes"].items()}}
        for name, flow in scheme["flows"].items()
    }
    return {**scheme, "flows": flows}


def _write_path(path: str, operation: Operation, translator: Translator, place: _Place) -> str:
    prefix = "/sandbox" if path.startswith("/sandbox/") else ""
    template = _VARYING.sub(r":\1", path.removeprefix(prefix))
    written = translator.write_path(template, operation)
    named = [
        f"{{{place.names.get(part[1:], part[1:])}}}" if part.startswith(":") else part
        for part in written.split("/")
    ]
    return prefix + "/".join(named)
