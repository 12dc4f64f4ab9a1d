"""The commands that act on a running server."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner, Result

from mock_platform import MockPlatform
from mock_platform.cli.live_commands import LIVE_COMMANDS
from mock_platform.cli.main import group
from mock_platform.cli.remote_commands import pass_messages
from tests.commands import python
from tests.live.processes import quick

LIVE = (
    "on rate-limited", "on rate-limitd", "off", "clock", "clock advance 1h", "requests", "worlds",
    "costs --by test", "case case.zip", "make users 2 location=Lima", "mcp", "reset",
    "scenarios --format text",
)  # fmt: skip
"""Commands that only ask a running server; the second one is a mistake."""
HEAVY = (
    "mock_platform.api.served", "mock_platform.platform", "mock_platform.scenario.document",
    "mock_platform.world.world", "apispec", "flask", "jinja2", "marshmallow", "oauthlib", "ruamel",
    "tinydb", "werkzeug",
)  # fmt: skip
"""What takes longer to load than such a command to run."""

Run = Callable[..., Result]


@pytest.fixture
def server() -> Iterator[MockPlatform]:
    """A running server."""
    with MockPlatform.start() as platform:
        yield platform


@pytest.fixture
def run(server: MockPlatform) -> Run:
    """Runs a command that finds the server in the environment."""

    def run(*words: str | Path, input: str | None = None, **env: str) -> Result:
        found = {"MOCK_PLATFORM_URL": server.base_url} | env
        return CliRunner().invoke(group, [str(word) for word in words], input=input, env=found)

    return run


def call(server: MockPlatform, prefix: str = "") -> int:
    """The status of a list of accounts, by bearer token."""
    token = {"Authorization": f"Bearer {server.credentials['bearer_token']}"}
    address = f"{server.base_url}{prefix}/12/accounts"
    return requests.get(address, headers=token, timeout=60).status_code


def test_on_and_off_switch_a_scenario(run: Run, server: MockPlatform) -> None:
    """A scenario acts between `on` and `off`; values are JSON if they can be."""
    on = run("on", "rate-limited", "on=accounts.list", "limit=1", "window=60")
    statuses = [call(server), call(server)]
    off = run("off", "rate-limited")

    assert [200, 429] == statuses
    assert (0, 'rate-limited on="accounts.list" limit=1 window=60 is on in world default.\n') == (
        on.exit_code, on.stdout,
    )  # fmt: skip
    assert (0, "rate-limited is off in world default.\n") == (off.exit_code, off.stdout)
    assert 200 == call(server)


def test_off_without_name_switches_all_off(run: Run) -> None:
    """The command says which were on; a scenario that was not on is no failure."""
    run("on", "outage")

    assert "All scenarios are off in world default (was on: outage).\n" == run("off").stdout
    assert "outage is off in world default. It was not on.\n" == run("off", "outage").stdout


def test_mcp_passes_messages_on(run: Run, server: MockPlatform) -> None:
    """A line in, a line out; a notice has no answer, and a world in the command is the only one."""
    server.world("w1")
    moves = [("reset_world", {}), ("reset_world", {"world": "default"})]
    messages: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            for number, (name, given) in enumerate(moves, 2)
            for params in [{"name": name, "arguments": given}]
        ),
    ]
    lines = "\n".join([*map(json.dumps, messages), "", "{bad"])

    ended = run("mcp", "--world", "w1", input=lines)

    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert 0 == ended.exit_code
    assert [1, 2, 3, None] == [answer["id"] for answer in answers]
    assert "World w1 is at its start." in answers[1]["result"]["content"][0]["text"]
    assert answers[2]["result"]["isError"]
    assert -32700 == answers[3]["error"]["code"]


@pytest.mark.parametrize(
    ("runs", "told"), [(True, "The control token is missing."), (False, "no server answers at ")]
)
def test_mcp_says_what_is_wrong_with_the_server(
    runs: bool,
    told: str,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each request is answered with an error that the agent can read, and a notice is not."""
    sent = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n{"jsonrpc": "2.0", "method": "a"}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sent)))

    with MockPlatform.start(control_token="secret") as server:
        if not runs:
            server.stop()
        pass_messages(server, None, None)

    (answer,) = map(json.loads, capsysbinary.readouterr().out.splitlines())
    assert (7, -32000) == (answer["id"], answer["error"]["code"])
    assert told in answer["error"]["message"]


