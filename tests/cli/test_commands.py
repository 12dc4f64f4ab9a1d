from __future__ import annotations

import json
import re
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest

from mock_platform import __version__
from mock_platform.api.served import OPERATIONS
from mock_platform.cli.main import group
from mock_platform.cli.options import (
    ADDRESS,
    BODY_SIZE,
    INSTANT,
    SECONDS,
    SETTINGS,
    SIZE,
    STORE,
    WHOLE_SECONDS,
    OptionKind,
    settings_of,
)
from mock_platform.cli.server_context import ServeOptions
from mock_platform.platform import Platform
from mock_platform.settings import ConnectionSettings, DeliverySettings, Settings
from tests.cli.running import run
from tests.commands import python
from tests.support import HARBOR

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[ServeOptions]:
    """What `serve` was asked for, instead of serving."""
    asked: list[ServeOptions] = []
    monkeypatch.setattr("mock_platform.cli.serving.serve_until_stopped", asked.append)
    return asked


def options() -> list[tuple[str, click.Option]]:
    """Every option of every command."""
    return [
        (name, param)
        for name, command in group.commands.items()
        for param in command.params
        if isinstance(param, click.Option)
    ]


# -- all commands --------------------------------------------------------------------------------


def test_the_commands_are_the_promised_ones() -> None:
    """Nothing is missing, nothing is there that no document names."""
    promised = {
        "serve", "run", "operations", "where", "check", "credentials", "openapi",
        "assumptions", "failures", "scenarios", "coverage", "diff", "on", "off", "reset", "clock",
        "requests", "costs", "case", "open", "make", "worlds", "docs", "hosts", "contract",
        "record", "import", "pact", "verify", "fidelity", "mcp", "fit",
    }  # fmt: skip

    assert promised == set(group.commands)


def test_every_option_has_help_and_its_environment_twin() -> None:
    """The twin of an option is MOCK_PLATFORM_<COMMAND>_<OPTION>, spelt as the option is."""
    for command, option in options():
        spelt = option.opts[0].removeprefix("--").replace("-", "_")

        assert (command, spelt) == (command, option.name)
        assert option.help, (command, spelt)
        assert option.allow_from_autoenv


def test_every_option_is_documented() -> None:
    """The page of the command line names each command and each option."""
    page = (DOCS / "command-line.md").read_text()

    headings = "".join(line for line in page.splitlines() if line.startswith("## "))
    missing = [name for name in group.commands if f"`{name}`" not in headings]
    missing += [
        f"{command} {option.opts[0]}"
        for command, option in options()
        if f"`{option.opts[0]}" not in page
    ]

    assert missing == []


@pytest.mark.parametrize("command", sorted(group.commands))
def test_every_command_explains_itself(command: str) -> None:
    """`--help` works everywhere and ends well."""
    result = run(command, "--help")

    assert result.exit_code == 0
    assert f"Usage: mock-platform {command}" in result.output


@pytest.mark.parametrize("command", ["", "run", "serve", "verify"])
def test_each_option_and_command_has_a_heading_of_its_kind(command: str) -> None:
    """Only the option for help itself is left over where a long help is in sections."""
    _, _, others = run(*command.split(), "--help").output.partition("\nOthers:\n")

    assert [] == [line for line in others.splitlines() if re.match(r"  [-a-z]", line)][1:]
    assert "" == others or "--help" in others.splitlines()[0]


def test_help_comes_without_loading_the_server() -> None:
    """Asking for help, or mistyping, does not wait for the web framework."""
    code = (
        "import sys\n"
        "from mock_platform.cli import main\n"
        "sys.argv = ['mock-platform', 'serve', '--help']\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print(sorted({'flask', 'marshmallow', 'httptools'} & set(sys.modules)))"
    )

    assert python("-c", code, check=True).stdout.splitlines()[-1] == "[]"


