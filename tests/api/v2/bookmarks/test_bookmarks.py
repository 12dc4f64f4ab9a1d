"""Bookmarks: the private list, folders, and what ends with a bookmark."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.objects.relations import BLOCKS, BOOKMARKS, FOLLOWS
from tests.api.v2.posts.support import read_metrics, relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Sandbox, data_of
from tests.walks import walk_both_ways

OWN, OTHER = "2244994945", "3805104374"
POST, ORIGINAL, REPOST = "1789900000000000009", "1789900000000000004", "1789900000000000005"
PATH = f"/2/users/{OWN}/bookmarks"
FOLDERS = f"{PATH}/folders"
FOREIGN = "1990100000000000003"
"""A folder of another user."""


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox in which the caller has no bookmarks and no folders, and follows no user."""
    with box.world.work():
        for relation in (BOOKMARKS, FOLLOWS):
            relation.remove_all(box.world, source=OWN)
        for table in ("bookmark_folders", "bookmark_folder_posts"):
            for entry in box.world.store.page(table):
                if entry.key != FOREIGN:
                    box.world.store.remove(table, entry.key)
    return box


def keep(box: Sandbox, post_id: str, status: int = 200, **body: str) -> Any:
    """Bookmark a post, and return the answer."""
    answer = box.call("POST", PATH, keys=USER_TOKEN, json={"post_id": post_id} | body)
    assert status == answer.status_code, answer.text
    return answer.get_json()


def drop(box: Sandbox, post_id: str) -> Any:
    """Remove a bookmark, and return the answer."""
    return box.call("DELETE", f"{PATH}/{post_id}", keys=USER_TOKEN).get_json()


def add_folder(box: Sandbox, name: str) -> str:
    """The id of a new folder."""
    made = data_of(box.call("POST", FOLDERS, keys=USER_TOKEN, json={"name": name}), 201)
    assert {"id": made["id"], "name": name} == made
    return str(made["id"])


def ids(box: Sandbox, path: str = PATH) -> list[str]:
    """The ids in a list."""
    return [each["id"] for each in box.read(path).get("data", ())]


def count(box: Sandbox, post_id: str = POST) -> int:
    """How many bookmarks a post shows."""
    return int(read_metrics(box, f"/2/posts/{post_id}")["bookmark_count"])


def test_keeping_and_removing(box: Sandbox) -> None:
    """A bookmark is in the list and in the count; twice is once, undo is undo; no event."""
    before = count(box)

    assert {"data": {"bookmarked": True}} == keep(box, POST) == keep(box, POST)
    assert ([POST], before + 1) == (ids(box), count(box))
    assert {"data": {"bookmarked": False}} == drop(box, POST) == drop(box, POST) == drop(box, "5")
    assert before == count(box)
    assert {"meta": {"result_count": 0}} == box.read(PATH)
    assert 0 == box.world.store.count("activities")


def test_a_repost_means_its_original(box: Sandbox) -> None:
    """The id of a repost bookmarks the original, and removes it."""
    keep(box, REPOST)
    assert [ORIGINAL] == ids(box)
    drop(box, REPOST)
    assert [] == ids(box)


def test_folders(box: Sandbox) -> None:
    """A folder has the ids of bookmarks, which may be in several; all leave with the bookmark."""
    one, two = add_folder(box, "One"), add_folder(box, "One")
    keep(box, ORIGINAL, folder_id=one)
    keep(box, POST)
    for folder in (one, two, two):
        keep(box, POST, folder_id=folder)

    listed = box.read(FOLDERS)
    assert [{"id": two, "name": "One"}, {"id": one, "name": "One"}] == listed["data"]
    assert {"result_count": 2} == listed["meta"]
    whole = box.read(f"{FOLDERS}/{one}")
    assert [{"id": POST}, {"id": ORIGINAL}] == whole["data"]
    assert {"result_count": 2} == whole["meta"]
    assert [POST, ORIGINAL] == ids(box)
    drop(box, POST)
    assert ([ORIGINAL], []) == (ids(box, f"{FOLDERS}/{one}"), ids(box, f"{FOLDERS}/{two}"))
    keep(box, POST)
    assert [] == ids(box, f"{FOLDERS}/{two}")


def test_a_deleted_post_leaves_list_and_folders(box: Sandbox) -> None:
    """Nothing is left of it, in the store neither."""
    folder = add_folder(box, "Later")
    keep(box, ORIGINAL, folder_id=folder)
    box.call("DELETE", f"/2/posts/{ORIGINAL}", keys=NORTHBIKE)

    assert ([], []) == (ids(box), ids(box, f"{FOLDERS}/{folder}"))
    assert 0 == box.world.store.count("bookmark_folder_posts")


