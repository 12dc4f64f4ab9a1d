"""Drift check: where the answers of another server differ from what this sandbox declares.

`client` sends requests, `compare` finds differences, `check` runs the whole check, `report` writes
the findings.
"""

from __future__ import annotations

from mock_platform.drift.check import CheckedOperation, Drift, SkippedOperation, check
from mock_platform.drift.client import BadBaseUrl, ServerUnreachable, SigningCredentials

__all__ = [
    "BadBaseUrl",
    "CheckedOperation",
    "Drift",
    "ServerUnreachable",
    "SigningCredentials",
    "SkippedOperation",
    "check",
]
