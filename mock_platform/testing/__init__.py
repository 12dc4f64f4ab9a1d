"""The common base of the pytest plugin and the unittest mixin: worlds for tests, and reports.

`PlatformMixin` and `PlatformTestCase` are for test suites with the standard library's unittest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mock_platform.testing.case import PlatformMixin, PlatformTestCase

__all__ = ["PlatformMixin", "PlatformTestCase"]


def __getattr__(name: str) -> Any:
    """Load the classes for unittest, and unittest with them, when somebody uses them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mock_platform.testing import case

    return getattr(case, name)
