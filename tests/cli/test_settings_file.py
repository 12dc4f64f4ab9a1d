"""`mock-platform.toml`, as `serve`, `run`, `check` and pytest read it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mock_platform.cli.server_context import ServeOptions
from mock_platform.core.settings_file import FILE_NAME
from tests.cli.running import run

GOOD = """\
[serve]
port = 0
strict = true
markers = false
fixtures = ["fx", "/else"]
store = "tinydb:kept.json"
delivery-timeout = 1.5
freeze = 2026-03-01T12:00:00Z

[run]
wire = "recorded,missing=200"

[pytest]
mock-names = "original"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the file; the commands run in one below it."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return tmp_path


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[ServeOptions]:
    """What `serve` was asked for, instead of serving."""
    asked: list[ServeOptions] = []
    monkeypatch.setattr("mock_platform.cli.serving.serve_until_stopped", asked.append)
    return asked


def test_the_file_is_found_above_and_its_paths_begin_there(
    folder: Path, served: list[ServeOptions]
) -> None:
    """Values of each kind reach the settings, and it is said that the file was read."""
    (folder / FILE_NAME).write_text(GOOD)

    told = run("serve").stderr

    (options,) = served
    settings = options.settings
    assert f"Options of {folder / FILE_NAME} are used.\n" == told
    assert (0, True, False) == (settings.port, settings.strict, settings.markers)
    assert (folder / "fx", Path("/else")) == settings.fixtures
    assert f"tinydb:{folder / 'kept.json'}" == settings.store
    assert 1.5 == settings.delivery.timeout
    assert datetime(2026, 3, 1, 12, tzinfo=UTC) == settings.freeze


def test_the_command_line_wins_then_the_environment(
    folder: Path, served: list[ServeOptions]
) -> None:
    """The file counts where neither says anything."""
    (folder / FILE_NAME).write_text("[serve]\nseed = 1\n")

    run("serve")
    run("serve", MOCK_PLATFORM_SERVE_SEED="2")
    run("serve", "--seed", "3", MOCK_PLATFORM_SERVE_SEED="2")

    assert [1, 2, 3] == [each.settings.seed for each in served]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[serve]\n  prot = 1", ":2:3: [serve] has no option 'prot'. Did you mean 'port'?"),
        ("[run]\nport = 1", ":2:1: [run] has no option 'port'."),
        ("[serve]\n\nport = 65536", ":3:1: port: 65536 is not in the range 0<=x<=65535."),
        ("[serve]\nstrict = 1", ":2:1: strict: 1 is not true or false."),
        ("[serve]\nwire = 'recorded,mising=200'", ":2:1: wire: a wire has no 'mising', but rules"),
        ("[serve]\nhost = ['a', 'b']", ":2:1: host: it is one value, not a list."),
        ("[serve]\nhost = {a = 1}", ":2:1: host: {'a': 1} is neither text nor a number."),
        ("[pytest]\nmock-name = 'x'", ":2:1: [pytest] has no option 'mock-name'. Did you mean "),
        ("[server]\nport = 1", ":1:1: 'server' is no table of this file; it has [serve], [run], "),
        ("port = 1", ":1:1: 'port' is outside of a table; write it below one of [serve], "),
        ("[serve\n", ":1:7: Expected ']' at the end of a table declaration."),
    ],
)
def test_faults_have_their_line_and_what_is_allowed(folder: Path, text: str, fault: str) -> None:
    """`check` finds them; a command that reads the table does not start."""
    (folder / FILE_NAME).write_text(text)

    checked = run("check")

    assert (1, True) == (checked.exit_code, f"{folder / FILE_NAME}{fault}" in checked.stdout)
    if not text.startswith(("[pytest", "[run")):
        refused = run("serve")
        assert (2, True) == (refused.exit_code, fault in refused.stderr)


def test_a_file_without_faults_is_checked_by_its_name_too(folder: Path) -> None:
    """The file of another folder."""
    (folder / FILE_NAME).write_text(GOOD)

    assert (0, 0) == (run("check").exit_code, run("check", str(folder / FILE_NAME)).exit_code)


def test_pytest_reads_its_table(pytester: pytest.Pytester) -> None:
    """The command line wins; what is no option is refused with its line."""
    pytester.makepyfile("def test_it(request): print(request.config.getoption('mock_names'))")
    file = pytester.path / FILE_NAME

    file.write_text(GOOD)
    pytester.runpytest_inprocess("-s").stdout.fnmatch_lines(["*original*"])
    pytester.runpytest_inprocess("-s", "--mock-names=neutral").stdout.fnmatch_lines(["*neutral*"])
    file.write_text("[pytest]\nmock-name = 'original'")
    refused = pytester.runpytest_inprocess()

    assert pytest.ExitCode.USAGE_ERROR == refused.ret
    refused.stderr.fnmatch_lines(["*:2:1: ?pytest? has no option 'mock-name'. Did you mean*"])
