"""The operation that somebody means who writes an id that no operation has: `tweets.create`.

Users guess ids from what they know: a path of the interface, its original names, a method of their
client library. So a guess is read as an action (`create`, `lookup`, `unlike`) and a subject, and
both are compared with what operations are: their ids, the segments of their paths, their methods.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from math import log
from operator import itemgetter

from msgspec import Struct

from mock_platform.api.served import AGENT_TOOLS, OPERATIONS, ORIGINAL_NAMES, PUBLISHED_IDS
from mock_platform.core.operation import Operation

_WORDS_OF = {
    "create": "create add insert make new post publish register send submit subscribe upload",
    "get": "get fetch one read retrieve show single view",
    "list": "list all find index lookup many",
    "delete": "delete cancel destroy drop remove unsubscribe",
    "update": "update change edit modify patch put save set upsert",
    "search": "search query",
    "open": "open connect listen",
}
_ACTION_OF = {word: action for action, words in _WORDS_OF.items() for word in words.split()}
_OF_METHOD = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}
_ALIKE = {
    "get": ("list", "search"),
    "list": ("search", "get"),
    "search": ("list", "get"),
    "create": ("open",),
}
"""The actions that one may mean as well, the nearer first."""
_UNDONE = re.compile(r"un(?=[a-z]{3})")
_MANY = re.compile(r"(?:s|ing)$")
_ENDING = re.compile(r"(?:e?s|e?d|e?rs?|ing)$")
_LIKE = 0.85
"""From here on a word, or an id, is taken for one that is misspelt."""
_NEAR, _MISSPELT = 0.95, 0.8
"""How much of a word one with another ending is, and a misspelt one."""
_UNKNOWN, _OTHER = 1.5, 2.0
"""The weight of a word that no operation has, and of one that only the operation has."""
_SAME_PART = 0.4
"""What it scores more if the part before or after the last dot is the same."""
_OLDER = 0.8
"""What operations of the older interface score less, because few mean them."""
_LEAST = 1.9
"""The least score of a suggestion; the greatest is that of an equal path, id and action, 4.5."""
_MOST_CHARACTERS = 80
_MOST_SUGGESTED = 8

Words = tuple[str, ...]


class _Reading(Struct, frozen=True):
    """One way to read a guess: what is done, and to what."""

    action: str
    subject: Words
    certainty: float = 1.0
    """Less where no word says the action, only the form of the noun."""


class _Target(Struct, frozen=True):
    """What there is to compare of an operation."""

    id: str
    actions: frozenset[str]
    names: tuple[Words, ...]
    paths: tuple[Words, ...]
    last: Words
    """The words of the last segment, which is what the path is about."""
    is_older: bool

    @property
    def words(self) -> frozenset[str]:
        """All words of its names and paths."""
        return frozenset(word for each in (*self.names, *self.paths) for word in each)


def suggest_operations(text: str, known: Collection[str] | None = None) -> list[str]:
    """Return the ids that a text may mean, the likeliest first; only known ones if they are given.

    Example:
        >>> suggest_operations("tweets.create")[0]
        'public_posts.create'
    """
    text = text[:_MOST_CHARACTERS]
    comparison = _Comparison(text, _collect())
    ranked = [
        (score, target.id)
        for target in _collect().targets
        if known is None or target.id in known
        if (score := comparison.score(target)) >= _LEAST
    ]
    ranked.sort(key=itemgetter(0), reverse=True)
    return [id_ for _, id_ in ranked[:_MOST_SUGGESTED]]


def hint_at_operation(text: str, known: Collection[str] | None = None) -> str:
    """Return ` Did you mean 'x'?`, or an empty text if no operation is near.

    Example:
        >>> hint_at_operation("getTweets")
        " Did you mean 'public_posts.list'?"
    """
    near = suggest_operations(text, known)
    return f" Did you mean {near[0]!r}?" if near else ""


class _Operations:
    """The operations, and the weight of each word: one that few of them have says more."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.targets = tuple(map(_describe, operations))
        counts = Counter(word for target in self.targets for word in target.words)
        self.weights = {word: log(len(self.targets) / n) + 0.5 for word, n in counts.items()}

    def split(self, word: str) -> Words:
        """Return the known words that a word is made of: `line` and `item` for `lineitem`."""
        for at in range(3, len(word) - 2) if word not in self.weights else ():
            parts = word[:at], word[at:]
            if all(part in self.weights for part in parts):
                return parts
        return (word,)


