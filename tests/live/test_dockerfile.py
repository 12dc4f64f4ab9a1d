"""The Dockerfile without an engine: what it copies is there, what it starts is run as written."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any

import pytest
import requests

from tests.commands import finished
from tests.conftest import Tool
from tests.live.pages import ROOT
from tests.support_receiver import unused_port
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

BIN = Path(sys.executable).parent
TOKEN = "X-Mock-Control-Token"


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile with their arguments; comments and line ends are gone."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", "").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in whole)]


class Image:
    """What the last stage of the Dockerfile makes."""

    def __init__(self) -> None:
        self.instructions = instructions((ROOT / "Dockerfile").read_text("utf-8"))
        names = [name for name, _ in self.instructions]
        self.last = self.instructions[len(names) - 1 - names[::-1].index("FROM") :]

    def only(self, name: str) -> str:
        """The argument of an instruction that the last stage has once."""
        (found,) = [rest for each, rest in self.last if each == name]
        return found

    def environment(self, **more: str) -> dict[str, str]:
        """ENV, with our commands where the image has them."""
        values = dict(pair.split("=", 1) for pair in shlex.split(self.only("ENV")))
        path = Template(values.pop("PATH")).substitute(PATH="/usr/bin:/bin")
        return {**values, "PATH": path.replace("/opt/mock-platform/bin", str(BIN)), **more}

    @property
    def command(self) -> list[str]:
        """What the container runs."""
        entry, arguments = json.loads(self.only("ENTRYPOINT")), json.loads(self.only("CMD"))
        return [*entry, *arguments]

    @property
    def health(self) -> list[str]:
        """The command of the health check."""
        found: list[str] = json.loads(self.only("HEALTHCHECK").partition(" CMD ")[2])
        return found

    @property
    def copied(self) -> list[str]:
        """What is copied from the checkout, in any stage."""
        copies = [rest.split() for name, rest in self.instructions if name == "COPY"]
        return [each for words in copies if "--from" not in words[0] for each in words[:-1]]


IMAGE = Image()


@dataclass(frozen=True)
class Container:
    """A running command of the image: its environment, its process and its READY line."""

    env: dict[str, str]
    process: subprocess.Popen[str]
    line: str

    @property
    def ready(self) -> dict[str, Any]:
        """What the READY line says."""
        assert self.line.startswith("READY "), self.line
        found: dict[str, Any] = json.loads(self.line.removeprefix("READY "))
        return found

    def health(self) -> int:
        """The status of the health check."""
        return checked(self.env)


def checked(env: dict[str, str]) -> int:
    """The status of the health check in an environment."""
    done = subprocess.run(
        IMAGE.health, env=env, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False
    )
    return done.returncode


@contextmanager
def container(folder: Path, **more: str) -> Iterator[Container]:
    """The image's command with its environment, but on a free port."""
    env = IMAGE.environment(**{"MOCK_PLATFORM_SERVE_PORT": str(unused_port()), **more})
    with subprocess.Popen(
        IMAGE.command,
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield Container(env, process, process.stdout.readline())
        finally:
            process.kill()


# -- what runs -----------------------------------------------------------------------------------


def test_it_serves_until_it_is_stopped(tmp_path: Path) -> None:
    """READY on standard output, healthy while it serves, status 0 when it was asked to end."""
    with container(tmp_path) as running:
        url = running.ready["url"]
        healthy = running.health()
        answer = requests.get(f"{url}/2/openapi.json", timeout=PATIENCE)
        running.process.terminate()
        status = running.process.wait(PATIENCE)

        assert f"http://127.0.0.1:{running.env['MOCK_PLATFORM_SERVE_PORT']}" == url
        assert (200, 0) == (answer.status_code, healthy)
        assert 0 == status
        assert 1 == running.health()


def test_its_control_plane_wants_the_token_that_ready_tells(tmp_path: Path) -> None:
    """Without settings a token is made up; a port that is published elsewhere changes nothing."""
    with container(tmp_path) as running:
        worlds = f"{running.ready['control']}/worlds/w1"
        refused = requests.put(worlds, timeout=PATIENCE)
        token = {TOKEN: running.ready["control_token"]}
        made = requests.put(worlds, headers={**token, "Host": "localhost:9090"}, timeout=PATIENCE)

        assert (401, 200) == (refused.status_code, made.status_code)
        assert "http://localhost:9090/~w1" == made.json()["base_url"]


def test_its_settings_are_variables(tmp_path: Path) -> None:
    """Token, name and store as the comments say; health needs none of them."""
    own = {
        "MOCK_PLATFORM_SERVE_CONTROL_TOKEN": "ours", "MOCK_PLATFORM_SERVE_PUBLIC_HOST": "sandbox",
        "MOCK_PLATFORM_SERVE_STORE": "tinydb:state.json",
    }  # fmt: skip
    with container(tmp_path, **own) as running:
        url = f"{running.ready['control']}/credentials"
        answer = requests.get(
            url, headers={TOKEN: "ours", "Host": "sandbox:8080"}, timeout=PATIENCE
        )
        healthy = running.health()
        running.process.terminate()
        running.process.wait(PATIENCE)

        assert "control_token" not in running.ready
        assert (200, 0) == (answer.status_code, healthy)
    assert (tmp_path / "state.json").exists()


def test_it_is_healthy_with_tls(tmp_path: Path) -> None:
    """The check speaks http; that a server of https says so is an answer."""
    with container(tmp_path, MOCK_PLATFORM_SERVE_TLS="1") as running:
        assert running.ready["url"].startswith("https://")
        assert 0 == running.health()


def test_it_takes_options_behind_its_name() -> None:
    """`docker run mock-platform serve --help`, and any other command."""
    done = finished([*IMAGE.command, "--help"], env=IMAGE.environment(), check=True)

    assert ["mock-platform", "serve"] == IMAGE.command
    assert "Usage: mock-platform serve [OPTIONS]" in done.stdout


def test_the_comments_name_options() -> None:
    """A variable that is no option would be warned of."""
    known = {f"--{name.replace('_', '-')}" for name in named_variables()}
    done = finished(["mock-platform", "serve", "--help"], env=IMAGE.environment(), check=True)

    assert {"--control-token", "--port"} < known
    assert known <= set(re.findall(r"--[a-z-]+", done.stdout))


# -- what it is made of --------------------------------------------------------------------------


def test_a_linter_finds_nothing(tool: Tool, tmp_path: Path) -> None:
    """The linter of Dockerfiles passes this one, and would not pass a careless one."""
    lint = [tool(str(BIN / "hadolint"), "hadolint"), "--failure-threshold", "info"]
    careless = tmp_path / "Dockerfile"
    careless.write_text("FROM python\nRUN cd /tmp && sudo pip install x\n", "utf-8")

    passed = finished([*lint, ROOT / "Dockerfile"])
    refused = finished([*lint, careless])

    assert (0, "") == (passed.returncode, passed.stdout)
    assert 1 == refused.returncode
    assert {"DL3006", "DL3004", "DL3003"} <= set(re.findall(r"DL\d+", refused.stdout))


def test_the_last_stage_has_what_the_first_one_built() -> None:
    """The first stage installs the package into the folder that the second one takes from it."""
    names = [name for name, _ in IMAGE.instructions]
    first = IMAGE.instructions[: names.index("FROM", 1)]
    (build,) = [rest for name, rest in first if name == "RUN"]
    (stage,) = [rest.split()[-1] for name, rest in first if name == "FROM"]
    (folder,) = re.findall(r"python -m venv (\S+) ", build)

    assert re.search(rf"&& {folder}/bin/pip install .* '\.\[all\]'$", build)
    assert f"--from={stage} {folder} {folder}" == IMAGE.only("COPY")


def test_it_is_built_for_several_machines() -> None:
    """The platforms of the comment, and no instruction that is for one of them."""
    text = (ROOT / "Dockerfile").read_text("utf-8")

    assert "--platform linux/amd64,linux/arm64 -t NAME" in text
    assert not any("--platform" in rest for _, rest in IMAGE.instructions)
    assert not re.search("x86_64|aarch64|amd64", "".join(rest for _, rest in IMAGE.instructions))


def test_it_is_not_root() -> None:
    """A number that is made in the image and is not zero."""
    user = IMAGE.only("USER")

    assert re.fullmatch("[1-9][0-9]*", user)
    assert f"useradd --uid {user} " in IMAGE.only("RUN")
    assert f"--home-dir {IMAGE.only('WORKDIR')} --create-home" in IMAGE.only("RUN")


def test_the_port_is_the_one_that_is_exposed() -> None:
    """It listens there on every interface."""
    env = IMAGE.environment()

    assert ("0.0.0.0", IMAGE.only("EXPOSE")) == (
        env["MOCK_PLATFORM_SERVE_HOST"], env["MOCK_PLATFORM_SERVE_PORT"],
    )  # fmt: skip


def test_python_is_one_that_the_package_takes() -> None:
    """Both stages use the same image, so that the environment fits where it is copied."""
    bases = {rest.split()[0] for name, rest in IMAGE.instructions if name == "FROM"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (base,) = bases
    version = base.removeprefix("python:").removesuffix("-slim")

    assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_the_build_finds_what_it_needs(tmp_path: Path) -> None:
    """With what .dockerignore leaves of what is copied, everything that pyproject.toml names."""
    sent = context()
    for source in IMAGE.copied:
        assert any(file == source or file.startswith(f"{source}/") for file in sent), source
        for file in (each for each in sent if each.split("/")[0] == source):
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, tmp_path / file)

    settings = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))
    hatch = settings["tool"]["hatch"]
    wheel = hatch["build"]["targets"]["wheel"]
    needed = ["README.md", "hatch_build.py", hatch["version"]["path"]]
    needed += settings["project"]["license-files"]
    needed += [*wheel["packages"], *wheel["force-include"]]
    assert [] == [name for name in needed if not (tmp_path / name).exists()]
    for folder in (*wheel["packages"], *wheel["force-include"]):
        assert files(ROOT / folder) == files(tmp_path / folder)