def test_costs_are_a_table(run: Run, server: MockPlatform) -> None:
    """A sentence and a row for each operation, or the answer of the server as JSON."""
    token = {"Authorization": f"Bearer {server.credentials['bearer_token']}"}
    requests.get(f"{server.base_url}/2/users/2244994945", headers=token, timeout=60)

    lines = run("costs").stdout.splitlines()
    document = json.loads(run("costs", "--by", "day", "--format", "json").stdout)

    assert lines[0].startswith("1 call would have cost $0.010 (prices of ")
    assert [line.split() for line in lines[1:]] == [
        ["US$", "calls", "charged", "operation"],
        ["0.010", "1", "1", "users.get"],
    ]
    assert document["usd"] == "0.010"


def test_records_are_made(run: Run, server: MockPlatform) -> None:
    """A sentence with some ids, or the answer as JSON."""
    made = run("make", "likes", "7", "user=2244994945", "spread=2d", "--seed", "3")
    (one,) = json.loads(run("make", "users", "--format", "json").stdout)["ids"]

    assert made.stdout.startswith("7 likes were made in world default: 2244994945:")
    assert made.stdout.endswith(" …\n")
    assert one in server.state["users"]


def test_on_takes_a_file(run: Run, server: MockPlatform, tmp_path: Path) -> None:
    """The scenario of a file is defined in the world first; faults have their places."""
    file = tmp_path / "gone.yaml"
    file.write_text("name: gone\nrules: [{on: accounts.list, then: {respond: {status: 410}}}]\n")
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: bad\nrules: [{on: accounts.lst, then: {respond: {status: 410}}}]\n")

    assert (0, 410) == (run("on", file).exit_code, call(server))
    refused = run("on", bad)

    assert 1 == refused.exit_code
    assert f"{bad}:2:" in refused.stderr
    assert "accounts.list" in refused.stderr


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ("on usage-caped", 1, "Did you mean 'usage-capped'?"),
        ("on usage-capped per=Daily", 1, "Did you mean 'period'?"),
        ("on usage-capped Daily", 2, "'Daily' is not KEY=VALUE, such as period=Daily"),
        ("off usage-caped", 1, "Did you mean 'usage-capped'?"),
        ("reset --world w9", 1, "has no world 'w9'. It has default; PUT http://"),
        ("clock advance 9999999d", 1, "the last year is 9999"),
        ("requests --operation line_items.creat", 1, "Did you mean 'line_items.create'?"),
        ("requests --method FETCH", 1, "Allowed: GET, HEAD, POST"),
        ("scenarios usage-caped", 1, "Did you mean 'usage-capped'?"),
        ("make usrs", 1, "Did you mean 'users'?"),
        ("make users 2 nme=x", 1, "Did you mean 'name'?"),
        ("on outage times=3 times=4", 2, "'times' is given more than once; give one value."),
        ("make users 2 x", 2, "'x' is not KEY=VALUE"),
        ("make users seed=3", 2, "seed is no field"),
        (f"make users name={10**30}", 2, "exceeds 64-bit range"),
    ],
)
def test_mistakes_say_what_to_do(run: Run, words: str, status: int, told: str) -> None:
    """Wrong usage ends with status 2, a refusal of the server with 1; both name the remedy."""
    result = run(*words.split())

    assert (status, True) == (result.exit_code, told in result.stderr), result.stderr


def test_off_takes_what_on_takes(run: Run, server: MockPlatform, tmp_path: Path) -> None:
    """A file, whose scenario may have another name than it; and several at once."""
    file = tmp_path / "monday.yaml"
    file.write_text("name: bad-day\nrules: [{on: accounts.list, then: {error: OVER_CAPACITY}}]")
    run("on", str(file))
    run("on", "usage-capped")

    off = run("off", str(file), "usage-capped")
    missing = run("off", str(tmp_path / "no.yaml"))

    told = "bad-day is off in world default.\nusage-capped is off in world default.\n"
    assert (0, told) == (off.exit_code, off.stdout)
    assert (1, True) == (missing.exit_code, "cannot be read" in missing.stderr)


def test_on_tells_that_a_scenario_cannot_act(run: Run, server: MockPlatform) -> None:
    """Another one has all of its requests; `off` of that one lets it act."""
    run("on", "slow-network", "least=0", "most=0")
    on, during = run("on", "outage"), call(server)
    shown = run("scenarios", "outage", "--format", "text", "--url", server.base_url)
    run("off", "slow-network")

    told = "Rule 0 cannot act: slow-network/0, which was on before, acts on each of its requests. "
    assert f"{told}`mock-platform off slow-network` lets it.\n" in on.stdout
    assert "acted 0 times in 1 matching calls; slow-network/0 comes first" in shown.stdout
    assert (200, 503) == (during, call(server))
    run("off")


