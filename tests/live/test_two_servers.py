"""Two servers with the same engine, at addresses of their own, as one sandbox."""

from __future__ import annotations

import itertools
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from click.testing import CliRunner

from mock_platform.cli.main import group
from tests.engine import EngineServer
from tests.live.processes import Served, quick, serving
from tests.support_receiver import unused_port
from tests.waits import PATIENCE

pytestmark = pytest.mark.live
USER = {"screen_name": "nine", "name": "N"}
BIO = {"event_type": "profile.update.bio", "payload": {}}


@pytest.fixture(scope="module")
def store(engine: EngineServer) -> str:
    """The store of both servers."""
    return engine.url()


@pytest.fixture(scope="module")
def advertised() -> int:
    """The port at which the processes of other machines reach the first server."""
    return unused_port()


@pytest.fixture(scope="module")
def servers(store: str, advertised: int) -> Iterator[tuple[Served, Served]]:
    """Two servers, which know nothing of each other but the engine.

    The first has a proxy, the second two workers.
    """
    reached = "--workers", 1, "--advertise", f"127.0.0.1:{advertised}", "--intercept"
    with (
        serving("--store", store, *reached, command=quick) as first,
        serving("--store", store, "--workers", 2, command=quick) as second,
    ):
        yield first, second
        assert 0 == second.stop()
        assert 0 == first.stop()


class Client:
    """Asks the servers in turn, with a connection to each."""

    def __init__(self, *servers: Served) -> None:
        self._urls = itertools.cycle([served.url for served in servers])
        self._session = requests.Session()

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        """The answer of the server whose turn it is."""
        return self._session.request(method, next(self._urls) + path, timeout=PATIENCE, **more)

    def read(self, path: str, **more: Any) -> Any:
        """What a server answers with 200."""
        answer = self.ask("GET", path, **more)
        assert 200 == answer.status_code, answer.text
        return answer.json()


@pytest.fixture
def client(servers: tuple[Served, Served]) -> Client:
    """A client that alternates between the servers."""
    return Client(*servers)


def test_a_client_that_alternates_sees_one_sandbox(client: Client) -> None:
    """Records, journal, clock, lists, and worlds that are made, copied and removed."""
    for name in ("w1", "w2"):
        assert client.ask("PUT", f"/_mock/worlds/{name}").ok
    token = client.read("/~w1/_mock/credentials")["bearer_token"]
    for number in range(4):
        path = f"/~w1/_mock/state/users/{900 + number}"
        assert client.ask("PUT", path, json=USER | {"id": str(900 + number)}).ok
        bearer = {"Authorization": f"Bearer {token}"}
        assert client.ask("GET", "/~w1/12/accounts", headers=bearer).ok
    for _ in range(2):
        records = client.read("/~w1/_mock/state/users")["records"]
        assert {"900", "901", "902", "903"} <= {record["id"] for record in records}
        assert 4 == client.read("/~w1/_mock/requests/count")["count"]
    entry = client.read("/~w1/_mock/requests")["requests"][0]["id"]
    for _ in range(2):
        assert entry == client.read(f"/~w1/_mock/requests/{entry}")["id"]
    moment = "2027-01-01T00:00:00.000Z"
    client.ask("PUT", "/~w1/_mock/clock", json={"action": "freeze", "to": moment})
    assert [moment] * 2 == [client.read("/~w1/_mock/clock")["now"] for _ in range(2)]
    for name in ("copy1", "copy2"):
        assert client.ask("PUT", f"/_mock/worlds/{name}", json={"from": "w1"}).ok
        assert "nine" == client.read(f"/~{name}/_mock/state/users/900")["screen_name"]
    lists = [client.read("/_mock/worlds")["worlds"] for _ in range(2)]
    owners = [{world["name"]: world["owner"] for world in worlds} for worlds in lists]
    assert owners[0] == owners[1]
    assert {"w1", "w2", "copy1", "copy2"} <= {*owners[0]}
    for _ in range(2):
        covered = client.read("/~w1/_mock/coverage?only=accounts.list")
        assert 4 == covered["operations"][0]["requests"]
        assert 3 <= client.read("/_mock/health/ready")["processes"]
        assert 404 == client.ask("GET", "/~nowhere/_mock/clock").status_code
    assert 204 == client.ask("DELETE", "/_mock/worlds/w2").status_code
    assert [404, 404] == [client.ask("GET", "/~w2/_mock/clock").status_code for _ in range(2)]
    assert client.ask("PUT", "/_mock/worlds/w2").ok
    client.read("/~w2/_mock/clock")


def test_both_make_the_same_world_at_once(servers: tuple[Served, Served]) -> None:
    """One makes it, and both answer with its credentials."""
    clients = [Client(served) for served in servers]
    with ThreadPoolExecutor() as threads:
        for number in range(12):
            path, body = f"/_mock/worlds/both{number}", {"own_credentials": True}
            asked = [threads.submit(client.ask, "PUT", path, json=body) for client in clients]
            answers = [each.result() for each in asked]
            assert [200, 200] == [answer.status_code for answer in answers], answers[0].text
            assert answers[0].json()["credentials"] == answers[1].json()["credentials"]


def test_credentials_choose_their_world_on_every_server(client: Client) -> None:
    """From the answer on that has them."""
    made = client.ask("PUT", "/_mock/worlds/own", json={"own_credentials": True}).json()
    bearer = {"Authorization": f"Bearer {made['credentials']['bearer_token']}"}
    for _ in range(4):
        assert client.ask("GET", "/12/accounts", headers=bearer).ok
    assert 4 == client.read("/~own/_mock/requests/count")["count"]


