"""What a kept server has after a restart, and that each act is recorded at once or not at all."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from werkzeug.test import Client, TestResponse

from mock_platform.core.tables.state import State
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.serving.restoring import Opened, open_platform
from mock_platform.settings import Settings
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreUnwritable
from mock_platform.world.store.memory import Base
from tests.support import bearer
from tests.world.backends import crash
from tests.world.store.test_tinydb_archive import largest_file
from tests.world.worlds_crash_worker import load_few

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
USER = {"id": "77", "screen_name": "kept", "name": "Kept"}
OWN = {
    "rules": [
        {"on": "accounts.list", "call": 2, "then": {"error": 89}},
        {
            "on": "accounts.list",
            "call": {"from": 3},
            "then": {"rate_limit": {"limit": 2, "window": 60}},
        },
    ]
}


class Server:
    """A platform behind its files, asked without a socket."""

    def __init__(self, settings: Settings) -> None:
        self.opened: Opened = open_platform(settings)
        self.platform: Platform = self.opened.platform
        self.client = Client(create_app(self.platform))

    def ask(self, method: str, path: str, body: Any = None) -> TestResponse:
        """One request, with the well-known bearer token."""
        headers = bearer()
        more = {} if body is None else {"json": body}
        return self.client.open(path, method=method, headers=headers, **more)

    def put(self, path: str, body: Any = None) -> TestResponse:
        """One request that is accepted."""
        answer = self.ask("PUT", path, {} if body is None else body)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer

    def post(self, path: str, body: Any = None) -> None:
        """One request that is accepted."""
        answer = self.ask("POST", path, body)
        assert answer.status_code in {200, 204}, answer.get_data(as_text=True)

    def scenario(self, name: str, world: str = "default") -> dict[str, Any]:
        """A scenario as the control plane shows it."""
        found: dict[str, Any] = self.ask("GET", f"/~{world}/_mock/scenarios/{name}").get_json()
        return found

    def described(self) -> Any:
        """Everything that a change might touch."""
        return {
            world.name: {
                "state": State(world, self.platform.tables).dump(),
                "beside": orjson.loads(
                    orjson.dumps(
                        sorted((*at, it) for at, it in world.beside.read_records().items())
                    )
                ),
                "snapshots": list(world.snapshots),
                "epoch": world.epoch,
                "journal": [entry.id for entry in world.journal],
                "now": world.clock.now(),
            }
            for world in self.platform.worlds
        }


@contextmanager
def serving(settings: Settings, *, kill: bool = False) -> Iterator[Server]:
    """A server that is stopped at the end, or killed."""
    server = Server(settings)
    try:
        yield server
    finally:
        if kill:
            server.platform.close()
            crash(server.opened.archive)
        else:
            server.opened.close()


def kept(folder: Path, **more: Any) -> Settings:
    """Settings that keep the worlds in a file, clocks standing still."""
    return Settings(store=f"tinydb:{folder / 'state.json'}", freeze=NOON, **more)


def log_of(folder: Path) -> list[dict[str, Any]]:
    """The changes in the log, fixtures aside."""
    lines = (folder / "state.json.log").read_bytes().splitlines()
    return [line for line in map(orjson.loads, lines) if line["kind"] != "fixtures"]


# -- what is there again ---------------------------------------------------------------------------


@pytest.mark.parametrize("kill", [False, True])
def test_scenarios_go_on(tmp_path: Path, kill: bool) -> None:
    """What was defined and switched on is there, as far as it had come, in its order."""
    with serving(kept(tmp_path), kill=kill) as server:
        server.put("/_mock/scenarios/own", OWN)
        server.post("/_mock/scenarios/usage-capped/activate", {"parameters": {"period": "Daily"}})
        server.post("/_mock/scenarios/own/activate")
        first = server.ask("GET", "/12/accounts").status_code
        before = [server.scenario(name) for name in ("own", "usage-capped")]
        active = list(server.platform.worlds.default.beside.read_records())

    with serving(kept(tmp_path)) as server:
        assert before == [server.scenario(name) for name in ("own", "usage-capped")]
        assert active == list(server.platform.worlds.default.beside.read_records())
        second = server.ask("GET", "/12/accounts")
        assert (200, 401) == (first, second.status_code)
        assert "own/0" == second.headers["X-Mock-Rule"]


@pytest.mark.parametrize("kill", [False, True])
def test_rate_windows_go_on(tmp_path: Path, kill: bool) -> None:
    """What was counted counts after a restart as well, until the window's end on the clock."""
    with serving(kept(tmp_path), kill=kill) as server:
        server.put("/_mock/scenarios/own", OWN)
        server.post("/_mock/scenarios/own/activate")
        statuses = [server.ask("GET", "/12/accounts").status_code for _ in range(4)]

    with serving(kept(tmp_path)) as server:
        statuses.append(server.ask("GET", "/12/accounts").status_code)
        server.put("/_mock/clock", {"action": "advance", "seconds": 60})
        statuses.append(server.ask("GET", "/12/accounts").status_code)

    assert [200, 401, 200, 200, 429, 200] == statuses


