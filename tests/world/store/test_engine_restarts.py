"""Worlds on an engine that is started again: as it was, older than it was, or empty."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mock_platform.world.store.errors import StoreUnreachable, WorldElsewhere, WorldLost
from mock_platform.world.store.memory import Base
from mock_platform.world.store.redis import scripts
from mock_platform.world.store.redis.address import parse_address
from mock_platform.world.store.redis.writing import OwnedWorld
from mock_platform.world.store.redis_archive import RedisArchive
from tests.conftest import Tool
from tests.engine import EngineServer
from tests.world.store.test_archive import BASE, item, own_records, point, whole
from tests.world.store.test_redis_archive import wait_for_turn

pytestmark = pytest.mark.crash
_LEASE = 60.0
"""Longer than a busy machine makes a test take: the engine counts real time."""
_SHORT = pytest.mark.parametrize("processes", [2.0], indirect=True, ids=["short lease"])
"""For tests that wait until a lease has ended."""
_BREAKS = 500
"""More than any pool of connections has."""


class Time:
    """Seconds that a test decides: a process that does not run for a while has a jump in them."""

    def __init__(self) -> None:
        self.now = 0.0

    def read(self) -> float:
        """The seconds until now."""
        return self.now


@pytest.fixture
def engine(tool: Tool) -> Iterator[EngineServer]:
    """An engine that has after a crash what it had at its last snapshot."""
    tool("redis-server")
    server = EngineServer()
    yield server
    server.close()


class Process:
    """A process with an archive. Its time does not go on, so its lease ends when a test says so."""

    def __init__(self, engine: EngineServer, lease: float = _LEASE) -> None:
        self.time = Time()
        self.archive = RedisArchive(parse_address(engine.url("a:")))
        self.archive.lease._thread = threading.current_thread()  # no renewal by itself
        self.archive.lease.start(lease, "here", self.time.read)

    def renew(self) -> None:
        """What the thread of the lease does, as soon as the engine can be reached."""
        self.archive._engine.probe()
        self.archive.lease.renew()
        self.archive._take_turn()

    def read(self, name: str) -> set[str]:
        """Open a world; returns the keys of its own records."""
        kept = self.archive.open(name, BASE)
        assert kept is not None
        return set(own_records(kept.snapshot))

    def close(self) -> None:
        """What the end of a process leaves."""
        self.archive._owned.clear()
        self.archive.close()


@pytest.fixture
def processes(request: pytest.FixtureRequest, engine: EngineServer) -> Iterator[list[Process]]:
    """Three processes on one engine."""
    found = [Process(engine, getattr(request, "param", _LEASE)) for _ in range(3)]
    yield found
    for process in found:
        process.close()


def keep(engine: EngineServer) -> None:
    """Let the engine be after its next crash as it is now."""
    with engine.connect() as client:
        client.save()


def crash(engine: EngineServer) -> None:
    """Start the engine again as it was when it was kept last."""
    engine.kill()
    engine.start()


def end_settling(engine: EngineServer) -> None:
    """What time does: the engine has settled, and leases that were not renewed have ended."""
    with engine.connect() as client:
        client.delete("a:settling")


def end_leases(engine: EngineServer, *processes: Process) -> None:
    """What time does: these leases have ended, for the engine and for their processes."""
    with engine.connect() as client:
        for process in processes:
            client.delete(process.archive.lease.key)
            process.time.now += process.archive.lease.seconds + 1


def test_connections_may_break_for_ever(engine: EngineServer, processes: list[Process]) -> None:
    """However often all of them break while threads write, the next changes are made."""
    archive = processes[0].archive
    names = [f"w{number}" for number in range(4)]
    tokens = {name: archive.add(name, whole(), {}) for name in names}
    broken = threading.Event()

    def write(name: str) -> int:
        made = 0
        while not broken.is_set() or made < 20:
            try:
                archive.commit(name, tokens[name], item("n", 5 + made), {"ids": made})
                made += 1
            except StoreUnreachable:
                archive._engine.probe()
        return made

    with ThreadPoolExecutor() as threads:
        running = [threads.submit(write, name) for name in names]
        with engine.connect() as client:
            for _ in range(_BREAKS):
                client.client_kill_filter(_type="normal", skipme=True)
        broken.set()
        assert all(each.result() >= 20 for each in running)

    archive.commit("w0", tokens["w0"], item("last", 9), {"ids": 0})
    for name in names:
        archive.give_back(name, tokens[name])
    assert {"n", "last"} == processes[1].read("w0")


def test_an_engine_that_forgot_a_claim(
    engine: EngineServer, processes: list[Process], caplog: pytest.LogCaptureFixture
) -> None:
    """The owner writes its world again with its points, and no other takes it over meanwhile."""
    first, second, third = processes
    token = first.archive.add("w1", whole(), {"origin": point(item("o", 5))})
    first.archive.give_back("w1", token)
    keep(engine)
    kept = second.archive.open("w1", BASE)
    assert kept is not None
    second.archive.commit("w1", kept.token, item("n", 5), {"ids": 2})
    second.archive.keep_point("w1", kept.token, "a", whole(item("p", 6)))
    second.archive.drop_point("w1", kept.token, "origin")
    crash(engine)

    with pytest.raises(StoreUnreachable, match="its processes say first which worlds they have"):
        third.archive.open("w1", BASE)
    second.archive.commit("w1", kept.token, item("m", 6), {"ids": 3})
    with pytest.raises(WorldElsewhere):
        third.archive.open("w1", BASE)

    assert "lost changes of world 'w1' that it had acknowledged" in caplog.text
    second.archive.give_back("w1", kept.token)
    found = third.archive.open("w1", BASE)
    assert found is not None
    assert ({"n", "m"}, {"a"}) == (set(own_records(found.snapshot)), set(found.points))
    assert found.token > kept.token > token


def test_a_request_confirms_before_the_lease_is_renewed(
    engine: EngineServer, processes: list[Process]
) -> None:
    """The engine has the world again, and not the lease, but no process takes it over."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    crash(engine)

    first.archive.commit("w1", token, item("n", 5), {"ids": 2})
    with pytest.raises(StoreUnreachable, match="its processes say first which worlds they have"):
        second.archive.open("w1", BASE)
    first.renew()
    with pytest.raises(WorldElsewhere):
        second.archive.open("w1", BASE)

    first.archive.commit("w1", token, item("m", 6), {"ids": 3})
    first.archive.give_back("w1", token)
    assert {"n", "m"} == second.read("w1")


