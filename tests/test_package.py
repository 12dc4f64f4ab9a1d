"""What the package holds, and what it leaves to the checkout."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mock_platform import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


class _Interface:
    """In place of the classes of hatchling, which only a build has."""

    root = ""

    def __class_getitem__(cls, _: object) -> type:
        return cls


@pytest.fixture
def hatch_build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The hooks of the build."""
    for name, interface in (
        ("builders.hooks", "BuildHookInterface"),
        ("metadata", "MetadataHookInterface"),
    ):
        module = ModuleType(f"hatchling.{name}.plugin.interface")
        setattr(module, interface, _Interface)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_wheel_takes_the_package_and_its_data() -> None:
    """Nothing but the package, facts, fixtures, scenarios and what the hook adds is built in."""
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {
        "packages": ["mock_platform"],
        "force-include": {
            "fidelity": "mock_platform/fidelity",
            "fixtures": "mock_platform/fixtures",
            "scenarios": "mock_platform/scenarios",
        },
        "hooks": {"custom": {}},
    }


def test_the_wheel_takes_the_pages(hatch_build: ModuleType) -> None:
    """All pages and examples, but not the code that writes pages."""
    hook = hatch_build.BuildHook()
    hook.root = str(ROOT)
    build_data: dict[str, Any] = {"force_include": {}}

    hook.initialize("standard", build_data)

    placed = build_data["force_include"]
    assert placed[str(ROOT / "README.md")] == "mock_platform/docs/README.md"
    assert placed[str(ROOT / "docs" / "for-qa.md")] == "mock_platform/docs/for-qa.md"
    assert placed[str(ROOT / "docs" / "README.md")] == "mock_platform/docs/index.md"
    assert [path for path in placed if path.endswith(".png")] == []
    pages = {str(file) for file in (ROOT / "docs").glob("*.md")}
    assert pages <= set(placed)
    assert [place for place in placed.values() if "generators" in place] == []


def test_the_wheel_takes_what_agents_read(hatch_build: ModuleType) -> None:
    """The skill is a page; the file that agents look for is beside the code."""
    hook = hatch_build.BuildHook()
    hook.root = str(ROOT)
    build_data: dict[str, Any] = {"force_include": {}}

    hook.initialize("standard", build_data)

    places = set(build_data["force_include"].values())
    assert {"mock_platform/docs/SKILL.md", "mock_platform/AGENTS.md"} < places


def test_a_build_without_pages_is_possible(hatch_build: ModuleType, tmp_path: Path) -> None:
    """An image is built from the package alone."""
    hook = hatch_build.BuildHook()
    hook.root = str(tmp_path)
    build_data: dict[str, Any] = {"force_include": {}}

    hook.initialize("standard", build_data)

    assert build_data == {"force_include": {}}


def test_a_package_index_gets_whole_addresses(hatch_build: ModuleType) -> None:
    """Links of the README lead to the repository, wherever it is shown."""
    hook = hatch_build.MetadataHook()
    hook.root = str(ROOT)
    metadata: dict[str, Any] = {"urls": PROJECT["project"]["urls"]}

    hook.update(metadata)

    links = re.findall(r"\]\(([^)]+)\)", metadata["readme"]["text"])
    source = PROJECT["project"]["urls"]["Source"]
    assert f"{source}/blob/main/docs/for-qa.md" in links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_the_package_says_who_and_what_it_is() -> None:
    """Licence, authors, addresses and keywords, for indexes and for readers."""
    project = PROJECT["project"]

    assert ("MIT", ["LICENSE"]) == (project["license"], project["license-files"])
    licence = (ROOT / "LICENSE").read_text("utf-8")
    assert licence.startswith("MIT License")
    assert licence == (ROOT / "clients" / "javascript" / "LICENSE").read_text("utf-8")
    assert {"Source", "Documentation", "Changelog", "Issues"} <= set(project["urls"])
    assert project["authors"]
    assert project["keywords"]


def test_everything_has_the_same_version() -> None:
    """The package, the npm package, the newest release of the changelog, and the tag if any."""
    npm = json.loads((ROOT / "clients" / "javascript" / "package.json").read_text("utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    asked = ["git", "tag", "--points-at", "HEAD", "--list", "v*"]
    tags = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)

    released = re.findall(r"^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert {npm["version"], released[0]} == {__version__}
    assert set(tags.stdout.split()) <= {f"v{__version__}"}


def test_no_module_of_the_package_writes_documentation() -> None:
    """What writes the pages of `docs/` is in `docs/generators`, and nowhere else."""
    modules = {path: path.read_text("utf-8") for path in (ROOT / "mock_platform").rglob("*.py")}

    assert [path for path, text in modules.items() if "make docs" in text] == []
    assert [path for path, text in modules.items() if "docs.generators" in text] == []
