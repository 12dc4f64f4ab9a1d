"""Commands whose output, or input, leads nowhere: in processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.commands import finished

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no /dev/full")

COMMAND = f"exec {sys.executable} -m mock_platform"


@pytest.mark.parametrize("words", ["operations", "docs", "--help", "scenarios --format json"])
def test_a_full_disk_is_told(words: str) -> None:
    """What cannot be printed ends with status 1 and one line, not with a traceback."""
    ended = finished(["sh", "-c", f"{COMMAND} {words} >/dev/full"])

    assert 1 == ended.returncode
    assert "Error: the output cannot be written: No space left on device.\n" == ended.stderr


def test_an_interrupted_command_has_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with the status of shells for it: 1 would say that a server differs."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mock_platform.cli.printing.operations_text", interrupt)

    result = run("operations")

    assert (130, "") == (result.exit_code, result.output)


def test_closed_streams_are_as_if_they_led_nowhere(tmp_path: Path) -> None:
    """A daemon without streams can run commands: nothing is printed, read, or left undone."""
    printed = finished(["sh", "-c", f"{COMMAND} scenarios >&-"])
    asked = finished(
        ["sh", "-c", f"{COMMAND} diff --base-url http://127.0.0.1:9 --only users.get <&-"],
        env={"MOCK_PLATFORM_BEARER_TOKEN": "x", "PATH": "/usr/bin:/bin"},
    )
    ran = finished(["sh", "-c", f"{COMMAND} run -- sh -c 'echo here; echo >{tmp_path}/ran' >&-"])

    assert (0, "") == (printed.returncode, printed.stderr)
    assert 2 == asked.returncode
    assert "Nothing was sent. Use --yes" in asked.stderr
    assert (0, "", True) == (ran.returncode, ran.stderr, (tmp_path / "ran").exists())
