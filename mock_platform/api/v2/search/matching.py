"""Decides whether a rule matches a post and why not, and finds the matching ones among many.

A rule becomes a function once; a post is taken apart once (`subjects`).
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar

from mock_platform.api.v2.search.operators import COUNTED, OPERATORS, Product
from mock_platform.api.v2.search.query import And, Clause, Node, Not, Or, spell
from mock_platform.api.v2.search.subjects import Key, Subject, tokens_of

Match = Callable[[Subject], bool]
_USERS = {"from": "author", "to": "replied_to", "reposts_of": "reposted_author"}
_IDS = {
    "in_reply_to_post_id": "reply", "reposts_of_post_id": "repost", "quotes_of_post_id": "quote",
}  # fmt: skip


def compile_rule(node: Node, product: Product, *, sample_key: str = "") -> Match:
    """Bind a tree to a function of a post.

    `sample_key` (the seed and the rule's id) decides which posts `sample:` lets through, so that a
    run repeats.
    """
    match node:
        # A rule is a tree of closures: each node was turned into a function of a post, with
        # everything that depends on the rule alone (split words, lower case, parsed numbers)
        # already done. Evaluating it walks no tree and compares no names of operators.
        case Clause():
            return _compile_clause(node, product, sample_key)
        case Not():
            inner = compile_rule(node.term, product, sample_key=sample_key)
            return lambda post: not inner(post)
        case And():
            terms = [compile_rule(term, product, sample_key=sample_key) for term in node.terms]
            return lambda post: all(term(post) for term in terms)
        case Or():
            terms = [compile_rule(term, product, sample_key=sample_key) for term in node.terms]
            return lambda post: any(term(post) for term in terms)


def _compile_clause(clause: Clause, product: Product, sample_key: str) -> Match:
    value = clause.value.casefold()
    match clause.kind:
        case "word" | "phrase":
            words = tokens_of(clause.value, product)
            return lambda post: _follow(words, post.tokens)
        case "near":
            words = tokens_of(clause.value, product)
            return lambda post: _near(words, post.tokens, clause.distance)
        case "hashtag":
            return lambda post: value in post.hashtags
        case "mention":
            return lambda post: value in post.mentions
        case "cashtag":
            return lambda post: value in post.cashtags
        case "operator":
            return _compile_operator(clause.operator, value, product, sample_key)


def _compile_operator(name: str, value: str, product: Product, sample_key: str) -> Match:
    if not OPERATORS[name].evaluated:
        return lambda _post: False
    make = _MAKERS.get(name)
    if make is not None:
        return make(name, value)
    if name == "url":
        words = tokens_of(value, product)
        return lambda post: any(_follow(words, url) for url in post.urls)
    # Not a random number: the checksum of the rule and the post is the same in each run and in each
    # process, yet spread evenly, so that `sample:10` lets through the same tenth of posts every
    # time.
    percent = int(value)  # sample
    return lambda post: zlib.crc32(f"{sample_key}:{post.post['id']}".encode()) % 100 < percent


def _match_user(name: str, value: str) -> Match:
    attribute, user = _USERS[name], value.removeprefix("@")
    return lambda post: user in getattr(post, attribute)


def _match_reference(name: str, value: str) -> Match:
    kind = _IDS[name]
    return lambda post: post.references.get(kind) == value


def _match_metric(name: str, value: str) -> Match:
    metric, least = COUNTED[name], int(value)
    return lambda post: (post.post.get("public_metrics") or {}).get(metric, 0) >= least


def _match_feature(name: str, value: str) -> Match:
    feature = f"{name}:{value}"
    return lambda post: feature in post.features


def _match_field(name: str, value: str) -> Match:
    return lambda post: str(post.post.get(name, "")).casefold() == value


def _match_conversation(name: str, value: str) -> Match:
    return lambda post: post.post.get(name) == value != post.post.get("id")


def _match_list(_name: str, value: str) -> Match:
    return lambda post: value in post.lists


_MAKERS: Mapping[str, Callable[[str, str], Match]] = {
    **dict.fromkeys(_USERS, _match_user),
    **dict.fromkeys(_IDS, _match_reference),
    **dict.fromkeys(COUNTED, _match_metric),
    **dict.fromkeys(("is", "has"), _match_feature),
    "list": _match_list,
    "lang": _match_field,
    "conversation_id": _match_conversation,
}


def _follow(words: Sequence[str], tokens: Sequence[str]) -> bool:
    """Whether the words stand in the tokens one after the other."""
    if not words:
        return False
    if len(words) == 1:
        return words[0] in tokens
    first, size = words[0], len(words)
    return any(
        token == first and tuple(tokens[at : at + size]) == tuple(words)
        for at, token in enumerate(tokens)
    )


def _near(words: Sequence[str], tokens: Sequence[str], distance: int) -> bool:
    """Whether each word has the next one at most so many tokens away, in either direction."""
    places = [[at for at, token in enumerate(tokens) if token == word] for word in words]
    if not places or not all(places):
        return False
    return all(
        any(0 < abs(one - other) <= distance for one in here for other in there)
        for here, there in pairwise(places)
    )


def find_required_keys(node: Node, product: Product) -> frozenset[Key] | None:
    """Keys of which a post must have at least one for the rule to match; `None` if that is unknown.

    They let many rules be found for a post without evaluating each (`RuleSelection`).
    """
    # A matching post must have at least one key of the returned set. For a clause that is its own
    # word or value. For OR it is the union, and unknown as soon as one part is unknown, because a
    # post may match by that part alone. For AND any one term would do, as all must match; the
    # cheapest is taken. For NOT nothing is known: posts match by what they do not have.
    match node:
        case Clause():
            key = _key_of(node, product)
            return None if key is None else frozenset({key})
        case Not():
            return None
        case And():
            found = [keys for term in node.terms if (keys := find_required_keys(term, product))]
            return min(found, key=_cost, default=None)
        case Or():
            parts = [find_required_keys(term, product) for term in node.terms]
            if any(part is None for part in parts):
                return None
            return frozenset(key for part in parts if part is not None for key in part)


def _cost(keys: frozenset[Key]) -> tuple[int, int]:
    """Prefer few keys, and long words to short ones: they are rarer in posts."""
    return len(keys), -min(len(value) for _, value in keys)


def _key_of(clause: Clause, product: Product) -> Key | None:
    value = clause.value.casefold()
    if clause.kind in {"word", "phrase", "near"}:
        words = tokens_of(clause.value, product)
        return ("token", max(words, key=len)) if words else None
    if clause.kind != "operator":
        return (clause.kind, value)
    if clause.operator == "url":
        words = tokens_of(value, product)
        return ("url", max(words, key=len)) if words else None
    if clause.operator in _USERS:
        return (clause.operator, value.removeprefix("@"))
    if clause.operator in _IDS or clause.operator == "conversation_id":
        return (clause.operator, value)
    return None


def explain(node: Node, subject: Subject, *, sample_key: str = "") -> dict[str, Any]:
    """Describe how a tree fares with a post: each part with its text and whether it matches."""
    matches = compile_rule(node, subject.product, sample_key=sample_key)(subject)
    described: dict[str, Any] = {"text": spell(node), "matches": matches}
    match node:
        case Clause():
            described |= {"kind": node.operator or node.kind, "position": node.position}
        case Not():
            described |= {
                "kind": "not",
                "position": node.position,
                "terms": [explain(node.term, subject, sample_key=sample_key)],
            }
        case And() | Or():
            described |= {
                "kind": "and" if isinstance(node, And) else "or",
                "terms": [explain(term, subject, sample_key=sample_key) for term in node.terms],
            }
    return described


def find_failed_clauses(node: Node, subject: Subject, *, sample_key: str = "") -> list[Node]:
    """List the parts that keep a rule from matching a post; none if it matches.

    Of an AND these are the terms that do not match, of an OR all of them, of a negation the
    negated term as it is written.
    """
    if compile_rule(node, subject.product, sample_key=sample_key)(subject):
        return []
    if isinstance(node, And | Or):
        return [
            found
            for term in node.terms
            for found in find_failed_clauses(term, subject, sample_key=sample_key)
        ]
    return [node]


# Finds, among many rules, those that match a post, without evaluating them all. Each rule is
# stored under keys of which a matching post must have one: a word, a hashtag, an author. A post
# looks up its own keys and evaluates only the rules that it finds there, and those few that
# have no such key.

Name = TypeVar("Name", bound=Hashable)


class RuleSelection(Generic[Name]):
    """Rules by name, in the order in which they were added."""

    def __init__(self, rules: Iterable[tuple[Name, Node, str]], product: Product) -> None:
        """`rules` holds name, tree and sample key of each."""
        self._product = product
        self._next_place = itertools.count()
        self._rules: dict[int, tuple[Name, Match]] = {}
        self._by_name: dict[Name, tuple[int, frozenset[Key] | None]] = {}
        self._by_key: dict[str, dict[str, set[int]]] = {}
        """The places of the rules by the kind and the value of their keys."""
        self._always: set[int] = set()
        for name, tree, sample_key in rules:
            self.add(name, tree, sample_key)

    def add(self, name: Name, tree: Node, sample_key: str) -> None:
        """Add a rule whose name is new."""
        place = next(self._next_place)
        self._rules[place] = (name, compile_rule(tree, self._product, sample_key=sample_key))
        keys = find_required_keys(tree, self._product)
        self._by_name[name] = (place, keys)
        if keys is None:
            self._always.add(place)
            return
        for kind, value in keys:
            self._by_key.setdefault(kind, {}).setdefault(value, set()).add(place)

    def discard(self, name: Name) -> None:
        """Remove a rule, if it is there."""
        place, keys = self._by_name.pop(name, (None, None))
        if place is None:
            return
        del self._rules[place]
        self._always.discard(place)
        for kind, value in keys or ():
            places = self._by_key[kind][value]
            places.discard(place)
            if not places:
                del self._by_key[kind][value]

    def matching(self, subject: Subject) -> list[Name]:
        """Return the names of the rules that match a post, in their order."""
        # Candidates come from the keys, which can only be too many, never too few; each candidate
        # is then evaluated in full. The intersection runs over the smaller of the two sets of keys,
        # so it costs about the words of the post, not the number of rules.
        places = set(self._always)
        for kind, by_value in self._by_key.items():
            for value in by_value.keys() & subject.find_values(kind):
                places |= by_value[value]
        return [
            name
            for name, matches in (self._rules[place] for place in sorted(places))
            if matches(subject)
        ]
