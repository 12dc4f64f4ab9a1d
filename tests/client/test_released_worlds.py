"""A dropped world is freed at once, not when the garbage collector comes; late work is refused."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest
import requests

from mock_platform.api.v2.streams.open_streams import OpenStreams
from mock_platform.client.local_platform import LocalPlatform
from mock_platform.delivery.events import emit
from mock_platform.scenario.director import find_engine
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

EVENT = {"event_type": "favorite_events", "user": "1"}


@pytest.fixture
def platform() -> Iterator[LocalPlatform]:
    """A running sandbox, while the collector waits."""
    with LocalPlatform.open(None, port=0, tls=False) as platform:
        gc.collect()
        gc.disable()
        try:
            yield platform
        finally:
            gc.enable()


def _open(platform: LocalPlatform) -> World:
    return platform.control.platform.worlds.get("one")


def test_a_dropped_world_is_freed_at_once(platform: LocalPlatform) -> None:
    """It was called in-process and over a socket, and had a scenario."""
    world = platform.world("one")
    with world.session("bearer") as session:
        assert session.get("/12/accounts").status_code == 200
    with requests.Session() as client:
        assert client.get(f"{world.base_url}/12/accounts").status_code == 401
        client.get(
            f"{platform.base_url}/12/accounts"
        )  # the server has ended its work for the one before
    world.activate("rate-limited")
    freed = weakref.ref(_open(platform))

    platform.drop_world("one")

    assert freed() is None


def test_a_closed_session_is_freed_at_once(platform: LocalPlatform) -> None:
    """Its adapters do not refer to themselves."""
    session = platform.session("bearer")
    assert session.get("/12/accounts").status_code == 200
    freed = weakref.ref(session), weakref.ref(session.get_adapter("http://"))
    session.close()

    del session

    assert [each() for each in freed] == [None, None]


def test_what_a_dropped_world_holds_can_be_read(platform: LocalPlatform) -> None:
    """The journal and the records stay for those who have them."""
    world, opened = platform.world("one"), _open(platform)
    with world.session("bearer") as session:
        session.get("/12/accounts")
    journal, engine = world.journal, find_engine(opened)
    engine.activate("rate-limited", {})
    users = len(opened.store.page("users"))

    platform.drop_world("one")

    assert [entry.operation for entry in journal] == ["accounts.list"]
    assert [each["name"] for each in engine.describe_active()] == ["rate-limited"]
    assert len(opened.store.page("users")) == users > 0
    assert opened.clock.now().year > 2000


def test_late_work_in_a_dropped_world_is_refused(platform: LocalPlatform) -> None:
    """Whoever still has the world gets the same refusal whatever it asks for."""
    platform.world("one")
    opened = _open(platform)
    platform.drop_world("one")

    def work() -> None:
        with opened.work():
            pytest.fail("a dropped world did work")

    asked: list[Callable[[], object]] = [
        work, opened.reset, lambda: find_engine(opened),
        lambda: opened.find_attachment(OpenStreams), lambda: emit(opened, EVENT),
    ]  # fmt: skip
    for each in asked:
        with pytest.raises(UnknownWorld):
            each()


def test_the_records_of_a_dropped_world_cannot_be_changed(platform: LocalPlatform) -> None:
    """A change would be lost in silence."""
    platform.world("one")
    opened = _open(platform)
    platform.drop_world("one")
    record: Record = {"id": "1"}

    with pytest.raises(RuntimeError, match="dropped"):
        opened.store.put("users", "1", record)
