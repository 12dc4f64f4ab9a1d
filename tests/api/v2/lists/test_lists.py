"""Lists: made, changed, read and deleted; members, followers, pins, posts, and private ones."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.lists.records import LIST_MEMBERS, LIST_PINS
from mock_platform.api.v2.objects.relations import BLOCKS
from tests.api.v2.posts.support import ids, read_metrics, relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, NORTHBIKE, USER_TOKEN, Sandbox
from tests.walks import walk, walk_both_ways

SETTINGS = {"dataset": "small"}
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
ROASTERS, SUPPLIERS, GRAVEL, READING = (f"17153000000000001{number:02}" for number in range(1, 5))
"""Two lists of the main user, of which the second is private; one of each of the others."""
MEMBERS, FOLLOWED = f"/2/lists/{ROASTERS}/members", f"/2/users/{OWN}/followed_lists"
PINNED = f"/2/users/{OWN}/pinned_lists"


def write(box: Sandbox, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    """Send a request of the main user, and return the data of the answer."""
    answer = box.call(method, path, **({} if body is None else {"json": body}))
    assert status == answer.status_code, answer.text
    return answer.get_json()["data"]


def count(box: Sandbox, user: str) -> int:
    """In how many lists a user is said to be."""
    return int(read_metrics(box, f"/2/users/{user}")["listed_count"])


def show(box: Sandbox, list_id: str, *fields: str) -> list[Any]:
    """These fields of a list, as its owner sees them."""
    query: Any = {"list.fields": ",".join(fields)}
    shown = box.read(f"/2/lists/{list_id}", **query)["data"]
    return [shown[name] for name in fields]


def test_made_changed_and_deleted(box: Sandbox) -> None:
    """A new list is found at its address, keeps what a change leaves out, and can be deleted."""
    answer = box.call("POST", "/2/lists", json={"name": "Cups"})
    made = answer.get_json()["data"]
    path = f"/2/lists/{made['id']}"
    every = ("created_at", "description", "follower_count", "member_count", "owner_id", "private")

    assert (201, f"http://localhost{path}") == (answer.status_code, answer.headers["location"])
    assert {"id": made["id"], "name": "Cups"} == made == box.read(path)["data"]
    assert show(box, made["id"], *every) == ["2026-11-22T12:00:00.000Z", "", 0, 0, OWN, False]
    assert {"updated": True} == write(box, "PUT", path, {"description": "Of clay"})
    assert {"updated": True} == write(box, "PUT", path, {})
    assert ["Cups", "Of clay"] == show(box, made["id"], "name", "description")
    assert [made["id"], ROASTERS] == ids(box, f"/2/users/{OWN}/owned_lists")
    assert {"deleted": True} == write(box, "DELETE", path)
    assert 404 == box.call("GET", path).status_code


def test_the_owner_is_an_expansion(box: Sandbox) -> None:
    """owner_id is shown with the expansion, and the owner is included once."""
    query: Any = {"expansions": "owner_id", "user.fields": "protected"}
    one = box.read(f"/2/lists/{GRAVEL}", keys=BEARER, **query)
    both = box.read(f"/2/users/{OWN}/owned_lists", **query)

    assert {"id": GRAVEL, "name": "Gravel and coffee", "owner_id": OTHER} == one["data"]
    (owner,) = one["includes"]["users"]
    assert (OTHER, False) == (owner["id"], owner["protected"])
    assert [SUPPLIERS, ROASTERS] == [each["id"] for each in both["data"]]
    assert [OWN] == [each["id"] for each in both["includes"]["users"]]


def test_members_and_their_counts(box: Sandbox) -> None:
    """A member is counted on both sides once, and no longer when taken out; the latest is first."""
    before = count(box, OWN)
    for _ in range(2):
        assert {"is_member": True} == write(box, "POST", MEMBERS, {"user_id": OWN})
    assert [OWN, INES, OTHER] == ids(box, MEMBERS)
    assert ([3], before + 1) == (show(box, ROASTERS, "member_count"), count(box, OWN))
    assert [ROASTERS, GRAVEL] == ids(box, f"/2/users/{OWN}/list_memberships")
    for _ in range(2):
        assert {"is_member": False} == write(box, "DELETE", f"{MEMBERS}/{OWN}")
    assert ([2], before) == (show(box, ROASTERS, "member_count"), count(box, OWN))


def test_private_lists_are_their_owners(box: Sandbox) -> None:
    """For all others a private list is missing everywhere, and its members are not counted."""
    path = f"/2/lists/{SUPPLIERS}"
    for part in ("", "/members", "/followers", "/posts"):
        assert 200 == box.call("GET", path + part).status_code
        for keys in (BEARER, NORTHBIKE):
            refused = box.call("GET", path + part, keys=keys)
            assert (404, SUPPLIERS) == (refused.status_code, refused.get_json()["resource_id"])
    before = count(box, OTHER)
    write(box, "POST", f"{path}/members", {"user_id": OTHER})

    assert ([2], before) == (show(box, SUPPLIERS, "member_count"), count(box, OTHER))
    memberships = f"/2/users/{OTHER}/list_memberships"
    assert [ROASTERS] == ids(box, memberships)
    assert [SUPPLIERS, ROASTERS] == ids(box, memberships, USER_TOKEN)
    assert [ROASTERS] == ids(box, f"/2/users/{OWN}/owned_lists", NORTHBIKE)


def test_counts_follow_the_lists_of_a_world(box: Sandbox) -> None:
    """A user without a stored number is in as many lists as strangers see."""
    box.change("users", INES, listed_count=0)
    assert [ROASTERS] == ids(box, f"/2/users/{INES}/list_memberships")
    assert 1 == count(box, INES)


def test_a_list_turns_private_and_public(box: Sandbox) -> None:
    """It loses its followers and their pins but not its owner's, and is counted again later."""
    before, path = count(box, INES), f"/2/lists/{ROASTERS}"
    relate(box, LIST_PINS, INES, ROASTERS)
    assert [INES] == ids(box, f"{path}/followers")

    for _ in range(2):
        write(box, "PUT", path, {"private": True})
        assert before - 1 == count(box, INES)
    assert [] == ids(box, f"{path}/followers", USER_TOKEN)
    assert [0] == show(box, ROASTERS, "follower_count")
    assert [OWN] == LIST_PINS.list_sources(box.world, ROASTERS)
    write(box, "PUT", path, {"private": False, "name": "Open"})
    assert (before, ["Open", 2]) == (count(box, INES), show(box, ROASTERS, "name", "member_count"))