def test_an_edited_post_stays_in_its_folder(box: Sandbox) -> None:
    """The bookmark of the older version is one of the newest, in both lists."""
    folder = add_folder(box, "Later")
    old = data_of(box.call("POST", "/2/posts", json={"text": "Helo"}), 201)["id"]
    keep(box, old, folder_id=folder)
    edit = {"text": "Hello", "edit_options": {"previous_post_id": old}}
    new = data_of(box.call("POST", "/2/posts", json=edit), 201)["id"]

    assert ([new], [new], 1) == (ids(box), ids(box, f"{FOLDERS}/{folder}"), count(box, new))


def test_hidden_posts_drop_out(box: Sandbox) -> None:
    """A post of a user who has become protected is neither in the list nor in the folder."""
    folder = add_folder(box, "Later")
    keep(box, ORIGINAL, folder_id=folder)
    box.change("users", OTHER, protected=True)
    assert ([], []) == (ids(box), ids(box, f"{FOLDERS}/{folder}"))


def fill(box: Sandbox, number: int) -> list[str]:
    """The ids of so many new posts that are bookmarked, the latest one first."""
    post, made = box.record("posts", POST), []
    with box.world.work():
        for id_ in map(str, range(1, number + 1)):
            box.world.store.put("posts", id_, post | {"id": int(id_), "id_str": id_})
            BOOKMARKS.add(box.world, OWN, id_)
            made.append(id_)
    return made[::-1]


def test_pages_both_ways(box: Sandbox) -> None:
    """Bookmarks, folders and what is in one have pages in the order of their making."""
    order = fill(box, 5)
    folders = [add_folder(box, name) for name in "abc"][::-1]
    for id_ in order:
        keep(box, id_, folder_id=folders[0])
    pages, tokens = walk_both_ways(box, PATH, HARBOR, 2)
    inside, _ = walk_both_ways(box, f"{FOLDERS}/{folders[0]}", HARBOR, 3)
    listed, short = walk_both_ways(box, FOLDERS, HARBOR, 2)

    assert [order[:2], order[2:4], order[4:]] == pages
    assert [order[:-4:-1], order[1::-1]] == inside
    assert [folders[:2], folders[2:]] == listed
    assert ({45}, True) == ({len(token) for token in tokens}, short[0].isdigit())
    wrong = box.ask("GET", FOLDERS, pagination_token=tokens[0])
    assert "is not valid" in wrong.get_json()["errors"][0]["message"]


def test_the_latest_800(box: Sandbox) -> None:
    """Older bookmarks are not served, and the pages end there."""
    order = fill(box, 801)
    pages, _ = walk_both_ways(box, PATH, HARBOR, 90)
    assert order[:800] == [id_ for page in pages for id_ in page]


def test_what_is_read_counts(box: Sandbox) -> None:
    """The whole list counts as posts that were read, a folder's ids do not."""
    folder = add_folder(box, "Later")
    keep(box, ORIGINAL, folder_id=folder)
    usage = partial(box.read, "/2/usage/posts", keys=BEARER)
    before = int(usage()["data"]["project_usage"])
    ids(box, f"{FOLDERS}/{folder}")
    assert before == int(usage()["data"]["project_usage"])
    for _ in range(2):
        ids(box)
    assert before + 1 == int(usage()["data"]["project_usage"])


create = partial(Refusal, f"POST {PATH}", keys=USER_TOKEN)
REFUSED = [
    create("a folder of another", 400, json={"post_id": POST, "folder_id": FOREIGN},
           messages=["Could not find folder"]),
    Refusal(f"GET {FOLDERS}/{FOREIGN}", "the folder of another user", 404,
            problem="resource-not-found"),
    Refusal(f"POST {PATH}", "a signature", 403, json={"post_id": POST},
            problem="unsupported-authentication", text="[OAuth 2.0 User Context]"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_a_block_refuses_bookmarks(box: Sandbox) -> None:
    """Posts of a user who blocks the caller cannot be kept."""
    relate(box, BLOCKS, OTHER, OWN)
    assert "not authorized to see the Post" in keep(box, ORIGINAL, 403)["detail"]


def test_pages_that_end_early(box: Sandbox) -> None:
    """The scenario lets a full page of 100 be the last one, as the public service does at times."""
    order = fill(box, 101)
    box.client.post("/_mock/scenarios/bookmarks-end-early/activate")
    assert order[:100] == walk_both_ways(box, PATH, HARBOR, 100)[0][0]
    assert order == [id_ for page in walk_both_ways(box, PATH, HARBOR, 90)[0] for id_ in page]
