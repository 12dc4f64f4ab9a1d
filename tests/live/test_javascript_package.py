"""The JavaScript package as npm packs it: its own tests, its types, its examples, its names."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from docs.generators.javascript import name_in_javascript
from mock_platform import __version__
from mock_platform.cli.main import group
from mock_platform.cli.options import SETTINGS
from mock_platform.client import world_parts as parts
from mock_platform.client.arguments import EntryQuery, PageQuery
from mock_platform.client.interface import PlatformFace, WorldFace
from mock_platform.control.mistakes import MISTAKES
from mock_platform.core.errors import MissingCredentials, Refused, Unreachable
from tests.conftest import Tool
from tests.live.conftest import JAVASCRIPT, NODE, NodeProject
from tests.live.pages import ROOT

pytestmark = pytest.mark.live

FACES: dict[str, type] = {
    "World": WorldFace, "MockPlatform": PlatformFace, "WholeState": parts.StateFace,
}  # fmt: skip
FACES |= {
    name: getattr(parts, f"{name}Face")
    for name in (
        "Clock",
        "Journal",
        "Entry",
        "Change",
        "Streams",
        "Snapshots",
        "Transitions",
        "Table",
    )
}
ONLY_IN_PYTHON: dict[str, set[str]] = {
    # They need the process of the server, as for a server elsewhere in Python; fixtures are the
    # option `fixtures` of `start`.
    "World": {"wsgi", "asgi", "app", "test_client", "async_client", "use_fixtures", "intercept"},
    "MockPlatform": {"on_stray", "raise_errors"},
}
ONLY_IN_JAVASCRIPT: dict[str, set[str]] = {
    # For what pytest's fixtures do, and for routes that Python calls with requests.
    # The failures of a server: in Python they are those of the package.
    "World": {"drop", "finish", "[Symbol.asyncDispose]", "regenerateCredentials", "failures"},
    "MockPlatform": {"freshWorld"},
    # `in` and `len` of Python.
    "Table": {"has", "size"},
    "WholeState": {"has", "size"},
}
RUNNERS = {"node": "node:test", "vitest": "vitest"}
OPTIONS = re.compile(r"(Options|Query|Duration|Pace)$")
"""Types of the last parameter, whose keys are the keyword arguments of Python."""


@pytest.fixture(scope="module")
def types(node_project: NodeProject) -> dict[str, Any]:
    """The interfaces and classes of the package's types."""
    program = node_project.add(NODE / "names.cjs")
    ran = node_project.run(program, node_project.package / "types" / "index.d.ts")
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def camel(name: str) -> str:
    """A name of Python as JavaScript has it."""
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


def described(function: Any) -> tuple[list[str], set[str]]:
    """The parameters of a method in Python: those with a position, and those with a name."""
    positions, names = [], set()
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY:
            names.add(camel(parameter.name))
        elif parameter.kind is parameter.VAR_KEYWORD and parameter.name == "query":
            query = PageQuery if "PageQuery" in str(parameter.annotation) else EntryQuery
            names |= {camel(name) for name in query.__annotations__}
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            positions.append(camel(parameter.name))
    return positions, names


def declared(parameters: list[dict[str, Any]]) -> tuple[list[str], set[str]]:
    """The parameters of a method in the types, in the same form."""
    positions = [each["name"] for each in parameters]
    if parameters and OPTIONS.search(parameters[-1].get("type", "")):
        return positions[:-1], set(parameters[-1]["keys"])
    if parameters and parameters[-1].get("keys"):  # one value, or an object with parts of it
        return positions, set(parameters[-1]["keys"])
    return positions, set()


def test_npm_packs_what_users_need(node_project: NodeProject) -> None:
    """Sources and types without tests, no dependencies, and the version of the server."""
    files = [str(file.relative_to(node_project.package)) for file in _files(node_project.package)]
    package = json.loads((node_project.package / "package.json").read_text("utf-8"))

    assert {"lib", "types", "README.md", "package.json"} <= {Path(f).parts[0] for f in files}
    assert not any("test" in file or "example" in file for file in files)
    assert __version__ == package["version"]
    assert not any("ependencies" in key for key in package)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"git+{project['urls']['Source']}.git" == package["repository"]["url"]
    assert project["license"] == package["license"]
    for entry in package["exports"]["."].values():
        assert all((node_project.package / target).is_file() for target in entry.values())


def test_its_own_tests_pass(node_project: NodeProject, tool: Tool) -> None:
    """`npm test` runs every test of the package as it is packed, against servers of its own."""
    folder = node_project.add(node_project.package)
    shutil.copytree(JAVASCRIPT / "tests", folder / "tests", dirs_exist_ok=True)
    files = sorted((folder / "tests").iterdir())
    written = [re.findall(r"^test\(", file.read_text("utf-8"), re.MULTILINE) for file in files]

    ran = replace(node_project, program=tool("npm")).run("test", folder=folder)

    assert ran.returncode == 0, ran.stdout
    assert re.search(rf"^. pass {sum(map(len, written))}$", ran.stdout, re.MULTILINE), ran.stdout


