"""Timelines: posts of a user, mentions, the home timeline."""

from __future__ import annotations

import pytest

from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOWS, MUTES, Relation
from mock_platform.api.v2.timelines import operations
from mock_platform.world.store import memory
from mock_platform.world.world import World
from tests.api.v2.posts.support import INES, OTHER, OWN, add_user, ids, make, relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, Sandbox
from tests.walks import walk

NEW = "77"
"""A user without posts at the start."""
POSTS, MENTIONS = f"/2/users/{NEW}/posts", f"/2/users/{NEW}/mentions"
HOME = f"/2/users/{OWN}/timelines/reverse_chronological"


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox with a stopped clock and one more user."""
    add_user(box, NEW)
    return box


def at(second: int) -> str:
    """A moment of the day before."""
    return f"2026-11-21T12:00:{second:02}.000Z"


def make_five(box: Sandbox) -> list[str]:
    """A post a second; the ids, newest first."""
    return [make(box, NEW, f"Post {n}", created_at=at(n)) for n in range(5)][::-1]


def test_posts_of_a_user(box: Sandbox) -> None:
    """Replies, quotes and reposts are among them; of an edited post only the newest version."""
    first = make(box, INES, "First")
    old = make(box, NEW, "Helo")
    found = [make(box, NEW, "Hello", previous=old), make(box, NEW, "Reply", reply_to=first)]
    found += [make(box, NEW, "Quote", quoted=first), make(box, NEW, "RT", reposted=first)]
    make(box, NEW, "An ad", fields={"nullcast": True})
    hello, reply, quote, repost = found

    assert [repost, quote, reply, hello] == ids(box, POSTS)
    assert [repost, quote, hello] == ids(box, POSTS, exclude="replies")
    assert [quote, reply, hello] == ids(box, POSTS, exclude="reposts")
    assert [quote, hello] == ids(box, POSTS, exclude="replies,retweets")
    assert {"meta": {"result_count": 0}} == box.read(MENTIONS, keys=BEARER)
    meta = box.read(POSTS, keys=BEARER)["meta"]
    assert {"result_count": 4, "newest_id": repost, "oldest_id": hello} == meta


def test_pages_both_ways(box: Sandbox) -> None:
    """The newest post is first; pages are full, and the same backwards."""
    posts = [make(box, NEW, f"Post {number}") for number in range(12)][::-1]

    pages = walk(box, POSTS, max_results=5)
    assert [posts[:5], posts[5:10], posts[10:]] == pages
    token = box.read(POSTS, keys=BEARER, max_results=5)["meta"]["next_token"]
    assert 45 == len(token)
    assert 400 == box.ask("GET", MENTIONS, keys=BEARER, pagination_token=token).status_code


def test_between_ids_and_times(box: Sandbox) -> None:
    """Ids are exclusive, start_time is inclusive and end_time exclusive; ids win over times."""
    five = make_five(box)

    assert five[:2] == ids(box, POSTS, since_id=five[2])
    assert five[3:] == ids(box, POSTS, until_id=five[2])
    assert five[1:3] == ids(box, POSTS, since_id=five[3], until_id=five[0])
    assert five[:3] == ids(box, POSTS, start_time=at(2))
    assert five[3:] == ids(box, POSTS, end_time=at(2))
    assert five[2:4] == ids(box, POSTS, start_time=at(1), end_time=at(3))
    assert five[:1] == ids(box, POSTS, since_id=five[1], start_time=at(0))
    assert [] == ids(box, POSTS, since_id=five[0])


def test_a_post_of_the_past_is_newer_by_its_id(box: Sandbox) -> None:
    """Whoever asks for newer ids gets it, although its moment is older."""
    five = make_five(box)
    late = make(box, NEW, "Late", created_at="2026-11-20T12:00:00.000Z")
    assert [late] == ids(box, POSTS, since_id=five[0])
    assert [*five[:2], late] == ids(box, POSTS, since_id=five[2])


@pytest.mark.parametrize("few", [100, 2])
def test_many_newer_posts(box: Sandbox, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is the same, whether or not the newer posts are few enough to be looked at."""
    monkeypatch.setattr(operations, "_FEW_POSTS", few)
    five = make_five(box)
    assert five[:4] == ids(box, POSTS, since_id=five[4])


