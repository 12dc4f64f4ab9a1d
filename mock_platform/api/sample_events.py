"""Lets something believable happen to a user: a post, a like, a follow, a message.

`POST /_mock/events` asks for it. The records change with it, so that what an event says is also
what the interface answers afterwards. Where no records are about it, a payload is made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mock_platform.api.oauth.consent.tokens import end_access, make_revocation
from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.broadcasts.changes import begin_new, end, find_running, write_message
from mock_platform.api.v2.chat.events import invent_message
from mock_platform.api.v2.likes.changes import like
from mock_platform.api.v2.messages.conversations import (
    NEWEST_FIRST,
    TABLE,
    make_notice,
    name_conversation,
    send_message,
)
from mock_platform.api.v2.news.stories import add_story, show_news_event
from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    FOLLOWS,
    LIKES,
    MUTES,
    Relation,
    is_blocked,
    is_present,
)
from mock_platform.api.v2.objects.users import find_newest_post, name_verification
from mock_platform.api.v2.posts.changes import (
    create_post,
    delete_post,
    find_reposts,
    repost,
)
from mock_platform.api.v2.release_history import canonicalize_name
from mock_platform.api.v2.spaces.changes import add_space, end_space, find_space, start_space
from mock_platform.api.v2.spaces.records import LIVE, SCHEDULED
from mock_platform.api.v2.user_relations.changes import (
    RelationChange,
    block,
    follow,
    mute,
    unblock,
    unfollow,
    unmute,
)
from mock_platform.api.v2.users.profile import (
    FIELDS_BY_EVENT,
    make_banner_address,
    make_picture_address,
)
from mock_platform.world.clock import epoch_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# Who takes part in what happens on command, and what one user does to another.

Payload = dict[str, Any]
Happening = Callable[[World, Record, str, str | None], list[FanOut]]
"""Lets something happen to a user at a moment, in a direction if one is given; the activities."""


class CannotHappen(ValueError):
    """What was asked for cannot happen; the text says why, and what to do."""


def find_other_user(
    world: World, user: Record, is_wanted: Callable[[Record], bool] = lambda _: True
) -> Record:
    """Return the first other user of a world, if possible one who is not protected and wanted.

    Raises:
        CannotHappen: The world has no other user.
    """
    found = world.store.page("users", limit=100, where=is_present)
    others = [entry.record for entry in found if entry.key != user["id"]]
    if not others:
        raise CannotHappen("payload is required: the world has no other user")
    return min(others, key=lambda one: (one["protected"], not is_wanted(one)))


def _record_both(
    world: World, event_type: str, sender: Record, receiver: Record, **happened: Any
) -> list[FanOut]:
    """Record what one user did to another: as sent by the one, and as received by the other."""
    return [
        record_activity(world, event_type, user_id=one["id"], direction=way, **happened)
        for one, way in ((sender, "sent"), (receiver, "received"))
    ]


def _relate(
    change: RelationChange,
    relation: Relation,
    world: World,
    user: Record,
    created_at: str,
    direction: str | None,
    *,
    begins: bool = True,
) -> list[FanOut]:
    """Let a user begin or end a relation with another; what is so already happens once more."""
    to_user = direction == "received" and relation is FOLLOWS

    def order(other: Record) -> tuple[Record, Record]:
        return (other, user) if to_user else (user, other)

    def is_separated(other: Record) -> bool:
        return begins and relation is FOLLOWS and is_blocked(world, user["id"], other["id"])

    def is_wanted(other: Record) -> bool:
        source, target = order(other)
        exists = relation.find(world, source["id"], target["id"]) is not None
        return exists != begins and not is_separated(other)

    other = find_other_user(world, user, is_wanted)
    if is_separated(other):
        raise CannotHappen(f"one of the users {user['id']} and {other['id']} blocks the other")
    source, target = order(other)
    if begins:
        relation.remove(world, source["id"], target["id"])
    else:  # one of those whom the counts of the fixtures know and the relations do not
        relation.add(world, source["id"], target["id"], counts=False)
    return change(world, source, target, created_at=created_at)


# Believable payloads for activities around direct messages and encrypted chats.

_TEXTS = (
    "Are you at the market on Saturday?",
    "The parcel arrived, thank you!",
    "Which roast goes best with milk?",
    "Can you send me the invoice again?",
)


def _exchange(
    world: World, user: Record, created_at: str, _direction: str | None, *, received: bool
) -> list[FanOut]:
    """Let a user send a message to another, or receive one."""
    other = find_other_user(world, user)
    sender, recipient = (other, user) if received else (user, other)
    participants = [sender["id"], recipient["id"]]
    text = {"text": _TEXTS[int(world.ids.digits(4)) % len(_TEXTS)]}
    conversation = name_conversation(*participants)
    sent = send_message(
        world, conversation, participants, sender["id"], text, created_at=created_at
    )
    return sent.activities


def _write(
    world: World, user: Record, created_at: str, _direction: str | None, *, received: bool
) -> list[FanOut]:
    """Let a user send an encrypted message to another, or receive one."""
    other = find_other_user(world, user)
    sender, recipient = (other, user) if received else (user, other)
    sent = invent_message(world, sender["id"], recipient["id"], created_at)
    if sent is not None:
        return sent
    name = "chat.received" if received else "chat.sent"
    payload = _chat(world, user, name)
    return [
        record_activity(world, name, user_id=user["id"], payload=payload, created_at=created_at)
    ]


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


def _refer(
    reference: str | None, world: World, user: Record, created_at: str, _direction: str | None
) -> list[FanOut]:
    """Let another user mention a user, or refer to the user's newest post."""
    other = find_other_user(world, user)
    referred = {} if reference is None else {reference: _find_post(world, user, created_at)}
    if reference == "reposted":
        post = referred["reposted"]
        if find_reposts(world, other["id"], post):
            post = create_post(world, user, _choose_text(world), created_at=created_at).record
        return repost(world, other, post, created_at=created_at).activities
    text = _choose_text(world)
    text = text if reference == "quoted" else f"@{user['screen_name']} {text}"
    return create_post(world, other, text, created_at=created_at, **referred).activities


