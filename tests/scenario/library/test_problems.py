from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.failures.problems import PROBLEM_TYPES
from tests.scenario.library.support import Stage
from tests.scenario.support import replay
from tests.spec.rows import EVERY_PROBLEM, PROBLEM_OBJECT
from tests.support import ACCOUNT, Sandbox

WEBHOOK = "1146654567674912769"
NAMED = {"parameter": "webhook_id", "value": WEBHOOK, "resource_id": WEBHOOK}
EXTRA: dict[str, dict[str, Any]] = {
    "client-forbidden": {"reason": "client-not-enrolled",
                         "registration_url": "https://developer.example.com/en/portal/products"},
    "disallowed-resource": {"resource_id": WEBHOOK, "resource_type": "post", "section": "data"},
    "duplicate-rules": {"id": "1165037377523306498", "value": "coffee has:images"},
    "invalid-request": {"errors": [{"message": "Invalid Request",
                                    "parameters": {"webhook_id": [WEBHOOK]}}]},
    "not-authorized-for-field": {"field": "webhook_id", "resource_type": "user", "section": "data"},
    "not-authorized-for-resource": {**NAMED, "resource_type": "user", "section": "data"},
    "operational-disconnect": {"disconnect_type": "UpstreamOperationalDisconnect"},
    "resource-not-found": {**NAMED, "resource_type": "user"},
    "resource-unavailable": {"parameter": "webhook_id", "resource_id": WEBHOOK,
                             "resource_type": "user"},
    "streaming-connection": {"connection_issue": "TooManyConnections"},
    "usage-capped": {"period": "Monthly", "scope": "Product"},
}  # fmt: skip
"""What each type says beside type, title, detail and status, by its scenario's defaults."""
WORDS: dict[str, tuple[str, str]] = {
    "about:blank": ("Internal Server Error", "Internal Server Error"),
    "client-disconnected": ("Client Disconnected", "Your client has gone away."),
    "client-forbidden": (
        "Client Forbidden",
        "When authenticating requests to the v2 endpoints, you must use keys and tokens from a "
        "developer App that is attached to a Project. You can create a project via the developer "
        "portal.",
    ),
    "conflict": ("Conflict", "You cannot create a new job if one is already in progress."),
    "disallowed-resource": (
        "Disallowed Resource",
        "The resource requested violates the precepts of this API.",
    ),
    "duplicate-rules": ("DuplicateRule", "The rule you have submitted is a duplicate."),
    "invalid-request": ("Invalid Request", "One or more parameters to your request was invalid."),
    "invalid-rules": ("UnprocessableEntity", "The rule you have submitted is invalid."),
    "noncompliant-rules": ("Noncompliant Rules", "The user's rule set is not compliant."),
    "not-authorized-for-field": (
        "Field Authorization Error",
        f"Sorry, you are not authorized to access 'webhook_id' on the User with id : [{WEBHOOK}].",
    ),
    "not-authorized-for-resource": (
        "Authorization Error",
        f"Sorry, you are not authorized to see the Webhook with id: [{WEBHOOK}].",
    ),
    "operational-disconnect": (
        "operational-disconnect",
        "This stream has been disconnected upstream for operational reasons.",
    ),
    "resource-not-found": ("Not Found Error", f"Could not find webhook with id: [{WEBHOOK}]."),
    "resource-unavailable": ("Forbidden", f"User has been suspended: [{WEBHOOK}]."),
    "rule-cap": ("RulesCapExceeded", "You have exceeded the maximum number of rules."),
    "streaming-connection": (
        "ConnectionException",
        "This stream is currently at the maximum allowed connection limit.",
    ),
    "unsupported-authentication": (
        "Unsupported Authentication",
        "Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  Supported "
        "authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context].",
    ),
    "usage-capped": ("UsageCapExceeded", "Usage cap exceeded: Monthly product cap"),
}
"""Title and detail of each type, as the public interface words them."""


def shown(slug: str) -> dict[str, Any]:
    """The body of a problem, by its scenario's defaults."""
    uri = slug if slug == "about:blank" else f"http://localhost/2/problems/{slug}"
    (title, detail), status = WORDS[slug], PROBLEM_TYPES[slug].status
    return {"type": uri, "title": title, "detail": detail, "status": status, **EXTRA.get(slug, {})}


