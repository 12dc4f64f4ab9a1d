from __future__ import annotations

import inspect
import re
from urllib.parse import urlsplit

import pytest
import requests

from tests.client.conftest import fail
from tests.client.testing.conftest import Run
from tests.client.testing.reading import headings, section

FAILING = """
import pytest

@pytest.mark.mock_clock("2026-03-01T12:00:00Z")
@pytest.mark.mock_scenario("line-item-delete-retried", line_item_id="8v7jo")
def test_it(mock_platform):
    session = mock_platform.session("oauth1")
    account = mock_platform.credentials["accounts"][0]
    session.get("/12/accounts?count=x")
    session.delete(f"/12/accounts/{account}/line_items/itttx")
    session.delete(f"/12/accounts/{account}/line_items/itttx")
    assert not "as expected"
"""


def test_a_failing_test_tells_its_story(run: Run) -> None:
    """Requests with their answers and changes, rules that kept still, and what kept them."""
    result = run(FAILING)

    result.assert_outcomes(failed=1)
    assert [
        "1. 12:00:00.000 GET /12/accounts?count=x -> 400 accounts.list",
        '     why: Expected Integer, got "x" for count.',
        '     answer: {"errors":[{"code":"INVALID_PARAMETER","message":"Expected Integer, got '
        '\\"x\\" for count","parameter":"count","details":"invalid number","value":"x"}],'
        '"request":{"params":{}}}',
        "2. 12:00:00.000 DELETE /12/accounts/18ce54d4x5t/line_items/itttx -> 200 line_items.delete",
        "     created: account_history gmgrkic741",
        "     changed: line_items itttx",
        "3. 12:00:00.000 DELETE /12/accounts/18ce54d4x5t/line_items/itttx -> 404 line_items.delete",
        "     the same request as 2",
        "     why: line_item_id: No line item has the id 'itttx'.",
        '     answer: {"errors":[{"code":"LINE_ITEM_NOT_FOUND","message":"No line item has the id '
        '\'itttx\'","parameter":"line_item_id"}],"request":{"params":{'
        '"account_id":"18ce54d4x5t","line_item_id":"itttx"}}}',
    ] == section(result, "mock_platform journal")
    assert [
        "line-item-delete-retried/0: never acted; 0 calls matched it, on line_items.delete, "
        "and it acts on call 1 only"
    ] == section(result, "mock_platform rules that never acted")
    assert [
        'request 2: line-item-delete-retried/0: path.line_item_id: expected "8v7jo", got "itttx"',
        'request 3: line-item-delete-retried/0: path.line_item_id: expected "8v7jo", got "itttx"',
    ] == section(result, "mock_platform nearest misses")


def test_the_whole_journal_is_shown_on_demand(run: Run) -> None:
    """With the option, headers and bodies of all requests are shown, credentials redacted."""
    result = run(
        """
        import pytest

        @pytest.mark.mock_clock("2026-03-01T12:00:00Z")
        def test_it(mock_platform):
            platform = mock_platform.session("bearer")
            platform.post("/2/webhooks/replay?oauth_token=secret", json={"from_date": "now"})
            print(mock_platform.base_url)
            assert 0
        """,
        "--mock-journal-on-failure",
    )

    (base_url,) = section(result, "Captured stdout call")
    body = (
        f'{{"type":"{base_url}/2/problems/invalid-request","title":"Invalid Request","detail":"One '
        'or more parameters to your request was invalid.","status":400,"errors":[{"message":'
        '"$.webhook_id: is missing but it is required","parameters":{"webhook_id":[]}},{"message":'
        '"$.from_date: does not match the regex pattern ^[0-9]{12}$","parameters":'
        '{"from_date":["now"]}},{"message":"$.to_date: is missing but it is required","parameters":'
        '{"to_date":[]}}]}'
    )
    why = (
        "$.webhook_id: is missing but it is required; $.from_date: does not match the regex "
        "pattern ^[0-9]{12}$; $.to_date: is missing but it is required."
    )
    assert [
        "1. 12:00:00.000 POST /2/webhooks/replay?oauth_token=[redacted] -> 400 webhooks.replay",
        f"     why: {why}",
        f"     request Host: {urlsplit(base_url).netloc}",
        f"     request User-Agent: python-requests/{requests.__version__}",
        "     request Accept-Encoding: gzip, deflate",
        "     request Accept: */*",
        "     request Connection: keep-alive",
        "     request Authorization: Bearer [redacted]",
        "     request Content-Type: application/json",
        "     request Content-Length: 20",
        '     request body: {"from_date": "now"}',
        "     response Content-Type: application/problem+json",
        "     response X-Mock-Request-Id: r1",
        "     response X-Mock-Operation: webhooks.replay",
        f"     response X-Mock-Why: {why}",
        "     response X-Mock-Assumptions: problem.status-by-type,problem.titles,v2.refusals",
        f"     response Content-Length: {len(body)}",
        f"     response body: {body}",
    ] == section(result, "mock_platform journal")


def test_a_long_journal_is_cut(run: Run) -> None:
    """The newest twenty requests are shown, and how many there were before."""
    source = """
    def test_it(mock_platform_session):
        for _ in range({}):
            mock_platform_session.get("/12/accounts")
        assert 0
    """

    just = section(run(source.format(20)), "mock_platform journal")
    over = section(run(source.format(21)), "mock_platform journal")

    assert just[0].startswith("1. ")
    assert "(the first 1 are left out; --mock-journal-on-failure shows them)" == over[0]
    assert over[1].startswith("2. ")


