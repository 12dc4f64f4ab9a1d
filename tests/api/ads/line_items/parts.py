"""What the tests of a line item's parts share: requests, and the account's history."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from tests.support import ACCOUNT, Sandbox

BASE = f"/12/accounts/{ACCOUNT}"
CLICKS, PREROLL, VIDEO, FOLLOWERS, CYCLISTS = "itttx", "iuc5v", "iufm7", "iuj2q", "iuk8w"
"""Line items: of promoted posts, of media, of promoted posts, and two of a promoted account."""
DELETED, FOREIGN = "iuqf4", "iv7pd"
"""A deleted line item, and one of another account."""


def call(box: Sandbox, method: str, path: str, **params: Any) -> TestResponse:
    """One request below the account."""
    return box.call(method, f"{BASE}/{path}", query_string=params)


def data(response: TestResponse) -> Any:
    """The data of a success."""
    assert response.status_code == 200, response.text
    return response.get_json()["data"]


def history(box: Sandbox, entity: str, key: str) -> list[str]:
    """The kinds of change that the account's history has of an entity."""
    match = {"entity": entity, "entity_id": key}
    return [entry.record["change_type"] for entry in box.world.store.page("account_history", match)]
