"""The sentence that says why: in the journal, in `X-Mock-Why`, the same in both."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support import ACCOUNT, BEARER, Keys, Sandbox, sandbox


def find_why(box: Sandbox, answer: TestResponse) -> str | None:
    """The reason of an answer, which its entry has as well."""
    entry = box.world.journal.get(answer.headers["X-Mock-Request-Id"])
    assert entry is not None
    assert answer.headers.get("X-Mock-Why") == entry.why
    return entry.why


WRONG = Keys("hbrDeskKey7uE2qXn0Zt4Wc9", "wrong", "2244994945-nobody", "wrong")


@pytest.mark.parametrize(
    ("method", "path", "more", "expected"),
    [
        ("GET", "/12/acounts", {}, "No operation has the path /12/acounts. Nearest: GET /12/acc"),
        ("GET", "/12/accounts?count=x", {}, 'Expected Integer, got "x" for count.'),
        ("GET", "/12/accounts/zz", {}, "account_id: Account zz was not found or is not associat"),
        ("GET", "/12/accounts", {"keys": None}, "No credentials; this operation takes OAuth 1.0a"),
        ("GET", "/12/accounts", {"keys": WRONG}, "The token 224499... was never issued to"),
        ("DELETE", "/12/accounts", {}, "This method is not allowed here; allowed: GET, HEAD."),
        ("GET", "/2/posts/\u2019", {"keys": BEARER}, "The `id` query parameter value [\\xe2\\x80"),
        (
            "GET",
            "/oauth/authorize?oauth_token=zz",
            {"keys": None},
            "This sandbox did not issue the request token of this address. ",
        ),
        (
            "GET",
            "/12/accounts",
            {"headers": {"X-Mock-Scenario": "outage"}},
            "Rule 0 of scenario outage acted: The service is temporarily unavailable.",
        ),
        (
            "GET",
            "/12/accounts",
            {"headers": {"X-Mock-Scenario": "outagee"}},
            "There is no scenario 'outagee'. Did you mean 'outage'?",
        ),
        (
            "GET",
            "/12/accounts",
            {"headers": {"Prefer": "code=429"}},
            "Prefer asked for this failure: Rate limit exceeded.",
        ),
        (
            "GET",
            "/12/accounts",
            {"headers": {"X-Mock-Scenario": "answer-lost"}},
            "The scenario 'answer-lost' has no rule for accounts.list, only: cards_poll.create.",
        ),
        (
            "GET",
            "/12/accounts",
            {"headers": {"X-Mock-World": "nowhere"}},
            None,
        ),
    ],
)
def test_reasons(
    box: Sandbox, method: str, path: str, more: dict[str, Any], expected: str | None
) -> None:
    """Every refusal has one, and so has a scenario that acted or could not."""
    answer = box.call(method, path, **more)

    if expected is None:  # no world, so no journal has it
        assert answer.headers["X-Mock-Why"].startswith("There is no world 'nowhere'.")
    else:
        found = find_why(box, answer)
        assert found is not None
        assert found.startswith(expected)
        assert found.isascii()
        assert found.isprintable()


def test_an_answer_without_anything_odd_has_no_reason(box: Sandbox) -> None:
    """Neither a header nor a sentence in the journal."""
    assert find_why(box, box.call("GET", "/12/accounts")) is None


def test_a_scenario_whose_rule_does_not_match(box: Sandbox) -> None:
    """A request that named the scenario itself gets the first difference."""
    document = {
        "name": "s",
        "rules": [
            {
                "on": "accounts.list",
                "when": {"query": {"count": 7}},
                "then": {"error": "NOT_FOUND"},
            }
        ],
    }
    box.client.put("/_mock/scenarios/s", json=document)

    answer = box.call("GET", "/12/accounts?count=8", headers={"X-Mock-Scenario": "s"})

    assert 200 == answer.status_code
    assert (
        find_why(box, answer) == "The scenario 's' did not act: query.count: expected 7, got \"8\"."
    )


def test_secrets_and_foreign_letters_do_not_get_into_it(box: Sandbox) -> None:
    """It is a header: what a message repeats is masked and escaped, and cut."""
    detail = f"é\nx access_token=abc\x07 {'long ' * 200}"
    document = {
        "name": "s",
        "rules": [
            {
                "on": "accounts.list",
                "then": {"respond": {"status": 400, "json": {"detail": detail}}},
            }
        ],
    }
    box.client.put("/_mock/scenarios/s", json=document)

    answer = box.call("GET", "/12/accounts", headers={"X-Mock-Scenario": "s"})

    why = find_why(box, answer) or ""
    assert why.startswith("Rule 0 of scenario s acted: \\xe9 x access_token=[redacted]")
    assert 400 >= len(why)


def test_without_markers_only_the_journal_has_it() -> None:
    """`--no-markers` leaves the header out."""
    box = sandbox(markers=False)

    answer = box.call("GET", f"/12/accounts/{ACCOUNT}x")

    (entry,) = box.world.journal.find()
    assert "X-Mock-Why" not in answer.headers
    assert (entry.why or "").startswith("account_id: ")
