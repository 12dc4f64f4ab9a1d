"""Tailored audience permissions (document B, version 5): list, grant, revoke."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.ids import Ids
from tests.support import NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults, refusal

HARBOR, WHOLESALE = "18ce54d4x5t", "18ce55fw2ag"


def path(audience: str = "1nmth", account: str = HARBOR, key: str = "") -> str:
    """Address of an audience's permissions."""
    base = f"/5/accounts/{account}/tailored_audiences/{audience}/permissions"
    return f"{base}/{key}" if key else base


def grant(box: Sandbox, audience: str = "1nmth", **params: Any) -> TestResponse:
    """Grant another account the use of an audience."""
    return box.call("POST", path(audience), query_string=params)


@pytest.mark.spec("B, Tailored audience permission", "id, tailored_audience_id")
@pytest.mark.spec("B, Tailored audience permissions (version 5)", "GET: count (default")
def test_permissions_are_listed_for_the_owner(box: Sandbox) -> None:
    """The owner sees the permissions, without revoked ones, in the documented shape."""
    body = box.call("GET", path()).get_json()

    assert body == {
        "request": {"params": {"account_id": HARBOR, "tailored_audience_id": "1nmth"}},
        "next_cursor": None,
        "data": [
            {
                "id": "ri",
                "tailored_audience_id": "1nmth",
                "granted_account_id": WHOLESALE,
                "permission_level": "READ_ONLY",
                "created_at": "2026-02-05T10:00:00Z",
                "updated_at": "2026-02-05T10:00:00Z",
                "deleted": False,
            }
        ],
    }


@pytest.mark.spec("operations", "tailored_audiences.permissions.list")
@pytest.mark.spec("operations", "custom_audiences.permissions.list")
@pytest.mark.parametrize(
    ("address", "ids"),
    [
        (path("4q7sd", OTHER_ACCOUNT), "tailored_audience_permission_ids"),
        (
            f"/12/accounts/{OTHER_ACCOUNT}/custom_audiences/4q7sd/permissions",
            "custom_audience_permission_ids",
        ),
    ],
)
def test_permissions_are_filtered_and_paged(box: Sandbox, address: str, ids: str) -> None:
    """Filters, cursor and total count work together, in both versions."""

    def found(**query: str) -> tuple[list[str], Any]:
        response = box.call("GET", address, keys=NORTHBIKE, query_string=query)
        assert response.status_code == 200, response.text
        body = response.get_json()
        return [permission["id"] for permission in body["data"]], body

    first, body = found(count="1")
    second, last = found(count="1", cursor=body["next_cursor"])
    one, counted = found(granted_account_ids=WHOLESALE, with_total_count="true")

    assert (["15c", "15f"], None) == (found()[0], last["next_cursor"])
    assert (["15c"], ["15f"]) == (first, second)
    assert (["15f"], 1) == (one, counted["total_count"])
    assert ["15c"] == found(**{ids: "15c,nope"})[0]
    assert [] == found(**{ids: "15c"}, granted_account_ids=WHOLESALE)[0]


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "POST: granted_account_id")
def test_a_granted_account_sees_the_audience(box: Sandbox) -> None:
    """A grant within the business is shown to both, and the audience becomes visible."""
    hidden = box.call("GET", path("2b4kp", WHOLESALE))
    made = grant(box, "2b4kp", granted_account_id=WHOLESALE, permission_level="READ_WRITE")
    seen = box.call("GET", path("2b4kp", WHOLESALE))

    data = made.get_json()["data"]
    assert refusal(hidden) == (404, [("TAILORED_AUDIENCE_NOT_FOUND", "tailored_audience_id")])
    assert (data["granted_account_id"], data["permission_level"], data["deleted"]) == (
        WHOLESALE,
        "READ_WRITE",
        False,
    )
    assert data["tailored_audience_id"] == "2b4kp"
    assert [p["id"] for p in seen.get_json()["data"]] == [data["id"]]


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "POST: granted_account_id")
@pytest.mark.spec(
    "B, Tailored audience permissions (version 5)",
    "Sharing works between",
    case="FEATURE_NOT_AVAILABLE",
)
@pytest.mark.parametrize(("account", "level", "status", "expected"), [
    (None, "READ_ONLY", 400, ("MISSING_PARAMETER", "granted_account_id")),
    (WHOLESALE, None, 400, ("MISSING_PARAMETER", "permission_level")),
    (WHOLESALE, "ADMIN", 400, ("INVALID_PARAMETER", "permission_level")),
    ("nope", "READ_ONLY", 403, ("ACCOUNT_NOT_FOUND", "granted_account_id")),
    (HARBOR, "READ_ONLY", 400, ("INVALID_PARAMETER", "granted_account_id")),
    (WHOLESALE, "READ_WRITE", 400, ("INVALID_PARAMETER", "granted_account_id")),  # already
    (OTHER_ACCOUNT, "READ_ONLY", 400, ("FEATURE_NOT_AVAILABLE", "granted_account_id")),
])  # fmt: skip
def test_a_grant_that_may_not_be_is_refused(
    box: Sandbox, account: str | None, level: str | None, status: int, expected: tuple[str, str]
) -> None:
    """Both parameters, a real account, one business or the feature, and only once."""
    sent = {"granted_account_id": account, "permission_level": level}
    params = {name: value for name, value in sent.items() if value is not None}

    assert refusal(grant(box, **params)) == (status, [expected])


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Sharing works between")
def test_the_feature_opens_other_businesses(box: Sandbox) -> None:
    """SHARE_AUDIENCE_OUTSIDE_BUSINESS lets an owner share beyond its business."""
    box.change("accounts", HARBOR, _features=["SHARE_AUDIENCE_OUTSIDE_BUSINESS"])

    response = grant(box, granted_account_id=OTHER_ACCOUNT, permission_level="READ_ONLY")

    assert response.status_code == 200


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Creating or revoking")
@pytest.mark.spec("B, States and transitions", "Tailored audience")
def test_only_the_owner_grants_and_revokes(box: Sandbox) -> None:
    """A granted account may not pass the audience on, nor take a permission away."""
    made = box.call(
        "POST",
        path("1nmth", WHOLESALE),
        query_string={"granted_account_id": OTHER_ACCOUNT, "permission_level": "READ_ONLY"},
    )
    taken = box.call("DELETE", path("1nmth", WHOLESALE, "ri"))

    for response in (made, taken):
        assert (response.status_code, faults(response)[0][0]) == (403, "ACTION_NOT_ALLOWED")


