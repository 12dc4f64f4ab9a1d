"""Custom audiences: list, read, create, update, delete, and who targets them (document B)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.ads.audiences.support import base, hashed, update, upload
from tests.api.ads.support import BASE, alter, delete, drop, echo, get, ids, load, make, post
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, OTHER_ACCOUNT, Sandbox, data_of, refusal

NEWSLETTER, APP_USERS, SMALL, YOUNG, GONE = "1nmth", "2906h", "2b4kp", "2c9xv", "2d0aa"
SHARED_TO_READ, SHARED_TO_WRITE, CAFE_OWNERS = "4q7sd", "4q9zz", "3m8qe"
TARGETED = f"custom_audiences/{NEWSLETTER}/targeted"
KEYS = [
    "audience_size", "audience_type", "created_at", "deleted", "description", "id", "name",
    "owner_account_id", "partner_source", "permission_level", "reasons_not_targetable",
    "targetable", "targetable_types", "updated_at",
]  # fmt: skip


# -- audiences ----------------------------------------------------------------------------------


def fill(box: Sandbox, audience: str, number: int) -> None:
    """Upload so many users."""
    users = [{"email": [hashed(str(each))]} for each in range(number)]
    assert upload(box, [update(*users)], f"{base(audience)}/users").status_code == 200


def test_a_new_audience_is_processed(box: Sandbox) -> None:
    """It is not targetable and has no size, until its hour is over; GET answers at once."""
    made = make(box, "custom_audiences", name="Gift buyers")
    path = f"custom_audiences/{made['id']}"
    read = load(box, path)
    fill(box, made["id"], 100)
    uploaded = load(box, path)
    box.world.clock.advance(3600)
    young = {
        "targetable": False, "audience_size": None,
        "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"],
    }  # fmt: skip
    given = {
        "owner_account_id": ACCOUNT, "permission_level": "READ_WRITE", "description": None,
        "partner_source": "OTHER",
    }  # fmt: skip
    done = {"targetable": True, "audience_size": 100, "reasons_not_targetable": []}

    assert sorted(made) == KEYS
    assert made == read

    assert (young | given).items() <= made.items()
    assert young.items() <= uploaded.items()
    assert done.items() <= load(box, path).items()


def test_an_audience_below_a_hundred_users(box: Sandbox) -> None:
    """After its processing 99 users are too small, one more is enough."""
    key = make(box, "custom_audiences", name="Gift buyers")["id"]
    box.world.clock.advance(3600)
    fill(box, key, 99)
    small = load(box, f"custom_audiences/{key}")
    fill(box, key, 100)
    enough = load(box, f"custom_audiences/{key}")

    assert (small["audience_size"], small["reasons_not_targetable"]) == (99, ["TOO_SMALL"])
    assert (enough["audience_size"], enough["targetable"]) == (100, True)


def test_the_processing_is_a_transition(box: Sandbox) -> None:
    """A test may end it at once; a young audience of the fixtures has one as well."""
    with box.world.work():
        box.world.transitions.set_pace("audience", progression="immediate")
    made = make(box, "custom_audiences", name="Gift buyers", description="2026")
    young = load(box, f"custom_audiences/{YOUNG}")

    assert (made["reasons_not_targetable"], made["audience_size"]) == (["TOO_SMALL"], 0)
    assert made["description"] == "2026"
    assert young["reasons_not_targetable"] == ["TOO_SMALL"]


def test_an_audience_that_is_processed_can_be_targeted(box: Sandbox) -> None:
    """Targeting needs the end of the processing."""
    box.change("custom_audiences", YOUNG, _size=500)
    target = {
        "line_item_id": "iumz0", "targeting_type": "CUSTOM_AUDIENCE", "targeting_value": YOUNG,
        "operator_type": "EQ",
    }  # fmt: skip
    before = post(box, "targeting_criteria", **target)
    box.world.clock.advance(3600)

    assert refusal(before) == (400, [("INVALID_PARAMETER", "targeting_value")])
    assert make(box, "targeting_criteria", **target)


def test_own_and_shared_audiences_are_listed(box: Sandbox) -> None:
    """By default those of the account, with SHARED those that others share with it."""
    own = get(box, "custom_audiences")
    shared = get(box, "custom_audiences", permission_scope="SHARED")
    everything = get(box, "custom_audiences", with_deleted="true", with_total_count="true")

    assert ids(own) == [NEWSLETTER, APP_USERS, SMALL, YOUNG]
    assert {one["id"]: one["permission_level"] for one in data_of(shared)} == {
        CAFE_OWNERS: "READ_ONLY", SHARED_TO_READ: "READ_ONLY", SHARED_TO_WRITE: "READ_WRITE",
    }  # fmt: skip
    assert ACCOUNT not in {one["owner_account_id"] for one in data_of(shared)}
    assert GONE in ids(everything)
    assert everything.get_json()["total_count"] == 5


@pytest.mark.parametrize(("query", "found"), [
    ({"custom_audience_ids": f"{APP_USERS},{SHARED_TO_READ}"}, [APP_USERS]),
    ({"q": "NEWS"}, [NEWSLETTER]),
    ({"q": "letter"}, []),
    ({"q": "x"}, []),
    ({"q": "x" * 255}, []),
    ({"q": "gravel", "permission_scope": "SHARED"}, [SHARED_TO_READ]),
    ({"q": "app", "custom_audience_ids": NEWSLETTER}, []),
    ({"sort_by": "name-asc"}, [APP_USERS, YOUNG, NEWSLETTER, SMALL]),
])  # fmt: skip
def test_filters(box: Sandbox, query: dict[str, str], found: list[str]) -> None:
    """Ids and the beginning of the name restrict the list, in any case."""
    assert found == ids(get(box, "custom_audiences", **query))


@refusals([
    *(Refusal(f"GET {BASE}/custom_audiences", f"a search for {length} characters", 400,
              [("INVALID_PARAMETER", "q")], query={"q": "x" * length}) for length in (0, 256)),
    Refusal(f"POST {BASE}/custom_audiences", "an audience without name", 400,
            [("MISSING_PARAMETER", "name")]),
    Refusal(f"PUT {BASE}/custom_audiences/{SHARED_TO_READ}", "a change with READ_ONLY", 403,
            [("ACTION_NOT_ALLOWED", None)], query={"description": "Guests"}),
    Refusal(f"DELETE {BASE}/custom_audiences/{SHARED_TO_WRITE}", "a delete by another account", 403,
            [("ACTION_NOT_ALLOWED", None)]),
])  # fmt: skip
def test_refused(box: Sandbox, row: Refusal) -> None:
    """Searches that are too short or long, no name, and changes without the right to them."""
    row.check(box)


def test_a_shared_audience_has_a_level(box: Sandbox) -> None:
    """An audience of another account shows the level of the permission; READ_WRITE changes it."""
    record = load(box, f"custom_audiences/{SHARED_TO_READ}")
    written = alter(box, f"custom_audiences/{SHARED_TO_WRITE}", description="Guests")

    assert (record["permission_level"], record["owner_account_id"]) == ("READ_ONLY", OTHER_ACCOUNT)
    assert (written["description"], written["is_owner"]) == ("Guests", False)


def test_an_audience_is_changed(box: Sandbox) -> None:
    """The answer has is_owner as well; an empty description unsets it, nothing changes nothing."""
    path = f"custom_audiences/{NEWSLETTER}"
    changed, unset = alter(box, path, name="Readers"), alter(box, path, description="")
    same = alter(box, path)
    read = load(box, path)

    assert (changed["name"], changed["is_owner"]) == ("Readers", True)
    assert (unset["description"], same) == (None, unset)
    assert {**read, "is_owner": True} == same
    assert "is_owner" not in read


@pytest.mark.parametrize(("method", "path"), [
    ("POST", "custom_audiences"), ("PUT", f"custom_audiences/{APP_USERS}"),
])  # fmt: skip
def test_a_name_is_unique_in_the_account(box: Sandbox, method: str, path: str) -> None:
    """The name of another audience is refused; its own, a deleted one's or a foreign one is not."""
    taken, old, foreign = (
        box.ask(method, f"{BASE}/{path}", name=name)
        for name in ("Newsletter readers", "Old customers", "Gravel riders")
    )

    assert refusal(taken) == (400, [("INVALID_PARAMETER", "name")])
    assert (old.status_code, foreign.status_code) == (200, 200)
    assert alter(box, f"custom_audiences/{NEWSLETTER}", name="Newsletter readers")


