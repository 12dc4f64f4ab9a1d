"""Custom audiences: list, read, create, update, delete, and who targets them (document B)."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.ads.audiences.support import EMAIL, base, hashed, update, upload
from tests.api.ads.support import BASE, alter, delete, drop, get, load, make, post, put
from tests.support import ACCOUNT, OTHER_ACCOUNT, Sandbox, data_of, faults, refusal

NEWSLETTER, APP_USERS, SMALL, YOUNG, GONE = "1nmth", "2906h", "2b4kp", "2c9xv", "2d0aa"
SHARED_TO_READ, SHARED_TO_WRITE, CAFE_OWNERS = "4q7sd", "4q9zz", "3m8qe"
KEYS = [
    "audience_size", "audience_type", "created_at", "deleted", "description", "id", "name",
    "owner_account_id", "partner_source", "permission_level", "reasons_not_targetable",
    "targetable", "targetable_types", "updated_at",
]  # fmt: skip


def ids(response: TestResponse) -> list[str]:
    """The ids of a list."""
    return [record["id"] for record in data_of(response)]


# -- audiences ----------------------------------------------------------------------------------


def test_a_new_audience_is_processed(box: Sandbox) -> None:
    """It is not targetable and has no size, until its hour is over; GET answers at once."""
    made = make(box, "custom_audiences", name="Gift buyers")
    read = load(box, f"custom_audiences/{made['id']}")
    users = [{"email": [hashed(str(number))]} for number in range(100)]
    path = f"{BASE}/custom_audiences/{made['id']}/users"
    assert upload(box, [update(*users)], path).status_code == 200
    uploaded = load(box, f"custom_audiences/{made['id']}")
    box.world.clock.advance(3600)
    done = load(box, f"custom_audiences/{made['id']}")

    assert sorted(made) == KEYS
    assert made == read
    for record in (made, uploaded):
        assert (record["targetable"], record["audience_size"]) == (False, None)
        assert record["reasons_not_targetable"] == ["PROCESSING", "TOO_SMALL"]
    assert (made["owner_account_id"], made["permission_level"]) == (ACCOUNT, "READ_WRITE")
    assert (made["description"], made["partner_source"]) == (None, "OTHER")
    assert (done["targetable"], done["audience_size"]) == (True, 100)
    assert done["reasons_not_targetable"] == []


def test_an_audience_below_a_hundred_users(box: Sandbox) -> None:
    """After its processing 99 users are too small, one more is enough."""
    made = make(box, "custom_audiences", name="Gift buyers")
    path = f"{BASE}/custom_audiences/{made['id']}/users"
    box.world.clock.advance(3600)
    users = [{"email": [hashed(str(number))]} for number in range(99)]
    upload(box, [update(*users)], path)
    small = load(box, f"custom_audiences/{made['id']}")
    upload(box, [update({"email": [EMAIL]})], path)
    enough = load(box, f"custom_audiences/{made['id']}")

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
    after = post(box, "targeting_criteria", **target)

    assert refusal(before) == (400, [("INVALID_PARAMETER", "targeting_value")])
    assert after.status_code == 200


def test_own_and_shared_audiences_are_listed(box: Sandbox) -> None:
    """By default those of the account, with SHARED those that others share with it."""
    own = get(box, "custom_audiences")
    shared = get(box, "custom_audiences", permission_scope="SHARED")
    everything = get(box, "custom_audiences", with_deleted="true", with_total_count="true")

    assert ids(own) == [NEWSLETTER, APP_USERS, SMALL, YOUNG]
    assert {one["id"]: one["permission_level"] for one in data_of(shared)} == {
        CAFE_OWNERS: "READ_ONLY",
        SHARED_TO_READ: "READ_ONLY",
        SHARED_TO_WRITE: "READ_WRITE",
    }
    assert ACCOUNT not in {one["owner_account_id"] for one in data_of(shared)}
    assert GONE in ids(everything)
    assert everything.get_json()["total_count"] == 5


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"custom_audience_ids": f"{APP_USERS},{SHARED_TO_READ}"}, [APP_USERS]),
        ({"q": "NEWS"}, [NEWSLETTER]),
        ({"q": "letter"}, []),
        ({"q": "gravel", "permission_scope": "SHARED"}, [SHARED_TO_READ]),
        ({"q": "app", "custom_audience_ids": NEWSLETTER}, []),
        ({"sort_by": "name-asc"}, [APP_USERS, YOUNG, NEWSLETTER, SMALL]),
    ],
)
def test_filters(box: Sandbox, query: dict[str, str], found: list[str]) -> None:
    """Ids and the beginning of the name restrict the list, in any case."""
    assert found == ids(get(box, "custom_audiences", **query))


@pytest.mark.parametrize(("length", "status"), [(0, 400), (1, 200), (255, 200), (256, 400)])
def test_the_length_of_q(box: Sandbox, length: int, status: int) -> None:
    """A name is searched by 1 to 255 characters."""
    assert get(box, "custom_audiences", q="x" * length).status_code == status


def test_a_shared_audience_is_read_with_its_level(box: Sandbox) -> None:
    """An audience of another account shows the level of the permission."""
    record = load(box, f"custom_audiences/{SHARED_TO_READ}")

    assert (record["permission_level"], record["owner_account_id"]) == ("READ_ONLY", OTHER_ACCOUNT)


def test_an_audience_is_changed(box: Sandbox) -> None:
    """The answer has is_owner as well; an empty description unsets it, nothing changes nothing."""
    changed = alter(box, f"custom_audiences/{NEWSLETTER}", name="Readers")
    unset = alter(box, f"custom_audiences/{NEWSLETTER}", description="")
    same = alter(box, f"custom_audiences/{NEWSLETTER}")
    read = load(box, f"custom_audiences/{NEWSLETTER}")

    assert (changed["name"], changed["is_owner"]) == ("Readers", True)
    assert (unset["description"], same) == (None, unset)
    assert {**read, "is_owner": True} == same
    assert "is_owner" not in read


def test_who_may_change_an_audience(box: Sandbox) -> None:
    """READ_WRITE is enough to change it, READ_ONLY is not; only the owner deletes it."""
    written = put(box, f"custom_audiences/{SHARED_TO_WRITE}", description="Guests")
    read_only = put(box, f"custom_audiences/{SHARED_TO_READ}", description="Guests")
    deleted = delete(box, f"custom_audiences/{SHARED_TO_WRITE}")

    assert (data_of(written)["description"], data_of(written)["is_owner"]) == ("Guests", False)
    assert refusal(read_only) == (403, [("ACTION_NOT_ALLOWED", None)])
    assert refusal(deleted) == (403, [("ACTION_NOT_ALLOWED", None)])


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "custom_audiences"), ("PUT", f"custom_audiences/{APP_USERS}")]
)
def test_a_name_is_unique_in_the_account(box: Sandbox, method: str, path: str) -> None:
    """The name of another audience is refused; its own, a deleted one's or a foreign one is not."""
    taken = box.ask(method, f"{BASE}/{path}", name="Newsletter readers")
    old = box.ask(method, f"{BASE}/{path}", name="Old customers")
    foreign = box.ask(method, f"{BASE}/{path}", name="Gravel riders")

    assert refusal(taken) == (400, [("INVALID_PARAMETER", "name")])
    assert (old.status_code, foreign.status_code) == (200, 200)
    own = put(box, f"custom_audiences/{NEWSLETTER}", name="Newsletter readers")
    assert own.status_code == 200