def test_a_world_is_chosen_by_option_or_address(run: Run, server: MockPlatform) -> None:
    """Only that world is changed; two different names are a mistake."""
    server.world("w1")

    by_option = run("on", "outage", "--world", "w1")
    in_w1, in_default = call(server, "/~w1"), call(server)
    by_address = run("reset", "--url", f"{server.base_url}/~w1")
    both = run("reset", "--url", f"{server.base_url}/~w1", "--world", "w2")

    assert "outage is on in world w1.\n" == by_option.stdout
    assert (503, 200) == (in_w1, in_default)
    assert "World w1 is at its start.\n" == by_address.stdout
    assert 200 == call(server, "/~w1")
    assert 2 == both.exit_code
    assert "names the world 'w1', and --world 'w2'" in both.stderr


def test_text_that_is_not_utf_8(run: Run) -> None:
    """Bytes of another encoding, as a terminal of Latin-1 sends them, are named."""
    for words in (("requests", "--path", "caf\udce9"), ("make", "users", "name=caf\udce9")):
        found = run(*words)

        assert (2, False) == (found.exit_code, "Traceback" in found.output), found.output
        assert "UTF-8" in found.stderr


def test_clock(run: Run) -> None:
    """Each change prints where the clock is then."""
    assert "2026-01-01T00:00:00.000Z stopped\n" == run("clock", "freeze", "2026-01-01").stdout
    assert "2026-01-01T01:30:00.000Z stopped\n" == run("clock", "advance", "90m").stdout
    assert "2027-02-03T00:00:00.000Z stopped\n" == run("clock", "travel", "2027-02-03").stdout
    assert "2027-02-03T00:00:00.000Z stopped\n" == run("clock").stdout
    assert "2027-01-27T00:00:00.000Z stopped\n" == run("clock", "advance", "-7d").stdout
    for words in ("advance -1h", "advance -1h --world default", "advance -- -1h", "advance -3600"):
        run("clock", "travel", "2027-02-03")
        assert "2027-02-02T23:00:00.000Z stopped\n" == run("clock", *words.split()).stdout, words
    assert "2027-02-03" > run("clock", "travel", "now").stdout
    assert run("clock", "resume").stdout.endswith(" running\n")
    run("clock", "freeze", "2099-01-01")
    assert (
        "2099-01-04T12:30:00.000Z feed scheduled_feeds/"
        in run("clock", "advance", "--to-next").stdout
    )
    refused = run("clock", "advance", "--to-next")
    assert (1, True) == (refused.exit_code, "Nothing is due in the world" in refused.stderr)
    assert "2099-01-04T12:30:00.000Z stopped\n" == run("clock").stdout
    assert run("clock", "freeze").stdout.endswith(" stopped\n")


def test_that_no_request_is_found_is_said(run: Run, server: MockPlatform) -> None:
    """On standard error, with what was looked for; programs get no line."""
    nothing = run("requests").stderr
    call(server)
    narrowed = run("requests", "--status", "5xx", "--method", "get")
    as_json = run("requests", "--status", "503", "--format", "json")

    assert nothing.startswith("World default had no request yet.")
    text = "No request of world default has status 5xx and method get; its journal has 1.\n"
    assert ("", text) == (narrowed.stdout, narrowed.stderr)
    assert ("", "") == (as_json.stdout, as_json.stderr)


def test_requests_are_a_line_each(run: Run, server: MockPlatform) -> None:
    """Moment, status, request, operation, the rule that acted, and why; queries narrow them."""
    call(server)
    run("on", "outage")
    call(server)

    lines = run("requests").stdout.splitlines()
    narrowed = run("requests", "--status", "503", "--format", "json")

    assert [f" 200 GET {server.base_url}/12/accounts  accounts.list",
            f" 503 GET {server.base_url}/12/accounts  accounts.list  [outage/0]",
            "Rule 0 of scenario outage acted: The service is temporarily unavailable."] == [
        line.strip() if line[0] == " " else line[line.index("Z") + 1 :] for line in lines
    ]  # fmt: skip
    assert [503] == [json.loads(line)["status"] for line in narrowed.stdout.splitlines()]
    assert "" == run("requests", "--operation", "accounts.get").stdout
    assert "" == run("requests", "--ended", "reset").stdout


def test_requests_do_not_control_the_terminal(run: Run, server: MockPlatform) -> None:
    """As JSON, what a client sent is the same text, written with escapes."""
    requests.get(f"{server.base_url}/2/users/me", headers={"X-Name": "\x9b2J"}, timeout=60)

    told = run("requests", "--format", "json").stdout

    assert ["X-Name", "\x9b2J"] in json.loads(told)["request"]["headers"]
    assert told.strip().isprintable()


