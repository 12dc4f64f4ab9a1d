"""Programs whose library does not look at the proxy, or not at its authority, reach the sandbox."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from mock_platform import MockPlatform
from mock_platform.cli.enclosure import CannotEnclose, Enclosure
from mock_platform.cli.main import group
from mock_platform.settings import ConnectionSettings
from tests.commands import environment, finished
from tests.conftest import Tool
from tests.live.processes import quick

pytestmark = pytest.mark.live

PROGRAMS = Path(__file__).parent / "programs"
PYTHON_PROGRAM = PROGRAMS / "past_the_proxy.py"
HOOKED = ("requests", "prepared", "own_file", "httpx", "aiohttp", "httplib2")
"""Libraries that what runs at Python's start leads here, on any system."""
ADDRESS = "https://api.x.com/2/openapi.json"
RUN = quick("run", "--intercept", "--explain", "--")
MISSING = "has no hosts file of its own"
OTHERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "curl": (("curl",), ("--noproxy", "*", "-sS", "-o", os.devnull, "-w", "%{http_code}", ADDRESS)),
    "java": (("java",), (str(PROGRAMS / "PastTheProxy.java"),)),
    "perl": (("perl",), (
        "-MHTTP::Tiny", "-e", "print HTTP::Tiny->new(http_proxy => undef, all_proxy => undef)"
        '->get("http://api.x.com/2/openapi.json")->{status}',
    )),
    "ruby": (("ruby", "ruby3.1"), (
        "-rnet/http", "-e", 'h = Net::HTTP.new("api.x.com", 443, nil); h.use_ssl = true; '
        'puts h.get("/2/openapi.json").code',
    )),
    "php": (("php", "php8.2"), (
        "-r", f'file_get_contents("{ADDRESS}"); echo explode(" ", $http_response_header[0])[1];',
    )),
}  # fmt: skip
"""Programs by language: names of the interpreter, and its arguments."""
LANGUAGES = [
    language
    for language, (names, _) in OTHERS.items()
    if language not in {"ruby", "php"} or any(map(shutil.which, names))
]
"""All but those of which machines for tests often have no interpreter, unless this one has it."""
PLAIN = {"perl"}
"""Languages whose program uses no TLS."""


