"""What holds for every operation on one record, and what --strict serves of all operations."""

from __future__ import annotations

import re
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Location, Operation, Origin
from tests.support import ACCOUNT, OTHER_ACCOUNT, Sandbox, Sandboxes, data_of, refusal

ADS = [operation for operation in OPERATIONS if operation.dialect == "ads"]
TABLES = {
    "cards_all": "cards", "cards_image_conversation": "cards", "cards_poll": "poll_cards",
    "cards_video_conversation": "video_conversation_cards",
}  # fmt: skip
"""Where the records of an operation are that has not the name of their table."""
LEGACY = {"cards.delete", "cards_image_conversation.get", "cards_image_conversation.update"}
"""Operations on cards of an older version."""
OWN_CODES = {
    "promotable_user_id", "campaign_id", "funding_instrument_id", "line_item_id",
    "media_creative_id", "promoted_post_id", "promoted_account_id", "app_event_tag_id",
    "web_event_tag_id", "targeting_criterion_id", "account_media_id", "media_key", "card_id",
}  # fmt: skip
"""The ids of records whose absence has a code of its own."""
UNSEEN = {"custom_audiences.permissions.list", "audience_estimate.create"}
"""What document B names without an answer."""
HARD = {"cards_image_conversation.get", "cards_poll.get"}
"""Reads of records of which nothing stays."""
FOREIGN = {
    "curated_categories.get", "user_settings.get", "user_settings.update", "recommendations.get",
    "custom_audiences.get", "custom_audiences.update", "custom_audiences.delete",
    "custom_audiences.permissions.delete", "tailored_audiences.permissions.delete",
    "stats_jobs.cancel",
}  # fmt: skip
"""Operations on records that are not of one account alone."""


def table_of(operation: Operation) -> str:
    """The table of the records of an operation."""
    family = operation.id.rpartition(".")[0]
    return TABLES.get(family, family)


def find_key(box: Sandbox, operation: Operation) -> str:
    """A living record of the account that the operation finds."""
    own: dict[str, Any] = {"_account_id": ACCOUNT}
    if table_of(operation) == "cards":
        own["_legacy"] = operation.id in LEGACY
    return box.world.store.page(table_of(operation), own, limit=1)[0].key


def ask(box: Sandbox, operation: Operation, key: str, query: str = "") -> TestResponse:
    """The answer to a call about one record."""
    path = re.sub(r":[a-z_]+$", key, operation.path).replace(":account_id", ACCOUNT)
    path = path.replace(":card_type", "image_conversation") + query
    more: dict[str, Any] = {"json": {}} if operation.location is Location.JSON else {}
    return box.call(operation.method, "/sandbox" * operation.sandbox_only + path, **more)


ONE = [op for op in ADS if re.search(r"/:account_id/.*:[a-z_]+$", op.path) and op.id not in FOREIGN]
"""Those on one record of the account."""


def named(operation: Operation) -> str:
    """The operation's id, to distinguish the cases."""
    return operation.id


@pytest.mark.parametrize("operation", ONE, ids=named)
def test_records_out_of_reach(box: Sandbox, operation: Operation) -> None:
    """A record that is unknown, another account's or deleted is not found.

    With with_deleted, reads that have the parameter show a deleted one, if it is not gone for good.
    """
    (*_, name), table, key = operation.path_names, table_of(operation), find_key(box, operation)
    code = f"{name.removesuffix('_id').removesuffix('_key').upper()}_" * (name in OWN_CODES)
    absent = (404, [(f"{code}NOT_FOUND", name)])
    record = box.record(table, key)
    own: dict[str, Any] = {"_account_id": OTHER_ACCOUNT}
    if table != "poll_cards":  # of which nothing stays
        own["deleted"] = True

    assert absent == refusal(ask(box, operation, "9"))
    for field in own.keys() & record.keys():
        box.put(table, key, record | {field: own[field]})
        assert absent == refusal(ask(box, operation, key)), field
    params = operation.params().load_fields if operation.params else {}
    if "with_deleted" in params and own.keys() <= record.keys() and operation.id not in HARD:
        box.put(table, key, record | {"deleted": True})
        assert data_of(ask(box, operation, key, "?with_deleted=true"))["deleted"] is True


@pytest.mark.spec("B, Not shown", "Audience estimate")
@pytest.mark.spec("B, What public facts and settled questions add", "Catalog and set")
def test_strict_serves_what_is_shown(sandboxes: Sandboxes) -> None:
    """Neither what a document does not show nor what it only names is served with --strict."""
    strict = sandboxes.get(strict=True)
    for operation in ADS:
        shown = operation.origin is Origin.DOCUMENT_B and operation.id not in UNSEEN
        assert shown is (501 != ask(strict, operation, "9").status_code), operation.id
