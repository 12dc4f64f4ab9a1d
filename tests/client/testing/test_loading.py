"""A test run loads the sandbox: pytest rewrites none of its modules, nor does it scan them."""

from __future__ import annotations

import sys

import pytest

from mock_platform.pytest_plugin import PlainFinder, find_plainly

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

COLLECTING = """
import gc, weakref

class Circle:
    def __init__(self):
        self.itself = self

first = weakref.ref(Circle())

def test_it(mock_platform):
    known = {id(each) for each in gc.get_objects()}
    import mock_platform.platform as platform

    assert first() is None
    assert gc.isenabled()
    assert id(platform) not in known and id(test_it) not in known
    later = weakref.ref(Circle())
    gc.collect()
    assert later() is None
"""


def test_pytest_rewrites_no_module_of_the_package(pytester: pytest.Pytester) -> None:
    """Not even where the whole package is marked for it, as an installed wheel is."""
    pytester.makepyfile(test_it=REWRITING, helper="")
    result = pytester.runpytest_subprocess("-p", "no:randomly")

    result.assert_outcomes(passed=1)


def test_the_collector_leaves_out_what_is_loaded(pytester: pytest.Pytester) -> None:
    """What was garbage before is collected, and so is what tests make."""
    pytester.makepyfile(test_it=COLLECTING)
    result = pytester.runpytest_subprocess()

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
