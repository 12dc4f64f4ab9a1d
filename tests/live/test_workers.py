"""`serve --workers 2` as one server: what clients see, whichever process they reach."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from mock_platform import MockPlatform
from mock_platform.cli.main import group
from tests.live.processes import Served, quick, serving
from tests.support import bearer
from tests.waits import PATIENCE

pytestmark = pytest.mark.live
USER = {"id": "9", "screen_name": "nine", "name": "N"}
ALONE = "--store", "memory"
"""Without an engine, where processes have other labels, and any of them takes any world."""
SCENARIO = "description: Fails once.\nrules:\n  - on: users.me\n    then: {error: 131}\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of two processes, with a folder of scenarios."""
    folder = tmp_path_factory.mktemp("scenarios")
    (folder / "first.yaml").write_text(f"name: first\n{SCENARIO}")
    with serving(*ALONE, "--workers", 2, "--scenario", folder, command=quick) as found:
        yield found
        assert 0 == found.stop()


@pytest.fixture(scope="module")
def token(served: Served) -> str:
    """A bearer token of the fixtures."""
    return str(ask(served, "GET", "/_mock/credentials").json()["bearer_token"])


def ask(served: Served, method: str, path: str, **more: Any) -> requests.Response:
    """An answer, on a connection of its own: the system chooses the process."""
    headers = {"Connection": "close", **more.pop("headers", {})}
    return requests.request(method, served.url + path, headers=headers, timeout=PATIENCE, **more)


def make_worlds(served: Served, *names: str) -> dict[str, str]:
    """Make worlds; returns the process of each."""
    for name in names:
        assert ask(served, "PUT", f"/_mock/worlds/{name}").ok
    found = ask(served, "GET", "/_mock/worlds").json()["worlds"]
    return {world["name"]: world["process"] for world in found}