def test_a_test_that_asked_nothing_says_so(run: Run) -> None:
    """An empty journal is reported, and headings with nothing under them are left out."""
    result = run("def test_it(mock_platform): assert 0")

    assert ["no request reached this test's world"] == section(result, "mock_platform journal")
    assert 1 == sum("mock_platform" in heading for heading in headings(result))


def test_a_test_that_passes_says_nothing(run: Run) -> None:
    """The journal of a test that passed is not shown."""
    result = run("def test_it(mock_platform_session): mock_platform_session.get('/12/accounts')")

    result.assert_outcomes(passed=1)
    assert not any("mock_platform" in heading for heading in headings(result))


def test_each_subtest_tells_its_story(run: Run) -> None:
    """The journal is shown with each failing subtest, and not again with the test around them."""
    result = run(
        """
        def test_it(subtests, mock_platform_session):
            for path in "/12/a", "/12/b":
                with subtests.test(path=path):
                    mock_platform_session.get(path)
                    assert 0
        """
    )

    result.assert_outcomes(failed=3)
    assert 2 == headings(result).count("mock_platform journal")
    asked = [line for line in result.stdout.lines if re.match(r"\d\. ", line)]
    assert ["/12/a", "/12/a", "/12/b"] == [line.split()[3] for line in asked]


def test_a_failure_of_a_fixture_tells_the_story_too(run: Run) -> None:
    """What a fixture asked before it failed, in setup or in teardown, is shown."""
    result = run(
        """
        import pytest

        @pytest.fixture
        def early(mock_platform_session):
            mock_platform_session.get("/12/early")
            raise LookupError

        @pytest.fixture
        def late(mock_platform_session):
            yield
            mock_platform_session.get("/12/late")
            raise LookupError

        def test_early(early): pass
        def test_late(late): pass
        """
    )

    result.assert_outcomes(passed=1, errors=2)
    asked = [line for line in result.stdout.lines if line.startswith("1. ")]
    assert ["/12/early", "/12/late"] == [line.split()[3] for line in asked]


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("where", ["in-process", "network"])
def test_a_fault_of_the_sandbox_fails_the_test(run: Run, where: str) -> None:
    """A client that swallows the answer does not hide what failed in a handler."""
    result = run(
        f"""
        import contextlib, requests

        def test_it(mock_platform):
            token = mock_platform.credentials["bearer_token"]
            headers = {{"Authorization": f"Bearer {{token}}"}}
            if {where!r} == "network":
                requests.get(mock_platform.base_url + "/12/accounts", headers=headers, timeout=120)
            with contextlib.suppress(ZeroDivisionError):
                mock_platform.session().get("/12/accounts", headers=headers)

        def test_next(mock_platform):
            pass
        """
    )

    result.assert_outcomes(failed=1, passed=1)
    lines = section(result, "test_it")
    assert [
        "mock_platform: the sandbox itself failed, not the test:",
        "GET /12/accounts",
        "Traceback (most recent call last):",
    ] == lines[:3]
    code, first = inspect.getsourcelines(fail)
    thrown = next(number for number, line in enumerate(code, first) if "raise" in line)
    assert [
        f'  File "{inspect.getsourcefile(fail)}", line {thrown}, in fail',
        '    raise ZeroDivisionError(f"for {call.path}")',
        "ZeroDivisionError: for /12/accounts",
    ] == lines[-3:]


@pytest.mark.usefixtures("broken")
def test_a_fault_after_the_test_is_an_error_of_its_end(run: Run) -> None:
    """What fails in the sandbox while fixtures clean up is reported as well."""
    result = run(
        """
        import contextlib, pytest

        @pytest.fixture
        def client(mock_platform):
            yield
            with contextlib.suppress(ZeroDivisionError):
                mock_platform.session("oauth1").get("/12/accounts")

        def test_it(client): pass
        """
    )

    result.assert_outcomes(passed=1, errors=1)
    assert (
        "mock_platform: the sandbox itself failed, not the test:"
        == (section(result, "ERROR at teardown of test_it")[0])
    )


@pytest.mark.usefixtures("broken")
def test_a_fault_of_the_sandbox_is_shown_beside_the_test_s_own(run: Run) -> None:
    """A test that fails because of a fault shows the server's traceback in its report."""
    result = run(
        """
        import requests

        def test_it(mock_platform):
            token = mock_platform.credentials["bearer_token"]
            headers = {"Authorization": f"Bearer {token}"}
            url = mock_platform.base_url + "/12/accounts"
            assert requests.get(url, headers=headers, timeout=120).status_code == 200
        """
    )

    result.assert_outcomes(failed=1)
    lines = section(result, "mock_platform faults of the sandbox")
    assert ("GET /12/accounts", "ZeroDivisionError: for /12/accounts") == (lines[0], lines[-1])


def test_many_changes_are_summed_up(run: Run) -> None:
    """Of more than five records of one table the number is shown."""
    source = """
    def test_it(mock_platform):
        session = mock_platform.session("oauth1")
        audience = mock_platform.state["custom_audiences"].all()[0]
        account = audience["owner_account_id"]
        path = f"/12/accounts/{{account}}/custom_audiences/{{audience['id']}}/users"
        users = [{{"partner_user_id": [f"new-{{n}}"]}} for n in range({})]
        session.post(path, json=[{{"operation_type": "Update", "params": {{"users": users}}}}])
        assert 0
    """

    just = section(run(source.format(5)), "mock_platform journal")
    over = section(run(source.format(6)), "mock_platform journal")

    assert 5 == sum(line.startswith("     created: audience_users ") for line in just)
    assert "     created: 6 audience_users" in over
