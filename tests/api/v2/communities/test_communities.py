"""Communities: by id, by words, and as the place of a post."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import Refusal
from tests.support import BEARER, Sandbox

ROASTERS, CLIMB, CUPPERS = (f"149344683721418752{number}" for number in (3, 4, 5))
SEARCH = "/2/communities/search"


def test_one_by_id(box: Sandbox) -> None:
    """A community has id and name, and all else if that is asked for."""
    query: Any = {"community.fields": "access,created_at,description,join_policy,member_count"}
    whole = box.read(f"/2/communities/{CUPPERS}", keys=BEARER, **query)["data"]

    short = box.read(f"/2/communities/{ROASTERS}")["data"]
    assert {"id": ROASTERS, "name": "Home roasters"} == short
    assert box.record("communities", CUPPERS) == whole


@pytest.mark.parametrize(
    ("query", "found"),
    [("COFFEE", [CLIMB, ROASTERS]), ("coffee pans", [ROASTERS]), ("roast", [ROASTERS]),
     ("roas", []), ("!?", [])],
)  # fmt: skip
def test_words(box: Sandbox, query: str, found: list[str]) -> None:
    """All words of the query are in the name or the description, in any case; the newest first."""
    answer = box.read(SEARCH, query=query)
    assert found == [each["id"] for each in answer.get("data", ())]
    assert {"result_count": len(found)} == answer["meta"]


@pytest.mark.parametrize("name", ["next_token", "pagination_token"])
def test_pages(box: Sandbox, name: str) -> None:
    """The token works under both names, for the same query and no other."""
    for number in range(1, 13):
        made = box.record("communities", CLIMB) | {"id": str(number), "name": "Cups"}
        box.put("communities", made["id"], made)
    first = box.read(SEARCH, query="cups")
    token: Any = {name: first["meta"]["next_token"]}
    second = box.read(SEARCH, query="cups", **token)

    assert [str(number) for number in range(12, 2, -1)] == [one["id"] for one in first["data"]]
    assert ["2", "1"] == [one["id"] for one in second["data"]]
    assert {"result_count": 2} == second["meta"]
    assert 400 == box.ask("GET", SEARCH, query="climb", **token).status_code


def test_posts_are_made_in_them(box: Sandbox) -> None:
    """A post in a community is stored with it; an unknown one is refused, also by the scenario."""
    made = box.call("POST", "/2/posts", json={"text": "Pans", "community_id": ROASTERS})
    fields: Any = {"post.fields": "community_id"}
    shown = box.read(f"/2/posts/{made.get_json()['data']['id']}", **fields)
    post = {"text": "Poppers", "community_id": "5"}

    assert (201, ROASTERS) == (made.status_code, shown["data"]["community_id"])
    Refusal("POST /2/posts", "unknown", 400, json=post, messages=["has the id 5"]).check(box)
    box.client.post("/_mock/scenarios/community-unknown/activate")
    Refusal("POST /2/posts", "scenario", 400, json=post | {"community_id": ROASTERS},
            messages=["no community has this id"]).check(box)  # fmt: skip
