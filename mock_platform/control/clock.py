"""The world's clock: read, stop, set, advance, resume."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import ValidationError, validates_schema

from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.description.schemas import either, form
from mock_platform.core.faults import MISSING, Fault
from mock_platform.core.fields import Choice, Flag, Instant, Number
from mock_platform.core.schema import Schema
from mock_platform.world.clock import (
    DURATION_EXAMPLES,
    DURATION_PATTERN,
    EARLIEST,
    LATEST,
    Clock,
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


class MomentOrNow(Instant):
    """A moment, or `now`: that of the machine."""

    kind = "time or now"

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The description of such a value."""
        return {"anyOf": [{"type": "string", "format": "date-time"}, {"const": "now"}]}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return value if value == "now" else super()._deserialize(value, attr, data, **kwargs)


_TAKES = {"freeze": ("to",), "travel": ("to",), "advance": ("seconds",), "resume": ()}
_NEEDS = {"travel": "to", "advance": "seconds"}


class ClockBody(Schema):
    """An action on the clock."""

    json_conditions: ClassVar[dict[str, Any]] = either(
        *(
            form(
                "action",
                action,
                needed=[_NEEDS[action]] if action in _NEEDS else (),
                foreign={"to", "seconds"} - {*takes},
            )
            for action, takes in _TAKES.items()
        )
    )
    action = Choice(tuple(_TAKES), required=True)
    to = MomentOrNow(
        as_sent=True,
        metadata={"description": "freeze: optional; travel: required; now is the machine's time"},
    )
    seconds = Step(metadata={"description": "advance: required; may be negative"})

    @validates_schema(skip_on_field_errors=True)
    def check(self, data: dict[str, Any], **_: Any) -> None:
        """Require exactly the fields that the action takes."""
        action = data["action"]
        needed = _NEEDS.get(action)
        faults: dict[str, list[Fault]] = {}
        if needed is not None and needed not in data:
            faults[needed] = [Fault(f"the action {action!r} needs {needed!r}", MISSING)]
        for name in data.keys() - {"action", *_TAKES[action]}:
            allowed = ", ".join(_TAKES[action]) or "nothing else"
            faults[name] = [Fault(f"the action {action!r} takes {allowed}, not {name!r}")]
        if faults:
            raise ValidationError(dict(faults))


class ClockAnswer(Schema):
    """The time on the clock, and whether it is stopped."""

    now = Instant(required=True)
    frozen = Flag(required=True)


def get_clock(request: ControlRequest) -> dict[str, Any]:
    """Return the time on the world's clock."""
    return _describe_clock(request.world)


def put_clock(request: ControlRequest) -> dict[str, Any]:
    """Freeze, travel, advance or resume; everything that is due then happens."""
    world = request.world
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
