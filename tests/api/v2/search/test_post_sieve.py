"""The cheap look before a search lets every post through that the evaluator matches."""

from __future__ import annotations

import pytest

from mock_platform.api.v2.posts.changes import create_post
from mock_platform.api.v2.search.matching import compile_rule
from mock_platform.api.v2.search.query import parse, read_rule
from mock_platform.api.v2.search.search import make_sieve
from mock_platform.api.v2.search.subjects import fold_text, make_subject
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World
from tests.support import sandbox

QUERIES = [
    "coffee", "cafe", "CAF\u00c9", '"cold brew"', '"brew cold"~3', "#coldbrew", "$hrbr",
    "@ines_duarte",
    "coffee tea", "coffee OR tea", "coffee -tea", "(coffee OR #coldbrew) has:links", "lang:pt cafe",
    "from:harbor_roasters has:media", "from:harbor_roasters is:reply", "from:northbike_co is:quote",
    "min_likes:3", "min_replies:1", "min_reposts:1", "coffee has:hashtags", "tea has:cashtags",
    "coffee has:mentions", "from:northbike_co -has:links", "from:northbike_co is:repost",
    "url:example coffee", "to:harbor_roasters", "\U0001f600",
]  # fmt: skip


@pytest.fixture(scope="module")
def world() -> World:
    """A world with a post of every kind."""
    box = sandbox()
    found = box.world
    harbor, bikes = box.record("users", "2244994945"), box.record("users", "3805104374")
    with found.work():
        first = create_post(
            found, harbor, "Caf\u00e9 and cold brew, coffee @ines_duarte", fields={"lang": "pt"}
        ).record
        create_post(found, harbor, "Tea #ColdBrew $HRBR https://tea.example/1 \U0001f600")
        create_post(found, bikes, "coffee tea", reply_to=first, fields={"favorite_count": 3})
        create_post(found, bikes, "A coffee https://a.example", quoted=first)
        create_post(found, bikes, "RT @harbor_roasters: coffee #ColdBrew", reposted=first)
        create_post(found, harbor, "coffee?", reply_to=first)
        media = {"_media_keys": ["3_1712850617439560001"]}
        create_post(found, harbor, "brew it cold", fields=media)
    return found


@pytest.mark.parametrize("text", QUERIES)
def test_what_matches_passes(world: World, text: str) -> None:
    """No match is held back, and something matches."""
    tree = read_rule(text, "search").tree
    assert tree is not None
    matches, sieve = compile_rule(tree, "search"), make_sieve(tree)
    posts = [entry.record for entry in world.store.page("posts")]

    def passes(post: Record) -> bool:
        return sieve is None or sieve(post, fold_text(post["full_text"]))

    matching = [post for post in posts if matches(make_subject(world, post, "search"))]
    assert matching
    assert [] == [post["full_text"] for post in matching if not passes(post)]


@pytest.mark.parametrize("text", ["coffee", "#coldbrew", "min_likes:3", "lang:pt cafe", "a OR tea"])
def test_what_cannot_match_is_held_back(world: World, text: str) -> None:
    """Posts without the word, tag, count or language do not pass."""
    tree = read_rule(text, "search").tree
    assert tree is not None
    sieve = make_sieve(tree)
    assert sieve is not None
    posts = [entry.record for entry in world.store.page("posts")]

    passed = [post for post in posts if sieve(post, fold_text(post["full_text"]))]
    assert len(passed) < len(posts)


@pytest.mark.parametrize("text", ["-coffee tea", "coffee OR -tea"])
def test_a_negation_holds_nothing_back(text: str) -> None:
    """Alone it is no condition; beside another term that one remains."""
    sieve = make_sieve(parse(text))
    assert (sieve is None) is ("OR" in text)
