"""The exceptions that users of the Python interface meet; quick to load, for commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

MAX_FAULTS = 100
"""Maximum number of faults that one answer reports, or that are looked for in one document."""
_MOST_COMPARED = 200
"""Characters of a value that is compared with known ones; a longer one resembles none."""


def escape(text: str) -> str:
    r"""Return a text without control characters: they are written as `\x1b`.

    What a file or another server brings must not control the terminal, or look like another line.

    Example:
        >>> escape("a\x1b[2J\nError: b")
        'a\\x1b[2J\\nError: b'
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def shorten(text: str, most: int) -> str:
    """Return a text as messages show it: cut after `most` characters, with `…` where it was.

    Example:
        >>> shorten("a long value", 6), shorten("short", 6)
        ('a long…', 'short')
    """
    return text if len(text) <= most else f"{text[:most]}…"


class RecordFault(Struct, frozen=True):
    """One thing that is wrong with a record: table, key or index, field, text."""

    table: str
    record: str | int
    field: str
    text: str

    def __str__(self) -> str:
        where = f"{self.table}[{self.record}]" if self.record != "" else self.table
        return f"{where}{f', field {self.field}' if self.field else ''}: {self.text}"

    def as_json(self) -> dict[str, Any]:
        """Return the fault as a JSON object."""
        return {
            "table": self.table,
            "record": self.record,
            "field": self.field,
            "message": self.text,
        }


class BadRecord(ValueError):
    """Records that cannot be stored; `faults` holds everything that is wrong with them."""

    def __init__(self, faults: list[RecordFault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class UnknownTable(KeyError):
    """A table was asked for that does not exist."""

    def __init__(self, name: str, tables: Iterable[str]) -> None:
        names = list(tables)
        hint = did_you_mean(name, names)
        super().__init__(f"There is no table {name!r}.{hint} Tables: {', '.join(names)}.")
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError shows its text as Python would write it


class UnknownRecord(LookupError):
    """A record was asked for whose key its table does not hold."""

    def __init__(self, table: str, key: str, keys: list[str]) -> None:
        super().__init__(f"{table} holds no record {key!r}.{did_you_mean(key, keys)}")
        self.table = table
        self.key = key


class NoSuchAttribute(AttributeError):
    """The tables of a world were asked for an attribute that they do not have."""

    def __init__(self, name: str, tables: Iterable[str]) -> None:
        near = find_nearest(name, tables)
        hint = "" if near is None else f" Did you mean state[{near!r}]?"
        super().__init__(f"Tables are keys of the state, not attributes: no {name!r}.{hint}")


# The exceptions about what users write in files. Commands import this module, so it is quick to
# load.


class Complaint(Struct, frozen=True):
    """One fault of a document: file, place from 1, the field, what is wrong and what is allowed."""

    file: Path
    line: int
    column: int
    field: str
    text: str

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return escape(f"{self.file}:{self.line}:{self.column}: {where}{self.text}")


class BadDocument(ValueError):
    """Files with faults; `complaints` holds all of them."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__("\n".join(str(complaint) for complaint in complaints))
        self.complaints = list(complaints)

    @classmethod
    def make(cls, file: Path, text: str, field: str = "") -> Self:
        """Return the exception for one fault of a whole file."""
        return cls([Complaint(file, 1, 1, field, text)])


class BadScenario(BadDocument):
    """A scenario with faults."""


class BadFixtures(BadDocument):
    """Fixture files with faults."""


class BadParameters(ValueError):
    """Values that a scenario cannot be activated with; `faults` are (parameter, text)."""

    def __init__(self, name: str, faults: Sequence[tuple[str, str]]) -> None:
        listed = "; ".join(f"{parameter}: {text}" if parameter else text
                         for parameter, text in faults)  # fmt: skip
        super().__init__(f"The scenario {name!r} cannot be activated so: {listed}")
        self.faults = list(faults)


class CannotPerform(ValueError):
    """The server cannot do what a scenario needs."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The scenario {name!r} breaks connections, which this server cannot do. Serve with "
            "`mock-platform serve` to use it."
        )


class NothingDue(LookupError):
    """A clock was to move to the next thing that is due, and nothing is."""

    def __init__(self, world: str) -> None:
        super().__init__(
            f"Nothing is due in the world {world!r} after the moment on its clock: no transition "
            "runs by time, no post is scheduled, no token or upload expires, and no rate window is "
            "open. The clock was not moved; move it by a duration, such as 1h."
        )


class NotDefinedHere(ValueError):
    """A scenario that every world knows was to be removed from one."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The scenario {name!r} is one of the server's, which every world knows. "
            f"POST /_mock/scenarios/{name}/deactivate switches it off."
        )


class UnknownScenario(LookupError):
    """A scenario was asked for that does not exist; `meant` is a name that is nearer to one."""

    def __init__(self, name: str, known: Iterable[str], meant: str | None = None) -> None:
        names = sorted(known)
        hint = did_you_mean(meant or name, names)
        super().__init__(
            f"There is no scenario {name!r}.{hint} GET /_mock/scenarios lists those there are; "
            "PUT /_mock/scenarios/NAME defines one."
        )
        self.name = name


# The exceptions about events from outside. Commands import this module, so it is quick to load.


class BadEvent(ValueError):
    """An event that cannot be added; `faults` holds (field, what is wrong) for each fault."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(text for _, text in faults))
        self.faults = faults


# The exceptions about open streams. Commands import this module, so it is quick to load.


class UnknownStream(LookupError):
    """No open stream has this id."""

    def __init__(self, id_: str, known: Iterable[str]) -> None:
        shown = ", ".join(known) or "none"
        super().__init__(f"No open stream has the id {id_!r}. Open streams: {shown}.")


# The exceptions about snapshots and transitions.


class BadSnapshotName(ValueError):
    """A snapshot cannot have this name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} is not a name for a snapshot: 1 to 64 letters, digits, dots, underscores "
            "and hyphens; the first must be a letter or digit."
        )


class TooManySnapshots(RuntimeError):
    """The world already has the maximum number of snapshots."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"This world already has {limit} snapshots. Delete one with "
            "DELETE /_mock/snapshots/NAME."
        )