def test_a_name_is_required(box: Sandbox) -> None:
    """An audience without name is refused."""
    assert faults(post(box, "custom_audiences")) == [("MISSING_PARAMETER", "name")]


def test_a_deleted_audience(box: Sandbox) -> None:
    """It is found with_deleted only; its criteria stay, and targeted still lists them."""
    before = box.call("GET", f"{BASE}/custom_audiences/{NEWSLETTER}/targeted").get_json()["data"]
    gone = drop(box, f"custom_audiences/{NEWSLETTER}")
    again = delete(box, f"custom_audiences/{NEWSLETTER}")
    after = box.call("GET", f"{BASE}/custom_audiences/{NEWSLETTER}/targeted").get_json()["data"]
    read = get(box, f"custom_audiences/{NEWSLETTER}", with_deleted="true")

    assert gone["deleted"] is True
    assert refusal(again) == (404, [("NOT_FOUND", "custom_audience_id")])
    assert get(box, f"custom_audiences/{NEWSLETTER}").status_code == 404
    assert data_of(read) == gone
    assert before == after != []


# -- targeted -----------------------------------------------------------------------------------


@pytest.mark.spec("B, Targeted audience entry", "campaign_id, campaign_name")
@pytest.mark.spec("operations", "custom_audiences.targeted")
def test_targeted_shows_servable_line_items(box: Sandbox) -> None:
    """By default only line items that can serve are listed, by campaign."""
    body = box.call("GET", f"{base()}/targeted").get_json()

    assert body["data"] == [
        {
            "campaign_id": "8wku2",
            "campaign_name": "Holiday blend launch",
            "line_items": [{"id": "itttx", "name": "Holiday clicks, US", "servable": True}],
        }
    ]
    assert body["next_cursor"] is None