@pytest.mark.spec("operations", "tailored_audiences.permissions.delete")
@pytest.mark.spec("B, States and transitions", "Tailored audience", "granted account")
def test_a_revoked_account_can_no_longer_target(box: Sandbox) -> None:
    """Revoking returns the permission deleted, hides the audience, and happens once."""
    first = box.call("DELETE", path(key="ri"))
    second = box.call("DELETE", path(key="ri"))
    hidden = box.call("GET", path("1nmth", WHOLESALE))
    again = grant(box, granted_account_id=WHOLESALE, permission_level="READ_ONLY")

    data = first.get_json()["data"]
    assert (data["deleted"], data["tailored_audience_id"]) == (True, "1nmth")
    assert [second.status_code, hidden.status_code, again.status_code] == [404, 404, 200]


def test_revoked_permissions_are_listed_with_deleted(box: Sandbox) -> None:
    """A revoked permission is listed with with_deleted alone, as in every other list."""
    box.call("DELETE", path(key="ri"))
    shown = [
        [record["id"] for record in box.call("GET", path(), query_string=query).get_json()["data"]]
        for query in ({}, {"with_deleted": "true"})
    ]

    assert [[], ["ri", "14m"]] == shown


def test_an_id_in_use_is_drawn_again(box: Sandbox) -> None:
    """A new permission never replaces another one, however short its id is."""
    taken = Ids(box.world.seed, box.world.name, box.world.ids.drawn).base36(4)
    with box.world.work():
        other = box.record("audience_permissions", "14p") | {"id": taken}
        box.world.store.put("audience_permissions", taken, other)
    made = grant(box, granted_account_id="18ce5b7qk2c", permission_level="READ_ONLY").get_json()

    assert taken != made["data"]["id"]
    assert other == box.record("audience_permissions", taken)


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Base {ads_base_url}/5/accounts")
@pytest.mark.spec("B, Versioning", "The version is")
def test_another_version_is_no_route(box: Sandbox) -> None:
    """Tailored audience permissions are on version 5 only."""
    response = box.call("GET", path().replace("/5/", "/12/", 1))

    assert refusal(response) == (404, [("ROUTE_NOT_FOUND", None)])


@pytest.mark.spec("B, States and transitions", "running campaigns")
def test_running_campaigns_continue_after_a_revocation(box: Sandbox) -> None:
    """Line items that target the audience already go on, and show that they do."""
    criterion = box.record("targeting_criteria", "8puq7")
    with box.world.work():
        ours = {"id": "8puzz", "targeting_value": "1nmth"}  # a line item of the wholesale account
        box.world.store.put("targeting_criteria", "8puzz", criterion | ours)
    before = box.call("GET", f"/12/accounts/{WHOLESALE}/custom_audiences/1nmth/targeted")
    box.call("DELETE", path(key="ri"))
    after = box.call("GET", f"/12/accounts/{WHOLESALE}/custom_audiences/1nmth/targeted")

    assert before.get_json() == after.get_json()
    assert ["iv3k8"] == [item["id"] for item in after.get_json()["data"][0]["line_items"]]
    assert [] == box.call("GET", path("1nmth", WHOLESALE)).get_json()["data"]


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "GET: count (default")
def test_the_longest_lists_of_ids_find_what_they_name(box: Sandbox) -> None:
    """Among 200 ids, those of valid permissions are found; a revoked one is not."""
    padding = [f"x{number}" for number in range(198)]
    query = {"tailored_audience_permission_ids": ",".join([*padding, "14m", "ri"])}
    found = box.call("GET", path(), query_string=query).get_json()["data"]

    assert ["ri"] == [permission["id"] for permission in found]
