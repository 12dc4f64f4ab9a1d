"""What likes change: the relation with its counts, and the activities.

Operations, `POST /_mock/events` and the control plane like and unlike here.
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.objects.post_view import show_whole_post
from mock_platform.api.v2.objects.relations import LIKES
from mock_platform.api.v2.objects.users import show_user
from mock_platform.core.assumptions import expectation
from mock_platform.world.clock import epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

LIKE_EVENTS = expectation(
    "likes.events",
    "A like of a post of one's own is sent alone, not received. A like of a post of a protected "
    "user is no activity. To unlike is no event.",
)


def like(
    world: World, user: Record, post: Record, *, created_at: str | None = None
) -> list[FanOut]:
    """Let a user like a post, and return the activities; none if it is nothing new.

    `post` is no repost. Called within `world.work()`.
    """
    post_id, author_id = post["id_str"], post["_user_id"]
    if not LIKES.add(world, user["id"], post_id):
        return []
    author = world.store.get("users", author_id)
    if author is None or author["protected"]:
        return []
    moment = created_at or wire_millis(world.clock.now())
    payload = {
        "id": f"{world.ids.snowflake():0>32}",
        "created_at": moment,
        "timestamp_ms": epoch_millis(parse_instant(moment)),
        "liked_post_id": post_id,
        "liked_post_author_id": author_id,
    }
    # With the counts that the like has made.
    both = (world.store.get("users", id_) for id_ in dict.fromkeys([user["id"], author_id]))
    liked = world.store.get("posts", post_id) or post
    includes = {
        "users": [show_user(world, one) for one in both if one is not None],
        "posts": [show_whole_post(world, liked)],
    }
    happened: dict[str, Any] = {"payload": payload, "includes": includes, "created_at": moment}
    ways = {author_id: "received", user["id"]: "sent"}
    return [
        record_activity(world, "like.create", user_id=id_, direction=ways[id_], **happened)
        for id_ in dict.fromkeys([user["id"], author_id])
    ]


def unlike(world: World, user: Record, post: Record) -> bool:
    """End a like, which is no activity; return whether there was one."""
    return LIKES.remove(world, user["id"], post["id_str"])
