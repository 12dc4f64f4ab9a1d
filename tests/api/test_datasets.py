"""The datasets `social` and `large`: every record is sound, counts agree, and lists have pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal
from urllib.parse import parse_qsl

import pytest

from mock_platform.api.datasets import make_dataset
from mock_platform.api.served import TABLES
from mock_platform.core.tables.table import find_missing_references
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from tests.made_once import packaged_fixtures
from tests.support import (
    BEARER,
    HARBOR,
    NORTHBIKE,
    USER_TOKEN,
    Keys,
    Sandbox,
    sandbox,
)

OWN, NOON = "2244994945", datetime(2026, 11, 20, 12, tzinfo=UTC)
FAMOUS = "1800000000000000000"
METRICS = "public_metrics"
ME, POST = f"/2/users/{OWN}", f"/2/posts/{FAMOUS}"
FRIEND = "1500007919"
MEMBERS, BY_THE_WATER = "/2/lists/1715400000000000000", "/2/lists/1715400000000000003"
PAGED: dict[str, Keys | str] = {
    f"{ME}/followers": HARBOR, f"{ME}/posts": HARBOR, f"{ME}/mentions": HARBOR,
    f"{ME}/timelines/reverse_chronological": HARBOR, f"{ME}/liked_posts": HARBOR,
    f"{ME}/bookmarks": HARBOR, f"{POST}/liking_users": HARBOR, f"{POST}/quote_posts": HARBOR,
    f"{POST}/reposted_by": HARBOR, f"{POST}/reposts": HARBOR, "/2/users/reposts_of_me": HARBOR,
    f"{MEMBERS}/members": HARBOR, f"{MEMBERS}/posts": HARBOR, f"{BY_THE_WATER}/followers": HARBOR,
    "/2/spaces/1HarborTicket/buyers": USER_TOKEN, "/2/communities/search?query=gardeners": HARBOR,
    "/2/posts/search/recent?query=the": HARBOR, "/2/dm_events": HARBOR,
    f"/2/dm_conversations/with/{FRIEND}/dm_events": HARBOR,
    f"/2/chat/conversations/{FRIEND}-{OWN}/events": USER_TOKEN,
    "/2/broadcasts/1LvHarborRst1/chat": USER_TOKEN,
}  # fmt: skip
"""Lists that have more than one page at their default size, and who reads them."""


@pytest.fixture(scope="module")
def social() -> Sandbox:
    """The default world without rate limits, which no test here changes."""
    return sandbox(limits="off")


@pytest.fixture(scope="module")
def made() -> dict[str, set[str]]:
    """The keys that the dataset has added or replaced, by table."""
    by_name = {table.name: table for table in TABLES}
    found = make_dataset("social", NOON)
    return {name: {row[by_name[name].key] for row in rows} for name, rows in found.items()}


def rows(box: Sandbox, table: str) -> list[Record]:
    """All stored records of a table."""
    return [entry.record for entry in box.world.store.page(table)]


def walk(box: Sandbox, path: str, keys: Keys | str = HARBOR, **query: Any) -> list[list[Any]]:
    """The pages of a list."""
    path, _, more = path.partition("?")
    query = dict(parse_qsl(more)) | query
    pages, asked = [], query
    while True:
        page = box.read(path, keys=keys, **asked)
        pages.append(page.get("data", []))
        token = page.get("meta", {}).get("next_token")
        if token is None:
            return pages
        asked = query | {"pagination_token": token}


def ids(box: Sandbox, path: str, keys: Keys | str = HARBOR, **query: Any) -> list[str]:
    """The ids of a whole list."""
    return [each["id"] for page in walk(box, path, keys, **query) for each in page]


def read_all(box: Sandbox, path: str, keys: list[str], **query: Any) -> Iterator[Record]:
    """Objects with these ids, a hundred at a time; those out of reach are left out."""
    for at in range(0, len(keys), 100):
        yield from box.read(path, ids=",".join(keys[at : at + 100]), **query).get("data", ())


@pytest.mark.parametrize("name", ["social", "large"])
def test_records_are_sound(name: Literal["social", "large"]) -> None:
    """No record has a fault or refers to a missing one, which no start checks."""
    base = packaged_fixtures(Settings(dataset=name))
    step = 1 if name == "social" else 31  # a large one is made as a small one is
    for table in TABLES:
        for row in islice(base.rows[table.name].values(), 0, None, step):
            loaded, faults = table.load(row.record)
            assert (faults, loaded) == ([], row.record)
            assert not find_missing_references(
                table, loaded, lambda other, key: key in base.rows[other]
            )


@pytest.mark.parametrize("name", ["social", "large"])
def test_same_each_time(name: str) -> None:
    """A dataset is the same every time, and none of its records is twice there."""
    found = make_dataset(name, NOON)
    keys = {table.name: table.key for table in TABLES}

    assert found == make_dataset(name, NOON)
    for table, records in found.items():
        assert len({record[keys[table]] for record in records}) == len(records)
        assert all(record.get("created_at", "") < "2026-11-20T12" for record in records)


def test_follows(social: Sandbox, made: dict[str, set[str]]) -> None:
    """Counts of followers and of followed users are those of the lists, which agree."""
    users = [user["id"] for user in rows(social, "users") if not user["protected"]]
    counts = {
        user["id"]: user[METRICS]
        for user in read_all(social, "/2/users", users, **{"user.fields": METRICS})
    }
    most = {"max_results": 1000}
    followers, following = (
        {user: ids(social, f"/2/users/{user}/{name}", NORTHBIKE, **most) for user in counts}
        for name in ("followers", "following")
    )
    edges = {(one, user) for user, found in followers.items() for one in found}
    again = {(user, one) for user, found in following.items() for one in found}

    assert {edge for edge in edges if edge[0] in counts} == {
        edge for edge in again if edge[1] in counts
    }
    assert all(one != other for one, other in edges)
    for user in counts.keys() & made["users"]:
        assert counts[user]["followers_count"] == len(followers[user])
        assert counts[user]["following_count"] == len(following[user])


def test_likes_reposts_and_other_counts(social: Sandbox, made: dict[str, set[str]]) -> None:
    """Counts of posts are those of their lists, or of the posts that refer to them."""
    fields = {"post.fields": f"{METRICS},author_id"}
    posts = list(read_all(social, "/2/posts", sorted(made["posts"]), **fields))
    stored, likes = rows(social, "posts"), Counter[str]()
    quotes = Counter(each["_quoted_post_id"] for each in stored)
    replies = Counter(each["in_reply_to_status_id_str"] for each in stored)
    bookmarks = Counter(each["post_id"] for each in rows(social, "bookmarks"))
    own = set(ids(social, f"{ME}/liked_posts"))
    for post in posts:
        count, path = post[METRICS], f"/2/posts/{post['id']}"
        if post["author_id"] == OWN and count["like_count"]:
            likes.update(liking := ids(social, f"{path}/liking_users"))
            assert count["like_count"] == len(liking)
        elif post["author_id"] != OWN:
            assert count["like_count"] == (post["id"] in own)
        if count["repost_count"]:
            actors = ids(social, f"{path}/reposted_by")
            shown = ids(social, f"{path}/reposts")
            again = read_all(social, "/2/posts", shown, **{"post.fields": "author_id"})
            assert [each["author_id"] for each in again] == actors
            assert len(actors) == count["repost_count"]
        if count["quote_count"]:
            quoting = {e["id_str"] for e in stored if e["_quoted_post_id"] == post["id"]}
            assert set(ids(social, f"{path}/quote_posts")) <= quoting
        assert count["quote_count"] == quotes[post["id"]]
        assert count["reply_count"] == replies[post["id"]]
        assert count["bookmark_count"] == bookmarks[post["id"]]
    users = read_all(social, "/2/users", sorted(made["users"]), **{"user.fields": METRICS})
    written = Counter(each["_user_id"] for each in stored if not each["nullcast"])
    for user in users:
        assert user[METRICS]["like_count"] == likes[user["id"]]
        assert user[METRICS]["post_count"] == written[user["id"]]


def test_lists(social: Sandbox, made: dict[str, set[str]]) -> None:
    """Counts of lists are those of their pages, and private ones are for the owner alone."""
    fields = {"list.fields": "member_count,follower_count,private"}
    owned = [
        each for page in walk(social, f"{ME}/owned_lists", USER_TOKEN, **fields) for each in page
    ]
    hidden = {each["id"] for each in owned if each["private"]}
    for each in [one for one in owned if one["id"] in made["lists"]]:
        path = f"/2/lists/{each['id']}"
        assert each["member_count"] == len(ids(social, f"{path}/members", USER_TOKEN))
        assert each["follower_count"] == len(ids(social, f"{path}/followers", USER_TOKEN))
    shown = read_all(social, "/2/users", sorted(made["users"]), **{"user.fields": METRICS})
    for user in shown:
        found = ids(social, f"/2/users/{user['id']}/list_memberships", BEARER)
        assert len(found) == user[METRICS]["listed_count"]
        assert not hidden & set(found)
    for one in hidden:
        social.read(f"/2/lists/{one}", keys=NORTHBIKE, status=404)
    pinned = {each["id"] for each in social.read(f"{ME}/pinned_lists", keys=USER_TOKEN)["data"]}
    followed = set(ids(social, f"{ME}/followed_lists", USER_TOKEN))
    assert pinned <= followed | {each["id"] for each in owned}
    assert 2 < len(pinned) <= 5


@pytest.mark.parametrize("path", PAGED)
def test_pages(social: Sandbox, path: str) -> None:
    """A client that loops over the list gets several pages, full ones first, none twice."""
    pages = walk(social, path, PAGED[path])
    found = [each["id"] for page in pages for each in page]

    assert len(pages) > 1
    assert len(set(found)) == len(found)
    assert len({len(page) for page in pages[:-1]}) == 1
    assert 0 < len(pages[-1]) <= len(pages[0])
