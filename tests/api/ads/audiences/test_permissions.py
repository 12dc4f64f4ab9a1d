"""Permissions to use audiences, under versions 5 and 12: list, grant, revoke (document B)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.ids import Ids
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, refusal, sandbox

WHOLESALE, EUROPE = "18ce55fw2ag", "18ce5b7qk2c"
VERSIONS = {"5": "tailored_audience", "12": "custom_audience"}
SMALL, SHARED_TO_WRITE = "2b4kp", "4q9zz"


def path(audience: str = "1nmth", account: str = ACCOUNT, key: str = "", version: str = "5") -> str:
    """Address of an audience's permissions."""
    base = f"/{version}/accounts/{account}/{VERSIONS[version]}s/{audience}/permissions"
    return f"{base}/{key}" if key else base


def grant(box: Sandbox, audience: str = "1nmth", version: str = "5", **params: Any) -> TestResponse:
    """Grant another account the use of an audience."""
    return box.call("POST", path(audience, version=version), query_string=params)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each version in turn."""
    return str(request.param)


create, custom = (partial(Refusal, f"POST {path(version=version)}") for version in VERSIONS)
OPEN = {"granted_account_id": EUROPE, "permission_level": "READ_ONLY"}
MISSING, INVALID = "MISSING_PARAMETER", "INVALID_PARAMETER"
ACCOUNT_ID = "granted_account_id"
REFUSED = [
    create("an account is required", 400, [(MISSING, ACCOUNT_ID)],
           query={"permission_level": "READ_ONLY"},
           spec={"B, Tailored audience permissions (version 5)": ["POST: granted_account_id"]}),
    create("a level is required", 400, [(MISSING, "permission_level")],
           query={ACCOUNT_ID: WHOLESALE},
           spec={"B, Tailored audience permissions (version 5)": ["POST: granted_account_id"]}),
    create("a level is one of two", 400, [(INVALID, "permission_level")],
           query=OPEN | {"permission_level": "ADMIN"},
           spec={"B, Tailored audience permissions (version 5)": ["POST: granted_account_id"]}),
    create("another business needs the feature", 400, [("FEATURE_NOT_AVAILABLE", ACCOUNT_ID)],
           query=OPEN | {ACCOUNT_ID: OTHER_ACCOUNT},
           spec={"B, Tailored audience permissions (version 5)": ["Sharing works between"]}),
    create("an account exists", 403, [("ACCOUNT_NOT_FOUND", ACCOUNT_ID)],
           query=OPEN | {ACCOUNT_ID: "nope"}),
    create("the owner needs no permission", 400, [(INVALID, ACCOUNT_ID)],
           query=OPEN | {ACCOUNT_ID: ACCOUNT}),
    create("an account has one permission", 400, [(INVALID, ACCOUNT_ID)],
           query=OPEN | {ACCOUNT_ID: WHOLESALE}),
    custom("version 12: another business needs the feature", 400,
           [("FEATURE_NOT_AVAILABLE", ACCOUNT_ID)], query=OPEN | {ACCOUNT_ID: OTHER_ACCOUNT}),
    custom("version 12: an account exists", 403, [("ACCOUNT_NOT_FOUND", ACCOUNT_ID)],
           query=OPEN | {ACCOUNT_ID: "nope"}),
    custom("version 12: the owner needs no permission", 400, [(INVALID, ACCOUNT_ID)],
           query=OPEN | {ACCOUNT_ID: ACCOUNT}),
    custom("version 12: an account has one permission", 400, [(INVALID, ACCOUNT_ID)],
           query=OPEN | {ACCOUNT_ID: WHOLESALE}),
    *(Refusal(f"POST {path('nope', version=version)}", f"version {version}: an audience exists",
              404, [(code, f"{VERSIONS[version]}_id")], query=OPEN)
      for version, code in (("5", "TAILORED_AUDIENCE_NOT_FOUND"), ("12", "NOT_FOUND"))),
    *(Refusal(f"POST {path(SHARED_TO_WRITE, version=version)}",
              f"version {version}: only the owner grants", 403, [("ACTION_NOT_ALLOWED", None)],
              query=OPEN, spec={"B, Tailored audience permissions (version 5)":
                                ["Creating or revoking"],
                                "B, States and transitions": ["Tailored audience"]})
      for version in VERSIONS),
    *(Refusal(f"DELETE {path('4q7sd', key='15c', version=version)}",
              f"version {version}: only the owner revokes", 403, [("ACTION_NOT_ALLOWED", None)],
              spec={"B, Tailored audience permissions (version 5)": ["Creating or revoking"],
                    "B, States and transitions": ["Tailored audience"]})
      for version in VERSIONS),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Both parameters, a real account, one business or the feature, by the owner, only once."""
    row.check(box)


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Base {ads_base_url}/5/accounts")
@pytest.mark.spec("B, Versioning", "The version is")
def test_another_version_is_no_route(box: Sandbox) -> None:
    """Tailored audience permissions are on version 5 only."""
    response = box.call("GET", path().replace("/5/", "/12/", 1))

    assert refusal(response) == (404, [("ROUTE_NOT_FOUND", None)])


