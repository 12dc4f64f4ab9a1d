"""`disconnect: {type, after_lines, after_seconds, line, fault}` — a stream ends, or goes silent.

The rule acts when the stream is opened. What it asks for happens later, on the real clock, or after
that many lines; with neither it happens at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.streams.stream import (
    DISCONNECT,
    Ending,
    PlannedEnd,
    Stream,
    make_problem_line,
)
from mock_platform.core.call import FaultKind, Reply
from mock_platform.core.documents.forms import (
    AnyForm,
    EntriesForm,
    FlagForm,
    TypedForm,
    WholeForm,
    WordForm,
    make_keyed,
    make_object,
)
from mock_platform.core.failures.problems import DISCONNECT_TYPES, problem
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.effects.effect import DELAY, EffectKind, Staging
from mock_platform.scenario.effects.fault import FAULTS
from mock_platform.world.clock import read_seconds

_TYPE = "UpstreamOperationalDisconnect"
_PROBLEMS = ("client-disconnected", "usage-capped")
"""Problems that a last line may have in place of operational-disconnect."""
_REASON = "scenario"


class DisconnectEffect(Struct, frozen=True):
    """Ends a stream, with or without a last line, or breaks its connection."""

    type: str = _TYPE
    after_lines: int | None = None
    after_seconds: float | None = None
    line: bool | Mapping[str, Any] = True
    fault: FaultKind | None = None

    def treat(self, staging: Staging, reply: Reply) -> Reply:
        """Return the reply; its stream will end as planned."""
        stream = reply.stream
        if isinstance(stream, Stream):
            ending = Ending(_REASON, self._make_line(staging.call.base_url), self.fault)
            stream.plan(PlannedEnd(ending, self.after_lines, self.after_seconds))
        else:
            staging.call.warn("the scenario's disconnect had no stream to act on")
        return reply

    def _make_line(self, base_url: str) -> bytes:
        if isinstance(self.line, Mapping):
            made = dumps(self.line) + b"\r\n"
        elif not self.line:
            return b""
        elif self.type in _PROBLEMS:
            made = make_problem_line(problem(self.type), base_url)
        else:
            made = make_problem_line(problem(DISCONNECT, disconnect_type=self.type), base_url)
        return made[: len(made) // 2] if self.fault == "truncate" else made


def _make(value: Mapping[str, Any]) -> DisconnectEffect:
    given = value["disconnect"]
    fault, after = given.get("fault"), given.get("after_seconds")
    return DisconnectEffect(
        given.get("type", _TYPE),
        given.get("after_lines"),
        None if after is None else read_seconds(after),
        given.get("line", fault is None or fault == "truncate"),
        fault,
    )


_LINE = TypedForm(
    flag=FlagForm(),
    object=EntriesForm(AnyForm(), least=0),
    what="whether there is a last line, or the JSON object of the last line",
)
KIND = EffectKind(
    "disconnect",
    _make,
    form=make_keyed(
        "disconnect",
        make_object(
            {
                "type": (
                    WordForm((*DISCONNECT_TYPES, *_PROBLEMS)),
                    "The `disconnect_type` of the last line, or the problem that it is.",
                    _TYPE,
                ),
                "after_lines": (WholeForm(0, 1_000_000), "After this number of lines.", "at once"),
                "after_seconds": (DELAY, "After so long in real time.", "at once"),
                "line": (
                    _LINE,
                    "Whether there is a last line, or that line.",
                    "true; false with a fault other than truncate",
                ),
                "fault": (
                    WordForm(FAULTS),
                    "How the connection breaks; with timeout it stays open and silent.",
                    "the stream ends in order",
                ),
            }
        ),
        "The stream that the request opens ends with a last line of this type, or breaks; with the "
        "fault timeout it only goes silent.",
    ),
    acts_on="operation",
)
