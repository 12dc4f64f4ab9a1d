"""How many examples Hypothesis makes up for a test, and how.

In the usual run a test has the same few examples each time, however slow the machine is. With
`MOCK_PLATFORM_TEST_EXAMPLES=20` it has twenty times as many, and other ones each time.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

_TIMES = int(os.environ.get("MOCK_PLATFORM_TEST_EXAMPLES", "1"))

settings.register_profile(
    "suite",
    deadline=None,
    derandomize=_TIMES == 1,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("suite")
if _TIMES == 1:
    # Hypothesis tries constants of the modules that are imported so far. Which these are depends on
    # the tests before, and to find the constants each process would parse the package for seconds.
    providers._get_local_constants = Constants


def examples(usual: int, **more: Any) -> settings:
    """Settings, and decorator, of a test with so many examples in the usual run."""
    return settings(max_examples=usual * _TIMES, **more)