@pytest.mark.spec("B, Tailored audience permission", "id, tailored_audience_id")
@pytest.mark.spec("B, Tailored audience permissions (version 5)", "GET: count (default")
@pytest.mark.spec("B, Custom audiences", "GET .../custom_audiences/:custom_audience_id/permissions")
@pytest.mark.spec("B, Not shown", "Parameters and")
def test_permissions_are_listed_for_the_owner(box: Sandbox, version: str) -> None:
    """The owner sees the permissions, without revoked ones, in the documented shape."""
    key = f"{VERSIONS[version]}_id"

    assert box.call("GET", path(version=version)).get_json() == {
        "request": {"params": {"account_id": ACCOUNT, key: "1nmth"}},
        "next_cursor": None,
        "data": [
            {
                "id": "ri",
                key: "1nmth",
                "granted_account_id": WHOLESALE,
                "permission_level": "READ_ONLY",
                "created_at": "2026-02-05T10:00:00Z",
                "updated_at": "2026-02-05T10:00:00Z",
                "deleted": False,
            }
        ],
    }


@pytest.mark.spec("B, What public facts and settled questions add", "Catalog and set")
def test_strict_refuses_version_12(box: Sandbox) -> None:
    """The specification names its list, and shows neither parameters nor shape."""
    strict = sandbox(strict=True).call("GET", path(version="12"))

    assert refusal(strict) == (501, [("NOT_IMPLEMENTED", None)])


@pytest.mark.spec("operations", "tailored_audiences.permissions.list")
@pytest.mark.spec("operations", "custom_audiences.permissions.list")
def test_permissions_are_filtered_and_paged(box: Sandbox, version: str) -> None:
    """Filters, cursor and total count work together."""

    def found(**query: str) -> tuple[list[str], Any]:
        address = path("4q7sd", OTHER_ACCOUNT, version=version)
        response = box.call("GET", address, keys=NORTHBIKE, query_string=query)
        assert response.status_code == 200, response.text
        body = response.get_json()
        return [permission["id"] for permission in body["data"]], body

    first, body = found(count="1")
    second, last = found(count="1", cursor=body["next_cursor"])
    one, counted = found(granted_account_ids=WHOLESALE, with_total_count="true")
    ids = f"{VERSIONS[version]}_permission_ids"

    assert (["15c", "15f"], None) == (found()[0], last["next_cursor"])
    assert (["15c"], ["15f"]) == (first, second)
    assert (["15f"], 1) == (one, counted["total_count"])
    assert ["15c"] == found(**{ids: "15c,nope"})[0]
    assert [] == found(**{ids: "15c"}, granted_account_ids=WHOLESALE)[0]


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "POST: granted_account_id")
def test_a_granted_account_sees_the_audience(box: Sandbox) -> None:
    """A grant within the business is shown to both, and the audience becomes visible."""
    hidden = box.call("GET", path(SMALL, WHOLESALE))
    made = grant(box, SMALL, granted_account_id=WHOLESALE, permission_level="READ_WRITE")
    seen = box.call("GET", path(SMALL, WHOLESALE))

    data = made.get_json()["data"]
    assert refusal(hidden) == (404, [("TAILORED_AUDIENCE_NOT_FOUND", "tailored_audience_id")])
    assert (WHOLESALE, "READ_WRITE", False) == (
        data["granted_account_id"], data["permission_level"], data["deleted"]
    )  # fmt: skip
    assert data["tailored_audience_id"] == SMALL
    assert [p["id"] for p in seen.get_json()["data"]] == [data["id"]]


def test_a_permission_is_granted_and_revoked(box: Sandbox) -> None:
    """The record of version 12 names the custom audience; version 5 sees the same permission."""
    sent = {"granted_account_id": WHOLESALE, "permission_level": "READ_ONLY"}
    made = grant(box, SMALL, "12", **sent).get_json()["data"]
    (older,) = box.call("GET", path(SMALL)).get_json()["data"]
    one = path(SMALL, key=made["id"], version="12")
    gone = box.call("DELETE", one).get_json()["data"]

    assert sent.items() <= made.items()
    assert {**made, "tailored_audience_id": SMALL} == {**older, "custom_audience_id": SMALL}
    assert made | {"deleted": True, "updated_at": gone["updated_at"]} == gone
    again = box.call("DELETE", one)
    assert refusal(again) == (404, [("NOT_FOUND", "custom_audience_permission_id")])


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Sharing works between")
def test_the_feature_opens_other_businesses(box: Sandbox) -> None:
    """SHARE_AUDIENCE_OUTSIDE_BUSINESS lets an owner share beyond its business."""
    box.change("accounts", ACCOUNT, _features=["SHARE_AUDIENCE_OUTSIDE_BUSINESS"])

    response = grant(box, granted_account_id=OTHER_ACCOUNT, permission_level="READ_ONLY")

    assert response.status_code == 200


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
    made = grant(box, granted_account_id=EUROPE, permission_level="READ_ONLY").get_json()

    assert taken != made["data"]["id"]
    assert other == box.record("audience_permissions", taken)


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