def test_how_answers_ended(run: Run, server: MockPlatform) -> None:
    """A line says how an answer was cut, and the filter finds it."""
    run("on", "flaky-network")
    with pytest.raises(requests.ConnectionError):
        call(server)

    line, why = run("requests", "--ended", "reset").stdout.splitlines()

    assert line.endswith("  accounts.list  [flaky-network/0]  reset after 0 bytes")
    assert "the connection was broken, and nothing was changed" in why


@pytest.mark.live
@pytest.mark.usefixtures("quick_commands")
def test_following_prints_what_comes(server: MockPlatform) -> None:
    """`requests --follow` prints earlier requests first, then each new one once."""
    call(server)
    command = quick("requests", "--follow", "--url", server.base_url)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        try:
            assert follower.stdout is not None
            first = follower.stdout.readline()
            server.session("bearer").get(f"/12/accounts/{server.credentials['accounts'][0]}")
            second = follower.stdout.readline()
        finally:
            follower.terminate()

    assert first.endswith("  accounts.list\n")
    assert second.endswith("  accounts.get\n")


def test_worlds(run: Run, server: MockPlatform) -> None:
    """Each world has its base address."""
    server.world("w1")

    assert [f"default  {server.base_url}", f"w1       {server.base_url}/~w1"] == (
        run("worlds").stdout.splitlines()
    )


def test_scenarios_of_a_server(run: Run) -> None:
    """With an address they are those of the server; a name shows one with its counts."""
    run("on", "usage-capped", "period=Daily")

    listed = run("scenarios", "--format", "text").stdout.splitlines()
    one = run("scenarios", "usage-capped", "--format", "text").stdout
    packaged = run("scenarios", "usage-capped", "--format", "json", MOCK_PLATFORM_URL="").stdout

    assert any(line.startswith("usage-capped (active) ") for line in listed)
    assert 'active: yes, period="Daily"\n' in one
    assert "rule 0 on webhooks.replay: acted 0 times in 0 matching calls" in one
    assert json.loads(packaged)["active"] is False


def test_a_control_token_is_needed_and_taken(tmp_path: Path) -> None:
    """A server with a token refuses without it; option and environment give it."""
    with MockPlatform.start(control_token="known-to-us") as server:
        env = {"MOCK_PLATFORM_URL": server.base_url}
        runner = CliRunner()
        without = runner.invoke(group, ["reset"], env=env)
        by_option = runner.invoke(group, ["reset", "--control-token", "known-to-us"], env=env)
        token = {"MOCK_PLATFORM_CONTROL_TOKEN": "known-to-us"}
        by_variable = runner.invoke(group, ["reset"], env=env | token)

    assert (1, 0, 0) == (without.exit_code, by_option.exit_code, by_variable.exit_code)
    assert "MOCK_PLATFORM_CONTROL_TOKEN" in without.stderr


def test_names_of_scenarios_are_completed() -> None:
    """Completion for shells knows the scenarios of the package."""
    env = {"_MOCK_PLATFORM_COMPLETE": "bash_complete", "COMP_WORDS": "mock-platform on usage",
           "COMP_CWORD": "2"}  # fmt: skip

    found = CliRunner().invoke(group, [], env=env, prog_name="mock-platform")

    assert "plain,usage-capped\n" == found.stdout


@pytest.mark.claim(
    "Commands that only ask a running server load neither operations nor web framework"
)
def test_commands_on_a_server_do_not_load_one(server: MockPlatform, tmp_path: Path) -> None:
    """They are called in loops, so they load neither operations nor web framework, even to fail."""
    assert {command.name for command in LIVE_COMMANDS} <= {words.split()[0] for words in LIVE}
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from mock_platform.cli.main import group\n"
        "for words in sys.argv[2].splitlines():\n"
        "    ended = CliRunner().invoke(group, words.split(),"
        " env={'MOCK_PLATFORM_URL': sys.argv[1]})\n"
        "    print(ended.exit_code, words)\n"
        "print(*sorted(sys.modules))\n"
    )

    words = "\n".join(LIVE)
    out = python("-c", code, server.base_url, words, check=True, cwd=tmp_path).stdout.splitlines()

    assert out[:-1] == [f"{int(words == 'on rate-limitd')} {words}" for words in LIVE]
    assert "mock_platform.client.remote.world" in out[-1].split()
    assert [name for name in HEAVY if name in out[-1].split()] == []
