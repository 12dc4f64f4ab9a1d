"""Someone on this machine takes the port of a dead process, and is between the living ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests

from tests.engine import EngineServer
from tests.live.processes import quick, serving
from tests.live.relaying import FORGED
from tests.support import BEARER
from tests.support_receiver import unused_port
from tests.waits import PATIENCE

pytestmark = [pytest.mark.live, pytest.mark.crash]
_TOKEN = f"Bearer {BEARER}"


class Attacker:
    """The process of the attacker, and what it said so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.said: list[str] = []

    def wait_for(self, word: str) -> None:
        """Read until it says a word."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line.strip())
            if line.startswith(word):
                return
        raise AssertionError(f"{word!r} was not said: {self.said}")

    def read_rest(self) -> list[str]:
        """Kill it; returns all that it said."""
        self._process.kill()
        assert self._process.stdout is not None
        self.said += [line.strip() for line in self._process.stdout]
        return self.said


@contextmanager
def attacking(at: int, owner: int, way: str) -> Iterator[Attacker]:
    """An attacker at a port, who passes on to another one."""
    words = [f"127.0.0.1:{at}", f"127.0.0.1:{owner}", way]
    command = [sys.executable, "-m", "tests.live.relaying", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Attacker(process)
        finally:
            process.kill()


@pytest.mark.parametrize("way", ["plain", "tls"])
def test_who_takes_the_port_of_a_dead_process_is_taken_for_nobody(
    engine: EngineServer, way: str
) -> None:
    """Between two processes that know the secret, he reads no request and forges no answer."""
    dead_port, living_port = unused_port(), unused_port()
    shared = "--store", engine.url(), "--workers", 1, "--lease", "5s"
    with (
        serving(*shared, "--advertise", f"127.0.0.1:{dead_port}", command=quick) as dead,
        serving(*shared, "--advertise", f"127.0.0.1:{living_port}", command=quick) as living,
    ):

        def ask() -> requests.Response:
            headers = {"Authorization": _TOKEN}
            url = f"{living.url}/~w1/_mock/state/users"
            return requests.get(url, headers=headers, timeout=PATIENCE)

        made = requests.put(f"{dead.url}/_mock/worlds/w1", timeout=PATIENCE)
        assert 200 == made.status_code
        assert 200 == ask().status_code  # the living process knows now where the world is
        dead.kill()
        with attacking(dead_port, living_port, way) as attacker:
            attacker.wait_for("listening")
            answer = ask()
            attacker.wait_for("met")
            said = attacker.read_rest()

    assert FORGED != answer.content
    assert answer.status_code in {200, 503}  # the next owner's, or that the owner is gone
    assert "request" not in said
    seen = bytes.fromhex("".join(line.removeprefix("saw ") for line in said if "saw " in line))
    assert seen
    assert BEARER.encode() not in seen