@pytest.mark.claim("What only some servers need is loaded when they need it")
def test_a_server_is_up_without_what_few_servers_need() -> None:
    """Deliveries, TLS, scenario files, descriptions, metrics and watches load what they take."""
    code = (
        "import sys\n"
        "from mock_platform.serving.app import create_app\n"
        "from mock_platform.cli import logs, running, serving\n"
        "from mock_platform.serving.restoring import open_platform\n"
        "from mock_platform.settings import Settings\n"
        "logs.configure('text')\n"
        "app = create_app(open_platform(Settings()).platform)\n"
        "assert app.test_client().get('/_mock/health').status_code == 200\n"
        "late = {'urllib3', 'requests', 'trustme', 'cryptography', 'ruamel', 'apispec',"
        " 'prometheus_client', 'watchfiles', 'pycountry', 'oauthlib',"
        " 'mock_platform.core.agents'}\n"
        "print(sorted(late & set(sys.modules)))"
    )

    assert python("-c", code, check=True).stdout == "[]\n"


def test_the_module_is_the_command() -> None:
    """`python -m mock_platform` is `mock-platform`."""
    out = python("-m", "mock_platform", "--version", check=True)

    assert out.stdout == f"mock-platform, version {__version__}\n"


def test_a_mistyped_variable_is_told() -> None:
    """An environment variable that looks like an option but is not one is reported."""
    result = run("credentials", MOCK_PLATFORM_CREDENTIALS_FORMATS="json")

    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: MOCK_PLATFORM_CREDENTIALS_FORMATS is not an option of credentials. "
        "Did you mean 'MOCK_PLATFORM_CREDENTIALS_FORMAT'?\n"
    )


# -- settings ------------------------------------------------------------------------------------


def test_every_setting_is_an_option() -> None:
    """Each field of the settings is filled by exactly one option, but for fixed bounds."""
    fixed = {"head_bytes", "body_bytes", "waiting_bytes", "linger_seconds"}
    groups = {"delivery": DeliverySettings, "connection": ConnectionSettings}
    wanted = [field.name for field in fields(Settings) if field.name not in groups]
    wanted += [
        f"{group}.{field.name}"
        for group, kind in groups.items()
        for field in fields(kind)
        if field.name not in fixed
    ]

    assert sorted(wanted) == sorted(setting.target for setting in SETTINGS)


def test_without_options_the_settings_are_the_usual_ones(served: list[ServeOptions]) -> None:
    """The command line repeats no default of its own."""
    result = run("serve")

    assert result.exit_code == 0, result.output
    assert [ServeOptions(settings=Settings())] == served


def test_options_reach_the_settings(served: list[ServeOptions]) -> None:
    """Every kind of option: text, number, choice, flag, its opposite, repeated, nested."""
    run(
        "serve", "--host", "::1", "--port", "0", "--fixtures", "a", "--fixtures", "b",
        "--no-default-fixtures", "--store", "tinydb:s.json", "--durability", "fsync", "--seed",
        "7", "--freeze", "2026-03-01", "--strict", "--no-markers", "--limits", "public",
        "--oauth-limit", "15", "--bearer-window", "2m", "--public-host", "mock", "--max-body",
        "1M", "--delivery-timeout", "1.5", "--delivery-allow-host", "receiver", "--tls",
        "--log-level", "error", "--log-format", "json", "--watch", "--max-connections", "5",
        "--idle-timeout", "30s", "--stop-with-stdin",
    )  # fmt: skip

    assert served == [
        ServeOptions(
            settings=Settings(
                host="::1", port=0, fixtures=(Path("a"), Path("b")), default_fixtures=False,
                store="tinydb:s.json", durability="fsync", seed=7,
                freeze=datetime(2026, 3, 1, tzinfo=UTC), strict=True, markers=False,
                limits="public", oauth_limit=15, bearer_window=120, public_hosts=("mock",),
                max_body=1024**2, delivery=DeliverySettings(timeout=1.5, allow_hosts=("receiver",)),
                connection=ConnectionSettings(connections=5, idle_seconds=30.0),
            ),
            tls=True,
            log_format="json",
            log_level="error",
            watch=True,
            stop_with_stdin=True,
        )
    ]  # fmt: skip


