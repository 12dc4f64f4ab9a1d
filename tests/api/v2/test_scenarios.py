"""Scenarios of the package that refuse what only single families of the v2 interface refuse."""

from __future__ import annotations

import pytest

from tests.scenario.library.support import Stage


@pytest.mark.parametrize(
    ("name", "operation", "status", "text"),
    [
        ("bookmark-folder-missing", "bookmarks.create", 400, "Could not find folder with folder_"),
        ("bookmarked-post-missing", "bookmarks.create", 400, "This post cannot be found."),
        ("broadcast-chat-closed", "broadcast_chat.send", 400, "its chat is closed"),
        ("broadcast-chat-muted", "broadcast_chat.send", 403, "You are muted"),
        ("broadcast-not-manual", "scheduled_broadcasts.start", 400, "it begins by itself"),
        ("chat-admin-required", "chat_members.create", 403, "Only an admin of the group"),
        ("chat-group-full", "chat_members.create", 400, "exceed the allowed group size."),
        ("chat-key-outdated", "chat_messages.create", 400, "[1790000000000]."),
        ("chat-keys-missing", "chat_messages.create", 400, "has no keys yet"),
        ("chat-members-unavailable", "chat_members.create", 400, "cannot be added to this conv"),
        ("like-of-edited-post", "likes.create", 403, "a Post that has been edited."),
        ("liked-post-missing", "likes.create", 400, "This post cannot be found."),
        ("list-full", "list_members.create", 400, "already has 5,000 members"),
        ("list-not-owned", "list_members.create", 403, "not allowed to add members"),
        ("list-pins-full", "pinned_lists.create", 400, "already pinned 5 Lists"),
        ("list-private", "lists.get", 404, "Could not find list with id: ["),
        ("lists-too-many", "lists.create", 400, "already own 1,000 Lists"),
        ("reply-not-hideable", "public_posts.hide", 403, "not permitted"),
        ("repost-not-permitted", "reposts.create", 403, "not permitted"),
        ("repost-repeated", "reposts.create", 400, "already reposted"),
        ("space-buyers-refused", "spaces.buyers", 403, "not permitted to see the buyers"),
        ("space-canceled", "spaces.get", 404, "Could not find space with id: ["),
    ],
)
def test_refusals(name: str, operation: str, status: int, text: str) -> None:
    """The refusal has its text without a record that is so, and nothing is stored."""
    stage = Stage(name)
    answer = stage.ask(operation)
    assert (status, True) == (answer.status_code, text in answer.text), answer.text
    assert [] == list(stage.last.changes)