def test_the_proxy_of_one_reaches_worlds_of_the_other(servers: tuple[Served, Served]) -> None:
    """A client that is led to the real host is answered by the process that has its world."""
    first, second = servers
    owner = Client(second)
    assert owner.ask("PUT", "/_mock/worlds/led").ok
    bearer = f"Bearer {owner.read('/~led/_mock/credentials')['bearer_token']}"
    headers = {"Authorization": bearer, "X-Mock-World": "led"}
    assert [200] * 2 == [
        first.ask_platform("/12/accounts", **headers).status_code for _ in range(2)
    ]
    assert 2 == owner.read("/~led/_mock/requests/count?operation=accounts.list")["count"]
    (world,) = (each for each in owner.read("/_mock/worlds")["worlds"] if each["name"] == "led")
    assert str(first.ready["pid"]) not in world["owner"]


def test_streams_and_faults_pass(servers: tuple[Served, Served]) -> None:
    """A stream of one server has what happens through the other, and a break is a break."""
    first, second = servers
    owner, other = Client(first), Client(second)
    assert owner.ask("PUT", "/_mock/worlds/open").ok
    known = owner.read("/~open/_mock/credentials")
    bearer = {"Authorization": f"Bearer {known['bearer_token']}"}
    user = known["user"]["id"]
    subscribed = other.ask(
        "POST", "/~open/2/activity/subscriptions", headers=bearer,
        json={"event_type": BIO["event_type"], "filter": {"user_id": user}},
    )  # fmt: skip
    assert subscribed.ok, subscribed.text
    with other.ask("GET", "/~open/2/activity/stream", headers=bearer, stream=True) as stream:
        assert stream.ok
        lines = stream.iter_lines(chunk_size=1)
        assert owner.ask("POST", "/~open/_mock/events", json=BIO | {"user_id": user}).ok
        assert b"profile.update.bio" in next(line for line in lines if line)
    rule = {"on": "accounts.list", "stage": "before_auth", "then": {"fault": "reset"}}
    assert owner.ask("PUT", "/~open/_mock/scenarios/broken", json={"rules": [rule]}).ok
    assert owner.ask("POST", "/~open/_mock/scenarios/broken/activate").ok
    with pytest.raises(requests.ConnectionError):
        other.ask("GET", "/~open/12/accounts")
    assert 1 == other.read("/~open/_mock/requests/count?operation=accounts.list")["count"]


@pytest.fixture
def leaving(servers: tuple[Served, Served], store: str) -> Iterator[tuple[Served, str]]:
    """A third server that is about to end, and the path of a record in a world that it has."""
    with serving("--store", store, "--workers", 1, command=quick) as third:
        client, world = Client(third), f"of{third.ready['pid']}"
        assert client.ask("PUT", f"/_mock/worlds/{world}").ok
        path = f"/~{world}/_mock/state/users/900"
        assert client.ask("PUT", path, json=USER | {"id": "900"}).ok
        yield third, path


@pytest.mark.crash
def test_a_server_that_is_killed_is_replaced(
    servers: tuple[Served, Served], leaving: tuple[Served, str]
) -> None:
    """The next one that is asked answers after the lease, and lists go on."""
    (third, path), second = leaving, Client(servers[1])
    assert "nine" == second.read(path)["screen_name"]
    third.kill()
    assert second.read("/_mock/coverage")
    assert "nine" == second.read(path)["screen_name"]
    worlds = second.read("/_mock/worlds")["worlds"]
    (found,) = (world for world in worlds if path.startswith(f"/~{world['name']}/"))
    assert found["owner"] == found["process"]


@pytest.mark.crash
def test_a_server_that_hangs_is_replaced(
    servers: tuple[Served, Served], leaving: tuple[Served, str]
) -> None:
    """A read that it has, and does not answer, is answered by the next one after the lease."""
    (third, path), second = leaving, Client(servers[1])
    assert "nine" == second.read(path)["screen_name"]
    third.pause()
    assert "nine" == second.read(path)["screen_name"]
    third.kill()


def test_a_server_that_ends_well_loses_no_request(
    servers: tuple[Served, Served], leaving: tuple[Served, str]
) -> None:
    """Writes through another one are answered without a break, and all are there."""
    third, path = leaving
    written: list[str] = []
    refused: list[str] = []
    stopped = threading.Event()

    def write() -> None:
        client = Client(servers[1])
        while not stopped.is_set() or len(written) < 20:
            key = str(1000 + len(written))
            answer = client.ask("PUT", path.replace("900", key), json=USER | {"id": key})
            written.append(key)
            if not answer.ok:
                refused.append(answer.text)

    writer = threading.Thread(target=write)
    writer.start()
    assert 0 == third.stop()
    stopped.set()
    writer.join()
    assert [] == refused
    records = Client(servers[1]).read(path.rpartition("/")[0])["records"]
    assert {*written} <= {record["id"] for record in records}


def test_an_address_of_another_machine_is_refused(store: str) -> None:
    """Only an address of this machine can be advertised."""
    words = ["serve", "--port", "0", "--store", store, "--advertise", "192.0.2.1:8081"]
    result = CliRunner().invoke(group, words)
    assert 3 == result.exit_code
    assert "--advertise 192.0.2.1:8081: " in result.stderr
    assert "must be an address of this machine" in result.stderr


def test_an_advertised_address_lets_in_only_who_knows_the_secret(
    servers: tuple[Served, Served], advertised: int
) -> None:
    """It speaks TLS, asks for a proof, and closes the connection without it."""
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", advertised), PATIENCE) as plain,
        tls.wrap_socket(plain) as stranger,
    ):
        assert stranger.recv(9 + 32)
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"" == stranger.recv(4096)
    servers[0].wait_for_log("who does not know the secret of the processes")
