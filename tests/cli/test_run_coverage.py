"""The coverage of a run: a baseline of the pytest plugin, and requests that went elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mock_platform.api.served import OPERATION_IDS
from mock_platform.cli.conditions import CoverageConditions
from mock_platform.cli.running import check_coverage
from mock_platform.client.testing.run_outcome import RunOutcome
from mock_platform.verification.coverage.gate import Gate


def make_coverage(requests: int) -> dict[str, Any]:
    """A coverage of one operation, after so many requests that succeeded."""
    outcome = {"status": 200, "code": "", "documented": True, "count": requests}
    row = {"id": "accounts.list", "requests": requests, "outcomes": [outcome], "parameters": []}
    return {"operations": [row], "percent": 100.0 if requests else 0.0}


def test_a_baseline_of_the_pytest_plugin(tmp_path: Path) -> None:
    """It is kept or lost in `run` and `verify`; if no request came, the reason is named."""
    outcome = RunOutcome()
    outcome.coverage = make_coverage(3)
    outcome.judge_coverage(Gate(), ["contract.baseline"], tmp_path)
    gate = CoverageConditions(baseline=tmp_path / "contract.baseline").make_gate(
        OPERATION_IDS, "--coverage-"
    )

    (kept,) = check_coverage(make_coverage(1), gate)
    (lost,) = check_coverage(make_coverage(0), gate)

    assert [] == list(kept.faults)
    assert "accounts.list 200" == lost.faults[-1]
    assert '--mock-platform-url "$MOCK_PLATFORM_URL"' in lost.faults[0]
