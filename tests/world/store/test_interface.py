"""The contract of a store, tested on every backend."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from mock_platform.world.store import memory
from mock_platform.world.store.interface import (
    INSERTION,
    Change,
    Order,
    Position,
    Record,
    Snapshot,
    Term,
    Within,
)
from mock_platform.world.store.memory import MemoryStore
from tests.generated import examples
from tests.world.backends import Backend, Tables, backends, fixtures, item, keys

ORDERS = [
    INSERTION,
    Order(descending=True),
    Order("name"),
    Order("name", fold=True),
    Order("name", descending=True, fold=True),
    Order("rank"),
    Order("rank", descending=True),
]


class Undo(Exception):
    """Raised by tests inside a transaction."""


@contextmanager
def rolled_back(store: MemoryStore) -> Iterator[list[Change]]:
    """A transaction that is undone at its end."""
    with suppress(Undo), store.transaction() as changes:
        yield changes
        raise Undo


@pytest.fixture(params=backends(), ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each kind of store in turn."""
    chosen: Backend = request.param
    return chosen


@pytest.fixture
def store(backend: Backend, tmp_path: Path) -> Iterator[MemoryStore]:
    """An open store of each kind, with nothing in it but its fixtures."""
    with backend.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def empty(store: MemoryStore) -> MemoryStore:
    """An open store of each kind, its fixtures removed."""
    store.adopt({})
    return store


class TestRecords:
    """get, put, remove, count, tables."""

    def test_fresh(self, backend: Backend, store: MemoryStore) -> None:
        """A fresh store holds exactly the fixtures, in their order."""
        found = {t: {e.key: e.record for e in store.page(t)} for t in store.tables()}

        assert backend.tables == found

    def test_put_and_get(self, store: MemoryStore) -> None:
        """What was put is there under its key and nowhere else."""
        store.put("items", "n", item("n"))

        assert item("n") == store.get("items", "n")
        assert store.get("things", "n") is None
        assert store.get("items", "m") is None
        assert store.get("nothing", "n") is None

    def test_order_of_arrival(self, empty: MemoryStore) -> None:
        """A replaced record keeps its place; a removed one that returns comes last."""
        for key in "abc":
            empty.put("items", key, item(key))
        empty.put("items", "a", item("a", name="again"))
        empty.remove("items", "b")
        empty.put("items", "b", item("b"))

        assert ["a", "c", "b"] == keys(empty)

    def test_remove(self, store: MemoryStore) -> None:
        """Removing returns the record once, and `None` from then on."""
        store.put("items", "n", item("n"))

        assert item("n") == store.remove("items", "n")
        assert store.remove("items", "n") is None
        assert store.get("items", "n") is None

    def test_types_survive(self, empty: MemoryStore) -> None:
        """Numbers, booleans, nulls, texts and nested values come back as they were."""
        record = item(
            "n", one=1, real=1.0, yes=True, none=None, text="ß\u2028\x00", deep={"l": [1, {}]}
        )
        empty.put("items", "n", record)

        assert repr(record) == repr(empty.get("items", "n"))

    def test_count(self, store: MemoryStore) -> None:
        """Records are counted as a whole and by the values of fields."""
        before = store.count("items"), store.count("items", {"group": "a"})
        store.put("items", "n", item("n", rank=7))
        store.put("items", "m", item("m", group="b"))

        assert (before[0] + 2, before[1] + 1) == (
            store.count("items"),
            store.count("items", {"group": "a"}),
        )
        assert store.count("items", {"group": "a", "rank": 7}) == 1
        assert store.count("items", {"group": "c"}) == 0
        assert store.count("nothing") == 0

    def test_tables(self, empty: MemoryStore) -> None:
        """Only tables with a record in them are named."""
        empty.put("items", "n", item("n"))
        empty.put("things", "n", item("n"))
        empty.remove("things", "n")

        assert ["items"] == empty.tables()

    @pytest.mark.parametrize("value", [["a"], {"a": 1}])
    def test_lists_and_objects_in_a_matched_field(self, empty: MemoryStore, value: Any) -> None:
        """A field that holds a list or an object can be matched, and differs from its text."""
        empty.put("items", "odd", item("odd", group=value))
        empty.put("items", "text", item("text", group=repr(value)))
        empty.put("items", "plain", item("plain"))

        assert ["odd"] == keys(empty, match={"group": value})
        assert ["text"] == keys(empty, match={"group": repr(value)})
        assert ["plain"] == keys(empty, match={"group": "a"})


