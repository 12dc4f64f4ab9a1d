"""Reads the arguments that `run` and `verify` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.cli.conditions import CoverageConditions
from mock_platform.cli.intercepting import read_interception
from mock_platform.cli.options import settings_of
from mock_platform.cli.run_report import CoverageOptions, RunOptions


def read_run_options(values: Mapping[str, Any]) -> RunOptions:
    """Returns the options in the parameters of a command.

    Raises:
        click.UsageError: Some do not belong together.
    """
    conditions = CoverageConditions(
        values["coverage_fail_under"], values["coverage_only"], values["coverage_baseline"]
    )
    intercept = read_interception(
        values["allow_host"], values["intercept_hosts"], intercept=values["intercept"]
    )
    return RunOptions(
        settings_of(values),
        values["tls"],
        values.get("verify"),
        values["junit"],
        CoverageOptions(values["coverage"], conditions),
        intercept,
    )
