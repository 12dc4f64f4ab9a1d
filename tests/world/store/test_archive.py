"""What every archive does, whatever it keeps worlds in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mock_platform.settings import Durability
from mock_platform.world.store.archive import Archive, WholeWorld
from mock_platform.world.store.backends import open_archive
from mock_platform.world.store.errors import StoreError
from mock_platform.world.store.interface import Record, Row, SavedWorld, Snapshot
from mock_platform.world.store.memory import Base
from tests.engine import EngineServer
from tests.world.backends import fixtures, open_store

Opener = Callable[[Path], Archive]
"""Opens what a folder holds, as a new process does."""


def _tinydb(durability: Durability) -> Opener:
    return lambda folder: open_archive(f"tinydb:{folder / 'state.json'}", durability)


def _on_engine(engine: EngineServer) -> Opener:
    """Each folder has a prefix of keys of its own."""
    return lambda folder: open_archive(engine.url(f"{hash(folder):x}:"), "log")


BACKENDS: Mapping[str, Opener] = {
    "memory": lambda _: open_archive("memory", "log"),
    "tinydb-snapshot": _tinydb("snapshot"),
    "tinydb-log": _tinydb("log"),
    "tinydb-fsync": _tinydb("fsync"),
}
BASE = Base(fixtures())
CHANGES: Mapping[str, Callable[[Archive, str, int], None]] = {
    "commit": lambda archive, name, token: archive.commit(name, token, {}, {"ids": 2}),
    "replace": lambda archive, name, token: archive.replace(name, token, whole()),
    "keep_point": lambda archive, name, token: archive.keep_point(name, token, "a", whole()),
    "drop_point": lambda archive, name, token: archive.drop_point(name, token, "origin"),
    "drop": lambda archive, name, token: archive.drop(name, token),
}


ON_ENGINE = "redis"


@pytest.fixture(params=[*BACKENDS, ON_ENGINE])
def reopen(request: pytest.FixtureRequest) -> Opener:
    """Opens an archive; the one before it must be closed."""
    if request.param == ON_ENGINE:
        return _on_engine(request.getfixturevalue("engine"))
    return BACKENDS[request.param]


@pytest.fixture
def archive(reopen: Opener, tmp_path: Path) -> Any:
    """An archive without worlds."""
    archive = reopen(tmp_path)
    yield archive
    archive.close()


def item(key: str, place: int, **fields: Any) -> dict[tuple[str, str], Row]:
    """A changed row of table `items`."""
    return {("items", key): Row(place, {"id": key, **fields})}


def whole(rows: Mapping[tuple[str, str], Row] | None = None, **meta: Any) -> WholeWorld:
    """A world on the fixtures, with some rows of its own."""
    return WholeWorld(BASE, _snapshot(rows or {}), meta or {"ids": 1})


def point(rows: Mapping[tuple[str, str], Row]) -> SavedWorld:
    """A state to come back to."""
    return SavedWorld(_snapshot(rows), {"ids": 9})


def _snapshot(rows: Mapping[tuple[str, str], Row]) -> Snapshot:
    tables: dict[str, dict[str, Row]] = {}
    for (table, key), row in rows.items():
        tables.setdefault(table, {})[key] = row
    return Snapshot(tables, max([BASE.next_seq, *(row.seq + 1 for row in rows.values())]))


def own_records(snapshot: Snapshot) -> dict[str, Record]:
    """The items of a world that are not fixtures."""
    rows = snapshot.rows.get("items", {})
    return {key: row.record for key, row in rows.items() if row is not None}


def read_own(archive: Archive, name: str = "w1") -> tuple[list[str], dict[str, Any]]:
    """The keys of a world's own records, in order, and what is kept with them."""
    kept = archive.open(name, BASE)
    assert kept is not None
    return list(own_records(kept.snapshot)), dict(kept.meta)


def test_a_new_archive_is_empty(archive: Archive) -> None:
    """It names no world and opens none."""
    assert not archive.names()
    assert archive.open("default", BASE) is None


def test_added_worlds_are_named(archive: Archive) -> None:
    """Each has a token of its own, until it is dropped."""
    first = archive.add("default", whole(), {})
    second = archive.add("w1", whole(), {"origin": point({})})

    assert ["default", "w1"] == sorted(archive.names())

    archive.drop("w1", second)

    assert first != second
    assert ["default"] == list(archive.names())


def test_a_world_is_added_once(archive: Archive) -> None:
    """A world that is kept cannot begin again as something else."""
    token = archive.add("default", whole(), {})
    with pytest.raises(ValueError, match="world 'default' is kept already"):
        archive.add("default", whole(), {})

    archive.commit("default", token, {}, {"ids": 2})


@pytest.mark.parametrize("name", ["", "a/b", "a@b"])
def test_names_that_would_be_ambiguous(archive: Archive, name: str) -> None:
    """Neither a world nor a point has a name that splitting a longer name could result in."""
    with pytest.raises(ValueError, match="is no name for a kept world"):
        archive.add(name, whole(), {})
    with pytest.raises(ValueError, match="is no name for a point"):
        archive.add("default", whole(), {name: point({})})

    assert not archive.names()

    token = archive.add("default", whole(), {})
    with pytest.raises(ValueError, match="is no name for a point"):
        archive.keep_point("default", token, name, whole())


@pytest.mark.parametrize("change", CHANGES)
def test_a_dropped_world_takes_no_change(archive: Archive, change: str) -> None:
    """Not while its name is free, and not when a later world has the name: tokens differ."""
    old = archive.add("w1", whole(), {"origin": point({})})
    archive.drop("w1", old)
    with pytest.raises(LookupError, match=r"world 'w1' is not kept in .*, or no longer"):
        CHANGES[change](archive, "w1", old)

    new = archive.add("w1", whole(), {"origin": point({})})
    with pytest.raises(LookupError, match=r"world 'w1' is not kept in .*, or no longer"):
        CHANGES[change](archive, "w1", old)

    CHANGES[change](archive, "w1", new)


