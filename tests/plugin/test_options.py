from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from tests.plugin.conftest import Run
from tests.plugin.reading import headings, section

ONE = """
def test_it(mock_platform):
    assert mock_platform.session("oauth1").get("/12/accounts").status_code == 200
"""


IGNORED = """
import pytest

@pytest.mark.parametrize("number", range(2))
def test_it(mock_platform, number):
    answer = mock_platform.session("oauth1").get("/12/accounts?cuont=7")
    assert answer.status_code == 200, answer.text
"""


# -- warnings ------------------------------------------------------------------------------------


def test_warnings_are_summed_up(wherever: Run) -> None:
    """Code, operation, how often, and the first example; the run passes."""
    result = wherever(IGNORED)

    result.assert_outcomes(passed=2)
    assert pytest.ExitCode.OK == result.ret
    assert [
        "2 x unknown-parameter, accounts.list: GET /12/accounts?cuont=7: parameter 'cuont' is not "
        "one of this operation and was ignored; did you mean 'count'?"
    ] == section(result, "mock_platform: 2 requests with warnings")


def test_warnings_may_be_errors(wherever: Run) -> None:
    """`--mock-warnings=error` answers 400 and says which warning; other tests pass as before."""
    result = wherever(IGNORED + ONE.replace("test_it", "test_sound"), "--mock-warnings=error")

    result.assert_outcomes(passed=1, failed=2)
    assert any(
        "Warning unknown-parameter, and warnings are errors here: parameter 'cuont'" in line
        for line in result.stdout.lines
    )
    assert section(result, "mock_platform: 2 requests with warnings")


def test_without_warnings_there_is_no_summary(wherever: Run) -> None:
    """A run whose requests were read as a whole says nothing of it."""
    assert not any("with warnings" in heading for heading in headings(wherever(ONE)))


# -- coverage ------------------------------------------------------------------------------------


def test_coverage_is_summed_up(run: Run) -> None:
    """`--mock-coverage` alone prints the totals of the run."""
    result = run(ONE, "--mock-coverage")

    lines = section(result, "mock_platform: contract coverage")
    assert lines[0].startswith("Contract coverage 0.")
    assert re.match(r"Operations called +1/", lines[2])


def test_coverage_goes_to_files(pytester: pytest.Pytester, run: Run) -> None:
    """The name's ending decides the form; folders are made."""
    names = ["out/a.html", "out/a.xml", "out/a.json", "out/a.txt"]
    result = run(ONE, *(f"--mock-coverage={name}" for name in names))

    html, xml, document, text = (pytester.path.joinpath(name).read_text() for name in names)
    assert html.startswith("<!doctype html>")
    assert "testsuites" == ET.fromstring(xml).tag
    assert 1 == json.loads(document)["totals"]["operations"]["covered"]
    assert text.startswith("Contract coverage 0.")
    lines = section(result, "mock_platform: contract coverage")
    assert [f"written to {name}" for name in names] == lines[-4:]


def test_without_the_option_nothing_is_told(run: Run) -> None:
    """Coverage is counted by the server in any case, and reported on demand."""
    assert not any("coverage" in heading for heading in headings(run(ONE)))


def test_too_little_coverage_fails_the_run(run: Run) -> None:
    """A run whose tests all pass fails under the gate, and says by how much."""
    result = run(ONE, "--mock-coverage-fail-under=50")

    assert pytest.ExitCode.TESTS_FAILED == result.ret
    result.assert_outcomes(passed=1)
    (line,) = [line for line in result.stdout.lines if line.startswith("FAILED: ")]
    assert line.endswith(" % is below the required 50 %")


def test_the_gate_is_open_at_its_own_mark(run: Run) -> None:
    """As much as was asked for is enough."""
    document = "--mock-coverage=a.json"
    run(ONE, document)
    lines = run(ONE, document, "--mock-coverage-fail-under=0").stdout.lines
    percent = next(line.split()[2] for line in lines if line.startswith("Contract coverage"))

    reached = run(ONE, f"--mock-coverage-fail-under={percent}")
    missed = run(ONE, f"--mock-coverage-fail-under={float(percent) + 0.1:.1f}")

    assert (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) == (reached.ret, missed.ret)


def test_a_run_without_the_sandbox_covers_nothing(run: Run) -> None:
    """The gate does not open because no test used the sandbox."""
    result = run("def test_it(): pass", "--mock-coverage-fail-under=1")

    assert pytest.ExitCode.TESTS_FAILED == result.ret
    assert ["no test used the sandbox", "FAILED: 0 % is below the required 1 %"] == section(
        result, "mock_platform: contract coverage"
    )


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "--mock-coverage=tests",
            "argument --mock-coverage: 'tests' has no known format: the name of the file must end "
            "in .html, .json, .txt, .xml. Without a file, write the option last, or "
            "'--mock-coverage='.",
        ),
        *(
            (
                f"--mock-coverage-fail-under={wrong}",
                f"argument --mock-coverage-fail-under: '{wrong}' is not a percentage: write "
                "a number from 0 to 100.",
            )
            for wrong in ("101", "-1", "half", "nan")
        ),
    ],
)
def test_a_bad_option_is_told(run: Run, option: str, told: str) -> None:
    """What an option does not take ends the run with status 4."""
    result = run(ONE, option)

    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert f"pytest.main(): error: {told}" in result.stderr.lines
