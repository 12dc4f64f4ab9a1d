"""The rules of an app, and the books that find those that match a post."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.api.v2.filtered_stream.rules import find_rule_book, find_rule_faults
from mock_platform.api.v2.search import query as checks
from mock_platform.api.v2.search.query import read_rule
from mock_platform.api.v2.search.subjects import Subject
from mock_platform.settings import Settings
from mock_platform.world.world import World
from tests.support import make_platform

APP, OTHER_APP = "11827", "20993"


@pytest.fixture
def world() -> Iterator[World]:
    """A world without rules."""
    platform = make_platform(Settings())
    found = platform.worlds.default
    with found.work():
        for entry in found.store.page("stream_rules"):
            found.store.remove("stream_rules", entry.key)
    yield found
    platform.close()


def put(world: World, key: str, value: str, app: str = APP) -> None:
    """Store a rule."""
    with world.work():
        world.store.put("stream_rules", key, {"id": key, "value": value, "_app_id": app})


def matching(world: World, text: str, app: str = APP) -> list[str]:
    """The ids of the rules that match a post with this text."""
    with world.work():
        book = find_rule_book(world, app)
        post = Subject({"id": "1", "text": text}, "stream", {}, {})
        return [record["id"] for record in book.find_matching(post)]


def test_changes_of_the_rules(world: World) -> None:
    """A book follows what is added, changed, deleted and undone, for each app by itself."""
    put(world, "1", "cat")
    put(world, "2", "cat OR dog")
    put(world, "3", "cat", OTHER_APP)
    assert ["1", "2"] == matching(world, "A cat")
    assert ["3"] == matching(world, "A cat", OTHER_APP)
    put(world, "1", "fox")
    with world.work():
        world.store.remove("stream_rules", "2")

    assert [] == matching(world, "A cat")
    assert ["1"] == matching(world, "A fox")
    world.reset()
    assert [] == matching(world, "A fox")


def test_only_changed_rules_are_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of one rule does not read the others again, and a post reads none."""
    read: list[str] = []

    def spy(text: str, *args: Any, **more: Any) -> checks.CheckedRule:
        read.append(text)
        return read_rule(text, *args, **more)

    monkeypatch.setattr("mock_platform.api.v2.filtered_stream.rules.read_rule", spy)
    put(world, "1", "cat")
    put(world, "2", "dog")
    matching(world, "A cat")
    matching(world, "A dog")
    assert ["cat", "dog"] == read
    put(world, "3", "fox")
    matching(world, "A fox")

    assert ["cat", "dog", "fox"] == read


def test_rules_that_are_none(world: World) -> None:
    """What was stored unchecked and is no rule matches nothing, and is known as faulty."""
    put(world, "1", "(cat")
    put(world, "2", "cat")

    assert ["2"] == matching(world, "A cat")
    with world.work():
        assert ["1"] == list(find_rule_book(world, APP).faulty)
    put(world, "1", "dog")
    with world.work():
        assert {} == find_rule_book(world, APP).faulty


@given(st.lists(st.from_regex(r"[#@]?\w+", fullmatch=True), min_size=1).map(" ".join))
def test_words_in_a_row_are_a_rule(text: str) -> None:
    """What needs no parser to be a rule is one for the parser as well."""
    if len(text) <= 1_024 and not find_rule_faults(text):
        assert () == read_rule(text, "stream").faults


@pytest.mark.parametrize(
    "text", ["(cat", "cat and dog", "cat AND dog", "cat OR", "-b", "x" * 2_049]
)
def test_faulty_records(text: str) -> None:
    """A record that is no rule has the faults of the rule."""
    assert [] != list(find_rule_faults(text))
