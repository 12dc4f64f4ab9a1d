"""Lets something believable happen to posts: made, deleted, answered, quoted, reposted, liked."""

from __future__ import annotations

from collections.abc import Mapping

from mock_platform.rules.activities import FanOut, record_activity
from mock_platform.rules.post_view import show_whole_post
from mock_platform.rules.posts import create_post, delete_post
from mock_platform.rules.public_users import find_newest_post, show_user
from mock_platform.rules.sample_users import CannotHappen, Happening, find_other_user
from mock_platform.store.interface import Record
from mock_platform.world.clock import epoch_millis, parse_instant
from mock_platform.world.world import World

_TEXTS = (
    "Fresh this morning, and gone by noon.",
    "Open until seven today. Come by.",
    "A quiet day, with good light.",
    "What should we make next?",
    "Thank you all for the kind words.",
)


def _make(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    return create_post(world, user, _choose_text(world), created_at=created_at).activities


def _delete(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    post = find_newest_post(world, user["id"])
    if post is None:
        raise CannotHappen(f"user {user['id']} has no post that could be deleted")
    return delete_post(world, post, created_at=created_at)


def _mention(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    other = find_other_user(world, user)
    text = f"@{user['screen_name']} {_choose_text(world)}"
    return create_post(world, other, text, created_at=created_at).activities


def _reply(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    other, post = find_other_user(world, user), _find_post(world, user, created_at)
    text = f"@{user['screen_name']} {_choose_text(world)}"
    return create_post(world, other, text, reply_to=post, created_at=created_at).activities


def _quote(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    other, post = find_other_user(world, user), _find_post(world, user, created_at)
    text = _choose_text(world)
    return create_post(world, other, text, quoted=post, created_at=created_at).activities


def _repost(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    other, post = find_other_user(world, user), _find_post(world, user, created_at)
    text = f"RT @{user['screen_name']}: {post['full_text']}"
    return create_post(world, other, text, reposted=post, created_at=created_at).activities


def _like(world: World, user: Record, created_at: str, direction: str | None) -> list[FanOut]:
    """Let a user like another's newest post, or with direction `received` the other way round."""
    other = find_other_user(world, user)
    liker, author = (other, user) if direction == "received" else (user, other)
    post = _find_post(world, author, created_at)
    liked = post | {"favorite_count": post["favorite_count"] + 1}
    world.store.put("posts", post["id_str"], liked)
    counted = liker | {"favourites_count": liker["favourites_count"] + 1}
    world.store.put("users", liker["id"], counted)
    payload = {
        "id": f"{world.ids.snowflake():0>32}",
        "created_at": created_at,
        "timestamp_ms": epoch_millis(parse_instant(created_at)),
        "liked_post_id": post["id_str"],
        "liked_post_author_id": author["id"],
    }
    includes = {
        "users": [show_user(counted), show_user(author)],
        "posts": [show_whole_post(world, liked)],
    }
    return [
        record_activity(
            world,
            "like.create",
            user_id=one["id"],
            payload=payload,
            includes=includes,
            direction=way,
            created_at=created_at,
        )
        for one, way in ((liker, "sent"), (author, "received"))
    ]


POST_HAPPENINGS: Mapping[str, Happening] = {
    "post.create": _make,
    "post.delete": _delete,
    "post.mention.create": _mention,
    "post.reply.create": _reply,
    "post.quote.create": _quote,
    "post.repost.create": _repost,
    "like.create": _like,
}


def _find_post(world: World, user: Record, created_at: str) -> Record:
    """Return the user's newest post; make one if the user has none."""
    found = find_newest_post(world, user["id"])
    if found is not None:
        return found
    return create_post(world, user, _choose_text(world), created_at=created_at).record


def _choose_text(world: World) -> str:
    return _TEXTS[int(world.ids.digits(4)) % len(_TEXTS)]
