"""What the control plane and its clients agree on: the token, exceptions sent by name.

A refusal for one of them contains it as `mistake`: its class, its text and its values. So a client
in Python raises the same exception as in the server's process, and a client in another language can
distinguish mistakes without reading texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.core.auth.tester_access import CannotApprove
from mock_platform.core.errors import (
    BadEvent,
    BadParameters,
    BadQuery,
    BadRecord,
    BadSnapshotName,
    CannotPerform,
    CaseTooLarge,
    NothingDue,
    RecordFault,
    TooManySnapshots,
    UnknownRecord,
    UnknownScenario,
    UnknownSnapshot,
    UnknownStream,
    UnknownTable,
    UnknownTransition,
)
from mock_platform.world.names import BadWorldName, TooManyWorlds, UnknownWorld
from mock_platform.world.store.errors import (
    StoreUnreachable,
    StoreUnwritable,
    WorldElsewhere,
    WorldLost,
)

TOKEN_HEADER = "X-Mock-Control-Token"
"""The header with the control token of the server."""


def _pairs(faults: Any) -> list[tuple[str, str]]:
    return [(field, text) for field, text in faults]


def _record_faults(faults: Any) -> list[RecordFault]:
    return [RecordFault(f["table"], f["record"], f["field"], f["message"]) for f in faults]


def _as_is(value: Any) -> Any:
    return value


class MistakeValue(Struct, frozen=True):
    """A value of an exception: how it is converted to JSON and back."""

    name: str
    write: Callable[[Any], Any] = _as_is
    read: Callable[[Any], Any] = _as_is


class Mistake(Struct, frozen=True):
    """An exception that is sent to clients."""

    kind: type[Exception]
    status: int | None
    """The status if the exception itself ends a request; `None` if a refusal contains it."""
    held: tuple[MistakeValue, ...] = ()


MISTAKES: tuple[Mistake, ...] = (
    Mistake(UnknownWorld, 404, (MistakeValue("name"),)),
    Mistake(UnknownTable, 404, (MistakeValue("name"),)),
    Mistake(CannotApprove, 422),
    Mistake(UnknownRecord, 404, (MistakeValue("table"), MistakeValue("key"))),
    Mistake(UnknownStream, None),
    Mistake(BadEvent, None, (MistakeValue("faults", _pairs, _pairs),)),
    Mistake(UnknownScenario, 404, (MistakeValue("name"),)),
    Mistake(UnknownSnapshot, 404, (MistakeValue("name"),)),
    Mistake(BadSnapshotName, 400),
    Mistake(TooManySnapshots, 409),
    Mistake(UnknownTransition, 404),
    Mistake(BadWorldName, 400),
    Mistake(TooManyWorlds, 409),
    Mistake(CannotPerform, 409),
    Mistake(NothingDue, 409),
    Mistake(CaseTooLarge, 413),
    Mistake(StoreUnwritable, 507),
    Mistake(StoreUnreachable, 503),
    Mistake(WorldElsewhere, 503, (MistakeValue("world"), MistakeValue("address"))),
    Mistake(WorldLost, 503, (MistakeValue("world"),)),
    Mistake(
        BadRecord,
        None,
        (MistakeValue("faults", lambda f: [e.as_json() for e in f], _record_faults),),
    ),
    Mistake(BadParameters, None, (MistakeValue("faults", _pairs, _pairs),)),
    Mistake(BadQuery, None, (MistakeValue("faults", _pairs, _pairs),)),
    Mistake(ValueError, None),
    Mistake(OverflowError, None),
)
_BY_KIND = {mistake.kind: mistake for mistake in MISTAKES}
_BY_NAME = {mistake.kind.__name__: mistake for mistake in MISTAKES}


def describe_mistake(fault: BaseException | None) -> dict[str, Any] | None:
    """Return an exception as JSON; `None` if it is not sent to clients."""
    mistake = None if fault is None else _BY_KIND.get(type(fault))  # type: ignore[arg-type]
    if mistake is None:
        return None
    held = {each.name: each.write(getattr(fault, each.name)) for each in mistake.held}
    return {"kind": mistake.kind.__name__, "message": str(fault), **held}


def rebuild_mistake(told: Mapping[str, Any]) -> Exception | None:
    """Return the exception from the JSON of `describe_mistake`; `None` if the kind is unknown."""
    mistake = _BY_NAME.get(told["kind"])
    if mistake is None:
        return None
    # Its constructor makes the text from values that only the server has.
    fault = mistake.kind.__new__(mistake.kind, told["message"])
    for each in mistake.held:
        setattr(fault, each.name, each.read(told[each.name]))
    return fault
