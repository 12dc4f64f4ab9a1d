"""Permissions to use audiences, under versions 5 and 12: list, grant, revoke (document B)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.ids import Ids
from tests.api.ads.support import ids
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of, refusal

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


create = partial(Refusal, f"POST {path()}")
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
    *(Refusal(f"POST {path(version=version)}", f"version {version}: {holds}", status,
              [(code, ACCOUNT_ID)], query=OPEN | {ACCOUNT_ID: account},
              spec={"B, Tailored audience permissions (version 5)": ["Sharing works between"]})
      for version in VERSIONS for holds, status, code, account in (
          ("another business needs the feature", 400, "FEATURE_NOT_AVAILABLE", OTHER_ACCOUNT),
          ("an account exists", 403, "ACCOUNT_NOT_FOUND", "nope"),
          ("the owner needs no permission", 400, INVALID, ACCOUNT),
          ("an account has one permission", 400, INVALID, WHOLESALE))),
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
    Refusal(f"GET {path().replace('/5/', '/12/', 1)}", "tailored audiences under version 12", 404,
            [("ROUTE_NOT_FOUND", None)]),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Both parameters, a real account, one business or the feature, by the owner, only once."""
    row.check(box)


@pytest.mark.spec("B, Tailored audience permission", "id, tailored_audience_id")
@pytest.mark.spec("B, Tailored audience permissions (version 5)", "GET: count (default")
@pytest.mark.spec("B, Custom audiences", "GET .../custom_audiences/:custom_audience_id/permissions")
@pytest.mark.spec("B, Not shown", "Parameters and")
def test_permissions_are_listed_for_the_owner(box: Sandbox, version: str) -> None:
    """The owner sees the permissions, without revoked ones, in the documented shape."""
    key = f"{VERSIONS[version]}_id"

    assert box.read(path(version=version)) == {
        "request": {"params": {"account_id": ACCOUNT, key: "1nmth"}},
        "next_cursor": None,
        "data": [{
            "id": "ri", key: "1nmth", "granted_account_id": WHOLESALE,
            "permission_level": "READ_ONLY", "created_at": "2026-02-05T10:00:00Z",
            "updated_at": "2026-02-05T10:00:00Z", "deleted": False,
        }],
    }  # fmt: skip


@pytest.mark.spec("operations", "tailored_audiences.permissions.list")
@pytest.mark.spec("operations", "custom_audiences.permissions.list")
def test_permissions_are_filtered_and_paged(box: Sandbox, version: str) -> None:
    """Filters and total count work together."""
    address = path("4q7sd", OTHER_ACCOUNT, version=version)
    names = f"{VERSIONS[version]}_permission_ids"
    query = {"granted_account_ids": WHOLESALE, "with_total_count": "true"}
    counted: Any = box.ask("GET", address, keys=NORTHBIKE, **query).get_json()

    assert counted["total_count"] == 1
    for query, found in (
        ({}, ["15c", "15f"]), ({"granted_account_ids": WHOLESALE}, ["15f"]),
        ({names: "15c,nope"}, ["15c"]), ({names: "15c", "granted_account_ids": WHOLESALE}, []),
    ):  # fmt: skip
        assert found == ids(box.ask("GET", address, keys=NORTHBIKE, **query))


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "POST: granted_account_id")
def test_a_granted_account_sees_the_audience(box: Sandbox) -> None:
    """A grant within the business is shown to both, and the audience becomes visible."""
    sent = {"granted_account_id": WHOLESALE, "permission_level": "READ_WRITE"}
    hidden = box.call("GET", path(SMALL, WHOLESALE))
    made = data_of(grant(box, SMALL, **sent))

    assert refusal(hidden) == (404, [("TAILORED_AUDIENCE_NOT_FOUND", "tailored_audience_id")])
    assert made.items() >= (sent | {"tailored_audience_id": SMALL, "deleted": False}).items()
    assert ids(box.call("GET", path(SMALL, WHOLESALE))) == [made["id"]]


