"""What is particular to worlds on an engine: leases, tokens, crashes of either side, addresses."""

from __future__ import annotations

import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from mock_platform.world.clock import count_seconds
from mock_platform.world.store.backends import BadStore, open_archive
from mock_platform.world.store.errors import (
    StoreDamaged,
    StoreError,
    StoreForeign,
    StoreUnreachable,
    WorldElsewhere,
    WorldLost,
)
from mock_platform.world.store.redis import scripts
from mock_platform.world.store.redis.address import BadAddress, parse_address
from mock_platform.world.store.redis_archive import RedisArchive
from tests.engine import EngineServer
from tests.waits import PATIENCE
from tests.world.store.test_archive import BASE, CHANGES, item, own_records, point, read_own, whole

_LONG = 60.0
"""A lease that does not end while a test runs."""
Opener = Callable[..., RedisArchive]


@pytest.fixture
def url(engine: EngineServer) -> str:
    """Where a test has keys of its own."""
    return engine.url()


@pytest.fixture
def process() -> Iterator[Opener]:
    """Opens an archive, as another process does."""
    opened: list[RedisArchive] = []

    def connect(url: str, **how: Any) -> RedisArchive:
        opened.append(RedisArchive(parse_address(url), **how))
        return opened[-1]

    yield connect
    for archive in opened:
        archive.close()


@contextmanager
def own_engine(*options: str, durable: bool = False) -> Iterator[EngineServer]:
    """An engine that a test may kill."""
    server = EngineServer(*options, durable=durable)
    try:
        yield server
    finally:
        server.close()


def end_lease(engine: EngineServer, url: str) -> None:
    """What happens when a process does not renew its lease in time."""
    prefix = parse_address(url).prefix
    with engine.connect() as client:
        for key in client.scan_iter(f"{prefix}process:*"):
            client.delete(key)


def wait_for_turn(archive: RedisArchive) -> None:
    """Wait until the thread of the lease has renewed it once more."""
    turned = threading.Event()
    archive.turn_listeners.append(turned.set)
    assert turned.wait(PATIENCE)
    archive.turn_listeners.remove(turned.set)


# -- addresses -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "shown"), [
    ("redis://cache:6379/2", "redis://cache:6379/2"),
    ("rediss://me:geheim@cache/1?prefix=a:", "rediss://me:***@cache/1?prefix=a:"),
    ("redis://:geheim@cache", "redis://:***@cache"),
    ("unix:///run/r.sock?db=2&password=geheim", "unix:///run/r.sock?db=2&password=***"),
])  # fmt: skip
def test_passwords_are_not_shown(text: str, shown: str) -> None:
    """The form for messages has asterisks in their place, and so has what a debugger shows."""
    address = parse_address(text)

    assert shown == address.shown
    assert "geheim" not in repr(address)
    assert ("geheim" in text) == ("geheim" in address.url)
    assert "prefix" not in address.url


@pytest.mark.parametrize(("text", "fault"), [
    ("redis:///2", "the host is missing"),
    ("redis://:geheim@cache/two", "'two' is no number of a database"),
    ("redis://cache/1?db=2", "the number of the database is there twice"),
    ("unix://", "the path of the socket is missing"),
    ("redis://:geheim@cache?prefx=a", "'prefx' is not one of prefix, timeout"),
    ("redis://cache?prefix=", "the prefix of keys has 1 to 100"),
    ("redis://:ge#heim@cache", "%23 for #"),
    ("redis://cache/1#2", "which is %23"),
])  # fmt: skip
def test_addresses_with_faults(text: str, fault: str) -> None:
    """The refusal says what is wrong, without the password."""
    with pytest.raises(BadAddress, match=fault) as refused:
        parse_address(text)

    assert "geheim" not in str(refused.value)


def test_another_scheme_does_not_show_the_password() -> None:
    """A typing mistake in the scheme is no reason to write the password into a log."""
    with pytest.raises(BadStore, match="redis://HOST:PORT/N") as refused:
        open_archive("redi://me:geheim@cache", "log")

    assert "geheim" not in str(refused.value)


# -- what is not an engine of ours -----------------------------------------------------------------