def test_the_environment_reaches_the_settings(served: list[ServeOptions]) -> None:
    """The twins of options, flags and repeated options are read."""
    result = run(
        "serve", MOCK_PLATFORM_SERVE_PORT="9000", MOCK_PLATFORM_SERVE_NO_MARKERS="1",
        MOCK_PLATFORM_SERVE_PUBLIC_HOST="one two", MOCK_PLATFORM_SERVE_CARD_ENVELOPE="array",
        MOCK_PLATFORM_SERVE_DELIVERY_ATTEMPTS="5",
    )  # fmt: skip

    assert result.stderr == ""
    (asked,) = served
    assert asked.settings == Settings(
        port=9000, markers=False, public_hosts=("one", "two"), card_envelope="array",
        delivery=DeliverySettings(attempts=5),
    )  # fmt: skip


def test_a_flag_wins_over_the_environment(served: list[ServeOptions]) -> None:
    """Also where the environment switched something on that the command line wants off."""
    run(
        "serve", "--port", "1", "--markers", "--no-strict",
        MOCK_PLATFORM_SERVE_PORT="9000",
        MOCK_PLATFORM_SERVE_NO_MARKERS="1",
        MOCK_PLATFORM_SERVE_STRICT="true",
    )  # fmt: skip

    assert [Settings(port=1)] == [asked.settings for asked in served]


def test_absent_values_leave_the_defaults() -> None:
    """A command that has only some of the options still makes whole settings."""
    assert Settings(seed=3) == settings_of({"seed": 3})


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (SECONDS, "90", 90.0), (SECONDS, "1.5", 1.5), (SECONDS, "500ms", 0.5),
        (SECONDS, "15m", 900.0), (SECONDS, "1h", 3600.0), (SECONDS, "1d", 86400.0),
        (WHOLE_SECONDS, "2m", 120), (WHOLE_SECONDS, "1500ms", None), (SECONDS, "", None),
        (SECONDS, "-1", None), (SECONDS, "5 minutes", None), (SECONDS, "٥", None), (SIZE, "1", 1),
        (SIZE, "64K", 65536), (SIZE, "16MiB", 16 * 1024**2), (SIZE, "1g", 1024**3),
        (BODY_SIZE, "32M", 32 * 1024**2), (BODY_SIZE, "33M", None), (BODY_SIZE, "33554433", None),
        (SIZE, "0", None), (ADDRESS, "10.0.0.5:8081", "10.0.0.5:8081"),
        (ADDRESS, "[fd00::1]:8081", "[fd00::1]:8081"), (ADDRESS, "nowhere", None),
        (ADDRESS, "host:0", None), (ADDRESS, "host:65536", None), (ADDRESS, "0.0.0.0:8081", None),
        (ADDRESS, "[::]:8081", None), (SIZE, "1.5M", None), (SIZE, "many", None),
        (INSTANT, "2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        (INSTANT, "2026-03-01T12:00+02:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (INSTANT, "2026-W09-7", None), (STORE, "memory", "memory"), (STORE, "tinydb:x", "tinydb:x"),
        (STORE, "redis:", None),
    ],
)  # fmt: skip
def test_kinds_of_values(kind: OptionKind, text: str, value: Any) -> None:
    """What a kind takes and what it refuses, at the borders of both."""
    if value is None:
        with pytest.raises(click.BadParameter, match=r"\S"):
            kind.convert(text, None, None)
    else:
        assert value == kind.convert(text, None, None)
        assert value == kind.convert(value, None, None)


# -- looking -------------------------------------------------------------------------------------


def test_operations_are_listed_in_columns() -> None:
    """One aligned line for each operation: method, path, id, heading."""
    lines = run("operations").output.splitlines()

    assert lines[0].split() == ["METHOD", "PATH", "OPERATION", "SPEC"]
    assert len(Platform().operations) == len(lines) - 1
    path = lines[0].index("PATH")
    assert {"/"} == {line[path] for line in lines[1:]}
    assert any(line.startswith("POST    /sandbox/12/accounts ") for line in lines)


def test_operations_as_json_are_those_of_the_control_plane() -> None:
    """The command prints what the route returns."""
    listed = json.loads(run("operations", "--format", "json").output)

    assert {operation.id for operation in OPERATIONS} <= {
        entry["id"] for entry in listed["operations"]
    }