@pytest.mark.spec("operations", "custom_audiences.targeted")
def test_targeted_shows_all_without_with_active(box: Sandbox) -> None:
    """with_active=false includes line items that cannot serve."""
    body = box.call("GET", f"{base()}/targeted?with_active=false").get_json()

    assert [entry["line_items"][0]["servable"] for entry in body["data"]] == [True, False]
    assert body["request"]["params"]["with_active"] is False


@pytest.mark.spec("operations", "custom_audiences.targeted")
def test_targeted_is_paged(box: Sandbox) -> None:
    """A page holds 200 campaigns; its cursor leads to the others, and null ends the list."""
    tables = {
        "campaigns": "8wku2",
        "line_items": "itttx",
        "targeting_criteria": "8pudq",
        "promoted_posts": "1efwlo",
    }
    with box.world.work():
        for number in range(201):
            ends = {"campaign_id": f"c{number}", "line_item_id": f"l{number}"}
            ids = {"campaigns": f"c{number}", "line_items": f"l{number}"}
            for table, template in tables.items():
                key = ids.get(table, f"t{number}")
                record = box.record(table, template)
                own = {name: value for name, value in ends.items() if name in record}
                box.world.store.put(table, key, record | own | {"id": key})
    first = box.call("GET", f"{base()}/targeted").get_json()
    cursor = {"cursor": first["next_cursor"]}
    second = box.call("GET", f"{base()}/targeted", query_string=cursor).get_json()
    found = [entry["campaign_id"] for page in (first, second) for entry in page["data"]]

    assert (200, 2) == (len(first["data"]), len(second["data"]))
    assert ["8wku2", *(f"c{number}" for number in range(201))] == found
    assert second["next_cursor"] is None


@pytest.mark.usefixtures("noon")
@pytest.mark.spec("operations", "custom_audiences.targeted")
@pytest.mark.parametrize(
    ("table", "key", "change"),
    [
        ("line_items", "itttx", {"entity_status": "PAUSED"}),
        ("line_items", "itttx", {"deleted": True}),
        ("line_items", "itttx", {"start_time": "2026-11-20T12:00:01Z"}),
        ("line_items", "itttx", {"end_time": "2026-11-20T12:00:00Z"}),
        ("campaigns", "8wku2", {"servable": False}),
        ("campaigns", "8wku2", {"deleted": True}),
    ],
)
def test_servable_follows_status_times_and_campaign(
    box: Sandbox, table: str, key: str, change: dict[str, Any]
) -> None:
    """A line item serves only while it, its times and its campaign allow it."""
    box.change(table, key, **change)

    assert box.call("GET", f"{base()}/targeted").get_json()["data"] == []


def test_an_audience_out_of_reach_is_not_found(box: Sandbox) -> None:
    """Unknown, deleted and foreign audiences answer 404; targeted shows a deleted one's."""
    found = {
        name: [
            box.call("GET", f"{base(audience)}/{name}").status_code
            for audience in ("nope", "2d0aa", "3k2pf", "4q7sd")
        ]
        for name in ("targeted", "permissions")
    }

    assert found == {"targeted": [404, 200, 404, 200], "permissions": [404, 404, 404, 200]}
