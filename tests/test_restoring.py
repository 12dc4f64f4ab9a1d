from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tinydb import TinyDB, where
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import JSONStorage

from mock_platform.core.auth.lookup import replace_credentials
from mock_platform.core.errors import BadFixtures
from mock_platform.core.tables.state import State
from mock_platform.platform import load_base
from mock_platform.serving.restoring import Opened, open_platform
from mock_platform.settings import Settings
from mock_platform.world.clock import machine_now
from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreInUse
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from tests.world.backends import crash

SHIPPED = ["harbor_roasters", "northbike_co", "ines_duarte"]
"""Screen names of the shipped users."""
NEW_USER = {"id": "77", "screen_name": "kept", "name": "Kept"}
NEW_TOKEN = {
    "id": "77-token", "kind": "access", "secret": "s", "app_id": "11827", "user_id": "77",
    "created_at": "2026-01-01T00:00:00Z",
}  # fmt: skip


def kept(folder: Path) -> Settings:
    """Settings that keep the worlds in a file."""
    return Settings(store=f"tinydb:{folder / 'state.json'}", dataset="small")


def state(opened: Opened, world: str = "default") -> State:
    """The state of a world of an opened platform."""
    return State(opened.platform.worlds.get(world), opened.platform.tables)


def test_memory_keeps_nothing_and_closes_quietly() -> None:
    """Without a file there is nothing to write, however often one closes."""
    with open_platform(Settings()) as opened:
        assert not opened.archive.keeps
        opened.close()


def test_worlds_go_on_where_they_stood(tmp_path: Path) -> None:
    """Records, clocks and ids drawn of every world are there after closing and opening again."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        side = opened.platform.worlds.create("side", seed=9)
        state(opened)["users"].put(NEW_USER)
        state(opened, "side")["users"].delete("3805104374")
        side.clock.freeze(datetime(2027, 1, 1, tzinfo=UTC))
        drawn = [side.ids.snowflake() for _ in range(3)]

    with open_platform(settings) as opened:
        worlds = opened.platform.worlds

        assert ["default", "side"] == sorted(world.name for world in worlds)
        assert "77" in state(opened)["users"]
        assert "3805104374" in state(opened)["users"]
        assert "3805104374" not in state(opened, "side")["users"]
        assert "77" not in state(opened, "side")["users"]
        assert worlds.get("side").clock.now() == datetime(2027, 1, 1, tzinfo=UTC)
        assert worlds.get("side").seed == 9
        assert worlds.get("side").ids.snowflake() not in drawn


def test_a_jump_of_the_clock_is_kept_at_once(tmp_path: Path) -> None:
    """A clock that moved is recorded without any other change and without a clean stop."""
    settings = kept(tmp_path)
    opened = open_platform(settings)
    opened.platform.worlds.default.clock.freeze(datetime(2030, 5, 5, tzinfo=UTC))
    crash(opened.archive)

    with open_platform(settings) as again:
        assert again.platform.worlds.default.clock.now() == datetime(2030, 5, 5, tzinfo=UTC)


def test_credentials_of_a_kept_world_still_select_it(tmp_path: Path) -> None:
    """A token that belongs to one world only leads to it after a restart as well."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        opened.platform.worlds.create("side")
        state(opened, "side")["users"].put(NEW_USER)
        state(opened, "side")["tokens"].put(NEW_TOKEN)

    with open_platform(settings) as opened:
        owner = opened.platform.worlds.owner_of("77-token")

        assert owner is opened.platform.worlds.get("side")


def test_own_credentials_outlive_the_process(tmp_path: Path) -> None:
    """A world that was made with own credentials has them after a restart, and after its reset."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        made = opened.platform.worlds.create("side", change=replace_credentials)
        tokens = state(opened, "side")["tokens"].all()
        (token,) = [each["id"] for each in tokens if each["kind"] == "bearer"]
        made.reset()

    with open_platform(settings) as opened:
        side = opened.platform.worlds.get("side")
        assert opened.platform.worlds.owner_of(token) is side
        side.reset()
        assert opened.platform.worlds.owner_of(token) is side


def test_names_outlive_the_process(tmp_path: Path) -> None:
    """A world with original names has them after a restart, and after its reset."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        opened.platform.worlds.create("side", names="original")

    with open_platform(settings) as opened:
        side = opened.platform.worlds.get("side")
        side.reset()
        assert ["original", None] == [side.names, opened.platform.worlds.default.names]


