"""Relations between users, posts and lists: follows, blocks, mutes, likes, bookmarks.

A relation is a table of edges, each with the moment at which it was made. Both ends are found by an
index, so a list of either side costs its page, however many edges there are. The counts that people
see are fields of the two records; `add` and `remove` move them by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

from marshmallow.fields import Field
from msgspec import Struct

from mock_platform.core.assumptions import expectation
from mock_platform.core.fields import Instant, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

RELATION_COUNTS = expectation(
    "relations.counts",
    "A write changes the counts of both sides at once. A count is the stored number, and at least "
    "the number of stored relations; so an account may have more followers than the sandbox knows.",
)


class End(Struct, frozen=True):
    """One side of a relation: the field with its id, its table, and the field of its count."""

    field: str
    table: str
    count: str | None = None
    unless: str | None = None
    """A flag of the record at the other end: with it, the edge is not counted here."""


class Relation(Struct, frozen=True, dict=True):
    """A table of edges from one record to another; an edge exists once or not at all.

    Example:
        >>> FOLLOWS.key("12", "34"), FOLLOWS.table.references[1].table
        ('12:34', 'users')
    """

    name: str
    text: str
    """What one edge says; the text of the page of tables."""
    source: End
    target: End

    @cached_property
    def table(self) -> Table:
        """The table of its edges, which derives their keys; fixtures leave those out."""
        parts: dict[str, Field[Any]] = {
            "id": Text(required=True),
            self.source.field: Text(required=True),
            self.target.field: Text(required=True),
            "created_at": Instant(millis=True, required=True),
        }
        schema = Schema.from_dict(parts, name=f"{self.name.title().replace('_', '')}Record")
        schema.__doc__ = self.text
        return Table(
            self.name,
            schema,
            key="id",
            references=tuple(
                Reference(
                    end.field,
                    end.table,
                    count=end.count,
                    unless=None if end.unless is None else (other.field, end.unless),
                )
                for end, other in self._pairs
            ),
            once=(self.source.field, self.target.field),
            from_public=self._add_key,
            unlink=self._unlink,
        )

    def key(self, source: str, target: str) -> str:
        """Return the key of the edge between two records."""
        return f"{source}:{target}"

    def find(self, world: World, source: str, target: str) -> Record | None:
        """Return the edge between two records, or `None`."""
        return world.store.get(self.name, self.key(source, target))

    def add(self, world: World, source: str, target: str, *, counts: bool = True) -> bool:
        """Make an edge, and count it; return whether it is new. One that exists stays as it is.

        `counts` is false for an edge that the stored counts know already.
        """
        if self.find(world, source, target) is not None:
            return False
        edge = {
            "id": self.key(source, target),
            self.source.field: source,
            self.target.field: target,
            "created_at": wire_millis(world.clock.now()),
        }
        world.store.put(self.name, edge["id"], edge)
        if counts:
            self._count(world, edge, 1)
        return True

    def remove(self, world: World, source: str, target: str) -> bool:
        """End an edge, and count that; return whether there was one."""
        edge = world.store.remove(self.name, self.key(source, target))
        if edge is not None:
            self._count(world, edge, -1)
        return edge is not None

    def remove_all(self, world: World, *, source: str = "", target: str = "") -> list[Record]:
        """End all edges from or to a record, and count that; return them, oldest first."""
        end, key = (self.source, source) if source else (self.target, target)
        found = [entry.record for entry in world.store.page(self.name, {end.field: key})]
        for edge in found:
            world.store.remove(self.name, edge["id"])
            self._count(world, edge, -1)
        return found

    def move_all(self, world: World, old: str, new: str) -> None:
        """Let all edges that lead to a record lead to another, in their order; counts stay."""
        for entry in world.store.page(self.name, {self.target.field: old}):
            key = self.key(entry.record[self.source.field], new)
            world.store.remove(self.name, entry.key)
            world.store.put(self.name, key, entry.record | {"id": key, self.target.field: new})

    def list_targets(self, world: World, source: str) -> list[str]:
        """Return the ids to which the edges of a record lead, oldest edge first."""
        found = world.store.page(self.name, {self.source.field: source})
        return [entry.record[self.target.field] for entry in found]

    def find_targets(self, world: World, source: str, *more: str) -> Collection[str]:
        """Return what `list_targets` does, and `more`: one can be found without listing all."""
        return _Targets(self, world, source, more)

    def list_sources(self, world: World, target: str) -> list[str]:
        """Return the ids from which edges lead to a record, oldest edge first."""
        found = world.store.page(self.name, {self.target.field: target})
        return [entry.record[self.source.field] for entry in found]

    def count_targets(self, world: World, source: str) -> int:
        """Return how many edges lead from a record."""
        return world.store.count(self.name, {self.source.field: source})

    def count_sources(self, world: World, target: str) -> int:
        """Return how many edges lead to a record."""
        return world.store.count(self.name, {self.target.field: target})

    def _unlink(self, world: World, table: str, key: str) -> None:
        """End all edges from or to a record of a table."""
        if self.source.table == table:
            self.remove_all(world, source=key)
        if self.target.table == table:
            self.remove_all(world, target=key)

    def _count(self, world: World, edge: Record, step: int) -> None:
        # Each end may keep a number of its edges in the record there. Some edges are left out of
        # it: `unless` names a field of the other record that makes an edge uncounted, and so does
        # a record that is gone.
        for end, other in self._pairs:
            if end.count is None:
                continue
            if end.unless is not None:
                record = world.store.get(other.table, edge[other.field])
                if (record or {end.unless: True}).get(end.unless):
                    continue
            add_to_count(world, end.table, edge[end.field], end.count, step)

    @property
    def _pairs(self) -> tuple[tuple[End, End], ...]:
        """Each end with the other one."""
        return ((self.source, self.target), (self.target, self.source))

    def _add_key(self, record: Record) -> Record:
        ends = [record.get(end.field) for end in (self.source, self.target)]
        if "id" in record or not all(isinstance(end, str) for end in ends):
            return dict(record)
        return {"id": self.key(str(ends[0]), str(ends[1])), **record}


class _Targets(Collection[str]):
    """The ids to which the edges of a record lead, and some more."""

    def __init__(
        self, relation: Relation, world: World, source: str, more: Collection[str]
    ) -> None:
        self._relation, self._world, self._source, self._more = relation, world, source, more
        self._known = dict.fromkeys(more, True)

    def __contains__(self, key: object) -> bool:
        # The store asks this for the authors of the newest posts first (`Within`), and most often
        # it has a page before it saw many. A user who follows thousands costs no list of them then.
        if not isinstance(key, str):
            return False
        known = self._known.get(key)
        if known is None:
            edge = self._relation.find(self._world, self._source, key)
            known = self._known[key] = edge is not None
        return known

    def __iter__(self) -> Iterator[str]:
        yield from self._more
        yield from self._relation.list_targets(self._world, self._source)

    def __len__(self) -> int:
        return len(self._more) + self._relation.count_targets(self._world, self._source)


def add_to_count(world: World, table: str, key: str, name: str, step: int) -> None:
    """Change a count of a record, if the record exists; no count is below zero."""
    record = world.store.get(table, key)
    if record is not None:
        counted = max(0, (record.get(name) or 0) + step)
        world.store.put(table, key, record | {name: counted})


_USER, _TARGET_USER = End("user_id", "users"), End("target_user_id", "users")
FOLLOWS = Relation(
    "follows",
    "A user follows another one.",
    End("user_id", "users", "friends_count"),
    End("target_user_id", "users", "followers_count"),
)
FOLLOW_REQUESTS = Relation(
    "follow_requests",
    "A user wants to follow a protected user, who has not accepted it yet.",
    _USER,
    _TARGET_USER,
)
BLOCKS = Relation("blocks", "A user blocks another one.", _USER, _TARGET_USER)
DM_BLOCKS = Relation(
    "dm_blocks", "A user takes no direct messages of another one.", _USER, _TARGET_USER
)
MUTES = Relation("mutes", "A user mutes another one.", _USER, _TARGET_USER)
HIDDEN_REPOSTS = Relation(
    "hidden_reposts",
    "A user does not want to see the reposts of another one whom the user follows.",
    _USER,
    _TARGET_USER,
)
LIKES = Relation(
    "likes",
    "A user likes a post.",
    End("user_id", "users", "favourites_count"),
    End("post_id", "posts", "favorite_count"),
)
BOOKMARKS = Relation(
    "bookmarks",
    "A user has bookmarked a post.",
    _USER,
    End("post_id", "posts", "_bookmark_count"),
)
FOLDER_POSTS = Relation(
    "bookmark_folder_posts",
    "A bookmark of a user is in a folder.",
    End("folder_id", "bookmark_folders"),
    End("post_id", "posts"),
)
SPACE_POSTS = Relation(
    "space_posts",
    "A post was shared in a Space.",
    End("space_id", "spaces"),
    End("post_id", "posts"),
)
POST_RELATIONS = (LIKES, BOOKMARKS, FOLDER_POSTS, SPACE_POSTS)
"""What leads to a post: it ends with the post, and goes on to a new version of it."""
RELATIONS = (
    FOLLOWS,
    FOLLOW_REQUESTS,
    BLOCKS,
    DM_BLOCKS,
    MUTES,
    HIDDEN_REPOSTS,
    *POST_RELATIONS,
)
"""The relations of users and of posts. Those of lists are in the folder of lists."""


def find_connections(world: World, viewer_id: str, user_id: str) -> list[str]:
    """Return what connects a user with the one who asks, in the words of `connection_status`."""
    edges: Mapping[str, tuple[Relation, str, str]] = {
        "follow_request_received": (FOLLOW_REQUESTS, user_id, viewer_id),
        "follow_request_sent": (FOLLOW_REQUESTS, viewer_id, user_id),
        "blocking": (BLOCKS, viewer_id, user_id),
        "followed_by": (FOLLOWS, user_id, viewer_id),
        "following": (FOLLOWS, viewer_id, user_id),
        "muting": (MUTES, viewer_id, user_id),
    }
    return [
        name
        for name, (relation, source, target) in edges.items()
        if relation.find(world, source, target) is not None
    ]


# Who may see whom. Every list, lookup, search and stream asks here.

POST_VISIBILITY = expectation(
    "relations.visibility",
    "Posts of a protected user are seen by the user and by accepted followers; a block hides the "
    "posts of each of the two from the other. Suspended and deactivated users and their posts are "
    "seen by nobody. A repost is seen by whoever may see its original as well.",
)


_FEW_BLOCKS = 100
"""Up to so many blocks of a user are read at once, not one by one for each author of a list."""


def is_present(user: Record) -> bool:
    """Return whether a user is neither suspended nor deactivated."""
    return not user.get("_suspended") and not user.get("_deactivated")


def may_see_posts_of(
    world: World,
    author: Record,
    viewer_id: str | None,
    is_apart: Callable[[str], bool] | None = None,
) -> bool:
    """Return whether a viewer may see the posts of a user; `None` is somebody without an account.

    `is_apart` knows all blocks of the viewer; without it, those of the two are looked up. See
    `POST_VISIBILITY`.
    """
    if not is_present(author):
        return False
    if viewer_id == author["id"]:
        return True
    if author.get("protected") and (
        viewer_id is None or FOLLOWS.find(world, viewer_id, author["id"]) is None
    ):
        return False
    if viewer_id is None:
        return True
    return not (
        is_blocked(world, author["id"], viewer_id) if is_apart is None else is_apart(author["id"])
    )


def make_sight_of(world: World, viewer_id: str | None) -> Callable[[Record], bool]:
    """Return the test whether a viewer may see a post; each author is looked up once."""
    is_apart = None if viewer_id is None else _make_block_test(world, viewer_id)
    found: dict[str, bool] = {}

    def may_see_author(user_id: str) -> bool:
        answer = found.get(user_id)
        if answer is None:
            author = world.store.get("users", user_id)
            answer = found[user_id] = author is None or may_see_posts_of(
                world, author, viewer_id, is_apart
            )
        return answer

    return lambda post: all(map(may_see_author, _list_authors(world, post)))


def may_see(world: World, post: Record, viewer_id: str | None) -> bool:
    """Return whether a viewer, if there is one, may see a post; see `POST_VISIBILITY`."""
    authors = [world.store.get("users", user_id) for user_id in _list_authors(world, post)]
    return all(author is None or may_see_posts_of(world, author, viewer_id) for author in authors)


def _list_authors(world: World, post: Record) -> list[str]:
    """Return the id of the author of a post, and for a repost that of its original's author."""
    original = post.get("_reposted_post_id") and world.store.get("posts", post["_reposted_post_id"])
    return [each["_user_id"] for each in (post, original) if each]


