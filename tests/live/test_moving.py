"""Connections of clients move to the process whose world they ask for; clients notice nothing."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.processes import Served, quick, serving
from tests.waits import PATIENCE

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        not hasattr(socket, "SOCK_SEQPACKET") or not Path("/proc/net/tcp").exists(),
        reason="connections stay where they are on this system",
    ),
]
_ESTABLISHED = "01"
_STREAM = "/2/activity/stream"


@pytest.fixture
def served() -> Iterator[Served]:
    """A server of two processes that allow one connection each."""
    with serving(
        "--workers", 2, "--max-connections", 1, "--store", "memory", command=quick
    ) as found:
        yield found
        assert 0 == found.stop()


def connect(served: Served) -> http.client.HTTPConnection:
    """A connection to a process that has space for it."""
    port = int(served.url.rpartition(":")[2])
    for _ in range(100):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        if ask(client, "GET", "/_mock/health")[0] == 200:
            return client
        client.close()
    raise AssertionError("no process has space")


def ask(client: http.client.HTTPConnection, method: str, path: str) -> tuple[int, bytes]:
    """The status and the body of an answer on a connection."""
    try:
        client.request(method, path)
        answer = client.getresponse()
        return answer.status, answer.read()
    except ConnectionError:  # refused before it asked
        return 503, b""


def find_process(served: Served, client: http.client.HTTPConnection) -> str:
    """The label of the process that has a client's connection."""
    own, server = client.sock.getsockname()[1], client.sock.getpeername()[1]
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    (inode,) = (
        line[9]
        for line in lines
        if line[1].endswith(f":{server:04X}") and line[2].endswith(f":{own:04X}")
        and line[3] == _ESTABLISHED
    )  # fmt: skip
    (found,) = (
        label
        for label, child in enumerate(served.pids[1:], 1)
        if any(
            file.is_symlink() and str(file.readlink()) == f"socket:[{inode}]"
            for file in Path(f"/proc/{child}/fd").iterdir()
        )
    )
    return str(found)


def make_worlds(client: http.client.HTTPConnection) -> dict[str, str]:
    """Make worlds; returns one of each process."""
    for number in range(8):
        assert 200 == ask(client, "PUT", f"/_mock/worlds/w{number}")[0]
    worlds = json.loads(ask(client, "GET", "/_mock/worlds")[1])["worlds"]
    return {world["process"]: world["name"] for world in worlds}


def test_a_connection_moves_to_the_world_that_it_asks_for(served: Served) -> None:
    """With the second request in a row; a process that is full leaves it where it is."""
    with closing(connect(served)) as first:
        worlds = make_worlds(first)
        assert {"1", "2"} == {*worlds}
        here = find_process(served, first)
        (there,) = {"1", "2"} - {here}
        for _ in range(40):  # it has moved before, so it takes more than two
            assert 200 == ask(first, "GET", f"/~{worlds[there]}/_mock/clock")[0]
        assert there == find_process(served, first)
        with closing(connect(served)) as second:
            assert here == find_process(served, second)
            for _ in range(4):
                assert 200 == ask(second, "GET", f"/~{worlds[there]}/_mock/clock")[0]
            assert here == find_process(served, second)
            assert 200 == ask(second, "GET", f"/~{worlds[here]}/_mock/clock")[0]
        for world in worlds.values():
            assert 200 == ask(first, "GET", f"/~{world}/_mock/clock")[0]
        assert 404 == ask(first, "GET", "/~nowhere/_mock/clock")[0]


def test_a_stream_is_read_where_its_world_is() -> None:
    """So its slot is free as soon as its client has left, though the other process is busy."""
    with serving("--workers", 2, "--stream-connections", 1, "--store", "memory", command=quick) as (
        served
    ):
        clients = [connect(served) for _ in range(20)]
        by_process = {find_process(served, client): client for client in clients}
        owner, other = "1", "2"  # the default world is in the first
        bearer = json.loads(ask(clients[0], "GET", "/_mock/credentials")[1])["bearer_token"]

        def open_stream(client: http.client.HTTPConnection) -> int:
            client.request("GET", _STREAM, headers={"Authorization": f"Bearer {bearer}"})
            return client.getresponse().status

        leaving, next_one = by_process[other], by_process[owner]
        assert 200 == open_stream(leaving)
        os.kill(served.pids[int(other)], signal.SIGSTOP)
        try:
            leaving.sock.close()
            leaving.close()
            assert 200 == open_stream(next_one)
        finally:
            os.kill(served.pids[int(other)], signal.SIGCONT)
        for client in clients:
            client.close()
        assert 0 == served.stop()
