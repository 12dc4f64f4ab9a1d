"""The common base of the pytest plugin and the unittest mixin: worlds for tests, and reports.

`PlatformMixin` and `PlatformTestCase` are for test suites with the standard library's unittest.
"""

from __future__ import annotations

from mock_platform.testing.case import PlatformMixin, PlatformTestCase

__all__ = ["PlatformMixin", "PlatformTestCase"]