def run(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A command under `run --intercept --explain`."""
    return finished([*RUN, *command], env=environment(**env))


@dataclass(frozen=True)
class Enclosed:
    """What a shell did under `run`, one program after the other, before it was killed."""

    folder: Path
    languages: Sequence[str]
    ran: subprocess.CompletedProcess[str]

    def read(self, name: str) -> str:
        """What a program wrote."""
        return (self.folder / name).read_text("utf-8")


@pytest.fixture(scope="module")
def enclosed(python_libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Enclosed:
    """One command for all programs: to start a server takes longer than any of them.

    Without a system that lays files over a command's, the tests are skipped.
    """
    folder = tmp_path_factory.mktemp("enclosed")
    sdk = folder / "vendor" / "some" / "sdk" / "src" / "cacert.pem"
    sdk.parent.mkdir(parents=True)
    sdk.write_text("none\n")
    found = {name: next(filter(None, map(shutil.which, OTHERS[name][0])), None) for name in OTHERS}
    programs = {name: [path, *OTHERS[name][1]] for name, path in found.items() if path is not None}
    lines = [f"{shlex.join(words)} > {name}" for name, words in programs.items()]
    library = shlex.join([sys.executable, str(PYTHON_PROGRAM), "pycurl"])
    lines += [
        f'PYTHONPATH="$PYTHONPATH:{python_libraries}" {library} > libcurl 2>&1',
        f"curl --noproxy '*' -sS --cacert {sdk} -o /dev/null -w '%{{http_code}}' {ADDRESS} > sdk",
        "head -2 /etc/hosts > hosts", "bash -c 'kill -PIPE $$'; echo $? > pipe", "kill -9 $$",
    ]  # fmt: skip
    ran = finished([*RUN, "sh", "-c", "\n".join(lines)], cwd=folder, env=environment())
    if MISSING in ran.stderr:
        pytest.skip(ran.stderr.splitlines()[0])
    return Enclosed(folder, [*programs], ran)


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_program(enclosed: Enclosed, language: str, tool: Tool) -> None:
    """What uses the system's names and authorities is answered."""
    tool(*OTHERS[language][0])

    assert "200" == enclosed.read(language).strip(), enclosed.ran.stderr


def test_libcurl(enclosed: Enclosed) -> None:
    """Libcurl as a library of Python, without what runs at Python's start for other libraries."""
    assert "pycurl 200\n" == enclosed.read("libcurl"), enclosed.ran.stderr


def test_hosts_are_named(enclosed: Enclosed) -> None:
    """`--explain` counts the connections of all programs, whatever their language."""
    plain = len(PLAIN & {*enclosed.languages})
    others = len(enclosed.languages) - plain + 2  # libcurl, and curl with an SDK's authorities

    for count, port in ((plain, 80), (others, 443)):
        assert not count or f" {count} x api.x.com:{port}: answered here" in enclosed.ran.stderr


def test_what_the_command_sees(enclosed: Enclosed) -> None:
    """Its files are its own, an SDK's authorities too; the machine's are as before."""
    sdk = enclosed.folder / "vendor" / "some" / "sdk" / "src" / "cacert.pem"

    assert "127.77.80.1 x.com\n127.77.80.2 api.x.com\n" == enclosed.read("hosts")
    assert "200" == enclosed.read("sdk")
    assert "127.77.80" not in Path("/etc/hosts").read_text("utf-8")
    assert "none\n" == sdk.read_text("utf-8")


def test_the_end_of_the_command(enclosed: Enclosed) -> None:
    """Its status and the signals that it knows are as without a namespace."""
    assert (137, "141\n") == (enclosed.ran.returncode, enclosed.read("pipe"))


def test_libraries_of_python(python_libraries: Path) -> None:
    """On any system: each library that is built on Python's own sockets and TLS is answered."""
    with MockPlatform.start() as platform, platform.intercept() as variables:
        path = os.pathsep.join([variables["PYTHONPATH"], str(python_libraries)])
        command = [sys.executable, str(PYTHON_PROGRAM), *HOOKED]
        ran = finished(command, env={**os.environ, "PYTHONPATH": path})

        assert (0, [f"{name} 200" for name in HOOKED]) == (
            ran.returncode, ran.stdout.splitlines(),
        ), ran.stderr  # fmt: skip
        assert len(HOOKED) == platform.journal.count(status=200)


def test_node(tool: Tool) -> None:
    """On any system: agents of one's own, plain http, and HTTP/2 are answered."""
    settings = ConnectionSettings(http2=True)
    with MockPlatform.start(connection=settings) as platform, platform.intercept():
        ran = finished([tool("node"), str(PROGRAMS / "past_the_proxy.cjs")])

    assert (0, ["agent 200", "http 200", "http2 200"]) == (
        ran.returncode, sorted(ran.stdout.splitlines()),
    ), ran.stderr  # fmt: skip


def test_a_start_file_of_the_user(tmp_path: Path) -> None:
    """Python still runs it, and finds no folder of ours."""
    (tmp_path / "sitecustomize.py").write_text("MINE = 1\n")
    code = (
        "import sys, sitecustomize; print(sitecustomize.MINE, [p for p in sys.path "
        "if p.endswith('start_up')])"
    )

    with pytest.MonkeyPatch.context() as patch, MockPlatform.start() as platform:
        patch.setenv("PYTHONPATH", str(tmp_path))
        with platform.intercept():
            ran = finished([sys.executable, "-c", code])

    assert (0, "1 []\n") == (ran.returncode, ran.stdout), ran.stderr


@pytest.mark.usefixtures("enclosed")
def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    """It is refused as without a namespace."""
    (file := tmp_path / "text").write_text("text")

    ran = run(str(file))

    assert (126, True) == (ran.returncode, f"{file} cannot be run" in ran.stderr)


def test_other_hosts_are_named() -> None:
    """`--explain` lists them too, and says that nothing stopped them; the status is passed on."""
    ran = run(sys.executable, "-c", "import socket; socket.create_connection(('no.invalid', 443))")

    assert ran.returncode == 1
    assert "past the proxy: 1 x no.invalid:443: not answered here, and not stopped" in ran.stderr


def test_where_the_system_does_not_allow_it() -> None:
    """The command runs with the proxy alone; the reason is said, and what cannot be seen."""
    code = (
        "import platform, sys; platform.machine = lambda: 'other'; from mock_platform.cli.main "
        f"import main; sys.argv[1:] = {[*RUN[1:], 'echo', 'done']}; main()"
    )

    ran = finished([sys.executable, "-c", code])

    assert (0, "done\n") == (ran.returncode, ran.stdout), ran.stderr
    assert f"the command {MISSING} (other: its system calls are not known here)" in ran.stderr
    assert "other programs than those in Python and node cannot be seen" in ran.stderr


@pytest.mark.parametrize("option", ["--explain", "--no-enclose"])
def test_options_that_need_the_proxy(option: str) -> None:
    """Alone they are refused."""
    refused = CliRunner().invoke(group, ["run", option, "--", "true"])

    assert (2, True) == (refused.exit_code, f"{option} needs --intercept" in refused.output)


def test_without_files_of_its_own() -> None:
    """With `--no-enclose` the command sees the machine's files, as was asked for."""
    ran = finished([*RUN[:-1], "--no-enclose", "--", "cat", "/etc/hosts"])

    assert (0, Path("/etc/hosts").read_text("utf-8")) == (ran.returncode, ran.stdout)
    assert MISSING not in ran.stderr
    assert "cannot be seen: --no-enclose was given" in ran.stderr


def test_other_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there are no such namespaces, the command is not started."""
    monkeypatch.setattr(sys, "platform", "darwin")
    (tmp_path / "ca.pem").write_text("")

    with pytest.raises(CannotEnclose, match="only Linux"):
        Enclosure(["x.com"], tmp_path / "ca.pem", 1).start(["true"], {})
