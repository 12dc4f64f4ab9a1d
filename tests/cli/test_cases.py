"""`case` and `open`: a world becomes a file, and the file a world."""

from __future__ import annotations

import json
import signal
import subprocess
import zipfile
from pathlib import Path

import pytest
import requests

from mock_platform import MockPlatform
from tests.cli.running import run
from tests.live.processes import quick
from tests.waits import PATIENCE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A case with one request, which the command wrote."""
    path = tmp_path / "a case.zip"
    with MockPlatform.start() as platform:
        platform.world("shop").session(auth="oauth1").post("/2/posts", json={"text": "Hi"})
        told = run("case", path, "--world", "shop", MOCK_PLATFORM_URL=platform.base_url)
    assert (0, "") == (told.exit_code, told.stderr)
    assert (
        f"World shop with its 1 request is in {path}. `mock-platform open '{path}'`" in told.stdout
    )
    return path


def change(file: Path, member: str, old: str, new: str) -> None:
    """Replaces a text in a member of a case."""
    with zipfile.ZipFile(file) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    members[member] = members[member].replace(old.encode(), new.encode())
    with zipfile.ZipFile(file, "w") as packed:
        for name, data in members.items():
            packed.writestr(name, data)


def test_replay_says_that_all_is_as_recorded(file: Path) -> None:
    """Its status is 0; another version is named only if there is something to say."""
    told = run("open", file, "--replay")

    assert (0, f"1 request of {file} repeated: every answer is the recorded one.\n") == (
        told.exit_code, told.stdout,
    )  # fmt: skip


def test_replay_names_differences_and_versions(file: Path) -> None:
    """Each with request and place; the status is 1."""
    change(file, "journal.har", '"status":201', '"status":200')
    change(file, "case.json", '"mock_platform":"', '"mock_platform":"0.0.')
    told = run("open", file, "--replay")

    assert 1 == told.exit_code
    assert "request 1, POST /~shop/2/posts: status was 200, is 201\n" == told.stdout
    assert "1 request of" in told.stderr
    assert "1 answer differs. They were recorded with mock_platform 0.0." in told.stderr


@pytest.mark.parametrize("kind", ["pytest", "node"])
def test_the_session_as_a_test(file: Path, kind: str) -> None:
    """It goes to standard output."""
    told = run("case", file, "--as", kind)

    assert 0 == told.exit_code
    assert '"POST", "/2/posts", "{' in told.stdout


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """The message names it."""
    with MockPlatform.start() as platform:
        (tmp_path / "file").write_text("")
        told = run("case", tmp_path / "file" / "x.zip", MOCK_PLATFORM_URL=platform.base_url)

    assert 1 == told.exit_code
    assert "x.zip cannot be written" in told.stderr


def test_what_cannot_be_repeated(tmp_path: Path) -> None:
    """It is said, with status 1, and there is no test of it."""
    with MockPlatform.start(journal_entries=1) as platform:
        for _ in range(2):
            platform.session(auth="bearer").get("/2/users/1")
        file = platform.save_case(tmp_path / "case.zip")

    for words in (("open", file, "--replay"), ("case", file, "--as", "pytest")):
        told = run(*words)
        assert 1 == told.exit_code
        assert "the journal dropped 1 older requests for space" in told.stderr


@pytest.mark.live
@pytest.mark.usefixtures("quick_commands")
@pytest.mark.parametrize("options", [(), ("--replay",)])
def test_open_serves_the_world(file: Path, options: tuple[str, ...]) -> None:
    """On a free port, with its requests in the journal, at the plain address."""
    command = quick("open", file, "--port", 0, *options)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("READY "))
        url = json.loads(line.removeprefix("READY "))["url"]
        found = requests.get(f"{url}/_mock/requests", timeout=PATIENCE).json()["requests"]
        made = found[0]["changes"][0]["id"]
        record = requests.get(f"{url}/_mock/state/posts/{made}", timeout=PATIENCE)
        process.send_signal(signal.SIGINT)
        status = process.wait(timeout=PATIENCE)

    assert [201] == [entry["status"] for entry in found]
    assert 200 == record.status_code
    assert 0 == status
