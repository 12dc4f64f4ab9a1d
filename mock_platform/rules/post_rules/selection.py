"""Finds, among many rules, those that match a post, without evaluating them all.

Each rule is stored under keys of which a matching post must have one: a word, a hashtag, an author.
A post looks up its own keys and evaluates only the rules that it finds there, and those few that
have no such key.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from mock_platform.rules.post_rules.matching import Match, compile_rule, find_required_keys
from mock_platform.rules.post_rules.operators import Product
from mock_platform.rules.post_rules.subject import Key, Subject
from mock_platform.rules.post_rules.tree import Node

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
        places = set(self._always)
        for kind, by_value in self._by_key.items():
            for value in by_value.keys() & subject.find_values(kind):
                places |= by_value[value]
        return [
            name
            for name, matches in (self._rules[place] for place in sorted(places))
            if matches(subject)
        ]
