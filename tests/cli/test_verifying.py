"""The checks of a run: rules, requests, the sandbox itself."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mock_platform.cli.verifying import (
    RunCheck,
    RunVerdict,
    StrayWatch,
    check_faults,
    check_requests,
    check_rules,
)
from mock_platform.world.journal import JournalEntry
from tests.control.support import call
from tests.support import BEARER, Sandbox, sandbox

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATE = """
name: late
rules:
  - on: accounts.list
    call: 2
    then: {error: SERVICE_UNAVAILABLE}
    expect: fired
  - on: accounts.get
    then: {error: SERVICE_UNAVAILABLE}
"""


def entry(
    path: str, method: str = "GET", status: int = 404, prefix: str = "/~w", **more: Any
) -> JournalEntry:
    """An entry of the journal for a request that no operation answered."""
    url = f"http://127.0.0.1:1{prefix}{path}"
    return JournalEntry("r1", NOON, "default", method, url, status, 1.0, **more)


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    """A sandbox with a rule that has to act on the second list of accounts in a world."""
    file = tmp_path / "late.yaml"
    file.write_text(LATE)
    return sandbox(scenarios=(str(file),))


def faults(box: Sandbox) -> list[tuple[str, list[str]]]:
    """Names and faults of the checks of rules."""
    return [(check.name, list(check.faults)) for check in check_rules(box.platform)]


UNFIRED = "Scenario late, rule 0, was expected to act but never did; {}."


def test_a_rule_that_never_acted_is_a_fault(box: Sandbox) -> None:
    """All worlds are counted together; rules without `expect` are no checks."""
    call(box, "PUT", "/worlds/w1")
    for prefix in ("", "/~w1"):
        box.call("GET", f"{prefix}/12/accounts", keys=BEARER)

    assert [
        ("late/0", [UNFIRED.format("2 calls matched it, and it acts on call 2 only")])
    ] == faults(box)


@pytest.mark.parametrize("then", ["/reset", "/scenarios/deactivate", None])
def test_it_is_enough_that_a_rule_acted_once(box: Sandbox, then: str | None) -> None:
    """In any world, also one that is gone, was reset or in which the scenario is off."""
    call(box, "PUT", "/worlds/w1")
    for _ in range(2):
        box.call("GET", "/~w1/12/accounts", keys=BEARER)
    if then is None:
        call(box, "DELETE", "/worlds/w1")
    else:
        call(box, "POST", then, "w1")

    assert [("late/0", [])] == faults(box)


def test_a_scenario_of_the_start_that_was_switched_off_is_checked(box: Sandbox) -> None:
    """Switching it off does not make the check pass."""
    call(box, "POST", "/scenarios/deactivate")

    assert [("late/0", [UNFIRED.format("0 calls matched it")])] == faults(box)


def test_a_rule_for_one_request_alone_does_not_count(tmp_path: Path) -> None:
    """`X-Mock-Scenario` tries a rule; the active one still has to act."""
    file = tmp_path / "late.yaml"
    file.write_text(LATE.replace("    call: 2\n", ""))
    box = sandbox(scenarios=(str(file),))

    tried = box.call("GET", "/12/accounts", keys=BEARER, headers={"X-Mock-Scenario": "late"})

    assert 503 == tried.status_code
    assert [("late/0", [UNFIRED.format("1 call matched it")])] == faults(box)


def test_scenarios_that_clients_activated_are_checked_in_their_world() -> None:
    """That the rule acted in another world does not help."""
    box = sandbox()
    for name in ("w1", "w2"):
        call(box, "PUT", f"/worlds/{name}")
        call(
            box, "POST", "/scenarios/rate-limited/activate", name, json={"parameters": {"limit": 1}}
        )
    account = call(box, "GET", "/credentials").get_json()["accounts"][0]
    for _ in range(2):
        box.call("GET", f"/~w1/12/accounts/{account}/line_items", keys=BEARER)

    ((name, texts),) = faults(box)

    assert "rate-limited/0 in world w2" == name
    assert 1 == len(texts)


def test_requests_that_no_operation_answers_are_counted() -> None:
    """By method and path, without query, world and credentials, with the nearest operations."""
    watch = StrayWatch()
    near = {"mistake": "unknown-path", "nearest": [{"method": "GET", "path": "/12/accounts"}]}
    watch.observe(entry("/12/acounts?a=1", diagnosis=near))
    watch.observe(entry("/12/acounts?a=2", prefix=""))
    watch.observe(entry("/12/accounts", "PATCH", 405))

    assert [
        "2 x GET /12/acounts: 404; nearest: GET /12/accounts",
        "1 x PATCH /12/accounts: 405",
    ] == watch.describe()


@pytest.mark.parametrize(
    "more",
    [
        {"operation": "accounts.list", "status": 404},
        {"custom": "hello", "status": 404},
        {"status": 303},
        {"status": 413},
    ],
)
def test_other_requests_are_no_strays(more: dict[str, Any]) -> None:
    """What an operation or a user's own route answered, pages, and unreadable requests."""
    watch = StrayWatch()
    watch.observe(entry("/12/acounts", **more))

    assert [] == watch.describe()


@pytest.mark.parametrize(
    ("paths", "lines", "last"),
    [
        (20, 20, "1 x GET /p19: 404"),
        (21, 21, "and 1 more"),
        (1000, 21, "and 980 more"),
        (1001, 21, "and 981 more"),
    ],
)
def test_the_list_is_bounded(paths: int, lines: int, last: str) -> None:
    """Twenty lines are shown, a thousand kept, all counted."""
    watch = StrayWatch()
    for number in range(paths):
        watch.observe(entry(f"/p{number}"))

    found = watch.describe()

    assert (lines, last) == (len(found), found[-1])


def test_a_running_sandbox_reports_its_strays() -> None:
    """The watch is an observer of a platform; what the console and browsers ask for is left out."""
    box = sandbox()
    watch = StrayWatch()
    box.platform.observers.append(watch.observe)
    box.call("GET", "/12/acounts", keys=BEARER)
    box.call("GET", "/", keys=None, headers={"Accept": "text/html"})
    call(box, "GET", "/nowhere")

    (line,) = watch.describe()
    assert line.startswith("1 x GET /12/acounts: 404; nearest: GET /12/accounts")


def test_what_failed_is_described_by_headline() -> None:
    """Checks that passed are not mentioned; texts of several lines are indented."""
    verdict = RunVerdict(
        [
            RunCheck("rules", "a/0", ["one"], "rules that had to act and did not"),
            *check_requests(StrayWatch(), {"requests": 0, "warnings": []}),
            RunCheck("rules", "b/0", ["two"], "rules that had to act and did not"),
            check_faults([ValueError("broken")]),
        ]
    )

    assert verdict.has_failed
    assert [
        "mock-platform: rules that had to act and did not:",
        "  one",
        "  two",
        "mock-platform: the sandbox itself failed:",
        "  ValueError: broken",
    ] == list(verdict.describe())


def test_nothing_failed() -> None:
    """Without faults there is nothing to say."""
    verdict = RunVerdict([check_faults([])])

    assert (False, []) == (verdict.has_failed, list(verdict.describe()))
