"""No requests at all: what pytest itself takes."""

from __future__ import annotations

import requests  # noqa: F401 - every other suite loads it


def test_nothing(number: int) -> None:
    """Nothing."""