@pytest.mark.usefixtures("noon")
def test_a_deleted_audience(box: Sandbox) -> None:
    """It is found with_deleted only; its criteria stay, and targeted still lists them."""
    path = f"custom_audiences/{NEWSLETTER}"
    before, gone = load(box, f"{path}/targeted"), drop(box, path)

    assert gone["deleted"] is True
    assert refusal(delete(box, path)) == (404, [("NOT_FOUND", "custom_audience_id")])
    assert get(box, path).status_code == 404
    assert load(box, path, with_deleted="true") == gone
    assert before == load(box, f"{path}/targeted") != []


# -- targeted -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("noon")
@pytest.mark.spec("B, Targeted audience entry", "campaign_id, campaign_name")
@pytest.mark.spec("operations", "custom_audiences.targeted")
def test_targeted_shows_servable_line_items(box: Sandbox) -> None:
    """By default only line items that can serve are listed, by campaign; the others on demand."""
    body, every = box.read(f"{base()}/targeted"), get(box, TARGETED, with_active="false")

    assert body["data"] == [{
        "campaign_id": "8wku2", "campaign_name": "Holiday blend launch",
        "line_items": [{"id": "itttx", "name": "Holiday clicks, US", "servable": True}],
    }]  # fmt: skip
    assert body["next_cursor"] is None
    assert [entry["line_items"][0]["servable"] for entry in data_of(every)] == [True, False]
    assert echo(every)["with_active"] is False


