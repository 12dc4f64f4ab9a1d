"""`run --page`, and `verify`: one page and one status for everything that a run must be."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mock_platform.cli.main import group
from mock_platform.cli.printing import credentials_text
from mock_platform.cli.verifying import MAX_LINES, GatePage, RunCheck
from mock_platform.platform import Platform
from mock_platform.verification.contract.document import make_contract, render_contract
from tests.cli.test_run import CLIENT, GOOD
from tests.verification.compare.servers import Differing, differing, each, on

pytestmark = pytest.mark.live
Run = Callable[..., Result]
PARTS = ("command", "rules", "requests", "sandbox", "coverage", "costs", "contract", "drift")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `mock-platform run --page`, or other words, with a client that asks for some paths."""
    client = tmp_path / "client.py"
    client.write_text(CLIENT)

    def run(
        *args: object,
        paths: tuple[str, ...] = (GOOD,),
        end: str = "",
        name: tuple[str, ...] = ("run", "--page"),
    ) -> Result:
        command = [sys.executable, "-c", end] if end else [sys.executable, str(client), *paths]
        words = [*name, *map(str, args), "--", *command]
        return CliRunner().invoke(group, words, prog_name="mock-platform")

    return run


@pytest.fixture(scope="module")
def contract() -> dict[str, Any]:
    """The contract of this package."""
    made: dict[str, Any] = json.loads(render_contract(make_contract(Platform())))
    return made


@pytest.fixture(scope="module")
def other() -> Iterator[Differing]:
    """A second sandbox."""
    with differing() as server:
        yield server


def states(result: Result) -> dict[str, str]:
    """The state of each part on the page."""
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    return {row[1]: row[0] for row in rows if row[0] in {"ok", "FAILED", "skipped"}}


@pytest.mark.parametrize("name", [("run", "--page"), ("verify",)], ids=" ".join)
def test_a_run_that_passes(
    run: Run, tmp_path: Path, contract: dict[str, Any], name: tuple[str, ...]
) -> None:
    """Every part that was asked for is ok, and the status is 0; reports name the command."""
    kept = tmp_path / "contract.json"
    kept.write_text(json.dumps(contract))
    only = ("--coverage-only", "accounts.list", "--coverage-fail-under", 1, "--max-cost", 0)

    result = run("--contract", kept, *only, "--junit", tmp_path / "gate.xml", name=name)

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"mock-platform {name[0]}: passed\n")
    assert states(result) == dict.fromkeys(PARTS, "ok") | {"rules": "skipped", "drift": "skipped"}
    root = ET.parse(tmp_path / "gate.xml").getroot()
    assert (f"mock-platform {name[0]}", "0") == (root.get("name"), root.get("failures"))


def test_every_part_that_fails_is_on_the_page(
    run: Run, tmp_path: Path, contract: dict[str, Any]
) -> None:
    """The page and the JUnit file name what failed, with the reason and what to do."""
    removed = dict(contract["openapi"]["paths"])
    removed["/12/gone"] = {"get": {"operationId": "gone", "responses": {"200": {}}}}
    kept = tmp_path / "contract.json"
    kept.write_text(json.dumps(contract | {"openapi": contract["openapi"] | {"paths": removed}}))

    result = run(
        "--contract", kept, "--coverage-fail-under", 99, "--junit", tmp_path / "gate.xml",
        "--summary", tmp_path / "summary.md", paths=("/12/nothing",),
    )  # fmt: skip

    assert result.exit_code == 1
    assert result.stdout.startswith("mock-platform run: failed (requests, coverage, contract)\n")
    assert "1 x GET /12/nothing: 404" in result.stdout
    assert "the operation is gone: GET /12/gone" in result.stdout
    assert result.stdout.count("what to do: ") == 3
    failed = ET.parse(tmp_path / "gate.xml").getroot().iter("failure")
    assert {"requests", "coverage", "contract"} == {each.get("type") for each in failed}
    summary = (tmp_path / "summary.md").read_text()
    assert "## mock-platform run: failed (requests, coverage, contract)" in summary
    assert "| requests: **failed** | requests that no operation answers |" in summary


@pytest.mark.parametrize("name", [("run", "--page"), ("verify",)], ids=" ".join)
def test_a_command_that_fails_fails_the_gate(run: Run, name: tuple[str, ...]) -> None:
    """The status is 1, whatever that of the command was; the page has the command's."""
    result = run(end="raise SystemExit(3)", name=name)

    assert (1, "FAILED") == (result.exit_code, states(result)["command"])
    assert "ended with status 3" in result.stdout


def test_verify_says_what_to_write(run: Run) -> None:
    """One line on standard error names the option of `run` that takes its place; `run` has none."""
    older, newer = run(name=("verify",)), run()

    assert 1 == len(older.stderr.splitlines())
    assert "Write `mock-platform run --page -- CMD`" in older.stderr
    assert "" == newer.stderr
    assert older.stdout.replace("verify", "run") == newer.stdout


