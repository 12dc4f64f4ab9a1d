"""Fixtures of sandboxes in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest

from mock_platform import MockPlatform


def starting(scope: Literal["module", "function"] = "module", **settings: Any) -> Any:
    """A fixture: a running sandbox with these settings, for all tests of a module or for each."""

    @pytest.fixture(scope=scope)
    def start() -> Iterator[MockPlatform]:
        with MockPlatform.start(**settings) as started:
            yield started

    return start