@pytest.mark.usefixtures("noon")
@pytest.mark.spec("operations", "custom_audiences.targeted")
def test_targeted_is_paged(box: Sandbox) -> None:
    """A page holds 200 campaigns; its cursor leads to the others, and null ends the list."""
    tables = {
        "campaigns": "8wku2", "line_items": "itttx", "targeting_criteria": "8pudq",
        "promoted_posts": "1efwlo",
    }  # fmt: skip
    with box.world.work():
        for number in range(201):
            ends = {"campaign_id": f"c{number}", "line_item_id": f"l{number}"}
            keys = {"campaigns": f"c{number}", "line_items": f"l{number}"}
            for table, template in tables.items():
                key = keys.get(table, f"t{number}")
                record = box.record(table, template)
                own = {name: value for name, value in ends.items() if name in record}
                box.world.store.put(table, key, record | own | {"id": key})
    first = get(box, TARGETED).get_json()
    second = get(box, TARGETED, cursor=first["next_cursor"]).get_json()
    found = [entry["campaign_id"] for page in (first, second) for entry in page["data"]]

    assert (200, 2) == (len(first["data"]), len(second["data"]))
    assert ["8wku2", *(f"c{number}" for number in range(201))] == found
    assert second["next_cursor"] is None


@pytest.mark.usefixtures("noon")
@pytest.mark.spec("operations", "custom_audiences.targeted")
@pytest.mark.parametrize(("table", "key", "change"), [
    ("line_items", "itttx", {"entity_status": "PAUSED"}),
    ("line_items", "itttx", {"deleted": True}),
    ("line_items", "itttx", {"start_time": "2026-11-20T12:00:01Z"}),
    ("line_items", "itttx", {"end_time": "2026-11-20T12:00:00Z"}),
    ("campaigns", "8wku2", {"servable": False}),
    ("campaigns", "8wku2", {"deleted": True}),
])  # fmt: skip
def test_servable_follows_status_times_and_campaign(
    box: Sandbox, table: str, key: str, change: dict[str, Any]
) -> None:
    """A line item serves only while it, its times and its campaign allow it."""
    box.change(table, key, **change)

    assert load(box, TARGETED) == []


@pytest.mark.parametrize(("name", "found"), [
    ("targeted", [404, 200, 404, 200]), ("permissions", [404, 404, 404, 200]),
])  # fmt: skip
def test_an_audience_out_of_reach_is_not_found(box: Sandbox, name: str, found: list[int]) -> None:
    """Unknown, deleted and foreign audiences answer 404; targeted shows a deleted one's."""
    keys = ("nope", "2d0aa", "3k2pf", "4q7sd")

    assert found == [box.call("GET", f"{base(key)}/{name}").status_code for key in keys]