def test_nothing_listens() -> None:
    """The refusal names the address and the reason."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StoreUnreachable, match=rf"127\.0\.0\.1:{port}/0 cannot be used"):
            open_archive(f"redis://:geheim@127.0.0.1:{port}/0", "log")


def test_a_server_that_is_no_engine() -> None:
    """A web server on the port is recognised."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with suppress(OSError):  # the listener was closed: it was asked only once
                for _ in range(2):
                    client, _ = listener.accept()
                    client.recv(1000)
                    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    client.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(StoreUnreachable, match="no Redis and no Valkey"):
            open_archive(f"redis://127.0.0.1:{listener.getsockname()[1]}/0", "log")


def test_passwords() -> None:
    """A wrong or missing one is refused with the form of the address; the right one is used."""
    with own_engine("--requirepass", "geheim") as server:
        for given, how in (("password=falsch", "does not accept"), ("", "wants a password")):
            with pytest.raises(StoreUnreachable, match=how) as refused:
                open_archive(f"unix://{server.socket}?{given}", "log")
            assert "falsch" not in str(refused.value)

        open_archive(f"unix://{server.socket}?password=geheim", "log").close()


@pytest.mark.parametrize(("value", "fault"), [
    (b"something else", "is not from mock_platform. Nothing was changed"),
    (b"mock_platform 2", "another version of mock_platform keeps worlds"),
])  # fmt: skip
def test_keys_of_others(engine: EngineServer, url: str, value: bytes, fault: str) -> None:
    """Keys that another program or a newer version wrote are left alone."""
    with engine.connect() as client:
        client.set(f"{parse_address(url).prefix}format", value)

    with pytest.raises(StoreError, match=fault):
        open_archive(url, "log")


def test_a_key_of_another_type(engine: EngineServer, url: str, process: Opener) -> None:
    """A name that is a list of another program is refused with the remedy."""
    archive = process(url)
    with engine.connect() as client:
        client.lpush(f"{parse_address(url).prefix}world:w1", "x")

    with pytest.raises(StoreForeign, match="from another program"):
        archive.add("w1", whole(), {})


def test_damage_is_refused(engine: EngineServer, url: str, process: Opener) -> None:
    """A state or a commit that is not what was written stops the world, and says which."""
    prefix = parse_address(url).prefix
    first = process(url)
    token = first.add("w1", whole(), {})
    first.commit("w1", token, item("n", 5), {"ids": 2})
    first.close()
    with engine.connect() as client:
        state = client.get(f"{prefix}state:w1")
        assert isinstance(state, bytes)
        changed = zlib.decompress(state).replace(b'"ids":1', b'"ids":7')
        for kept, why in (
            (zlib.compress(changed), "its checksum is wrong"),
            (state[:-1], "it cannot be decompressed"),
        ):
            client.set(f"{prefix}state:w1", kept)
            with pytest.raises(StoreDamaged, match=f"world 'w1' is damaged: {why}"):
                process(url).open("w1", BASE)

    with engine.connect() as client:
        client.set(f"{prefix}state:w1", state)
        client.xadd(f"{prefix}log:w1", {"t": "1", "b": "{}"}, id="2-0")
    with pytest.raises(StoreDamaged, match="change 2 of world 'w1' is damaged"):
        process(url).open("w1", BASE)

    with engine.connect() as client:
        client.delete(f"{prefix}state:w1")
    with pytest.raises(StoreDamaged, match="world 'w1' is damaged: it has no state"):
        process(url).open("w1", BASE)


