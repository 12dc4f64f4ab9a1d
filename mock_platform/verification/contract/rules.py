"""How grave each kind of change is for a client, and how the changes are shown.

Breaking: a request that was right is refused, or an answer is not what the client has to
expect. Dangerous: a client may meet something new, or be refused sooner. Harmless: clients need not
change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec import Struct

from mock_platform.core.jsonio import pretty

Level = Literal["breaking", "dangerous", "harmless"]
LEVELS: tuple[Level, ...] = ("breaking", "dangerous", "harmless")
"""The levels, the gravest first."""

WHOLE = ""
"""Stands for the operation in changes of the whole contract."""

_BREAKING: Mapping[str, str] = {
    "operation-removed": "the operation is gone",
    "operation-moved": "the operation has another method or path",
    "authentication-removed": "a kind of credentials is no longer accepted",
    "authentication-required": "requests without credentials are no longer accepted",
    "scope-required": "a token needs another scope",
    "required-parameter-added": "a new parameter is required",
    "parameter-required": "an optional parameter is now required",
    "parameter-form-changed": "lists of a parameter are written otherwise",
    "empty-parameter-refused": "a parameter can no longer be empty",
    "required-body-added": "a body is required where there was none",
    "body-required": "an optional body is now required",
    "request-media-type-removed": "a media type of the body is no longer accepted",
    "body-size-lowered": "the body must be smaller",
    "sent-type-narrowed": "values of a type are no longer accepted",
    "sent-null-refused": "null is no longer accepted",
    "sent-value-refused": "a value of an enumeration is no longer accepted",
    "sent-limit-narrowed": "a bound is narrower",
    "sent-pattern-added": "a text must have a form",
    "sent-format-narrowed": "a value must have another format",
    "sent-key-needed": "a key is now required",
    "required-key-added": "a new key is required",
    "sent-keys-closed": "unknown keys are no longer accepted",
    "sent-choice-removed": "one of several forms is no longer accepted",
    "success-removed": "the status of success is another",
    "answer-media-type-removed": "the answer has another media type",
    "answer-key-removed": "a key of the answer is gone",
    "answer-key-optional": "a key of the answer may be absent",
    "answer-type-changed": "a value of the answer can have another type",
    "answer-null-added": "a value of the answer can be null",
    "answer-format-changed": "a value of the answer has another format",
    "failure-status-changed": "a failure code has another status",
}
_DANGEROUS: Mapping[str, str] = {
    "operation-deprecated": "the operation is deprecated",
    "operation-dated-later": "the operation does not exist before a later date",
    "parameter-removed": "a parameter is ignored, or refused under --strict",
    "parameter-default-changed": "without the parameter, the answer is another",
    "body-removed": "a body is ignored",
    "sent-key-removed": "a key is ignored, or refused under --strict",
    "sent-pattern-changed": "a text must have another form; which one is wider is not known",
    "sent-default-changed": "without the key, something else is assumed",
    "sent-condition-changed": "keys of the body depend on each other otherwise",
    "behaviour-changed": "the same request has another effect or answer",
    "success-added": "a second status of success",
    "answer-value-added": "a new value of an enumeration",
    "answer-limit-widened": "a value of the answer has a wider bound",
    "answer-pattern-changed": "a text of the answer has another form",
    "answer-choice-added": "the answer has a further form",
    "answer-condition-changed": "keys of the answer depend on each other otherwise",
    "answer-header-removed": "a header of the answer is gone",
    "failure-added": "a new failure",
    "failure-text-changed": "a failure has another text, which clients may look for",
    "limit-added": "a rate limit where there was none",
    "limit-lowered": "fewer requests in the same time",
    "limit-counted-otherwise": "a rate limit is counted for something else",
    "assumption-changed": "what the sandbox assumes is another",
    "release-moved": "a change of the interface takes effect at another time",
}
_HARMLESS: Mapping[str, str] = {
    "operation-added": "a new operation",
    "operation-restored": "the operation is no longer deprecated",
    "operation-dated-earlier": "the operation exists from an earlier date on",
    "authentication-added": "a further kind of credentials is accepted",
    "authentication-dropped": "requests without credentials are accepted",
    "scope-dropped": "a token needs a scope less",
    "parameter-added": "a new optional parameter",
    "parameter-optional": "a required parameter is now optional",
    "empty-parameter-accepted": "a parameter can be empty",
    "body-added": "an optional body where there was none",
    "body-optional": "a required body is now optional",
    "request-media-type-added": "a further media type of the body is accepted",
    "body-size-raised": "the body can be larger",
    "sent-type-widened": "values of a further type are accepted",
    "sent-null-accepted": "null is accepted",
    "sent-value-accepted": "a new value of an enumeration is accepted",
    "sent-limit-widened": "a bound is wider",
    "sent-pattern-removed": "a text can have any form",
    "sent-format-widened": "a value can have another format",
    "sent-key-spared": "a required key is now optional",
    "sent-key-added": "a new optional key",
    "sent-keys-opened": "unknown keys are accepted",
    "sent-choice-added": "a further form is accepted",
    "answer-media-type-added": "the answer has a further media type",
    "answer-key-added": "a new key of the answer",
    "answer-key-certain": "a key of the answer is always there",
    "answer-type-narrowed": "a value of the answer has a type less",
    "answer-null-removed": "a value of the answer is never null",
    "answer-value-removed": "a value of an enumeration does not come any more",
    "answer-limit-narrowed": "a value of the answer has a narrower bound",
    "answer-pattern-added": "a text of the answer has a certain form",
    "answer-format-narrowed": "a value of the answer has a narrower format",
    "answer-choice-removed": "the answer has a form less",
    "answer-header-added": "a new header of the answer",
    "failure-removed": "a failure does not come any more",
    "limit-raised": "more requests in the same time",
    "limit-removed": "a rate limit is gone",
    "assumption-added": "the sandbox assumes something that it did not",
    "assumption-removed": "the sandbox no longer assumes something",
    "release-added": "a new row of the release history",
    "release-removed": "a row of the release history is gone",
}


class ContractRule(Struct, frozen=True):
    """One kind of change."""

    id: str
    level: Level
    meaning: str
    """What it means for a client."""


RULES: Mapping[str, ContractRule] = {
    name: ContractRule(name, level, meaning)
    for level, rules in zip(LEVELS, (_BREAKING, _DANGEROUS, _HARMLESS), strict=True)
    for name, meaning in rules.items()
}
"""Every kind of change, by its id."""


class ContractChange(Struct, frozen=True):
    """One change between two contracts."""

    rule: str
    operation: str
    """The id of the operation; `WHOLE` for the whole contract."""
    place: str
    """Where in the operation, such as `answer 200: data[].name`; may be empty."""
    old: str = ""
    """What was there, in words; empty if there was nothing."""
    new: str = ""

    @property
    def level(self) -> Level:
        """How grave it is."""
        return RULES[self.rule].level

    def as_json(self) -> dict[str, Any]:
        """Return the change with its level and meaning."""
        return {
            "level": self.level,
            "rule": self.rule,
            "operation": self.operation or None,
            "place": self.place,
            "old": self.old,
            "new": self.new,
            "meaning": RULES[self.rule].meaning,
        }


# Shows the changes between two contracts: as text, JSON or markdown.

Format = Literal["text", "json", "markdown"]
_HARMFUL: Mapping[str, tuple[Level, ...]] = {
    "breaking": ("breaking",),
    "dangerous": ("breaking", "dangerous"),
    "any": LEVELS,
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Comparison(Struct, frozen=True):
    """The changes between two documents, with their names."""

    old: str
    new: str
    changes: Sequence[ContractChange]

    def count(self) -> dict[Level, int]:
        """Return how many changes each level has."""
        return {level: sum(each.level == level for each in self.changes) for level in LEVELS}

    def fails(self, at: str) -> bool:
        """Whether there is a change of this level (`breaking`, `dangerous`, `any`) or above."""
        return any(each.level in _HARMFUL[at] for each in self.changes)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {
            "old": self.old,
            "new": self.new,
            "counts": self.count(),
            "changes": [each.as_json() for each in self.changes],
        }


def render(comparison: Comparison, form: Format) -> str:
    """Return the changes in a form, with an end of line."""
    if form == "json":
        return pretty(comparison.as_json()) + "\n"
    lines = _list_markdown(comparison) if form == "markdown" else _list_text(comparison)
    return "".join(f"{line}\n" for line in lines)


def _list_text(comparison: Comparison) -> Iterator[str]:
    for title, changes in _group(comparison.changes):
        yield title
        for each in changes:
            place = f"{_clean(each.place)}: " if each.place else ""
            yield f"  {each.level:<9}  {place}{RULES[each.rule].meaning}{_show_sides(each)}"
        yield ""
    yield f"{comparison.old} -> {comparison.new}: {_summarize(comparison)}"


def _list_markdown(comparison: Comparison) -> Iterator[str]:
    yield f"# {_escape(comparison.old)} → {_escape(comparison.new)}"
    yield ""
    yield f"{_summarize(comparison)}."
    for title, changes in _group(comparison.changes):
        yield ""
        yield f"## {_escape(title)}"
        yield ""
        yield "| level | where | what | old | new |"
        yield "|---|---|---|---|---|"
        for each in changes:
            cells = (each.level, each.place, RULES[each.rule].meaning, each.old, each.new)
            yield f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _group(changes: Sequence[ContractChange]) -> Iterable[tuple[str, list[ContractChange]]]:
    for operation, group in groupby(changes, key=lambda each: each.operation):
        yield _clean(operation) or "the whole contract", list(group)


def _summarize(comparison: Comparison) -> str:
    if not comparison.changes:
        return "no changes"
    counts = comparison.count()
    return ", ".join(f"{counts[level]} {level}" for level in LEVELS)


def _show_sides(change: ContractChange) -> str:
    old, new = _clean(change.old), _clean(change.new)
    if old and new:
        return f": {old} -> {new}"
    return f": {old or new}" if old or new else ""


def _clean(text: str) -> str:
    """Return a text of a document without control characters, which could act on a terminal."""
    return _CONTROL.sub("\ufffd", text)


def _escape(text: str) -> str:
    cleaned = _clean(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return cleaned.replace("`", "\\`").replace("*", "\\*").replace("[", "\\[")