class UnknownSnapshot(LookupError):
    """The world has no snapshot of this name."""

    def __init__(self, world: str, name: str, known: Iterable[str]) -> None:
        super().__init__(
            f"World {world!r} has no snapshot {name!r}.{did_you_mean(name, known)} "
            f"PUT /_mock/snapshots/{name} saves one."
        )
        self.name = name


class UnknownTransition(LookupError):
    """The kind of transition or its record does not exist; the text says which."""


# The exceptions of views. Commands import this module, so it is quick to load.


class BadQuery(ValueError):
    """A query that cannot be used; `faults` are pairs of parameter and message."""

    def __init__(self, faults: Iterable[tuple[str, str]]) -> None:
        self.faults = [(name, str(text)) for name, text in faults]
        super().__init__(f"The query cannot be used: {'; '.join(text for _, text in self.faults)}")


# The exceptions of the Python interface; those of `world` are raised as well.


class MissingCredentials(LookupError):
    """The world has no credentials of the kind that a session needs."""


class NotInProcess(RuntimeError):
    """The caller asked for something that only a sandbox in this process has."""


class Refused(ValueError):
    """The control plane of a server elsewhere refused a request; the message is the server's."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(RuntimeError):
    """No server answers at this address."""


def did_you_mean(value: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` with the nearest value, or an empty text if none is near."""
    near = find_nearest(value, known)
    return "" if near is None else f" Did you mean {near!r}?"


def find_nearest(value: str, known: Iterable[str]) -> str | None:
    """Return the known value that somebody may have meant, or `None`.

    Nearest is what has the same words in another order or case: `answer-lost` for `lost-answer`;
    and the neutral name of an original one: `posts` for `tweets`.

    Example:
        >>> find_nearest("lost-answer", ["answer-lost", "rate-limited"])
        'answer-lost'
        >>> find_nearest("THEN", ["then", "when"])
        'then'
        >>> find_nearest("tweets", ["events", "posts"])
        'posts'
    """
    if len(value) > _MOST_COMPARED:
        return None
    value = value.replace("tweet", "post").replace("Tweet", "Post")
    names, words = list(known), _split(value)
    turned = [name for name in names if _split(name) == words]
    near = turned or get_close_matches(value, names, 1)
    return near[0] if near else None


def describe_unknown_field(
    name: str, owner: str, fields: Iterable[str], shown: str | None = None
) -> str:
    """Describe a field that a record does not have; `shown` is its whole place, if it has one."""
    fields = list(fields)
    hint = did_you_mean(name, fields)
    return f"{(shown or name)!r} is no field of {owner}.{hint} Its fields: {', '.join(fields)}"


def _split(name: str) -> list[str]:
    return sorted(re.split(r"[\W_]+", name.lower()))


class CaseTooLarge(ValueError):
    """A world cannot be saved as a case: it would be too large."""


class BadCase(ValueError):
    """A file that is no case, damaged or hostile. The text names the file, the place, the fault."""

    def __init__(self, text: str) -> None:
        super().__init__(escape(text))
