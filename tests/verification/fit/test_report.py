from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mock_platform.cli.main import group

BOT = """\
import os
import tweepy
client = tweepy.Client(os.environ["TWITTER_BEARER_TOKEN"])
client.create_tweet(text="x")
"""


def run(*args: str) -> tuple[int, str]:
    """The status and the output of `fit`."""
    done = CliRunner().invoke(group, ["fit", *args])
    return done.exit_code, done.output


def test_calls_ways_and_a_first_test(tmp_path: Path) -> None:
    """For people: each call with its place, then what to do."""
    (tmp_path / "bot.py").write_text(BOT)

    status, text = run(str(tmp_path))

    assert 0 == status
    assert text.startswith(
        "bot.py:4: POST /2/tweets: renamed  public_posts.create\n    here it is "
    )
    assert "Calls of the platform: 1. Files: 1." in text
    assert "sh -c 'TWITTER_BEARER_TOKEN=$MOCK_PLATFORM_BEARER_TOKEN CMD'" in text
    assert "client.session.mount" in text
    assert 'journal.find(operation="public_posts.create")' in text


@pytest.mark.parametrize("form", ["text", "json"])
def test_addresses_do_not_control_the_terminal(tmp_path: Path, form: str) -> None:
    """What a project has in an address is shown without control characters."""
    (tmp_path / "bot.py").write_text(
        "import requests\n"
        r'requests.get("https://api.x.com/2/\x1b[2J\x9b\u202e\nFiles: 0")'
        "\n"
    )

    _, text = run(str(tmp_path), "--format", form)

    assert r"\u202e\nFiles: 0" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_for_programs(tmp_path: Path) -> None:
    """The names that programs rely on, and status 1 if a call is not served."""
    (tmp_path / "bot.js").write_text(
        "const BASE = process.env.X_BASE || 'https://api.x.com';\nfetch(`${BASE}/2/nothing`);\n"
        "fetch(`${BASE}/2/tweets/1`, { method: 'DELETE' });"
    )

    done = CliRunner().invoke(group, ["fit", "--format", "json", str(tmp_path)])
    shown = json.loads(done.stdout)

    assert 1 == done.exit_code
    assert "Error: 1 of 2 calls are not served." in done.stderr
    missing, renamed = shown["calls"]
    assert ("bot.js", 2, "GET", "/2/nothing", "missing") == tuple(
        missing[key] for key in ("file", "line", "method", "path", "status")
    )
    assert "operation" not in missing
    assert ("public_posts.delete", "renamed") == (renamed["operation"], renamed["status"])
    assert {"missing": 1, "renamed": 1, "served": 0} == {
        key: shown["summary"][key] for key in ("missing", "renamed", "served")
    }
    assert any(way.startswith("address: X_BASE=$MOCK") for way in shown["summary"]["ways"])
    assert "MockPlatform.connect()" in shown["summary"]["first_test"]


@pytest.mark.parametrize("name", ["nowhere", "empty", "notes.txt"])
def test_where_there_is_nothing(tmp_path: Path, name: str) -> None:
    """A PATH that does not exist is wrong usage; a folder without sources has no calls."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()

    status, text = run(str(tmp_path / name))

    assert (2 if name == "nowhere" else 0) == status
    assert ("does not exist" if name == "nowhere" else "Calls of the platform: 0.") in text
