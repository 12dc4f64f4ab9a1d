"""The scenarios of OAuth 2.0 user context refuse as the platform does."""

from __future__ import annotations

import pytest

from tests.scenario.library.support import Stage
from tests.support import USER_TOKEN, Sandbox, sandbox

CALL = "/2/users/me"


def me(box: Sandbox) -> tuple[int, str]:
    """Status and detail of a call with the user's token."""
    headers = {"Authorization": f"Bearer {USER_TOKEN}"}
    answer = box.call("GET", CALL, keys=None, headers=headers)
    return answer.status_code, answer.get_json().get("detail", "")


@pytest.mark.parametrize(
    ("name", "parameters", "refusal"),
    [
        ("user-token-expired", {}, (401, "Unauthorized")),
        (
            "user-token-scope-missing",
            {"detail": "This endpoint needs the scope users.read."},
            (403, "This endpoint needs the scope users.read."),
        ),
    ],
)
def test_user_tokens(name: str, parameters: dict[str, str], refusal: tuple[int, str]) -> None:
    """User tokens are refused, signatures are not."""
    box = sandbox()
    before = me(box)
    stage = Stage(name, box, **parameters)

    assert ((200, ""), refusal) == (before, me(box))
    assert 200 == box.call("GET", CALL).status_code
    assert [1, 0] == list(stage.fired)


def test_a_code_is_refused() -> None:
    """The exchange answers in the form of RFC 6749; nothing is issued."""
    stage = Stage("oauth2-code-refused", sandbox())

    answer = stage.ask("oauth2.user_token")

    assert 400 == answer.status_code
    assert {
        "error": "invalid_request",
        "error_description": "Value passed for the authorization code was invalid.",
    } == answer.get_json()
    assert [] == list(stage.last.changes)
