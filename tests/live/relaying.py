"""An attacker: listens where a process was, and passes on to a living one what it hears.

It is a program of its own: `python -m tests.live.relaying HOST:PORT FORWARD_TO (plain | tls)`. With
`tls` it ends the TLS of both sides, so it reads what goes through it. It says on standard output
what it saw, a line for each event, and answers requests itself.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from contextlib import suppress

from mock_platform.serving.cluster.frames import FrameReader, Kind, pack_start
from mock_platform.serving.http.tls import TlsMaterial

_LINES = threading.Lock()
FORGED = b"forged by someone in the middle"
_HEADERS = [("Content-Length", str(len(FORGED)))]


def say(*words: object) -> None:
    """Tell the test."""
    with _LINES:
        print(*words, flush=True)


def pass_on(source: socket.socket, to: socket.socket, *, is_front: bool) -> None:
    """Pass on what one side says; a request of the front is answered here."""
    reader: FrameReader | None = FrameReader()
    with suppress(OSError):
        while data := source.recv(65_536):
            say("saw", data.hex())
            frames = []
            if reader is not None:
                try:
                    frames = list(reader.feed(data))
                except ValueError:  # encrypted
                    reader = None
            requests = [number for kind, number, _ in frames if kind == Kind.REQUEST and is_front]
            for number in requests:
                say("request")
                source.sendall(pack_start(Kind.ANSWER, number, "200 OK", _HEADERS, FORGED))
            if not requests:
                to.sendall(data)
        say("end of the front" if is_front else "end of the owner")
    for each in (source, to):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def meet(front: socket.socket, owner: str, tls: ssl.SSLContext | None) -> None:
    """Be the owner for the front, and the front for the owner."""
    say("met")
    host, _, port = owner.rpartition(":")
    behind = socket.create_connection((host, int(port)))
    if tls is not None:
        front = tls.wrap_socket(front, server_side=True)
        plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        plain.check_hostname = False
        plain.verify_mode = ssl.CERT_NONE
        behind = plain.wrap_socket(behind)
    back = threading.Thread(target=pass_on, args=(behind, front), kwargs={"is_front": False})
    back.start()
    pass_on(front, behind, is_front=True)
    back.join()


def main(at: str, owner: str, way: str) -> None:
    """Listen until killed."""
    host, _, port = at.rpartition(":")
    tls = TlsMaterial.generate().server_context() if way == "tls" else None
    with socket.create_server((host, int(port))) as listener:
        say("listening")
        while True:
            front, _ = listener.accept()
            threading.Thread(target=meet, args=(front, owner, tls), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
