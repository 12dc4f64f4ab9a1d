"""What a failure has besides its body; the bodies are tested where failures arise."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenario.support import LINE_ITEMS, arm, last
from tests.support import BEARER, HARBOR, Sandbox

REASON = "oauth.invalid-token-reason"


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/12/accounts"),
    ("GET", "/5/accounts/18ce54d4x5t/tailored_audiences/1nmth/permissions"),
    ("POST", "/1.1/oauth/invalidate_token.json"),
    ("POST", "/2/webhooks/replay"),
])  # fmt: skip
@pytest.mark.parametrize("scheme", ["oauth1", "bearer"])
def test_an_invalidated_token_has_a_reason_phrase_of_its_own(
    box: Sandbox, method: str, path: str, scheme: str
) -> None:
    """Code 89 comes as `401 Authorization Required` in every path family, and says so."""
    box.change("tokens", HARBOR.token or "", state="invalidated")
    box.change("tokens", BEARER, state="invalidated")

    answer = box.call(method, path, keys=HARBOR if scheme == "oauth1" else BEARER)

    assert 89 == answer.get_json()["errors"][0]["code"]
    assert "401 Authorization Required" == answer.status
    assert REASON in answer.headers["X-Mock-Assumptions"]
    assert "Authorization Required" == last(box).reason


@pytest.mark.parametrize(("error", "status"), [
    (89, "401 Authorization Required"),
    ({"code": 89, "status": 403}, "403 Forbidden"),
    (32, "401 Unauthorized"),
    ("UNAUTHORIZED_ACCESS", "401 Unauthorized"),
])  # fmt: skip
def test_other_refusals_have_the_standard_phrase(box: Sandbox, error: Any, status: str) -> None:
    """A scenario's code 89 has the phrase too; another status or code has the standard one."""
    arm(box, {"on": "line_items.list", "then": {"error": error}})

    answer = box.call("GET", LINE_ITEMS)

    assert status == answer.status
    assert (status.startswith("401 Auth")) == (
        REASON in answer.headers.get("X-Mock-Assumptions", "")
    )
