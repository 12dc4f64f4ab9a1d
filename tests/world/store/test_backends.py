"""What the setting `store` may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.world.store.backends import BACKENDS, BadStore, find_backend, open_archive
from tests.world.store import test_archive


@pytest.mark.parametrize(("text", "found"), [
    ("memory", ("memory_archive", "")),
    ("tinydb:state.json", ("tinydb_archive", "state.json")),
    ("tinydb:/var/lib/a:b.json", ("tinydb_archive", "/var/lib/a:b.json")),
    ("tinydb://var/a.json", ("tinydb_archive", "//var/a.json")),
    ("redis://cache:6379/2", ("redis_archive", "redis://cache:6379/2")),
    ("rediss://cache", ("redis_archive", "rediss://cache")),
    ("unix:///run/redis.sock?db=2", ("redis_archive", "unix:///run/redis.sock?db=2")),
])  # fmt: skip
def test_a_store_is_a_scheme_with_its_place(text: str, found: tuple[str, str]) -> None:
    """The place is what follows the first colon."""
    assert found == find_backend(text)


@pytest.mark.parametrize(
    "text", ["", "tinydb:", "tinydb", "memory:", "memory:x", "redis:x", "state.json"]
)
def test_other_stores_are_refused(text: str) -> None:
    """The refusal says which stores exist."""
    with pytest.raises(BadStore, match="memory, or tinydb:FILE, or redis://HOST:PORT/N"):
        find_backend(text)


def test_a_file_name_alone_is_understood() -> None:
    """A forgotten prefix is recognised."""
    with pytest.raises(BadStore, match=r"Did you mean 'tinydb:state\.json'"):
        find_backend("state.json")


def test_the_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` in a place is the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))

    archive = open_archive("tinydb:~/state.json", "log")
    archive.close()

    assert (tmp_path / "state.json").exists()


def test_every_backend_passes_the_contract_suite() -> None:
    """What the table names is tried by the suite on archives."""
    tried = [*test_archive.BACKENDS, test_archive.ON_ENGINE]
    modules = {f"{name.partition('-')[0]}_archive" for name in tried}

    assert modules == set(BACKENDS.values())