def test_nothing_else_is_sent() -> None:
    """History, environments, caches and tests stay behind."""
    sent = {file.split("/")[0] for file in context()}

    assert set(IMAGE.copied) == sent
    for name in (".git/config", ".venv/bin/python", "mock_platform/__pycache__/app.pyc"):
        assert ignored(name)


def named_variables() -> list[str]:
    """The options whose variables the comments name, and those of ENV."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    found = re.findall(r"^#   …([A-Z_]+)=|MOCK_PLATFORM_SERVE_([A-Z_]+)=\w", text, re.MULTILINE)
    return ["".join(pair).lower() for pair in found]


def files(folder: Path) -> set[str]:
    """The files below a folder, but for what Python leaves there."""
    return {
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def context() -> set[str]:
    """The files that the builder is sent; folders that are ignored as a whole are not walked."""
    sent = set()
    for folder, names, found in os.walk(ROOT):
        here = Path(folder).relative_to(ROOT)
        names[:] = [name for name in names if not ignored((here / name).as_posix())]
        paths = [(here / name).as_posix() for name in found]
        sent |= {path for path in paths if not ignored(path)}
    return sent


def ignored(path: str) -> bool:
    """Whether .dockerignore leaves a path out: the last line decides that it or a parent fits."""
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    verdict = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = re.escape(line.removeprefix("!")).replace(r"\*\*/", "(?:.*/)?")
        pattern = pattern.replace(r"\*", "[^/]*")
        if any(re.fullmatch(pattern, each) for each in (path, *parents)):
            verdict = not line.startswith("!")
    return verdict
