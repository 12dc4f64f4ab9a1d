"""How long the rules of a filtered stream take: reading them, changing one, matching posts.

Run it with `python benchmarks/rules.py`. Numbers are microseconds; each is the best of several
rounds. Words are as frequent as in natural text, so that few rules match a post.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from mock_platform.api.v2.filtered_stream.rules import RuleBook, find_rule_book
from mock_platform.api.v2.search.matching import compile_rule
from mock_platform.api.v2.search.query import read_rule
from mock_platform.api.v2.search.subjects import Subject
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.clock import UPTIME
from mock_platform.world.ids import Ids
from mock_platform.world.world import World

SIZES = (100, 1_000, 10_000, 25_000)
POSTS = 1_000
WORDS = 20_000
USERS = 5_000
ROUNDS = 5
APP = "11827"


class Chance:
    """Numbers that are the same in every run."""

    def __init__(self, name: str) -> None:
        self._ids = Ids(0, name)
        self._drawn = count()

    def number(self, below: int) -> int:
        """A number from 0 on, all equally likely."""
        return int(self._ids.fraction(next(self._drawn)) * below)

    def words(self, many: int) -> list[str]:
        """So many words; the first one of the language is the most frequent."""
        draws = (self._ids.fraction(next(self._drawn)) for _ in range(many))
        return [f"word{int(WORDS**draw)}" for draw in draws]


def rules(many: int) -> Iterator[str]:
    """Rules of the usual kinds: words, phrases, tags, authors, alternatives, conditions."""
    chance = Chance("rules")
    for number in range(many):
        one, two, three = (f"word{300 + chance.number(WORDS - 300)}" for _ in range(3))
        yield (
            f"{one} {two}",
            f'"{one} {two}" lang:en',
            f"#{one} -is:repost",
            f"from:user{chance.number(USERS)} has:links",
            f"({one} OR {two} OR {three}) -is:reply lang:en",
            f"@user{chance.number(USERS)} {one}",
            f"{one} -({two} OR {three})",
        )[number % 7]


def posts() -> list[dict[str, Any]]:
    """Posts with twenty words, some with a tag, a mention and a link."""
    chance = Chance("posts")
    found = []
    for number in range(POSTS):
        text = chance.words(20)
        entities: dict[str, list[dict[str, str]]] = {}
        if number % 3 == 0:
            entities["hashtags"] = [{"tag": text[-1]}]
        if number % 4 == 0:
            entities["mentions"] = [{"username": f"user{chance.number(USERS)}"}]
        if number % 5 == 0:
            entities["urls"] = [{"expanded_url": f"https://{text[0]}.example/{text[1]}"}]
        author = str(chance.number(USERS))
        found.append(
            {"id": str(number), "text": " ".join(text), "lang": "en", "entities": entities,
             "author_id": author}
        )  # fmt: skip
    return found


def make_subjects(shown: list[dict[str, Any]], users: dict[str, dict[str, Any]]) -> list[Subject]:
    """The posts as rules see them, not yet taken apart."""
    return [Subject(post, "stream", users, {}) for post in shown]


def measure(world: World, texts: list[str], shown: list[dict[str, Any]]) -> dict[str, float]:
    """The times for so many rules."""
    users = {str(n): {"username": f"user{n}", "verified": False} for n in range(USERS)}
    with world.work():
        for number, text in enumerate(texts):
            record = {"id": str(number), "value": text, "_app_id": APP}
            world.store.put("stream_rules", record["id"], record)
    with world.work():
        start = UPTIME()
        book = find_rule_book(world, APP)
        built = UPTIME() - start
        start = UPTIME()
        world.store.put("stream_rules", "x", {"id": "x", "value": "word1", "_app_id": APP})
        find_rule_book(world, APP)
        changed = UPTIME() - start
        world.store.remove("stream_rules", "x")
        find_rule_book(world, APP)
        matched, hits = match_all(book, shown, users)
    return {
        "rules": len(texts),
        "read, per rule": built / len(texts) * 1e6,
        "one change": changed * 1e6,
        "match, per post": matched / len(shown) * 1e6,
        "each rule by itself, per post": match_by_itself(texts, shown[:20], users) / 20 * 1e6,
        "rules that match a post": hits / len(shown),
    }


def match_all(
    book: RuleBook, shown: list[dict[str, Any]], users: dict[str, dict[str, Any]]
) -> tuple[float, int]:
    """Seconds for all posts, taken apart and matched, and how many rules matched."""
    best, hits = float("inf"), 0
    for _ in range(ROUNDS):
        subjects = make_subjects(shown, users)
        start = UPTIME()
        hits = sum(len(book.find_matching(subject)) for subject in subjects)
        best = min(best, UPTIME() - start)
    return best, hits


def match_by_itself(
    texts: list[str], shown: list[dict[str, Any]], users: dict[str, dict[str, Any]]
) -> float:
    """Seconds for some posts without the selection, for comparison."""
    trees = [tree for text in texts if (tree := read_rule(text, "stream").tree) is not None]
    matches = [compile_rule(tree, "stream") for tree in trees]
    subjects = make_subjects(shown, users)
    start = UPTIME()
    for subject in subjects:
        sum(match(subject) for match in matches)
    return UPTIME() - start


def main() -> None:
    """Print a line for each number of rules."""
    shown = posts()
    for size in SIZES:
        platform = Platform(Settings())
        found = measure(platform.worlds.default, list(rules(size)), shown)
        print("  ".join(f"{name}: {value:,.1f}" for name, value in found.items()))
        platform.close()


if __name__ == "__main__":
    main()
