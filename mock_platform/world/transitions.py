"""Transitions: a record starts in a first state and moves later to a last one.

Each kind is data: its table, its field, its states. Each world sets its progression: at once, after
some time on the world's clock, after a number of reads, or only by hand. Nothing runs in the
background; code that reads a record settles it first. A kind whose move changes more than its own
record (`act`) is settled by the agenda too, when it is due.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import asdict, replace

from mock_platform.world.attached import PACED
from mock_platform.world.clock import Clock, parse_instant
from mock_platform.world.store.memory import MemoryStore

Progression = Literal["immediate", "time", "polls", "manual"]
PROGRESSIONS: tuple[str, ...] = get_args(Progression)
PENDING = "_transitions"


class Pace(Struct, frozen=True):
    """The progression of a kind: `seconds` are for `time`, `polls` for `polls`."""

    progression: Progression = "time"
    seconds: float = 2.0
    polls: int = 1

    def __post_init__(self) -> None:
        """Check a progression.

        Raises:
            ValueError: The progression is unknown, or a number is missing or too small.
        """
        if self.progression not in PROGRESSIONS:
            allowed = ", ".join(PROGRESSIONS)
            raise ValueError(f"progression is one of {allowed}, got {self.progression!r}")
        if type(self.seconds) not in {int, float} or not 0 <= self.seconds < math.inf:
            raise ValueError(f"seconds is a number from 0 up, got {self.seconds!r}")
        if type(self.polls) is not int or self.polls < 1:
            raise ValueError(f"polls is a whole number from 1 up, got {self.polls!r}")


class TransitionKind(Struct, frozen=True):
    """A state machine as data: `field` of a record changes from `first` to one of `ends`.

    Example:
        >>> kind = TransitionKind(
        ...     "review", "shops", "state", "PENDING", ("ACCEPTED", "REJECTED"), Pace(seconds=30)
        ... )
        >>> kind.states
        ('PENDING', 'ACCEPTED', 'REJECTED')
        >>> kind.state_of({"id": "1", "state": "PENDING"})
        'PENDING'
    """

    name: str
    table: str
    field: str
    first: str
    ends: tuple[str, ...]
    pace: Pace = Pace()
    also: Callable[[dict[str, Any], str], dict[str, Any]] | None = None
    """Return other fields that change when the record moves, from the record and its new state."""
    read: Callable[[Mapping[str, Any]], str] | None = None
    """Reads the state of a record, if `field` alone does not contain it; `also` writes it."""
    act: Callable[[Any, Mapping[str, Any], str], str] | None = None
    """Does in a world what a record asks for when it moves; returns the state that it reaches."""
    remember: Callable[[Any, Mapping[str, Any], str], None] | None = None
    """Records in a world what is to be done once a record has ended; a part of the same commit."""
    due_as: str = "transition"
    """What its move is called among all that is due."""
    since: str | None = None
    """The field with the moment from which time counts, for a record in its first state whose
    transition was never started: from the fixtures, or stored from outside.
    """

    def state_of(self, record: Mapping[str, Any]) -> str:
        """Return the state of a record."""
        return str(record.get(self.field)) if self.read is None else self.read(record)

    @property
    def states(self) -> tuple[str, ...]:
        """All states, the first one first."""
        return (self.first, *self.ends)


def is_pending(key: str, row: Mapping[str, Any], kinds: Mapping[str, TransitionKind]) -> bool:
    """Whether this is the stored form of a running transition; for data from outside."""
    kind = kinds.get(row.get("kind", ""))
    if kind is None or set(row) != {"kind", "key", "since", "polls", "to"}:
        return False
    try:
        moment = None if row["since"] is None else datetime.fromisoformat(row["since"])
    except (TypeError, ValueError):
        return False
    return (
        key == f"{kind.name}:{row['key']}"
        and (moment is None or moment.tzinfo is not None)
        and type(row["polls"]) is int
        and row["to"] in kind.ends
    )


class Transitions:
    """The transitions of one world. Called under the world's lock, inside a transaction."""

    def __init__(
        self,
        kinds: Iterable[TransitionKind],
        store: MemoryStore,
        clock: Clock,
        notify: Callable[[str, str], None],
        world: object = None,
    ) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.paces = {kind.name: kind.pace for kind in self.kinds.values()}
        self._store = store
        self._clock = clock
        self._notify = notify
        """Called with `KIND:STATE` and a record's key after each move, and with `PACED`."""
        self._world = world
        """What `act` gets."""
        self._described: tuple[Mapping[str, Pace], dict[str, Any]] = ({}, {})
        """The paces that `state` described last, and what it returned."""

    def release(self) -> None:
        """Forget the world, which has ended: no record moves any more."""
        self._world = None
        self._notify = _ignore

    def set_pace(self, name: str, **changes: Any) -> Pace:
        """Set the progression of a kind, also for running transitions."""
        pace = replace(self.paces[name], **changes)
        self.paces = {**self.paces, name: pace}  # a new one, so that a failed commit has the old
        self._notify(PACED, name)
        return pace

    def begin(self, name: str, key: str, *, started: bool = True, to: str | None = None) -> None:
        """Start a record's transition to `to` (default: the kind's first end).

        The record must already be in its first state. With `started=False` its time starts to count
        at `start`.
        """
        kind = self.kinds[name]
        since = self._clock.now().isoformat() if started else None
        # A running transition is itself a record, in a table of its own. So it is undone with a
        # failed request, kept by snapshots, and written by durable stores without any code for
        # that. It is settled at once, because the pace may be `immediate`.
        row = {"kind": name, "key": key, "since": since, "polls": 0, "to": to or kind.ends[0]}
        self._store.put(PENDING, f"{name}:{key}", row)
        self.evaluate(name, key)

    def start(self, name: str, key: str, to: str | None = None) -> None:
        """Start to count the time of a running transition now, optionally to another end."""
        row = self._store.get(PENDING, f"{name}:{key}")
        if row is not None:
            row = row | {"since": self._clock.now().isoformat(), "to": to or row["to"]}
            self._store.put(PENDING, f"{name}:{key}", row)
            self.evaluate(name, key)

    def evaluate(self, name: str, key: str, *, poll: bool = False) -> bool:
        """Move a record if it is due; `poll` counts one read. Returns whether it moved."""
        row = self._row(name, key)
        if row is None:
            return False
        kind, pace = self.kinds[name], self.paces[name]
        # A read counts before it is decided whether the record is due: with `polls` at 1 the first
        # read already shows the last state. The count is part of the row, so other progressions
        # could use up reads as well if the pace changes later; that is why it counts for `polls`
        # alone.
        if poll and pace.progression == "polls" and row["since"] is not None:
            row = row | {"polls": row["polls"] + 1}
            self._store.put(PENDING, f"{name}:{key}", row)
        if not self._is_due(pace, row):
            return False
        self._move(kind, key, row["to"])
        return True

    def evaluate_all(self, name: str) -> None:
        """Move every record of a kind that is due."""
        for key in self.list_running(name):
            self.evaluate(name, key)

    def evaluate_every_kind(self) -> None:
        """Move every record that is due."""
        for name in self.kinds:
            self.evaluate_all(name)

    def find_due_time(self, name: str, key: str) -> datetime | None:
        """Return when the clock alone will move a record; `None` if it will not."""
        row = self._row(name, key)
        pace = self.paces[name]
        if row is None or row["since"] is None or pace.progression not in {"time", "immediate"}:
            return None
        wait = pace.seconds if pace.progression == "time" else 0.0
        return datetime.fromisoformat(row["since"]) + timedelta(seconds=wait)

    def has_started(self, name: str, key: str) -> bool | None:
        """Whether the time of a running transition counts already; `None` if no transition runs."""
        row = self._row(name, key)
        return None if row is None else row["since"] is not None

    def move(self, name: str, key: str, to: str) -> None:
        """Move one record now, whatever its progression; the state must exist."""
        kind = self.kinds[name]
        # Back to the first state means that the transition runs again, from now on: as if the
        # record were new. Any other state ends it.
        if to == kind.first:
            self._put_state(kind, key, to)
            self._notify(f"{name}:{to}", key)
            self.begin(name, key)
        else:
            self._move(kind, key, to)

    def list_running(self, name: str) -> list[str]:
        """Return the keys of the records of a kind whose transition runs."""
        # Records from the fixtures are in their first state without a row in this table: nobody
        # called `begin` for them. For kinds with `since`, their time counts from that field, so
        # they are found by a scan of the records themselves.
        begun = [entry.record["key"] for entry in self._store.page(PENDING, {"kind": name})]
        kind = self.kinds[name]
        if kind.since is None:
            return begun
        known = set(begun)
        waiting = self._store.scan(kind.table, lambda r: kind.state_of(r) == kind.first)
        return begun + [key for key in waiting if key not in known]

    def as_json(self) -> dict[str, Any]:
        """Return each kind with its progression, its states and its running transitions."""
        return {
            name: asdict(self.paces[name])
            | {"states": list(kind.states), "under_way": self.list_running(name)}
            for name, kind in self.kinds.items()
        }

    def state(self) -> dict[str, Any]:
        """Return the progressions as data, for snapshots and durable stores; not to be changed."""
        described, state = self._described
        if described is not self.paces:  # each commit asks for it, and nearly none changes them
            state = {name: asdict(pace) for name, pace in self.paces.items()}
            self._described = self.paces, state
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the progressions from `state`; kinds that are not in it keep their default."""
        self.paces = {
            name: Pace(**state[name]) if name in state else kind.pace
            for name, kind in self.kinds.items()
        }

    def _row(self, name: str, key: str) -> dict[str, Any] | None:
        """Return the running transition of a record; some run without having been started."""
        row = self._store.get(PENDING, f"{name}:{key}")
        kind = self.kinds[name]
        if row is not None or kind.since is None:
            return row
        record = self._store.get(kind.table, key)
        if record is None or kind.state_of(record) != kind.first:
            return None
        since = _moment(record.get(kind.since))
        return {"kind": name, "key": key, "since": since, "polls": 0, "to": kind.ends[0]}

    def _is_due(self, pace: Pace, row: dict[str, Any]) -> bool:
        if row["since"] is None or pace.progression == "manual":
            return False
        if pace.progression == "polls":
            return bool(row["polls"] >= pace.polls)
        if pace.progression == "immediate":
            return True
        ready = datetime.fromisoformat(row["since"]) + timedelta(seconds=pace.seconds)
        return self._clock.now() >= ready

    def _move(self, kind: TransitionKind, key: str, to: str) -> None:
        # The row goes first. `act` may look at the same record again (it makes posts, for instance,
        # whose readers settle what is due), and must find no running transition then. It also
        # decides the state: a scheduled post that can no longer be sent fails instead. The record
        # is put after that, and last come the work that is owed and the notice, which concern the
        # state that was really reached.
        self._store.remove(PENDING, f"{kind.name}:{key}")
        record = self._store.get(kind.table, key)
        if kind.act is not None and record is not None:
            to = kind.act(self._world, record, to)
        if self._put_state(kind, key, to):
            if kind.remember is not None and record is not None:
                kind.remember(self._world, record, to)
            self._notify(f"{kind.name}:{to}", key)

    def _put_state(self, kind: TransitionKind, key: str, to: str) -> bool:
        record = self._store.get(kind.table, key)
        if record is None:
            return False
        # Where a state is derived from several fields (`read`), `also` is what writes it; otherwise
        # `field` is written, and `also` adds what changes with it.
        extra = {} if kind.also is None else kind.also(record, to)
        moved = {kind.field: to} if kind.read is None else {}
        self._store.put(kind.table, key, record | moved | extra)
        return True


def _ignore(*_: object) -> None:
    pass


def _moment(value: Any) -> str | None:
    """Return a record's moment for a running transition, `None` if it is not a moment."""
    try:
        return parse_instant(value).isoformat()
    except (TypeError, ValueError):  # a record that was stored unchecked
        return None
