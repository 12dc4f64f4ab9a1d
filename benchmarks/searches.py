"""How long searches and counts take in a world with many posts.

Run it with `python benchmarks/searches.py`. Numbers are milliseconds for one call of the handler's
search; each is the best of several rounds.
"""

from __future__ import annotations

from datetime import timedelta

from mock_platform.api.v2.posts.changes import create_post
from mock_platform.api.v2.search.query import read_rule
from mock_platform.api.v2.search.search import RECENT, Search, Window
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.clock import UPTIME
from mock_platform.world.world import World

SIZES = (1_000, 10_000)
ROUNDS = 3
PAGE = 11
QUERIES = {
    "a word of every post": "coffee",
    "a word of one post": "only7",
    "a word of no post": "zebra",
    "an author": "from:harbor_roasters",
    "a tag of few posts": "#tag7 -zebra",
    "a count that no post has": "min_likes:5",
    "links in another language": "coffee has:links lang:de",
}


def fill(world: World, many: int) -> None:
    """Make so many posts."""
    author = world.store.get("users", "2244994945")
    assert author is not None
    for number in range(many):
        text = f"A coffee, only{number} #tag{number % 500} https://a.example/{number}"
        with world.work():
            create_post(world, author, text)


def measure(world: World, query: str, limit: int | None) -> float:
    """The best time of a search, in milliseconds."""
    tree = read_rule(query, "search").tree
    assert tree is not None
    now = world.clock.now()
    window = Window(now - RECENT, now + timedelta(milliseconds=1))
    best = float("inf")
    for _ in range(ROUNDS):
        with world.work():
            began = UPTIME()
            Search(world, tree, window, Settings(), None).find(limit=limit)
            best = min(best, UPTIME() - began)
    return best * 1000


def main() -> None:
    """Print a table for each size: a page of a search, and all matches, as a count needs them."""
    for size in SIZES:
        world = Platform(Settings()).worlds.default
        fill(world, size)
        print(f"{size:,} posts{'':24}page     all")
        for what, query in QUERIES.items():
            page, everything = (measure(world, query, limit) for limit in (PAGE, None))
            print(f"  {what:28} {page:8.1f}{everything:8.1f}")


if __name__ == "__main__":
    main()
