"""Stored posts as rules and searches see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.rules.post_rules.operators import Product
from mock_platform.rules.post_rules.subject import Subject
from mock_platform.rules.post_view import find_conversation, find_references, show_entities
from mock_platform.store.interface import Record
from mock_platform.world.world import World


def make_subject(
    world: World, post: Record, product: Product, *, without_text: bool = False
) -> Subject:
    """Return a post with its whole text, its author and what it refers to, for rules to match.

    `without_text` leaves the text out, so that no word is found in it.
    """
    posts = {
        target: _show(world, referenced)
        for target in find_references(post).values()
        if (referenced := world.store.get("posts", target)) is not None
    }
    ids = [post["_user_id"], post.get("in_reply_to_user_id_str")]
    ids += [one["author_id"] for one in posts.values()]
    users: dict[str, dict[str, Any]] = {}
    for user_id in filter(None, ids):
        users |= _find_user(world, user_id)
    shown = _show(world, post)
    if without_text:
        shown["text"] = ""
    return Subject(shown, product, users, posts)


def make_object_subject(
    world: World,
    post: Mapping[str, Any],
    product: Product,
    includes: Mapping[str, Any] | None = None,
) -> Subject:
    """Return a v2 object of a post for rules to match; it need not be stored.

    What it refers to is found in `includes`, and otherwise among the stored records.
    """
    included = includes or {}
    users = {user["id"]: user for user in included.get("users") or ()}
    posts = {one["id"]: one for one in included.get("posts") or ()}
    for reference in post.get("referenced_posts") or ():
        stored = world.store.get("posts", reference["id"])
        if reference["id"] not in posts and stored is not None:
            posts[reference["id"]] = _show(world, stored)
    ids = [post.get("author_id"), post.get("in_reply_to_user_id")]
    ids += [one.get("author_id") for one in posts.values()]
    for user_id in ids:
        if user_id and user_id not in users:
            users |= _find_user(world, user_id)
    return Subject(post, product, users, posts)


def _find_user(world: World, user_id: str) -> dict[str, dict[str, Any]]:
    user = world.store.get("users", user_id)
    if user is None:
        return {}
    return {user_id: {"username": user["screen_name"], "verified": user["verified"]}}


def _show(_world: World, post: Record) -> dict[str, Any]:
    """Return what rules read of a post, and no more: a search asks for this thousands of times."""
    entities, place = post.get("entities"), post.get("place")
    shown: dict[str, Any] = {
        "id": post["id_str"],
        "text": post["full_text"],
        "author_id": post["_user_id"],
        "conversation_id": find_conversation(post),
        "in_reply_to_user_id": post.get("in_reply_to_user_id_str"),
        "lang": post.get("lang"),
        "nullcast": bool(post.get("nullcast")),
        # Entities that are left out would be looked for in the text.
        "entities": (show_entities(entities) or {}) if entities else {},
        "attachments": {"media_keys": post.get("_media_keys") or ()},
        "geo": place or post.get("coordinates"),
        "public_metrics": {
            "like_count": post.get("favorite_count") or 0,
            "reply_count": post.get("_reply_count") or 0,
            "repost_count": post.get("repost_count") or 0,
        },
        "referenced_posts": [
            {"type": kind, "id": target} for kind, target in find_references(post).items()
        ],
    }
    return shown
