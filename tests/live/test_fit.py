"""The first test that `fit` prints works, and the libraries of node are as they are known."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from docs.generators.clients import FILE, write_node
from mock_platform.core.jsonio import loads
from tests.commands import environment, finished
from tests.live.processes import quick

pytestmark = pytest.mark.live

BOT = """\
import os

import tweepy

keys = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
client = tweepy.Client(None, *(os.environ[f"TWITTER_{name}"] for name in keys))
names = [os.environ.get("TWITTER_CONSUMER_KEY"), os.environ.get("TWITTER_CONSUMER_SECRET"),
         os.environ.get("TWITTER_ACCESS_TOKEN"), os.environ.get("TWITTER_ACCESS_TOKEN_SECRET")]
print(client.create_tweet(text="Fresh").data["id"])
"""


def test_the_first_test_passes(tmp_path: Path) -> None:
    """The program reaches the sandbox with its keys, unchanged."""
    (tmp_path / "bot.py").write_text(BOT)
    command = quick("fit", "--format", "json", tmp_path)
    told = json.loads(finished(command, env=environment(), check=True).stdout)
    (tmp_path / "test_with_sandbox.py").write_text(told["summary"]["first_test"])

    pytest_ = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:randomly"]
    ran = finished([*pytest_, "test_with_sandbox.py"], cwd=tmp_path, env=environment())

    assert 0 == ran.returncode, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout
    assert any(line.isdecimal() and len(line) > 15 for line in ran.stdout.splitlines())


def test_the_libraries_of_node_are_as_they_are_known(node_modules: Path) -> None:
    """The file has what is read from the packages as npm installs them."""
    told = f"run python -m docs.generators.clients {node_modules}"

    assert write_node(node_modules).items() <= loads(FILE.read_bytes()).items(), told
