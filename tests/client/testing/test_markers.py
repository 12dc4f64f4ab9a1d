from __future__ import annotations

import pytest

from tests.client.testing.conftest import Run
from tests.client.testing.reading import section


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
    ] == told


def test_a_scenario_acts_with_its_parameters(wherever: Run) -> None:
    """`mock_scenario` switches on by name; of several all act."""
    result = wherever(
        """
        import pytest, requests

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
        """
    )

    result.assert_outcomes(passed=1)


def test_a_scenario_may_be_a_file(pytester: pytest.Pytester, wherever: Run) -> None:
    """A file is found in the folder of the test's file."""
    pytester.path.joinpath("down.yaml").write_text(
        '{"name": "down", "rules": [{"on": "accounts.list", "then": {"respond": {"status": 503}}}]}'
    )

    result = wherever(
        """
        import pytest

        @pytest.mark.mock_scenario("./down.yaml")
        def test_it(mock_platform):
            assert mock_platform.session("oauth1").get("/12/accounts").status_code == 503
        """
    )

    result.assert_outcomes(passed=1)


def test_fixtures_are_laid_over_those_of_the_server(
    pytester: pytest.Pytester, wherever: Run
) -> None:
    """`mock_fixtures` holds for its test alone, and after a reset as well."""
    folder = pytester.mkdir("more")
    folder.joinpath("users.json").write_text('[{"id": "9", "screen_name": "nine", "name": "N"}]')

    result = wherever(
        """
        import pytest

        @pytest.mark.mock_fixtures("more")
        def test_with(mock_platform):
            assert "9" in mock_platform.state["users"]
            assert "3805104374" in mock_platform.state["users"]
            mock_platform.reset()
            assert "9" in mock_platform.state["users"]

        def test_without(mock_platform):
            assert "9" not in mock_platform.state["users"]
        """
    )

    result.assert_outcomes(passed=2)


def test_the_clock_stands_still(wherever: Run) -> None:
    """`mock_clock` freezes the world's clock; the nearest marker wins."""
    result = wherever(
        """
        import pytest
        from datetime import datetime, UTC

        pytestmark = pytest.mark.mock_clock("2025-01-01T00:00:00Z")

        @pytest.mark.mock_clock(datetime(2026, 3, 1, 12, tzinfo=UTC))
        def test_near(mock_platform):
            assert mock_platform.clock.now().isoformat() == "2026-03-01T12:00:00+00:00"
            assert mock_platform.clock.frozen

        def test_far(mock_platform):
            assert mock_platform.clock.now().year == 2025
        """
    )

    result.assert_outcomes(passed=2)


def test_the_clock_is_where_the_world_begins(wherever: Run) -> None:
    """Fixtures count their moments from the frozen clock, and a reset returns to it."""
    result = wherever(
        """
        import pytest

        @pytest.mark.mock_clock("2025-01-01T00:00:00Z")
        def test_it(mock_platform):
            event = mock_platform.state["events"].get("1990134709188526080")  # now-23h
            assert event["created_at"] == "2024-12-31T01:00:00.000Z"
            mock_platform.clock.advance(hours=1)
            mock_platform.reset()
            assert mock_platform.clock.now().isoformat() == "2025-01-01T00:00:00+00:00"
            assert mock_platform.clock.frozen
        """
    )

    result.assert_outcomes(passed=1)


def test_names_are_chosen_for_a_test(wherever: Run) -> None:
    """`mock_names` lets one test use original names; a wrong value is refused."""
    result = wherever(
        """
        import pytest

        @pytest.mark.mock_names("original")
        def test_original(mock_platform):
            answer = mock_platform.session("bearer").get("/11/accounts")
            assert answer.headers["X-Mock-Names"] == "original"

        def test_neutral(mock_platform):
            assert mock_platform.session("bearer").get("/11/accounts").status_code == 404

        @pytest.mark.mock_names("old")
        def test_wrong(mock_platform):
            pass
        """
    )

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*mock_names(names): names is 'neutral' or 'original', not 'old'*"]
    )


