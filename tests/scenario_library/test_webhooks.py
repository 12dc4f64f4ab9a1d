"""The scenarios of webhook endpoints refuse as the public interface does."""

from __future__ import annotations

import pytest

from tests.scenario_library.support import Stage
from tests.support import sandbox


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("webhook-challenge-failed", "CrcValidationFailed: "),
        ("webhook-limit-exceeded", "WebhookLimitExceeded: "),
    ],
)
def test_registration_is_refused(name: str, message: str) -> None:
    """The address is refused, and nothing is stored."""
    box = sandbox()
    stage = Stage(name, box)

    answer = stage.ask("webhooks.create")

    assert (400, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert answer.get_json()["errors"][0]["message"].startswith(message)
    assert answer.headers["X-Mock-Rule"].startswith(f"{name}/")
    assert [] == list(stage.last.changes)
