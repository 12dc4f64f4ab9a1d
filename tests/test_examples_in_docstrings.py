"""The examples in docstrings run, and what is public has one."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import mock_platform
from mock_platform import testing
from tests.waits import in_thread

ROOT = Path(mock_platform.__file__).parent
PARTS = ("ClockFace", "JournalFace", "EntryFace", "ChangeFace", "StateFace", "TableFace")
CENTRAL = {
    "mock_platform.api.ads.resource": ("Resource",),
    "mock_platform.client.interface": ("PlatformFace", "WorldFace"),
    "mock_platform.client.world_parts": (*PARTS, "SnapshotsFace", "StreamsFace", "TransitionsFace"),
    "mock_platform.core.failures.problems": ("problem",),
    "mock_platform.core.fields": ("Text", "Choice", "Integer"),
    "mock_platform.core.jsonio": ("loads", "dumps", "canonical"),
    "mock_platform.core.operation": ("Operation",), "mock_platform.core.routing": ("Router",),
    "mock_platform.core.schema": ("Schema",),
    "mock_platform.core.tables.table": ("Table", "Reference"),
    "mock_platform.scenario.document": ("Scenario",), "mock_platform.world.clock": ("Clock",),
    "mock_platform.world.ids": ("Ids",), "mock_platform.world.transitions": ("TransitionKind",),
}  # fmt: skip
"""What the Python interface returns, and the values that a contributor meets first, by module."""


def find_examples() -> list[doctest.DocTest]:
    """Returns the examples of all modules that have some, those of one docstring together."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if ">>> " in path.read_text("utf-8"):
            name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
            found += finder.find(import_module(name.removesuffix(".__init__")))
    return [each for each in found if each.examples]


def list_public() -> list[tuple[str, str]]:
    """Returns module and name of all that must have an example."""
    exported = [(each.__name__, name) for each in (mock_platform, testing) for name in each.__all__]
    central = [(module, name) for module, names in CENTRAL.items() for name in names]
    return [(module, name) for module, name in exported + central if not name.startswith("__")]


@pytest.mark.parametrize("example", find_examples(), ids=lambda each: str(each.name))
def test_examples_run(example: doctest.DocTest) -> None:
    """Each example of a docstring does what it shows."""
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)

    result = in_thread(lambda: runner.run(example, out=report.append))

    assert (0, len(example.examples)) == (result.failed, result.attempted), "".join(report)


@pytest.mark.parametrize(("module", "name"), list_public())
def test_public_names_have_an_example(module: str, name: str) -> None:
    """The docstring of each public class and function has a section with an example."""
    text = inspect.cleandoc(getattr(import_module(module), name).__doc__ or "")

    _, heading, example = text.partition("\nExample:\n")

    assert heading, f"{module}.{name} has no section Example:"
    assert "    >>> " in example
