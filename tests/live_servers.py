"""The real server in a process of its own, as users start it, and its worlds."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import requests

from tests.waits import PATIENCE

WORKERS = int(os.environ.get("TEST_SERVER_WORKERS", "1"))
"""Number of processes of the servers that tests start: TEST_SERVER_WORKERS=2 pytest -m live."""

STORE = os.environ.get("TEST_SERVER_STORE")
"""The engine of the servers that tests start: TEST_SERVER_STORE=redis://127.0.0.1 pytest -m live.
Each server has keys of its own there.
"""
_SERVERS = itertools.count(1)
_OWN = (sys.executable, "-m", "mock_platform")


def choose_store(options: Sequence[object]) -> list[str]:
    """Returns the option for worlds on an engine, where a run of the tests asks for it."""
    if STORE is None or "--store" in options:
        return []
    joint = "&" if "?" in STORE else "?"
    return ["--store", f"{STORE}{joint}prefix=t{os.getpid()}-s{next(_SERVERS)}:"]


@dataclass(frozen=True, slots=True)
class LiveWorld:
    """A world of a running server: its base address, and credentials as the server reports them."""

    base_url: str
    control: str
    credentials: Mapping[str, Any]
    ca: str | None = None

    @property
    def key(self) -> str:
        """The well-known app's key."""
        return str(self.credentials["app"]["consumer_key"])

    @property
    def secret(self) -> str:
        """The well-known app's secret."""
        return str(self.credentials["app"]["consumer_secret"])

    @property
    def app_id(self) -> str:
        """The well-known app's id."""
        return str(self.credentials["app"]["id"])

    @property
    def screen_name(self) -> str:
        """The well-known user's name."""
        return str(self.credentials["user"]["screen_name"])

    @property
    def password(self) -> str:
        """The well-known user's password."""
        return str(self.credentials["user"]["password"])

    @property
    def bearer(self) -> dict[str, str]:
        """The header with the well-known app's token."""
        return {"Authorization": f"Bearer {self.credentials['bearer_token']}"}

    def session(self) -> requests.Session:
        """A session that trusts the server, without proxies."""
        session = requests.Session()
        session.trust_env = False
        if self.ca is not None:
            session.verify = self.ca
        return session

    def change(self, table: str, key: str, **fields: object) -> None:
        """Change fields of a record over the control plane."""
        answer = self.session().patch(f"{self.control}/state/{table}/{key}", json=fields)
        assert answer.ok, answer.text

    def record(self, table: str, key: str) -> dict[str, Any]:
        """A stored record."""
        answer = self.session().get(f"{self.control}/state/{table}/{key}")
        assert answer.ok, answer.text
        found: dict[str, Any] = answer.json()
        return found


class LiveServer:
    """`mock-platform serve` on a free port; ready when the constructor returns."""

    def __init__(self, *options: str, program: Sequence[str] = _OWN) -> None:
        command = [*program, "serve", "--port", "0", *options]
        if WORKERS > 1 and "--workers" not in options and "--intercept" not in options:
            command += ["--workers", str(WORKERS)]
        command += choose_store(options)
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        word, _, data = self._process.stdout.readline().partition(" ")
        assert word == "READY", f"{command} did not start"
        ready = json.loads(data)
        self.url: str = ready["url"]
        self.ca: str | None = ready.get("ca")
        self._numbers = itertools.count(1)

    def world(self, *, own: bool = False, names: str = "neutral") -> LiveWorld:
        """A fresh world; with `own` its credentials choose it, at the address of the server."""
        name = f"live{next(self._numbers)}"
        verify = True if self.ca is None else self.ca
        url = f"{self.url}/_mock/worlds/{name}"
        answer = requests.put(
            url, json={"own_credentials": own, "names": names}, verify=verify, timeout=PATIENCE
        )
        assert answer.ok, answer.text
        made = answer.json()
        address = self.url if own else made["base_url"]
        return LiveWorld(address, made["control"], made["credentials"], self.ca)

    def stop(self) -> int:
        """Stop it as a user does, and return its exit status."""
        self._process.send_signal(signal.SIGINT)
        status = self._process.wait(timeout=PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serving(*options: str, command: Path) -> Iterator[LiveServer]:
    """A server for as long as a fixture lasts; it must end well."""
    server = LiveServer(*options, program=[str(command)])
    yield server
    assert 0 == server.stop()
