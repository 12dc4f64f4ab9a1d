"""Reposts and quotes: made, taken back, and the lists of both."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOWS, LIKES
from mock_platform.api.v2.posts.changes import delete_post
from tests.api.v2.posts.support import (
    INES,
    OTHER,
    OWN,
    add_user,
    ids,
    list_activities,
    make,
    read_metrics,
    relate,
)
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, Sandbox, data_of
from tests.walks import walk

SETTINGS = {"dataset": "small"}
REPOSTS = f"/2/users/{OWN}/reposts"
RIDE = "1789900000000000004"
"""A post of another user, which the caller has reposted."""


def repost(box: Sandbox, post_id: str) -> Any:
    """Repost as the caller."""
    return data_of(box.call("POST", REPOSTS, json={"post_id": post_id}))


def undo(box: Sandbox, post_id: str) -> None:
    """Take a repost back."""
    assert {"reposted": False} == data_of(box.call("DELETE", f"{REPOSTS}/{post_id}"))


def counts(box: Sandbox, post_id: str) -> tuple[int, int]:
    """How often a post was reposted, and how many posts the caller has."""
    post, user = (read_metrics(box, path) for path in (f"/2/posts/{post_id}", f"/2/users/{OWN}"))
    return post["repost_count"], user["post_count"]


def events(box: Sandbox) -> list[tuple[str, ...]]:
    """The type and the user of every activity."""
    return list_activities(box, "event_type", "user_id")


def test_a_repost_is_a_post_and_ends_with_it(box: Sandbox) -> None:
    """It is in the counts, the lists and the timeline until it is taken back; both hear of it."""
    post = make(box, INES, "Which roast?")
    before, said = counts(box, post), len(events(box))
    made = repost(box, post)
    path = f"/2/posts/{made['id']}?post.fields=referenced_posts"
    shown = data_of(box.call("GET", path, keys=BEARER))

    assert {"id": made["id"], "rest_id": made["id"], "reposted": True} == made
    assert "RT @ines_duarte: Which roast?" == shown["text"]
    assert [{"type": "reposted", "id": post}] == shown["referenced_posts"]
    assert (before[0] + 1, before[1] + 1) == counts(box, post)
    assert [made["id"]] == ids(box, f"/2/posts/{post}/reposts")
    assert [OWN] == ids(box, f"/2/posts/{post}/reposted_by")
    assert made["id"] == ids(box, f"/2/users/{OWN}/posts")[0]
    for _ in range(2):
        undo(box, post)
    assert before == counts(box, post)
    assert [] == ids(box, f"/2/posts/{post}/reposts") == ids(box, f"/2/posts/{post}/reposted_by")
    assert [("post.create", OWN), ("post.repost.create", INES), ("post.delete", OWN)] == events(
        box
    )[said:]


def test_long_texts_are_cut(box: Sandbox) -> None:
    """The text has up to 140 characters, and the language of the original."""
    name = len("RT @ines_duarte: ")
    fits, longer = (
        make(box, INES, "x" * n, fields={"lang": "de"}) for n in (140 - name, 141 - name)
    )
    whole, cut = (box.record("posts", repost(box, post)["id"]) for post in (fits, longer))

    assert (140, "x") == (len(whole["full_text"]), whole["full_text"][-1])
    assert (140, "\u2026", "de") == (len(cut["full_text"]), cut["full_text"][-1], cut["lang"])


def test_versions_and_reposts_stand_for_the_post(box: Sandbox) -> None:
    """A repost of a repost or of an older version is one of the newest version."""
    old = make(box, INES, "Helo")
    theirs = make(box, OTHER, "RT", reposted=old)
    new = make(box, INES, "Hello", previous=old)
    own = repost(box, theirs)["id"]

    assert new == box.record("posts", own)["_reposted_post_id"]
    for version in (old, new):
        assert [own, theirs] == ids(box, f"/2/posts/{version}/reposts")
        assert 2 == counts(box, version)[0]
    undo(box, old)
    assert [theirs] == ids(box, f"/2/posts/{new}/reposts")
    assert 1 == counts(box, new)[0]


def test_a_deleted_post_takes_its_reposts_with_it(box: Sandbox) -> None:
    """Reposts are gone from lists and counts; a quote stays, and says what is missing."""
    post = make(box, OWN, "Hello")
    before = box.record("users", OTHER)["statuses_count"]
    make(box, OTHER, "RT", reposted=post)
    quote = make(box, INES, "Look", quoted=post)
    box.change("users", OWN, pinned_post_id=post)
    with box.world.work():
        delete_post(box.world, box.record("posts", post))

    shown = box.read(f"/2/posts/{quote}", keys=BEARER, expansions="referenced_posts.id")
    assert [post] == [each["value"] for each in shown["errors"]]
    assert before == box.record("users", OTHER)["statuses_count"]
    assert post not in ids(box, "/2/users/reposts_of_me", HARBOR)
    assert box.record("users", OWN)["pinned_post_id"] is None


def test_posts_of_mine_that_others_reposted(box: Sandbox) -> None:
    """The one that was reposted last is first; own reposts do not count, and an undo is one."""
    path = "/2/users/reposts_of_me"
    shipped = ids(box, path, HARBOR)
    first, second, third = (make(box, OWN, f"Post {number}") for number in range(3))
    for post in (second, first):
        box.advance(seconds=1)
        make(box, OTHER, "RT", reposted=post)
    box.advance(seconds=1)
    again = make(box, INES, "RT", reposted=second)
    repost(box, third)

    assert [second, first, *shipped] == ids(box, path, HARBOR)
    assert [[second], [first]] == walk(box, path, HARBOR, max_results=1)[:2]
    assert RIDE in ids(box, path, NORTHBIKE)
    with box.world.work():
        delete_post(box.world, box.record("posts", again))
    assert [first, second, *shipped] == ids(box, path, HARBOR)


def test_quotes(box: Sandbox) -> None:
    """Quotes are listed newest first, without replies if asked, and only forwards."""
    post = make(box, OWN, "Hello")
    quotes = [make(box, INES, f"Quote {number}", quoted=post) for number in range(11)]
    answer = make(box, INES, "Answer", quoted=post, reply_to=RIDE)
    path = f"/2/posts/{post}/quote_posts"

    pages = walk(box, path)
    assert [[answer, *quotes[:1:-1]], quotes[1::-1]] == pages
    assert quotes[::-1] == ids(box, path, exclude="replies", max_results=100)
    token = box.read(path, keys=BEARER)["meta"]["next_token"]
    assert 12 == len(token)
    second = box.read(path, keys=BEARER, pagination_token=token)["meta"]
    assert {"result_count": 2} == second


def test_pages_both_ways(box: Sandbox) -> None:
    """Each repost is on one page, the latest first; back they are the same."""
    post = make(box, OWN, "Hello")
    for number in range(1, 8):
        add_user(box, str(number))
        make(box, str(number), "RT", reposted=post)

    assert [["7", "6", "5"], ["4", "3", "2"], ["1"]] == walk(
        box, f"/2/posts/{post}/reposted_by", max_results=3
    )
    assert [3, 3, 1] == [len(p) for p in walk(box, f"/2/posts/{post}/reposts", max_results=3)]


def test_who_is_left_out(box: Sandbox) -> None:
    """Reposts of protected users are for followers, those of blocked users are left out."""
    box.clear("follows")
    post = make(box, OWN, "Hello")
    for user in (OTHER, INES):
        make(box, user, "RT", reposted=post)
    box.change("users", OTHER, protected=True)
    path = f"/2/posts/{post}/reposted_by"

    assert [INES] == ids(box, path) == ids(box, path, HARBOR)
    assert 2 == counts(box, post)[0]
    relate(box, FOLLOWS, OWN, OTHER)
    relate(box, BLOCKS, INES, OWN)
    assert [OTHER] == ids(box, path, HARBOR)


create = partial(Refusal, f"POST {REPOSTS}")
REFUSED = [
    create("under original names", 400, json={"tweet_id": RIDE},
           more={"headers": {"X-Mock-Names": "original"}},
           messages=["You cannot retweet a Tweet that you have already retweeted."]),
    create("an unknown post under original names", 400, json={"tweet_id": "1"},
           more={"headers": {"X-Mock-Names": "original"}},
           messages=["This tweet cannot be found."]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_a_repost_has_the_number_of_reposts_of_its_original(box: Sandbox) -> None:
    """That number follows the original; likes of the original are no likes of the repost."""
    post = make(box, INES, "Which roast?")
    reposts = [make(box, user, "RT", reposted=post) for user in (OTHER, OWN)]
    relate(box, LIKES, OWN, post)

    for each in reposts:
        metrics = read_metrics(box, f"/2/posts/{each}")
        assert (2, 0, 0) == tuple(
            metrics[name] for name in ("repost_count", "like_count", "quote_count")
        )
        assert reposts[::-1] == ids(box, f"/2/posts/{each}/reposts")
        assert [OWN, OTHER] == ids(box, f"/2/posts/{each}/reposted_by")
    undo(box, post)
    assert 1 == read_metrics(box, f"/2/posts/{reposts[0]}")["repost_count"]


@pytest.mark.parametrize("field", ["protected", "_suspended", "_deactivated"])
def test_a_repost_is_hidden_with_its_original(box: Sandbox, field: str) -> None:
    """What may not be seen is not read in a repost of it either, wherever the repost would be."""
    box.clear("follows")
    relate(box, FOLLOWS, OWN, INES)
    post = make(box, OTHER, "Quietly")
    repost = make(box, INES, "RT", reposted=post)
    lists: tuple[tuple[str, dict[str, str]], ...] = (
        (f"/2/users/{INES}/posts", {}), (f"/2/users/{OWN}/timelines/reverse_chronological", {}),
        ("/2/posts/search/recent", {"query": "from:ines_duarte"}), ("/2/posts", {"ids": repost}),
    )  # fmt: skip
    assert [repost] * 4 == [ids(box, path, HARBOR, **query)[0] for path, query in lists]

    box.change("users", OTHER, **{field: True})
    assert not any(repost in ids(box, path, HARBOR, **query) for path, query in lists)
    box.read(f"/2/posts/{repost}", status=403)


def test_an_accepted_follower_sees_but_does_not_share(box: Sandbox) -> None:
    """A post of a protected user is reposted by that user alone."""
    box.change("users", OTHER, protected=True)
    post = make(box, OTHER, "Quietly")
    relate(box, FOLLOWS, OWN, OTHER)

    answer = box.call("POST", REPOSTS, json={"post_id": post})
    own = box.call("POST", f"/2/users/{OTHER}/reposts", json={"post_id": post}, keys=NORTHBIKE)
    assert (403, 200) == (answer.status_code, own.status_code)
    assert "You are not permitted to perform this action." == answer.get_json()["detail"]