@cache
def _collect() -> _Operations:
    return _Operations(OPERATIONS)


class _Comparison:
    """A guess beside operations."""

    def __init__(self, text: str, operations: _Operations) -> None:
        self._text = text
        self._operations = operations
        self._readings = list(self._read())
        words = {word for reading in self._readings for word in reading.subject}
        self._like = {word: self._find_like(word) for word in words}
        self._is_misspelt = not all(
            word in _ACTION_OF or _reduce(word) in operations.weights for word in _split(text)
        )

    def score(self, target: _Target) -> float:
        """Return how well an operation fits the guess, from 0."""
        found = max((self._score(reading, target) for reading in self._readings), default=0.0)
        if self._is_misspelt:
            matcher = SequenceMatcher(None, self._text, target.id)
            if matcher.quick_ratio() > _LIKE and (likeness := matcher.ratio()) > _LIKE:
                found += 2 + 10 * (likeness - _LIKE)
        family, _, tail = target.id.rpartition(".")
        found += _SAME_PART * self._text.startswith(f"{family}.")
        found += _SAME_PART * self._text.endswith(f".{tail}")
        return found - _OLDER * target.is_older

    def _read(self) -> Iterator[_Reading]:
        """Yield the ways to read the guess."""
        family, dot, rest = self._text.rpartition(".")
        before, tail = _split(family), _split(rest)
        if not tail:
            return
        is_many = _MANY.search(tail[-1]) is not None
        first = _find_action(tail[0]) if before or len(tail) > 1 else ""
        if first == "search":
            yield _Reading(first, self._reduce([*before, *tail]))
        elif first:
            lists = first == "get" and is_many and not before  # get_tweets
            yield _Reading("list" if lists else first, self._reduce([*before, *tail[1:]]))
        last = _find_action(tail[-1]) if len(tail) > 1 and not dot else ""
        if last:
            yield _Reading(last, self._reduce(tail[:-1]), 0.6)
        if before and (turned := _ACTION_OF.get(before[0], "")):  # create.line_items
            yield _Reading(turned, self._reduce([*before[1:], *tail]))
        if _UNDONE.match(tail[0]):
            yield _Reading("delete", self._reduce([*before, tail[0][2:], *tail[1:]]))
        if not (before and len(tail) == 1 and first):
            # `like`, `tweet` and `follow_user` make one; `followers` and `users.mentions` are many.
            made = "list" if is_many else "create"
            yield _Reading(made, self._reduce([*before, *tail]), 0.9 if before else 0.6)

    def _reduce(self, words: Sequence[str]) -> Words:
        return tuple(part for word in words for part in self._operations.split(_reduce(word)))

    def _find_like(self, word: str) -> Mapping[str, float]:
        """Return the known words that are like one, each with its part of it."""
        known = self._operations.weights
        stem = _stem(word)
        found: dict[str, float] = {}
        if word not in known:
            found |= dict.fromkeys(get_close_matches(word, known, 3, _LIKE), _MISSPELT)
        found |= {each: _MISSPELT for each in known if len(word) >= 4 and each.startswith(word)}
        found |= {each: _NEAR for each in known if _stem(each) == stem}
        return found | ({word: 1.0} if word in known else {})

    def _score(self, reading: _Reading, target: _Target) -> float:
        subject = reading.subject
        path = max(self._compare(subject, each) for each in target.paths)
        name = max(self._compare(subject, each) for each in target.names)
        name = max(name, 0.8 * self._compare(subject, target.last))
        if not path and not name:
            return 0.0
        whole = sum(map(self._weigh, subject))
        covered = self._share(subject, target.words)[0] / whole
        action = max((_near_action(reading.action, each) for each in target.actions), default=0.0)
        return 1.5 * path + name + covered + action * reading.certainty

    def _compare(self, wanted: Words, found: Words) -> float:
        """Return how much two subjects have in common, from 0 to 1."""
        shared, left = self._share(wanted, found)
        whole = sum(map(self._weigh, wanted))
        return 2 * shared / (whole + shared + _OTHER * left) if shared else 0.0

    def _share(self, wanted: Words, found: Iterable[str]) -> tuple[float, int]:
        """Return the weight of the words that both have, and how many others are in `found`."""
        left, shared = list(found), 0.0
        for word in wanted:
            like = self._like[word]
            near = max(left, key=lambda each: like.get(each, 0.0), default="")
            if near in like:
                shared += like[near] * self._weigh(word)
                left.remove(near)
        return shared, len(left)

    def _weigh(self, word: str) -> float:
        return self._operations.weights.get(word, _UNKNOWN)


