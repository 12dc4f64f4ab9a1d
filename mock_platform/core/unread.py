"""Parts of a request that the operation does not read: each one is reported.

The journal has a warning, and `X-Mock-Warnings` names its code. `--warnings error` and `--strict`
refuse the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from marshmallow import Schema, fields
from msgspec import Struct, field

from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.auth.oauth1 import quote_text
from mock_platform.core.call import Call
from mock_platform.core.errors import find_nearest
from mock_platform.core.failures.errors import NotShown
from mock_platform.core.faults import Fault, say_unknown
from mock_platform.core.fields import Anything

IGNORED_PARAMETERS = settled(
    "parameters.ignored",
    "What nothing reads is ignored with a warning in the journal and its code in X-Mock-Warnings: "
    "unknown and repeated parameters (the first value counts), those that contradict the path, "
    "unknown and repeated keys at any depth of a JSON body (the last value counts), and bodies of "
    "operations that read none. --warnings error answers 400 to them, --strict refuses them.",
    gap=True,
)

UNKNOWN_PARAMETER = "unknown-parameter"
UNKNOWN_KEY = "unknown-key"
READ_ONLY_KEY = "read-only-key"
REPEATED_PARAMETER = "repeated-parameter"
REPEATED_KEY = "repeated-key"
CONTRADICTS_PATH = "contradicts-path"
IGNORED_BODY = "ignored-body"
IGNORED_AUTHORIZATION = "ignored-authorization"
NO_EFFECT = "no-effect"
TRAILING_SLASH = "trailing-slash"
WARNINGS: Mapping[str, str] = {
    UNKNOWN_PARAMETER: "a parameter that the operation does not have, in the query or the form",
    UNKNOWN_KEY: "a key that a JSON body does not have at that place",
    READ_ONLY_KEY: "a key of a JSON body that the service itself sets",
    REPEATED_PARAMETER: "a parameter sent more than once; the first value is used",
    REPEATED_KEY: "a key that an object of a JSON body has more than once; the last value is used",
    CONTRADICTS_PATH: "a parameter whose value differs from the value in the path; "
    "the path is used",
    IGNORED_BODY: "a body for an operation that reads no body, or with a Content-Type that "
    "it does not read",
    IGNORED_AUTHORIZATION: "an Authorization header that cannot be read, under --auth off",
    TRAILING_SLASH: "a slash at the end of the path",
    NO_EFFECT: "a value that was accepted but changes nothing, because of another parameter",
}
"""The codes of `X-Mock-Warnings`, and what was ignored."""

PROTOCOL = frozenset(
    {
        "oauth_consumer_key",
        "oauth_nonce",
        "oauth_signature",
        "oauth_signature_method",
        "oauth_timestamp",
        "oauth_token",
        "oauth_version",
        "oauth_body_hash",
    }
)
_OF_OTHER_STEPS = frozenset({"oauth_callback", "oauth_verifier"})
"""Parameters that popular OAuth clients send with every step; only the journal mentions them."""
_MAX_WARNINGS = 50
_MAX_COUNTED = 10_000
_INDEX = re.compile(r"\[\d+\]")


class Shape(Struct, frozen=True):
    """The keys of the objects in a JSON body; all items of a list have the same ones."""

    keys: Mapping[str, Shape | None]
    read_only: frozenset[str] = frozenset()
    array: str | None = None
    """The key whose value may be sent as the whole body."""


class Finding(Struct, frozen=True):
    """One ignored part of a request. `refused` is its name under `--strict`, which refuses it.

    Without a code, only the journal mentions it. `name` is an unknown parameter, or the place of
    an unknown key, which `/2` refuses in the form of recorded answers.
    """

    code: str | None
    text: str
    refused: str | None
    name: str = ""


class UnknownKeys(Struct):
    """The unknown keys of one body. Equal keys in items of the same list are one finding."""

    _places: dict[tuple[str, str, str], list[Any]] = field(default_factory=dict)
    _counted: int = 0
    _more: bool = False

    def add(self, place: str, name: str, shape: Shape) -> None:
        """Add an unknown key, with its place, such as `components[1].destination`."""
        # A body may have a hundred thousand items with the same unknown key. Places that differ
        # only in their index are one finding with a count, and both the findings and the counting
        # are bounded.
        self._counted += 1
        if self._counted > _MAX_COUNTED:
            self._more = True
            return
        code = READ_ONLY_KEY if name in shape.read_only else UNKNOWN_KEY
        alike = (code, _INDEX.sub("[]", place), name)
        known = self._places.get(alike)
        if known is not None:
            known[0] += 1
        elif len(self._places) < _MAX_WARNINGS:
            self._places[alike] = [1, place, shape]
        else:
            self._more = True

    def findings(self) -> Iterator[Finding]:
        """Return the findings to report."""
        for (code, _, name), (count, place, shape) in self._places.items():
            where = f"key {quote_text(name)} at {place}" if place else f"key {quote_text(name)}"
            places = "" if count == 1 else f" (in {count:,} places)"
            if code == READ_ONLY_KEY:
                yield Finding(code, f"{where} is read-only and was ignored{places}", None)
                continue
            text = f"{where} is unknown and was ignored{places}{_did_you_mean(name, shape.keys)}"
            yield Finding(code, text, f"the {where}", f"{place}.{name}" if place else name)
        if self._more:
            yield Finding(UNKNOWN_KEY, "more keys are unknown and were ignored", "more keys")


def shape_of(schema: Schema) -> Shape:
    """Return the shape of a body that a schema reads, with the `older_keys` of others."""
    keys = {f.data_key or name: _shape_within(f) for name, f in schema.load_fields.items()}
    keys.update(dict.fromkeys(getattr(schema, "older_keys", ())))
    read_only = frozenset(schema.fields.keys() - schema.load_fields.keys())
    return Shape(keys, read_only, getattr(schema, "array_body", None))


def unknown_keys(shape: Shape, body: Any, path_params: Mapping[str, str]) -> list[Finding]:
    """Return the keys of a body, at any depth, that its shape does not have.

    At the top level, a key that repeats the path is allowed.
    """
    found = UnknownKeys()
    if isinstance(body, list) and shape.array is not None:
        find_unknown_keys(shape.keys[shape.array], body, "", found)
        return list(found.findings())
    contradictions: list[Finding] = []
    if isinstance(body, dict):
        repeated = body.keys() & path_params.keys() - shape.keys.keys()
        contradictions = [
            _contradiction(name, path_params[name])
            for name in sorted(repeated)
            if body[name] != path_params[name]
        ]
        body = {name: value for name, value in body.items() if name not in repeated}
    find_unknown_keys(shape, body, "", found)
    return [*contradictions, *found.findings()]


def find_unknown_parameters(
    pairs: Iterable[tuple[str, str]],
    known: frozenset[str],
    path_params: Mapping[str, str],
    note: str = "",
) -> Iterator[Finding]:
    """Return parameters that the operation does not have, or that contradict its path."""
    counted = 0
    for name, value in pairs:
        if name in known or name in PROTOCOL or path_params.get(name) == value:
            continue
        counted += 1
        if counted > _MAX_WARNINGS:
            text = "more parameters are not of this operation and were ignored"
            yield Finding(UNKNOWN_PARAMETER, text, "more parameters")
            return
        if name in path_params:
            yield _contradiction(name, path_params[name])
            continue
        text = f"parameter {quote_text(name)} is not one of this operation and was ignored{note}"
        refused = None if name.startswith("oauth_") else f"the parameter {quote_text(name)} here"
        code = None if name in _OF_OTHER_STEPS else UNKNOWN_PARAMETER
        yield Finding(code, text + _did_you_mean(name, known), refused, (code and name) or "")


def find_repeated_parameters(names: Sequence[str]) -> Iterator[Finding]:
    """Return parameters that were sent more than once."""
    for name in names[:_MAX_WARNINGS]:
        text = f"parameter {quote_text(name)} occurs more than once; the first value counts"
        refused = f"the parameter {quote_text(name)} occurring more than once"
        yield Finding(REPEATED_PARAMETER, text, refused)


def find_repeated_keys(names: Sequence[str]) -> Iterator[Finding]:
    """Return keys that an object in a JSON body has more than once."""
    for name in names[:_MAX_WARNINGS]:
        said = f"key {quote_text(name)} occurs more than once in an object; the last value counts"
        yield Finding(REPEATED_KEY, said, f"the key {quote_text(name)} occurring more than once")


def find_older_keys(body: Mapping[str, Any], older_keys: Mapping[str, str]) -> Iterator[Finding]:
    """Return keys of a body that repeat another one under its older name."""
    for older, name in older_keys.items():
        if older in body and name in body:
            text = f"key {older!r} repeats {name!r} under its older name and was ignored"
            yield Finding(REPEATED_KEY, text, f"the key {older!r} beside {name!r}")


def find_ignored_body(call: Call, note: str) -> Iterator[Finding]:
    """Return a body that the operation does not read; an empty JSON object counts as no body."""
    if call.body and call.body.strip() not in {b"", b"{}"}:
        text = f"the body has Content-Type {call.media_type or 'none'} and was ignored; {note}"
        yield Finding(IGNORED_BODY, text, "this body")


def report(call: Call, findings: Iterable[Finding], *, strict: bool) -> None:
    """Add the warnings for ignored parts.

    Raises:
        NotShown: Under `--strict`, after everything is in the journal.
    """
    refused: str | None = None
    for finding in findings:
        call.warn(finding.text, finding.code)
        refused = refused or finding.refused
    if strict and refused is not None:
        raise NotShown(IGNORED_PARAMETERS, refused)


UNKNOWN_REFUSED = public_fact(
    "v2.unknown-parameters",
    "With --wire recorded, unknown parameters and keys below /2 are refused as the real service "
    "was recorded: The query parameter [x] is not one of, with all names, or $.x: is not defined "
    "in the schema. Otherwise they are ignored with a warning.",
    "wire, no. 10",
)


def find_refused(findings: Iterable[Finding], names: Sequence[str]) -> Iterator[tuple[str, Fault]]:
    """Return the faults of unknown names, where `names` are the parameters of the query."""
    for finding in findings:
        if finding.name:
            said = say_unknown(names).naming(finding.name)
            yield finding.name, Fault(finding.text, said=said)


def _shape_within(value: fields.Field[Any]) -> Shape | None:
    if isinstance(value, fields.Nested):
        return shape_of(value.schema)
    if isinstance(value, fields.List):
        return _shape_within(value.inner)
    if isinstance(value, Anything) and value.keys:
        return Shape(dict.fromkeys(value.keys), frozenset(value.read_only))
    return None


def find_unknown_keys(shape: Shape | None, value: Any, place: str, found: UnknownKeys) -> None:
    """Add the keys of a value, at any depth, that its shape does not have; `None` has any."""
    if shape is None:
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            find_unknown_keys(shape, item, f"{place}[{index}]", found)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in shape.keys:
                find_unknown_keys(
                    shape.keys[name], inner, f"{place}.{name}" if place else name, found
                )
            else:
                found.add(place, name, shape)


def _contradiction(name: str, value: str) -> Finding:
    text = (
        f"parameter {name!r} contradicts the path, where it is {quote_text(value)}; the path counts"
    )
    return Finding(CONTRADICTS_PATH, text, f"the parameter {name!r} contradicting the path")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = find_nearest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"