def _like(world: World, user: Record, created_at: str, direction: str | None) -> list[FanOut]:
    """Let a user like another's post, or with direction `received` the other way round."""
    other = find_other_user(world, user)
    liker, author = (other, user) if direction == "received" else (user, other)

    def is_new(post: Record) -> bool:
        return LIKES.find(world, liker["id"], post["id_str"]) is None

    post = _find_post(world, author, created_at, is_new)
    return like(world, liker, post, created_at=created_at)


def _find_post(
    world: World,
    user: Record,
    created_at: str,
    is_wanted: Callable[[Record], bool] = lambda _: True,
) -> Record:
    """Return the user's newest post that is wanted and no repost, or a new one."""
    match = {"_user_id": user["id"], "_reposted_post_id": None}
    found = world.store.page("posts", match, order=NEWEST_FIRST, where=is_wanted, limit=1)
    if found:
        return found[0].record
    return create_post(world, user, _choose_text(world), created_at=created_at).record


def _choose_text(world: World) -> str:
    return _SAMPLE_POSTS_TEXTS[int(world.ids.digits(4)) % len(_SAMPLE_POSTS_TEXTS)]


def _broadcast(
    what: str, world: World, user: Record, created_at: str, _direction: str | None
) -> list[FanOut]:
    """Let a user begin a broadcast, or end the one that runs, or another user write in its chat."""
    running = None if what == "start" else find_running(world, user["id"])
    begun = [] if running else begin_new(world, user["id"], _choose_text(world), created_at)
    running = running or find_running(world, user["id"])
    if what == "start" or running is None:
        return begun
    if what == "end":
        return begun + end(world, running, created_at)
    other, text = find_other_user(world, user), {"text": _choose_text(world)}
    return begun + write_message(world, running, other, text, created_at)[1]


def _start_space(
    world: World, user: Record, created_at: str, _direction: str | None
) -> list[FanOut]:
    """Let the Space of a user begin that is scheduled, or a new one."""
    space = find_space(world, user, SCHEDULED) or add_space(world, user, _choose_text(world))
    return start_space(world, space, created_at=created_at)


def _end_space(world: World, user: Record, created_at: str, direction: str | None) -> list[FanOut]:
    """Let the live Space of a user end, or one that begins for that."""
    if find_space(world, user, LIVE) is None:
        _start_space(world, user, created_at, direction)
    space = find_space(world, user, LIVE)
    return [] if space is None else end_space(world, space, created_at=created_at)


POST_HAPPENINGS: Mapping[str, Happening] = {
    "post.create": _make,
    "post.delete": _delete,
    "post.mention.create": partial(_refer, None),
    "post.reply.create": partial(_refer, "reply_to"),
    "post.quote.create": partial(_refer, "quoted"),
    "post.repost.create": partial(_refer, "reposted"),
    "like.create": _like,
}
HAPPENINGS: Mapping[str, Happening] = {
    **POST_HAPPENINGS,
    "broadcast.start": partial(_broadcast, "start"),
    "broadcast.end": partial(_broadcast, "end"),
    "broadcast.chat": partial(_broadcast, "chat"),
    "follow.follow": partial(_relate, follow, FOLLOWS),
    "follow.unfollow": partial(_relate, unfollow, FOLLOWS, begins=False),
    "mute.mute": partial(_relate, mute, MUTES),
    "mute.unmute": partial(_relate, unmute, MUTES, begins=False),
    "block.block": partial(_relate, block, BLOCKS),
    "block.unblock": partial(_relate, unblock, BLOCKS, begins=False),
    "spaces.start": _start_space,
    "spaces.end": _end_space,
    "dm.sent": partial(_exchange, received=False),
    "dm.received": partial(_exchange, received=True),
    "chat.sent": partial(_write, received=False),
    "chat.received": partial(_write, received=True),
}


