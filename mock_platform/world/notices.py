"""What a world asks others to do after a commit, outside of its lock."""

from __future__ import annotations

from msgspec import Struct

RESTORED = "world:restored"
"""Topic of the notice that a world returned to a saved state; its key is the world's name."""
RETURNED = "world:returned"
"""Topic of the notice that a world was reset or returned to a saved state, whichever."""
PACED = "transitions:paced"
"""Topic of the notice that the progression of a kind changed; its key is the kind's name."""


class Notice(Struct, frozen=True):
    """Work that a committed request needs outside the world's lock: a job to start."""

    topic: str
    key: str
