"""A Redis server of the tests' own, on a socket in a folder; one for each process of the tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import redis

_PREFIXES = count(1)


class EngineServer:
    """A `redis-server` that writes every commit to its disk before it answers, if `durable`.

    With `apart` Ctrl-C does not reach it, but only the program that closes it.
    """

    def __init__(self, *options: str, durable: bool = False, apart: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mp-engine-"))
        self.socket = self.folder / "s"
        self._options = ["--save", "", "--port", "0", "--unixsocket", str(self.socket), *options]
        self._options += ["--dir", str(self.folder)]
        if durable:
            self._options += ["--appendonly", "yes", "--appendfsync", "always"]
        self._apart = apart
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def pid(self) -> int:
        """The process of the server."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = ["--logfile", str(self.folder / "log")]
        self._process = subprocess.Popen(
            ["redis-server", *self._options, *log],
            stdout=subprocess.DEVNULL,
            start_new_session=self._apart,
        )
        client = self.connect()
        while self._process.poll() is None:
            try:
                client.ping()
            except redis.exceptions.AuthenticationError:
                break
            except redis.exceptions.ResponseError:
                break
            except redis.exceptions.ConnectionError:
                os.sched_yield()
            else:
                break
        client.close()
        assert self._process.poll() is None, (self.folder / "log").read_text("utf-8")

    def kill(self) -> None:
        """Kill it: what it did not write is lost."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self.socket.unlink(missing_ok=True)

    def close(self) -> None:
        """Kill it, and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self) -> redis.Redis:
        """A client of its own."""
        return redis.Redis(unix_socket_path=str(self.socket))

    def url(self, prefix: str | None = None) -> str:
        """The address for `--store`; keys have a prefix that no other call gave, unless named."""
        named = prefix or f"t{os.getpid()}-{next(_PREFIXES)}:"
        return f"unix://{self.socket}?db=0&prefix={named}"
