"""Credentials that choose a world: the consumer keys and tokens that only that world has.

A client that sends one of them needs no header and no path prefix. The credentials of the fixtures
exist in every world, so they choose none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mock_platform.store.interface import Change
from mock_platform.store.memory import Base
from mock_platform.world.world import World

_TABLES = ("apps", "tokens")
_APP_CREDENTIALS = ("consumer_key", "consumer_secret", "client_id", "client_secret")
_DRAWN = re.compile(r"(?<![A-Za-z0-9%])[0-9]+-|A{8,}|%[0-9A-Fa-f]{2}|([A-Za-z0-9]{1,64})")
"""The parts of a credential: a user id in front, a run that begins bearer tokens and an encoded
character are kept; other letters and digits are drawn."""


class WorldCredentials:
    """Finds the credentials in the changes of worlds; those of the fixtures are left out."""

    def __init__(self, base: Base) -> None:
        self._shared = frozenset(_list_credentials(base))

    def add_base(self, base: Base) -> None:
        """Leave out the credentials of these fixtures as well."""
        self._shared |= frozenset(_list_credentials(base))

    def is_shared(self, credential: str) -> bool:
        """Whether the fixtures have a credential, so that it chooses no world."""
        return credential in self._shared

    def compare(self, change: Change) -> Sequence[tuple[str, bool]]:
        """Returns each credential that a change removed (`False`) or added (`True`)."""
        if change.table not in _TABLES:
            return ()
        before = _credentials_of(change.table, change.key, change.before)
        after = _credentials_of(change.table, change.key, change.after)
        if before == after:
            return ()
        found = [(each, False) for each in before if each not in after]
        found += [(each, True) for each in after if each not in before]
        return [each for each in found if each[0] not in self._shared]


def replace_credentials(world: World) -> None:
    """Give all apps and tokens of a world credentials of the same form that no other world has."""
    with world.work():
        for entry in world.store.page("apps"):
            changes = {
                name: _draw_like(world, value)
                for name in _APP_CREDENTIALS
                if (value := entry.record.get(name)) is not None
            }
            world.store.put("apps", entry.key, entry.record | changes)
        for entry in world.store.page("tokens"):
            token = entry.record | {"id": _draw_like(world, entry.key), "former_id": None}
            if token["secret"] is not None:
                token["secret"] = _draw_like(world, token["secret"])
            world.store.remove("tokens", entry.key)
            world.store.put("tokens", token["id"], token)


def _draw_like(world: World, credential: str) -> str:
    """Returns a value of the form of `credential`, drawn from the seed and name of the world."""

    def draw(part: re.Match[str]) -> str:
        return world.ids.alphanumeric(len(part[0])) if part[1] else part[0]

    return _DRAWN.sub(draw, credential)


def _credentials_of(table: str, key: str, record: object) -> list[str]:
    if not isinstance(record, dict):
        return []
    if table == "tokens":
        return [key]
    found = [record.get("consumer_key"), record.get("client_id")] if table == "apps" else []
    return [each for each in found if isinstance(each, str)]


def _list_credentials(base: Base) -> Iterable[str]:
    for name in _TABLES:
        for key, row in base.rows.get(name, {}).items():
            yield from _credentials_of(name, key, row.record)
