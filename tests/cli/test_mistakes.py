"""Mistakes on the command line: the message has what is allowed, and none is a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mock_platform.cli.main import group

NO_SERVER = "no server answers at http://127.0.0.1:9/_mock/worlds. Start a server with `mock-"
MISTAKES = [
    ("serve --prot 8080", 2, "No such option '--prot'. Did you mean '--port'?"),
    ("on outage --times 3", 2, "'--times'. Values are written without dashes: times=VALUE."),
    ("make users --name=x", 2, "'--name'. Values are written without dashes: name=VALUE."),
    ("on outage --wrld w", 2, "No such option '--wrld'. Did you mean '--world'?"),
    ("serve --port eighty", 2, "not a valid integer range. Allowed: a number from 0 to 65535."),
    ("serve --port 65536", 2, "65536 is not in the range 0<=x<=65535."),
    ("serve --as-of 2026-13-01", 2, "'2026-13-01' is no moment: month must be in 1..12"),
    ("serve --workers many", 2, "Allowed: a number from 1 to 256."),
    ("serve --names orginal", 2, "Did you mean 'original'?"),
    ("serve --server granain", 2, "Did you mean 'granian'?"),
    ("serve --freeze tomorrow", 2, "'tomorrow' is not an ISO 8601 date-time such as"),
    ("serve --store sqlite:x", 2, "'sqlite:x' is no store: memory, or tinydb:FILE, or redis://"),
    ("serve --fixtures nowhere --port 0", 4, "nowhere:1:1: is no folder of fixture files: it does "
     "not"),
    ("serve --scenario usage-caped --port 0", 4, "Did you mean 'usage-capped'?"),
    ("serve --fixture x", 2, "--fixtures"),
    ("serve --auth of", 2, "'strict', 'off'"),
    ("serve --store state.json", 2, "Did you mean 'tinydb:state.json'?"),
    ("serve --watch", 2, "--watch needs something to watch: a --fixtures folder, or a --scenario "
     "file or folder"),
    ("serve --tls-folder x", 2, "--tls-folder needs --tls"),
    ("serv", 2, "No such command 'serv'. Did you mean 'serve'?"),
    ("run", 2, "The command is missing. For instance: mock-platform run -- pytest -q"),
    ("run --coverage-only tweets.* -- true", 2, "did you mean 'public_posts.*'?"),
    ("run --max-cost abc -- true", 2, "'abc' is not an amount of US dollars: write 0.5"),
    ("run --skip x -- true", 2, "--skip, --methods and --yes need --against URL"),
    ("run --against http://127.0.0.1:1 --skip campaign.list -- true", 2, "Did you mean "
     "'campaigns.list'?"),
    ("run --contract /nowhere.json -- true", 2, "--contract: /nowhere.json"),
    ("run --page --no-verify -- true", 2, "--no-verify leaves out: choose one"),
    ("run --as-of 2026-01-01 --releases all -- true", 2, "choose one"),
    ("run --coverage-baseline nowhere -- true", 2, "--coverage-baseline: nowhere:1:1: cannot be "
     "read: "),
    ("run --coverage=contract.pdf -- true", 2, "--coverage=contract.pdf has no known format"),
    ("check nowhere", 1, "nowhere:1:1: is no folder of fixture files: it does not exist"),
    ("check bad.har", 1, "bad.har:1:1: is no fixture file: those are JSON"),
    ("check", 2, "PATH"),
    ("requests", 1, NO_SERVER),
    ("requests --ended lostt", 2, "Did you mean 'lost'?"),
    ("requests --url localhost:8080", 2, "'localhost:8080' is not an address such as http://"),
    ("clock advance", 2, "clock advance needs a duration: clock advance 1h"),
    ("clock advance tomorrow", 2, "'tomorrow' is not a duration: write seconds (90, 1.5) or a "
     "unit"),
    ("clock freez", 2, "Did you mean 'freeze'?"),
    ("clock travel", 2, "clock travel needs a moment"),
    ("clock advance 1h --to-next", 2, "--to-next is for: clock advance --to-next"),
    ("clock travel --to-next", 2, "--to-next is for: clock advance --to-next"),
    ("clock advance -soon", 2, "'soon' is not a duration"),
    ("clock --wrld w", 2, "No such option '--wrld'. Did you mean '--world'?"),
    ("scenarios outage --format schema", 2, "one schema for all files: leave out NAME"),
    ("pact --har bad.har --url x --consumer a --provider b --out c", 2, "leave out --url and"),
    ("import --har bad.har --to out --host http://x", 2, "'http://x' is not the name of a host"),
    ("diff --base-url http://127.0.0.1:9 --credentials-file cut.json", 2, "cut.json:1:8: not valid "
     "JSON: Expecting value."),
    ("diff --base-url http://127.0.0.1:9 --credentials-file wide.env", 2, "wide.env is not UTF-8 "
     "text; save it as UTF-8."),
    ("diff --base-url http://127.0.0.1:9 --credentials-file nowhere", 2, "nowhere cannot be read: "
     "No such file or directory."),
    ("coverage --baseline nowhere", 1, NO_SERVER),
    ("run --coverage-baseline . -- true", 2, ".:1:1: cannot be read: Is a directory. Write it"),
    ("run --coverage-baseline wide.env -- true", 2, "cannot be read: it is not UTF-8 text."),
    ("run --coverage-baseline long.txt -- true", 2, f"'{'x' * 80}…' is not an operation"),
    ("run --intercept --intercept-hosts wide.env -- true", 2, "cannot be read: it is not UTF-8"),
    ("clock resume 1h", 2, "clock resume takes nothing more"),
    ("case bad.har --as pytest", 4, "bad.har: no zip archive, or a damaged one"),
    ("case x --as nodejs", 2, "Did you mean 'node'?"),
    ("case nowhere.case --as node", 4, "nowhere.case does not exist"),
    ("case new.zip", 1, "no server answers at"),
    ("open nowhere.case", 4, "nowhere.case does not exist. `mock-platform case nowhere.case` "
     "writes"),
    ("open", 2, "Missing argument 'FILE'"),
    ("open bad.har", 4, "bad.har: no zip archive, or a damaged one"),
    ("open bad.har --replay", 4, "bad.har: no zip archive"),
    ("open .", 4, ". cannot be read: Is a directory"),
    ("open bad.har --port 99999", 2, "99999 is not in the range 0<=x<=65535"),
    ("fit nowhere", 2, "Path 'nowhere' does not exist."),
    ("fit . --format jsn", 2, "Did you mean 'json'?"),
    ("make users many", 2, "COUNT is a whole number, got 'many'."),
    ("make users 5", 1, NO_SERVER),
    ("import --har nowhere.har --to out", 4, "nowhere.har: No such file or directory."),
    ("import --har bad.har --to out", 4, "no list `log.entries`: this is JSON, but no HTTP "
     "archive"),
    ("diff", 2, "Give either --base-url URL or --har FILE."),
    ("diff --base-url http://127.0.0.1:9 --only tweets.*", 2, "Did you mean 'public_posts.*'?"),
    ("diff --base-url http://127.0.0.1:9 --only tweets.get", 2, "Did you mean 'public_posts.get'?"),
    ("contract diff", 2, "OLD is missing: a file, or --as-of DATE twice in place of files."),
    ("contract diff a b", 2, "a:1:1: cannot be read: No such file"),
    ("coverage", 1, NO_SERVER),
    ("coverage --url localhost:8080", 2, "'localhost:8080' is not an address such as http://"),
    ("coverage --fail-under -1", 2, "-1.0 is not in the range 0<=x<=100."),
    ("coverage --fail-under 101", 2, "101.0 is not in the range 0<=x<=100."),
    ("coverage --fail-under much", 2, "'much' is not a valid float range."),
    ("coverage --ca none.pem", 2, "File 'none.pem' does not exist."),
    ("mcp --url http://127.0.0.1:9", 1, NO_SERVER),
    ("costs --by tests", 2, "'tests' is not one of 'operation', 'test', 'app', 'day'. Did you "
     "mean 'test'?"),
    ("fidelity --against nowhere", 2, "--against nowhere is neither an address (https://…) nor a "),
    ("where /12/accounts", 2, "A request has a method and a path: mock-platform where"),
    ("where GTE /12/accounts", 1, "GTE is not a method. Methods: GET, HEAD"),
    ("where GET /12/acounts", 1, "GET /12/accounts (accounts.list)"),
    ("where", 2, 'mock-platform where "PUT /12/accounts/1/line_items/2"'),
    ("where PUT", 2, 'mock-platform where "PUT /12/accounts/1/line_items/2"'),
    ("where GET /completely/else", 1, "`mock-platform operations` lists all operations"),
    ("where GET /_mock/health", 1, "belongs to the control plane"),
    ("record --upstream nowhere --out x -- true", 2, "'nowhere' is no base address: give one such "
     "as"),
    ("scenarios --scenario outage", 2, "--scenario is for the package's list"),
    ("verify", 2, "The command is missing. For instance: mock-platform verify -- pytest -q"),
    ("verify --accepted x -- true", 2, "need --against URL"),
    ("verify --verify -- true", 2, "No such option"),
    ("verify --as-of 2026-01-01,soon -- true", 2, "'--as-of': 'soon' is not"),
    ("verify --as-of 2026-01-01,2026-01-01 -- true", 2, "2026-01-01 is there twice"),
    ("verify --as-of 2026-01-01 --coverage -- true", 2, "run --as-of DATE"),
    ("verify --as-of 2026-01-01", 2, "The command is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "status", "told"), MISTAKES)
def test_what_a_mistake_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, status: int, told: str
) -> None:
    """The command ends with a status of its own, and one message says what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.har").write_text('{"log": {}}', "utf-8")
    (tmp_path / "cut.json").write_text('{"app":', "utf-8")
    (tmp_path / "wide.env").write_text("MOCK_PLATFORM_BEARER_TOKEN=x", "utf-16")
    (tmp_path / "long.txt").write_text("x" * 500, "utf-8")

    found = CliRunner().invoke(
        group,
        words.split(),
        auto_envvar_prefix="MOCK_PLATFORM",
        env={"MOCK_PLATFORM_URL": "http://127.0.0.1:9"},
    )

    is_check = words in {"check nowhere", "check bad.har"}  # prints faults as what was asked for
    assert status == found.exit_code
    assert told in " ".join((found.stdout if is_check else found.stderr).split())
    assert is_check == bool(found.stdout)
    assert "Traceback" not in found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
