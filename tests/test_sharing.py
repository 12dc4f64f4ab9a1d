"""Worlds on an engine: one owner at a time, opened by requests, at rest without any."""

from __future__ import annotations

import gc
import os
import signal
import threading
import weakref
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.control.plane import ControlPlane
from mock_platform.core.cluster_peers import Alone
from mock_platform.core.jsonio import dumps, loads
from mock_platform.serving.restoring import open_platform
from mock_platform.settings import Settings
from mock_platform.world.names import UnknownWorld
from mock_platform.world.shared_worlds import SharedWorlds
from mock_platform.world.store.backends import NeedsEngine
from mock_platform.world.store.errors import StoreUnanswered, StoreUnreachable, WorldLost
from mock_platform.world.store.redis import scripts
from mock_platform.world.store.redis.address import parse_address
from mock_platform.world.store.redis.writing import OwnedWorld
from mock_platform.world.store.redis_archive import RedisArchive
from mock_platform.world.store.sealing import seal_line
from mock_platform.world.world import World
from tests.engine import EngineServer
from tests.support import ACCOUNT, bearer, signed
from tests.test_kept_worlds import NOON, OWN, USER, Server
from tests.waits import PATIENCE
from tests.world.store.test_redis_archive import wait_for_turn

ACCOUNTS = "/12/accounts"
StartEngine = Callable[..., tuple[EngineServer, Server]]
_LONG = 60.0
"""A lease that does not end while a test runs."""


@pytest.fixture
def settings(engine: EngineServer) -> Settings:
    """Settings of the servers of one test, which share its worlds."""
    return Settings(store=engine.url(), freeze=NOON, lease=_LONG, rest_after=_LONG)


@pytest.fixture
def servers(settings: Settings) -> Iterator[list[Server]]:
    """Two servers on the same engine."""
    found = [Server(settings) for _ in range(2)]
    yield found
    for server in found:
        server.opened.close()


def worlds_of(server: Server) -> SharedWorlds:
    """The worlds of a server, with what only shared ones have."""
    worlds = server.platform.worlds
    assert isinstance(worlds, SharedWorlds)
    return worlds


def archive_of(server: Server) -> RedisArchive:
    """The archive of a server on an engine."""
    archive = server.opened.archive
    assert isinstance(archive, RedisArchive)
    return archive


def prefix_of(server: Server) -> str:
    """What the keys of a server begin with on its engine."""
    return parse_address(server.platform.settings.store).prefix


def check_refused(
    server: Server, method: str, path: str, *said: str, status: int = 503
) -> TestResponse:
    """Check that a request is refused, and that the answer says all of this; returns it."""
    refused = server.ask(method, path, USER if method == "PUT" else None)
    assert status == refused.status_code
    for text in said:
        assert text in refused.get_json()["detail"]
    return refused


def forget_process(engine: EngineServer, server: Server) -> None:
    """What the engine does when the lease of a process ends."""
    with engine.connect() as client:
        client.delete(f"{prefix_of(server)}process:{archive_of(server).lease.process}")


@pytest.fixture
def serve(settings: Settings) -> Iterator[Callable[..., Server]]:
    """Starts further servers with other settings, which are closed at the end."""
    found: list[Server] = []

    def start(**more: Any) -> Server:
        found.append(Server(replace(settings, **more)))
        return found[-1]

    yield start
    for server in found:
        server.opened.close()


@pytest.fixture
def start_engine(serve: Callable[..., Server]) -> Iterator[StartEngine]:
    """Starts an engine of its own, which a test may stop, and a server on it."""
    found: list[EngineServer] = []

    def start(*options: str, durable: bool = False, **more: Any) -> tuple[EngineServer, Server]:
        found.append(EngineServer(*options, durable=durable))
        return found[-1], serve(store=found[-1].url("a:"), **more)

    yield start
    for engine in found:
        engine.close()


def test_worlds_open_when_they_are_asked_for(servers: list[Server]) -> None:
    """A server starts without any, not even the default one, which the first request makes."""
    first, second = servers

    assert not len(first.platform.worlds)
    assert 200 == first.ask("GET", ACCOUNTS).status_code
    assert (1, 0) == (len(first.platform.worlds), len(second.platform.worlds))
    assert 404 == second.ask("GET", f"/~w1{ACCOUNTS}").status_code