def test_where_leads_to_the_code() -> None:
    """The handler's file and line, the heading, what varies in the path."""
    result = run("where", "put /12/accounts/18ce/line_items/4x?name=x")

    rows = dict(line.split(maxsplit=1) for line in result.output.splitlines()[:6])
    assert result.exit_code == 0
    assert rows["operation"] == "line_items.update"
    assert rows["answers"] == "PUT /12/accounts/:account_id/line_items/:line_item_id"
    assert rows["spec"].startswith("B, ")
    assert rows["with"] == "account_id = 18ce"
    file, _, line = rows["code"].partition(":")
    source = (Path(__file__).parents[2] / file).read_text().splitlines()
    assert source[int(line) - 1].startswith(("def ", "@"))


@pytest.mark.parametrize(
    "request_",
    [
        ["POST", "/oauth2/token"],
        ["POST /oauth2/token"],
        ["post", "http://127.0.0.1:8080/oauth2/token?grant_type=x"],
        ["POST", "/~w1/oauth2/token"],
        ["POST", "oauth2/token"],
    ],
)
def test_where_takes_requests_as_one_finds_them(request_: list[str]) -> None:
    """One argument or two, a whole address, a world's prefix, any case of the method."""
    found = json.loads(run("where", "--format", "json", *request_).output)

    assert (found["id"], found["path_parameters"]) == ("oauth2.token", {})


def test_where_knows_the_sandbox() -> None:
    """Sandbox-only operations are found under the sandbox address, by prefix or by host."""
    prefixed = run("where", "POST", "/sandbox/12/accounts")
    hosted = run("where", "POST", "https://ads-api-sandbox.platform.test/12/accounts")
    plain = run("where", "POST", "/12/accounts")

    assert "accounts.create" in prefixed.output
    assert prefixed.output == hosted.output
    assert plain.exit_code == 1
    assert "does not answer POST, only GET." in plain.output


def test_where_nothing_answers_the_nearest_is_named() -> None:
    """An unknown request ends with status 1 and what may have been meant."""
    result = run("where", "PUT /12/accounts/1/line_itmes/2")

    assert (1, "") == (result.exit_code, result.stdout)
    assert "PUT /12/accounts/:account_id/line_items/:line_item_id" in result.stderr


def test_credentials_are_lines_for_a_shell() -> None:
    """The variables that `run` sets, as `NAME=value`."""
    lines = dict(line.split("=", 1) for line in run("credentials").output.splitlines())

    assert HARBOR.key == lines["MOCK_PLATFORM_CONSUMER_KEY"]
    assert {f"MOCK_PLATFORM_{name}" for name in (
        "CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET", "BEARER_TOKEN",
        "CLIENT_ID", "CLIENT_SECRET", "OAUTH2_ACCESS_TOKEN", "ACCOUNT_ID", "USER_ID", "WEBHOOK_ID",
    )} == set(lines)  # fmt: skip


def test_credentials_are_exports_with_addresses() -> None:
    """A shell can read them at once; the address is an option or MOCK_PLATFORM_URL."""
    lines = run("credentials", "--format", "shell").output.splitlines()
    elsewhere = run("credentials", "--format", "shell", "--url", "http://sandbox:81/").output
    named = run("credentials", "--format", "shell", MOCK_PLATFORM_URL="http://sandbox:82").output

    assert lines[:2] == [
        "export MOCK_PLATFORM_URL=http://127.0.0.1:8080",
        "export MOCK_PLATFORM_SANDBOX_URL=http://127.0.0.1:8080/sandbox",
    ]
    assert all(line.startswith("export MOCK_PLATFORM_") for line in lines)
    assert [f"export {line}" for line in run("credentials").output.splitlines()] == lines[2:]
    assert "export MOCK_PLATFORM_SANDBOX_URL=http://sandbox:81/sandbox\n" in elsewhere
    assert "export MOCK_PLATFORM_URL=http://sandbox:82\n" in named