def _near_action(wanted: str, found: str) -> float:
    if wanted == found:
        return 1.0
    also = _ALIKE.get(wanted, ())
    return (0.7, 0.5)[also.index(found)] if found in also else 0.0


def _describe(operation: Operation) -> _Target:
    family, _, tail = operation.id.rpartition(".")
    segments = [each for each in operation.path.split("/")[2:] if not each.startswith(":")]
    published = PUBLISHED_IDS.get(operation.id), AGENT_TOOLS.get(operation.id)
    is_action = tail in _ACTION_OF and tail not in segments
    names = [_split(family) if is_action else _split(operation.id)]
    for name in filter(None, published):
        first, *rest = _split(name)
        names.append(rest if rest and first in _ACTION_OF else [first, *rest])
    actions = {_OF_METHOD.get(operation.method, "")} - {""}
    if tail in _ACTION_OF:
        actions.add(_ACTION_OF[tail])
    elif not actions:
        actions.add("get" if operation.path.rpartition("/")[2].startswith(":") else "list")
    if operation.method == "GET" and "search" in segments:
        actions.add("search")
    return _Target(
        operation.id,
        frozenset(actions),
        tuple(dict.fromkeys(tuple(map(_reduce, words)) for words in names)),
        tuple(dict.fromkeys(_split_path(path) for path in (operation.path, *operation.also))),
        tuple(map(_reduce, _split(segments[-1]))) if segments else (),
        operation.path.startswith("/1.1/"),
    )


def _split_path(path: str) -> Words:
    segments = [each for each in path.split("/")[2:] if each and not each.startswith(":")]
    return tuple(_reduce(word) for each in segments for word in _split(each.removesuffix(".json")))


def _split(text: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()
    return [word for word in re.split(r"[^a-z0-9]+", apart) if word]


def _reduce(word: str) -> str:
    """Return a word in its neutral form and without the ending of the plural."""
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "news")):
        word = word[:-1]
    for original, neutral in _neutral_words().items():
        if word.startswith(original):
            return neutral + word.removeprefix(original)
    return word


@cache
def _neutral_words() -> Mapping[str, str]:
    """Return the words of original names, each with the one in its place: post for tweet."""
    return {
        old.rstrip("s"): new.rstrip("s")
        for pairs in ORIGINAL_NAMES.pairs.values()
        for names in pairs.segments.items()
        for new, old in zip(*map(_split, names), strict=True)
        if new != old
    }


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word)
    if len(stem) < 3:
        return word
    return stem[:-1] if stem[-1] == stem[-2] else stem.rstrip("e")


def _find_action(word: str) -> str:
    near = [word] if word in _ACTION_OF else get_close_matches(word, _ACTION_OF, 1, 0.8)
    return _ACTION_OF[near[0]] if near else ""
