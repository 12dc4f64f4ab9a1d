"""Which operations are compared, and their probes: the requests that show what is declared.

Compared are those that only read, and whose answer ends and is data. The probes are derived from an
operation and its description: the plain call, each parameter with a valid value, each order and the
pages of a list, and the refusals that a request without effect can provoke.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from msgspec import Struct

from mock_platform.api.served import ORIGINAL_NAMES, SPEC_SENTENCES
from mock_platform.core.description.openapi import describe, template_path
from mock_platform.core.description.views import Description
from mock_platform.core.envelope import Lines
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.verification.compare.values import (
    Value,
    Wanted,
    list_names,
    name_of_id,
    singular,
)
from mock_platform.version import __version__


class SkippedOperation(Struct, frozen=True):
    """An operation that was not checked, and why."""

    operation: str
    reason: str


FILE = "application/gzip"
"""The media type of files whose addresses are in other answers."""
_COMPARED = frozenset({"application/json", FILE})


def list_reads(operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations that only read and whose answers end, lists before their records."""
    reads = [
        operation
        for operation in operations
        if operation.method == "GET"
        and not operation.sandbox_only
        and _explain_unasked(operation) is None
    ]
    return sorted(reads, key=lambda operation: len(operation.path_names))


def list_unasked(operations: Sequence[Operation]) -> Iterator[SkippedOperation]:
    """Yield the operations that read and are not compared, each with the reason."""
    for operation in operations:
        why = _explain_unasked(operation)
        if operation.method == "GET" and not operation.sandbox_only and why is not None:
            yield SkippedOperation(operation.id, why)


def _explain_unasked(operation: Operation) -> str | None:
    """Return why the answer of an operation cannot be compared; `None` if it can."""
    if isinstance(operation.returns, Lines):
        return "its answer is a stream, which does not end"
    if operation.returns.media_type not in _COMPARED:
        return f"its answer is {operation.returns.media_type}, a page for people"
    return None


def describe_reads(platform: Platform) -> Description:
    """Return the OpenAPI document of the operations that are compared.

    That of all operations takes five times as long to make.
    """

    def make() -> dict[str, Any]:
        reads = list_reads(platform.operations)
        text = "The operations that read."
        return describe(
            reads,
            platform.settings,
            title="mock_platform",
            version=__version__,
            text=text,
            original_names=ORIGINAL_NAMES,
            spec_sentences=SPEC_SENTENCES,
        )

    return Description(make)


ProbeKind = Literal["plain", "parameters", "pages", "refusals", "methods"]
PROBE_KINDS: tuple[ProbeKind, ...] = get_args(ProbeKind)
Signing = Literal["good", "none", "unknown"]
"""Whether a request is signed with good credentials, not at all, or with a token nobody has."""

PAGE_SIZES = ("count", "max_results")
PAGE_NAMES = ("cursor", "pagination_token", "next_token")
NOT_A_VALUE = "not_a_value"
UNKNOWN_METHOD = "PATCH"
"""No operation of the platform has it, so a request with it changes nothing."""
_MOST_VALUES = 60
"""Values of a closed list that are sent at once; of longer ones only the first."""
_EXAMPLES: Mapping[str, str] = {
    "^[A-Z]{2}$": "US",
    "^[A-Z]{3}$": "USD",
    "^[a-z]{2}$": "en",
    "^[a-z]{2}-[A-Z]{2}$": "en-US",
}
_WORDS = frozenset({"query", "keywords", "negative_keywords", "targeting_values"})
_ENTITY = "entity_id"


class Probe(Struct, frozen=True):
    """One request to send to both servers."""

    name: str
    kind: ProbeKind
    query: tuple[tuple[str, Value], ...] = ()
    method: str = "GET"
    signing: Signing = "good"
    unknown: str | None = None
    """The path parameter that gets an id which does not exist; `*` for all of them."""
    about: str = ""
    """The parameter that it shows, if it shows one."""


class Described(Struct, frozen=True):
    """The query parameters of an operation, each with its JSON Schema."""

    required: Mapping[str, Mapping[str, Any]]
    optional: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, operation: Operation, paths: Mapping[str, Any]) -> Described:
        """Return the parameters from the description of an operation."""
        entry = paths.get(template_path(operation.path), {}).get(operation.method.lower(), {})
        rows = [row for row in entry.get("parameters", ()) if row["in"] == "query"]
        required = {row["name"]: row["schema"] for row in rows if row.get("required")}
        # Of parameters of which one is required, the first is taken for required; the others are
        # tried as optional ones.
        one_of = tuple(getattr(operation.params, "one_of", ()))[:1]
        required |= {row["name"]: row["schema"] for row in rows if row["name"] in one_of}
        optional = {row["name"]: row["schema"] for row in rows if row["name"] not in required}
        return cls(required, optional)