def is_happening(event_type: str) -> bool:
    """Return whether events of a type are about records that change with them."""
    return canonicalize_name(event_type) in HAPPENINGS


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
    found = HAPPENINGS[name](world, user, created_at, direction)
    for fan_out in found:
        activity = fan_out.activity
        if (activity["event_type"], activity["user_id"]) != (name, user["id"]):
            continue
        if direction is None or activity["direction"] in {None, direction}:
            return fan_out
    raise CannotHappen("the other users of the world are protected: what they do is no event")


# Payloads of what no records are about but the user's own.

_CHANGES: Mapping[str, Callable[[Any, World], Any]] = {
    "profile.update.bio": lambda old, world: f"{old} ({world.ids.digits(4)})",
    "profile.update.screenname": lambda _, world: f"user_{world.ids.digits(8)}",
    "profile.update.geo": lambda old, _: "Berlin" if old != "Berlin" else "Lisbon",
    "profile.update.url": lambda _, world: f"https://site-{world.ids.digits(6)}.example",
    "profile.update.profile_picture": lambda _, world: make_picture_address(world),
    "profile.update.banner_picture": lambda _, world: make_banner_address(world),
}
"""What the field of a user becomes that an update changes."""
_ORGANIZATIONS = frozenset({"business", "government"})


def make_payload(world: World, event_type: str, user: Record | None) -> Payload:
    """Make up what happened to a user, change the records accordingly, and return the payload.

    News happen without a user; other payloads are empty without one.

    Raises:
        CannotHappen: Events of this type need a payload.
    """
    name = canonicalize_name(event_type)
    if name == "news.new":
        return show_news_event(add_story(world))
    if user is None:
        return {}
    make = next((make for prefix, make in _MAKERS.items() if name.startswith(prefix)), None)
    if make is None:
        raise _refuse(event_type)
    return make(world, user, name)


def _refuse(event_type: str) -> CannotHappen:
    text = f"payload is required for {event_type}: none can be made up for this type"
    return CannotHappen(text)


def _update(world: World, user: Record, name: str) -> Payload:
    """Change a field of a user's profile."""
    if name not in _CHANGES:
        raise _refuse(name)
    field = FIELDS_BY_EVENT[name]
    before, after = user[field], _CHANGES[name](user[field], world)
    world.store.put("users", user["id"], user | {field: after})
    return {"before": before, "after": after}


def _verify(world: World, user: Record, _name: str) -> Payload:
    """Give a user the badge, or take it away."""
    changed = {name: value for name, value in user.items() if name != "verified_type"}
    changed["verified"] = not user["verified"]
    world.store.put("users", user["id"], changed)
    return {"before": name_verification(user), "after": name_verification(changed)}


def _affiliate(world: World, user: Record, _name: str) -> Payload:
    """Give a user the badge of an organization, or take it away."""
    before = user.get("affiliation") or {}
    after: Record = {}
    if not before:
        other = _find_organization(world, user)
        after = {
            "badge_url": other["profile_image_url_https"] or "",
            "description": other["name"],
            "user_id": [other["id"]],
        }
        if other["url"]:
            after["url"] = other["url"]
    world.store.put("users", user["id"], user | {"affiliation": after})
    return {"before": before.get("description", ""), "after": after.get("description", "")}


def _revoke(world: World, user: Record, _name: str) -> Payload:
    """Let a user take back the access of an app, with all its tokens."""
    match = {"user_id": user["id"], "state": "active"}
    found = world.store.page("tokens", match, limit=1)
    if not found:
        raise CannotHappen(f"payload is required: no app has a token of user {user['id']}")
    app_id = found[0].record["app_id"]
    end_access(world, app_id, user["id"])
    return make_revocation(world, app_id, user["id"])


def _find_organization(world: World, user: Record) -> Record:
    """Return the first other user who is an organization, or else any other."""
    found = world.store.page(
        "users",
        where=lambda one: one["id"] != user["id"] and name_verification(one) in _ORGANIZATIONS,
        limit=1,
    )
    return found[0].record if found else find_other_user(world, user)


def _message(world: World, user: Record, name: str) -> Payload:
    """Make up a payload of dm.read or dm.indicate_typing: what the other user does."""
    other = find_other_user(world, user)
    read = _find_last_message(world, user, other) if name == "dm.read" else None
    return make_notice(world, name, other["id"], user["id"], read=read)


def _find_last_message(world: World, user: Record, other: Record) -> str:
    """Return the id of the newest message of a user to another, or of one that is unknown."""
    match = {
        "dm_conversation_id": name_conversation(user["id"], other["id"]),
        "sender_id": user["id"],
    }
    found = world.store.page(TABLE, match, order=NEWEST_FIRST, limit=1)
    return found[0].key if found else world.ids.snowflake()


def _chat(world: World, user: Record, name: str) -> Payload:
    """Make up a payload of chat.*, whose content is encrypted."""
    other = find_other_user(world, user)
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


_MAKERS: Mapping[str, Callable[[World, Record, str], Payload]] = {
    "profile.update.verified": _verify,
    "profile.update.affiliate": _affiliate,
    "profile.update.": _update,
    "dm.": _message,
    "chat.": _chat,
    "oauth.revoke": _revoke,
}
"""What makes up a payload, by the beginning of the event's name; the first that fits."""
