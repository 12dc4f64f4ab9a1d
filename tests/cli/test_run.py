"""`run`: its checks, its reports and its exit status, with a real command beside a real server."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mock_platform.cli.main import group
from tests.live.processes import ended

pytestmark = pytest.mark.live

CLIENT = """
import os, sys, urllib.error, urllib.request

base, token = os.environ["MOCK_PLATFORM_URL"], os.environ["MOCK_PLATFORM_BEARER_TOKEN"]
open_ = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
for path in sys.argv[1:]:
    request = urllib.request.Request(base + path, headers={"Authorization": f"Bearer {token}"})
    try:
        open_(request, timeout=120).close()
    except urllib.error.HTTPError as answer:
        answer.close()
"""
LATE = """
name: late
rules:
  - on: accounts.list
    call: 2
    then: {error: SERVICE_UNAVAILABLE}
    expect: fired
"""
GOOD = "/12/accounts"
Run = Callable[..., Result]


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    """A file with a rule that has to act on the second list of accounts."""
    file = tmp_path / "late.yaml"
    file.write_text(LATE)
    return str(file)


@pytest.fixture
def run() -> Run:
    """Runs `run` in this process, with a client that asks for some paths."""

    def start(*options: str, paths: tuple[str, ...] = (GOOD,), code: str = CLIENT) -> Result:
        words = ["run", *options, "--", sys.executable, "-S", "-c", code, *paths]
        return CliRunner().invoke(group, words, prog_name="mock-platform")

    return start


def test_a_run_as_it_should_be(run: Run, scenario: str) -> None:
    """With a scenario the checks are on; when all pass there is nothing to say."""
    result = run("--scenario", scenario, paths=(GOOD, GOOD))

    assert (0, "") == (result.exit_code, result.output)


@pytest.mark.usefixtures("quick_commands")
def test_a_rule_that_never_acted_fails_the_run(scenario: str) -> None:
    """The command succeeded, the process ends with 1 and says which rule, and what to do."""
    words = ("--", sys.executable, "-S", "-c", CLIENT, GOOD)
    result = ended("run", "--scenario", scenario, *words)
    allowed = ended("run", "--scenario", scenario, "--no-verify", *words)

    assert (1, "") == (result.returncode, result.stdout)
    assert [
        "mock-platform: rules that had to act and did not:",
        "  Scenario late, rule 0, was expected to act but never did; 1 call matched it, "
        "and it acts on call 2 only.",
        "mock-platform: the command succeeded, but the run fails because of this; --no-verify "
        "accepts it.",
    ] == result.stderr.splitlines()
    assert (0, "") == (allowed.returncode, allowed.stderr)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/12/acounts", "  1 x GET /12/acounts: 404; nearest: GET /12/accounts"),
        ("/12/accounts?cuont=1", "  1 x unknown-parameter, accounts.list: GET "),
    ],
)
def test_strays_and_warnings_fail_a_run(run: Run, path: str, told: str) -> None:
    """With `--verify`; without it only warnings are mentioned, and the status stays."""
    failing = run("--verify", paths=(path,))
    usual = run(paths=(path,))

    assert (1, 0) == (failing.exit_code, usual.exit_code)
    assert told in failing.stderr
    assert ("cuont" in path) == (told in usual.stderr)


def test_the_status_of_a_failing_command_stays(run: Run, scenario: str) -> None:
    """What the checks found is printed beside it."""
    result = run("--scenario", scenario, code="raise SystemExit(7)")

    assert 7 == result.exit_code
    assert "Scenario late, rule 0, was expected to act" in result.stderr
    assert "--no-verify" not in result.stderr


def test_a_run_that_is_too_dear_fails(run: Run, tmp_path: Path) -> None:
    """The dearest operations are listed; at the limit it passes. The JUnit file has the sum."""
    file = tmp_path / "run.xml"
    paths = ("/2/users/2244994945", "/2/posts?ids=1789900000000000001")
    failing = run("--max-cost", "0.014", paths=paths)
    passing = run("--max-cost", "0.015", "--junit", str(file), paths=paths)

    found = {each.get("name"): each.get("value") for each in ET.parse(file).iter("property")}
    assert (1, 0) == (failing.exit_code, passing.exit_code)
    assert "more than --max-cost 0.014:" in failing.stderr
    assert "  0.010 for 1 x users.get\n  0.005 for 1 x public_posts.list" in failing.stderr
    assert "2 calls would have cost $0.015" in passing.stderr
    assert ("0.015", "2") == (found["costs.usd"], found["costs.calls"])


def test_wrong_costs_and_prices_are_refused(run: Run, tmp_path: Path) -> None:
    """Before anything is started, with what is allowed and the place of a fault."""
    file = tmp_path / "prices.yaml"
    file.write_text('prices:\n  - from: "2026-01-01"\n    classes: {"Post: Raed": 1}\n')
    amount, prices = run("--max-cost", "cheap"), run("--prices", str(file))

    assert (2, 4) == (amount.exit_code, prices.exit_code)
    assert "'cheap' is not an amount of US dollars: write 0.5, 2 or 0.005" in amount.stderr
    assert f"{file}:3:" in prices.stderr
    assert "Did you mean 'Posts: Read'?" in prices.stderr


def test_a_fault_of_the_sandbox_fails_a_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler that breaks answers 500; the traceback is printed in any case."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("mock_platform.platform.Platform.answer", fail)
    failing, usual = run("--verify"), run()

    assert (1, 0) == (failing.exit_code, usual.exit_code)
    for result in (failing, usual):
        assert "mock-platform: the sandbox itself failed:" in result.stderr
        assert "ZeroDivisionError: on purpose" in result.stderr


def test_checks_are_written_as_junit(run: Run, scenario: str, tmp_path: Path) -> None:
    """A case for each check, also for the command; the file alone turns the checks on."""
    file = tmp_path / "out" / "run.xml"
    paths = (GOOD, "/12/acounts")
    result = run("--scenario", scenario, "--junit", str(file), paths=paths)

    root = ET.parse(file).getroot()
    failed = {
        (case.get("classname"), case.get("name")): case.find("failure") is not None
        for case in root.iter("testcase")
    }
    assert 1 == result.exit_code
    assert {
        ("command", "exit status"): False,
        ("rules", "late/0"): True,
        ("requests", "unknown paths"): True,
        ("requests", "warnings"): False,
        ("sandbox", "faults"): False,
    } == failed
    assert "2" == root.get("failures")
    assert 1 == run("--junit", str(file), paths=paths).exit_code
    assert 0 == run("--junit", str(file), "--no-verify", paths=paths).exit_code
    assert "1" == ET.parse(file).getroot().get("failures")


def test_a_file_that_cannot_be_written_is_reported(run: Run, tmp_path: Path) -> None:
    """The run is over; the message names the file."""
    (tmp_path / "file").write_text("")
    result = run("--junit", str(tmp_path / "file" / "run.xml"))

    assert 1 == result.exit_code
    assert f"Error: {tmp_path}/file/run.xml cannot be written: " in result.stderr


def test_coverage_is_printed_written_and_judged(run: Run, tmp_path: Path) -> None:
    """Totals on standard error, files by their ending, a gate with its status."""
    names = [str(tmp_path / "new" / name) for name in ("a.json", "b.html", "c.xml", "d.txt")]
    files = [f"--coverage={name}" for name in names]
    result = run(*files, "--coverage-fail-under", "50")
    alone = run("--coverage")

    assert (1, 0) == (result.exit_code, alone.exit_code)
    assert alone.stderr.startswith("Contract coverage ")
    lines = result.stderr.splitlines()
    assert [f"written to {name}" for name in names] == [
        line for line in lines if line.startswith("written")
    ]
    assert lines[-2].startswith("mock-platform: too little coverage: ")
    assert lines[-1].endswith(" % is below the required 50 %")
    document = json.loads(Path(names[0]).read_text())
    assert 1 == document["totals"]["operations"]["covered"]
    assert 'name="total"' in Path(names[2]).read_text()


@pytest.mark.parametrize(("least", "status"), [("0", 0), ("100", 1)])
def test_the_gate_needs_no_verify(run: Run, least: str, status: int) -> None:
    """`--no-verify` leaves the gate of the coverage as it is."""
    assert status == run("--no-verify", "--coverage-fail-under", least).exit_code


def test_a_file_of_unknown_format_is_refused_at_once(run: Run) -> None:
    """Nothing is started; the endings are listed."""
    assert ".html, .json, .txt, .xml, .baseline" in run("--coverage=contract.pdf").stderr


def test_a_scope_and_a_baseline_make_a_gate(run: Run, tmp_path: Path) -> None:
    """The percentage is that of the scope; what a run loses is named, and the file stays."""
    file = tmp_path / "contract.baseline"
    scope = ("--coverage-only", "accounts.list,oauth*")
    written = run(f"--coverage={file}", *scope, paths=(GOOD, f"{GOOD}?count=0"))
    text = file.read_text()
    kept = run("--coverage-baseline", str(file), *scope, paths=(GOOD, f"{GOOD}?count=0"))
    lost = run(f"--coverage={file}", "--coverage-baseline", str(file), paths=(GOOD,))

    assert (0, 0, 1) == (written.exit_code, kept.exit_code, lost.exit_code), lost.stderr
    assert " % of accounts.list, oauth*" in written.stderr
    assert ["accounts.list 200", "accounts.list 400 INVALID_PARAMETER"] == [
        line for line in text.splitlines() if not line.startswith("#")
    ]
    assert lost.stderr.endswith(
        f"not written, because outcomes are lost: {file}\n"
        f"mock-platform: too little coverage: 1 outcome of {file} that earlier runs covered was "
        "not covered:\n  accounts.list 400 INVALID_PARAMETER\n"
    )
    assert text == file.read_text()


def test_https_is_trusted_by_the_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command trusts the server by its environment, and what it trusted before."""
    own = tmp_path / "own.pem"
    own.write_text("# ours\n")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(own))
    monkeypatch.setenv("CURL_CA_BUNDLE", str(tmp_path))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    code = (
        CLIENT + "assert base.startswith('https://127.0.0.1:')\n"
        "ca = open(os.environ['MOCK_PLATFORM_CA']).read()\n"
        "assert os.environ['NODE_EXTRA_CA_CERTS'] == os.environ['MOCK_PLATFORM_CA']\n"
        "texts = [open(os.environ[n]).read() for n in\n"
        "         ('REQUESTS_CA_BUNDLE', 'SSL_CERT_FILE', 'CURL_CA_BUNDLE')]\n"
        "assert all(text.endswith(ca) for text in texts)\n"
        "assert texts[0].startswith('# ours') and len(texts[1]) > 10 * len(ca)\n"
        "assert texts[1] == texts[2]\n"
    )
    result = run("--tls", "--verify", "--coverage", code=code)

    assert 0 == result.exit_code, result.stderr
    assert "Operations called                1/" in result.stderr
