from __future__ import annotations

from typing import Any

import pytest

from tests.client.testing.conftest import Run
from tests.client.testing.reading import section

SUITES = {
    # `mock_scenario` switches on by name; of several all act.
    "scenarios": (1, """
import requests

@pytest.mark.mock_clock("2026-03-01T12:00:00Z")
@pytest.mark.mock_scenario("usage-capped", period="Daily")
@pytest.mark.mock_scenario("answer-lost", on="accounts.list")
def test_it(mock_platform):
    app, user = mock_platform.session("bearer"), mock_platform.session("oauth1")
    with pytest.raises(requests.ConnectionError):
        user.get("/12/accounts")
    assert user.get("/12/accounts").status_code == 200
    job = {"from_date": "202603010000", "to_date": "202603010100", "webhook_id": "1"}
    assert app.post("/2/webhooks/replay", json=job).json()["period"] == "Daily"
"""),
    # A file is found in the folder of the test's file.
    "a scenario in a file": (1, """
@pytest.mark.mock_scenario("./down.yaml")
def test_it(mock_platform):
    assert mock_platform.session("oauth1").get("/12/accounts").status_code == 503
"""),
    # `mock_fixtures` holds for its test alone, and after a reset as well.
    "fixtures over those of the server": (2, """
@pytest.mark.mock_fixtures("more")
def test_with(mock_platform):
    assert "9" in mock_platform.state["users"]
    assert "3805104374" in mock_platform.state["users"]
    mock_platform.reset()
    assert "9" in mock_platform.state["users"]

def test_without(mock_platform):
    assert "9" not in mock_platform.state["users"]
"""),
    # `mock_clock` freezes the world's clock; the nearest marker wins.
    "the clock": (2, """
from datetime import datetime, UTC

pytestmark = pytest.mark.mock_clock("2025-01-01T00:00:00Z")

@pytest.mark.mock_clock(datetime(2026, 3, 1, 12, tzinfo=UTC))
def test_near(mock_platform):
    assert mock_platform.clock.now().isoformat() == "2026-03-01T12:00:00+00:00"
    assert mock_platform.clock.frozen

def test_far(mock_platform):
    assert mock_platform.clock.now().year == 2025
"""),
    # Fixtures, the test's own among them, count from the frozen clock; a reset returns to it.
    "the beginning of the clock": (1, """
@pytest.mark.mock_clock("2025-01-01T00:00:00Z")
@pytest.mark.mock_fixtures("more")
def test_it(mock_platform):
    event, own = map(mock_platform.state["events"].get, ("1990134709188526080", "5"))
    assert event["created_at"] == "2024-12-31T01:00:00.000Z"  # now-23h
    assert own["created_at"] == "2024-12-31T22:00:00.000Z"
    mock_platform.clock.advance(hours=1)
    mock_platform.reset()
    assert mock_platform.clock.now().isoformat() == "2025-01-01T00:00:00+00:00"
    assert mock_platform.clock.frozen
"""),
}  # fmt: skip
FILES = {
    "down.yaml": """{"name": "down", "rules": [
        {"on": "accounts.list", "then": {"respond": {"status": 503}}}]}""",
    "more/users.json": """[{"id": "9", "screen_name": "nine", "name": "N"}]""",
    "more/events.json": """[{"id": "5", "webhook_id": "1146654567674912769", "payload": {},
        "event_type": "post.create", "created_at": "now-2h"}]""",
}


@pytest.mark.parametrize(("passed", "source"), SUITES.values(), ids=SUITES)
def test_what_a_marker_does(
    pytester: pytest.Pytester, wherever: Run, passed: int, source: str
) -> None:
    """Each suite passes, with a server of the run's own and with one elsewhere."""
    pytester.mkdir("more")
    for name, text in FILES.items():
        pytester.path.joinpath(name).write_text(text)

    wherever(f"import pytest\n{source}").assert_outcomes(passed=passed)


def test_markers_are_registered(pytester: pytest.Pytester) -> None:
    """`pytest --markers` explains each."""
    lines = pytester.runpytest_inprocess("--markers").stdout.lines

    told = [line for line in lines if line.startswith("@pytest.mark.mock_")]
    assert [
        "@pytest.mark.mock_scenario(name, **parameters): activate a scenario in the test's world, "
        "by its name or its file; can be used several times.",
        "@pytest.mark.mock_fixtures(path): add a folder of fixtures to those of the server; "
        "relative to the test's file.",
        "@pytest.mark.mock_clock(instant): stop the clock of the test's world at this moment, "
        "ISO 8601.",
        "@pytest.mark.mock_strict: refuse what the specification does not show.",
        "@pytest.mark.mock_names(names): let the test's clients use and get 'original' or "
        "'neutral' names.",
        "@pytest.mark.mock_wire(wire): let answers be as on this wire, such as 'recorded'.",
        "@pytest.mark.mock_as_of(date): let the contract of the test's world be that of this date, "
        "ISO 8601.",
        "@pytest.mark.mock_warnings(warnings): with 'error', refuse requests of which something is "
        "ignored; with 'ignore', answer them.",
    ] == told


