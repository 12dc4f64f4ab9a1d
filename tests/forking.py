"""Runs each command in a fork of a process that has loaded what most of them load.

`tests/asking.py` asks for one: it sends the words, folder, variables and ignored signals of a
command, and passes on its standard input, output and errors.
"""

from __future__ import annotations

import gc
import io
import locale
import marshal
import os
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from typing import Any

LOADED = (
    "requests",
    "mock_platform.cli.main",
    "mock_platform.cli.server_context",
    "mock_platform.cli.serving",
)


def find_next(listener: socket.socket) -> tuple[Any, list[int]]:
    """What a command gets, which this process is from now on a fork for; exits in the end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that ended keepers are gone
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        if os.fork():
            connection.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        begun, files, _, _ = socket.recv_fds(connection, 4, 3)
        told = connection.makefile("rb").read(int.from_bytes(begun, sys.byteorder))
        forked = os.fork()
        if not forked:
            connection.close()
            listener.close()
            return marshal.loads(told), files
        keep(forked, connection, files)
    sys.exit()


def keep(forked: int, connection: socket.socket, files: list[int]) -> None:
    """Report how a fork ended; kill it if who asked is gone before."""
    for file in files:
        os.close(file)
    connection.sendall(forked.to_bytes(4, sys.byteorder))

    def kill_at_the_end() -> None:
        if not connection.recv(1):
            os.kill(forked, signal.SIGKILL)

    threading.Thread(target=kill_at_the_end, daemon=True).start()
    _, status = os.waitpid(forked, 0)
    with suppress(BrokenPipeError):
        connection.sendall(status.to_bytes(4, sys.byteorder))
    os._exit(0)


def become(told: Any, files: list[int]) -> None:
    """Be a process that was started with these words, folder, variables, signals and files."""
    words, folder, variables, ignored = told
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(variables)
    sys.argv = words
    encoding = locale.getencoding()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(number, "w", closefd=False)),
            encoding,
            errors,
            line_buffering=number == 2 or os.isatty(number),
        )
        for number, errors in ((1, "strict"), (2, "backslashreplace"))
    )


if __name__ == "__main__":
    for name in LOADED:
        import_module(name)
    del sys.path[0]  # the folder of a test run
    from mock_platform.cli.main import main

    found = socket.socket(socket.AF_UNIX)
    found.bind(sys.argv[1])
    found.listen(socket.SOMAXCONN)
    gc.freeze()  # collections of the forks would copy what they look at
    print("listening", flush=True)
    become(*find_next(found))
    main()
