"""Scenarios of encrypted chat: refusals that only chats have."""

from __future__ import annotations

import pytest

from tests.scenario.library.support import Stage


@pytest.mark.parametrize(
    ("name", "operation", "status", "text"),
    [
        ("chat-group-full", "chat_members.create", 400, "exceed the allowed group size."),
        ("chat-members-unavailable", "chat_members.create", 400, "cannot be added to this conv"),
        ("chat-admin-required", "chat_members.create", 403, "Only an admin of the group"),
        ("chat-keys-missing", "chat_messages.create", 400, "has no keys yet"),
        ("chat-key-outdated", "chat_messages.create", 400, "[1790000000000]."),
    ],
)
def test_a_chat_is_refused(name: str, operation: str, status: int, text: str) -> None:
    """The refusal has its text, and nothing is stored."""
    stage = Stage(name)
    answer = stage.ask(operation)

    assert status == answer.status_code
    assert text in answer.text
    assert [] == list(stage.last.changes)
