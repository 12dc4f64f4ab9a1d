"""Stores in memory over shared fixtures; what every store does is tested in `test_store`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from mock_platform.world.store.interface import Order, Scope, Snapshot
from mock_platform.world.store.memory import Base, MemoryStore
from tests.world.backends import fixtures, item, keys


def test_base_is_shared_and_untouched() -> None:
    """Two stores over one base do not see each other's changes."""
    base = Base(fixtures())
    one, two = MemoryStore(base), MemoryStore(base)
    one.remove("items", "f1")
    one.put("items", "f2", item("f2", name="changed"))

    assert ["f1", "f2", "f3", "f4"] == keys(two)
    assert fixtures()["items"]["f2"] == two.get("items", "f2")
    assert 3 == one.count("items")


def test_first() -> None:
    """The first record that matches, in the order that is asked for; nothing if none does."""
    store = MemoryStore(Base(fixtures()))
    latest = Order(descending=True)

    assert fixtures()["items"]["f1"] == store.first("items")
    assert fixtures()["items"]["f4"] == store.first("items", order=latest)
    assert store.first("items", {"group": "nowhere"}) is None


def test_rebase() -> None:
    """Other fixtures take the place of everything, and only of this store."""
    base = Base(fixtures())
    one, two = MemoryStore(base), MemoryStore(base)
    one.put("items", "n", item("n"))
    one.page("items", {"group": "a"})
    other = Base({"items": {"g1": item("g1")}})
    one.restore(Snapshot({}, other.next_seq), base=other)

    assert ["g1"] == keys(one, match={"group": "a"})
    assert one.tables() == ["items"]
    assert ["f1", "f2", "f3", "f4"] == keys(two)

    with one.transaction(), pytest.raises(RuntimeError, match="inside a transaction"):
        one.restore(Snapshot({}, base.next_seq), base=base)
    one.clear()
    assert ["g1"] == keys(one)


def test_fork() -> None:
    """A store that begins as another's snapshot goes its own way."""
    base = Base(fixtures())
    one = MemoryStore(base)
    one.put("items", "n", item("n"))
    two = MemoryStore(base, one.snapshot())
    one.remove("items", "n")
    two.put("items", "m", item("m"))

    assert ["f1", "f2", "f3", "f4"] == keys(one)
    assert ["f1", "f2", "f3", "f4", "n", "m"] == keys(two)


@pytest.mark.parametrize("descending", [False, True])
def test_ends_of_a_walk(*, descending: bool) -> None:
    """A page ends before a position, and looks at so many entries, over both layers."""
    store = MemoryStore(Base(fixtures()))
    for key in ("f2", "n", "m"):
        store.put("items", key, item(key))
    order = Order(descending=descending)
    whole = store.page("items", order=order)

    for count, entry in enumerate(whole):
        found = store.page("items", order=order, until=entry.position)
        assert whole[:count] == found
        assert whole[1:count] == store.page(
            "items", order=order, after=whole[0].position, until=entry.position
        )
        assert whole[:count] == store.page("items", order=order, depth=count)
    assert [] == store.page("items", depth=3, where=lambda record: record["id"] == "m")


def test_versions() -> None:
    """The version of a table is another one after each change of it, undone or not, and only then.

    A cache of what was computed from a table is right as long as the version is the same.
    """
    base = Base(fixtures())
    store = MemoryStore(base)
    seen = [store.version("items")]
    store.put("others", "1", item("1"))
    assert seen == [store.version("items")]
    store.put("items", "n", item("n"))
    seen.append(store.version("items"))
    store.remove("items", "f1")
    seen.append(store.version("items"))
    saved = store.snapshot()
    with suppress(ZeroDivisionError), store.transaction():
        store.put("items", "m", item("m"))
        seen.append(store.version("items"))
        raise ZeroDivisionError
    seen.append(store.version("items"))
    store.restore(saved)
    seen.append(store.version("items"))

    assert 6 == len(set(seen))


def test_changed_keys() -> None:
    """What changed since the first question is known, each key once, until a state is restored."""
    store = MemoryStore(Base(fixtures()))
    early = store.version("items")
    store.put("items", "n", item("n"))
    assert None is store.list_changed("items", early)
    begin = store.version("items")
    assert [] == store.list_changed("items", begin)
    store.put("items", "n", item("n"))
    store.put("others", "o", item("o"))
    after = store.version("items")
    store.remove("items", "f1")
    store.put("items", "n", item("n", name="changed"))
    with suppress(ZeroDivisionError), store.transaction():
        store.put("items", "m", item("m"))
        raise ZeroDivisionError

    assert ["m", "n", "f1"] == store.list_changed("items", begin)
    assert ["m", "n", "f1"] == store.list_changed("items", after)
    assert [] == store.list_changed("items", store.version("items"))
    store.restore(store.snapshot())
    assert None is store.list_changed("items", after)
    assert [] == store.list_changed("items", store.version("items"))


@pytest.mark.parametrize("rank", [2.0, True, "2"])
def test_adopt_tells_types_apart(rank: Any) -> None:
    """A value that merely equals the fixture's is adopted as it came."""
    store = MemoryStore(Base({"items": {"1": item("1", rank=2)}}))
    store.adopt({"items": {"1": item("1", rank=rank)}})

    assert repr(item("1", rank=rank)) == repr(store.get("items", "1"))


def test_the_functions_frame_each_block_nested_ones_too() -> None:
    """The start's result is the block's value; the end gets the exception, or `None`."""
    seen: list[object] = []

    def begin() -> int:
        seen.append("begin")
        return len(seen)

    scope = Scope(begin, seen.append)

    with scope as outer, scope as inner:
        seen.append((outer, inner))

    assert ["begin", "begin", (1, 2), None, None] == seen


def test_an_exception_reaches_the_end_and_the_caller() -> None:
    """It is not suppressed, whatever the end returns."""
    seen: list[object] = []

    def end(fault: BaseException | None) -> bool:
        seen.append(fault)
        return True

    with pytest.raises(LookupError) as caught, Scope(list, end):
        raise LookupError("broken")

    assert [caught.value] == seen


@pytest.mark.parametrize(("before", "after", "differs"), [
    (1, 1, False),
    (1, 1.0, True),
    (1, True, True),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    (2**70, 2**70, False),
    (2**70, float(2**70), True),
    ("\ud800", "\ud800", False),
])  # fmt: skip
def test_what_is_no_fixture_any_more(before: Any, after: Any, differs: bool) -> None:
    """Records are compared as JSON: 1, 1.0 and true are three values, and keys have an order."""
    base, other = (Base({"items": {"x": {"value": value}}}) for value in (before, after))

    assert ({"items": other.rows["items"]} if differs else {}) == base.difference(other.rows)
