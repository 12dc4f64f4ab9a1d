from __future__ import annotations

from typing import Any

import pytest

from mock_platform.control.making import MAX_IDS
from mock_platform.core.tables.state import State, read_world
from tests.control.support import call, detail, fields
from tests.support import BEARER, HARBOR, Sandbox, sandbox

USER = {"id": "7", "screen_name": "seven", "name": "Seven"}


def test_whole_world_round_trip(box: Sandbox) -> None:
    """The state that a world returns makes it the same world again, after real use as well."""
    box.call("POST", "/oauth2/token", keys=None, auth=(HARBOR.key, HARBOR.secret))
    box.call("POST", "/oauth/request_token?oauth_callback=oob")
    window = {"from_date": "202611202300", "to_date": "202611202300"}
    call(box, "PUT", "/clock", json={"action": "freeze", "to": "2026-11-20T23:30:00Z"})
    box.call(
        "POST",
        "/2/webhooks/replay",
        keys=BEARER,
        json={"webhook_id": call(box, "GET", "/credentials").get_json()["webhook_id"], **window},
    )
    assert box.platform.deliverer.wait_until_idle()
    before = call(box, "GET", "/state").get_json()

    answer = call(box, "PUT", "/state", json=before)
    box.platform.close()

    assert 200 == answer.status_code, answer.get_json()
    assert before == answer.get_json()
    assert before == call(box, "GET", "/state").get_json()
    assert 1 == len(before["tables"]["replay_jobs"])
    assert 1 == len(before["tables"]["_transitions"])


def test_odd_world_round_trip(box: Sandbox) -> None:
    """A world whose records have faults by intention takes itself back as well, but no new ones."""
    call(box, "DELETE", "/state/users/3805104374")
    call(box, "PUT", "/state/users/7?unchecked=true", json={"id": "7", "screen_name": 1})
    before = call(box, "GET", "/state").get_json()

    same = call(box, "PUT", "/state", json=before)
    before["tables"]["users"][0]["name"] = 1
    before["tables"]["apps"] = []
    other = call(box, "PUT", "/state", json=before)

    assert 200 == same.status_code, same.get_json()
    assert 422 == other.status_code
    assert ["name"] == fields(other)


def test_references_that_a_document_breaks(box: Sandbox) -> None:
    """A record that stays as it is may not lose what it refers to."""
    document = call(box, "GET", "/state").get_json()
    document["tables"]["users"] = document["tables"]["users"][:1]

    answer = call(box, "PUT", "/state", json=document)

    assert "which is not in users" in detail(answer, 422)


def test_into_another_server(box: Sandbox) -> None:
    """A world moves to another server whole, and goes on drawing the same ids."""
    call(box, "DELETE", "/state/users/3805104374")
    box.call("POST", "/oauth/request_token?oauth_callback=oob")
    other = sandbox()

    answer = call(other, "PUT", "/state?unchecked=true", json=call(box, "GET", "/state").get_json())
    tokens = [
        place.call("POST", "/oauth/request_token?oauth_callback=oob").text for place in (box, other)
    ]

    assert 200 == answer.status_code
    assert tokens[0] == tokens[1]


def test_faulty_world(box: Sandbox) -> None:
    """A document with faults changes nothing; every fault is reported with its place."""
    before = call(box, "GET", "/state").get_json()
    users = [USER | {"screen_name": "not one word"}, USER]
    document = {"tables": {"users": users, "grnts": [], "tokens": [{"id": "t"}]}}

    answer = call(box, "PUT", "/state", json=document)

    assert 422 == answer.status_code
    faults = answer.get_json()["faults"]
    assert {("users", 0, "screen_name"), ("users", 1, "id"), ("tokens", 0, "kind")} <= {
        (fault["table"], fault["record"], fault["field"]) for fault in faults
    }
    assert "Did you mean 'grants'?" in detail(answer)
    assert "?unchecked=true" in detail(answer)
    assert before == call(box, "GET", "/state").get_json()