def test_a_permission_is_granted_and_revoked(box: Sandbox) -> None:
    """The record of version 12 names the custom audience; version 5 sees the same permission."""
    sent = {"granted_account_id": WHOLESALE, "permission_level": "READ_ONLY"}
    made = data_of(grant(box, SMALL, "12", **sent))
    (older,) = box.read(path(SMALL))["data"]
    one = path(SMALL, key=made["id"], version="12")
    gone = data_of(box.call("DELETE", one))

    assert sent.items() <= made.items()
    assert {**made, "tailored_audience_id": SMALL} == {**older, "custom_audience_id": SMALL}
    assert made | {"deleted": True, "updated_at": gone["updated_at"]} == gone
    again = box.call("DELETE", one)
    assert refusal(again) == (404, [("NOT_FOUND", "custom_audience_permission_id")])


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Sharing works between")
def test_the_feature_opens_other_businesses(box: Sandbox) -> None:
    """SHARE_AUDIENCE_OUTSIDE_BUSINESS lets an owner share beyond its business."""
    box.change("accounts", ACCOUNT, _features=["SHARE_AUDIENCE_OUTSIDE_BUSINESS"])

    assert data_of(grant(box, **OPEN | {ACCOUNT_ID: OTHER_ACCOUNT}))


@pytest.mark.spec("operations", "tailored_audiences.permissions.delete")
@pytest.mark.spec("B, States and transitions", "Tailored audience", "granted account")
def test_a_revoked_account_can_no_longer_target(box: Sandbox) -> None:
    """Revoking returns the permission deleted, hides the audience, and happens once.

    The permission is listed with with_deleted alone, as in every other list.
    """
    gone = data_of(box.call("DELETE", path(key="ri")))
    second, hidden = box.call("DELETE", path(key="ri")), box.call("GET", path("1nmth", WHOLESALE))

    assert (gone["deleted"], gone["tailored_audience_id"]) == (True, "1nmth")
    assert [second.status_code, hidden.status_code] == [404, 404]
    assert [] == ids(box.ask("GET", path()))
    assert ["ri", "14m"] == ids(box.ask("GET", path(), with_deleted="true"))
    assert data_of(grant(box, granted_account_id=WHOLESALE, permission_level="READ_ONLY"))


def test_an_id_in_use_is_drawn_again(box: Sandbox) -> None:
    """A new permission never replaces another one, however short its id is."""
    taken = Ids(box.world.seed, box.world.name, box.world.ids.drawn).base36(4)
    other = box.record("audience_permissions", "14p") | {"id": taken}
    box.put("audience_permissions", taken, other)

    assert taken != data_of(grant(box, **OPEN))["id"]
    assert other == box.record("audience_permissions", taken)


@pytest.mark.spec("B, States and transitions", "running campaigns")
def test_running_campaigns_continue_after_a_revocation(box: Sandbox) -> None:
    """Line items that target the audience already go on, and show that they do.

    Their account still sees the audience, and that it may not change it.
    """
    box.change("audience_permissions", "ri", permission_level="READ_WRITE")
    criterion = box.record("targeting_criteria", "8puq7")  # of the wholesale account
    box.put("targeting_criteria", "8puzz", criterion | {"id": "8puzz", "targeting_value": "1nmth"})
    audience = f"/12/accounts/{WHOLESALE}/custom_audiences/1nmth"
    targeted = f"{audience}/targeted"
    before = box.read(targeted)
    box.call("DELETE", path(key="ri"))

    assert before == box.read(targeted)
    assert box.read(audience)["data"]["permission_level"] == "READ_ONLY"
    assert box.ask("PUT", audience, name="Mine").status_code == 403
    assert ["iv3k8"] == [item["id"] for item in before["data"][0]["line_items"]]


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "GET: count (default")
def test_the_longest_lists_of_ids_find_what_they_name(box: Sandbox) -> None:
    """Among 200 ids, those of valid permissions are found; a revoked one is not."""
    wanted = ",".join([*(f"x{number}" for number in range(198)), "14m", "ri"])

    assert ["ri"] == ids(box.ask("GET", path(), tailored_audience_permission_ids=wanted))
