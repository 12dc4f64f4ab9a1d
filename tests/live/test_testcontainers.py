"""The examples for Testcontainers, with a stand-in whose containers are servers on this machine."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.commands import environment, finished
from tests.conftest import Tool
from tests.live.conftest import NODE, NodeProject
from tests.live.pages import ROOT

pytestmark = pytest.mark.live

FOLDER = ROOT / "docs" / "examples" / "testcontainers"
STAND_IN = Path(__file__).parent / "java"
GONE = "the container is gone"


def test_the_example_for_node(node_project: NodeProject) -> None:
    """A world for each test of a container, which is removed at the end."""
    folder = node_project.add(FOLDER)
    shutil.copytree(NODE / "testcontainers", folder / "node_modules" / "testcontainers")
    written = re.findall(
        r"^test\(", (folder / "accounts.test.mjs").read_text("utf-8"), re.MULTILINE
    )

    ran = node_project.run("--test", "--test-reporter=tap", folder=folder)

    assert ran.returncode == 0, ran.stdout
    assert f"\n# pass {len(written)}\n" in ran.stdout
    assert GONE in ran.stdout


def test_the_example_for_java(tool: Tool, tmp_path: Path) -> None:
    """It compiles without warnings, and its tests pass."""
    sources = [*FOLDER.glob("*.java"), *STAND_IN.rglob("*.java")]
    command = [tool("javac"), "-J-XX:TieredStopAtLevel=1", "-Xlint:all", "-Werror"]
    compiled = finished([*command, "-d", tmp_path, *sources])
    assert compiled.returncode == 0, compiled.stderr
    env = environment(MOCK_PLATFORM_COMMAND=str(shutil.which("mock-platform")))

    ran = finished([tool("java"), "-cp", tmp_path, "Run", "AccountsTest"], env=env)

    assert ran.returncode == 0, ran.stderr
    passed = set(re.findall(r"^passed (\w+)$", ran.stdout, re.MULTILINE))
    written = re.findall(
        r"@Test\n    void (\w+)", (FOLDER / "AccountsTest.java").read_text("utf-8")
    )
    assert passed == {"start", "stop", *written}
    assert GONE in ran.stdout


@pytest.mark.parametrize("name", ["container.mjs", "MockPlatformContainer.java"])
def test_the_container_is_that_of_the_dockerfile(name: str) -> None:
    """Its port is the one that the image exposes, and the image has the health check."""
    text = (FOLDER / name).read_text("utf-8")
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    (port,) = re.findall(r"PORT = (\d+)", text)

    assert f"\nEXPOSE {port}\n" in dockerfile
    assert "\nHEALTHCHECK " in dockerfile
    assert re.search("forHealth[Cc]heck", text)
