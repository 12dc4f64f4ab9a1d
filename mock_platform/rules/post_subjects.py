"""Stored posts as rules and searches see them."""

from __future__ import annotations

from typing import Any

from mock_platform.rules.post_rules.operators import Product
from mock_platform.rules.post_rules.subject import Subject
from mock_platform.rules.post_view import find_references, show_post
from mock_platform.store.interface import Record
from mock_platform.world.world import World

_FIELDS = frozenset(
    {
        "id", "author_id", "attachments", "conversation_id", "entities", "geo",
        "in_reply_to_user_id", "lang", "public_metrics", "referenced_posts",
    }
)  # fmt: skip


def make_subject(world: World, post: Record, product: Product) -> Subject:
    """Return a post with its whole text, its author and what it refers to, for rules to match."""
    posts = {
        target: _show(world, referenced)
        for target in find_references(post).values()
        if (referenced := world.store.get("posts", target)) is not None
    }
    ids = [post["_user_id"], post.get("in_reply_to_user_id_str")]
    ids += [one["author_id"] for one in posts.values()]
    users = {
        user["id"]: {"username": user["screen_name"], "verified": user["verified"]}
        for user_id in ids
        if user_id and (user := world.store.get("users", user_id)) is not None
    }
    return Subject(_show(world, post), product, users, posts)


def _show(world: World, post: Record) -> dict[str, Any]:
    shown = show_post(world, post, _FIELDS)
    # Entities are left out if there are none; a rule would then look for some in the text.
    shown.setdefault("entities", {})
    return shown | {"text": post["full_text"], "nullcast": bool(post.get("nullcast"))}