def _make_block_test(world: World, user_id: str) -> Callable[[str], bool]:
    """Return the test whether a block separates another user from this one."""
    # A page of posts has few authors. Reading all blocks at once is cheaper while there are few;
    # of many, only those with these authors are looked up.
    if BLOCKS.count_targets(world, user_id) + BLOCKS.count_sources(world, user_id) > _FEW_BLOCKS:
        return lambda other: is_blocked(world, other, user_id)
    blocks = BLOCKS.list_targets(world, user_id) + BLOCKS.list_sources(world, user_id)
    return frozenset(blocks).__contains__


def is_blocked(world: World, one: str, other: str) -> bool:
    """Return whether one of two users blocks the other."""
    return BLOCKS.find(world, one, other) is not None or BLOCKS.find(world, other, one) is not None


def takes_messages_of(world: World, user: Record, sender_id: str | None) -> bool:
    """Return whether a user takes direct messages of another one; of `None` if of anybody."""
    if user["id"] == sender_id:
        return True
    if user.get("receives_your_dm") is False or sender_id is None:
        return user.get("receives_your_dm") is not False
    blocked = DM_BLOCKS.find(world, user["id"], sender_id) is not None
    return not blocked and not is_blocked(world, user["id"], sender_id)


def list_public_memberships(world: World, user_id: str) -> list[str]:
    """Return the ids of the public lists that have a user as a member."""
    edges = world.store.page("list_members", {"user_id": user_id})
    ids = [entry.record["list_id"] for entry in edges]
    return [
        id_ for id_ in ids if not (world.store.get("lists", id_) or {"private": True})["private"]
    ]


def count_at_least(stored: Any, relations: int) -> int:
    """Return a count: the stored number, and at least that of the relations."""
    return max(stored or 0, relations)


TABLES = tuple(relation.table for relation in RELATIONS)
