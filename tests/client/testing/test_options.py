from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from mock_platform import MockPlatform, pytest_plugin
from mock_platform.verification.coverage.pages import SUFFIXES
from tests.client.testing.conftest import Run
from tests.client.testing.reading import headings, section

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


def test_a_sound_run_has_no_summary(wherever: Run) -> None:
    """Of warnings, if requests were read as a whole; of coverage, unless it is asked for."""
    found = headings(wherever(ONE))

    assert not any("with warnings" in heading or "coverage" in heading for heading in found)


# -- costs ---------------------------------------------------------------------------------------


def test_the_sum_of_costs_is_told(wherever: Run) -> None:
    """A line at the end, if the calls of all tests together would have cost something."""
    billed = IGNORED.replace("/12/accounts?cuont=7", "/2/users/me")

    assert not any("would have cost" in line for line in wherever(ONE).stdout.lines)
    assert any(
        line.startswith("mock_platform: 2 calls would have cost $0.020 (prices of ")
        for line in wherever(billed).stdout.lines
    )


# -- coverage ------------------------------------------------------------------------------------


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


def test_the_gate_is_open_at_its_own_mark(run: Run) -> None:
    """As much as was asked for is enough; a run with less fails though its tests pass."""
    document = "--mock-coverage=a.json"
    run(ONE, document)
    lines = run(ONE, document, "--mock-coverage-fail-under=0").stdout.lines
    percent = next(line.split()[2] for line in lines if line.startswith("Contract coverage"))

    reached = run(ONE, f"--mock-coverage-fail-under={percent}")
    missed = run(ONE, f"--mock-coverage-fail-under={float(percent) + 0.1:.1f}")

    assert (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) == (reached.ret, missed.ret)
    missed.assert_outcomes(passed=1)
    (line,) = [line for line in missed.stdout.lines if line.startswith("FAILED: ")]
    assert f" % is below the required {float(percent) + 0.1:.1f} %" in line


def test_a_run_without_the_sandbox_covers_nothing(run: Run) -> None:
    """The gate does not open because no test used the sandbox."""
    result = run("def test_it(): pass", "--mock-coverage-fail-under=1")

    assert pytest.ExitCode.TESTS_FAILED == result.ret
    assert ["no test used the sandbox", "FAILED: 0 % is below the required 1 %"] == section(
        result, "mock_platform: contract coverage"
    )


def test_a_scope_is_counted_alone(wherever: Run) -> None:
    """The percentage, the gate and the files are those of the operations of the scope."""
    result = wherever(ONE, "--mock-coverage-only=accounts.list,oauth.*", "--mock-coverage=a.json")
    options = ("--mock-coverage-only=accounts.list", "--mock-coverage-fail-under=5")
    gate = wherever(ONE, *options)

    lines = section(result, "mock_platform: contract coverage")
    assert lines[0].endswith(" % of accounts.list, oauth.*")
    assert (pytest.ExitCode.OK, pytest.ExitCode.OK) == (result.ret, gate.ret)


REFUSED = """
def test_refused(mock_platform):
    assert mock_platform.session("oauth1").get("/12/accounts?count=0").status_code == 400
"""