@pytest.mark.parametrize(
    ("marker", "wrong", "path", "marked", "plain", "header", "told"),
    [
        ("mock_names('original')", "mock_names('old')", "/11/accounts", 200, 404,
         ("X-Mock-Names", "original"),
         "mock_names(names): names is 'neutral' or 'original', not 'old'"),
        ("mock_wire('recorded,missing=200')", "mock_wire('recoded')", "/2/users/99", 200, 404,
         ("x-access-level", "read"), "mock_wire(wire): a wire is *Did you mean 'recorded'?"),
        ("mock_as_of('2025-11-18')", "mock_as_of('soon')", "/2/news/search?query=coffee", 404, 200,
         ("X-Mock-As-Of", "2025-11-18"), "mock_as_of(date): as_of: *; a date is 2026-03-01"),
        ("mock_warnings('error')", "mock_warnings('errors')", "/12/accounts?odd=1", 400, 200,
         ("X-Mock-Warnings", "unknown-parameter"),
         "mock_warnings(warnings): warnings is 'ignore' or 'error', not 'errors'"),
    ],
    ids=["names", "wire", "date", "warnings"],
)  # fmt: skip
def test_the_interface_is_chosen_for_a_test(
    wherever: Run,
    marker: str,
    wrong: str,
    path: str,
    marked: int,
    plain: int,
    header: Any,
    told: str,
) -> None:
    """One test has names, a wire, a date or warnings of its own; a wrong value is refused."""
    result = wherever(
        f"""
        import pytest

        @pytest.mark.{marker}
        def test_marked(mock_platform):
            answer = mock_platform.session("bearer").get({path!r})
            name, value = {header!r}
            assert (answer.status_code, answer.headers[name]) == ({marked}, value)

        def test_plain(mock_platform):
            assert mock_platform.session("bearer").get({path!r}).status_code == {plain}

        @pytest.mark.{wrong}
        def test_wrong(mock_platform):
            pass
        """
    )

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines([f"*{told}*"])


def test_strict_is_another_server(run: Run) -> None:
    """`mock_strict` refuses an unknown parameter that the other tests may send."""
    result = run(
        """
        import pytest

        @pytest.mark.mock_strict
        def test_strict(mock_platform):
            assert mock_platform.session("oauth1").get("/12/accounts?odd=1").status_code == 501

        def test_lenient(mock_platform):
            assert mock_platform.session("oauth1").get("/12/accounts?odd=1").status_code == 200
        """
    )

    result.assert_outcomes(passed=2)


def test_a_marker_brings_the_fixture(run: Run) -> None:
    """A marked test has its world prepared although it does not name the fixture."""
    result = run(
        """
        import pytest

        @pytest.mark.mock_scenario("replay-conflict")
        def test_it(request):
            assert "mock_platform" in request.fixturenames
        """
    )

    result.assert_outcomes(failed=1)
    assert [
        "mock_platform: Scenario replay-conflict, rule 0, was expected to act but never did; 0 "
        "calls matched it."
    ] == section(result, "test_it")


@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ("mock_clock(5)", "@pytest.mark.mock_clock(instant): an instant must be a datetime or ISO "
         "8601 text, not 5"),
        ("mock_clock('tomorrow')", "mock_clock('tomorrow'): 'tomorrow' is not an ISO 8601 "
         "date-time such as 2026-11-20T10:00:00Z"),
        ("mock_fixtures('nowhere')", "mock_fixtures: {here}/nowhere:1:1: is no folder of fixture "
         "files: it does not exist"),
        ("mock_scenario('usage-caped')", "mock_scenario: There is no scenario 'usage-caped'. Did "
         "you mean 'usage-capped'? GET /_mock/scenarios lists those there are; PUT "
         "/_mock/scenarios/NAME defines one."),
        ("mock_scenario('catalog-exists', user='1')", "mock_scenario: The scenario "
         "'catalog-exists' cannot be activated so: user: is no parameter; its parameters: none."),
        ("mock_scenario()", "@pytest.mark.mock_scenario(name, **parameters): missing a required "
         "argument: 'name'"),
        ("mock_strict(True)", "@pytest.mark.mock_strict: too many positional arguments"),
    ],
)  # fmt: skip
def test_a_bad_marker_is_told(pytester: pytest.Pytester, run: Run, marker: str, told: str) -> None:
    """What is wrong with a marker is shown alone, without a traceback."""
    result = run(f"import pytest\n@pytest.mark.{marker}\ndef test_it(mock_platform): pass\n")

    result.assert_outcomes(errors=1)
    told = told.replace("{here}", str(pytester.path))
    assert [f"mock_platform: {told}"] == section(result, "ERROR at setup of test_it")


def test_a_misspelt_marker_fails(pytester: pytest.Pytester) -> None:
    """Its test would else pass without what it asks for; a marker that looks otherwise may."""
    pytester.makepyfile("""
        import pytest

        @pytest.mark.mock_scenarios("outage")
        def test_misspelt(): pass

        @pytest.mark.mock_service("shop")
        def test_unlike(): pass
        """)

    result = pytester.runpytest_inprocess("-W", "default::pytest.PytestUnknownMarkWarning")

    # How many warnings there are depends on the markers that runs before in this process declared.
    result.assert_outcomes(errors=1, passed=1)
    assert [
        "mock_platform: there is no marker 'mock_scenarios'. Did you mean 'mock_scenario'? If it "
        "is your own, name it in the setting 'markers' of pytest."
    ] == section(result, "ERROR at setup of test_misspelt")


def test_a_marker_of_somebody_else_is_theirs(pytester: pytest.Pytester, run: Run) -> None:
    """What a suite declares may look like one of ours."""
    pytester.makeini("[pytest]\nmarkers = mock_scenarios(names): of this suite")

    result = run("""
        import pytest

        @pytest.mark.mock_scenarios("outage")
        def test_own(): pass
        """)

    result.assert_outcomes(passed=1)