def test_the_wire_of_a_world_outlives_the_process(tmp_path: Path) -> None:
    """It is that of the world, of its copies too; worlds without one have that of the server."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        opened.platform.worlds.create("side", wire="recorded")
        opened.platform.worlds.create("plain")

    with open_platform(replace(settings, wire="recorded-2023")) as opened:
        worlds = opened.platform.worlds
        worlds.create("copy", source="side")
        found = {world.name: world.wire for world in worlds}
        assert found.pop("side") == found.pop("copy") == "recorded"
        assert {"default", "plain"} == found.keys()
        assert {"recorded-2023"} == {*found.values()}


def test_a_dropped_world_stays_dropped(tmp_path: Path) -> None:
    """Dropping a world takes it out of the file; its name can be used again."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        opened.platform.worlds.create("side")
        state(opened, "side")["users"].put(NEW_USER)
        opened.platform.worlds.drop("side")

    with open_platform(settings) as opened:
        assert [world.name for world in opened.platform.worlds] == ["default"]
        opened.platform.worlds.create("side")
        assert "77" not in state(opened, "side")["users"]


def names(opened: Opened, world: str) -> list[str]:
    """What the users of a world are called."""
    return [user["screen_name"] for user in state(opened, world)["users"].all()]


def test_a_fork_returns_to_what_it_was_made_from(tmp_path: Path) -> None:
    """Also after a restart, whatever became of the fork, its source and the fixtures since."""
    settings = kept(tmp_path)
    moment = machine_now().replace(microsecond=0)  # nothing is due that would draw ids
    with open_platform(settings) as opened:
        state(opened)["users"].put(NEW_USER)
        opened.platform.worlds.default.clock.freeze(moment)
        fork = opened.platform.worlds.create("fork", source="default", seed=5)
        drawn = fork.ids.snowflake()
        state(opened, "fork")["users"].delete("77")
        state(opened)["users"].put(NEW_USER | {"screen_name": "changed"})
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "users.json").write_text('[{"id": "8", "screen_name": "later", "name": "Later"}]')

    for settings_now in (settings, replace(settings, fixtures=(fresh,))):
        with open_platform(settings_now) as opened:
            fork = opened.platform.worlds.get("fork")
            fork.clock.advance(60)
            state(opened, "fork")["users"].delete("3805104374")
            fork.reset()

            assert [*SHIPPED, "kept"] == names(opened, "fork")
            assert (moment, drawn) == (fork.clock.now(), fork.ids.snowflake())
            assert {"default", "fork"} == {world.name for world in opened.platform.worlds}
    with TinyDB(tmp_path / "state.json") as file:
        assert NEW_USER.items() <= file.table("~fork@origin/users").all()[-1].items()


@pytest.mark.parametrize("source", ["default", None])
def test_a_frozen_world_returns_to_its_moment(tmp_path: Path, source: str | None) -> None:
    """The moment that its clock was frozen at when it was made belongs to what a world began as."""
    settings = kept(tmp_path)
    moment = datetime(2027, 1, 1, tzinfo=UTC)
    with open_platform(settings) as opened:
        opened.platform.worlds.create("fork", source=source, freeze=moment)

    with open_platform(settings) as opened:
        fork = opened.platform.worlds.get("fork")
        fork.clock.resume()
        fork.reset()

        assert moment == fork.clock.now()