class TestPages:
    """page and prefix."""

    def test_kinds_in_one_order(self, empty: MemoryStore) -> None:
        """Absent and null values come first, then numbers, then texts."""
        kinds: dict[str, Record] = {
            "text": {"name": "10"},
            "number": {"name": 9},
            "null": {"name": None},
            "absent": {},
            "zero": {"name": 0},
        }
        for key, fields in kinds.items():
            empty.put("items", key, item(key, **fields))

        assert ["null", "absent", "zero", "number", "text"] == keys(empty, order=Order("name"))
        assert ["text", "number", "zero", "absent", "null"] == keys(
            empty, order=Order("name", descending=True)
        )

    def test_fold(self, empty: MemoryStore) -> None:
        """Case counts, unless the order folds it."""
        for key in ["b", "C", "a"]:
            empty.put("items", key, item(key, name=key))

        assert ["C", "a", "b"] == keys(empty, order=Order("name"))
        assert ["a", "b", "C"] == keys(empty, order=Order("name", fold=True))

    def test_where_and_limit(self, empty: MemoryStore) -> None:
        """`where` sifts before `limit` counts."""
        for number in range(6):
            empty.put("items", str(number), item(str(number), rank=number))

        def odd(record: Record) -> bool:
            return bool(record["rank"] % 2)

        assert ["1", "3"] == keys(empty, where=odd, limit=2)
        assert [] == keys(empty, where=odd, limit=0)

    @pytest.mark.parametrize("order", ORDERS, ids=repr)
    def test_pages_join(self, store: MemoryStore, order: Order) -> None:
        """Pages of any size, one after another, return what one page returns."""
        for number in range(7):
            record = item(f"n{number}", name="Xyz"[number % 3], rank=number % 2)
            store.put("items", record["id"], record)
        whole = keys(store, order=order)

        for limit in (1, 2, 5, len(whole), len(whole) + 1):
            assert whole == walk(store, "items", order, limit)

    @pytest.mark.parametrize("order", ORDERS, ids=repr)
    def test_cursor_outlives_its_record(self, store: MemoryStore, order: Order) -> None:
        """A page continues at the same place when the record it ended with is gone."""
        for number in range(4):
            store.put("items", f"n{number}", item(f"n{number}", name="N", rank=3))
        whole = store.page("items", order=order)
        store.remove("items", whole[2].key)

        assert [e.key for e in whole[3:]] == keys(store, order=order, after=whole[2].position)

    @pytest.mark.parametrize("order", ORDERS, ids=repr)
    def test_pick(self, store: MemoryStore, order: Order) -> None:
        """Picking all keys is paging; picking some is paging and leaving the others out."""
        for number in range(8):
            group, name = "ab"[number % 2], ("x", None, "Y")[number % 3]
            store.put("items", f"n{number}", item(f"n{number}", group=group, name=name))
        store.remove("items", "n0")
        whole = store.page("items", {"group": "a"}, order=order)
        every = ["n0", "unknown", *reversed(keys(store)), "n2"]

        assert whole == store.pick("items", every, {"group": "a"}, order=order)
        some = [whole[2].key, whole[0].key]
        assert [whole[0], whole[2]] == store.pick("items", some, order=order)
        for place, entry in enumerate(whole):
            rest = store.pick("items", every, {"group": "a"}, order=order, after=entry.position)
            assert whole[place + 1 :] == rest

    def test_pick_where_and_limit(self, empty: MemoryStore) -> None:
        """`where` sifts before `limit` counts among picked ones, too."""
        for number in range(6):
            empty.put("items", str(number), item(str(number), rank=number))
        picked = empty.pick("items", "543210", where=lambda record: record["rank"] > 1, limit=2)

        assert ["2", "3"] == [entry.key for entry in picked]
        assert [] == empty.pick("items", "543210", limit=0)

    def test_many_values(self, empty: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
        """A page with one of many values is the same as if each value was looked up."""
        for number in range(60):
            empty.put("items", str(number), item(str(number), group=str(number % 30)))
        some = [str(number) for number in range(0, 30, 2)]
        for values in (some, ["0", "1"], ["29", *"abcdef"], [*"abcdef"]):
            within = Within("group", values)
            for order in (INSERTION, Order(descending=True)):
                for depth, where in (
                    (None, None),
                    (7, None),
                    (7, lambda record: "3" in record["id"]),
                ):
                    how: Any = {"order": order, "within": within, "depth": depth, "where": where}
                    monkeypatch.setattr(memory, "_FEW_VALUES", 100)
                    whole = empty.page("items", **how)
                    monkeypatch.setattr(memory, "_FEW_VALUES", 5)
                    for near in (3, 20, 60, 100):
                        monkeypatch.setattr(memory, "_NEAR", near)
                        for limit in (1, 5, 60):
                            assert whole[:limit] == empty.page("items", **how, limit=limit)

    def test_term(self, empty: MemoryStore) -> None:
        """A whole word is found in any case and in any of the fields, within a match."""
        texts: dict[str, Record] = {
            "1": {"name": "Straße am_Meer", "note": None},
            "2": {"name": None, "note": "am MEER-7, am Meer"},
            "3": {"name": "Meerblick"},
            "4": {"name": 7, "note": {"name": "Meer"}},
            "5": {"name": "Meer", "group": "b"},
        }
        for key, fields in texts.items():
            empty.put("items", key, item(key, **fields))

        def found(word: str, **how: Any) -> list[str]:
            term = Term(("name", "note"), word)
            listed = keys(empty, match={"group": "a"}, term=term, **how)
            assert len(listed) == empty.count("items", {"group": "a"}, term)
            assert all(term.stands_in(empty.get("items", key) or {}) for key in listed)
            return listed

        assert ["1", "2"] == found("meer") == found("am")
        assert ["2", "1"] == found("meer", order=Order("name"))
        assert ["1"] == found("strasse")
        assert ["2"] == found("7")
        assert [] == found("Meer") == found("blick") == found("am_meer") == found("")
        empty.put("items", "1", item("1", name="Strand"))
        assert ["2"] == found("meer")

    def test_term_in_lists_and_by_beginnings(self, empty: MemoryStore) -> None:
        """Texts of a list at the end of a path count; with letters, how a word begins."""
        for key, texts in (("1", ["am Meer", 7]), ("2", ["merkur"]), ("3", "am")):
            empty.put("items", key, item(key, note={"found": texts}))

        def found(word: str, letters: int | None) -> list[str]:
            return keys(empty, term=Term(("note.found",), word, letters))

        assert (["1"], []) == (found("meer", None), found("me", None))
        assert (["1", "2"], ["1"], ["1", "3"]) == (found("me", 2), found("mee", 3), found("am", 3))
        assert Term(("note.found",), "me", 2).stands_in(empty.get("items", "2") or {})
        empty.put("items", "1", item("1"))
        assert ["2"] == keys(empty, term=Term(("note.found",), "me", 2))

    def test_term_page_by_page(self, empty: MemoryStore) -> None:
        """Pages of what holds a word join, and `where` sifts among them."""
        for number in range(9):
            name = "red fox" if number % 3 else "hen"
            empty.put("items", str(number), item(str(number), name=name, rank=number))
        fox = Term(("name",), "fox")
        first = empty.page("items", term=fox, limit=2)
        rest = keys(empty, term=fox, after=first[-1].position)

        assert ["1", "2"] == [entry.key for entry in first]
        assert ["4", "5", "7", "8"] == rest
        assert ["8", "7"] == keys(
            empty, term=fox, order=Order("rank", descending=True), where=lambda r: r["rank"] > 5
        )

    def test_prefix(self, empty: MemoryStore) -> None:
        """A prefix is found in any case, in alphabetical order, and within a match."""
        for key, name in {"1": "Straße", "2": "STRAND", "3": "street", "4": "a", "5": None}.items():
            empty.put("items", key, item(key, name=name))
        empty.put("items", "6", item("6", group="b", name="strap"))

        def found(text: str) -> list[str]:
            return [r["id"] for r in empty.prefix("items", {"group": "a"}, "name", text)]

        assert ["2", "1", "3"] == found("sTr")
        assert ["1"] == found("strass")
        assert ["4", "2", "1", "3"] == found("")
        assert [] == found("x")
        assert ["2", "1"] == [
            r["id"] for r in empty.prefix("items", {"group": "a"}, "name", "s", limit=2)
        ]

    def test_prefix_of_the_last_character(self, empty: MemoryStore) -> None:
        """Texts that go on with the very last character of Unicode are found, too."""
        empty.put("items", "1", item("1", name="a\U0010ffff\U0010ffffb"))

        assert [item("1", name="a\U0010ffff\U0010ffffb")] == list(
            empty.prefix("items", {}, "name", "a")
        )

    def test_prefix_is_fixed_when_asked(self, empty: MemoryStore) -> None:
        """What a prefix found stays, though a record is removed before it is looked at."""
        empty.put("items", "1", item("1", name="a"))
        found = empty.prefix("items", {}, "name", "a")
        empty.remove("items", "1")

        assert [item("1", name="a")] == list(found)

    @examples(15)
    @given(data=st.data())
    def test_stable_while_changing(self, backend: Backend, data: st.DataObject) -> None:
        """Whoever pages while others add and delete sees what stayed once and nothing twice."""
        order = data.draw(st.sampled_from(ORDERS))
        limit = data.draw(st.integers(1, 4))
        with tempfile.TemporaryDirectory() as folder, backend.open(Path(folder)) as store:
            for number in range(8):
                store.put("items", f"s{number}", data.draw(records(f"s{number}")))
            stayed, seen = set(keys(store)), []
            after: Position | None = None
            fresh = 0
            while page := store.page("items", order=order, after=after, limit=limit):
                seen += [entry.key for entry in page]
                assert len(seen) <= 12 + fresh  # or it never ends
                after = page[-1].position
                for key in data.draw(st.lists(st.sampled_from(keys(store)), max_size=2)):
                    store.remove("items", key)
                    stayed.discard(key)
                if fresh < 6 and data.draw(st.booleans()):
                    fresh += 1
                    store.put("items", f"n{fresh}", data.draw(records(f"n{fresh}")))
                if not store.count("items"):
                    break

        assert len(seen) == len(set(seen))
        assert stayed <= set(seen)


class TestTransactions:
    """All or nothing."""

    def test_changes(self, empty: MemoryStore) -> None:
        """A transaction lists each change with the record before and after."""
        empty.put("items", "1", item("1"))
        with empty.transaction() as changes:
            empty.put("items", "1", item("1", name="x"))
            empty.put("items", "2", item("2"))
            empty.remove("items", "1")
            empty.remove("items", "3")

        assert [
            Change("items", "1", item("1"), item("1", name="x")),
            Change("items", "2", None, item("2")),
            Change("items", "1", item("1", name="x"), None),
        ] == changes
        assert ["2"] == keys(empty)

    def test_undone(self, backend: Backend, store: MemoryStore) -> None:
        """An exception undoes every change, order and counts included."""

        def state() -> tuple[object, ...]:
            everything = store.page("items"), store.tables(), store.count("items", {"group": "a"})
            return *everything, store.snapshot().size, store.snapshot().next_seq

        before = state()
        with rolled_back(store) as changes:
            store.put("items", "n", item("n"))
            for key in backend.tables.get("items", {}):
                store.remove("items", key)
                store.put("items", key, item(key))
            store.remove("items", "n")

        assert [] == changes
        assert before == state()

    def test_exception_comes_out(self, store: MemoryStore) -> None:
        """The exception that undoes a transaction goes on to the caller."""

        def fail() -> None:
            with store.transaction():
                raise Undo

        with pytest.raises(Undo):
            fail()

    def test_nested(self, empty: MemoryStore) -> None:
        """The outermost transaction decides for those within."""
        with rolled_back(empty), empty.transaction():
            empty.put("items", "1", item("1"))
        with empty.transaction():
            empty.put("items", "2", item("2"))
            with rolled_back(empty):
                empty.put("items", "3", item("3"))

        assert ["2", "3"] == keys(empty)

    def test_no_way_back_inside(self, store: MemoryStore) -> None:
        """Restore, clear and adopt are refused inside a transaction, which could not be undone."""
        snapshot = store.snapshot()
        with store.transaction():
            store.put("items", "n", item("n"))
            with pytest.raises(RuntimeError, match="inside a transaction"):
                store.restore(snapshot)
            with pytest.raises(RuntimeError, match="inside a transaction"):
                store.clear()
            with pytest.raises(RuntimeError, match="inside a transaction"):
                store.adopt({})

        assert item("n") == store.get("items", "n")


class TestStates:
    """snapshot, restore, clear, adopt."""

    def test_restore(self, store: MemoryStore) -> None:
        """A restored store pages as it did, and can be restored again."""
        store.put("items", "n", item("n"))
        before, snapshot = store.page("items"), store.snapshot()
        for _ in range(2):
            store.put("items", "n", item("n", name="changed"))
            store.put("items", "m", item("m"))
            for entry in store.page("items"):
                store.remove("items", entry.key)
            assert [] == store.page("items")
            store.restore(snapshot)

            assert before == store.page("items")

    def test_snapshot_size(self, backend: Backend, store: MemoryStore) -> None:
        """A snapshot counts the records that differ from the fixtures."""
        assert store.snapshot().size == 0

        store.put("items", "n", item("n"))
        if backend.tables:
            store.remove("items", "f1")

        assert store.snapshot().size == (2 if backend.tables else 1)

    def test_clear(self, backend: Backend, store: MemoryStore) -> None:
        """A cleared store is as it was when fresh, down to the next place."""
        store.put("items", "first", item("first"))
        first = store.page("items")[-1].position
        store.clear()
        assert backend.tables == {
            t: {e.key: e.record for e in store.page(t)} for t in store.tables()
        }

        store.put("items", "again", item("again"))

        assert first == store.page("items")[-1].position

    def test_adopt_keeps_order(self, store: MemoryStore) -> None:
        """An adopted state has the order that it came in, also where fixtures had another."""
        wanted = {key: item(key) for key in ["f4", "x", "f2", "f1"]}
        wanted |= {key: r for key, r in fixtures()["items"].items() if key == "f3"}
        store.adopt({"items": wanted})

        assert list(wanted.items()) == [(e.key, e.record) for e in store.page("items")]
        assert ["items"] == store.tables()
        assert len(wanted) == store.count("items")

    def test_adopting_the_fixtures_changes_nothing(
        self, backend: Backend, store: MemoryStore
    ) -> None:
        """A store that adopts what its fixtures say holds no difference from them."""
        store.put("items", "n", item("n"))
        store.adopt(backend.tables)

        assert store.snapshot().size == 0


def walk(store: MemoryStore, table: str, order: Order, limit: int) -> list[str]:
    """All keys, page by page."""
    found: list[str] = []
    after: Position | None = None
    while page := store.page(table, order=order, after=after, limit=limit):
        found += [entry.key for entry in page]
        after = page[-1].position
        assert len(found) <= store.count(table)
    return found


# -- against a plain dictionary ------------------------------------------------------------------

TABLES = st.sampled_from(["items", "things"])
KEYS = st.sampled_from(["f1", "f2", "f4", "t1", "k1", "k2", "k3"])
NAMES = st.sampled_from([None, "", "a", "A", "ab", "A_b ab", "Straße", "strand", "z"])
RANKS = st.sampled_from([None, 0, 1, 1.0, -2, 1.5, True, "1"])


@st.composite
def records(draw: st.DrawFn, key: str) -> Record:
    """A record with odd values and gaps."""
    optional = {"name": NAMES, "rank": RANKS}
    found = draw(st.fixed_dictionaries({"group": st.sampled_from("ab")}, optional=optional))
    return {"id": key, **found}


Step = tuple[str, str, Record | None]


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """A few puts and (with `None`) removals."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        key = draw(KEYS)
        found.append((draw(TABLES), key, draw(st.none() | records(key))))
    return found


@st.composite
def states(draw: st.DrawFn) -> Tables:
    """Whole tables in an order of their own."""
    chosen = draw(st.lists(KEYS, unique=True, max_size=5))
    return {draw(TABLES): {key: draw(records(key)) for key in chosen}}


def rank_of(order: Order, record: Record) -> tuple[Any, ...]:
    """The order's definition, written once more in plain words."""
    value = None if order.field is None else record.get(order.field)
    if isinstance(value, str):
        return ("text", value.casefold() if order.fold else value)
    return ("nothing",) if value is None else ("number", value)


class StoreMachine(RuleBasedStateMachine):
    """Does the same to a store and to dictionaries, and compares all that can be asked."""

    snapshots: Bundle[tuple[Snapshot, Tables]] = Bundle("snapshots")

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._opened = backend.open(Path(self._folder.name))
        self.store = self._opened.__enter__()
        self.fixtures = backend.tables
        self.model: Tables = deepcopy(backend.tables)

    def teardown(self) -> None:
        """Close the store."""
        self._opened.__exit__(None, None, None)
        self._folder.cleanup()

    def _do(self, step: Step) -> None:
        table, key, record = step
        if record is None:
            expected = self.model.get(table, {}).pop(key, None)
            assert expected == self.store.remove(table, key)
        else:
            self.model.setdefault(table, {})[key] = record
            self.store.put(table, key, record)

    @initialize(target=snapshots)
    def begin(self) -> tuple[Snapshot, Tables]:
        """Begin with one state to come back to."""
        return self.store.snapshot(), deepcopy(self.model)

    @rule(step=steps())
    def change(self, step: list[Step]) -> None:
        """One change outside a transaction."""
        self._do(step[0])

    @rule(batch=steps())
    def commit(self, batch: list[Step]) -> None:
        """A transaction."""
        with self.store.transaction():
            for step in batch:
                self._do(step)

    @rule(batch=steps())
    def roll_back(self, batch: list[Step]) -> None:
        """A transaction that is undone."""
        before = deepcopy(self.model)
        with rolled_back(self.store):
            for step in batch:
                self._do(step)
        self.model = before

    @rule(target=snapshots)
    def take_snapshot(self) -> tuple[Snapshot, Tables]:
        """A state to come back to."""
        return self.store.snapshot(), deepcopy(self.model)

    @rule(saved=snapshots)
    def restore(self, saved: tuple[Snapshot, Tables]) -> None:
        """Back to one of them."""
        self.store.restore(saved[0])
        self.model = deepcopy(saved[1])

    @rule()
    def clear(self) -> None:
        """Back to the fixtures."""
        self.store.clear()
        self.model = deepcopy(self.fixtures)

    @rule(state=states())
    def adopt(self, state: Tables) -> None:
        """Another state altogether."""
        self.store.adopt(state)
        self.model = deepcopy(state)

    @rule(table=TABLES, order=st.sampled_from(ORDERS), limit=st.integers(1, 4), group=st.booleans())
    def page(self, table: str, order: Order, limit: int, group: bool) -> None:
        """A table in an order, whole and page by page."""
        match = {"group": "a"} if group else {}
        rows = [
            (key, record)
            for key, record in self.model.get(table, {}).items()
            if not group or record["group"] == "a"
        ]
        kinds = ["nothing", "number", "text"]
        rows.sort(key=lambda row: (kinds.index((r := rank_of(order, row[1]))[0]), *r[1:]))
        if order.descending:
            rows.reverse()  # the later of two that tie stands first

        assert rows == [(e.key, e.record) for e in self.store.page(table, match, order=order)]
        assert len(rows) == self.store.count(table, match)
        every = [*self.model.get(table, {}), "unknown"]
        assert rows == [
            (e.key, e.record) for e in self.store.pick(table, every, match, order=order)
        ]
        if not group:
            assert [key for key, _ in rows] == walk(self.store, table, order, limit)

    @rule(table=TABLES, text=st.sampled_from(["", "a", "A", "str", "STRASS", "zz"]))
    def prefix(self, table: str, text: str) -> None:
        """Records whose name begins with a text."""
        found = [
            record
            for record in self.model.get(table, {}).values()
            if isinstance(record.get("name"), str)
            and record["name"].casefold().startswith(text.casefold())
        ]
        found.sort(key=lambda record: record["name"].casefold())

        assert found == list(self.store.prefix(table, {}, "name", text))

    @rule(table=TABLES, word=st.sampled_from(["a", "ab", "b", "strasse", "st", ""]))
    def term(self, table: str, word: str) -> None:
        """Records that hold a word in their name or group."""
        found = [
            key
            for key, record in self.model.get(table, {}).items()
            if word in re.split(r"[\W_]+", f"{record.get('name')} {record['group']}".casefold())
            and word
        ]
        term = Term(("name", "group"), word)

        assert found == [entry.key for entry in self.store.page(table, term=term)]
        assert len(found) == self.store.count(table, {}, term)

    @invariant()
    def same(self) -> None:
        """Tables, order and types are the model's."""
        held = {t: {e.key: e.record for e in self.store.page(t)} for t in self.store.tables()}
        wanted = {table: records for table, records in self.model.items() if records}

        assert sorted(wanted) == sorted(held)
        for table, rows in wanted.items():
            assert repr(rows) == repr(held[table])
            for key, record in rows.items():
                assert record == self.store.get(table, key)


def test_model(backend: Backend) -> None:
    """Whatever is done to a store, it answers as plain dictionaries would."""

    class Machine(StoreMachine):
        def __init__(self) -> None:
            super().__init__(backend)

    run_state_machine_as_test(
        Machine,
        settings=examples(backend.examples, stateful_step_count=25),
    )
