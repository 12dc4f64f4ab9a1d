"""Comparison: where another server answers differently from this sandbox, and what that means.

`plan` chooses the operations and derives the requests from them, `check` sends these to both
servers, `exchange` and `rules` compare the answers. `findings` puts equal differences together,
`accepted` knows which are expected, `report` writes them.
"""

from __future__ import annotations

from mock_platform.verification.compare.accepted import (
    BadAcceptedFile,
    apply_accepted,
    choose,
    read_accepted,
    write_accepted,
)
from mock_platform.verification.compare.check import check
from mock_platform.verification.compare.client import ServerUnreachable, SigningCredentials
from mock_platform.verification.compare.findings import (
    CheckedOperation,
    Drift,
    DriftFinding,
    DriftScope,
    Report,
    make_report,
)
from mock_platform.verification.compare.plan import SkippedOperation
from mock_platform.verification.compare.recorded import RecordedComparison
from mock_platform.verification.compare.report import render
from mock_platform.verification.compare.side import OwnSandbox

__all__ = [
    "BadAcceptedFile",
    "CheckedOperation",
    "Drift",
    "DriftFinding",
    "DriftScope",
    "OwnSandbox",
    "RecordedComparison",
    "Report",
    "ServerUnreachable",
    "SigningCredentials",
    "SkippedOperation",
    "apply_accepted",
    "check",
    "choose",
    "make_report",
    "read_accepted",
    "render",
    "write_accepted",
]