def test_a_world_is_open_in_one_process(servers: list[Server]) -> None:
    """The other one answers 503 with the owner, in operations and in the control plane."""
    first, second = servers
    first.put("/_mock/worlds/w1")

    for path in (f"/~w1{ACCOUNTS}", "/~w1/_mock/clock"):
        check_refused(second, "GET", path, "'w1' is open in another process")
    listed = second.ask("GET", "/_mock/worlds").get_json()["worlds"]
    assert [("w1", False)] == [(each["name"], each["resting"]) for each in listed]
    assert listed[0]["owner"]


class Faster(Alone):
    """The other server, which makes each world just before this one does."""

    def __init__(self, other: Server) -> None:
        control = ControlPlane(other.platform)
        self._questions = control.list_questions()

    def ask_owner(self, world: str, question: str, argument: Any = None) -> Any:
        """Returns its answer."""
        return self._questions[question](argument)


def test_what_describes_the_server_needs_no_world_of_another(servers: list[Server]) -> None:
    """The description of the control plane, whichever process has the default world."""
    first, second = servers
    assert 200 == first.ask("GET", ACCOUNTS).status_code
    second.put("/_mock/worlds/w1")

    described = [
        second.ask("GET", "/~w1/_mock/openapi.json"),
        first.ask("GET", "/_mock/openapi.json"),
    ]

    assert [200, 200] == [answer.status_code for answer in described]
    assert described[0].get_json()["paths"].keys() == described[1].get_json()["paths"].keys()


def test_two_processes_make_the_same_world(servers: list[Server]) -> None:
    """One makes it; the other answers what a repeated request gets."""
    first, second = servers
    made = first.put("/_mock/worlds/w1", {"own_credentials": True})
    second.platform.peers = Faster(first)

    again = second.put("/_mock/worlds/w1", {"own_credentials": True})

    assert made.get_json() == again.get_json()


def test_a_world_rests_and_wakes(servers: list[Server]) -> None:
    """Its memory is freed, the list says so, and everything is as before, in either process."""
    first, second = servers
    first.put("/_mock/worlds/w1", {"warnings": "error", "names": "original", "seed": 7})
    first.put("/~w1/_mock/state/users/77", USER)
    first.put("/~w1/_mock/scenarios/own", OWN)
    first.post("/~w1/_mock/scenarios/own/activate")
    first.ask("GET", f"/~w1{ACCOUNTS}")
    first.put("/~w1/_mock/snapshots/before")
    world = first.platform.worlds.get("w1")
    before, meta = first.scenario("own", "w1"), world.meta()
    gone = weakref.ref(world)
    del world

    assert worlds_of(first).rest("w1")
    gc.collect()

    assert gone() is None
    listed = first.ask("GET", "/_mock/worlds").get_json()["worlds"]
    assert [("w1", None, True)] == [(w["name"], w["owner"], w["resting"]) for w in listed]
    assert before == second.scenario("own", "w1")
    woken = second.platform.worlds.get("w1")
    assert (meta, ["before"], True) == (woken.meta(), list(woken.snapshots), woken.refuses_warnings)
    assert 200 == second.ask("GET", "/~w1/_mock/state/users/77").status_code
    assert 401 == second.ask("GET", f"/~w1{ACCOUNTS}").status_code


@pytest.mark.parametrize(("method", "dropped", "status"), [
    ("GET", False, 200), ("PUT", False, 200), ("GET", True, 404),
])  # fmt: skip
def test_a_world_is_put_to_rest_before_it_is_used(
    servers: list[Server],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    status: int,
    *,
    dropped: bool,
) -> None:
    """The control plane wakes it again, as operations do: it is unknown only if it was dropped."""
    server, other = servers
    server.put("/_mock/worlds/w1")
    server.put("/~w1/_mock/state/users/77", USER)
    worlds = worlds_of(server)
    get = worlds.get

    def rest_after(name: str) -> World:
        monkeypatch.setattr(worlds, "get", get)
        world = get(name)
        assert worlds.rest(name)
        if dropped:
            worlds_of(other).drop(name)
        return world

    monkeypatch.setattr(worlds, "get", rest_after)
    answer = server.ask(method, "/~w1/_mock/state/users/77", USER if method == "PUT" else None)

    assert status == answer.status_code


def test_idle_worlds_are_put_to_rest(serve: Callable[..., Server]) -> None:
    """Those that were not used since, but not one in which something moves by time."""
    server = serve(rest_after=0.0)
    server.put("/_mock/worlds/idle")
    server.put("/_mock/worlds/busy")
    world = server.platform.worlds.get("busy")
    with world.work():
        world.store.put(
            "_transitions",
            "replay_job:1",
            {"kind": "replay_job", "key": "1", "since": NOON.isoformat(), "polls": 0,
             "to": "COMPLETE"},
        )  # fmt: skip

    worlds_of(server).rest_idle()

    assert {"busy"} == {world.name for world in server.platform.worlds}


