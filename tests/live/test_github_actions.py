"""The workflow to copy: valid, and its steps do what they say."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from ruamel.yaml import YAML

from tests.commands import python
from tests.conftest import Tool
from tests.live.pages import ROOT, run_bash
from tests.live.processes import serving
from tests.live.test_examples import FOLDER as EXAMPLES
from tests.live.test_examples import QUIET

pytestmark = pytest.mark.live

FILE = ROOT / "docs" / "github-actions.yml"
WORKFLOW: dict[str, Any] = YAML(typ="safe").load(FILE)
JOBS: dict[str, Any] = WORKFLOW["jobs"]
DOCKER = 'docker() { [[ $1 == exec ]]; shift 2; "$@"; }\n'
"""The command within the container is that of this machine."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project such as the workflow is for, made of the examples."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(EXAMPLES / "python", tmp_path / "tests", ignore=ignored)
    for file in (EXAMPLES / "javascript").iterdir():
        shutil.copy(file, tmp_path)
    shutil.copy(EXAMPLES / "shell" / "smoke.sh", tmp_path)
    return tmp_path


def run_job(name: str, project: Path, **env: str) -> list[str]:
    """Run a job's commands one after the other; returns their output. Nothing is installed."""
    passed_on = project / "github-env"
    passed_on.touch()
    output = []
    for step in JOBS[name]["steps"]:
        if "run" not in step or "pip install" in step["run"]:
            continue
        script = DOCKER + re.sub(r"\$\{\{.*?\}\}", "expression", step["run"])
        lines = passed_on.read_text("utf-8").splitlines()
        added = dict(line.split("=", 1) for line in lines)
        more = {**QUIET, **JOBS[name].get("env", {}), **added, **env}
        done = run_bash(script, project, **more, GITHUB_ENV=str(passed_on))
        assert 0 == done.returncode, done.stdout + done.stderr
        output.append(done.stdout)
    return output


def validated(file: Path) -> subprocess.CompletedProcess[str]:
    """What the schema of GitHub's workflows says of a file."""
    check = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(file)]
    return python(*check)


def test_it_is_a_workflow(tmp_path: Path) -> None:
    """The schema takes it, and would not take it with a misspelt key."""
    misspelt = tmp_path / "workflow.yml"
    misspelt.write_text(FILE.read_text("utf-8").replace("runs-on:", "run-on:", 1), "utf-8")

    taken, refused = validated(FILE), validated(misspelt)

    assert 0 == taken.returncode, taken.stdout
    assert 1 == refused.returncode
    assert "run-on" in refused.stdout


def test_the_python_job(project: Path) -> None:
    """Tests pass, the coverage is above its limit, and what is uploaded is there."""
    (told,) = run_job("python", project)

    covered = re.search(r"^Contract coverage ([\d.]+) %$", told, re.MULTILINE)
    assert covered is not None, told
    (limit,) = re.findall(r"--mock-coverage-fail-under=(\d+)", FILE.read_text("utf-8"))
    assert 1 <= float(limit) <= float(covered[1])
    upload = JOBS["python"]["steps"][-1]
    reports = project / upload["with"]["path"]
    assert ["contract.html", "contract.xml", "tests.xml"] == sorted(
        file.name for file in reports.iterdir()
    )
    for name in ("contract.xml", "tests.xml"):
        tests = ET.parse(reports / name).getroot().iter("testcase")
        assert len(list(tests)) > 10


def test_the_node_job(project: Path, tool: Tool) -> None:
    """The tests of npm run with a server."""
    tool("node")
    tool("npm")

    (told,) = run_job("node", project)

    assert re.search(r"^\S+ fail 0$", told, re.MULTILINE)


def test_the_container_job(project: Path, tool: Tool) -> None:
    """With the service's settings, a server that other machines reach takes the job's token."""
    tool("curl")
    service = JOBS["container"]["services"]["sandbox"]

    with serving("--host", "0.0.0.0", **service["env"]) as served:
        _, smoke, tests = run_job("container", project, MOCK_PLATFORM_URL=served.url)

    assert smoke.endswith("ok     the world is dropped (204)\n")
    assert " passed in " in tests


def test_the_container_is_called_where_it_listens() -> None:
    """The port is that of the image, and the token is the service's."""
    job = JOBS["container"]
    service = job["services"]["sandbox"]
    (port,) = re.findall(
        r"^EXPOSE (\d+)$", (ROOT / "docs" / "Dockerfile").read_text("utf-8"), re.MULTILINE
    )

    assert [f"{port}:{port}"] == service["ports"]
    assert f"http://127.0.0.1:{port}" == job["env"]["MOCK_PLATFORM_URL"]
    token = service["env"]["MOCK_PLATFORM_SERVE_CONTROL_TOKEN"]
    assert token == job["env"]["MOCK_PLATFORM_CONTROL_TOKEN"]