def test_deletion_takes_all_along(box: Sandbox) -> None:
    """Members, followers and pins of a deleted list are gone, and so are the counts."""
    before = count(box, INES)
    write(box, "DELETE", f"/2/lists/{ROASTERS}")

    assert before - 1 == count(box, INES)
    for table in ("list_members", "list_followers", "list_pins"):
        assert 0 == box.world.store.count(table, {"list_id": ROASTERS}), table
    assert [GRAVEL] == ids(box, PINNED, USER_TOKEN)


def test_following_and_pinning(box: Sandbox) -> None:
    """Lists are followed once, pinned latest first, and unpinned when they are unfollowed."""
    for _ in range(2):
        assert {"following": True} == write(box, "POST", FOLLOWED, {"list_id": READING})
        assert {"pinned": True} == write(box, "POST", PINNED, {"list_id": READING})
    assert [READING, GRAVEL] == ids(box, FOLLOWED)
    assert [OWN] == ids(box, f"/2/lists/{READING}/followers")
    assert [READING, ROASTERS, GRAVEL] == ids(box, PINNED, USER_TOKEN)
    assert {"result_count": 3} == box.read(PINNED)["meta"]
    assert {"pinned": False} == write(box, "DELETE", f"{PINNED}/{ROASTERS}")
    for _ in range(2):
        assert {"following": False} == write(box, "DELETE", f"{FOLLOWED}/{READING}")
    assert ([GRAVEL], [GRAVEL]) == (ids(box, FOLLOWED), ids(box, PINNED, USER_TOKEN))
    write(box, "DELETE", f"{FOLLOWED}/{GRAVEL}")
    assert {"meta": {"result_count": 0}} == box.read(PINNED)