def test_the_wire_is_chosen_for_a_test(wherever: Run) -> None:
    """With `mock_wire` one test has a wire of its own; a wrong value is refused."""
    result = wherever(
        """
        import pytest

        @pytest.mark.mock_wire("recorded,missing=200")
        def test_recorded(mock_platform):
            answer = mock_platform.session("bearer").get("/2/users/99")
            assert (200, "read") == (answer.status_code, answer.headers["x-access-level"])

        def test_documented(mock_platform):
            answer = mock_platform.session("bearer").get("/2/users/99")
            assert answer.status_code == 404

        @pytest.mark.mock_wire("recoded")
        def test_wrong(mock_platform):
            pass
        """
    )

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*mock_wire(wire): a wire is *Did you mean 'recorded'?*"])


def test_the_contract_of_a_date_is_chosen_for_a_test(wherever: Run) -> None:
    """With `mock_as_of` one test has the contract of a date; a wrong value is refused."""
    result = wherever(
        """
        import pytest

        @pytest.mark.mock_as_of("2025-11-18")
        def test_old(mock_platform):
            answer = mock_platform.session("bearer").get("/2/news/search?query=coffee")
            assert answer.status_code == 404
            assert answer.headers["X-Mock-As-Of"] == "2025-11-18"

        def test_new(mock_platform):
            answer = mock_platform.session("bearer").get("/2/news/search?query=coffee")
            assert answer.status_code == 200

        @pytest.mark.mock_as_of("soon")
        def test_wrong(mock_platform):
            pass
        """
    )

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*mock_as_of(date): as_of: *; a date is 2026-03-01*"])


def test_fixtures_count_from_the_clock_as_well(pytester: pytest.Pytester, wherever: Run) -> None:
    """Both markers together: moments of the test's own fixtures count from its clock."""
    folder = pytester.mkdir("more")
    folder.joinpath("events.json").write_text(
        '[{"id": "5", "webhook_id": "1146654567674912769", "event_type": "post.create", '
        '"created_at": "now-2h", "payload": {}}]'
    )
    result = wherever(
        """
        import pytest

        @pytest.mark.mock_clock("2025-01-01T12:00:00Z")
        @pytest.mark.mock_fixtures("more")
        def test_it(mock_platform):
            event = mock_platform.state["events"].get("5")
            assert event["created_at"] == "2025-01-01T10:00:00.000Z"
        """
    )

    result.assert_outcomes(passed=1)


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
        (
            "mock_clock(5)",
            "@pytest.mark.mock_clock(instant): an instant must be a datetime or ISO 8601 text, "
            "not 5",
        ),
        (
            'mock_scenario("usage-caped")',
            "mock_scenario: There is no scenario 'usage-caped'. Did you mean 'usage-capped'? GET "
            "/_mock/scenarios lists those there are; PUT /_mock/scenarios/NAME defines one.",
        ),
        (
            'mock_scenario("catalog-exists", user="1")',
            "mock_scenario: The scenario 'catalog-exists' cannot be activated so: user: is no "
            "parameter; its parameters: none.",
        ),
        (
            "mock_scenario()",
            "@pytest.mark.mock_scenario(name, **parameters): missing a required argument: 'name'",
        ),
        (
            "mock_strict(True)",
            "@pytest.mark.mock_strict: too many positional arguments",
        ),
    ],
)
def test_a_bad_marker_is_told(run: Run, marker: str, told: str) -> None:
    """What is wrong with a marker is shown alone, without a traceback."""
    result = run(f"import pytest\n@pytest.mark.{marker}\ndef test_it(mock_platform): pass\n")

    result.assert_outcomes(errors=1)
    assert [f"mock_platform: {told}"] == section(result, "ERROR at setup of test_it")


def test_a_folder_and_a_moment_that_are_none_are_told(pytester: pytest.Pytester, run: Run) -> None:
    """Fixtures and clock name their arguments."""
    result = run(
        """
        import pytest

        @pytest.mark.mock_fixtures("nowhere")
        def test_fixtures(mock_platform): pass

        @pytest.mark.mock_clock("tomorrow")
        def test_clock(mock_platform): pass
        """
    )

    result.assert_outcomes(errors=2)
    place = pytester.path / "nowhere"
    assert [
        f"mock_platform: mock_fixtures: {place}:1:1: is no folder of fixture files: it does not "
        "exist"
    ] == section(result, "ERROR at setup of test_fixtures")
    assert [
        "mock_platform: mock_clock('tomorrow'): 'tomorrow' is not an ISO 8601 date-time such as "
        "2026-11-20T10:00:00Z"
    ] == section(result, "ERROR at setup of test_clock")
