"""Cases: a world with its requests as one file, which opens elsewhere as exactly that world."""

from __future__ import annotations

from mock_platform.verification.cases.document import SavedCase, read_case
from mock_platform.verification.cases.replay import CaseDifference, Replay, replay
from mock_platform.verification.cases.writing import write_case

__all__ = [
    "CaseDifference",
    "Replay",
    "SavedCase",
    "read_case",
    "replay",
    "write_case",
]