def test_a_dropped_fork_leaves_nothing(tmp_path: Path) -> None:
    """Dropped before or after a restart, or halfway when a server died; its name is free again."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        for name in ("one", "two", "three"):
            opened.platform.worlds.create(name, source="default")
        opened.platform.worlds.drop("one")
    with TinyDBArchive(tmp_path / "state.json") as archive:
        assert {"default", "two", "three"} == set(archive.names())
    # As an older version left it, killed in between; it is written once, not for each table.
    with TinyDB(tmp_path / "state.json", storage=CachingMiddleware(JSONStorage)) as file:  # type: ignore[no-untyped-call]
        file.table("_worlds").remove(where("name") == "three")
        for table in file.tables():
            if table.startswith("~three/"):
                file.drop_table(table)

    with open_platform(settings) as opened:
        opened.platform.worlds.drop("two")
        opened.platform.worlds.create("three")
        assert {"default", "three"} == set(opened.archive.names())
        state(opened, "three")["users"].put(NEW_USER)
        opened.platform.worlds.get("three").reset()
        assert SHIPPED == names(opened, "three")


def test_a_fork_with_other_fixtures_returns_to_those(tmp_path: Path) -> None:
    """A world that was reset to other fixtures is no fork any more, here and after a restart."""
    settings = kept(tmp_path)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "users.json").write_text('[{"id": "8", "screen_name": "later", "name": "Later"}]')
    with open_platform(settings) as opened:
        state(opened)["users"].put(NEW_USER)
        fork = opened.platform.worlds.create("fork", source="default")
        fork.rebase(load_base(Settings(fixtures=(fresh,), dataset="small")))
        fork.reset()

        assert [*SHIPPED, "later"] == names(opened, "fork")
        assert {"default", "fork"} == set(opened.archive.names())


def test_the_file_opens_with_plain_tinydb(tmp_path: Path) -> None:
    """After a clean stop anybody can read the records in the form in which they are served."""
    with open_platform(kept(tmp_path)) as opened:
        state(opened)["users"].put(NEW_USER)

    with TinyDB(tmp_path / "state.json") as file:
        names = [document["screen_name"] for document in file.table("users")]

    assert names == [*SHIPPED, "kept"]


def test_a_second_server_is_kept_out(tmp_path: Path) -> None:
    """Two servers on one file would undo each other's work, so the second is refused."""
    with (
        open_platform(kept(tmp_path)),
        pytest.raises(StoreInUse, match="is in use by process"),
    ):
        open_platform(kept(tmp_path))


def test_a_failed_start_lets_go_of_the_file(tmp_path: Path) -> None:
    """Once the fault is fixed a start succeeds at once."""
    with open_platform(kept(tmp_path)):
        pass
    with TinyDB(tmp_path / "state.json") as file:
        file.table("_worlds").update({"meta": {}}, doc_ids=[1])

    for _ in range(2):
        with pytest.raises(StoreDamaged, match="what world 'default' keeps beside its records"):
            open_platform(kept(tmp_path))


def test_a_kill_after_opening_loses_nothing(tmp_path: Path) -> None:
    """Setting a kept world up records nothing in the place of its own clock and ids."""
    settings = kept(tmp_path)
    with open_platform(settings) as opened:
        opened.platform.worlds.default.clock.freeze(datetime(2030, 5, 5, tzinfo=UTC))
        drawn = opened.platform.worlds.default.ids.snowflake()
    killed = open_platform(settings)
    crash(killed.archive)

    with open_platform(settings) as opened:
        world = opened.platform.worlds.default

        assert world.clock.now() == datetime(2030, 5, 5, tzinfo=UTC)
        assert world.ids.snowflake() != drawn


def test_bad_fixtures_are_told_before_the_file_is_touched(tmp_path: Path) -> None:
    """A start that cannot succeed makes no file."""
    folder = tmp_path / "fixtures"
    folder.mkdir()
    (folder / "users.json").write_text("[{}]")

    with pytest.raises(BadFixtures):
        open_platform(Settings(store=f"tinydb:{tmp_path / 'state.json'}", fixtures=(folder,)))

    assert [folder] == list(tmp_path.iterdir())


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    """The store makes its file but not the folder that it should be in."""
    with pytest.raises(StoreError, match="create the folder first"):
        open_platform(Settings(store=f"tinydb:{tmp_path / 'no' / 'state.json'}"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """Naming the folder instead of a file in it is reported, and leaves no other file."""
    folder = tmp_path / "store"
    folder.mkdir()

    with pytest.raises(StoreError, match="is a folder; name a file in it"):
        open_platform(Settings(store=f"tinydb:{folder}"))

    assert [folder] == list(tmp_path.iterdir())


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    """What the system refuses is a fault of the store, with the system's reason."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match=r"cannot be opened: .*Not a directory"):
        open_platform(kept(tmp_path / "file"))