class Plan:
    """The probes of one operation. `now` is the moment from which times are counted."""

    def __init__(self, operation: Operation, described: Described, now: datetime) -> None:
        self.operation = operation
        self.described = described
        self._today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        self._chosen = {name: self._choose(name, form) for name, form in described.required.items()}
        self.required: tuple[tuple[str, Value], ...] = tuple(self._chosen.items())

    def make_plain(self) -> Probe:
        """Return the call with nothing but what is required."""
        return Probe("plain", "plain", self.required)

    def list_probes(self) -> Iterator[Probe]:
        """Return all probes but the plain one and the pages."""
        for name, form in self.described.optional.items():
            yield from self._vary(name, form)
        yield from self._refusals()

    def page_size(self) -> tuple[str, int, int] | None:
        """Return name, minimum and maximum of the page size; `None` if it has no pages."""
        for name in PAGE_SIZES:
            form = self.described.optional.get(name)
            if form is not None and not PAGES_OF.isdisjoint(self.described.optional):
                return name, form.get("minimum", 1), form.get("maximum", 1000)
        return None

    def page_name(self) -> str:
        """Return the parameter that names a page."""
        return next(name for name in PAGE_NAMES if name in self.described.optional)

    # -- valid values ----------------------------------------------------------------------------

    def _vary(self, name: str, form: Mapping[str, Any]) -> Iterator[Probe]:
        if name in PAGE_NAMES or name in PAGE_SIZES:
            return  # the pages show them
        if name == "sort_by":
            ways = form["items"]["enum"]
            for way in [*ways[:2], *ways[3::2]]:
                yield self._vary_one(name, way)
            return
        yield self._vary_one(name, self._choose(name, form))

    def _vary_one(self, name: str, value: Value) -> Probe:
        shown = name if isinstance(value, Wanted) else f"{name}={value}"
        return Probe(shown, "parameters", (*self.required, (name, value)), about=name)

    def _choose(self, name: str, form: Mapping[str, Any]) -> Value:
        """Return a valid value of a parameter, or what to look for among the server's values."""
        if form.get("type") == "array":
            allowed = form["items"].get("enum", ())
            # All values of a closed list at once show in one request whether the server knows each
            # of them.
            few = ",".join(allowed) if len(allowed) <= _MOST_VALUES else str(allowed[0])
            return few or self._choose(name, form["items"])
        if form.get("format") == "date-time":
            days = 0 if name == "end_time" else 1
            return (self._today - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
        is_query = name == "q" and self.operation.path.endswith("/search/posts")
        found = _choose_constant("query" if is_query else name, form)
        return self._want(name) if found is None else found

    def _want(self, name: str) -> Wanted:
        one = singular(name)
        if name in {"q", "name"}:
            return Wanted(("name", "title", "text"), word=True)
        if one == "id":
            one = name_of_id(self.operation.path)
        if one == _ENTITY:
            chosen = self._choose_text("entity_type") or self._choose_text("entity")
            one = one if chosen is None else f"{chosen.lower()}_id"
        return Wanted(list_names(one))

    def _choose_text(self, name: str) -> str | None:
        """Return the value that was chosen for a parameter of a closed list."""
        form = self.described.required.get(name)
        return None if form is None else str(self._choose(name, form))

    # -- refusals --------------------------------------------------------------------------------

    def _refusals(self) -> Iterator[Probe]:
        for name in self._chosen:
            rest = tuple(pair for pair in self.required if pair[0] != name)
            yield Probe(f"without {name}", "refusals", rest, about=name)
        for name, form in {**self.described.required, **self.described.optional}.items():
            wrong = _find_wrong(form)
            rest = tuple(pair for pair in self.required if pair[0] != name)
            for value in wrong:
                query = (*rest, (name, value))
                yield Probe(f"{name}={value}", "refusals", query, about=name)
        yield from self._combine_faults()
        for name in self.operation.path_names:
            yield Probe(f"unknown {name}", "refusals", self.required, unknown=name, about=name)
        if self.operation.auth.refuses:
            yield Probe("no credentials", "refusals", self.required, signing="none")
            yield Probe("unknown token", "refusals", self.required, signing="unknown")
        yield Probe("other method", "methods", method=UNKNOWN_METHOD, unknown="*")

    def _combine_faults(self) -> Iterator[Probe]:
        """Return a request with two faults: one refusal should name both."""
        forms = {**self.described.required, **self.described.optional}
        wrong = {name: values[0] for name, form in forms.items() if (values := _find_wrong(form))}
        if len(wrong) > 1:
            chosen = dict(list(wrong.items())[:2])
            rest = tuple(pair for pair in self.required if pair[0] not in chosen)
            yield Probe("two faults", "refusals", (*rest, *chosen.items()))


PAGES_OF = frozenset(PAGE_NAMES)


def _choose_constant(name: str, form: Mapping[str, Any]) -> str | None:
    """Return a valid value that says nothing about records."""
    if "enum" in form:
        others = [each for each in form["enum"] if each != form.get("default")]
        return str((others or form["enum"])[0])
    if form.get("type") == "boolean":
        return "false" if form.get("default") else "true"
    if form.get("type") == "integer" and "minimum" in form and form.get("format") != "int64":
        return str(form["minimum"])
    return "coffee" if name in _WORDS else _EXAMPLES.get(form.get("pattern", ""))


def _find_wrong(form: Mapping[str, Any]) -> Sequence[str]:
    """Return values that the form of a parameter does not allow."""
    if form.get("type") == "array":
        return _find_wrong(form["items"])[:1]
    if form.get("type") == "integer":
        bounds = [str(form["maximum"] + 1)] if "maximum" in form else []
        bounds += [str(form["minimum"] - 1)] if "minimum" in form else []
        return [NOT_A_VALUE, *bounds]
    if "enum" in form or form.get("type") == "boolean" or form.get("format") == "date-time":
        return [NOT_A_VALUE]
    if "pattern" in form:
        return ["!"]
    return [""] if form.get("minLength") else []
