"""Lists of users: how they are stored, changed and shown, who may see them, what hangs on them.

The shapes are public facts (all of v2, section 8). No activity is sent for lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mock_platform.api.v2.conventions import make_id_field
from mock_platform.api.v2.objects.answers import (
    USER_FIELDS,
    ObjectAnswer,
    get_viewer_id,
    make_names_field,
    start_answer,
)
from mock_platform.api.v2.objects.lists import PageOfObjects
from mock_platform.api.v2.objects.object_types import LIST_OBJECT
from mock_platform.api.v2.objects.relations import End, Relation, add_to_count, count_at_least
from mock_platform.api.v2.pages import PagedQuery
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag, Instant, Integer, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

LIST_SHAPES = public_fact(
    "lists.shapes",
    "Lists are made, changed, read and deleted, and have members, followers and pins in their "
    "public shapes. Without list.fields a list has id and name; owner_id is also an expansion.",
    "all of v2, section 8",
    gap=True,
)
LIST_ORDER = expectation(
    "lists.order",
    "Owned lists are listed newest first; members, followers, memberships, followed and pinned "
    "lists by the latest addition first.",
)
LIST_POSTS = public_fact(
    "lists.posts",
    "The posts of a list are the 800 latest of its members, newest first. Promoted-only posts, "
    "older versions, and posts that only a community sees are not among them.",
    "all of v2, section 8",
)
PRIVATE_LISTS = expectation(
    "lists.private",
    "A private list exists for its owner alone: for others it is missing (404), is in no list of "
    "lists, and is not in listed_count. A list that turns private loses its followers, and the "
    "pins of all but its owner.",
)
LIST_LIMITS = public_fact(
    "lists.limits",
    "In 15 minutes an app and a user may read the followers of a list 180 times, as recorded "
    "answers show. No source at hand has a number for the lists that a user follows: 15 is a "
    "guess.",
    "recorded answers of 2021, followers of a list",
)
LIST_REFUSALS = expectation(
    "lists.refusals",
    "Only the owner changes a list and its members (403); the texts of 403, and the 400 for the "
    "update of a missing list, are public. A user who blocks the owner cannot be added (403). "
    "To follow one's own list and to name an unknown user or list is refused with 400, to pin a "
    "list that is neither owned nor followed with 403. Unfollowing a list unpins it.",
)
LIST_CEILINGS = expectation(
    "lists.ceilings",
    "A user owns up to 1,000 lists and pins up to five; a list has up to 5,000 members. More are "
    "refused with 400, in texts of the sandbox.",
)
MOST_LISTS, MOST_MEMBERS, MOST_PINS, MOST_POSTS = 1_000, 5_000, 5, 800

LIST_FIELDS = tuple(LIST_OBJECT.keys)


LIST_MEMBERS = Relation(
    "list_members",
    "A user is a member of a list.",
    End("list_id", "lists", "member_count"),
    End("user_id", "users", "listed_count", unless="private"),
)
LIST_FOLLOWERS = Relation(
    "list_followers",
    "A user follows a list.",
    End("user_id", "users"),
    End("list_id", "lists", "follower_count"),
)
LIST_PINS = Relation(
    "list_pins", "A user has pinned a list.", End("user_id", "users"), End("list_id", "lists")
)


class ListRecord(Schema):
    """A list of users; its members, followers and pins are in tables of their own."""

    id = make_id_field(required=True)
    name = Text(required=True, min_length=1, max_length=25)
    created_at = Instant(millis=True, required=True)
    description = Text(load_default="", max_length=100)
    follower_count = Integer(low=0, load_default=0)
    member_count = Integer(low=0, load_default=0)
    owner_id = Text(required=True)
    private = Flag(load_default=False)


TABLES = (
    Table(
        "lists",
        ListRecord,
        references=(Reference("owner_id", "users"),),
        shown=Shown(
            ("name", "owner_id", "created_at"),
            "list.fields",
            (
                "lists.get",
                "owned_lists.list",
                "followed_lists.list",
                "list_memberships.list",
                "pinned_lists.list",
            ),
        ),
    ),
    *(relation.table for relation in (LIST_MEMBERS, LIST_FOLLOWERS, LIST_PINS)),
)


class ListSelectionQuery(Schema):
    """What a client wants to see of lists and of their owners."""

    list_fields = make_names_field(LIST_FIELDS, data_key="list.fields")
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")
    expansions = make_names_field(("owner_id",))


class ListPageQuery(PagedQuery, ListSelectionQuery):
    """The page of lists to return, and what to show of them."""


class SingleListAnswer(ObjectAnswer):
    """A list with the selected fields, and its owner if that was asked for."""

    data = LIST_OBJECT.one()


class _ListCount(Schema):
    result_count = Integer(required=True)


class PinnedLists(ObjectAnswer):
    """All lists that a user has pinned, in one answer without pages."""

    data = LIST_OBJECT.several()
    meta = Nested(_ListCount)


class PageOfLists(PageOfObjects):
    """A page of lists."""

    data = LIST_OBJECT.several()


def find_list(call: Call, world: World, list_id: str) -> Record | None:
    """Return a list that the caller may see, or `None`; see `PRIVATE_LISTS`."""
    found = world.store.get("lists", list_id)
    if found is None or (found["private"] and found["owner_id"] != get_viewer_id(call)):
        return None
    return found


def show_lists(call: Call, world: World, lists: Iterable[Record], **parts: Any) -> dict[str, Any]:
    """Return the answer with lists, or with the only one if there are no further `parts`."""
    expands = "owner_id" in (call.params.get("expansions") or ())
    wanted = {"id", "name", *(call.params.get("list_fields") or ())}
    wanted |= {"owner_id"} if expands else set()
    answer = start_answer(call, world)
    for each in lists:
        shown = each | {
            "member_count": count_at_least(
                each["member_count"], LIST_MEMBERS.count_targets(world, each["id"])
            ),
            "follower_count": count_at_least(
                each["follower_count"], LIST_FOLLOWERS.count_sources(world, each["id"])
            ),
        }
        answer.data.append({name: shown[name] for name in LIST_FIELDS if name in wanted})
        if expands:
            answer.include_user("owner_id", each["owner_id"])
    return answer.show_all(**parts) if parts else answer.show_one()


def unfollow_list(world: World, user_id: str, list_id: str) -> None:
    """End the follow of a list, and the pin that depends on it."""
    if LIST_FOLLOWERS.remove(world, user_id, list_id):
        LIST_PINS.remove(world, user_id, list_id)


def update_list(world: World, list_: Record, **changed: str | bool) -> None:
    """Change a list; one that turns private or public is no longer, or again, counted."""
    private = changed.get("private", list_["private"])
    if private != list_["private"]:
        for user_id in LIST_MEMBERS.list_targets(world, list_["id"]):
            add_to_count(world, "users", user_id, "listed_count", -1 if private else 1)
        if private:
            _end_follows(world, list_)
    world.store.put("lists", list_["id"], (world.store.get("lists", list_["id"]) or {}) | changed)


def _end_follows(world: World, list_: Record) -> None:
    """End the follows of a list, and the pins of all but its owner."""
    LIST_FOLLOWERS.remove_all(world, target=list_["id"])
    for user_id in LIST_PINS.list_sources(world, list_["id"]):
        if user_id != list_["owner_id"]:
            LIST_PINS.remove(world, user_id, list_["id"])


def delete_list(world: World, list_: Record) -> None:
    """Delete a list with its members, followers and pins."""
    LIST_MEMBERS.remove_all(world, source=list_["id"])
    for relation in (LIST_FOLLOWERS, LIST_PINS):
        relation.remove_all(world, target=list_["id"])
    world.store.remove("lists", list_["id"])
