"""Making and deleting posts: the record, what it changes elsewhere, and its activities.

Operations of both interfaces, publishing an article and `POST /_mock/events` make posts here, so
that every post reaches the subscriptions and rules that match it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marshmallow import missing
from msgspec import Struct

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.objects.post_text import cut_repost, find_entities
from mock_platform.api.v2.objects.post_view import (
    find_conversation,
    find_references,
    list_versions,
    show_whole_post,
)
from mock_platform.api.v2.objects.posts import PostRecord
from mock_platform.api.v2.objects.relations import POST_RELATIONS, add_to_count, may_see_posts_of
from mock_platform.api.v2.objects.users import NEWEST_FIRST, show_user
from mock_platform.core.assumptions import public_fact
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record, Within
from mock_platform.world.world import World

POST_ACTIVITIES = public_fact(
    "posts.activities",
    "A post is a post.create of its author, and a post.mention.create, .reply.create, "
    ".quote.create or .repost.create of each other user concerned; a mention counts if it is not "
    "the user replied to. Posts of protected users are no activities. An edit is a post.create of "
    "the new version.",
    "section 3.3 of the named endpoints, envelope and payloads",
)
DELETED_VERSIONS = public_fact(
    "posts.deletion",
    "Deleting one version of a post deletes all of them, and the reposts of it; there is one "
    "post.delete, for the id that was deleted.",
    "section 7.1 of the named endpoints, DELETE",
)
_DEFAULTS = {
    name: field.load_default
    for name, field in PostRecord().load_fields.items()
    if field.load_default is not missing
}
_OWN_DEFAULTS = {name: make for name, make in _DEFAULTS.items() if callable(make)}
"""Those that no two posts may share: lists and objects."""
_NO_ENTITIES = ("hashtags", "symbols", "user_mentions", "urls")


class MadePost(Struct, frozen=True):
    """A post as it was stored, and what became of its activities."""

    record: Record
    activities: list[FanOut]


def create_post(
    world: World,
    author: Record,
    text: str,
    *,
    reply_to: Record | None = None,
    quoted: Record | None = None,
    reposted: Record | None = None,
    previous: Record | None = None,
    created_at: str | None = None,
    fields: Mapping[str, Any] | None = None,
) -> MadePost:
    """Store a post of a user, and record its activities; called within `world.work()`.

    `reply_to`, `quoted` and `reposted` are stored posts, `previous` is the version that the post
    replaces. `fields` are further fields of the record, in stored form.
    """
    now = world.clock.now()
    number = world.ids.snowflake(now)
    record = make_post_record(number, author["id"], created_at or wire_millis(now), text)
    record["entities"] = find_entities(world, text)
    if reply_to is not None:
        record |= _refer_to_reply(world, reply_to)
    if quoted is not None:
        record["_quoted_post_id"] = quoted["id_str"]
    if reposted is not None:
        record["_reposted_post_id"] = reposted["id_str"]
    if previous is not None:
        record |= _continue_history(world, previous, number)
    record |= fields or {}
    world.store.put("posts", number, record)
    if previous is None:
        _count_references(world, record, 1)
    _count_media(world, record, _list_media(record), _list_media(previous))
    return MadePost(record, record_post(world, record))


def repost(
    world: World,
    user: Record,
    post: Record,
    *,
    created_at: str | None = None,
    fields: Mapping[str, Any] | None = None,
) -> MadePost:
    """Store a user's repost of a post; its text is the beginning of the original's."""
    author = world.store.get("users", post["_user_id"]) or {}
    text = cut_repost(f"RT @{author.get('screen_name')}: {post['full_text']}")
    described = {"lang": post.get("lang"), **(fields or {})}
    return create_post(world, user, text, reposted=post, created_at=created_at, fields=described)


def find_reposts(world: World, user_id: str, post: Record) -> list[Record]:
    """Return the reposts of any version of a post that a user has made; at most one."""
    match = {"_user_id": user_id, "nullcast": False}
    within = Within("_reposted_post_id", list_versions(post))
    return [entry.record for entry in world.store.page("posts", match, within=within)]


def record_post(world: World, post: Record) -> list[FanOut]:
    """Record the activities of a post that was stored; none if its author is protected."""
    author = world.store.get("users", post["_user_id"])
    if author is None or author.get("protected"):
        return []
    payload = show_whole_post(world, post, is_new=not post["_edit_history"])
    referenced = _find_referenced_posts(world, post)
    users = dict.fromkeys([author["id"], *(one["_user_id"] for one in referenced)])
    known = [user for user in map(world.store.get, ["users"] * len(users), users) if user]
    includes = {
        "posts": [payload, *(show_whole_post(world, one) for one in referenced)],
        "users": [show_user(world, user) for user in known],
    }
    happened = {"payload": payload, "includes": includes, "created_at": post["created_at"]}
    return [
        record_activity(world, name, user_id=user_id, **happened)
        for name, user_id in [("post.create", author["id"]), *_find_concerned(world, post)]
    ]


def delete_post(world: World, post: Record, *, created_at: str | None = None) -> list[FanOut]:
    """Delete a post with all its versions, reposts and edges; within `world.work()`."""
    newest = world.store.get("posts", list_versions(post)[-1])
    _count_media(world, post, [], _list_media(newest))
    for version in list_versions(post):
        for entry in world.store.page("posts", {"_reposted_post_id": version}):
            remove_version(world, entry.key)
            if not entry.record["nullcast"]:
                add_to_count(world, "users", entry.record["_user_id"], "statuses_count", -1)
        remove_version(world, version)
    _count_references(world, post, -1)
    author = world.store.get("users", post["_user_id"])
    if author is not None and author.get("pinned_post_id") in list_versions(post):
        author = author | {"pinned_post_id": None}
        world.store.put("users", author["id"], author)
    if author is None or author.get("protected"):
        return []
    payload = {"id": post["id_str"], "author_id": author["id"]}
    includes = {"users": [{"data": show_user(world, author)}]}
    deletion = record_activity(
        world,
        "post.delete",
        user_id=author["id"],
        payload=payload,
        includes=includes,
        created_at=created_at,
    )
    return [deletion]


def remove_version(world: World, post_id: str) -> None:
    """Remove one version of a post, with what users did to it."""
    for relation in POST_RELATIONS:
        relation.remove_all(world, target=post_id)
    world.store.remove("posts", post_id)


def make_post_record(number: str, author_id: str, created_at: str, text: str) -> Record:
    """Return a post with every field that does not depend on anything else."""
    return {
        "id": int(number),
        "id_str": number,
        **_DEFAULTS,
        **{name: make() for name, make in _OWN_DEFAULTS.items()},
        "post_id": number,
        "created_at": created_at,
        "full_text": text,
        "display_text_range": [0, len(text)],
        "entities": {name: [] for name in _NO_ENTITIES},
        "scopes": {"followers": True},
        "nullcast": False,
        "_user_id": author_id,
    }


def _refer_to_reply(world: World, reply_to: Record) -> Record:
    """Return the fields that name the post and the user that a post replies to."""
    user = world.store.get("users", reply_to["_user_id"])
    return {
        "in_reply_to_status_id": reply_to["id"],
        "in_reply_to_status_id_str": reply_to["id_str"],
        "in_reply_to_user_id": int(reply_to["_user_id"]),
        "in_reply_to_user_id_str": reply_to["_user_id"],
        "in_reply_to_screen_name": None if user is None else user["screen_name"],
        "_conversation_id": find_conversation(reply_to),
    }


def _continue_history(world: World, previous: Record, number: str) -> Record:
    """Return what an edited post takes over; every version gets the longer history."""
    history = [*list_versions(previous), number]
    for version in history[:-1]:
        stored = world.store.get("posts", version)
        if stored is not None:
            world.store.put("posts", version, stored | {"_edit_history": history})
    for relation in POST_RELATIONS:
        relation.move_all(world, previous["id_str"], number)
    kept = {
        name: value
        for name, value in previous.items()
        if name.startswith(("in_reply_to_", "_quoted_", "_reposted_at", "_hidden", "_reply_"))
        or name.endswith("_count")
    }
    return {**kept, "_edit_history": history, "_conversation_id": find_conversation(previous)}


def _count_references(world: World, post: Record, step: int) -> None:
    """Count a new or deleted post in the posts that it refers to and in its author's posts."""
    counts = {"reposted": "repost_count", "quoted": "_quote_count", "replied_to": "_reply_count"}
    for kind, target in find_references(post).items():
        original = world.store.get("posts", target)
        for version in [] if original is None else list_versions(original):
            add_to_count(world, "posts", version, counts[kind], step)
        if kind == "reposted" and original is not None:
            _note_latest_repost(world, original)
    if not post["nullcast"]:
        add_to_count(world, "users", post["_user_id"], "statuses_count", step)