@pytest.mark.spec(EVERY_PROBLEM)
@pytest.mark.spec(PROBLEM_OBJECT, "type: yes (discriminator)", "title: string: yes")
@pytest.mark.spec(PROBLEM_OBJECT, "status: integer")
@pytest.mark.spec("A, POST {base_url}/2/webhooks/replay", "Failure (default")
@pytest.mark.spec("A, Errors", "Replay request", "Mapping from problem")
@pytest.mark.spec("A, Errors", "Streaming connection", case="TooManyConnections")
@pytest.mark.parametrize("slug", PROBLEM_TYPES)
def test_each_problem_answers_replay(slug: str, box: Sandbox) -> None:
    """Its own type, title, status and fields as problem+json; and no job is created."""
    kind = PROBLEM_TYPES[slug]
    stage = Stage(kind.name, box)

    answer = stage.ask("webhooks.replay")

    assert (kind.status, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert shown(slug) == answer.get_json()
    assert {} == kind.schema()().validate(answer.get_json())
    assert f"{kind.name}/0" == answer.headers["X-Mock-Rule"]
    assert [] == list(stage.last.changes)
    assert 0 == box.world.store.count("replay_jobs", {})


@pytest.mark.parametrize("slug", PROBLEM_TYPES)
def test_each_problem_is_the_same_when_preferred(slug: str, box: Sandbox) -> None:
    """`Prefer: problem=SLUG` answers with the title, detail and fields that the scenario has."""
    Stage("about-blank", box, on="accounts.get")  # so that nothing acts on replay

    preferred = replay(box, Prefer=f"problem={slug}")

    named = {"resource_type": "user"}  # the scenario names a post, the request nothing
    expected = shown(slug) | (named if slug == "disallowed-resource" else {})
    assert expected == preferred.get_json()


@pytest.mark.parametrize(("issue", "status", "detail"), [
    ("RuleConfigurationIssue", 409, "You must define rules using the POST "
     "/2/posts/search/stream/rules endpoint before connecting to filtered stream."),
    ("ProvisioningSubscription", 429, "Your subscription change is currently being "
     "provisioned, please try again in a minute."),
    ("RulesInvalidIssue", 409, "Something is wrong with the connection."),
])  # fmt: skip
def test_a_connection_problem_follows_its_issue(
    issue: str, status: int, detail: str, box: Sandbox
) -> None:
    """Status and detail of streaming-connection depend on connection_issue."""
    stage = Stage("streaming-connection", box, connection_issue=issue)

    answer = stage.ask("webhooks.replay")

    assert (status, detail) == (answer.status_code, answer.get_json()["detail"])


def test_an_official_client_has_no_project_to_create(box: Sandbox) -> None:
    """The sentence about projects belongs to the reason client-not-enrolled."""
    stage = Stage("client-forbidden", box, reason="official-client-forbidden")

    detail = stage.ask("webhooks.replay").get_json()["detail"]

    assert "Your client is forbidden from making this request." == detail


@pytest.mark.parametrize(("parameter", "kind", "named"), [
    ("ids", "post", "post with ids"),
    ("id", "post", "post with id"),
    ("post_id", "post", "post with id"),
    ("post_id", "user", "user with post_id"),
    ("line_item_id", "user", "line item with id"),
    ("username", "user", "user with username"),
])  # fmt: skip
def test_a_missing_resource_is_named_after_its_parameter(
    parameter: str, kind: str, named: str, box: Sandbox
) -> None:
    """The parameter's own noun if it has one, else that of resource_type."""
    given = {"parameter": parameter, "value": "456", "resource_id": "456", "resource_type": kind}
    stage = Stage("resource-not-found", box, **given)

    detail = stage.ask("webhooks.replay").get_json()["detail"]

    assert f"Could not find {named}: [456]." == detail


def test_a_user_token_swaps_the_kinds_of_authentication(box: Sandbox) -> None:
    """A caller with a user's token learns that it needs an app's."""
    stage = Stage("unsupported-authentication", box, on="accounts.get")

    detail = box.call("GET", f"/12/accounts/{ACCOUNT}").get_json()["detail"]

    assert [1] == stage.fired
    assert detail == (
        "Authenticating with OAuth 1.0a User Context is forbidden for this endpoint.  Supported "
        "authentication types are [OAuth 2.0 Application-Only]."
    )


@pytest.mark.parametrize("slug", PROBLEM_TYPES)
def test_each_problem_takes_another_status_and_operation(slug: str, box: Sandbox) -> None:
    """`on` moves the problem, `status` overrides the usual one; elsewhere all is well."""
    name = PROBLEM_TYPES[slug].name
    stage = Stage(name, box, on="accounts.get", status=418)

    moved, left = stage.ask("accounts.get"), stage.ask("line_items.list")

    assert (418, 200) == (moved.status_code, left.status_code)
    assert 418 == moved.get_json()["status"]
    assert [1] == stage.fired


@pytest.mark.spec(PROBLEM_OBJECT, "usage-capped: A")
@pytest.mark.parametrize("period", ["Daily", "Monthly"])
@pytest.mark.parametrize("scope", ["Account", "Product"])
def test_usage_caps_of_all_kinds(period: str, scope: str, box: Sandbox) -> None:
    """Both periods and both scopes of the specification."""
    stage = Stage("usage-capped", box, period=period, scope=scope)

    body = stage.ask("webhooks.replay").get_json()

    assert (period, scope) == (body["period"], body["scope"])
    assert f"Usage cap exceeded: {period} {scope.lower()} cap" == body["detail"]


def test_a_value_outside_the_enumeration_is_refused(box: Sandbox) -> None:
    """Activation says what is allowed."""
    answer = box.client.post(
        "/_mock/scenarios/usage-capped/activate", json={"parameters": {"period": "Weekly"}}
    )

    assert (422, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert "Daily, Monthly" in answer.text
