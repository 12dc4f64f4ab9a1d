"""Runs the command line in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from mock_platform.cli.main import group


def run(*words: object, **env: str) -> Result:
    """What a command did; `env` is added to the environment."""
    return CliRunner().invoke(group, [*map(str, words)], env=env, prog_name="mock-platform")
