"""The scenarios of webhook endpoints refuse as the public interface does."""

from __future__ import annotations

import pytest

from tests.scenario.library.support import Stage
from tests.support import sandbox


@pytest.mark.parametrize(
    ("name", "operation", "message"),
    [
        ("webhook-challenge-failed", "webhooks.create", "CrcValidationFailed: "),
        ("webhook-limit-exceeded", "webhooks.create", "WebhookLimitExceeded: "),
        (
            "account-subscription-exists",
            "account_activity.subscribe",
            "DuplicateSubscriptionFailed: ",
        ),
        (
            "account-subscription-limit-exceeded",
            "account_activity.subscribe",
            "SubscriptionLimitExceeded: ",
        ),
    ],
)
def test_registration_is_refused(name: str, operation: str, message: str) -> None:
    """The address or the subscription is refused, and nothing is stored."""
    box = sandbox()
    stage = Stage(name, box)

    answer = stage.ask(operation)

    assert (400, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert answer.get_json()["errors"][0]["message"].startswith(message)
    assert answer.headers["X-Mock-Rule"].startswith(f"{name}/")
    assert [] == list(stage.last.changes)
