"""The world's clock: read, stop, set, advance, resume."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from marshmallow import ValidationError, validates_schema

from mock_platform.api.served import TABLES
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.description.schemas import either, form
from mock_platform.core.errors import NothingDue
from mock_platform.core.faults import INVALID, MISSING, Fault
from mock_platform.core.fields import Choice, Flag, Instant, ListOf, Nested, Number, Text
from mock_platform.core.schema import Schema
from mock_platform.world.clock import (
    DURATION_EXAMPLES,
    DURATION_PATTERN,
    EARLIEST,
    LATEST,
    Clock,
    Happening,
    machine_now,
    parse_duration,
    parse_instant,
    parse_step,
    wire_millis,
)
from mock_platform.world.world import World


class Duration(Number):
    """A number of seconds, or a text with units such as `15m`."""

    kind = f"Number of seconds, or a duration ({DURATION_EXAMPLES})"
    pattern = DURATION_PATTERN
    parse = staticmethod(parse_duration)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The description of such a value."""
        return {"type": ["number", "string"], "pattern": f"^{cls.pattern}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if not isinstance(value, str):
            return super()._deserialize(value, attr, data, **kwargs)
        try:
            return self.parse(value)
        except ValueError as fault:
            raise self._unreadable(value) from fault


class Step(Duration):
    """A duration by which a clock moves; a negative one moves it back."""

    kind = f"Number of seconds, or a duration ({DURATION_EXAMPLES}, -7d)"
    pattern = f"-?{DURATION_PATTERN}"
    parse = staticmethod(parse_step)


class MomentOrWord(Instant):
    """A moment, or `now`: that of the machine, or `next`: that of what is due next."""

    kind = "time, now or next"

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The description of such a value."""
        return {"anyOf": [{"type": "string", "format": "date-time"}, {"enum": ["now", _NEXT]}]}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return (
            value if value in ("now", _NEXT) else super()._deserialize(value, attr, data, **kwargs)
        )


_TAKES = {"freeze": ("to",), "travel": ("to",), "advance": ("seconds", "to"), "resume": ()}
_NEXT = "next"


class ClockBody(Schema):
    """An action on the clock."""

    json_conditions: ClassVar[dict[str, Any]] = either(
        form("action", "freeze", foreign=["seconds"]),
        form("action", "travel", needed=["to"], foreign=["seconds"]),
        form("action", "advance", needed=["seconds"], foreign=["to"]),
        form("action", "advance", needed=["to"], foreign=["seconds"]),
        form("action", "resume", foreign=["to", "seconds"]),
    )
    action = Choice(tuple(_TAKES), required=True)
    to = MomentOrWord(
        as_sent=True,
        metadata={
            "description": "freeze: optional; travel: required, now is the machine's time; "
            "advance: next, in place of seconds, for the next thing that is due"
        },
    )
    seconds = Step(metadata={"description": "advance: required, or to; may be negative"})

    @validates_schema(skip_on_field_errors=True)
    def check(self, data: dict[str, Any], **_: Any) -> None:
        """Require exactly the fields that the action takes."""
        action, to = data["action"], data.get("to")
        faults: dict[str, list[Fault]] = {}
        if action == "advance" and ("seconds" in data) is (to is not None):
            text = "the action 'advance' needs 'seconds', or 'to': 'next', and not both"
            faults["seconds"] = [Fault(text, MISSING if to is None else INVALID)]
        elif action == "travel" and to is None:
            faults["to"] = [Fault("the action 'travel' needs 'to'", MISSING)]
        if to is not None and (to == _NEXT) is not (action == "advance"):
            text = "'next' is for the action 'advance', which takes no other 'to'"
            faults["to"] = [Fault(text)]
        for name in data.keys() - {"action", *_TAKES[action]}:
            allowed = ", ".join(_TAKES[action]) or "nothing else"
            faults[name] = [Fault(f"the action {action!r} takes {allowed}, not {name!r}")]
        if faults:
            raise ValidationError(dict(faults))


class HappeningAnswer(Schema):
    """What happened at the moment to which the clock was moved."""

    at = Instant(required=True)
    kind = Text(required=True)
    table = Text()
    id = Text()


class ClockAnswer(Schema):
    """The time on the clock, and whether it is stopped."""

    now = Instant(required=True)
    frozen = Flag(required=True)
    happened = ListOf(
        Nested(HappeningAnswer), metadata={"description": "where it was moved to what was due next"}
    )


def get_clock(request: ControlRequest) -> dict[str, Any]:
    """Return the time on the world's clock."""
    return _describe_clock(request.world)


def put_clock(request: ControlRequest) -> dict[str, Any]:
    """Freeze, travel, advance or resume; everything that is due then happens.

    Raises:
        NothingDue: The clock was to be moved to what is due next, and nothing is.
    """
    world = request.world
    if request.body.get("to") == _NEXT:
        happened = [
            {name: value for name, value in each._asdict().items() if value is not None}
            | {"at": wire_millis(each.at)}
            for each in advance_to_next(world)
        ]
        return _describe_clock(world) | {"happened": happened}
    try:
        with world.work():
            _act(world.clock, **request.body)
            world.transitions.evaluate_every_kind()
    except OverflowError as fault:
        years = f"{EARLIEST.year} to {LATEST.year - 1}"
        text = f"seconds: the clock would be outside the years {years}"
        raise refuse_values(422, [("seconds", text)], "The clock was not moved") from fault
    except ValueError as fault:
        field = "seconds" if "seconds" in request.body else "to"
        raise refuse_values(
            422, [(field, f"{field}: {fault}")], "The clock was not moved"
        ) from fault
    return _describe_clock(world)


def advance_to_next(world: World) -> list[Happening]:
    """Move a world's clock to what is due next, let it happen, and return what it was.

    Raises:
        NothingDue: Nothing is; the clock was not moved.
    """
    with world.work():
        world.transitions.evaluate_every_kind()
        due = [each for each in _list_due(world) if world.clock.now() < each.at < LATEST]
        if not due:
            raise NothingDue(world.name)
        moment = min(each.at for each in due)
        world.clock.travel(moment)
        world.transitions.evaluate_every_kind()
    return sorted((each for each in due if each.at == moment), key=lambda each: each[1:])


def list_coming(world: World, most: int) -> list[Happening]:
    """Return what the clock alone will do next, the soonest first."""
    with world.lock:
        now = world.clock.now()
        return sorted(each for each in _list_due(world) if now < each.at < LATEST)[:most]


def _list_due(world: World) -> Iterator[Happening]:
    """Yield all that the clock alone will do in a world, and what it has done."""
    moves = world.transitions
    for kind in moves.kinds.values():
        for key in moves.list_running(kind.name):
            due = moves.find_due_time(kind.name, key)
            if due is not None:
                yield Happening(due, kind.due_as, kind.table, key)
    for table in TABLES:
        if table.due is None:
            continue
        name, find = table.due
        for entry in world.store.page(table.name):
            at = find(entry.record)
            if at is not None:
                moment = parse_instant(at) if isinstance(at, str) else at
                yield Happening(moment, name, table.name, entry.key)
    for window, end in world.windows.list_ends():
        yield Happening(end, "window", None, window)


def _act(clock: Clock, action: str, to: str | None = None, seconds: float = 0) -> None:
    moment = machine_now() if to == "now" else None if to is None else parse_instant(to)
    if action == "advance":
        clock.advance(seconds)
    elif action == "resume":
        clock.resume()
    elif action == "travel":
        assert moment is not None  # the body's schema made sure of it
        clock.travel(moment)
    else:
        clock.freeze(moment)


def _describe_clock(world: World) -> dict[str, Any]:
    return {"now": wire_millis(world.clock.now()), "frozen": world.clock.frozen}


ROUTES = (
    Route("GET", "/clock", get_clock, returns=ClockAnswer),
    Route("PUT", "/clock", put_clock, body=ClockBody, returns=ClockAnswer),
)
