"""Finds, among many rules, those that match a post, without evaluating them all.

Each rule is stored under keys of which a matching post must have one: a word, a hashtag, an author.
A post looks up its own keys and evaluates only the rules that it finds there, and those few that
have no such key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Generic, TypeVar

from mock_platform.rules.post_rules.matching import Match, compile_rule, find_required_keys
from mock_platform.rules.post_rules.operators import Product
from mock_platform.rules.post_rules.subject import Key, Subject
from mock_platform.rules.post_rules.tree import Node

Name = TypeVar("Name")


class RuleSelection(Generic[Name]):
    """Rules by name, in the order in which they were added. It does not change."""

    def __init__(self, rules: Iterable[tuple[Name, Node, str]], product: Product) -> None:
        """`rules` holds name, tree and sample key of each."""
        self._rules: list[tuple[Name, Match]] = []
        self._by_key: dict[Key, list[int]] = defaultdict(list)
        self._always: list[int] = []
        for place, (name, tree, sample_key) in enumerate(rules):
            self._rules.append((name, compile_rule(tree, product, sample_key=sample_key)))
            keys = find_required_keys(tree, product)
            if keys is None:
                self._always.append(place)
            else:
                for key in keys:
                    self._by_key[key].append(place)

    def matching(self, subject: Subject) -> list[Name]:
        """Return the names of the rules that match a post, in their order."""
        by_key = self._by_key
        places = set(self._always)
        for key in subject.keys:
            if key in by_key:
                places.update(by_key[key])
        return [
            name
            for name, matches in (self._rules[place] for place in sorted(places))
            if matches(subject)
        ]