def test_verify_runs_once_for_each_date(run: Run, tmp_path: Path) -> None:
    """One table says how each run ended and what it called in vain; files have all dates."""
    path, junit, summary = "/2/connections", tmp_path / "runs.xml", tmp_path / "runs.md"
    dates = ("--as-of", "2025-09-18,2026-03-01", "--junit", junit, "--summary", summary)
    end = (
        "import os, urllib.request as r; e = lambda n: os.environ['MOCK_PLATFORM_' + n]; "
        f"sent = r.Request(e('URL') + {path!r}, headers={{'Authorization': 'Bearer ' + "
        "e('BEARER_TOKEN')}); r.urlopen(sent)"
    )

    result = run(*dates, paths=(), end=end, name=("verify",))

    assert result.exit_code == 1
    assert result.stdout.splitlines()[:3] == [
        "as of       result            requests  called, and not there at that date",
        "2025-09-18  failed (command)  1         1 x connections.list",
        "2026-03-01  passed            1         -",
    ]
    assert "as of 2025-09-18:\nthe command failed:" in result.stdout
    suites = ET.parse(junit).getroot().iter("testsuite")
    assert {"as of 2025-09-18": "1", "as of 2026-03-01": "0"} == {
        str(each.get("name")): each.get("failures") for each in suites
    }
    assert "| 2026-03-01 | passed | 1 | - |" in summary.read_text()


def test_parts_are_checked_without_the_page(
    run: Run, tmp_path: Path, contract: dict[str, Any]
) -> None:
    """What breaks a kept contract fails `run` like little coverage, even with `--no-verify`."""
    paths = contract["openapi"]["paths"] | {"/12/gone": {"get": {"responses": {"200": {}}}}}
    kept = tmp_path / "contract.json"
    kept.write_text(json.dumps(contract | {"openapi": contract["openapi"] | {"paths": paths}}))
    plain = ("run", "--no-verify", "--contract", kept, "--summary", tmp_path / "summary.md")

    failed = run(name=plain)
    own = run(name=plain, end="raise SystemExit(3)")

    assert (1, 3, "") == (failed.exit_code, own.exit_code, failed.stdout)
    assert "the operation is gone: GET /12/gone" in failed.stderr
    summary = (tmp_path / "summary.md").read_text()
    assert "## mock-platform run: failed (contract)" in summary
    assert "## mock-platform run: failed (command, contract)" in summary


def test_another_server_is_compared(run: Run, other: Differing, tmp_path: Path) -> None:
    """A difference fails the gate until it is accepted."""
    held = tmp_path / "credentials"
    held.write_text(credentials_text("env", ()))
    only = ("--coverage-only", "line_items.list")
    against = ("--against", other.url, "--credentials-file", held, "--yes", *only)
    other.patches = [on("/line_items", each(lambda record: record.pop("name")))]
    accepted = tmp_path / "accepted.yaml"
    entry = "- {kind: missing, reason: known, accepted: 2026-11-01"
    accepted.write_text(f"accepted:\n{entry}}}\n{entry}, expires: 2026-11-02}}\n")

    refused = run(*against)
    taken = run(*against, "--accepted", accepted, "--summary", tmp_path / "page.md")
    plain = run(*against, "--accepted", accepted, name=("run",))

    assert (1, "FAILED") == (refused.exit_code, states(refused)["drift"])
    assert "name" in refused.stdout
    assert (0, "ok") == (taken.exit_code, states(taken)["drift"]), taken.stdout
    stale = f"accepted differences: {accepted}:3 expired on 2026-11-02"
    assert stale in taken.stdout
    assert (0, "") == (plain.exit_code, plain.stdout)
    assert plain.stderr.endswith(f"\nmock-platform: {stale}\n")
    assert f"\n\n- drift: {stale}\n" in (tmp_path / "page.md").read_text()


def test_another_server_gets_safe_methods_alone(run: Run, other: Differing, tmp_path: Path) -> None:
    """Only GET is sent, unless --methods asks for more; what --skip names is not asked at all."""
    other.start_over()
    held = tmp_path / "credentials"
    held.write_text(credentials_text("env", ()))
    against = ("--against", other.url, "--credentials-file", held, "--yes")
    only = ("--coverage-only", "line_items.list,campaigns.list")

    plain = run(*against, *only, "--skip", "campaigns.*,pages")
    safe = list(other.asked)
    more = run(*against, "--coverage-only", "line_items.list", "--methods")

    assert (0, 0) == (plain.exit_code, more.exit_code), plain.output
    assert {"GET"} == {method for method, _ in safe}
    assert not [path for _, path in safe if "/campaigns" in path]
    assert "not asked: campaigns.list (left out with --skip)" in plain.stdout
    assert {"GET", "PATCH"} == {method for method, _ in other.asked}


@pytest.mark.parametrize("name", [("run", "--page"), ("verify",)], ids=" ".join)
def test_a_command_that_does_not_exist(name: tuple[str, ...]) -> None:
    """The status is that of a shell."""
    result = CliRunner().invoke(group, [*name, "--", "no-such-command"])

    assert 127 == result.exit_code


def test_a_long_part_stays_on_the_page() -> None:
    """Only the first lines of a part are shown, with how many there are."""
    faults = [f"line {number}" for number in range(MAX_LINES + 5)]
    page = GatePage("x", [RunCheck("requests", "unknown paths", faults, "many")]).render_text()

    assert "and 5 more lines, which --junit FILE has" in page
    assert f"line {MAX_LINES}" not in page
