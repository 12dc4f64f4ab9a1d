from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.problems import PROBLEM_TYPES
from tests.scenario_library.support import Stage
from tests.support import Sandbox, sandbox

WEBHOOK = "1146654567674912769"
NAMED = {"parameter": "webhook_id", "value": WEBHOOK, "resource_id": WEBHOOK}
EXTRA: dict[str, dict[str, Any]] = {
    "client-forbidden": {
        "reason": "client-not-enrolled",
        "registration_url": "https://developer.example.com/en/portal/products",
    },
    "disallowed-resource": {
        "resource_id": WEBHOOK,
        "resource_type": "post",
        "section": "data",
    },
    "duplicate-rules": {"id": "1165037377523306498", "value": "coffee has:images"},
    "invalid-request": {
        "errors": [{"message": "Invalid Request", "parameters": {"webhook_id": [WEBHOOK]}}]
    },
    "not-authorized-for-field": {
        "field": "webhook_id",
        "resource_type": "user",
        "section": "data",
    },
    "not-authorized-for-resource": {**NAMED, "resource_type": "user", "section": "data"},
    "operational-disconnect": {"disconnect_type": "OperationalDisconnect"},
    "resource-not-found": {**NAMED, "resource_type": "user"},
    "resource-unavailable": {
        "parameter": "webhook_id",
        "resource_id": WEBHOOK,
        "resource_type": "user",
    },
    "streaming-connection": {"connection_issue": "TooManyConnections"},
    "usage-capped": {"period": "Monthly", "scope": "Account"},
}
"""What each type says beside type, title and status, by its scenario's defaults."""


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """One sandbox for all, because a problem leaves nothing behind."""
    return sandbox()


@pytest.mark.parametrize("slug", PROBLEM_TYPES)
def test_each_problem_answers_replay(slug: str, box: Sandbox) -> None:
    """Its own type, title, status and fields as problem+json; and no job is created."""
    kind = PROBLEM_TYPES[slug]
    stage = Stage(kind.name, box)

    answer = stage.ask("webhooks.replay")

    assert (kind.status, "application/problem+json") == (answer.status_code, answer.mimetype)
    uri = slug if slug == "about:blank" else f"http://localhost/2/problems/{slug}"
    expected = {"type": uri, "title": kind.title, "status": kind.status}
    assert expected | EXTRA.get(slug, {}) == answer.get_json()
    assert f"{kind.name}/0" == answer.headers["X-Mock-Rule"]
    assert [] == list(stage.last.changes)
    assert 0 == box.platform.worlds.default.store.count("replay_jobs", {})


@pytest.mark.parametrize("slug", PROBLEM_TYPES)
def test_each_problem_takes_another_status_and_operation(slug: str, box: Sandbox) -> None:
    """`on` moves the problem, `status` overrides the usual one; elsewhere all is well."""
    name = PROBLEM_TYPES[slug].name
    stage = Stage(name, box, on="accounts.get", status=418)

    moved, left = stage.ask("accounts.get"), stage.ask("line_items.list")

    assert (418, 200) == (moved.status_code, left.status_code)
    assert 418 == moved.get_json()["status"]
    assert [1] == stage.fired


@pytest.mark.parametrize("period", ["Daily", "Monthly"])
@pytest.mark.parametrize("scope", ["Account", "Product"])
def test_usage_caps_of_all_kinds(period: str, scope: str, box: Sandbox) -> None:
    """Both periods and both scopes of the specification."""
    stage = Stage("usage-capped", box, period=period, scope=scope)

    body = stage.ask("webhooks.replay").get_json()

    assert (period, scope) == (body["period"], body["scope"])


def test_a_value_outside_the_enumeration_is_refused(box: Sandbox) -> None:
    """Activation says what is allowed."""
    answer = box.client.post(
        "/_mock/scenarios/usage-capped/activate", json={"parameters": {"period": "Weekly"}}
    )

    assert (422, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert "Daily, Monthly" in answer.text
