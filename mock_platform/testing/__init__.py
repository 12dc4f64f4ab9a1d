"""What stands behind the pytest plugin and the unittest mixin: worlds for tests, and their story.

`PlatformMixin` and `PlatformTestCase` are for suites of the standard library's unittest.
"""

from __future__ import annotations

from mock_platform.testing.case import PlatformMixin, PlatformTestCase

__all__ = ["PlatformMixin", "PlatformTestCase"]
