"""Scenarios of the network, over real sockets: what the client meets, and what the server kept."""

from __future__ import annotations

import socket
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.live_servers import LiveServer, LiveWorld
from tests.support import ACCOUNT
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

LINE_ITEM = f"/12/accounts/{ACCOUNT}/line_items/itttx"
POLL = {"name": "Roast", "first_choice": "Light", "second_choice": "Dark"}
POLLS = f"/12/accounts/{ACCOUNT}/cards/poll"


class Client:
    """A client in a world, with the bearer token; each call on a connection of its own."""

    def __init__(self, world: LiveWorld) -> None:
        self.world = world
        self._headers = {"Authorization": f"Bearer {world.credentials['bearer_token']}"}

    def activate(self, name: str, **parameters: Any) -> None:
        """Switch a scenario on."""
        answer = requests.post(
            f"{self.world.control}/scenarios/{name}/activate",
            json={"parameters": parameters},
            timeout=PATIENCE,
        )
        assert answer.ok, answer.text

    def call(self, method: str, path: str, *, seconds: float = PATIENCE, **more: Any) -> Any:
        """One request."""
        url = self.world.base_url + path
        return requests.request(method, url, headers=self._headers, timeout=seconds, **more)

    def fired(self, name: str) -> list[int]:
        """How often each rule acted."""
        told = requests.get(f"{self.world.control}/scenarios/{name}", timeout=PATIENCE).json()
        return [rule["fired"] for rule in told["rules"]]

    def polls(self) -> int:
        """How many poll cards there are."""
        total: int = requests.get(
            f"{self.world.control}/state/poll_cards", timeout=PATIENCE
        ).json()["total"]
        return total


@pytest.fixture
def client(live_world: LiveWorld) -> Client:
    """A client in a world of its own."""
    return Client(live_world)


def test_a_lost_delete_was_done(client: Client) -> None:
    """The connection is reset, the line item is deleted, and the retry finds nothing."""
    client.activate("line-item-delete-retried", line_item_id="itttx")

    with pytest.raises(requests.ConnectionError) as reset:
        client.call("DELETE", LINE_ITEM)
    again = client.call("DELETE", LINE_ITEM)

    assert "reset" in str(reset.value).lower()
    assert (404, "LINE_ITEM_NOT_FOUND") == (again.status_code, again.json()["errors"][0]["code"])
    assert client.world.record("line_items", "itttx")["deleted"]
    assert [1] == client.fired("line-item-delete-retried")


def test_the_network_breaks_twice_and_recovers(client: Client) -> None:
    """Two requests are reset and undone, the third is carried out."""
    client.activate("flaky-network")

    for _ in range(2):
        with pytest.raises(requests.ConnectionError):
            client.call("DELETE", LINE_ITEM)
        assert not client.world.record("line_items", "itttx")["deleted"]
    third = client.call("DELETE", LINE_ITEM)

    assert (200, True) == (third.status_code, third.json()["data"]["deleted"])
    assert [2] == client.fired("flaky-network")


def test_whoever_retries_often_enough_gets_through(client: Client) -> None:
    """Retries of the HTTP client are enough."""
    client.activate("flaky-network")
    retry = requests.adapters.Retry(total=2, backoff_factor=0, allowed_methods=None)
    bearer = {"Authorization": f"Bearer {client.world.credentials['bearer_token']}"}

    with requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retry))
        url = f"{client.world.base_url}/12/accounts"
        answer = session.get(url, headers=bearer, timeout=PATIENCE)

    assert 200 == answer.status_code


@pytest.mark.parametrize(("fault", "error"), [
    ("reset", requests.ConnectionError),
    ("empty", requests.ConnectionError),
    ("truncate", requests.exceptions.ChunkedEncodingError),
    ("garbage", requests.ConnectionError),
    ("timeout", requests.ReadTimeout),
])  # fmt: skip
def test_an_answer_is_lost_in_every_way(client: Client, fault: str, error: type[Exception]) -> None:
    """The poll is created although its answer never comes whole; repeating it makes another."""
    client.activate("answer-lost", fault=fault)
    before = client.polls()

    seconds = 2 if fault == "timeout" else PATIENCE

    with pytest.raises(error):
        client.call("POST", POLLS, params=POLL | {"duration_in_minutes": 60}, seconds=seconds)
    lost = client.polls()
    answer = client.call("POST", POLLS, params=POLL | {"duration_in_minutes": 60})

    assert (200, before + 1, before + 2) == (answer.status_code, lost, client.polls())


def test_a_truncated_answer_on_the_wire(client: Client) -> None:
    """The length of the whole body is declared, and half of it sent before the end."""
    client.activate("answer-lost", on="accounts.list", fault="truncate")
    target = urlsplit(client.world.base_url)
    assert target.hostname is not None
    request = (
        f"GET {target.path}/12/accounts HTTP/1.1\r\nHost: {target.netloc}\r\n"
        f"Authorization: Bearer {client.world.credentials['bearer_token']}\r\n\r\n"
    )

    with socket.create_connection((target.hostname, target.port or 80), timeout=PATIENCE) as wire:
        wire.sendall(request.encode())
        received = b""
        while piece := wire.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    declared = next(
        int(line.split(b":")[1])
        for line in head.splitlines()
        if line.lower().startswith(b"content-length:")
    )

    assert head.startswith(b"HTTP/1.1 200")
    assert declared // 2 == len(body)


def test_a_slow_network_is_slow(client: Client) -> None:
    """The answer is true, and comes no sooner than `least` and `slow_body` together."""
    client.activate("slow-network", least=0.2, most=0.3, slow_body=0.2)
    begun = perf_counter()

    answer = client.call("GET", "/12/accounts")

    assert 200 == answer.status_code
    assert perf_counter() - begun >= 0.4
    assert "Harbor Roasters" in answer.text


def test_other_worlds_feel_nothing(client: Client, live_server: LiveServer) -> None:
    """A fault is that of one world."""
    client.activate("flaky-network")

    assert 200 == Client(live_server.world()).call("GET", "/12/accounts").status_code
    assert [0] == client.fired("flaky-network")
