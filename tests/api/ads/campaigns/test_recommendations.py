"""Recommendations: listed without their changes, read with them."""

from __future__ import annotations

import pytest

from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox

PATH = f"/5/accounts/{ACCOUNT}/recommendations"


@pytest.mark.parametrize("version", ["5", "12"])
def test_listed_and_read(box: Sandbox, version: str) -> None:
    """The changes are a tree of campaigns, line items and what is below them."""
    path = PATH.replace("/5/", f"/{version}/")
    listed, read = box.read(path), box.read(f"{path}/62ce8zza1q0w")
    campaign = read["data"]["changes"][0]
    item = campaign["dependent_entities"][0]

    assert (listed["total_count"], "next_cursor" in listed) == (2, False)
    assert listed["data"][0] | {"changes": read["data"]["changes"]} == read["data"]
    assert read["data_type"] == "recommendations"
    assert [campaign["params"]["id"], item["params"]["id"]] == ["8wku2", "itttx"]
    assert [part["operation_type"] for part in item["dependent_entities"]] == [None, "Create"]


@refusals([
    Refusal(f"GET {PATH}/none", "an unknown one", 404, [("NOT_FOUND", "recommendation_id")]),
    Refusal(f"GET {PATH.replace(ACCOUNT, '18ce55fw2ag')}/62ce8zza1q0w", "one of another account",
            404, [("NOT_FOUND", "recommendation_id")]),
    Refusal(f"GET {PATH}", "an application that is not on the allowlist", 403,
            [("UNAUTHORIZED_CLIENT_APPLICATION", None)],
            given={("apps", "11827"): {"_allowlist": []}}),
])  # fmt: skip
def test_refused(box: Sandbox, row: Refusal) -> None:
    """Recommendations that are not there, and who may not see any."""
    row.check(box)
