"""Network faults on the connection of an answer."""

from __future__ import annotations

from mock_platform.core.call import FaultKind
from mock_platform.edge.connection import Connection

GARBAGE = bytes(range(128, 256)) + b"\r\nnot HTTP\r\n\r\n" + bytes(range(128))


class NoConnection(ConnectionError):
    """A scenario breaks the connection, and the caller of the application has none."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"A scenario answers with the network fault {fault!r}, but this request came without a "
            "connection to break. Call over a socket (MockPlatform.base_url), or through "
            "platform.session() or WsgiAdapter."
        )


def break_connection(connection: Connection | None, fault: FaultKind) -> None:
    """Perform a network fault in place of what is left of an answer.

    Raises:
        NoConnection: There is no connection.
    """
    if connection is None:
        raise NoConnection(fault)
    if fault == "reset":
        connection.reset()
    elif fault == "timeout":
        connection.hold()
    elif fault == "garbage":
        connection.send_raw(GARBAGE)
    else:
        connection.close()