def test_an_activation_has_new_windows_after_a_restart(tmp_path: Path) -> None:
    """What an earlier process counted for a rule ends when the rule is switched on again."""
    with serving(kept(tmp_path), kill=True) as server:
        server.put("/_mock/scenarios/own", OWN)
        server.post("/_mock/scenarios/own/activate")
        statuses = [server.ask("GET", "/12/accounts").status_code for _ in range(5)]

    with serving(kept(tmp_path), kill=True) as server:
        server.post("/_mock/scenarios/own/activate")
    with serving(kept(tmp_path)) as server:
        statuses += [server.ask("GET", "/12/accounts").status_code for _ in range(3)]

    assert [200, 401, 200, 200, 429, 200, 401, 200] == statuses


def test_a_request_that_fails_counts(tmp_path: Path) -> None:
    """What a request counted is kept although the request itself was refused and undone."""
    path = "/12/accounts/18ce54d4x5t/custom_audiences/unknown/users"
    body = [{"operation_type": "Update", "params": {"users": [{"email": ["0" * 64]}]}}]
    with serving(kept(tmp_path), kill=True) as server:
        answers = [server.ask("POST", path, body) for _ in range(2)]

    with serving(kept(tmp_path)) as server:
        answers.append(server.ask("POST", path, body))

    assert [404] * 3 == [answer.status_code for answer in answers]
    left = [answer.headers["x-rate-limit-remaining"] for answer in answers]
    assert ["1499", "1498", "1497"] == left


@pytest.mark.parametrize("kill", [False, True])
def test_snapshots_can_be_come_back_to(tmp_path: Path, kill: bool) -> None:
    """Snapshots are there, oldest first, with what they hold; one that was dropped is not."""
    with serving(kept(tmp_path), kill=kill) as server:
        server.put("/_mock/worlds/w1")
        server.put("/~w1/_mock/snapshots/zero")
        server.put("/~w1/_mock/state/users/77", USER)
        server.put("/~w1/_mock/snapshots/b")
        server.put("/~w1/_mock/clock", {"action": "advance", "seconds": 60})
        server.put("/~w1/_mock/snapshots/a")
        server.post("/~w1/_mock/reset", None)
        server.put("/~w1/_mock/snapshots/none")
        server.put("/~w1/_mock/state/users/77", USER)
        server.put("/~w1/_mock/snapshots/b")
        server.put("/~w1/_mock/clock", {"action": "advance", "seconds": 60})
        server.put("/~w1/_mock/snapshots/a")
        server.ask("DELETE", "/~w1/_mock/snapshots/none")

    with serving(kept(tmp_path)) as server:
        assert ["b", "a"] == server.ask("GET", "/~w1/_mock/snapshots").get_json()["snapshots"]
        server.ask("DELETE", "/~w1/_mock/state/users/77")
        server.post("/~w1/_mock/snapshots/b/restore", None)
        assert 200 == server.ask("GET", "/~w1/_mock/state/users/77").status_code
        assert NOON == server.platform.worlds.get("w1").clock.now()
        assert 404 == server.ask("GET", "/_mock/state/users/77").status_code
        server.ask("DELETE", "/_mock/worlds/w1")

    with serving(kept(tmp_path)) as server:
        server.put("/_mock/worlds/w1")
        assert [] == server.ask("GET", "/~w1/_mock/snapshots").get_json()["snapshots"]


