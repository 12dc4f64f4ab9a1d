"""Runs a rule that acts: changes, gate, its answer or the handler's, then treatments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mock_platform.core.call import Call, Reply
from mock_platform.core.failures.errors import Failure
from mock_platform.core.failures.rendering import render
from mock_platform.scenario.effects.effect import (
    AnswerEffect,
    ChangeEffect,
    Effect,
    GateEffect,
    Staging,
    TreatmentEffect,
)
from mock_platform.scenario.effects.fault import FaultEffect
from mock_platform.world.world import World


class _UndoAttempt(Exception):
    """Carries a reply out of an attempt that is to be undone."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


def perform(
    effects: Sequence[Effect], staging: Staging, proceed: Callable[[Call, World], Reply]
) -> Reply:
    """Return the reply to a request on which a rule acts.

    Changes of the rule stay even if the request fails; changes of the handler are undone then, as
    always, and also by a fault before the commit.
    """
    for effect in effects:
        if isinstance(effect, ChangeEffect):
            effect.change(staging)
    undo = any(isinstance(effect, FaultEffect) and effect.undoes_changes for effect in effects)
    reply = _answer(effects, staging, proceed, undo=undo)
    for effect in effects:
        if isinstance(effect, TreatmentEffect):
            reply = effect.treat(staging, reply)
    return reply


def _answer(
    effects: Sequence[Effect],
    staging: Staging,
    proceed: Callable[[Call, World], Reply],
    *,
    undo: bool,
) -> Reply:
    call, world = staging.call, staging.world

    def handle() -> Reply:
        return proceed(call, world)

    answer = next((effect for effect in effects if isinstance(effect, AnswerEffect)), None)
    gate = next((effect for effect in effects if isinstance(effect, GateEffect)), None)

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
                raise _UndoAttempt(reply)  # noqa: TRY301 - only an exception undoes an attempt
            return reply
    except Failure as failure:
        return render(failure, call)
    except _UndoAttempt as undone:
        return undone.reply
