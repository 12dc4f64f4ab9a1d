"""Lets something believable happen to a user: a post, a like, a follow, a message.

`POST /_mock/events` asks for it. The records change with it, so that what an event says is also
what the interface answers afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.messages.conversations import (
    NEWEST_FIRST,
    TABLE,
    name_conversation,
    send_message,
    show_users,
)
from mock_platform.api.v2.objects.post_view import show_whole_post
from mock_platform.api.v2.objects.user_view import find_newest_post, show_user
from mock_platform.api.v2.posts.changes import create_post, delete_post
from mock_platform.api.v2.release_history import canonicalize_name
from mock_platform.world.clock import epoch_millis, parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# Who takes part in what happens on command, and what one user does to another.

Happening = Callable[[World, Record, str, str | None], list[FanOut]]
"""Lets something happen to a user at a moment, in a direction if one is given; the activities."""


class CannotHappen(ValueError):
    """What was asked for cannot happen; the text says why, and what to do."""


def find_other_user(world: World, user: Record) -> Record:
    """Return the first other user of a world, one who is not protected if there is one.

    Raises:
        CannotHappen: The world has no other user.
    """
    others = [e.record for e in world.store.page("users", limit=100) if e.key != user["id"]]
    if not others:
        raise CannotHappen("payload is required: the world has no other user")
    return next((one for one in others if not one["protected"]), others[0])


def _make_follow(event_type: str, step: int) -> Happening:
    """Return what lets a user follow another, or no longer; `step` is added to their counts."""

    def happen(world: World, user: Record, created_at: str, direction: str | None) -> list[FanOut]:
        other = find_other_user(world, user)
        source, target = (other, user) if direction == "received" else (user, other)
        source = source | {"friends_count": max(0, source["friends_count"] + step)}
        target = target | {"followers_count": max(0, target["followers_count"] + step)}
        for one in (source, target):
            world.store.put("users", one["id"], one)
        payload = {"source": {"data": show_user(source)}, "target": {"data": show_user(target)}}
        return [
            record_activity(
                world,
                event_type,
                user_id=one["id"],
                payload=payload,
                direction=way,
                created_at=created_at,
            )
            for one, way in ((source, "sent"), (target, "received"))
        ]

    return happen


USER_HAPPENINGS: Mapping[str, Happening] = {
    "follow.follow": _make_follow("follow.follow", 1),
    "follow.unfollow": _make_follow("follow.unfollow", -1),
}


# Believable payloads for activities around direct messages and encrypted chats.

_TEXTS = (
    "Are you at the market on Saturday?",
    "The parcel arrived, thank you!",
    "Which roast goes best with milk?",
    "Can you send me the invoice again?",
)
_LISTS = {
    "dm.read": "direct_message_mark_read_events",
    "dm.indicate_typing": "direct_message_indicate_typing_events",
}


def _send(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    return _exchange(world, user, find_other_user(world, user), created_at)


def _receive(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    return _exchange(world, find_other_user(world, user), user, created_at)


def _exchange(world: World, sender: Record, recipient: Record, created_at: str) -> list[FanOut]:
    """Send a message from one user to another."""
    participants = [sender["id"], recipient["id"]]
    text = _TEXTS[int(world.ids.digits(4)) % len(_TEXTS)]
    return send_message(
        world,
        name_conversation(*participants),
        participants,
        sender["id"],
        {"text": text},
        created_at=created_at,
    ).activities


MESSAGE_HAPPENINGS: Mapping[str, Happening] = {"dm.sent": _send, "dm.received": _receive}


def make_message_payload(world: World, name: str, user: Record, other: Record) -> dict[str, Any]:
    """Make up a payload of dm.read or dm.indicate_typing: what the other user does."""
    event = {
        "created_timestamp": epoch_millis(world.clock.now()),
        "sender_id": other["id"],
        "target": {"recipient_id": user["id"]},
    }
    if name == "dm.read":
        event["last_read_event_id"] = _find_last_message(world, user, other)
    return {_LISTS[name]: [event], "users": show_users(world, other["id"], user["id"])}


def _find_last_message(world: World, user: Record, other: Record) -> str:
    """Return the id of the newest message of a user to another, or of one that is unknown."""
    match = {
        "dm_conversation_id": name_conversation(user["id"], other["id"]),
        "sender_id": user["id"],
    }
    found = world.store.page(TABLE, match, order=NEWEST_FIRST, limit=1)
    return found[0].key if found else world.ids.snowflake()


def make_chat_payload(world: World, name: str, user: Record, other: Record) -> dict[str, Any]:
    """Make up a payload of chat.*, whose content is encrypted."""
    sender = user if name == "chat.sent" else other
    return {
        "id": world.ids.snowflake(),
        "conversation_id": name_conversation(user["id"], other["id"]),
        "conversation_token": world.ids.alphanumeric(32),
        "sender_id": sender["id"],
        "created_at_msec": epoch_millis(world.clock.now()),
        "conversation_key_version": epoch_millis(world.clock.now()),
        "conversation_key_change_event": world.ids.alphanumeric(64),
        "encoded_event": world.ids.alphanumeric(64),
        "message_event_signature": {
            "message_id": world.ids.snowflake(),
            "signature": world.ids.alphanumeric(64),
            "public_key_version": epoch_millis(world.clock.now()),
            "signature_version": "1",
        },
    }


# Lets something believable happen to posts: made, deleted, answered, quoted, reposted, liked.

_SAMPLE_POSTS_TEXTS = (
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
    return _SAMPLE_POSTS_TEXTS[int(world.ids.digits(4)) % len(_SAMPLE_POSTS_TEXTS)]


_HAPPENINGS: Mapping[str, Happening] = {
    **POST_HAPPENINGS,
    **USER_HAPPENINGS,
    **MESSAGE_HAPPENINGS,
}


def is_happening(event_type: str) -> bool:
    """Return whether events of a type are about records that change with them."""
    return canonicalize_name(event_type) in _HAPPENINGS


def happen(
    world: World, event_type: str, user: Record, *, created_at: str, direction: str | None
) -> FanOut:
    """Let something happen to a user, and return the activity of that user.

    Called within `world.work()`.

    Raises:
        CannotHappen: It cannot happen.
    """
    name = canonicalize_name(event_type)
    if user["protected"] and name in POST_HAPPENINGS:
        text = f"user {user['id']} is protected: what happens to posts of such users is no event"
        raise CannotHappen(text)
    found = _HAPPENINGS[name](world, user, created_at, direction)
    for fan_out in found:
        activity = fan_out.activity
        if (activity["event_type"], activity["user_id"]) != (name, user["id"]):
            continue
        if direction in {None, activity["direction"]}:
            return fan_out
    raise CannotHappen("the other users of the world are protected: what they do is no event")
