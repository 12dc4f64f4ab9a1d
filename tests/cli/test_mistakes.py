"""Mistakes on the command line: the message has what is allowed, and none is a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mock_platform.cli.main import group

NO_SERVER = "no server answers at http://127.0.0.1:9/_mock/worlds. Start a server with `mock-"
MISTAKES = [
    ("serve --prot 8080", "No such option '--prot'. (Did you mean one of: '--host', '--port'?)"),
    ("serve --port eighty", "not a valid integer range. Allowed: a number from 0 to 65535."),
    ("serve --port 99999", "99999 is not in the range 0<=x<=65535."),
    ("serve --workers many", "Allowed: a number from 1 to 256."),
    ("serve --names orginal", "Did you mean 'original'?"),
    ("serve --server granain", "Did you mean 'granian'?"),
    ("serve --freeze tomorrow", "'tomorrow' is not an ISO 8601 date-time such as"),
    ("serve --store sqlite:x", "'sqlite:x' is no store: memory, or tinydb:FILE, or redis://"),
    (
        "serve --fixtures nowhere --port 0",
        "nowhere:1:1: is no folder of fixture files: it does not",
    ),
    ("serve --scenario usage-caped --port 0", "Did you mean 'usage-capped'?"),
    ("serv", "No such command 'serv'. Did you mean 'serve'?"),
    ("run", "The command is missing. For instance: mock-platform run -- pytest -q"),
    ("run --coverage-only tweets.* -- true", "did you mean 'public_posts.*'?"),
    ("run --max-cost abc -- true", "'abc' is not an amount of US dollars: write 0.5"),
    ("check nowhere", "nowhere:1:1: is no folder of fixture files: it does not exist"),
    ("check bad.har", "bad.har:1:1: is no fixture file: those are JSON"),
    ("requests", NO_SERVER),
    ("requests --ended lostt", "Did you mean 'lost'?"),
    ("requests --url localhost:8080", "'localhost:8080' is not an address such as http://"),
    ("clock advance", "clock advance needs a duration: clock advance 1h"),
    ("clock advance tomorrow", "'tomorrow' is not a duration: write seconds (90, 1.5) or a unit"),
    ("clock freez", "Did you mean 'freeze'?"),
    ("case bad.har --as pytest", "bad.har: no zip archive, or a damaged one"),
    ("case x --as nodejs", "Did you mean 'node'?"),
    ("open nowhere.case", "nowhere.case does not exist. `mock-platform case nowhere.case` writes"),
    ("fit nowhere", "Path 'nowhere' does not exist."),
    ("fit . --format jsn", "Did you mean 'json'?"),
    ("make users many", "COUNT is a whole number, got 'many'."),
    ("make users 5", NO_SERVER),
    ("import --har nowhere.har --to out", "nowhere.har: No such file or directory."),
    ("import --har bad.har --to out", "no list `log.entries`: this is JSON, but no HTTP archive"),
    ("diff", "Give either --base-url URL or --har FILE."),
    ("diff --base-url http://127.0.0.1:9 --only tweets.*", "Did you mean public_posts.*?"),
    ("diff --base-url http://127.0.0.1:9 --only tweets.get", "Did you mean public_posts.get?"),
    ("verify --as-of soon -- true", "'soon' is not an ISO 8601 date-time"),
    ("contract diff", "OLD is missing: a file, or --as-of DATE twice in place of files."),
    ("contract diff a b", "a: No such file or directory."),
    ("coverage", "http://127.0.0.1:9 has no coverage: no server answers there."),
    ("mcp --url http://127.0.0.1:9", NO_SERVER),
    ("costs --by tests", "Did you mean 'test'?"),
    ("fidelity --against nowhere", "--against nowhere is neither an address (https://…) nor a "),
    ("where /12/accounts", "A request has a method and a path: mock-platform where"),
    ("where GTE /12/accounts", "GTE is not a method. Methods: GET, HEAD"),
    ("where GET /12/acounts", "GET /12/accounts (accounts.list)"),
    ("record --upstream nowhere --out x -- true", "'nowhere' is no base address: give one such as"),
]


@pytest.mark.parametrize(("words", "told"), MISTAKES)
def test_what_a_mistake_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, told: str
) -> None:
    """The command ends with a status of its own, and one message says what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.har").write_text('{"log": {}}', "utf-8")

    found = CliRunner().invoke(
        group,
        words.split(),
        auto_envvar_prefix="MOCK_PLATFORM",
        env={"MOCK_PLATFORM_URL": "http://127.0.0.1:9"},
    )

    assert found.exit_code in {1, 2, 4}
    assert told in " ".join(found.output.split())
    assert "Traceback" not in found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
