from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from mock_platform import MockPlatform
from mock_platform.api.served import OPERATIONS
from mock_platform.client.interface import PlatformFace, WorldFace
from mock_platform.core.call import Call
from mock_platform.world.world import World

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

_numbers = count(1)


@pytest.fixture(scope="module")
def local() -> Iterator[MockPlatform]:
    """A sandbox in this process whose clock is frozen."""
    with MockPlatform.start(freeze=NOON, max_worlds=3) as platform:
        yield platform


@pytest.fixture(scope="module")
def remote() -> Iterator[PlatformFace]:
    """A sandbox like it, used as a server elsewhere is used."""
    with (
        MockPlatform.start(freeze=NOON, max_worlds=3) as server,
        MockPlatform.connect(server.base_url) as platform,
    ):
        yield platform


@pytest.fixture(params=["local", "remote"])
def platform(request: pytest.FixtureRequest) -> PlatformFace:
    """A sandbox of either kind."""
    found: PlatformFace = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def world(platform: PlatformFace) -> Iterator[WorldFace]:
    """A fresh world of either kind."""
    name = f"w{next(_numbers)}"
    yield platform.world(name)
    if name in platform.worlds:
        platform.drop_world(name)


def fail(call: Call, world: World) -> Any:
    """Fails as no handler should."""
    raise ZeroDivisionError(f"for {call.path}")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of accounts fails."""
    operations = tuple(
        replace(operation, handler=fail) if operation.id == "accounts.list" else operation
        for operation in OPERATIONS
    )
    monkeypatch.setattr("mock_platform.platform.OPERATIONS", operations)
