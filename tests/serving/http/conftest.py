"""What the tests of the server share: both transports of HTTP/1.1, and their clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.tls import TlsMaterial
from tests.serving.http.wire import Connect, Wire


@pytest.fixture(scope="session")
def certificate() -> TlsMaterial:
    """A certificate and its authority, which nothing changes."""
    return TlsMaterial.generate()


@pytest.fixture(params=["http", "https"])
def tls(request: pytest.FixtureRequest, certificate: TlsMaterial) -> TlsMaterial | None:
    """Both transports: without TLS, and with it."""
    return None if request.param == "http" else certificate


@pytest.fixture
def ca(tls: TlsMaterial | None) -> Path | None:
    """What a client of that transport must trust."""
    return None if tls is None else tls.ca


@pytest.fixture
def connect(ca: Path | None) -> Connect:
    """Connects to a server of that transport."""

    def open_wire(server: ServerThread) -> Wire:
        return Wire(server, ca)

    return open_wire