def test_its_types_are_sound(node_project: NodeProject) -> None:
    """The sources fulfil the types; users of both kinds of modules are served and warned.

    So is the TypeScript example, by its own tsconfig.json.
    """
    config = json.loads((JAVASCRIPT / "tsconfig.json").read_text("utf-8"))
    for name in config["include"]:
        node_project.add(JAVASCRIPT / name)
    config["files"] = [str(node_project.add(NODE / name)) for name in ("user.mts", "required.cts")]
    config["compilerOptions"]["noUnusedLocals"] = False
    (node_project.folder / "tsconfig.json").write_text(json.dumps(config), "utf-8")
    example = node_project.add(JAVASCRIPT / "examples" / "vitest")
    projects = [folder / "tsconfig.json" for folder in (node_project.folder, example)]

    ran = node_project.run(node_project.add(NODE / "check.cjs"), *projects)

    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert [] == told["found"]
    sources = [file for name in ("lib", "types") for file in _files(node_project.folder / name)]
    wanted = {*map(str, [*sources, *example.glob("*.ts")]), *config["files"]}
    assert set() == wanted - {*told["checked"]}


@pytest.mark.parametrize("runner", ["node", "vitest", "jest"])
def test_examples_pass(node_project: NodeProject, runner: str) -> None:
    """Each runner's example, with the command in its package.json."""
    folder = node_project.add(JAVASCRIPT / "examples" / runner)
    (file,) = folder.glob("*.test.*")
    written = re.findall(r"^(?:test|base)\(", file.read_text("utf-8"), re.MULTILINE)
    script = json.loads((folder / "package.json").read_text("utf-8"))["scripts"]["test"]
    commands: dict[str, list[object]] = {
        "node --test": ["--test"],
        "vitest run": [node_project.folder.parent / "node_modules/vitest/vitest.mjs", "run"],
        "jest": [node_project.folder.parent / "node_modules/jest/bin/jest.js"],
    }

    ran = node_project.run(*commands[script], folder=folder)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    reports = (f"# pass {len(written)}\n", f"{len(written)} passed (", f"{len(written)} passed, ")
    assert any(report in ran.stdout + ran.stderr for report in reports), ran.stdout + ran.stderr


@pytest.mark.parametrize("runner", ["node", "vitest"])
def test_a_failed_test_shows_its_requests(
    node_project: NodeProject, tmp_path: Path, runner: str
) -> None:
    """Each with the reason for its answer, before the world is gone; a passed one shows none."""
    folder = node_project.folder / f"{tmp_path.name}-{runner}"
    folder.mkdir()
    (folder / "package.json").write_text("{}", "utf-8")
    source = (NODE / "failing.mjs").read_text("utf-8")
    (folder / "failing.test.mjs").write_text(source.replace("RUNNER", RUNNERS[runner]), "utf-8")
    vitest = node_project.folder.parent / "node_modules/vitest/vitest.mjs"
    commands: dict[str, list[object]] = {"node": ["--test"], "vitest": [vitest, "run"]}

    ran = node_project.run(*commands[runner], folder=folder)

    assert ran.returncode == 1
    shown = ran.stdout + ran.stderr
    assert 1 == shown.count("The last requests to test-")
    assert re.search(r"GET /12/accounts -> 401 accounts.list: .+", shown)
    silent = shown.partition("Rules that never acted:")[2]
    assert "usage-capped/0: never acted; 0 calls matched it, on webhooks.replay" in silent
    assert (
        "rate-limited/0: never acted; 0 calls matched it, on accounts.list; 1 request was" in silent
    )


@pytest.mark.parametrize("name", FACES)
def test_names_are_those_of_python(types: dict[str, Any], name: str) -> None:
    """Every method and property, with its parameters, in camel case; others are listed above."""
    face, members = FACES[name], types["interfaces"][name]
    above = set(dir(WorldFace)) if name == "MockPlatform" else set()
    own = {each for each in dir(face) if not each.startswith("_")} - above
    shared = own - ONLY_IN_PYTHON.get(name, set())

    assert {camel(each) for each in shared} | ONLY_IN_JAVASCRIPT.get(name, set()) == set(members)
    assert ONLY_IN_PYTHON.get(name, set()) <= own
    for each in shared:
        promised, made = inspect.getattr_static(face, each), members[camel(each)]
        if inspect.isfunction(promised):
            assert described(promised) == declared(made), each
        else:  # a property that asks the server is a method there
            assert made in ([], None), each


def test_servers_are_started_with_the_settings_of_python(node_project: NodeProject) -> None:
    """The generated settings, what `serve` has besides, and nothing else."""
    command = group.commands["serve"]
    parameters = {each.name for each in command.params if isinstance(each, click.Option)}
    others = (
        parameters
        - {each.parameter for each in SETTINGS}
        - {"server", "stop_with_stdin", "intercept", "allow_host", "intercept_hosts"}
    )
    program = "require('mock-platform').MockPlatform.start({ x: 1 }).catch((e) => console.log(e))"
    ran = node_project.run("-e", program)

    known = re.findall(r"\w+", ran.stdout.partition("Options: ")[2].partition("\n")[0])
    settings = [name_in_javascript(each) for each in SETTINGS]
    assert [*settings, "command", "env"] == [
        each for each in known if each not in {camel(other) for other in others}
    ]
    assert {camel(each) for each in others} <= set(known)
    assert len(set(known)) == len(known)


def test_errors_are_those_of_python(types: dict[str, Any]) -> None:
    """Every mistake that the control plane names, and the errors of the client itself."""
    sent = {mistake.kind.__name__ for mistake in MISTAKES}
    client = {each.__name__ for each in (MissingCredentials, Refused, Unreachable)}
    more = {"MockPlatformError", "CannotStart", "UnfiredExpectations", "BadScenario", "ForeignHost"}

    assert sent | more | client == set(types["classes"])


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]