def test_start_up_scenarios_and_what_was_switched_by_hand(tmp_path: Path) -> None:
    """A start switches on what it names for the first time, and off what it names no longer."""
    first = kept(tmp_path, scenarios=("outage", "usage-capped"))
    with serving(first) as server:
        server.put("/_mock/worlds/w1")
        server.post("/_mock/scenarios/outage/deactivate")
        server.post("/_mock/scenarios/conflict/activate")

    def active(server: Server, world: str = "default") -> list[str]:
        records = server.platform.worlds.get(world).beside.read_records()
        return [key for table, key in records if table == "@active"]

    with serving(first) as server:
        assert ["usage-capped", "conflict"] == active(server)
        assert ["outage", "usage-capped"] == active(server, "w1")
    with serving(replace(first, scenarios=("outage", "rule-cap"))) as server:
        assert ["conflict", "rule-cap"] == active(server)
        assert ["outage", "rule-cap"] == active(server, "w1")
        server.post("/_mock/reset", None)
        assert ["outage", "rule-cap"] == active(server)


def test_what_cannot_go_on_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A scenario whose file is no longer passed is off, and the log says so."""
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nrules: [{then: {error: 89}}]\n")
    folder = tmp_path / "scenarios"
    folder.mkdir()
    file.rename(folder / "mine.yaml")
    with serving(kept(tmp_path, scenarios=(str(folder),))) as server:
        server.post("/_mock/scenarios/mine/activate")

    with caplog.at_level(logging.WARNING), serving(kept(tmp_path)) as server:
        assert 200 == server.ask("GET", "/12/accounts").status_code

    assert "World 'default' cannot go on with a scenario: 'mine' was active" in caplog.text


# -- one commit ------------------------------------------------------------------------------------


def test_each_act_is_one_commit(tmp_path: Path) -> None:
    """Whenever the server dies, a reset, a copy, a drop or a jump happened as a whole or not."""
    acts: list[tuple[str, str, Any]] = [
        ("PUT", "/_mock/worlds/w1", {"from": "default", "freeze": "2026-11-20T12:00:01Z"}),
        ("PUT", "/_mock/clock", {"action": "advance", "seconds": 5}),
        ("PUT", "/_mock/scenarios/own", OWN),
        ("POST", "/_mock/scenarios/own/activate", {}),
        ("PUT", "/_mock/snapshots/s", None),
        ("POST", "/_mock/reset", None),
        ("PUT", "/_mock/snapshots/s", None),
        ("PUT", "/_mock/clock", {"action": "advance", "seconds": 5}),
        ("POST", "/_mock/snapshots/s/restore", None),
        ("POST", "/~w1/_mock/reset", None),
        ("PUT", "/~w1/_mock/snapshots/s", None),
        ("DELETE", "/_mock/worlds/w1", None),
        ("PUT", "/_mock/transitions/media", {"seconds": 3}),
    ]
    with serving(kept(tmp_path)) as server:
        grown = []
        for act in acts:
            before = len(log_of(tmp_path))
            assert server.ask(*act).status_code in {200, 204}
            grown.append(len(log_of(tmp_path)) - before)
        before = len(log_of(tmp_path))
        server.platform.reload(server.platform.base)

        assert [1] * len(acts) == grown
        assert 1 == len(log_of(tmp_path)) - before


# -- a full disk -----------------------------------------------------------------------------------

ACTS: list[tuple[str, str, Any]] = [
    ("PUT", "/_mock/worlds/new", {}),
    ("PUT", "/_mock/worlds/copy", {"from": "default"}),
    ("DELETE", "/_mock/worlds/w1", None),
    ("POST", "/_mock/reset", None),
    ("POST", "/~w1/_mock/reset", None),
    ("PUT", "/_mock/clock", {"action": "advance", "seconds": 60}),
    ("PUT", "/_mock/clock", {"action": "resume"}),
    ("PUT", "/_mock/state/users/78", USER | {"id": "78"}),
    ("DELETE", "/_mock/state/users/77", None),
    ("PUT", "/_mock/scenarios/other", OWN),
    ("POST", "/_mock/scenarios/outage/activate", {}),
    ("POST", "/_mock/scenarios/own/deactivate", None),
    ("POST", "/_mock/scenarios/deactivate", None),
    ("PUT", "/_mock/snapshots/s", None),
    ("PUT", "/_mock/snapshots/other", None),
    ("DELETE", "/_mock/snapshots/s", None),
    ("POST", "/_mock/snapshots/s/restore", None),
    ("PUT", "/_mock/transitions/media", {"seconds": 3}),
    ("PUT", "/12/accounts/18ce54d4x5t?name=Changed", None),
    ("GET", "/12/accounts", None),
    ("POST", "/sandbox/12/accounts", None),
]


@pytest.fixture(scope="module")
def few() -> Base:
    """The fixtures without the four longest tables, which have half of the records."""
    return load_few(150)


@pytest.mark.parametrize("act", ACTS, ids=lambda act: f"{act[0]} {act[1]}")
@pytest.mark.claim("all changes in memory are undone, and the client gets 507")
def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: Base, act: tuple[str, str, Any]
) -> None:
    """What cannot be written is answered with 507 and what to do, and did not happen at all."""
    # Five worlds are read and compared for each act: those of a few records take less time.
    monkeypatch.setattr("mock_platform.serving.restoring.load_base", lambda _: few)
    with serving(kept(tmp_path), kill=True) as server:
        server.put("/_mock/worlds/w1", {"from": "default"})
        server.put("/_mock/state/users/77", USER)
        server.put("/_mock/scenarios/own", OWN)
        server.post("/_mock/scenarios/own/activate")
        server.put("/_mock/snapshots/s")
        server.put("/_mock/clock", {"action": "advance", "seconds": 1})
        server.ask("GET", "/12/accounts")
        before = server.described()
        with largest_file((tmp_path / "state.json.log").stat().st_size + 20):
            answer = server.ask(*act)
        after = server.described()

        assert 507 == answer.status_code
        assert "Make room there and try again" in answer.get_data(as_text=True)
        assert [] == server.platform.errors
        told = after["default"].pop("journal")
        assert told[:1] == before["default"].pop("journal")
        assert before == after

    with serving(kept(tmp_path), kill=True) as server:
        again = server.described()
        for world in again.values():
            world.pop("journal")
            world["epoch"] = before[world["state"]["world"]]["epoch"]
        before["w1"].pop("journal")
        assert before == again
        assert server.ask(*act).status_code in {200, 204, 401}  # now that there is room


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/2/webhooks/replay", ("detail", "could not be written")),
        ("/oauth/request_token", ("errors", "could not be written")),
        ("/12/accounts/18ce54d4x5t", ("errors", "INSUFFICIENT_STORAGE")),
    ],
)
def test_each_dialect_tells_of_a_full_disk(tmp_path: Path, path: str, told: Any) -> None:
    """The refusal is worded as every other of its interface, and is no fault of the sandbox."""
    own = {"rules": [{"stage": "before_auth", "then": {"set": {"users/77": USER}}}]}
    with serving(kept(tmp_path)) as server:
        server.put("/_mock/scenarios/own", own)
        server.post("/_mock/scenarios/own/activate")
        with largest_file((tmp_path / "state.json.log").stat().st_size):
            answer = server.ask("PUT" if path.startswith("/12") else "POST", path)

        assert 507 == answer.status_code
        assert told[1] in str(answer.get_json()[told[0]])
        assert [] == server.platform.errors


def test_python_is_told_of_a_full_disk(tmp_path: Path) -> None:
    """Whoever makes a world in Python gets an exception, and no world."""
    with serving(kept(tmp_path)) as server:
        worlds = server.platform.worlds
        with (
            largest_file((tmp_path / "state.json.log").stat().st_size),
            pytest.raises(StoreUnwritable, match=r"state\.json\.log could not be written \(File"),
        ):
            worlds.create("w1")
        with pytest.raises(UnknownWorld):
            worlds.get("w1")
        assert "w1" == worlds.create("w1").name


# -- worlds that are dropped -----------------------------------------------------------------------


@pytest.mark.parametrize("store", ["memory", "tinydb"])
def test_a_late_request_reaches_no_other_world(tmp_path: Path, store: str) -> None:
    """A request that waited for a world which was dropped meets none, though one has its name."""
    settings = kept(tmp_path) if store == "tinydb" else Settings(freeze=NOON)
    answers: list[TestResponse] = []
    with serving(settings) as server:
        server.put("/_mock/worlds/w1")
        old = server.platform.worlds.get("w1")
        late = [
            ("PUT", "/~w1/_mock/state/users/77", USER),
            ("PUT", "/~w1/12/accounts/18ce54d4x5t?name=Late", None),
            ("POST", "/~w1/_mock/reset", None),
            ("PUT", "/~w1/_mock/clock", {"action": "advance", "seconds": 9}),
            ("PUT", "/~w1/_mock/snapshots/late", None),
            ("PUT", "/~w1/_mock/scenarios/late", OWN),
            ("GET", "/~w1/12/accounts", None),
        ]
        waiting = threading.Semaphore(0)

        class Waited:
            """The world's lock; `waiting` counts who waits for it."""

            def __init__(self) -> None:
                self.lock = old.lock
                self.release = self.lock.release

            def acquire(self) -> bool:
                waiting.release()
                return self.lock.acquire()

            def __enter__(self) -> bool:
                return self.acquire()

            def __exit__(self, *_: object) -> None:
                self.release()

        def ask(request: tuple[str, str, Any]) -> None:
            answers.append(Server.ask(server, *request))

        with old.lock:
            old.lock = Waited()  # type: ignore[assignment]
            threads = [threading.Thread(target=ask, args=(request,)) for request in late]
            for thread in threads:
                thread.start()
            for _ in threads:
                waiting.acquire()
            server.platform.worlds.drop("w1")
            server.put("/_mock/worlds/w1")
            begun = State(server.platform.worlds.get("w1"), server.platform.tables).dump()
        for thread in threads:
            thread.join()

        unknown = server.ask("GET", "/~gone/12/accounts")
        expected = (404, unknown.get_data(as_text=True).replace("gone", "w1"))
        platform = [a for a in answers if a.get_json()["title"] == "Unknown world"]
        assert [404] * len(late) == [answer.status_code for answer in answers]
        assert [expected] * 2 == [(a.status_code, a.get_data(as_text=True)) for a in platform]
        assert not any("X-Mock-Operation" in answer.headers for answer in answers)
        assert "There is no world 'w1'" in answers[0].get_data(as_text=True)
        new = server.platform.worlds.get("w1")
        assert begun == State(new, server.platform.tables).dump()
        assert [] == server.platform.errors

    if store == "tinydb":
        with serving(settings) as server:
            new = server.platform.worlds.get("w1")
            assert begun == State(new, server.platform.tables).dump()


@pytest.mark.parametrize("store", ["memory", "tinydb"])
def test_dropping_under_traffic(tmp_path: Path, store: str) -> None:
    """Requests to a world that comes and goes are answered, or find no world; nothing fails."""
    settings = kept(tmp_path) if store == "tinydb" else Settings(freeze=NOON)
    statuses: set[int] = set()
    with serving(settings) as server:

        def ask() -> None:
            for number in range(60):
                user = USER | {"id": str(number)}
                statuses.add(
                    server.ask("PUT", f"/~w1/_mock/state/users/{number}", user).status_code
                )
                statuses.add(server.ask("GET", "/~w1/12/accounts").status_code)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            server.ask("PUT", "/_mock/worlds/w1", {})
            server.ask("DELETE", "/_mock/worlds/w1")
        for thread in threads:
            thread.join()

        assert statuses <= {200, 404}
        assert [] == server.platform.errors
