"""Scenarios that refuse a request: what each answers, and that nothing of the request is kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mock_platform.core.failures.problems import PROBLEM_TYPES
from tests.scenario_library.support import NAMES, Stage
from tests.support import Sandbox, sandbox

JSON = "application/json"
NO_EARLY_ACCESS = "This client application has no early access to these endpoints"
REFUSED: dict[str, tuple[str, tuple[str, ...], int, dict[str, Any]]] = {
    "token-requests-too-frequent": (
        "oauth2.token", (), 403,
        {"code": 99, "message": "Unable to verify your credentials"},
    ),
    "direct-messages-not-permitted": (
        "post.create", (), 403,
        {
            "code": 93,
            "message": "This application is not allowed to access or delete your direct messages.",
        },
    ),
    "clock-skew": (
        "oauth.request_token", (), 401, {"code": 135, "message": "Timestamp out of bounds."},
    ),
    "token-invalidated": (
        "line_items.list", (), 401, {"code": 89, "message": "Invalid or expired token."},
    ),
    "outage": (
        "accounts.list", (), 503,
        {"code": "SERVICE_UNAVAILABLE", "message": "The service is temporarily unavailable"},
    ),
    "line-item-deleted-twice": (
        "line_items.delete", (), 404,
        {
            "code": "LINE_ITEM_NOT_FOUND",
            "message": "No line item has this id",
            "parameter": "line_item_id",
        },
    ),
    "audience-batch-request-error": (
        "custom_audiences.users", (), 400,
        {"code": "INVALID_PARAMETER", "message": "The batch cannot be processed", "parameter": ""},
    ),
    "audience-batch-too-large": (
        "custom_audiences.users", (), 413,
        {
            "code": "REQUEST_ENTITY_TOO_LARGE",
            "message": "A request may have at most 5000000 bytes",
        },
    ),
    "audience-batch-too-many-operations": (
        "custom_audiences.users", (), 400,
        {
            "code": "INVALID_PARAMETER",
            "message": "A request may have at most 2,500 operations",
            "parameter": "",
        },
    ),
    "audience-upload-limit": (
        "custom_audiences.users", (), 429,
        {"code": "TOO_MANY_REQUESTS", "message": "Rate limit exceeded"},
    ),
    "audience-not-owned": (
        "tailored_audiences.permissions.create", (), 403,
        {
            "code": "ACTION_NOT_ALLOWED",
            "message": "Only the account that owns the audience may do this",
        },
    ),
    "audience-sharing-refused": (
        "tailored_audiences.permissions.create", (), 400,
        {
            "code": "FEATURE_NOT_AVAILABLE",
            "message": "Audiences are shared between accounts of one business, or by an owner with "
            "the account feature SHARE_AUDIENCE_OUTSIDE_BUSINESS",
        },
    ),
    "total-count-limit": (
        "line_items.list", ("with_total_count",), 429,
        {"code": "TOO_MANY_REQUESTS", "message": "Rate limit exceeded"},
    ),
    "rate-limited": (
        "line_items.list", (), 429,
        {"code": "TOO_MANY_REQUESTS", "message": "Rate limit exceeded"},
    ),
    "account-not-associated": (
        "accounts.get", (), 403,
        {
            "code": "ACCOUNT_NOT_FOUND",
            "message": "The account was not found or is not associated with the authenticated user",
            "parameter": "account_id",
        },
    ),
    "early-access-missing": (
        "product_catalogs.list", (), 403,
        {"code": "UNAUTHORIZED_CLIENT_APPLICATION", "message": NO_EARLY_ACCESS},
    ),
    "account-history-not-allowlisted": (
        "account_history.list", (), 403,
        {
            "code": "UNAUTHORIZED_CLIENT_APPLICATION",
            "message": "This client application is not on the allowlist for account_history",
        },
    ),
    "media-polls-not-enabled": (
        "cards_poll.create", ("media_key",), 400,
        {
            "code": "FEATURE_NOT_AVAILABLE",
            "message": "This account does not have the feature PROMOTED_MEDIA_POLLS",
        },
    ),
    "poll-card-gone": (
        "cards_poll.get", (), 404,
        {
            "code": "CARD_NOT_FOUND",
            "message": "No poll card has this id",
            "parameter": "card_id",
        },
    ),
    "posting-not-granted": (
        "post.create", (), 403,
        {
            "code": "ACTION_NOT_ALLOWED",
            "message": "The advertiser has not granted this user access",
            "parameter": "as_user_id",
        },
    ),
    "filtered-set-update-refused": (
        "product_sets.update", (), 400,
        {
            "code": "INVALID_PARAMETER",
            "message": "Updating FILTERED product sets is unsupported",
            "parameter": "",
        },
    ),
    "product-batch-too-large": (
        "product_catalogs.products.upsert", (), 400,
        {
            "code": "INVALID_PARAMETER",
            "message": "A request may have at most 25 products",
            "parameter": "products",
        },
    ),
    "catalog-exists": (
        "product_catalogs.create", (), 400,
        {
            "code": "INVALID_PARAMETER",
            "message": "This user has a catalog already; there is one per user",
            "parameter": "",
        },
    ),
    "insights-range-refused": (
        "insights.search_keywords", (), 400,
        {
            "code": "INVALID_PARAMETER",
            "message": "end_time may be at most 7 days after start_time",
            "parameter": "end_time",
        },
    ),
    "sandbox-only": (
        "accounts.create", (), 405,
        {"code": "METHOD_NOT_ALLOWED", "message": "Method not allowed"},
    ),
}  # fmt: skip
"""Operation, conditions on its query, status and error of each."""


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """One sandbox for all, because no refusal depends on what the others did."""
    return sandbox()


def test_every_scenario_is_tried() -> None:
    """Each shipped file is a problem, or some test calls it by its name."""
    names = set(NAMES) - {kind.name for kind in PROBLEM_TYPES.values()}
    folders = Path(__file__).parents[1]
    lists = {"test_files.py"}
    texts = [f.read_text("utf-8") for f in folders.rglob("test_*.py") if f.name not in lists]

    named = re.compile(r"\"([a-z0-9-]+)\"|/scenarios/([a-z0-9-]+)/activate")
    tried = {name for text in texts for match in named.findall(text) for name in match}
    assert [] == sorted(names - tried)


@pytest.mark.spec("A, Authentication", "An app needing", case="direct-messages-not-permitted")
@pytest.mark.spec("A, Errors", "oauth2/token requested", case="token-requests-too-frequent")
@pytest.mark.spec("A, Errors", "App lacks direct-message", case="direct-messages-not-permitted")
@pytest.mark.parametrize("name", REFUSED)
def test_each_refusal(name: str, box: Sandbox) -> None:
    """Status, media type and error; the rule is named, has fired, and no record has changed."""
    operation, conditions, status, error = REFUSED[name]
    stage = Stage(name, box)

    answer = stage.ask(operation, *conditions)

    assert (status, JSON) == (answer.status_code, answer.mimetype)
    (found,) = answer.get_json()["errors"]
    assert error == {key: value for key, value in found.items() if key != "label"}
    assert answer.headers["X-Mock-Rule"].startswith(f"{name}/")
    assert 1 == sum(stage.fired)
    assert [] == list(stage.last.changes)


@pytest.mark.parametrize("name", REFUSED)
def test_all_is_well_when_it_is_switched_off(name: str, box: Sandbox) -> None:
    """The same request meets no rule any more."""
    operation, conditions, *_ = REFUSED[name]
    stage = Stage(name, box)
    box.client.post(f"/_mock/scenarios/{name}/deactivate")

    answer = stage.ask(operation, *conditions)

    assert "X-Mock-Rule" not in answer.headers
    assert [] == [rule for rule in stage.fired if rule]