def test_no_outcome_of_the_baseline_may_be_lost(pytester: pytest.Pytester, run: Run) -> None:
    """A run with fewer outcomes fails and names them; the baseline is not written smaller."""
    file = "contract/a.baseline"
    written = run(ONE + REFUSED, f"--mock-coverage={file}")
    text = pytester.path.joinpath(file).read_text()
    kept = run(ONE + REFUSED, f"--mock-coverage-baseline={file}")
    options = (f"--mock-coverage={file}", f"--mock-coverage-baseline={file}")
    lost = run(ONE, *options)
    unused = run("def test_it(): pass", *options)

    ok, failed = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED
    assert [ok, ok, failed, failed] == [each.ret for each in (written, kept, lost, unused)]
    title = "mock_platform: contract coverage"
    assert [
        f"not written, because outcomes are lost: {file}",
        f"FAILED: 1 outcome of {file} that earlier runs covered was not covered",
        "  accounts.list 400 INVALID_PARAMETER",
    ] == section(lost, title)[-3:]
    assert [
        "no test used the sandbox",
        f"FAILED: 2 outcomes of {file} that earlier runs covered were not covered",
        "  accounts.list 200",
        "  accounts.list 400 INVALID_PARAMETER",
    ] == section(unused, title)
    assert text == pytester.path.joinpath(file).read_text()


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--mock-coverage-only=acounts.*",
         "ERROR: --mock-coverage-only: 'acounts.*' matches no operation; did you mean "
         "'accounts.*'? (`mock-platform operations` lists them)"),
        ("--mock-coverage-baseline=nowhere",
         "ERROR: --mock-coverage-baseline: nowhere:1:1: cannot be read: "),
        ("--mock-coverage-baseline=bad.baseline",
         "ERROR: --mock-coverage-baseline: bad.baseline:1:1: there is no operation 'acounts.list'. "
         "Did you mean 'accounts.list'?"),
    ],
)  # fmt: skip
def test_a_gate_that_judges_nothing_is_refused(
    pytester: pytest.Pytester, run: Run, option: str, told: str
) -> None:
    """A typo ends the run before its first test, with status 4."""
    pytester.path.joinpath("bad.baseline").write_text("acounts.list 200\n")

    result = run(ONE, option)

    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert any(line.startswith(told) for line in result.stderr.lines)


def test_the_endings_are_those_of_the_formats() -> None:
    """The plugin does not import the package to refuse a name, so it has its own list."""
    assert tuple(SUFFIXES) == pytest_plugin._SUFFIXES


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "--mock-coverage=tests",
            "argument --mock-coverage: 'tests' has no known format: the name of the file must end "
            "in .html, .json, .txt, .xml, .baseline. Without a file, write the option last, or "
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


# -- cases ---------------------------------------------------------------------------------------

FAILING = """
import pytest

@pytest.mark.parametrize("name", ["a/b", "../c"])
def test_it(mock_platform, name):
    mock_platform.session("oauth1").post("/2/posts", json={"text": name})
    assert name == "never"

def test_sound(mock_platform):
    pass

def test_without():
    assert not "a world"
"""


def test_failing_tests_leave_cases(wherever: Run, pytester: pytest.Pytester) -> None:
    """Each that has a world leaves one file, and names the command that opens it."""
    result = wherever(FAILING, "--mock-cases=out/deep")
    files = sorted((pytester.path / "out" / "deep").iterdir())
    named = [line for line in result.outlines if line.startswith("mock-platform open ")]

    result.assert_outcomes(passed=1, failed=3)
    assert 2 == len(files)
    assert {f"mock-platform open {file}" for file in files} == set(named)
    for file in files:
        with MockPlatform.open_case(file) as again:
            assert 1 == len(again.journal)
            assert [] == again.differences


def test_a_folder_for_cases_that_is_a_file(run: Run, pytester: pytest.Pytester) -> None:
    """It is refused before any test runs."""
    pytester.path.joinpath("taken").write_text("")
    refused = run(FAILING, "--mock-cases=taken/more")

    assert pytest.ExitCode.USAGE_ERROR == refused.ret
    assert "is a file, not a folder" in str(refused.stderr)


def test_costs_of_each_test_have_its_id(run: Run) -> None:
    """By test, costs are those of node ids."""
    run(
        """
        import pytest

        @pytest.mark.parametrize("who", ["me", "2244994945"])
        def test_read(mock_platform, who):
            mock_platform.session("oauth1").get(f"/2/users/{who}")
            (item,) = mock_platform.costs("test")["items"]
            assert item["key"].endswith(f".py::test_read[{who}]")
            assert item["usd"] == "0.010"
        """
    ).assert_outcomes(passed=2)