def test_damage_is_said_although_the_engine_went(
    engine: EngineServer, url: str, process: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the world could not be given back as well matters less."""
    archive = process(url)
    archive.give_back("w1", archive.add("w1", whole(), {}))
    with engine.connect() as client:
        client.delete(f"{parse_address(url).prefix}state:w1")
    run = archive._engine.run

    def fail(script: str, *given: Any, **how: Any) -> Any:
        if script is scripts.GIVE_BACK:
            raise StoreUnreachable("there", "it is gone")
        return run(script, *given, **how)

    monkeypatch.setattr(archive._engine, "run", fail)
    with pytest.raises(StoreDamaged, match="it has no state"):
        archive.open("w1", BASE)


# -- owners ----------------------------------------------------------------------------------------


def test_a_world_has_one_owner(engine: EngineServer, url: str, process: Opener) -> None:
    """While its lease holds another process learns its address; given back, the world is free."""
    first, second = process(url), process(url)
    first.lease.start(60, "somewhere", lambda: 0.0)
    token = first.add("w1", whole(item("n", 5)), {})

    with pytest.raises(WorldElsewhere, match="open in another process") as refused:
        second.open("w1", BASE)
    assert ("somewhere", "somewhere") == (refused.value.address, second.find_owner("w1"))
    assert {"w1": "somewhere"} == second.list_owners()

    first.give_back("w1", token)

    assert ["n"] == read_own(second)[0]
    with pytest.raises(WorldLost):
        first.commit("w1", token, {}, {"ids": 3})


@pytest.mark.parametrize("change", CHANGES)
def test_a_lost_world_takes_no_change(
    engine: EngineServer, url: str, process: Opener, change: str
) -> None:
    """Whoever slept through the end of its lease is refused by the engine, and learns of it."""
    first, second = process(url), process(url)
    told: list[str] = []
    first.lost_listeners.append(told.append)
    token = first.add("w1", whole(item("n", 5)), {"origin": point({})})
    end_lease(engine, url)
    kept = second.open("w1", BASE)
    assert kept is not None

    with pytest.raises(WorldLost, match="world 'w1' is not kept in"):
        CHANGES[change](first, "w1", token)

    assert ["w1"] == told
    second.commit("w1", kept.token, item("m", 6), {"ids": 4})
    second.close()
    again = process(url).open("w1", BASE)
    assert again is not None
    assert ({"n", "m"}, {"ids": 4}, {"origin"}) == (
        set(own_records(again.snapshot)), again.meta, set(again.points)
    )  # fmt: skip


def test_an_unused_lapse(engine: EngineServer, url: str, process: Opener) -> None:
    """A process that lost nothing while its lease had ended goes on, and learns what it lost."""
    first, second = process(url), process(url)
    told: list[str] = []
    first.lost_listeners.append(told.append)
    tokens = {name: first.add(name, whole(), {}) for name in ("w1", "w2")}
    end_lease(engine, url)
    assert second.open("w2", BASE) is not None
    first.lease.renew()

    assert ["w2"] == told
    first.commit("w1", tokens["w1"], {}, {"ids": 2})
    with pytest.raises(WorldElsewhere):
        second.open("w1", BASE)


def test_a_turn_that_fails(url: str, process: Opener, caplog: pytest.LogCaptureFixture) -> None:
    """The thread of the lease goes on, whatever was wrong: else the worlds would be lost."""
    archive = process(url)

    def fail() -> None:
        archive.turn_listeners.remove(fail)
        raise RuntimeError("a fault of ours")

    archive.turn_listeners.append(fail)
    archive.lease.start(0.3, "here", count_seconds)
    wait_for_turn(archive)
    wait_for_turn(archive)

    assert "a fault of ours" in caplog.text


def test_an_engine_that_became_a_replica(url: str, process: Opener) -> None:
    """The next connection leads to whichever engine has its address by then."""
    with own_engine() as old, own_engine() as new:
        named = old.folder / "named"
        named.symlink_to(old.socket)
        archive = process(f"unix://{named}?db=0&prefix=a:")
        archive.lease.start(_LONG, "here", count_seconds)
        token = archive.add("w1", whole(), {})
        with old.connect() as client:
            client.replicaof("127.0.0.1", "1")
        named.unlink()
        named.symlink_to(new.socket)

        with pytest.raises(StoreUnreachable, match="it is a replica"):
            archive.commit("w1", token, item("n", 5), {"ids": 2})
        archive.commit("w1", token, item("n", 5), {"ids": 2})

        assert "n" in read_own(archive)[0]
        archive._owned.clear()
        archive.close()


# -- crashes ---------------------------------------------------------------------------------------


def test_an_engine_that_is_gone(caplog: pytest.LogCaptureFixture, process: Opener) -> None:
    """Changes are refused with the reason, nothing of them is kept, and all goes on afterwards."""
    with own_engine(durable=True) as server:
        url = server.url("a:")
        archive = process(url)
        archive.lease.start(_LONG, "here", count_seconds)
        token = archive.add("w1", whole(), {})
        archive.commit("w1", token, item("n", 5), {"ids": 2})
        server.kill()
        for _ in range(2):
            with pytest.raises(StoreUnreachable, match=r"cannot be used .*so nothing was changed"):
                archive.commit("w1", token, item("lost", 6), {"ids": 3})
        assert archive.trouble is not None
        server.start()
        wait_for_turn(archive)
        assert "can be reached again" in caplog.text
        archive.commit("w1", token, item("m", 7), {"ids": 4})
        archive.close()

        assert (["n", "m"], {"ids": 4}) == read_own(process(url))


def test_a_change_whose_answer_was_lost(url: str, process: Opener) -> None:
    """It counts as not made: the next change undoes it in the engine."""
    archive = process(url)
    token = archive.add("w1", whole(), {})
    run = archive._engine.run

    def lose(*call: Any, **how: Any) -> Any:
        run(*call, **how)
        raise StoreUnreachable("there", "the line is cut")

    archive._engine.run = lose  # type: ignore[method-assign]
    with pytest.raises(StoreUnreachable):
        archive.commit("w1", token, item("lost", 6), {"ids": 3})
    archive._engine.run = run  # type: ignore[method-assign]
    archive.commit("w1", token, item("m", 7), {"ids": 4})
    archive.close()

    assert ["m"] == read_own(process(url))[0]


def test_a_repeated_change_counts_once(url: str, process: Opener) -> None:
    """An attempt after a lost answer does nothing where the first one arrived."""
    archive = process(url)
    token = archive.add("w1", whole(), {})
    run = archive._engine.run

    def twice(*call: Any, **how: Any) -> Any:
        run(*call, **how)
        return run(*call, **how)

    archive._engine.run = twice  # type: ignore[method-assign]
    archive.commit("w1", token, item("n", 5), {"ids": 2})
    archive.keep_point("w1", token, "a", whole())
    archive.keep_point("w1", token, "b", whole())
    archive.drop_point("w1", token, "a")
    archive.replace("w1", token, whole(item("m", 6)), dropped=["b"])
    other = archive.add("w2", whole(), {})
    archive.drop("w2", other)
    archive._engine.run = run  # type: ignore[method-assign]

    assert ["w1"] == list(archive.names())
    assert archive.add("w2", whole(), {}) > other


def test_an_engine_that_forgot(
    engine: EngineServer, url: str, process: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    """One that came back without its last commits gets them again from the owner, which says so."""
    prefix = parse_address(url).prefix
    archive = process(url)
    token = archive.add("w1", whole(), {})
    archive.commit("w1", token, item("n", 5), {"ids": 2})
    archive.commit("w1", token, item("m", 6), {"ids": 3})
    with engine.connect() as client:
        client.xdel(f"{prefix}log:w1", "2-0")
        client.hset(f"{prefix}world:w1", "seq", "1")

    archive.commit("w1", token, item("o", 7), {"ids": 4})
    archive.close()

    assert "lost changes of world 'w1' that it had acknowledged" in caplog.text
    assert {"n", "m", "o"} == {*read_own(process(url))[0]}


def test_long_logs_become_states(engine: EngineServer, url: str, process: Opener) -> None:
    """Commits after the state stay, those that are in it go."""
    prefix = parse_address(url).prefix
    archive = process(url, compact_bytes=200)
    token = archive.add("w1", whole(), {})
    for place in range(5, 15):
        archive.commit("w1", token, item(f"i{place}", place), {"ids": place})
    archive._compact_long()
    archive.commit("w1", token, item("late", 20), {"ids": 20})

    with engine.connect() as client:
        assert 1 == client.xlen(f"{prefix}log:w1")
    archive.close()
    assert [*(f"i{place}" for place in range(5, 15)), "late"] == read_own(process(url))[0]


# -- credentials -----------------------------------------------------------------------------------


def test_credentials_are_found_by_every_process(
    engine: EngineServer, url: str, process: Opener
) -> None:
    """Those of one world choose it, wherever it is open; they go with it."""
    first, second = process(url), process(url)
    token = first.add("w1", whole(), {})
    first.credentials.add("key", "w1")
    first.credentials.add("other", "w1")
    first.credentials.remove("other", "w1")

    assert (["w1"], []) == (
        second.credentials.find_worlds("key"),
        second.credentials.find_worlds("other"),
    )
    first.drop("w1", token)
    assert not second.credentials.find_worlds("key")
    with engine.connect() as client:
        prefix = parse_address(url).prefix
        left = {key.decode() for key in client.scan_iter(f"{prefix}*")}
    assert {"format", "token", "fixtures", "process", "run", "beat"} == {
        key.removeprefix(prefix).partition(":")[0] for key in left
    }
