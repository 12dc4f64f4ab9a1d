"""Adds folders of fixtures to a world on a server elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from mock_platform.api.served import TABLES
from mock_platform.client.remote.state import RemoteState
from mock_platform.core.jsonio import dumps
from mock_platform.core.tables import fixtures


def apply_fixtures(state: RemoteState, now: datetime, folders: Iterable[Path | str]) -> None:
    """Put the records of folders into a world; they replace records with the same keys.

    Relative moments are relative to `now`.

    Raises:
        BadFixtures: The fixtures have faults.
    """
    document = state.dump()
    with TemporaryDirectory() as beneath:  # so that references to the world's own records hold
        for name, records in document["tables"].items():
            Path(beneath, f"{name}.json").write_bytes(dumps(records))
        base = fixtures.load([Path(beneath), *(Path(folder) for folder in folders)], TABLES, now)
    document["tables"] = {
        name: [row.record for row in rows.values()] for name, rows in base.rows.items()
    }
    state.load(document)
