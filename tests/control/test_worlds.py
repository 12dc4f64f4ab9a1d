from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.control.support import call, detail
from tests.support import BEARER, Keys, Sandbox, sandbox


def test_make_a_world(box: Sandbox) -> None:
    """A new world answers with its addresses and credentials, which work there."""
    world = call(box, "PUT", "/worlds/w1", json={}).get_json()

    assert "w1" == world["name"]
    assert "http://localhost/~w1" == world["base_url"] == world["ads_base_url"]
    assert "http://localhost/~w1/sandbox" == world["ads_sandbox_base_url"]
    assert "http://localhost/~w1/_mock" == world["control"]
    assert BEARER == world["credentials"]["bearer_token"]
    url = f"/~w1/12/accounts/{world['credentials']['accounts'][0]}"
    assert 401 == box.call("GET", url, keys=None).status_code
    assert "w1" == call(box, "GET", "/requests", "w1").get_json()["requests"][0]["world"]


def test_make_a_world_again(box: Sandbox) -> None:
    """Making a world that is there changes nothing; the answer says what it has otherwise."""
    asked = {
        "seed": 5,
        "names": "original",
        "wire": "recorded",
        "as_of": "2026-03-01",
        "warnings": "error",
        "freeze": "2026-01-01T00:00:00Z",
    }
    first = call(box, "PUT", "/worlds/w1", json=asked)
    call(box, "PUT", "/clock", "w1", json={"action": "freeze", "to": "2026-01-01T00:00:00Z"})

    second = call(box, "PUT", "/worlds/w1", json=asked | {"from": "default"})
    third = call(box, "PUT", "/worlds/w1", json={"seed": 6, "wire": "spec", "freeze": "2027-01-01"})

    assert (200, first.get_json()) == (second.status_code, second.get_json())
    told = "The world 'w1' exists and does not change: {}. Drop it first to make it so."
    otherwise = [
        "seed is 5, not 6",
        "freeze is 2026-01-01T00:00:00.000Z, not 2027-01-01T00:00:00.000Z",
        "wire is recorded, not spec",
    ]
    assert (200, [told.format(each) for each in otherwise]) == (
        third.status_code,
        third.get_json()["warnings"],
    )
    assert call(box, "GET", "/clock", "w1").get_json()["frozen"]
    assert 5 == box.platform.worlds.get("w1").seed


def test_address_through_a_prefix(box: Sandbox) -> None:
    """Addresses are those of the server, whichever world the request itself named."""
    call(box, "PUT", "/worlds/w1")

    assert "http://localhost/~w2" == call(box, "PUT", "/worlds/w2", "w1").get_json()["base_url"]


def test_a_world_that_stands_still(box: Sandbox) -> None:
    """With `freeze` its clock stays there, after a reset as well, and fixtures count from it."""
    call(box, "PUT", "/worlds/w1", json={"freeze": "2026-03-01T12:00:00Z"})
    begun = call(box, "GET", "/state/events/1990134709188526080", "w1").get_json()
    call(box, "PUT", "/clock", "w1", json={"action": "advance", "seconds": 60})
    call(box, "POST", "/reset", "w1")

    assert "2026-02-28T13:00:00.000Z" == begun["created_at"]  # now-23h
    clock = call(box, "GET", "/clock", "w1").get_json()
    assert {"now": "2026-03-01T12:00:00.000Z", "frozen": True} == clock
    assert not call(box, "GET", "/clock").get_json()["frozen"]


def test_a_copy_that_stands_still(box: Sandbox) -> None:
    """A copy keeps its records as they are and goes its own way; its clock may differ."""
    box.change("users", "2244994945", name="Changed")
    call(box, "PUT", "/worlds/w1", json={"from": "default", "freeze": "2026-03-01T12:00:00Z"})
    box.change("users", "2244994945", name="Changed again")
    call(box, "PUT", "/clock", "w1", json={"action": "resume"})
    call(box, "POST", "/reset", "w1")

    assert "Changed" == call(box, "GET", "/state/users/2244994945", "w1").get_json()["name"]
    clock = call(box, "GET", "/clock", "w1").get_json()
    assert {"now": "2026-03-01T12:00:00.000Z", "frozen": True} == clock


def _own(box: Sandbox, name: str, **more: object) -> Keys:
    """The keys of a new world with credentials of its own."""
    made = call(box, "PUT", f"/worlds/{name}", json={"own_credentials": True, **more}).get_json()
    app, user = made["credentials"]["app"], made["credentials"]["user"]
    return Keys(
        app["consumer_key"],
        app["consumer_secret"],
        user["access_token"],
        user["access_token_secret"],
    )


def _world_of_last_request(box: Sandbox, *worlds: str) -> list[str]:
    return [w for w in worlds if call(box, "GET", "/requests", w).get_json()["requests"]]


