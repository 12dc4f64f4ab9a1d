"""What the package holds, and what it leaves to the checkout."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_wheel_takes_the_package_and_its_data() -> None:
    """Nothing but the package, the shipped fixtures and the shipped scenarios is built in."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {
        "packages": ["mock_platform"],
        "force-include": {
            "fixtures": "mock_platform/fixtures",
            "scenarios": "mock_platform/scenarios",
        },
    }


def test_no_module_of_the_package_writes_documentation() -> None:
    """What writes the pages of `docs/` is in `docs/generators`, and nowhere else."""
    modules = {path: path.read_text("utf-8") for path in (ROOT / "mock_platform").rglob("*.py")}

    assert [path for path, text in modules.items() if "make docs" in text] == []
    assert [path for path, text in modules.items() if "docs.generators" in text] == []