def test_a_lapse_after_a_request_confirmed(engine: EngineServer, processes: list[Process]) -> None:
    """A world that was taken over in the same run of the engine is found at the next renewal."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    crash(engine)
    first.archive.commit("w1", token, item("n", 5), {"ids": 2})
    end_settling(engine)
    assert {"n"} == second.read("w1")

    first.time.now += first.archive.lease.seconds + 1
    first.renew()

    with pytest.raises(WorldLost):
        first.archive._find("w1", token)


def test_a_lapse_while_a_world_is_opened(engine: EngineServer, processes: list[Process]) -> None:
    """Another process took it over meanwhile; the first one learns of it, although it renewed."""
    first, second, _ = processes
    first.archive.give_back("w1", first.archive.add("w1", whole(), {}))
    read = first.archive._engine.call_all

    def stop_before(*commands: Any) -> Any:
        first.archive._engine.call_all = read  # type: ignore[method-assign]
        found = read(*commands)
        end_leases(engine, first)
        kept = second.archive.open("w1", BASE)
        assert kept is not None
        second.archive.commit("w1", kept.token, item("n", 5), {"ids": 2})
        first.renew()
        return found

    first.archive._engine.call_all = stop_before  # type: ignore[method-assign, assignment]
    with pytest.raises(WorldLost):
        first.archive.open("w1", BASE)

    assert "w1" not in first.archive._owned


def test_a_world_that_is_opened_again_while_worlds_are_checked(
    engine: EngineServer, processes: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the engine said before is not held against it."""
    archive = processes[0].archive
    token = archive.add("w1", whole(), {})
    read = archive._engine.call_all

    def open_after(*commands: Any) -> Any:
        monkeypatch.setattr(archive._engine, "call_all", read)
        found = read(*commands)
        archive.give_back("w1", token)
        assert archive.open("w1", BASE) is not None
        return found

    monkeypatch.setattr(archive._engine, "call_all", open_after)
    archive._check_tokens()

    assert archive.owns("w1")


