"""The pages on the contract, comparing and recording: their commands are run, or at least read."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import click
import pytest
import requests
from click.testing import CliRunner

from mock_platform import MockPlatform
from mock_platform.cli.main import group
from mock_platform.cli.printing import credentials_text
from mock_platform.verification.compare.accepted import read_accepted
from tests.live.pages import Page

pytestmark = pytest.mark.live

CONTRACT, COMPARE = Page("docs/contract.md"), Page("docs/compare.md")
RECORD = Page("docs/record-and-import.md")
CLIENT = """
import os, requests
account = os.environ["MOCK_PLATFORM_URL"] + "/12/accounts/" + os.environ["MOCK_PLATFORM_ACCOUNT_ID"]
keys = {"Authorization": "Bearer " + os.environ["MOCK_PLATFORM_BEARER_TOKEN"]}
assert requests.get(account + "/line_items", headers=keys).ok
assert requests.get(account + "/line_items/nothing", headers=keys).status_code == 404
"""


def list_commands(page: Page, language: str) -> list[str]:
    """The lines of a page's blocks that call the command."""
    lines = [line for block in page.blocks(language) for line in block.splitlines()]
    return [line for line in lines if line.startswith("mock-platform ")]


@pytest.fixture(scope="module")
def platform() -> Iterator[MockPlatform]:
    """A sandbox that a client has used."""
    with MockPlatform.start() as started:
        account = started.credentials["accounts"][0]
        items = f"{started.ads_base_url}/12/accounts/{account}/line_items"
        session = started.session(auth="oauth1")
        first = session.get(items, params={"count": 1}).json()["data"][0]["id"]
        assert session.put(f"{items}/{first}", params={"name": "New"}).ok
        assert session.get(f"{items}/{first}").ok
        yield started


@pytest.fixture(scope="module")
def folder(platform: MockPlatform, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name."""
    made = tmp_path_factory.mktemp("pages")
    archive = requests.get(f"{platform.control_url}/requests.har")
    (made / "traffic.har").write_bytes(archive.content)
    for name in ("mine.env", "ci.env"):
        (made / name).write_text(credentials_text("env", ()))
    return made


def test_every_block_is_tried() -> None:
    """No language is there that nothing below runs or reads."""
    assert {"bash", "python"} == CONTRACT.languages
    assert {"text", "yaml"} == COMPARE.languages
    assert {"text"} == RECORD.languages


def test_the_contract_page_works_from_top_to_bottom(
    platform: MockPlatform, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document, its comparison, both Pact files, their verification, and the gate."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PACT_DO_NOT_TRACK", "true")
    monkeypatch.setenv("MOCK_PLATFORM_URL", platform.base_url)
    port = platform.base_url.rpartition(":")[2]
    (program,) = CONTRACT.blocks("python")
    program = program.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace("8080", port)
    client = shlex.join([sys.executable, "-c", CLIENT])

    for line in list_commands(CONTRACT, "bash"):
        words = shlex.split(line.replace("npm test", client))[1:]
        done = CliRunner().invoke(group, words, prog_name="mock-platform")
        assert done.exit_code == 0, (line, done.output)
        if "pact" in words:
            exec(compile(program, "docs/contract.md", "exec"), {})

    assert "openapi" in json.loads((folder / "contract.json").read_text())
    assert 3 == len(json.loads((folder / "shop-platform.json").read_text())["interactions"])


@pytest.mark.parametrize(
    "command", [*list_commands(COMPARE, "text"), *list_commands(RECORD, "text")]
)
def test_options_of_the_other_pages_are_known(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command is read without a complaint; it is not run, since it needs the real service."""
    monkeypatch.chdir(folder)
    name, *words = shlex.split(command)[1:]

    context = group.commands[name].make_context(name, words)

    assert isinstance(context, click.Context)


def test_what_needs_no_service_is_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive is compared, and imported."""
    monkeypatch.chdir(folder)
    commands = [*list_commands(COMPARE, "text"), *list_commands(RECORD, "text")]

    for line in [each for each in commands if each.split()[2] == "--har"]:
        done = CliRunner().invoke(group, shlex.split(line)[1:], prog_name="mock-platform")
        assert done.exit_code == 0, (line, done.output)

    assert (folder / "recorded" / "line_items.json").exists()


def test_the_file_of_accepted_differences_is_one(tmp_path: Path) -> None:
    """The entry that the page shows is read."""
    file = tmp_path / "accepted.yaml"
    file.write_text(COMPARE.blocks("yaml")[0])

    (entry,) = read_accepted(file)

    assert ("5b0e8b93a1", date(2027, 1, 31)) == (entry.id, entry.expires)
