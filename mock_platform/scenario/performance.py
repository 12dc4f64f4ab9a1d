"""What happens when a rule acts: changes, gate, its answer or the handler's, treatments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mock_platform.core.call import Call, Reply
from mock_platform.core.failures.errors import Failure
from mock_platform.core.failures.rendering import render
from mock_platform.scenario.effects.effect import (
    Answer,
    Change,
    Effect,
    Gate,
    Staging,
    Treatment,
)
from mock_platform.scenario.effects.fault import FaultEffect
from mock_platform.world.world import World


class _Undone(Exception):
    """Takes a reply out of an attempt that is to be undone."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


def perform(
    effects: Sequence[Effect], staging: Staging, proceed: Callable[[Call, World], Reply]
) -> Reply:
    """The reply to a request on which a rule acts.

    What the rule changes stays even if the request fails; what the handler changed is undone then,
    as it always is, and by a fault before the commit.
    """
    for effect in effects:
        if isinstance(effect, Change):
            effect.change(staging)
    undo = any(isinstance(effect, FaultEffect) and effect.undoes for effect in effects)
    reply = _answered(effects, staging, proceed, undo=undo)
    for effect in effects:
        if isinstance(effect, Treatment):
            reply = effect.treat(staging, reply)
    return reply


def _answered(
    effects: Sequence[Effect],
    staging: Staging,
    proceed: Callable[[Call, World], Reply],
    *,
    undo: bool,
) -> Reply:
    call, world = staging.call, staging.world

    def handle() -> Reply:
        return proceed(call, world)

    answer = next((effect for effect in effects if isinstance(effect, Answer)), None)
    gate = next((effect for effect in effects if isinstance(effect, Gate)), None)

    def reply_beyond_gate() -> Reply:
        return handle() if answer is None else answer.answer(staging, handle)

    try:
        with world.attempt():
            try:
                reply = (
                    reply_beyond_gate() if gate is None else gate.admit(staging, reply_beyond_gate)
                )
            except Failure as failure:
                if not failure.keeps_changes:
                    raise
                reply = render(failure, call)
            if undo:
                raise _Undone(reply)  # noqa: TRY301 - only an exception undoes an attempt
            return reply
    except Failure as failure:
        return render(failure, call)
    except _Undone as undone:
        return undone.reply