def test_only_worlds_that_are_awake_count(serve: Callable[..., Server]) -> None:
    """One more than allowed puts the one to rest that was not used for longest."""
    server = serve(max_worlds=2)
    for name in ("w1", "w2", "w3", "w4"):
        server.put(f"/_mock/worlds/{name}")
    assert 200 == server.ask("GET", f"/~w1{ACCOUNTS}").status_code

    assert {"w1", "w4"} == {world.name for world in server.platform.worlds}
    assert 4 == len(server.ask("GET", "/_mock/worlds").get_json()["worlds"])


@pytest.mark.parametrize(("reason", "status"), [("all in use", 409), ("its memory is full", 503)])
def test_no_world_can_be_put_to_rest_for_another(
    servers: list[Server], serve: Callable[..., Server], reason: str, status: int
) -> None:
    """A request for another one is refused with the reason, and may be sent again."""
    full, other = serve(max_worlds=1), servers[0]
    for name in ("w2", "w3"):
        other.put(f"/_mock/worlds/{name}")
        assert worlds_of(other).rest(name)
    full.put("/_mock/worlds/w1")
    if reason == "all in use":
        full.client.get("/~w1/2/activity/stream", headers=bearer())
    else:
        archive = archive_of(full)
        give_back = archive.give_back

        def refuse(name: str, token: int) -> None:
            if name == "w1":
                raise StoreUnreachable("there", reason)
            give_back(name, token)

        archive.give_back = refuse  # type: ignore[method-assign]

    refused = check_refused(full, "GET", f"/~w2{ACCOUNTS}", reason)
    assert "1" == refused.headers["Retry-After"]
    refused = full.ask("GET", "/~w3/_mock/clock")
    assert reason in refused.get_json()["detail"]
    assert status == refused.status_code
    assert 200 == other.ask("GET", f"/~w2{ACCOUNTS}").status_code


def test_a_credential_finds_a_world_that_rests(servers: list[Server]) -> None:
    """The keys and tokens of its own choose it, wherever it was made."""
    first, second = servers
    made = first.put("/_mock/worlds/w1", {"own_credentials": True}).get_json()
    first.put("/~w1/_mock/state/users/77", USER)
    assert worlds_of(first).rest("w1")
    token = made["credentials"]["bearer_token"]

    answer = second.client.get(ACCOUNTS, headers=bearer(token))

    assert 200 == answer.status_code
    assert {"w1"} == {world.name for world in second.platform.worlds}
    assert 204 == second.ask("DELETE", "/_mock/worlds/w1").status_code
    refused = second.client.get(ACCOUNTS, headers=bearer(token))
    assert 401 == refused.status_code


def test_a_process_that_lost_its_lease(engine: EngineServer, servers: list[Server]) -> None:
    """The next one goes on with what was acknowledged; the first commits nothing, and closes it."""
    first, second = servers
    first.put("/_mock/worlds/w1")
    first.put("/~w1/_mock/state/users/77", USER)
    forget_process(engine, first)
    assert 200 == second.ask("GET", "/~w1/_mock/state/users/77").status_code

    lost = first.ask("PUT", "/~w1/_mock/state/users/78", USER | {"id": "78"})

    assert 503 == lost.status_code
    assert "w1" not in {world.name for world in first.platform.worlds}
    assert 404 == second.ask("GET", "/~w1/_mock/state/users/78").status_code
    assert 503 == first.ask("GET", f"/~w1{ACCOUNTS}").status_code


def lose_answer(archive: RedisArchive, script: str) -> None:
    """Let the engine do once what a script says, and its answer not arrive."""
    run = archive._engine.run

    def lose(text: str, *given: Any, **how: Any) -> Any:
        found = run(text, *given, **how)
        if text is not script:
            return found
        archive._engine.run = run  # type: ignore[method-assign]
        raise StoreUnanswered("there", "it did not answer")

    archive._engine.run = lose  # type: ignore[method-assign]


def test_a_world_that_may_have_been_given_back(servers: list[Server]) -> None:
    """It is closed, because another process may have it; nothing outdated is answered."""
    first, second = servers
    first.put("/_mock/worlds/w1")
    lose_answer(archive_of(first), scripts.GIVE_BACK)

    assert not worlds_of(first).rest("w1")
    second.put("/~w1/_mock/state/users/77", USER)

    check_refused(first, "GET", "/~w1/_mock/state/users/77", "'w1' is open in another process")


