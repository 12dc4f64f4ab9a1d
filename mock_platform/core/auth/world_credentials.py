"""Credentials that choose a world: the consumer keys and tokens that only that world has.

A client that sends one of them needs no header and no path prefix. The credentials of the fixtures
exist in every world, so they choose none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mock_platform.store.interface import Change
from mock_platform.store.memory import Base

_TABLES = ("apps", "tokens")


class WorldCredentials:
    """Finds the credentials in the changes of worlds; those of the fixtures are left out."""

    def __init__(self, base: Base) -> None:
        self._shared = frozenset(_list_credentials(base))

    def add_base(self, base: Base) -> None:
        """Leave out the credentials of these fixtures as well."""
        self._shared |= frozenset(_list_credentials(base))

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
