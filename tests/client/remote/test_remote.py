"""What only a server elsewhere has: an address, a token, an authority, and things out of reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from mock_platform import MockPlatform
from mock_platform.client.interface import PlatformFace
from mock_platform.core.errors import NotInProcess, Refused, Unreachable
from mock_platform.world.names import UnknownWorld
from tests.waits import PATIENCE


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "localhost", ""])
def test_an_address_begins_with_its_scheme(url: str) -> None:
    """What is no address is refused with an example."""
    with pytest.raises(ValueError, match="is not an address such as http"):
        MockPlatform.connect(url)


def test_the_address_of_a_world_gives_that_world(local: MockPlatform) -> None:
    """Also that of its control plane; a name that no world has is refused."""
    world = local.world("w1")
    for url in (f"{world.base_url}/", world.control_url):
        with MockPlatform.connect(url) as platform:
            assert "w1" == platform.name
            assert platform.journal.find() == []
    with MockPlatform.connect(local.control_url) as platform:
        assert "default" == platform.name
    with pytest.raises(UnknownWorld, match="There is no world 'nope'"):
        MockPlatform.connect(f"{local.base_url}/~nope")
    local.drop_world("w1")


def test_a_server_that_is_gone() -> None:
    """Whatever is asked says how to start one; a platform that was stopped can be stopped again."""
    with MockPlatform.start() as server:
        platform = MockPlatform.connect(server.base_url)

    with pytest.raises(Unreachable, match="Start a server with `mock-platform serve`"):
        platform.clock.now()
    platform.stop()
    platform.stop()


def test_a_control_token_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the refusal names the variable."""
    with MockPlatform.start(control_token="open") as server:
        with pytest.raises(
            Refused, match="reads the token from MOCK_PLATFORM_CONTROL_TOKEN"
        ) as raised:
            MockPlatform.connect(server.base_url)
        monkeypatch.setenv("MOCK_PLATFORM_CONTROL_TOKEN", "open")
        with MockPlatform.connect(server.base_url) as platform:
            assert ["default"] == platform.worlds

    assert 401 == raised.value.status


def test_an_authority_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that REQUESTS_CA_BUNDLE names is trusted, by sessions too, and is what `ca` says.

    Without it the refusal names the variable.
    """
    with MockPlatform.start(tls=True) as server:
        with pytest.raises(Unreachable, match=r"is not trusted \(.*in REQUESTS_CA_BUNDLE\.$"):
            MockPlatform.connect(server.base_url)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server.ca))
        with MockPlatform.connect(server.base_url) as platform:
            assert server.ca == platform.ca
            assert 200 == platform.session("bearer").get("/12/accounts").status_code


def test_stopping_leaves_the_server_running(local: MockPlatform) -> None:
    """Its worlds go on too; a session that was asked for is closed."""
    with MockPlatform.connect(local.base_url) as platform:
        platform.world("w1")
        platform.session("bearer").get("/12/accounts")

    assert requests.get(f"{local.base_url}/~w1/_mock/health", timeout=PATIENCE).ok
    local.drop_world("w1")


@pytest.mark.parametrize(
    ("act", "remedy"),
    [
        (lambda p: p.wsgi, "Use base_url or session"),
        (lambda p: p.app, "Use base_url or session"),
        (lambda p: p.test_client(), "Use base_url or session"),
        (lambda p: p.use_fixtures("more"), "Start the server with --fixtures DIR"),
        (lambda p: p.on_stray(print), "Only a sandbox in this process"),
        (lambda p: p.raise_errors(), "journal has their tracebacks"),
    ],
)
def test_what_cannot_be_had_says_what_to_do(
    remote: PlatformFace, act: Callable[[Any], object], remedy: str
) -> None:
    """It is one exception for all of it."""
    with pytest.raises(NotInProcess, match=remedy):
        act(remote)


@pytest.mark.parametrize("key", [".", ".."])
def test_a_key_without_an_address_is_told(remote: PlatformFace, key: str) -> None:
    """Another record is never meant by it."""
    with pytest.raises(Refused, match="has no address"):
        remote.state["users"].delete(key)


def test_a_moment_is_kept_to_the_microsecond(local: MockPlatform) -> None:
    """What is sent loses nothing."""
    with MockPlatform.connect(local.base_url) as platform:
        platform.clock.freeze("2026-03-01T12:00:00.123456Z")

    assert 123456 == local.clock.now().microsecond
    local.reset()