def test_a_world_that_may_have_been_dropped(servers: list[Server]) -> None:
    """It is closed, because another process may have made one of its name."""
    first, second = servers
    first.put("/_mock/worlds/w1")
    lose_answer(archive_of(first), scripts.DROP)

    assert 503 == first.ask("DELETE", "/_mock/worlds/w1").status_code
    second.put("/_mock/worlds/w1")
    second.put("/~w1/_mock/state/users/77", USER)

    check_refused(first, "GET", "/~w1/_mock/state/users/77", "'w1' is open in another process")


def test_an_engine_that_refuses_to_take_a_world_back(
    engine: EngineServer, servers: list[Server]
) -> None:
    """The world stays here, and is still read: it is certain that nothing was changed."""
    server = servers[0]
    server.put("/_mock/worlds/w1")
    archive = archive_of(server)
    run = archive._engine.run

    def refuse(text: str, *given: Any, **how: Any) -> Any:
        if text is scripts.GIVE_BACK:
            raise StoreUnreachable("there", "its memory is full")
        return run(text, *given, **how)

    archive._engine.run = refuse  # type: ignore[method-assign]
    assert not worlds_of(server).rest("w1")
    archive._engine.run = run  # type: ignore[method-assign]

    assert worlds_of(server).owns("w1")