def read_raw(served: Served, path: str, token: str, *, until: bytes = b"") -> bytes:
    """The bytes of an answer until its end, or until they contain something."""
    port = int(served.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        client.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        found = b""
        while not until or until not in found:
            part = client.recv(65_536)
            if not part:
                break
            found += part
        return found


def test_worlds_live_in_both_processes(served: Served, token: str) -> None:
    """Every connection reaches every world, and each world has its own records."""
    names = [f"spread{number}" for number in range(8)]
    places = make_worlds(served, *names)
    assert {"1", "2"} == {places[name] for name in names}
    assert "1" == places["default"]
    for name in names:
        ask(served, "PUT", f"/~{name}/_mock/state/users/9", json=USER | {"screen_name": name})
    for _ in range(4):
        for name in names:
            user = ask(served, "GET", f"/~{name}/_mock/state/users/9").json()
            assert name == user["screen_name"]
            account = {"Authorization": f"Bearer {token}", "X-Mock-World": name}
            assert ask(served, "GET", "/12/accounts", headers=account).ok
    for name in names:
        entries = ask(served, "GET", f"/~{name}/_mock/requests").json()["requests"]
        assert 4 == len(entries)
        assert 204 == ask(served, "DELETE", f"/_mock/worlds/{name}").status_code
    assert not {*names} & {*make_worlds(served)}


@pytest.mark.parametrize("name", ["fault1", "fault4"])
def test_faults_and_delays_are_those_of_one_process(served: Served, token: str, name: str) -> None:
    """On four connections, some of which reach the other process."""
    make_worlds(served, name)
    control, call = f"/~{name}/_mock", f"/~{name}/12/accounts"
    for fault in ("reset", "empty", "truncate", "garbage"):
        rule = {"on": "accounts.list", "stage": "before_auth", "then": {"fault": fault}}
        answer = ask(served, "PUT", f"{control}/scenarios/broken", json={"rules": [rule]})
        assert answer.ok, answer.text
        assert ask(served, "POST", f"{control}/scenarios/broken/activate").ok
        for _ in range(4):
            if fault == "reset":
                with pytest.raises(ConnectionResetError):
                    read_raw(served, call, token)
                continue
            found = read_raw(served, call, token)
            head, _, body = found.partition(b"\r\n\r\n")
            if fault == "empty":
                assert b"" == found
            elif fault == "garbage":
                assert not found.startswith(b"HTTP/")
            else:
                (length,) = (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.startswith(b"Content-Length")
                )
                assert 0 < len(body) < length
        ask(served, "POST", f"{control}/scenarios/deactivate")
    rule = {"on": "accounts.list", "then": {"delay": {"seconds": 0, "slow_body": 0.2}}}
    ask(served, "PUT", f"{control}/scenarios/broken", json={"rules": [rule]})
    ask(served, "POST", f"{control}/scenarios/broken/activate")
    for _ in range(4):
        answer = ask(served, "GET", call, headers=bearer(token))
        assert answer.ok
        assert answer.json()["data"]
        answer = ask(served, "HEAD", call, headers=bearer(token))
        assert answer.headers["Content-Length"] != "0"


def test_one_connection_reaches_both_processes(served: Served, token: str) -> None:
    """Pipelined requests for worlds of both are answered in their order."""
    places = make_worlds(served, *(f"pipe{number}" for number in range(6)))
    names = [name for name in places if name.startswith("pipe")]
    assert {"1", "2"} == {places[name] for name in names}
    port = int(served.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        for name in names:
            end = "Connection: close\r\n" if name == names[-1] else ""
            client.sendall(
                f"GET /~{name}/_mock/clock HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                f"GET /~{name}/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\n{end}\r\n".encode()
            )
        with client.makefile("rb") as file:
            text = file.read()
    assert 2 * len(names) == text.count(b"HTTP/1.1 ")
    at = [text.index(f"/{name}".encode()) for name in names if f"/{name}".encode() in text]
    assert at == sorted(at)


def test_own_credentials_choose_their_world_on_every_connection(served: Served) -> None:
    """From the answer on that has them, wherever the world lives."""
    for number in range(6):
        name = f"own{number}"
        body = {"own_credentials": True}
        made = ask(served, "PUT", f"/_mock/worlds/{name}", json=body).json()
        own = bearer(made["credentials"]["bearer_token"])
        for _ in range(3):
            assert ask(served, "GET", "/12/accounts", headers=own).ok
        counted = ask(served, "GET", f"/~{name}/_mock/requests/count").json()
        assert 3 == counted["count"]


def test_a_world_is_copied_from_another_process(served: Served) -> None:
    """Records, clock and settings are those of the source; an unknown source is refused."""
    places = make_worlds(served, "source")
    moment = "2027-01-01T00:00:00.000Z"
    ask(served, "PUT", "/~source/_mock/state/users/9", json=USER)
    ask(served, "PUT", "/~source/_mock/clock", json={"action": "freeze", "to": moment})
    copies = [f"copy{number}" for number in range(6)]
    for name in copies:
        answer = ask(served, "PUT", f"/_mock/worlds/{name}", json={"from": "source"})
        assert answer.ok, answer.text
        assert "nine" == ask(served, "GET", f"/~{name}/_mock/state/users/9").json()["screen_name"]
        assert {"now": moment, "frozen": True} == ask(served, "GET", f"/~{name}/_mock/clock").json()
        refused = ask(served, "PUT", f"/_mock/worlds/x{name}", json={"from": "nowhere"})
        assert 422 == refused.status_code
    places = make_worlds(served)
    assert {"1", "2"} == {places[name] for name in copies}


def test_counts_are_those_of_all_processes(served: Served, token: str) -> None:
    """Coverage, warnings and metrics add up, whichever process is asked."""
    names = [f"count{number}" for number in range(6)]
    make_worlds(served, *names)
    ask(served, "DELETE", "/_mock/coverage")
    ask(served, "DELETE", "/_mock/warnings")
    for name in names:
        path = f"/~{name}/12/accounts?no_such_parameter=1"
        ask(served, "GET", path, headers=bearer(token))
    for _ in range(3):
        covered = ask(served, "GET", "/_mock/coverage?only=accounts.list").json()
        assert 6 == covered["operations"][0]["requests"]
        one = ask(served, "GET", f"/~{names[0]}/_mock/coverage?only=accounts.list").json()
        assert 1 == one["operations"][0]["requests"]
        assert 6 == ask(served, "GET", "/_mock/warnings").json()["requests"]
        assert 1 == ask(served, "GET", f"/~{names[1]}/_mock/warnings").json()["requests"]
        assert 404 == ask(served, "GET", "/~nowhere/_mock/warnings").status_code
    text = ask(served, "GET", "/_mock/metrics").text
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    by_process = {
        sample.labels["process"]: sample.value
        for sample in samples
        if sample.name == "mock_platform_process_requests_total"
    }
    total = sum(s.value for s in samples if s.name == "mock_platform_requests_total")
    assert {"1", "2"} == set(by_process)
    assert total == sum(by_process.values())


def test_readiness_says_how_many_processes_answer(served: Served) -> None:
    """A probe gets 200 while all answer."""
    answer = ask(served, "GET", "/_mock/health/ready")
    assert {"status": "ready", "processes": 2, "warnings": []} == answer.json()
    assert 200 == ask(served, "GET", "/_mock/health").status_code


@pytest.mark.crash
def test_a_process_that_is_killed_is_started_again(served: Served) -> None:
    """The log says so, and its worlds are reached again."""
    if len(served.pids) == 1:
        pytest.skip("this system does not list the children of a process")
    _, first, second = served.pids
    os.kill(second, signal.SIGKILL)
    served.wait_for_log("Worker 2")
    served.wait_for_log("answers again")
    for number in range(6):
        assert ask(served, "PUT", f"/_mock/worlds/again{number}").ok
    assert ask(served, "GET", "/_mock/health/ready").ok
    assert first in served.pids


def test_more_processes_find_all_worlds_and_fewer_are_refused(tmp_path: Path) -> None:
    """Worlds stay in the file of their process, and nothing is left out silently."""
    store = ("--store", f"tinydb:{tmp_path / 'state.json'}")
    with MockPlatform.start(store=store[1]) as alone:
        for number in range(3):
            alone.world(f"early{number}")
    with serving(*store, "--workers", 2, command=quick) as served:
        for number in range(3):
            path = f"/~early{number}/_mock/state/users/9"
            assert ask(served, "PUT", path, json=USER).ok
            assert ask(served, "PUT", f"/_mock/worlds/late{number}").ok
        assert 0 == served.stop()
    refused = CliRunner().invoke(group, ["serve", "--port", "0", *store])
    assert 4 == refused.exit_code
    assert "Start with --workers 2" in refused.stderr
    with serving(*store, "--workers", 3, command=quick) as served:
        names = {world["name"] for world in ask(served, "GET", "/_mock/worlds").json()["worlds"]}
        wanted = {f"{kind}{number}" for kind in ("early", "late") for number in range(3)}
        assert wanted | {"default"} == names
        for number in range(3):
            assert ask(served, "GET", f"/~early{number}/_mock/state/users/9").ok
        assert 0 == served.stop()


def test_a_port_in_use_is_refused(served: Served) -> None:
    """By one process and by several; the workers of one server share a port, others do not."""
    port = served.url.rpartition(":")[2]
    for workers in (1, 2):
        result = CliRunner().invoke(group, ["serve", "--port", port, "--workers", str(workers)])
        assert 3 == result.exit_code
        assert "in use" in result.stderr


def test_many_clients_at_once_lose_nothing(served: Served) -> None:
    """Each write is there once, with as many hops as there are."""
    names = [f"many{number}" for number in range(4)]
    make_worlds(served, *names)
    faults: list[str] = []

    def write(number: int) -> None:
        with requests.Session() as session:
            for turn in range(10):
                for name in names:
                    key = f"{1000 + number * 100 + turn}"
                    user = {"id": key, "screen_name": f"u{key}", "name": "N"}
                    url = f"{served.url}/~{name}/_mock/state/users/{key}"
                    answer = session.put(url, data=json.dumps(user), timeout=PATIENCE,
                                         headers={"Content-Type": "application/json"})  # fmt: skip
                    if not answer.ok:
                        faults.append(answer.text)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == faults
    for name in names:
        found = ask(served, "GET", f"/~{name}/_mock/state/users").json()
        wanted = {f"{1000 + number * 100 + turn}" for number in range(4) for turn in range(10)}
        assert wanted <= {record["id"] for record in found["records"]}


def test_saved_scenarios_are_known_to_all_processes(served: Served) -> None:
    """What the console saves in the folder can be switched on in worlds of every process."""
    names = [f"saved{number}" for number in (0, 1, 4, 5)]
    worlds = make_worlds(served, *names)
    form = {"text": f"name: mine\n{SCENARIO}", "action": "save"}
    origin = {"Origin": served.url}
    editor = "/_mock/console/scenarios/+new"
    saved = ask(served, "POST", editor, data=form, headers=origin, allow_redirects=False)

    assert 303 == saved.status_code, saved.text
    assert {"1", "2"} == {str(worlds[name]) for name in names}
    for name in names:
        path = f"/~{name}/_mock/scenarios/mine/activate"
        assert ask(served, "POST", path, json={}).ok
