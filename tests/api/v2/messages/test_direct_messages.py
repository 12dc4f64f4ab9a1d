"""Records of direct messages: what belongs to which kind of event."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.messages.conversations import TABLES

MESSAGE: dict[str, Any] = {
    "id": "7",
    "dm_conversation_id": "1-2",
    "sender_id": "1",
    "text": "Hello",
    "created_at": "2026-11-20T12:00:00.000Z",
    "_participants": ["1", "2"],
}
JOIN = {"event_type": "ParticipantsJoin", "text": None, "participant_ids": ["2"]}


def load(**changes: Any) -> list[str]:
    """The fields of a changed message that have faults; None leaves a field out."""
    record = {name: value for name, value in (MESSAGE | changes).items() if value is not None}
    return [name for name, _ in TABLES[0].load(record)[1]]


@pytest.mark.parametrize(
    "changes", [{}, JOIN, {"text": None, "_media_keys": ["3_1"]}, {"dm_conversation_id": "99"}]
)
def test_taken(changes: dict[str, Any]) -> None:
    """Messages with text or media, joins, and groups are taken."""
    assert [] == load(**changes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": None}, "text"),
        ({"participant_ids": ["2"]}, "participant_ids"),
        (JOIN | {"participant_ids": None}, "participant_ids"),
        ({"sender_id": "3"}, "_participants"),
        ({"dm_conversation_id": "2-1"}, "dm_conversation_id"),
        ({"dm_conversation_id": "x"}, "dm_conversation_id"),
        ({"event_type": "MessageEdit"}, "event_type"),
    ],
)
def test_refused(changes: dict[str, Any], field: str) -> None:
    """What does not fit together is named."""
    assert [field] == load(**changes)
