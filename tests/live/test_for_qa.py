"""The page for QA engineers, walked as it is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.live.pages import Page, run_bash_of_a_stranger
from tests.live.processes import Served
from tests.prepared_commands import PreparedCommands

pytestmark = pytest.mark.live

PAGE = Page("docs/for-qa.md")


_CHECK = re.compile(r"^mock-platform check (.+)\n", re.MULTILINE)


def check_at_the_end(script: str) -> str:
    """The script with its first check as copied, and all later files in one check at its end."""
    first = _CHECK.search(script)
    assert first is not None
    begun, rest = script[: first.end()], script[first.end() :]
    files = _CHECK.findall(rest)
    assert len(files) > 3
    return f"{begun}{_CHECK.sub('', rest)}\nmock-platform check {' '.join(files)}\n"


def test_every_block_is_tried() -> None:
    """No language is there that nothing below runs; `console` shows, it is not to be copied."""
    assert {"console", "bash", "python"} == PAGE.languages


def test_the_commands_work_one_after_the_other(
    prepared_commands: PreparedCommands, served: Served, tmp_path: Path
) -> None:
    """From the first call that works to the refusal of one's own scenario."""
    script = "\n".join(PAGE.blocks("bash")).replace("http://127.0.0.1:8080", served.url)
    prepared_commands.make_environment(tmp_path / ".venv")
    done = run_bash_of_a_stranger(check_at_the_end(script), tmp_path)

    assert 0 == done.returncode, done.stderr
    codes = re.findall(r'"code":"([A-Z_]+)"', done.stdout)
    asked = ["ACCOUNT_NOT_FOUND", "SERVICE_UNAVAILABLE", "LINE_ITEM_NOT_FOUND", "TOO_MANY_REQUESTS"]
    assert asked == codes[:4]
    assert "lost with status 56" in done.stdout
    assert ("INVALID_PARAMETER", 1) == (codes[-1], done.stdout.count("That name is taken"))
    assert "status 1" in done.stdout
    assert "Scenario bad-day, rule 1, was expected to act but never did" in done.stderr
    assert re.search(r'"matched": 3,\s+"fired": 3,\s+"remaining": null', done.stdout)