def make_post(box: Sandbox, id_: str, user: str = OTHER, **fields: Any) -> None:
    """Store a post."""
    post = {"id": id_, "text": id_, "author_id": user, "created_at": "2026-11-22T10:00:00.000Z"}
    changed = box.client.put(f"/_mock/state/posts/{id_}", json=post | fields)
    assert changed.status_code < 300, changed.text


def test_posts_of_members(box: Sandbox) -> None:
    """Posts of members are listed newest first, without those that are not for the caller."""
    path = f"/2/lists/{ROASTERS}/posts"
    before = ids(box, path)
    make_post(box, "11", created_at="2026-11-22T11:00:00.000Z")
    make_post(box, "12", INES)
    make_post(box, "13", OWN, created_at="2026-11-22T11:30:00.000Z")
    make_post(box, "14", nullcast=True)
    make_post(box, "15", community_id="1493446837214187523")
    for id_ in ("16", "17"):
        at = "2026-11-22T10:30:00.000Z"
        make_post(box, id_, edit_history_post_ids=["16", "17"], created_at=at)

    assert ["11", "17", "12", *before] == ids(box, path)
    assert ["11"] == ids(box, f"/2/lists/{ROASTERS}/tweets", max_results=1)
    box.change("users", OTHER, protected=True)
    assert "12" == ids(box, path)[0]
    box.change("users", INES, _suspended=True)
    assert {"meta": {"result_count": 0}} == box.read(path, keys=BEARER)
    assert [OTHER] == ids(box, MEMBERS)


def test_searches_by_list(box: Sandbox) -> None:
    """list: finds posts of the members of a public list, and nothing of a private one."""
    make_post(box, "11")
    make_post(box, "12", OWN)
    search = "/2/posts/search/recent"

    assert "11" in ids(box, search, query=f"list:{ROASTERS}")
    assert "12" not in ids(box, search, query=f"list:{ROASTERS}", max_results=100)
    assert [] == ids(box, search, query=f"list:{SUPPLIERS}")


def test_no_more_than_800_posts(box: Sandbox) -> None:
    """A list shows its 800 latest posts, in full pages."""
    template = box.record("posts", "1712850617439551495") | {"nullcast": False}
    with box.world.work():
        for number in range(801):
            id_ = str(2_000_000_000_000_000_000 + number)
            box.world.store.put("posts", id_, template | {"id_str": id_, "id": int(id_)})
    path, pages = f"/2/lists/{ROASTERS}/posts", walk(box, f"/2/lists/{ROASTERS}/posts")

    assert [100] * 8 == [len(page) for page in pages]
    assert 800 == len({post for page in pages for post in page})
    assert 100 == len(ids(box, path))


@pytest.mark.parametrize("way", ["owned_lists", "list_memberships"])
def test_pages_both_ways(box: Sandbox, way: str) -> None:
    """Pages of lists pass private ones over, are full, and are the same back."""
    with box.world.work():
        for number in range(1, 8):
            made = box.record("lists", GRAVEL) | {"id": str(number), "private": number == 4}
            box.world.store.put("lists", made["id"], made)
            LIST_MEMBERS.add(box.world, made["id"], OTHER)
    path = f"/2/users/{OTHER}/{way}"
    last = [GRAVEL] if way == "owned_lists" else [ROASTERS]
    pages, (token, *_) = walk_both_ways(box, path, BEARER, 3)

    assert [["7", "6", "5"], ["3", "2", "1"], last] == pages
    assert re.fullmatch(r"\d{1,19}", token)
    other = f"/2/users/{OWN}/{way}"
    assert 400 == box.ask("GET", other, keys=BEARER, pagination_token=token).status_code


