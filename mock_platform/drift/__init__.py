"""Drift check: where another server answers otherwise than this sandbox declares.

`plan` says what is asked, `client` asks, `compare` finds differences, `check` does it all and
`report` tells.
"""

from __future__ import annotations

from mock_platform.drift.check import Checked, Drift, Skipped, check
from mock_platform.drift.client import BadBaseUrl, Credentials, Unreachable

__all__ = ["BadBaseUrl", "Checked", "Credentials", "Drift", "Skipped", "Unreachable", "check"]
