"""The table of families: one module each, and all of them."""

from __future__ import annotations

from pathlib import Path

from mock_platform import operations
from mock_platform.core.packaged import folder
from mock_platform.operations import FAMILIES, TABLES

PACKAGE = Path(operations.__file__).parent
NO_FAMILIES = {"__init__", "openapi"}
"""The table itself, and the operation that describes all others."""


def test_every_module_is_in_the_table() -> None:
    """A family that was not added to `FAMILIES` would not be served."""
    modules = {path.stem for path in PACKAGE.glob("*.py")}

    assert modules - NO_FAMILIES == set(FAMILIES)


def test_tables_have_names_of_their_own_and_fixtures_are_theirs() -> None:
    """Two tables of one name would replace each other."""
    names = [table.name for table in TABLES]

    assert len(set(names)) == len(names)
    assert {path.stem for path in folder("fixtures").iterdir()} <= set(names)
