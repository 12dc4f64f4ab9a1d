from __future__ import annotations

import json

import pytest

from mock_platform import MockPlatform
from tests.client.testing.reading import section

SUITE = """
import pytest, requests

urls = []

@pytest.mark.parametrize("number", range(6))
def test_it(mock_platform, number):
    assert 0 == len(mock_platform.journal)
    assert mock_platform.session("oauth1").get("/12/accounts").status_code == 200

def test_first(mock_platform):
    urls.append(mock_platform.base_url)
    mock_platform.session("oauth1").get("/12/accounts?cuont=7")

def test_late():
    for url in urls:
        requests.get(url + "/12/accounts", timeout=120)
"""


def _run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=SUITE)
    return pytester.runpytest_subprocess(
        "-n", "2", "--dist", "loadfile", "-p", "no:randomly",
        "--mock-coverage=all.json", "--mock-coverage-only=accounts.*", *options,
    )  # fmt: skip


@pytest.mark.live
@pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
def test_workers_are_put_together(pytester: pytest.Pytester, *, shared: bool) -> None:
    """Coverage, warnings and late requests of the workers reach the controller, which sums up."""
    pytester.makepyfile(test_other=SUITE.replace('/12/accounts"', '/12/accounts?count=2"'))
    with MockPlatform.start() as platform:
        url = [f"--mock-platform-url={platform.base_url}"] if shared else []
        result = _run(pytester, "--mock-coverage-fail-under=90", *url)
        left = platform.worlds

    result.assert_outcomes(passed=16)
    assert pytest.ExitCode.TESTS_FAILED == result.ret
    assert ["default"] == left
    document = json.loads(pytester.path.joinpath("all.json").read_text())
    (row,) = [row for row in document["operations"] if row["id"] == "accounts.list"]
    assert row["requests"] >= 12
    assert all(row["id"].startswith("accounts.") for row in document["operations"])
    assert any(
        line.startswith("FAILED: ") and line.endswith(" % is below the required 90 %")
        for line in section(result, "mock_platform: contract coverage")
    )
    (line,) = section(result, "mock_platform: 2 requests with warnings")
    assert line.startswith("2 x unknown-parameter, accounts.list: GET /12/accounts?cuont=7: ")
    if not shared:  # there a world lives as long as its worker
        assert {
            "test_it.py::test_first: GET /12/accounts",
            "test_other.py::test_first: GET /12/accounts",
        } == set(section(result, "mock_platform: requests after their test's end"))