@pytest.mark.parametrize("more", [{}, {"from": "default"}, {"freeze": "2026-03-01T12:00:00Z"}])
def test_own_credentials_choose_the_world(box: Sandbox, more: dict[str, object]) -> None:
    """Without a prefix or a header each key leads to its world, after a reset as well."""
    first, second = _own(box, "w1", **more), _own(box, "w2", **more)
    for _ in range(2):
        assert 200 == box.call("GET", "/12/accounts", keys=first).status_code
        assert ["w1"] == _world_of_last_request(box, "default", "w1", "w2")
        call(box, "POST", "/reset", "w1")
    assert 200 == box.call("GET", "/12/accounts", keys=second).status_code
    assert ["w2"] == _world_of_last_request(box, "default", "w1", "w2")


def test_own_credentials_replace_those_of_the_fixtures(box: Sandbox) -> None:
    """All of them are new, in the form of the old ones; the published ones do not work there."""
    made = call(box, "PUT", "/worlds/w1", json={"own_credentials": True}).get_json()["credentials"]
    shared = call(box, "GET", "/credentials").get_json()

    for name in ("consumer_key", "consumer_secret", "client_id", "client_secret"):
        assert len(shared["app"][name]) == len(made["app"][name])
        assert shared["app"][name] != made["app"][name]
    assert made["user"]["access_token"].startswith("2244994945-")
    assert made["bearer_token"].startswith("A" * 21)
    assert made["bearer_token"].count("%3D") == 1
    assert made["user"]["oauth2_access_token"] != shared["user"]["oauth2_access_token"]
    assert 401 == box.call("GET", "/~w1/12/accounts").status_code
    own = {"Authorization": f"Bearer {made['bearer_token']}"}
    assert 200 == box.client.get("/2/webhooks", headers=own).status_code
    elsewhere = {**own, "X-Mock-World": "default"}
    assert 401 == box.client.get("/2/webhooks", headers=elsewhere).status_code


def test_the_default_world_keeps_its_credentials(box: Sandbox) -> None:
    """It exists already, so making it with own credentials changes nothing."""
    before = call(box, "GET", "/credentials").get_json()

    made = call(box, "PUT", "/worlds/default", json={"own_credentials": True}).get_json()

    assert before == made["credentials"]


def test_forms_under_a_prefix_are_explained(box: Sandbox) -> None:
    """A client that sends JSON only under /2/ sends a form: the journal names own credentials."""
    call(box, "PUT", "/worlds/w1")

    refused = box.call("POST", "/~w1/2/posts", form={"text": "Good morning"})

    assert 400 <= refused.status_code < 500
    entry = call(box, "GET", "/requests", "w1").get_json()["requests"][0]
    assert "world-prefix" == entry["diagnosis"]["mistake"]
    assert "own_credentials" in entry["diagnosis"]["explanation"]
    box.call("POST", "/2/posts", form={"text": "Good morning"})
    assert call(box, "GET", "/requests").get_json()["requests"][0]["diagnosis"] is None


def test_a_seed_as_a_text(box: Sandbox) -> None:
    """A seed is a whole number, which may be written as a text."""
    assert 200 == call(box, "PUT", "/worlds/w1", json={"seed": "1"}).status_code


def test_most_worlds() -> None:
    """A server holds so many worlds and no more; one that is there can still be asked for."""
    box = sandbox(max_worlds=2)

    assert 200 == call(box, "PUT", "/worlds/w1").status_code
    answer = call(box, "PUT", "/worlds/w2")

    assert "DELETE /_mock/worlds/NAME" in detail(answer, 409)
    assert 200 == call(box, "PUT", "/worlds/w1").status_code


def test_list_worlds(box: Sandbox) -> None:
    """Every world is listed with its addresses; the default one has no prefix."""
    call(box, "PUT", "/worlds/w1", json={"seed": 9})
    box.call("GET", "/~w1/2/openapi.json", keys=None)

    default, other = call(box, "GET", "/worlds").get_json()["worlds"]

    assert ("default", "http://localhost") == (default["name"], default["base_url"])
    assert ("w1", 9, 1) == (other["name"], other["seed"], other["requests"])


def test_reset() -> None:
    """A reset brings records, clock and ids back and empties the journal, of that world alone."""
    box = sandbox(freeze=datetime(2026, 3, 1, tzinfo=UTC))
    call(box, "PUT", "/worlds/w1")
    before = call(box, "GET", "/state").get_json()
    for world in ("", "w1"):
        call(box, "DELETE", "/state/users/3805104374", world)
        call(box, "PUT", "/clock", world, json={"action": "advance", "seconds": 1})
    box.call("GET", "/2/openapi.json", keys=None)

    answer = call(box, "POST", "/reset")

    assert (204, b"") == (answer.status_code, answer.data)
    assert before == call(box, "GET", "/state").get_json()
    assert 0 == call(box, "GET", "/requests/count").get_json()["count"]
    assert "2026-03-01T00:00:01.000Z" == call(box, "GET", "/clock", "w1").get_json()["now"]
