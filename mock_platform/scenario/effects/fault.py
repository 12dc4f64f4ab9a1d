"""`fault: reset | empty | truncate | garbage | timeout` — the network loses the answer.

With `stage: before_commit`, the default, the request changes nothing; with `after_commit` its
changes are kept, and the client cannot know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.call import FaultKind, Reply, Sending
from mock_platform.core.documents.forms import WordForm, make_object
from mock_platform.scenario.effects.effect import EffectKind, Staging

FAULTS = ("reset", "empty", "truncate", "garbage", "timeout")
BEFORE_COMMIT, AFTER_COMMIT = "before_commit", "after_commit"


class FaultEffect(Struct, frozen=True):
    """Loses or damages the answer on its way to the client."""

    fault: FaultKind
    stage: str = BEFORE_COMMIT

    @property
    def undoes_changes(self) -> bool:
        """Whether the changes of the handler are undone."""
        return self.stage == BEFORE_COMMIT

    def treat(self, staging: Staging, reply: Reply) -> Reply:
        """Return the reply, marked to be sent with this fault."""
        before, committed = reply.sending or Sending(), not self.undoes_changes
        return replace(reply, sending=replace(before, fault=self.fault, is_committed=committed))


def _make(value: Mapping[str, Any]) -> FaultEffect:
    return FaultEffect(value["fault"], value.get("stage", BEFORE_COMMIT))


KIND = EffectKind(
    "fault",
    _make,
    form=make_object(
        {
            "fault": (
                WordForm(FAULTS),
                "reset and empty: no answer; truncate: half of it; garbage: no HTTP; timeout: "
                "silence on an open connection.",
            ),
            "stage": (
                WordForm((BEFORE_COMMIT, AFTER_COMMIT)),
                "Whether the changes of the request are undone (before_commit) or kept.",
                BEFORE_COMMIT,
            ),
        },
        required=("fault",),
        description="A fault of the network, before or after the request is committed.",
    ),
    needs_connection=True,
)