def _list_media(post: Record | None) -> list[str]:
    return [] if post is None else post.get("_media_keys") or []


def _count_media(world: World, post: Record, now: list[str], before: list[str]) -> None:
    """Count the media that a post has now, and had before, in those of its author."""
    if len(now) != len(before) and not post["nullcast"]:
        add_to_count(world, "users", post["_user_id"], "media_count", len(now) - len(before))


def _note_latest_repost(world: World, post: Record) -> None:
    """Write into a post when another user last reposted it, which a list is sorted by."""
    versions = list_versions(post)
    found = world.store.page(
        "posts",
        order=NEWEST_FIRST,
        limit=1,
        where=lambda repost: repost["_user_id"] != post["_user_id"],
        within=Within("_reposted_post_id", versions),
    )
    latest = found[0].record["created_at"] if found else None
    newest = world.store.get("posts", versions[-1]) or post
    world.store.put("posts", versions[-1], newest | {"_reposted_at": latest})


def _find_referenced_posts(world: World, post: Record) -> Sequence[Record]:
    """Return the posts that a post refers to and that everybody may see."""
    found = [world.store.get("posts", target) for target in find_references(post).values()]
    authors = [one and world.store.get("users", one["_user_id"]) for one in found]
    return [
        one
        for one, author in zip(found, authors, strict=True)
        if one is not None and (author is None or may_see_posts_of(world, author, None))
    ]


def _find_concerned(world: World, post: Record) -> Iterator[tuple[str, str]]:
    """Yield the events of other users that a post causes, with the user of each."""
    own = post["_user_id"]
    kinds = {"reposted": "repost", "quoted": "quote", "replied_to": "reply"}
    for kind, target in find_references(post).items():
        original = world.store.get("posts", target)
        if original is not None and original["_user_id"] != own:
            yield f"post.{kinds[kind]}.create", original["_user_id"]
    if post.get("_reposted_post_id"):
        return  # its mentions are those of the original
    mentions = (post.get("entities") or {}).get("user_mentions") or ()
    named = dict.fromkeys(mention.get("id_str") for mention in mentions)
    for user_id in named:
        if user_id and user_id not in {own, post.get("in_reply_to_user_id_str")}:
            yield "post.mention.create", user_id