def test_points_end_with_their_world(archive: Archive) -> None:
    """A later world of the same name has none of them."""
    token = archive.add("w1", whole(), {"origin": point({})})
    archive.drop("w1", token)
    token = archive.add("w1", whole(), {})

    with pytest.raises(LookupError, match="world 'w1' has no point 'origin'"):
        archive.drop_point("w1", token, "origin")


def test_points_are_dropped_once(archive: Archive) -> None:
    """By themselves or with the commit that replaces their world; the rest of it is not done."""
    token = archive.add("w1", whole(), {"a": point({}), "b": point({})})
    archive.drop_point("w1", token, "a")
    archive.replace("w1", token, whole(), dropped=["b"])

    for label in ("a", "b"):
        with pytest.raises(LookupError, match="has no point"):
            archive.drop_point("w1", token, label)
        with pytest.raises(LookupError, match="has no point"):
            archive.replace("w1", token, whole(), dropped=[label])
    archive.keep_point("w1", token, "a", whole())
    archive.drop_point("w1", token, "a")


def test_worlds_come_back(reopen: Opener, tmp_path: Path) -> None:
    """Records, what is kept with them and points; nothing where worlds end with the process."""
    archive = reopen(tmp_path)
    first = archive.add("default", whole(item("n", 5, name="new")), {})
    second = archive.add("w1", whole(), {"origin": point(item("o", 5)), "gone": point({})})
    archive.commit("default", first, item("n", 5, name="later") | item("m", 6), {"ids": 2})
    archive.commit("w1", second, item("lost", 7), {"ids": 3})
    archive.replace("w1", second, whole(item("r", 8), ids=4), dropped=["gone"])
    archive.keep_point("w1", second, "snapshot-a", whole(item("p", 9), ids=5))
    dropped = archive.add("w2", whole(), {"origin": point({})})
    archive.drop("w2", dropped)
    keeps = archive.keeps
    archive.close()
    archive = reopen(tmp_path)

    assert (["default", "w1"] if keeps else []) == sorted(archive.names())
    assert archive.open("w2", BASE) is None
    if keeps:
        default, w1 = archive.open("default", BASE), archive.open("w1", BASE)
        assert default is not None
        assert w1 is not None
        records = own_records(default.snapshot)
        assert {"n": {"id": "n", "name": "later"}, "m": {"id": "m"}} == records
        assert ({"ids": 2}, {}) == (default.meta, default.points)
        assert ({"r"}, {"ids": 4}) == (set(own_records(w1.snapshot)), w1.meta)
        assert {"origin": ({"o"}, {"ids": 9}), "snapshot-a": ({"p"}, {"ids": 5})} == {
            label: (set(own_records(saved.records)), saved.meta)
            for label, saved in w1.points.items()
        }
        archive.commit("w1", w1.token, {}, {"ids": 6})
    archive.close()


def test_worlds_come_back_over_other_fixtures(reopen: Opener, tmp_path: Path) -> None:
    """The records are those that the world had, whatever the fixtures are since."""
    archive = reopen(tmp_path)
    archive.add("default", whole(item("n", 5)), {"origin": point(item("o", 5))})
    keeps = archive.keeps
    archive.close()
    archive = reopen(tmp_path)
    others = Base({"items": {"f9": {"id": "f9"}}})
    kept = archive.open("default", others)

    assert keeps is (kept is not None)
    if kept is not None:
        for snapshot, own in ((kept.snapshot, "n"), (kept.points["origin"].records, "o")):
            assert [*fixtures()["items"], own] == list(own_records(snapshot))
            assert snapshot.rows["items"]["f9"] is None
    archive.close()


def test_closing_is_idempotent(reopen: Opener, tmp_path: Path) -> None:
    """What outlives the process takes no change afterwards."""
    archive = reopen(tmp_path)
    token = archive.add("default", whole(), {"origin": point({})})
    archive.close()
    archive.close()

    if archive.keeps:
        for change in CHANGES.values():
            with pytest.raises(StoreError, match="has been closed"):
                change(archive, "default", token)
        with pytest.raises(StoreError, match="has been closed"):
            archive.add("w1", whole(), {})


def test_threads_share_an_archive(archive: Archive) -> None:
    """Worlds that are added, changed and dropped at once do not disturb each other."""

    def live(number: int) -> int:
        name = f"w{number}"
        token = archive.add(name, whole(), {})
        for place in range(10, 20):
            archive.commit(name, token, item(f"i{place}", place), {"ids": place})
        if number % 2:
            archive.drop(name, token)
        return token

    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(live, range(24)))

    assert 24 == len(set(tokens))
    assert {f"w{number}" for number in range(0, 24, 2)} == _names(archive.names())


def test_a_store_of_a_lost_world_changes_nothing(archive: Archive) -> None:
    """What may not be recorded is undone in memory as well."""
    store = open_store(archive, BASE)
    assert store._token is not None
    archive.drop("default", store._token)

    with pytest.raises(LookupError, match="world 'default' is not kept in"):
        store.clear()
    with pytest.raises(LookupError, match="world 'default' is not kept in"):
        store.drop()
    if archive.keeps:
        with pytest.raises(LookupError, match="world 'default' is not kept in"):
            store.put("items", "late", {"id": "late"})
        assert store.get("items", "late") is None


def _names(found: Collection[str]) -> set[str]:
    return set(found)