@pytest.mark.parametrize("step", ["begin", "resume"])
def test_a_world_that_is_lost_while_it_begins(
    engine: EngineServer, servers: list[Server], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """It is not kept as if it were this process's: the next request asks the engine."""
    first, second = servers
    if step == "resume":
        first.put("/_mock/worlds/w1")
        assert worlds_of(first).rest("w1")
    begin = getattr(World, step)

    def stop_after(world: World, *given: Any) -> None:
        """Let the process stop until another one has changed the world, and renew its lease."""
        monkeypatch.setattr(World, step, begin)
        begin(world, *given)
        forget_process(engine, first)
        second.put("/~w1/_mock/state/users/77", USER)
        archive_of(first).lease._until = 0.0
        archive_of(first).lease.renew()

    monkeypatch.setattr(World, step, stop_after)
    first.ask("PUT", "/_mock/worlds/w1")

    for _ in range(2):
        check_refused(first, "GET", "/~w1/_mock/state/users/77", "'w1' is open in another process")


def test_a_lost_world_with_an_open_stream(servers: list[Server]) -> None:
    """The thread of the lease finds it out while a request waits for that thread, and goes on."""
    server = servers[0]
    archive, worlds = archive_of(server), worlds_of(server)
    server.put("/_mock/worlds/w1")
    world, owned = worlds.get("w1"), archive._owned["w1"]
    confirms, works, ended = threading.Event(), threading.Event(), threading.Event()

    def confirm(name: str, owned: OwnedWorld) -> bool:
        confirms.set()
        assert works.wait(PATIENCE)
        archive._lose(name, owned)

    def end_stream(closed: World) -> None:
        with closed.lock:
            ended.set()

    def change() -> None:
        with world.lock:
            assert confirms.wait(PATIENCE)
            works.set()
            with pytest.raises(WorldLost):
                archive.commit("w1", owned.token, {}, {"ids": 9})

    archive._writer.confirm = confirm  # type: ignore[method-assign]
    worlds.dropped_listeners.append(end_stream)
    owned.run = "another"
    threads = [threading.Thread(target=run, daemon=True) for run in (change, archive._confirm_late)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert not any(thread.is_alive() for thread in threads)
    assert ended.wait(PATIENCE)


def test_a_process_ends_that_has_lost_a_world(
    engine: EngineServer, servers: list[Server], settings: Settings
) -> None:
    """The others can be opened at once, as after any other end."""
    first, second = servers
    for name in ("w1", "w2"):
        first.put(f"/_mock/worlds/{name}")
    forget_process(engine, first)
    assert 200 == second.ask("GET", f"/~w1{ACCOUNTS}").status_code
    world = first.platform.worlds.get("w1")
    world.ids.drawn += 1  # which is not recorded yet

    first.opened.close()

    assert {"w1": None, "w2": None}.keys() == archive_of(second).list_owners().keys()
    assert archive_of(second).list_owners()["w2"] is None


def test_a_damaged_world_does_not_keep_the_deliveries_of_others(
    engine: EngineServer, servers: list[Server]
) -> None:
    """The worlds whose deliveries had not ended are opened one by one."""
    first, second = servers
    prefix = prefix_of(first)
    for name in ("w1", "w2"):
        first.put(f"/_mock/worlds/{name}")
        assert worlds_of(first).rest(name)
    with engine.connect() as client:
        client.set(f"{prefix}state:w1", b"damaged")
        client.sadd(f"{prefix}unfinished", "w1", "w2")

    take_turn(second)

    assert {"w2"} == {world.name for world in second.platform.worlds}


def test_a_mark_whose_removal_was_not_answered(engine: EngineServer, servers: list[Server]) -> None:
    """The next delivery marks its world again, so that it goes on after a crash."""
    first, _ = servers
    first.put("/_mock/worlds/w1")
    world = first.platform.worlds.get("w1")
    first.platform.deliverer.close()
    unfinished = archive_of(first).unfinished
    remove = unfinished.remove

    def lose(name: str) -> None:
        unfinished.remove = remove  # type: ignore[method-assign]
        remove(name)
        raise StoreUnanswered("there", "it did not answer")

    unfinished.remove = lose  # type: ignore[method-assign]
    for state in ("sent", "new"):
        with world.work():
            world.store.put("_outgoing", state, {"webhook_id": "1"})
        if state == "sent":
            with world.work():
                world.store.remove("_outgoing", state)
            take_turn(first)

    assert {"w1"} == unfinished.read()


def test_a_client_leaves_the_stream_of_a_lost_world(
    engine: EngineServer, servers: list[Server]
) -> None:
    """Its end cannot be recorded, which is no fault: its new owner does that."""
    first, second = servers
    first.put("/_mock/worlds/w1")
    answer = first.client.get("/~w1/2/activity/stream", headers=bearer())
    assert 200 == answer.status_code
    forget_process(engine, first)
    second.put("/~w1/_mock/state/users/77", USER)

    answer.close()

    check_refused(first, "GET", "/~w1/_mock/state/users/77", "'w1' is open in another process")


def test_a_credential_that_was_not_recorded(servers: list[Server]) -> None:
    """It is recorded at the next turn, and then finds its world in every process."""
    first, second = servers
    credentials = archive_of(first).credentials
    add = credentials.add

    def fail(*_: str) -> None:
        raise StoreUnanswered("there", "it did not answer")

    credentials.add = fail  # type: ignore[method-assign, assignment]
    made = first.put("/_mock/worlds/w1", {"own_credentials": True}).get_json()
    headers = bearer(made["credentials"]["bearer_token"])
    credentials.add = add  # type: ignore[method-assign]
    assert 401 == second.client.get(ACCOUNTS, headers=headers).status_code
    take_turn(first)

    assert 200 == first.client.get(ACCOUNTS, headers=headers).status_code
    assert 503 == second.client.get(ACCOUNTS, headers=headers).status_code


def take_turn(server: Server) -> None:
    """What the thread of the lease does after it has renewed it."""
    archive = archive_of(server)
    for listener in archive.turn_listeners:
        listener()


def test_deliveries_go_on_without_a_request(engine: EngineServer, servers: list[Server]) -> None:
    """A world in which some had not ended is opened when its process is gone, and then rests."""
    first, second = servers
    first.put("/_mock/worlds/w1")
    first.put("/_mock/worlds/w2")
    prefix = prefix_of(first)
    world = first.platform.worlds.get("w1")
    first.platform.deliverer.close()
    with world.work():
        world.store.put("_outgoing", "gone", {"webhook_id": "1"})
    take_turn(first)
    take_turn(second)
    assert not len(second.platform.worlds)
    assert not worlds_of(first).rest("w1")

    forget_process(engine, first)
    take_turn(second)
    second.platform.deliverer.wait_until_idle(PATIENCE)
    take_turn(second)

    assert {"w1"} == {world.name for world in second.platform.worlds}
    assert worlds_of(second).rest("w1")
    with engine.connect() as client:
        assert not client.exists(f"{prefix}unfinished")


def test_nonces_travel(servers: list[Server]) -> None:
    """Whoever opens a world refuses a nonce that its owner before has seen; a reset clears them."""
    first, second = servers
    first.put("/_mock/worlds/w1")
    used = ("key", "token", "nonce", 1_800_000_000)

    def use(world: World) -> bool:
        return world.nonces.first_use(*used, now=1_800_000_000, keep=300)

    assert use(first.platform.worlds.get("w1"))
    assert worlds_of(first).rest("w1")
    world = second.platform.worlds.get("w1")

    assert not use(world)
    world.reset()
    assert use(world)


def test_a_stopped_server_gives_its_worlds_back(settings: Settings) -> None:
    """Another one has them at once, without waiting for the end of the lease."""
    first, second = Server(settings), Server(settings)
    first.put("/_mock/worlds/w1")
    first.put("/~w1/_mock/state/users/77", USER)
    first.opened.close()

    assert 200 == second.ask("GET", "/~w1/_mock/state/users/77").status_code
    second.opened.close()


def test_an_engine_that_is_gone(start_engine: StartEngine) -> None:
    """Writes are refused with the reason and leave nothing; all goes on when it is back."""
    engine, server = start_engine(durable=True)
    server.put("/_mock/worlds/w1")
    assert 200 == server.ask("GET", "/_mock/health/ready").status_code
    engine.kill()
    check_refused(server, "PUT", "/~w1/_mock/state/users/77", "so nothing was changed")
    assert 404 == server.ask("GET", "/~w1/_mock/state/users/77").status_code
    check_refused(server, "GET", "/_mock/health/ready", "Not ready")
    assert 503 == server.ask("GET", f"/~w2{ACCOUNTS}").status_code

    engine.start()
    archive = archive_of(server)
    assert archive._engine.probe()
    server.put("/~w1/_mock/state/users/77", USER)


@pytest.mark.parametrize("name", ["w1", "default"])
def test_a_damaged_world(engine: EngineServer, servers: list[Server], name: str) -> None:
    """Each process says what is damaged and what to do, none keeps it, and it can be removed."""
    first, second = servers
    prefix = prefix_of(first)
    first.put(f"/_mock/worlds/{name}")
    first.put(f"/~{name}/_mock/state/users/77", USER)
    assert worlds_of(first).rest(name)
    with engine.connect() as client:
        client.xadd(f"{prefix}log:{name}", {"t": "1", "b": "{}"}, id="7-0")

    for server in servers:
        for path in (f"/~{name}{ACCOUNTS}", f"/~{name}/_mock/clock"):
            check_refused(
                server, "GET", path, f"change 7 of world '{name}' is damaged",
                "DELETE /_mock/worlds/NAME", status=500,
            )  # fmt: skip

    if name != "default":  # in which the console is, too
        listed = {
            each["name"]: each for each in second.ask("GET", "/_mock/worlds").get_json()["worlds"]
        }
        assert "change 7" in listed[name]["damaged"]
        page = second.ask("GET", "/_mock/console/worlds").text
        assert "change 7 of world &#39;w1&#39; is damaged" in page
        assert f"/_mock/console/worlds/{name}/delete" in page
        question = second.ask("GET", f"/_mock/console/worlds/{name}/delete").text
        assert "It is damaged and cannot be opened." in question
    assert 204 == second.ask("DELETE", f"/_mock/worlds/{name}").status_code
    assert "damaged" not in str(second.ask("GET", "/_mock/worlds").get_json())
    assert 200 == first.put(f"/_mock/worlds/{name}").status_code
    assert 404 == first.ask("GET", f"/~{name}/_mock/state/users/77").status_code


def test_another_form_beside_the_records(engine: EngineServer, servers: list[Server]) -> None:
    """A world whose windows cannot be restored is not kept by the process that found out."""
    first, second = servers
    prefix = prefix_of(first)
    first.put("/_mock/worlds/w1")
    assert 200 == first.ask("GET", f"/~w1{ACCOUNTS}").status_code
    world = first.platform.worlds.get("w1")
    with world.work():
        world.store.put("@windows", "w", {"unknown": 1})
    assert worlds_of(first).rest("w1")

    for server in (first, second):
        refused = check_refused(
            server, "GET", f"/~w1{ACCOUNTS}", "in the form of an older version",
            "DELETE /_mock/worlds/NAME",
        )  # fmt: skip
        assert "Retry-After" not in refused.headers
    with engine.connect() as client:
        assert b"" == client.hget(f"{prefix}world:w1", "owner")


@pytest.mark.crash
def test_an_engine_that_hangs(start_engine: StartEngine) -> None:
    """One request waits for it, and the others are refused at once; all goes on when it wakes."""
    engine, server = start_engine()
    server.put("/_mock/worlds/w1")
    os.kill(engine.pid, signal.SIGSTOP)
    try:
        for _ in range(20):
            refused = check_refused(
                server, "PUT", "/~w1/_mock/state/users/77", "so nothing was changed"
            )
            assert "1" == refused.headers.get("Retry-After")
        assert 200 == server.ask("GET", "/_mock/health").status_code
        assert 503 == server.ask("GET", "/_mock/health/ready").status_code
        assert 200 == server.ask("GET", f"/~w1{ACCOUNTS}").status_code
    finally:
        os.kill(engine.pid, signal.SIGCONT)
    archive = archive_of(server)
    assert any(archive._engine.probe() for _ in range(100))
    assert 404 == server.ask("GET", "/~w1/_mock/state/users/77").status_code
    server.put("/~w1/_mock/state/users/77", USER)


def test_an_answer_that_took_longer_than_the_lease(
    engine: EngineServer, servers: list[Server]
) -> None:
    """What was read before the process stopped is not answered if another one had the world."""
    first, second = servers
    first.put("/_mock/worlds/w1")
    archive = archive_of(first)
    lease = archive.lease

    def stop_while(view: Any) -> Any:
        """Let the process stop after it has read, until another one has changed the world."""

        def read(*asked: Any) -> Any:
            found = view(*asked)
            if lease.is_held() and len(first.platform.worlds):
                forget_process(engine, first)
                lease._until = 0.0
                second.put("/~w1/_mock/state/users/77", USER)
            return found

        return read

    answer = first.platform.answer
    first.platform.answer = stop_while(answer)  # type: ignore[method-assign]
    assert 503 == first.ask("GET", f"/~w1{ACCOUNTS}").status_code
    first.platform.answer = answer  # type: ignore[method-assign]

    assert worlds_of(second).rest("w1")
    assert 200 == first.ask("GET", "/~w1/_mock/state/users/77").status_code
    assert worlds_of(first).owns("w1")
    world = first.platform.worlds.get("w1")
    forget_process(engine, first)
    lease._until = 0.0
    second.put("/~w1/_mock/state/users/78", USER | {"id": "78"})
    with pytest.raises(UnknownWorld):
        first.platform.worlds.check_still_here(world, ())
    assert 503 == first.ask("GET", "/~w1/_mock/state/users").status_code


def test_a_nonce_of_a_request_that_failed(start_engine: StartEngine) -> None:
    """The same signed request is executed when it is sent again, and refused after that."""
    engine, server = start_engine(durable=True)
    address = f"http://localhost{ACCOUNTS}/{ACCOUNT}/custom_audiences?name=once"
    headers = signed("POST", address)
    archive = archive_of(server)

    def send() -> int:
        return server.client.post(address, headers=headers).status_code

    server.ask("GET", ACCOUNTS)
    run = archive._writer.change

    def refuse(*_: Any) -> None:
        archive._writer.change = run  # type: ignore[method-assign]
        engine.kill()
        archive._engine.find_run()

    archive._writer.change = refuse  # type: ignore[method-assign, assignment]
    assert 503 == send()
    assert 503 == send()
    engine.start()
    wait_for_turn(archive)
    assert [200, 401] == [send(), send()]


def test_a_nonce_whose_answer_was_lost(engine: EngineServer, servers: list[Server]) -> None:
    """The engine has it, and the repetition of the command finds that it is its own."""
    server = servers[0]
    archive = archive_of(server)
    server.ask("GET", ACCOUNTS)
    run = archive.credentials._engine.run

    def twice(*call: Any, **how: Any) -> Any:
        run(*call, **how)
        return run(*call, **how)

    archive.credentials._engine.run = twice  # type: ignore[method-assign]
    address = f"http://localhost{ACCOUNTS}"
    headers = signed("GET", address)
    answers = [server.client.get(address, headers=headers).status_code for _ in range(2)]
    archive.credentials._engine.run = run  # type: ignore[method-assign]

    assert [200, 401] == answers


def test_an_engine_without_memory(start_engine: StartEngine) -> None:
    """The server is not ready and says why; leases go on, so reads do, until there is room."""
    engine, server = start_engine("--maxmemory-policy", "allkeys-lru")
    archive = archive_of(server)
    server.put("/_mock/worlds/w1")
    ready = server.ask("GET", "/_mock/health/ready").get_json()
    assert any("maxmemory-policy allkeys-lru" in text for text in ready["warnings"])
    with engine.connect() as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "1kb")
    archive._take_turn()
    check_refused(server, "GET", "/_mock/health/ready", "its memory is full")
    check_refused(server, "PUT", "/~w1/_mock/state/users/77", "its memory is full")
    archive.lease.renew()
    assert 200 == server.ask("GET", f"/~w1{ACCOUNTS}").status_code
    with engine.connect() as client:
        client.config_set("maxmemory", "0")
    archive._take_turn()
    archive._engine.look_at_settings()
    ready = server.ask("GET", "/_mock/health/ready").get_json()
    assert not any("maxmemory-policy" in text for text in ready["warnings"])
    server.put("/~w1/_mock/state/users/77", USER)


@pytest.mark.parametrize(
    ("key", "change", "said"),
    [
        ("world:w1", ("SET", "text"), "holds a string where mock_platform keeps a hash"),
        ("log:w1", ("SADD", "text"), "holds a set where mock_platform keeps a stream"),
        ("state:w1", ("SADD", "text"), "holds a set where mock_platform keeps a string"),
        ("worlds", ("SADD", b"\xff\xfe"), "holds bytes that are no text"),
        ("points:w1", ("HSET", b"\xff", "1"), "holds bytes that are no text"),
    ],
)
def test_keys_of_another_program(
    engine: EngineServer, servers: list[Server], key: str, change: tuple[Any, ...], said: str
) -> None:
    """They are named, with what to do, in operations and in the control plane."""
    server = servers[0]
    prefix = prefix_of(server)
    server.put("/_mock/worlds/w1")
    assert worlds_of(server).rest("w1")
    command, *values = change
    with engine.connect() as client:
        if said.startswith("holds a "):
            client.delete(f"{prefix}{key}")
        client.execute_command(command, f"{prefix}{key}", *values)

    paths = ["/_mock/worlds"] if key == "worlds" else [f"/~w1{ACCOUNTS}", "/~w1/_mock/clock"]
    for path in paths:
        refused = check_refused(server, "GET", path, f"{prefix}{key}", said, "?prefix=NAME:")
        assert "Retry-After" not in refused.headers


@pytest.mark.parametrize("form", ["not compressed", "has no 'next_place'"])
def test_a_world_in_an_older_form(engine: EngineServer, servers: list[Server], form: str) -> None:
    """It is not called damaged; the answer says what to do, and it can be removed."""
    server = servers[0]
    prefix = prefix_of(server)
    server.put("/_mock/worlds/w1")
    assert worlds_of(server).rest("w1")
    with engine.connect() as client:
        body: Any = client.get(f"{prefix}state:w1")
        line = zlib.decompress(body)
        if form != "not compressed":
            found = loads(line)
            del found["next_place"], found["crc"]
            line = zlib.compress(seal_line(dumps(found))[:-1])
        client.set(f"{prefix}state:w1", line)

    for path in (f"/~w1{ACCOUNTS}", "/~w1/_mock/clock"):
        refused = check_refused(
            server, "GET", path, "in the form of an older version", form, "serve with the version"
        )
        assert "Retry-After" not in refused.headers
        assert "is damaged" not in refused.get_json()["detail"]
    assert 204 == server.ask("DELETE", "/_mock/worlds/w1").status_code
    server.put("/_mock/worlds/w1")


def test_credentials_outlive_an_engine_that_forgot_them(start_engine: StartEngine) -> None:
    """They choose their world again as soon as its owner has confirmed it."""
    engine, server = start_engine(lease=1.0)
    made = server.ask("PUT", "/_mock/worlds/w1", {"own_credentials": True}).get_json()
    token = made["credentials"]["bearer_token"]
    engine.kill()
    engine.start()
    archive = archive_of(server)
    wait_for_turn(archive)
    wait_for_turn(archive)
    headers = bearer(token)
    assert 200 == server.client.get(ACCOUNTS, headers=headers).status_code
    assert 1 == server.ask("GET", "/~w1/_mock/requests/count").get_json()["count"]


def test_a_server_of_its_own(settings: Settings) -> None:
    """What is opened from Python closes as every other one does."""
    with open_platform(settings) as opened:
        assert opened.platform.worlds.default.name == "default"


@pytest.mark.parametrize("store", ["memory", "tinydb:state.json"])
def test_other_stores_are_not_shared(store: str) -> None:
    """What would have no effect is refused, with the kind of store that it needs."""
    with pytest.raises(NeedsEngine, match="--rest-after needs a store that processes share"):
        open_platform(Settings(store=store, rest_after=1))
    with pytest.raises(NeedsEngine, match="--advertise needs a store that processes share"):
        open_platform(Settings(store=store, advertise="127.0.0.1:8081"))