@pytest.mark.parametrize(("exclude", "most"), [("reposts", 7), ("replies", 6)])
def test_depth(box: Sandbox, exclude: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeline ends at its depth, which is smaller without replies."""
    monkeypatch.setattr(operations, "_LONGEST", 7)
    monkeypatch.setattr(operations, "_SHORTEST", 6)
    posts = [make(box, NEW, f"Post {number}") for number in range(9)][::-1]

    pages = walk(box, POSTS, max_results=5, exclude=exclude)
    assert [posts[:5], posts[5:most]] == pages


def test_mentions(box: Sandbox) -> None:
    """Posts of others that name the user, and replies to the user, but not reposts of them."""
    own = make(box, NEW, "I am @user77")
    named = make(box, INES, "Hello @USER77")
    reply = make(box, OTHER, "Answer", reply_to=own)
    make(box, OTHER, "RT @user77: I am @user77", reposted=own)
    make(box, INES, "user77, not @user7")

    assert [reply, named] == ids(box, MENTIONS)
    assert [named] == ids(box, MENTIONS, exclude="replies")
    assert [reply] == ids(box, MENTIONS, since_id=named)
    box.change("users", OTHER, protected=True)
    assert [named] == ids(box, MENTIONS)
    assert [reply, named] == ids(box, MENTIONS, NORTHBIKE)


@pytest.mark.parametrize("path", [POSTS, MENTIONS])
def test_who_is_hidden(box: Sandbox, path: str) -> None:
    """A stranger gets errors alone for a protected user, an accepted follower the posts."""
    make(box, NEW, "Quietly")
    make(box, INES, "Hello @user77")
    box.change("users", NEW, protected=True)

    assert ["errors"] == list(box.read(path)) == list(box.read(path, keys=BEARER))
    relate(box, FOLLOWS, OWN, NEW)
    assert 1 == len(ids(box, path, HARBOR))
    relate(box, BLOCKS, NEW, OWN)
    assert [] == ids(box, path, HARBOR)


@pytest.mark.parametrize("few", [100, 0])
def test_home(box: Sandbox, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Posts of the caller and of followed users, whether those are few or many."""
    monkeypatch.setattr(memory, "_FEW_VALUES", few)
    relate(box, FOLLOWS, OWN, NEW)
    with box.world.work():
        FOLLOWS.remove(box.world, OWN, INES)
    start = make(box, OWN, "Start")
    theirs = make(box, NEW, "Hello")
    other = make(box, INES, "Of somebody else")
    make(box, NEW, "To somebody else", reply_to=other)
    make(box, NEW, "To a community", fields={"_community_id": "5"})
    make(box, NEW, "An ad", fields={"nullcast": True})
    found = [
        make(box, NEW, "To the caller", reply_to=start),
        make(box, NEW, "To oneself", reply_to=theirs),
        make(box, NEW, "RT", reposted=other),
        make(box, NEW, "Shared", fields={"_community_id": "5", "_share_with_followers": True}),
    ]
    expected = [*found[::-1], theirs, start]

    assert expected == [*ids(box, HOME, HARBOR, since_id=start), start]
    assert expected[:2] == ids(box, HOME, HARBOR, max_results=2)
    pages = walk(box, HOME, HARBOR, max_results=4)
    assert expected == [each for page in pages for each in page][:6]
    relate(box, MUTES, OWN, INES)
    assert found[2] not in ids(box, HOME, HARBOR)
    relate(box, MUTES, OWN, NEW)
    assert [start] == ids(box, HOME, HARBOR)[:1]


def test_home_does_not_ask_user_by_user(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller who follows many gets a full page from the newest posts of all."""
    monkeypatch.setattr(memory, "_FEW_VALUES", 0)
    list_targets, listed = Relation.list_targets, list[Relation]()

    def note(self: Relation, world: World, source: str) -> list[str]:
        listed.append(self)
        return list_targets(self, world, source)

    monkeypatch.setattr(Relation, "list_targets", note)
    relate(box, FOLLOWS, OWN, NEW)
    posts = [make(box, NEW, f"Post {number}") for number in range(4)][::-1]

    assert posts[:3] == ids(box, HOME, HARBOR, max_results=3)
    assert FOLLOWS not in listed


REFUSED = [
    Refusal(f"GET {POSTS}", "an empty window", 400,
            query={"start_time": at(5), "end_time": at(5)}, messages=["must be before"]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
