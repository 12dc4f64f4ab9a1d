"""A test run loads the sandbox as any program does: pytest rewrites none of its modules."""

from __future__ import annotations

import sys

import pytest

from mock_platform.testing.loading import PlainFinder, find_plainly

REWRITING = """
import sys, types
import pytest

pytest.register_assert_rewrite("mock_platform", "helper")

def test_it(mock_platform):
    import helper

    loaders = {
        name: type(module.__spec__.loader).__name__
        for name, module in sys.modules.items()
        if name.startswith("mock_platform.") and isinstance(module, types.ModuleType)
    }
    del loaders["mock_platform.pytest_plugin"]
    assert "mock_platform.platform" in loaders
    assert "AssertionRewritingHook" not in loaders.values()
    assert type(helper.__spec__.loader).__name__ == "AssertionRewritingHook"
"""


def test_pytest_rewrites_no_module_of_the_package(pytester: pytest.Pytester) -> None:
    """Not even where the whole package is marked for it, as an installed wheel is."""
    pytester.makepyfile(test_it=REWRITING, helper="")
    result = pytester.runpytest_subprocess("-p", "no:randomly")

    result.assert_outcomes(passed=1)


def test_modules_of_others_are_found_as_ever() -> None:
    """Only modules of this package are found before pytest looks for them."""
    import mock_platform

    found = PlainFinder.find_spec("mock_platform.settings", mock_platform.__path__)

    assert found is not None
    assert found.name == "mock_platform.settings"
    for name in ("mock_platform", "mock_platform_client", "requests"):
        assert PlainFinder.find_spec(name) is None


def test_the_finder_goes_with_the_run() -> None:
    """Afterwards modules are found as before, also if it is ended twice."""
    before = list(sys.meta_path)
    end = find_plainly()

    assert sys.meta_path[1:] == before
    end()
    end()
    assert sys.meta_path == before
