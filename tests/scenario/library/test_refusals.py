"""Scenarios that refuse a request: what each answers, and that nothing of the request is kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mock_platform.core.failures.problems import PROBLEM_TYPES
from tests.scenario.library.support import NAMES, Stage
from tests.support import Sandbox

JSON = "application/json"


def refusal(
    operation: str,
    status: int,
    code: str | int,
    message: str,
    parameter: str | None = None,
    query: tuple[str, ...] = (),
) -> tuple[str, tuple[str, ...], int, dict[str, Any]]:
    """What a scenario answers to an operation, if need be under conditions on its query."""
    error = {"code": code, "message": message}
    return operation, query, status, error | ({} if parameter is None else {"parameter": parameter})


REFUSED: dict[str, tuple[str, tuple[str, ...], int, dict[str, Any]]] = {
    "token-requests-too-frequent": refusal("oauth2.token", 403, 99,
        "Unable to verify your credentials"),
    "direct-messages-not-permitted": refusal("dm_conversations.send_to_user", 403, 93,
        "This application is not allowed to access or delete your direct messages."),
    "campaign-right-missing": refusal("line_items.update", 403, "ACTION_NOT_ALLOWED",
        "A user with the permissions ANALYST may not change campaigns"),
    "scheduled-post-limit-exceeded": refusal(
        "scheduled_posts.create", 400, "SCHEDULED_POST_LIMIT_EXCEEDED",
        "A maximum of 30 posts may be scheduled in 15 minutes", "scheduled_at"),
    "scheduled-post-out": refusal("scheduled_posts.delete", 403, "ACTION_NOT_ALLOWED",
        "The scheduled post has the status SUCCESS already", "scheduled_post_id"),
    "conversation-image-refused": refusal(
        "cards_image_conversation.create", 400, "INVALID_IMAGE",
        "the image of a conversation must be at least 800 px wide, not 640", "media_key"),
    "scheduled-feed-exists": refusal("scheduled_feeds.create", 400, "INVALID_PARAMETER",
        "This user has a feed already; there is one per user", ""),
    "account-suspended": refusal("account.verify_credentials", 403, 64,
        "Your account is suspended and is not permitted to access this feature."),
    "user-suspended": refusal("users.show", 403, 63, "User has been suspended."),
    "clock-skew": refusal("oauth.request_token", 401, 135, "Timestamp out of bounds."),
    "token-invalidated": refusal("line_items.list", 401, 89, "Invalid or expired token."),
    "outage": refusal("accounts.list", 503, "SERVICE_UNAVAILABLE",
        "The service is temporarily unavailable"),
    "line-item-deleted-twice": refusal("line_items.delete", 404, "LINE_ITEM_NOT_FOUND",
        "No line item has this id", "line_item_id"),
    "audience-batch-request-error": refusal("custom_audiences.users", 400, "INVALID_PARAMETER",
        "The batch cannot be processed", ""),
    "audience-batch-too-large": refusal("custom_audiences.users", 413, "REQUEST_ENTITY_TOO_LARGE",
        "A request may have at most 5000000 bytes"),
    "audience-batch-too-many-operations": refusal(
        "custom_audiences.users", 400, "INVALID_PARAMETER",
        "A request may have at most 2,500 operations", ""),
    "audience-upload-limit": refusal("custom_audiences.users", 429, "TOO_MANY_REQUESTS",
        "Rate limit exceeded"),
    "audience-not-owned": refusal(
        "tailored_audiences.permissions.create", 403, "ACTION_NOT_ALLOWED",
        "Only the account that owns the audience may do this"),
    "audience-sharing-refused": refusal(
        "tailored_audiences.permissions.create", 400, "FEATURE_NOT_AVAILABLE",
        "Audiences are shared between accounts of one business, or by an owner with the "
        "account feature SHARE_AUDIENCE_OUTSIDE_BUSINESS"),
    "total-count-limit": refusal("line_items.list", 429, "TOO_MANY_REQUESTS",
        "Rate limit exceeded", query=("with_total_count",)),
    "rate-limited": refusal("line_items.list", 429, "TOO_MANY_REQUESTS", "Rate limit exceeded"),
    "account-not-associated": refusal("accounts.get", 403, "ACCOUNT_NOT_FOUND",
        "The account was not found or is not associated with the authenticated user", "account_id"),
    "early-access-missing": refusal("product_catalogs.list", 403, "UNAUTHORIZED_CLIENT_APPLICATION",
        "This client application has no early access to these endpoints"),
    "account-history-not-allowlisted": refusal(
        "account_history.list", 403, "UNAUTHORIZED_CLIENT_APPLICATION",
        "This client application is not on the allowlist for account_history"),
    "media-polls-not-enabled": refusal("cards_poll.create", 400, "FEATURE_NOT_AVAILABLE",
        "This account does not have the feature PROMOTED_MEDIA_POLLS", query=("media_key",)),
    "poll-card-gone": refusal("cards_poll.get", 404, "CARD_NOT_FOUND",
        "No poll card has this id", "card_id"),
    "posting-not-granted": refusal("post.create", 403, "ACTION_NOT_ALLOWED",
        "The advertiser has not granted this user access", "as_user_id"),
    "filtered-set-update-refused": refusal("product_sets.update", 400, "INVALID_PARAMETER",
        "Updating FILTERED product sets is unsupported", ""),
    "product-batch-too-large": refusal("product_catalogs.products.upsert", 400, "INVALID_PARAMETER",
        "A request may have at most 25 products", "products"),
    "catalog-exists": refusal("product_catalogs.create", 400, "INVALID_PARAMETER",
        "This user has a catalog already; there is one per user", ""),
    "insights-range-refused": refusal("insights.search_keywords", 400, "INVALID_PARAMETER",
        "end_time may be at most 7 days after start_time", "end_time"),
    "post-not-promotable": refusal("promoted_posts.create", 403, "ACTION_NOT_ALLOWED",
        "The post is not by a promotable user of this account", "post_ids"),
    "campaigns-too-many": refusal("campaigns.create", 400, "TOO_MANY_CAMPAIGNS",
        "An account may have 200 campaigns that have not ended"),
    "line-items-too-many": refusal("line_items.create", 400, "TOO_MANY_LINE_ITEMS",
        "A campaign may have 100 line items"),
    "funding-instrument-invalid": refusal("campaigns.create", 400, "INVALID_FUNDING_INSTRUMENT",
        "No funding instrument of the account has this id", "funding_instrument_id"),
    "budget-below-spending": refusal("campaigns.update", 400, "SPEND_EXCEEDS_BUDGET",
        "The total budget is less than what the campaign has spent already",
        "total_budget_amount_local_micro"),
    "placement-unavailable": refusal("line_items.create", 400, "INVALID_PLACEMENT_TYPE",
        "The product type is not available in these placements", "placements"),
    "line-item-incompatible": refusal("promoted_accounts.create", 400, "INCOMPATIBLE_LINE_ITEM",
        "The line item has another product type", "line_item_id"),
    "audience-not-targetable": refusal("targeting_criteria.create", 400, "INVALID_PARAMETER",
        "The audience is not targetable: TOO_SMALL", "targeting_value"),
    "tv-show-outside-market": refusal("targeting_criteria.create", 400, "TV_SHOW_OUTSIDE_MARKET",
        "The TV show is not broadcast in a location of the line item", "targeting_value"),
    "targeting-limit-reached": refusal("targeting_criteria.create", 400, "INVALID_PARAMETER",
        "A maximum of 100 INTEREST criteria may be provided for a line item", "targeting_type"),
    "stats-day-not-midnight": refusal("stats.get", 400, "INVALID_TIME_WINDOW",
        "Expect time to be midnight in the account's local timezone for day granularity"),
    "stats-fractional-hours": refusal("stats.get", 400, "INVALID_PARAMETER",
        "Time cannot be fractional hours", "start_time"),
    "stats-window-too-long": refusal("stats.get", 400, "INVALID_TIME_WINDOW",
        "The end_time can be a maximum of 7.days+1.hours after the start_time", "end_time"),
    "stats-jobs-limit-reached": refusal("stats_jobs.create", 429, "TOO_MANY_REQUESTS",
        "The limit of concurrent jobs has been reached"),
    "audience-name-taken": refusal("custom_audiences.create", 400, "INVALID_PARAMETER",
        "An audience of this account has this name", "name"),
    "do-not-reach-list-exists": refusal("do_not_reach_lists.create", 400, "INVALID_PARAMETER",
        "This account has a do-not-reach list already", ""),
    "conversion-event-foreign": refusal("conversions.report", 404, "NOT_FOUND",
        "event_id (abc) does not belong to provided account", "event_id"),
    "sandbox-only": refusal("accounts.create", 405, "METHOD_NOT_ALLOWED", "Method not allowed"),
}  # fmt: skip
"""Operation, conditions on its query, status and error of each."""


def test_every_scenario_is_tried() -> None:
    """Each shipped file is a problem, or some test calls it by its name."""
    names = set(NAMES) - {kind.name for kind in PROBLEM_TYPES.values()}
    folders = Path(__file__).parents[2]
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

    assert "X-Mock-Rule" not in stage.ask(operation, *conditions).headers
    assert [] == [rule for rule in stage.fired if rule]