@pytest.mark.parametrize(
    "document",
    [
        [], {}, {"tables": []}, {"tables": {"users": {}}}, {"tables": {"users": [1]}},
        {"tables": {}, "clock": {"offset_seconds": "x"}},
        {"tables": {}, "clock": {"frozen_at": "2026-01-01"}}, {"tables": {}, "clock": []},
        {"tables": {}, "ids": -1}, {"tables": {}, "ids": "5"},
        {"tables": {}, "paces": {"replay_job": {"progression": "fast"}}},
        {"tables": {}, "paces": {"replay_job": {"seconds": "1"}}},
        {"tables": {}, "paces": {"replay_jb": {}}}, {"tables": {}, "paces": []},
        {"tables": {}, "paces": {"replay_job": {"secnds": 1}}}, {"tables": {"_transitions": []}},
        {"tables": {"_transitions": {"a": 1}}},
        {"tables": {"_transitions": {"replay_job:1": {"kind": "nothing"}}}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("unchecked", ["", "?unchecked=true"])
def test_no_state(box: Sandbox, document: Any, unchecked: str) -> None:
    """What is no state is refused, checked or not, and the world goes on as it was."""
    before = call(box, "GET", "/state").data

    assert 422 == call(box, "PUT", f"/state{unchecked}", json=document).status_code
    assert before == call(box, "GET", "/state").data


def test_what_is_dumped_is_a_copy(box: Sandbox) -> None:
    """Whoever changes a dump changes nothing of the world."""
    dumped = State(box.world, box.platform.tables).dump()
    assert read_world(box.world, box.platform.tables) == dumped

    dumped["tables"]["users"][0]["name"] = "another"

    assert read_world(box.world, box.platform.tables) != dumped


def test_table(box: Sandbox) -> None:
    """A table returns its records in stored form, and how many."""
    body = call(box, "GET", "/state/users").get_json()

    assert ["records", "total"] == list(body)
    assert len(body["records"]) == body["total"]
    assert "espresso-2026" == body["records"][0]["_password"]


def test_put_record(box: Sandbox) -> None:
    """A record is created or replaced, defaults filled in; its key may come from the path."""
    created = call(box, "PUT", "/state/users/7", json={"screen_name": "seven", "name": "Seven"})
    replaced = call(box, "PUT", "/state/users/7", json=USER | {"name": "New"})

    assert (200, 200) == (created.status_code, replaced.status_code)
    assert "password" == created.get_json()["_password"]
    assert "New" == call(box, "GET", "/state/users/7").get_json()["name"]


def test_put_with_a_reference_to_nothing(box: Sandbox) -> None:
    """A record that refers to what is not there is refused, unless it is wanted so."""
    grant = {"app_id": "11827", "user_id": "7", "created_at": "2026-01-01T00:00:00Z"}

    refused = call(box, "PUT", "/state/grants/g", json=grant)
    taken = call(box, "PUT", "/state/grants/g?unchecked=true", json=grant)

    assert (422, ["user_id"]) == (refused.status_code, fields(refused))
    assert (200, {"_id": "g", **grant}) == (taken.status_code, taken.get_json())


def test_patch_record(box: Sandbox) -> None:
    """A patch changes what it names, under either media type."""
    changed = call(box, "PATCH", "/state/users/2244994945", json={"name": "New"})
    again = call(
        box, "PATCH", "/state/users/2244994945", data=b'{"screen_name": "fresh"}',
        headers={"Content-Type": "application/merge-patch+json"},
    )  # fmt: skip

    assert ("New", "harbor_roasters") == (
        changed.get_json()["name"],
        changed.get_json()["screen_name"],
    )
    assert ("New", "fresh") == (again.get_json()["name"], again.get_json()["screen_name"])


def test_delete_record(box: Sandbox) -> None:
    """A deleted record is gone; the platform no longer knows it."""
    key = BEARER.replace("%", "%25")

    assert 204 == call(box, "DELETE", f"/state/tokens/{key}").status_code
    assert 404 == call(box, "GET", f"/state/tokens/{key}").status_code
    assert 404 == call(box, "DELETE", f"/state/tokens/{key}").status_code


@pytest.mark.parametrize("key", ["a/b", "a%2Fb", "ä", "a b", "?", "%"])
def test_keys_of_any_characters(box: Sandbox, key: str) -> None:
    """A key is whatever it is once the path is decoded, slashes included."""
    path = "/state/grants/" + "".join(f"%{byte:02X}" for byte in key.encode())
    grant = {"app_id": "11827", "user_id": "2244994945", "created_at": "2026-01-01T00:00:00Z"}

    assert key == call(box, "PUT", path, json=grant).get_json()["_id"]
    assert 200 == call(box, "GET", path).status_code


def test_the_answer_to_make_has_ids(box: Sandbox) -> None:
    """It says how many were made, and has the ids of the first thousand."""
    one = call(box, "PUT", "/make", json={"table": "users"}).get_json()
    many = call(box, "PUT", "/make", json={"table": "users", "count": MAX_IDS + 1}).get_json()

    assert {"table": "users", "made": 1, "ids": one["ids"]} == one
    assert (MAX_IDS + 1, MAX_IDS) == (many["made"], len(many["ids"]))
    assert box.world.store.get("users", one["ids"][0]) is not None
