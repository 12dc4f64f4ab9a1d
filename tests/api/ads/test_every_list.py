"""What holds for every list of document B ("Common conventions"), tried on each of them."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Operation
from tests.support import ACCOUNT, Sandbox

SETTINGS = {"limits": "off"}
PATHS = {
    "account_id": ACCOUNT, "product_catalog_id": "1547080787865939968",
    "tailored_audience_id": "2906h", "custom_audience_id": "2906h",
}  # fmt: skip
REQUIRED = {
    "account_history.list": {
        "entity_type": "LINE_ITEM", "entity_id": "itttx", "start_time": "2026-09-01T00:00:00Z",
        "end_time": "2026-10-01T00:00:00Z",
    },
    "custom_audiences.targeted": {"with_active": "false"},
    "posts.list": {"post_type": "PUBLISHED"},
    "targeting_criteria.list": {"line_item_ids": "itttx,iu0p9,iuc5v"},
    "targeting_options.events": {"event_types": "HOLIDAY,OTHER,CONFERENCE"},
    "targeting_options.tv_shows": {"locale": "en-US"},
}  # fmt: skip
OWN_PATHS = {"custom_audiences.targeted": {"custom_audience_id": "1nmth"}}
"""The parents of those lists whose records do not belong to an account."""


def names(operation: Operation) -> set[str]:
    """The parameters of an operation."""
    return set() if operation.params is None else set(operation.params().load_fields)


LISTS = [
    operation
    for operation in OPERATIONS
    if operation.dialect == "ads" and {"count", "cursor"} <= names(operation)
]


BEYOND = [
    operation
    for operation in LISTS
    if "with_total_count" in names(operation)
    and operation.id in {"line_items.list", "custom_audiences.targeted"}
]
"""Those whose total document B does not show; the others are in `spec/test_conventions.py`."""


def each(*having: str) -> pytest.MarkDecorator:
    """Try each list that has these parameters."""
    chosen = [operation for operation in LISTS if set(having) <= names(operation)]
    return pytest.mark.parametrize("listing", chosen, ids=lambda operation: operation.id)


def read(box: Sandbox, listing: Operation, **query: str) -> tuple[int, dict[str, Any]]:
    """Status and body of one page."""
    paths = PATHS | OWN_PATHS.get(listing.id, {})
    path = "/".join(
        paths[part[1:]] if part.startswith(":") else part for part in listing.path.split("/")
    )
    response = box.call("GET", path, query_string=REQUIRED.get(listing.id, {}) | query)
    return response.status_code, response.get_json()


@each()
def test_pages_add_up(box: Sandbox, listing: Operation) -> None:
    """Page by page one sees what one page shows, and the last one has no cursor.

    The fixtures have more than one page of one record for each list.
    """
    _, whole = read(box, listing)
    seen: list[Any] = []
    page: dict[str, Any] = {"next_cursor": ""}
    while page["next_cursor"] is not None:
        more = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        _, page = read(box, listing, count="2", **more)
        seen += page["data"]

    assert whole["next_cursor"] is None
    assert len(whole["data"]) > 1
    assert seen == whole["data"]


@each()
def test_defaults_are_not_echoed(box: Sandbox, listing: Operation) -> None:
    """request.params holds what was sent and the path, natively, nothing else."""
    _, body = read(box, listing, count="7")
    echo = body["request"]["params"]
    assert echo["count"] == 7
    assert not {"with_deleted", "with_total_count", "cursor"} & set(echo)


@each("with_total_count")
def test_with_total_count_is_a_boolean(box: Sandbox, listing: Operation) -> None:
    """Another value is refused; false asks for nothing."""
    odd, _ = read(box, listing, with_total_count="1")
    plain, body = read(box, listing, with_total_count="false")

    assert (400, 200) == (odd, plain)
    assert "total_count" not in body or listing.id == "curated_categories.list"


@pytest.mark.parametrize("listing", BEYOND, ids=lambda operation: operation.id)
def test_total_count_beyond_the_document(box: Sandbox, listing: Operation) -> None:
    """Lists for which document B shows no total return it as the others do."""
    _, whole = read(box, listing)
    _, counted = read(box, listing, with_total_count="true", count="1")
    status, both = read(box, listing, with_total_count="true", cursor="x")

    assert counted["total_count"] == len(whole["data"])
    assert 400 == status
    assert ("EXCLUSIVE_PARAMETERS", "with_total_count") in [
        (error["code"], error.get("parameter")) for error in both["errors"]
    ]


@each("with_deleted")
def test_deleted_records_are_shown_when_asked_for(box: Sandbox, listing: Operation) -> None:
    """with_deleted adds what was deleted and takes nothing away."""
    _, live = read(box, listing)
    _, everything = read(box, listing, with_deleted="true")

    assert all(record in everything["data"] for record in live["data"])
    assert not any(record.get("deleted") for record in live["data"])


@each("sort_by")
def test_sorting_turns_round(box: Sandbox, listing: Operation) -> None:
    """Each attribute that is shown rises; descending is that turned round, ties included."""
    more = {"with_deleted": "true"} if "with_deleted" in names(listing) else {}
    for attribute in attributes_of(listing):
        _, up = read(box, listing, sort_by=f"{attribute}-asc", **more)
        _, down = read(box, listing, sort_by=f"{attribute}-desc", **more)

        shown = [record[attribute] for record in up["data"] if record.get(attribute) is not None]
        assert sorted(shown) == shown
        assert up["data"] == down["data"][::-1]
        assert up["request"]["params"]["sort_by"] == [f"{attribute}-asc"]


def attributes_of(listing: Operation) -> list[str]:
    """The attributes by which a list sorts."""
    assert listing.params is not None
    field: Any = listing.params().load_fields["sort_by"]
    return list(field.attributes)


AMOUNTS = ["daily_budget_amount_local_micro", "total_budget_amount_local_micro"]
SORTED_BY = {
    "campaigns.list": ["name", "start_time", "end_time", *AMOUNTS, "standard_delivery"],
    "funding_instruments.list": ["funded_amount_local_micro", "start_time", "end_time"],
    "line_items.list": ["bid_amount_local_micro"], "promoted_posts.list": ["paused"],
    "promoted_accounts.list": ["paused"],
    "accounts.list": ["name"], "custom_audiences.list": ["name"], "cards.list": ["name"],
    "targeting_criteria.list": ["name"], "cards_image_conversation.list": ["name"],
    "cards_video_conversation.list": ["name"], "cards_poll.list": ["name"],
}  # fmt: skip


@pytest.mark.spec("B, Accounts", "GET /12/accounts: account_ids")
@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/curated_categories: list")
@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_apps")
@pytest.mark.spec("operations", "line_item_curated_categories.list")
@pytest.mark.spec("B, What public facts and settled questions add", "sort_by is echoed")
@each("sort_by")
def test_what_a_list_sorts_by(listing: Operation) -> None:
    """By its times and by what is deleted, and some lists by names, amounts and times of theirs."""
    common, own = ["created_at", "updated_at", "deleted"], SORTED_BY.get(listing.id, [])
    if listing.id == "curated_categories.list":  # which are never deleted
        common, own = ["created_at", "updated_at"], ["name"]

    assert [*common, *own] == attributes_of(listing)


@each()
@pytest.mark.parametrize("cursor", ["x", "WyJ4Il0.x", "é", "0"])
def test_a_foreign_cursor_is_refused(box: Sandbox, listing: Operation, cursor: str) -> None:
    """A cursor that this list did not return answers INVALID_PARAMETER."""
    status, body = read(box, listing, cursor=cursor)

    assert (status, body["errors"][0]["code"]) == (400, "INVALID_PARAMETER")


@each("sort_by")
def test_a_cursor_of_another_order_is_refused(box: Sandbox, listing: Operation) -> None:
    """A cursor continues the order that it was made for."""
    _, first = read(box, listing, count="1", sort_by="created_at-desc")
    status, _ = read(box, listing, cursor=first["next_cursor"], sort_by="created_at-asc")

    assert status == 400
