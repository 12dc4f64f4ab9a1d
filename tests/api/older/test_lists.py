"""Lists of the older interface: made, changed, with members, subscribers and posts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.older.numbers import invalid, numbers
from tests.refusals import Refusal, refusals
from tests.support import NORTHBIKE, Sandbox, body_of

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
LIST, PRIVATE, OTHERS_LIST = (f"171530000000000010{number}" for number in (1, 2, 3))


def write(box: Sandbox, what: str, **form: str) -> Any:
    """The list that a write is about."""
    return body_of(box.call("POST", f"/1.1/lists/{what}.json", form=form))


def test_a_list_is_the_same_in_both_interfaces(box: Sandbox) -> None:
    """It is made, renamed, found by its slug in any case, and deleted; v2 shows the same."""
    made = write(box, "create", name="Good Mills", mode="private", description="Stone")
    fields: dict[str, Any] = {"list.fields": "private,description"}
    there = box.read(f"/2/lists/{made['id_str']}", **fields)
    found = box.read("/1.1/lists/show.json", slug="Good-Mills", owner_id=OWN)
    changed = write(box, "update", list_id=made["id_str"], name="Mills", mode="public")
    deleted = write(box, "destroy", list_id=made["id_str"])

    assert (True, "Stone") == (there["data"]["private"], there["data"]["description"])
    assert ("private", "@harbor_roasters/good-mills") == (made["mode"], made["full_name"])
    assert made == found
    assert ("public", "/harbor_roasters/lists/mills") == (changed["mode"], changed["uri"])
    assert changed == deleted
    assert 404 == box.call("GET", f"/2/lists/{made['id_str']}").status_code


def test_members_and_subscribers(box: Sandbox) -> None:
    """Members and subscribers are counted and listed, and their lists as well."""
    made = write(box, "create", name="Mills")["id_str"]
    added = write(box, "members/create", list_id=made, screen_name="ines_duarte")
    posts = box.read("/1.1/lists/statuses.json", list_id=made, count="5")
    members = box.read("/1.1/lists/members.json", list_id=made)["users"]
    of_member = box.read("/1.1/lists/memberships.json", user_id=INES, count="1")
    removed = write(box, "members/destroy", list_id=made, user_id=INES)
    followed = write(box, "subscribers/create", list_id=OTHERS_LIST)
    users = box.read("/1.1/lists/subscribers.json", list_id=OTHERS_LIST)["users"]
    followed_lists = box.read("/1.1/lists/subscriptions.json")["lists"]
    left = write(box, "subscribers/destroy", list_id=OTHERS_LIST)

    assert (1, 0) == (added["member_count"], removed["member_count"])
    assert [INES] == [user["id_str"] for user in members]
    assert {INES} == {post["user"]["id_str"] for post in posts}
    assert made == of_member["lists"][0]["id_str"]
    assert of_member["next_cursor"] > 0
    assert (True, False) == (followed["following"], left["following"])
    assert OWN in [user["id_str"] for user in users]
    assert OTHERS_LIST in [one["id_str"] for one in followed_lists]
    assert PRIVATE in [one["id_str"] for one in box.read("/1.1/lists/ownerships.json")["lists"]]


def test_several_members_and_all_lists(box: Sandbox) -> None:
    """Users are added and taken out by name or id at once; lists/list has both kinds of lists."""
    made = write(box, "create", name="Mills")["id_str"]
    names = {"list_id": made, "screen_name": "ines_duarte,northbike_co,none_such"}
    added = write(box, "members/create_all", **names)
    removed = write(box, "members/destroy_all", list_id=made, user_id=f"{INES},{OTHER}")
    write(box, "subscribers/create", list_id=OTHERS_LIST)
    followed_first = [one["id_str"] for one in box.read("/1.1/lists/list.json")]
    own_first = [one["id_str"] for one in box.read("/1.1/lists/list.json", reverse="true")]

    assert (2, 0) == (added["member_count"], removed["member_count"])
    assert followed_first.index(OTHERS_LIST) < followed_first.index(made)
    assert own_first.index(made) < own_first.index(OTHERS_LIST)
    assert sorted(own_first) == sorted(followed_first)


@pytest.mark.parametrize("kind", ["members", "subscribers"])
def test_one_member_or_subscriber(box: Sandbox, kind: str) -> None:
    """A user who belongs to a list is shown."""
    user = box.read(f"/1.1/lists/{kind}/show.json", list_id=LIST, screen_name="ines_duarte")

    assert INES == user["id_str"]


show = partial(Refusal, "GET /1.1/lists/show.json")
REFUSED = [
    show("no list", 400, shows=numbers(112)),
    show("a slug without an owner", 400, query={"slug": "mills"}, shows=numbers(112)),
    show("an unknown list", 404, query={"list_id": "99"}, shows=numbers(34)),
    show("an unknown slug", 404, query={"slug": "none", "owner_id": OWN}, shows=numbers(34)),
    show("an unknown owner", 404, query={"slug": "none", "owner_id": "99"}, shows=numbers(50)),
    show("a private list of somebody else", 404, keys=NORTHBIKE, query={"list_id": PRIVATE},
         shows=numbers(34)),
    Refusal("GET /1.1/lists/members/show.json", "who is no member", 404,
            query={"list_id": LIST, "user_id": OWN},
            shows=numbers(109, "The specified user is not a member of this list.")),
    Refusal("GET /1.1/lists/subscribers/show.json", "who is no subscriber", 404,
            query={"list_id": LIST, "user_id": OTHER},
            shows=numbers(109, "The specified user is not a subscriber of this list.")),
    Refusal("GET /1.1/lists/members/show.json", "a member without a name", 400,
            query={"list_id": LIST}, shows=numbers(25)),
    Refusal("POST /1.1/lists/update.json", "to change the list of somebody else", 403,
            form={"list_id": OTHERS_LIST, "name": "x"}, shows=numbers(87)),
    Refusal("POST /1.1/lists/create.json", "a name of 26 characters", 400,
            form={"name": "x" * 26}, shows=invalid("name")),
    Refusal("GET /1.1/lists/members.json", "a cursor of another list", 400,
            query={"list_id": LIST, "cursor": "99"}, shows=invalid("cursor")),
    Refusal("POST /1.1/lists/members/create.json", "a member of the list of somebody else", 403,
            form={"list_id": OTHERS_LIST, "user_id": INES}, shows=numbers(104)),
    Refusal("POST /1.1/lists/members/create.json", "an unknown member", 403,
            form={"list_id": LIST, "user_id": "99"}, shows=numbers(108)),
    Refusal("POST /1.1/lists/members/create.json", "no member", 403, form={"list_id": LIST},
            shows=numbers(108)),
    Refusal("POST /1.1/lists/subscribers/create.json", "to follow the own list", 403,
            form={"list_id": LIST}, shows=numbers(87)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    row.check(box)