def test_a_lapse_while_a_world_is_added(
    engine: EngineServer, processes: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who made it learns that another process has it now."""
    first, second, _ = processes
    become = first.archive.lease.become_owner

    def stop_after(*how: Any) -> Any:
        found = become(*how)
        end_leases(engine, first)
        assert second.archive.open("w1", BASE) is not None
        first.renew()
        return found

    monkeypatch.setattr(first.archive.lease, "become_owner", stop_after)
    with pytest.raises(WorldLost):
        first.archive.add("w1", whole(), {})

    assert "w1" not in first.archive._owned


def test_a_process_that_stops_in_the_middle_of_a_renewal(
    engine: EngineServer, processes: list[Process]
) -> None:
    """Its lease ended before the engine had the command, and the answer that says so was lost."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    run = first.archive._engine.run

    def stop_before(*given: Any, **how: Any) -> Any:
        first.archive._engine.run = run  # type: ignore[method-assign]
        end_leases(engine, first)
        assert second.archive.open("w1", BASE) is not None
        run(*given, **how)
        return run(*given, **how)

    first.archive._engine.run = stop_before  # type: ignore[method-assign]
    first.archive.lease.renew()

    with pytest.raises(WorldLost):
        first.archive._find("w1", token)


def test_worlds_that_take_longer_to_confirm_than_a_lease(
    engine: EngineServer, processes: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was certain when it began is so until the last one, and the engine waits."""
    first, second, _ = processes
    tokens = {name: first.archive.add(name, whole(), {}) for name in ("w1", "w2", "w3")}
    crash(engine)
    confirm = first.archive._writer.confirm
    left: list[Any] = []

    def take_long(name: str, owned: OwnedWorld) -> bool:
        found = confirm(name, owned)
        with engine.connect() as client:
            left.append(client.pttl("a:settling"))
            client.pexpire("a:settling", 1000)
        end_leases(engine, first)
        return found

    first.archive._engine.probe()
    with monkeypatch.context() as patch:
        patch.setattr(first.archive._writer, "confirm", take_long)
        first.archive.lease.renew()
    assert 3 == len(left)
    assert all(milliseconds > 1000 for milliseconds in left)

    first.renew()
    for name, token in tokens.items():
        first.archive.commit(name, token, item("n", 5), {"ids": 2})
        first.archive.give_back(name, token)
        assert {"n"} == second.read(name)


def test_a_late_repair(
    engine: EngineServer, processes: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole state that arrives after its repetition, and after a change, is not taken."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    crash(engine)
    late: list[tuple[Any, Any]] = []
    run = first.archive._engine.run

    def hold_back(script: str, *given: Any, **how: Any) -> Any:
        if script is scripts.RESTORE and not late:
            late.append(((script, *given), how))
            raise StoreUnreachable("there", "it did not answer")
        return run(script, *given, **how)

    monkeypatch.setattr(first.archive._engine, "run", hold_back)
    with pytest.raises(StoreUnreachable):
        first.archive.commit("w1", token, item("n", 5), {"ids": 2})
    first.archive.commit("w1", token, item("n", 5), {"ids": 2})
    (((given, how)),) = late
    run(*given, **how)

    first.archive.give_back("w1", token)
    end_settling(engine)
    assert {"n"} == second.read("w1")


def test_what_is_lost_is_said_although_the_first_attempt_failed(
    engine: EngineServer, processes: list[Process]
) -> None:
    """An engine that goes again while worlds are confirmed does not hide what it forgot."""
    first = processes[0]
    first.archive.add("w1", whole(), {})
    crash(engine)
    check = first.archive._check_format

    def refuse() -> None:
        first.archive._check_format = check  # type: ignore[method-assign]
        raise StoreUnreachable("there", "it is gone again")

    first.archive._check_format = refuse  # type: ignore[method-assign]
    with pytest.raises(StoreUnreachable):
        first.archive.lease.renew()
    first.renew()

    assert any("acknowledged" in text for text in first.archive.list_warnings())


def test_what_follows_a_restart_is_tried_until_it_is_done(
    engine: EngineServer, processes: list[Process]
) -> None:
    """A listener that fails once is called again in the next turn."""
    archive = processes[0].archive
    called: list[str] = []

    def fail_once() -> None:
        called.append("first")
        if len(called) == 1:
            raise StoreUnreachable("there", "it is gone again")

    archive.restart_listeners += [fail_once, lambda: called.append("second")]
    crash(engine)
    with pytest.raises(StoreUnreachable):
        processes[0].renew()
    archive._take_turn()
    archive._take_turn()

    assert ["first", "first", "second"] == called


def test_an_engine_that_forgot_everything(engine: EngineServer, processes: list[Process]) -> None:
    """Open worlds, their fixtures and new ones are there; what is lost otherwise is said."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(item("n", 5)), {"origin": point(item("o", 5))})
    crash(engine)

    first.renew()
    end_settling(engine)
    other = first.archive.add("w2", whole(), {})
    for name, named in (("w1", token), ("w2", other)):
        first.archive.give_back(name, named)

    assert {"n"} == second.read("w1")
    assert not second.read("w2")
    (said,) = (text for text in first.archive.list_warnings() if "acknowledged" in text)
    assert "started again without anything of what it had acknowledged" in said


def test_a_world_with_fixtures_of_its_own_is_written_with_them(
    engine: EngineServer, processes: list[Process]
) -> None:
    """Those of its points as well, which may be others."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(item("n", 5)), {"origin": point({})})
    others = Base({"items": {"f9": {"id": "f9"}}})
    crash(engine)
    first.renew()
    first.archive.give_back("w1", token)

    kept = second.archive.open("w1", others)
    assert kept is not None
    assert {"f1", "f2", "f3", "f4", "n"} == set(own_records(kept.snapshot))
    assert {"f1", "f2", "f3", "f4"} == set(own_records(kept.points["origin"].records))


def test_tokens_do_not_come_twice(engine: EngineServer, processes: list[Process]) -> None:
    """An owner that comes too late learns that it has lost, before it acknowledges anything."""
    first, second, third = processes
    token = first.archive.add("w1", whole(), {})
    first.archive.give_back("w1", token)
    keep(engine)
    lost = second.archive.open("w1", BASE)
    assert lost is not None
    second.archive.commit("w1", lost.token, item("lost", 5), {"ids": 2})
    crash(engine)
    third.renew()
    end_settling(engine)
    second.time.now += second.archive.lease.seconds + 1

    kept = third.archive.open("w1", BASE)
    assert kept is not None
    third.archive.commit("w1", kept.token, item("n", 5), {"ids": 2})

    assert kept.token > lost.token
    with pytest.raises(WorldLost):
        second.archive.commit("w1", lost.token, item("late", 6), {"ids": 3})
    assert any("'w1'" in text and "is lost" in text for text in second.archive.list_warnings())
    third.archive.give_back("w1", kept.token)
    assert {"n"} == first.read("w1")


def test_a_process_that_slept_has_to_wait(engine: EngineServer, processes: list[Process]) -> None:
    """The engine remembers its claim alone, but the owner after it may still come."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    keep(engine)
    end_leases(engine, first)
    kept = second.archive.open("w1", BASE)
    assert kept is not None
    second.archive.commit("w1", kept.token, item("n", 5), {"ids": 2})
    crash(engine)

    for _ in range(2):
        with pytest.raises(StoreUnreachable, match="started again"):
            first.archive.commit("w1", token, item("late", 6), {"ids": 3})
        with pytest.raises(StoreUnreachable, match="started again"):
            first.archive.lease.ensure()
    assert first.archive.trouble is not None
    assert not first.archive.lease.is_held()
    second.archive.commit("w1", kept.token, item("m", 6), {"ids": 3})
    end_settling(engine)
    first.renew()

    with pytest.raises(WorldLost):
        first.archive.commit("w1", token, item("late", 6), {"ids": 3})
    second.archive.give_back("w1", kept.token)
    assert {"n", "m"} == first.read("w1")


def test_a_world_that_was_taken_over_before_a_restart(
    engine: EngineServer, processes: list[Process]
) -> None:
    """Its next owners began with all of it, so nothing is reported as lost."""
    first, second, third = processes
    token = first.archive.add("w1", whole(), {})
    first.archive.commit("w1", token, item("n", 5), {"ids": 2})
    end_leases(engine, first)
    kept = third.archive.open("w1", BASE)
    assert kept is not None
    third.archive.give_back("w1", kept.token)
    assert {"n"} == second.read("w1")
    keep(engine)
    crash(engine)

    second.renew()
    end_settling(engine)
    first.renew()

    with pytest.raises(WorldLost):
        first.archive.commit("w1", token, item("late", 6), {"ids": 3})
    assert not [text for text in first.archive.list_warnings() if "'w1'" in text]


def test_an_outage_that_is_longer_than_the_lease(
    engine: EngineServer, processes: list[Process]
) -> None:
    """Nobody could take over anything meanwhile, so the owner goes on when the engine settled."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    keep(engine)
    first.archive.commit("w1", token, item("n", 5), {"ids": 2})
    engine.kill()
    first.time.now += first.archive.lease.seconds + 1
    engine.start()

    with pytest.raises(StoreUnreachable, match="started again"):
        first.archive.commit("w1", token, item("m", 6), {"ids": 3})
    end_settling(engine)
    first.renew()
    first.archive.commit("w1", token, item("m", 6), {"ids": 3})

    assert first.archive.trouble is None
    first.archive.give_back("w1", token)
    assert {"n", "m"} == second.read("w1")


def test_a_dropped_world_does_not_come_back(engine: EngineServer, processes: list[Process]) -> None:
    """While the engine runs, a world that is gone was dropped by who had it."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    end_leases(engine, first)
    kept = second.archive.open("w1", BASE)
    assert kept is not None
    second.archive.drop("w1", kept.token)

    first.renew()

    with pytest.raises(WorldLost):
        first.archive.commit("w1", token, item("late", 6), {"ids": 3})
    assert not second.archive.names()


@_SHORT
def test_a_start_waits_until_the_engine_has_settled(
    engine: EngineServer, processes: list[Process]
) -> None:
    """So the first request to it is not refused."""
    first = processes[0]
    token = first.archive.add("w1", whole(), {})
    first.archive.give_back("w1", token)
    keep(engine)
    crash(engine)
    first.renew()

    late = Process(engine)

    assert not late.read("w1")
    late.close()


def test_a_lapse_is_found_out_although_the_first_attempt_failed(
    engine: EngineServer, processes: list[Process], caplog: pytest.LogCaptureFixture
) -> None:
    """The engine has the new lease then, so its own word that one had ended is gone."""
    first, second, _ = processes
    token = first.archive.add("w1", whole(), {})
    end_leases(engine, first)
    kept = second.archive.open("w1", BASE)
    assert kept is not None
    first.archive.lease._send()

    with caplog.at_level(logging.WARNING):
        first.archive.lease.ensure()

    assert "World 'w1' was taken over" in caplog.text
    with pytest.raises(WorldLost):
        first.archive.commit("w1", token, item("late", 6), {"ids": 3})


def test_the_thread_of_the_lease_confirms(engine: EngineServer) -> None:
    """Worlds without requests are the owner's all the same after a restart of the engine."""
    process = Process(engine)
    process.archive.lease._thread = None
    process.archive.lease.start(2.0, "here", process.time.read)
    process.archive.add("w1", whole(item("n", 5)), {})
    crash(engine)

    wait_for_turn(process.archive)
    wait_for_turn(process.archive)

    with engine.connect() as client:
        assert client.hget("a:world:w1", "owner") == process.archive.lease.process.encode()
    process.close()