def test_lists_of_a_protected_user(box: Sandbox) -> None:
    """The lists of a protected user are for the user and accepted followers."""
    box.change("users", OTHER, protected=True)
    path = f"/2/users/{OTHER}/owned_lists"
    assert ["errors"] == list(box.read(path, keys=BEARER))
    assert [GRAVEL] == ids(box, path, NORTHBIKE)


def test_nothing_is_told(box: Sandbox) -> None:
    """No activity is recorded for lists."""
    before = box.world.store.version("events")
    write(box, "POST", MEMBERS, {"user_id": OWN})
    write(box, "POST", FOLLOWED, {"list_id": READING})
    assert before == box.world.store.version("events")


create, change = partial(Refusal, "POST /2/lists"), partial(Refusal, f"PUT /2/lists/{ROASTERS}")
add = partial(Refusal, f"POST {MEMBERS}")
follow, pin = partial(Refusal, f"POST {FOLLOWED}"), partial(Refusal, f"POST {PINNED}")
FORBIDDEN: Any = {"problem": "about:blank", "shows": {"title": "Forbidden"}}
REFUSED = [
    Refusal(f"PUT /2/lists/{SUPPLIERS}", "a change of a hidden list", 400, json={}, keys=NORTHBIKE,
            messages=["You cannot update a List that does not exist."]),
    Refusal(f"PUT /2/lists/{GRAVEL}", "a change of a foreign list", 403, json={},
            text="You are not allowed to update this List.", **FORBIDDEN),
    Refusal(f"DELETE /2/lists/{GRAVEL}", "a deletion of a foreign list", 403,
            text="You are not allowed to delete this List.", **FORBIDDEN),
    Refusal(f"POST /2/lists/{GRAVEL}/members", "a member of a foreign list", 403,
            json={"user_id": INES},
            text="You are not allowed to add members to this List.", **FORBIDDEN),
    Refusal(f"DELETE /2/lists/{GRAVEL}/members/{OWN}", "a removal from a foreign list", 403,
            text="You are not allowed to delete members from this List.", **FORBIDDEN),
    follow("one's own list", 400, json={"list_id": ROASTERS}, messages=["follow your own List"]),
    Refusal(f"POST /2/users/{OTHER}/followed_lists", "a hidden list", 400, keys=NORTHBIKE,
            json={"list_id": SUPPLIERS}, messages=["Could not find list"]),
    pin("a list that is not followed", 403, json={"list_id": READING},
        text="You are not allowed to pin this List.", **FORBIDDEN),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_a_user_who_blocks_the_owner(box: Sandbox) -> None:
    """Somebody who blocks the owner of a list cannot be added to it."""
    with box.world.work():
        BLOCKS.add(box.world, INES, OWN)
        LIST_MEMBERS.remove(box.world, ROASTERS, INES)

    text = "You are not allowed to add members"
    add("blocked", 403, json={"user_id": INES}, text=text).check(box)


def test_the_ceilings(box: Sandbox) -> None:
    """1,000 lists, 5,000 members and five pins are possible, and not one more."""
    with box.world.work():
        made = [box.record("lists", ROASTERS) | {"id": str(number)} for number in range(1, 998)]
        for each in made:
            box.world.store.put("lists", each["id"], each)
        for each in made[:2]:
            LIST_PINS.add(box.world, OWN, each["id"])
    box.change("lists", ROASTERS, member_count=4_999)

    write(box, "POST", "/2/lists", {"name": "The last"}, 201)
    create("lists", 400, json={"name": "x"}, messages=["You already own 1,000 Lists."]).check(box)
    write(box, "POST", MEMBERS, {"user_id": OWN})
    box.put("users", "7", box.record("users", OWN) | {"id": "7", "screen_name": "seven"})
    add("members", 400, json={"user_id": "7"}, messages=["already has 5,000 members"]).check(box)
    write(box, "POST", MEMBERS, {"user_id": OWN})
    write(box, "POST", PINNED, {"list_id": "3"})
    pin("pins", 400, json={"list_id": "4"}, messages=["already pinned 5 Lists"]).check(box)
    write(box, "POST", PINNED, {"list_id": "3"})
