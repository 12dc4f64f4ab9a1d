"""The command line: `mock-platform`, also `python -m mock_platform`."""

from mock_platform.cli.main import main

__all__ = ["main"]