def test_credentials_as_json() -> None:
    """What the control route answers."""
    found = json.loads(run("credentials", "--format", "json").output)

    assert {"app", "user", "bearer_token", "accounts", "webhook_id"} == set(found)


def test_credentials_of_other_fixtures(tmp_path: Path) -> None:
    """Folders that are applied over the shipped ones count; bad ones end with status 4."""
    app = {
        "id": "11827", "name": "x", "consumer_key": "mine", "consumer_secret": "s",
    }  # fmt: skip
    (tmp_path / "apps.json").write_text(json.dumps([app]))
    good = run("credentials", "--fixtures", tmp_path)
    (tmp_path / "apps.json").write_text("[{}]")
    bad = run("credentials", "--fixtures", tmp_path)

    assert "MOCK_PLATFORM_CONSUMER_KEY=mine\n" in good.output
    assert bad.exit_code == 4
    assert f"{tmp_path}/apps.json:1:2: record 0, field id" in bad.stderr


def test_the_description_is_printed() -> None:
    """OpenAPI over everything, at the address that was asked for."""
    described = json.loads(run("openapi", "--url", "https://mock.test/").output)

    assert described["openapi"].startswith("3.1")
    assert described["servers"][0]["url"] == "https://mock.test"
    assert "/oauth2/token" in described["paths"]


def test_assumptions_are_printed() -> None:
    """The register, each with what it rests on."""
    register = json.loads(run("assumptions").output)["assumptions"]

    assert sorted(Platform().assumptions()) == [entry["id"] for entry in register]


# -- check ---------------------------------------------------------------------------------------


def user(**more: Any) -> dict[str, Any]:
    """A sound record of a user."""
    return {"id": "9", "screen_name": "nine", "name": "Nine", **more}


def test_sound_fixtures_pass(tmp_path: Path) -> None:
    """No fault: status 0, nothing on standard output."""
    (tmp_path / "users.json").write_text(json.dumps([user()]))

    result = run("check", tmp_path)

    assert (0, "") == (result.exit_code, result.stdout)
    assert result.stderr == f"No faults in {tmp_path}.\n"


def test_a_folder_without_files_is_no_success(tmp_path: Path) -> None:
    """A misspelt folder would pass for a checked one."""
    result = run("check", str(tmp_path))

    assert result.exit_code == 1
    assert "has no fixtures and no scenarios" in result.stderr


def test_faults_are_told_where_they_stand(tmp_path: Path) -> None:
    """File, line, column, record, field, what is wrong; status 1."""
    text = '[\n  {"id": "9", "screen_name": "no spaces", "name": "x"},\n  {"id": "8"}\n]'
    (tmp_path / "users.json").write_text(text)

    result = run("check", tmp_path)

    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0].startswith(f"{tmp_path}/users.json:2:15: record 0, field screen_name: ")
    assert [f"{tmp_path}/users.json:3:3: record 1"] * 2 == [
        line.split(",")[0] for line in lines[1:]
    ]
    assert result.stderr == "Error: 3 faults found.\n"


def test_single_files_are_checked(tmp_path: Path) -> None:
    """A path may be one file; what is no fixture file is reported."""
    (tmp_path / "users.json").write_text(json.dumps([user()]))
    (tmp_path / "users.txt").write_text("[]")

    assert run("check", tmp_path / "users.json").exit_code == 0
    assert "an array of records in TABLE.json" in run("check", tmp_path / "users.txt").stdout


def test_paths_lie_over_one_another_and_over_the_shipped_ones(tmp_path: Path) -> None:
    """A reference may lead into the shipped fixtures or a path named before, if those count."""
    under, over = tmp_path / "under", tmp_path / "over"
    under.mkdir()
    over.mkdir()
    (under / "users.json").write_text(json.dumps([user()]))
    app = {"id": "1", "name": "x", "consumer_key": "k", "consumer_secret": "s"}
    (over / "apps.json").write_text(json.dumps([app | {"_owner_user_id": "9"}]))

    assert run("check", under, over).exit_code == 0
    assert run("check", "--no-default-fixtures", under, over).exit_code == 0
    assert "refers to '9', which is not in users" in run("check", over).stdout
