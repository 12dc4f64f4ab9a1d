"""Searches and counts: queries, windows, pages, orders, and what they find."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOWS, Relation
from mock_platform.api.v2.posts.changes import create_post
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from tests.api.oauth.app_client import messages
from tests.support import BEARER, HARBOR, NORTHBIKE, Sandbox

NOW = datetime(2026, 11, 22, 12, 30, 15, tzinfo=UTC)
SETTINGS = {"freeze": NOW}
EMPTY = ("posts", "follows")
OWN, OTHER = "2244994945", "3805104374"
RECENT, ALL = "/2/posts/search/recent", "/2/posts/search/all"
SEARCHES = [RECENT, ALL]
COUNTS = ["/2/posts/counts/recent", "/2/posts/counts/all"]
EVERY = [*SEARCHES, *COUNTS]


def make(box: Sandbox, text: str, author: str = OWN, *, ago: float = 0, **more: Any) -> Record:
    """Store a post; `ago` is in hours."""
    at, user = (
        wire_millis(box.world.clock.now() - timedelta(hours=ago)),
        box.record("users", author),
    )
    with box.world.work():
        return create_post(box.world, user, text, created_at=at, **more).record


def ask(box: Sandbox, path: str, query: str, **more: Any) -> TestResponse:
    """Search with the bearer token."""
    return box.ask("GET", path, keys=BEARER, query=query, **more)


def read(box: Sandbox, path: str, query: str, **more: Any) -> Any:
    """The body of the answer to a search."""
    return box.read(path, keys=BEARER, query=query, **more)


def find(box: Sandbox, query: str, path: str = RECENT, **more: Any) -> list[str]:
    """The texts that a search finds."""
    return [post["text"] for post in read(box, path, query, **more).get("data", ())]


# -- what is found ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SEARCHES)
def test_the_newest_come_first(box: Sandbox, path: str) -> None:
    """Posts as selected, what they refer to, and the ids of newest and oldest; or nothing."""
    old, new = (make(box, "Coffee, old", ago=2), make(box, "New COFFEE", OTHER))
    make(box, "Tea")
    fields: Any = {"user.fields": "verified"}
    found = read(box, path, "coffee", expansions="author_id", **fields)

    ids = [new["id_str"], old["id_str"]]
    assert ids == [post["id"] for post in found["data"]]
    assert {OTHER: False, OWN: True} == {u["id"]: u["verified"] for u in found["includes"]["users"]}
    assert {"result_count": 2, "newest_id": ids[0], "oldest_id": ids[1]} == found["meta"]
    assert {"meta": {"result_count": 0}} == read(box, path, "milk")


def test_a_post_is_found_at_once(box: Sandbox) -> None:
    """A search right after a post finds it, and after its deletion no more."""
    made = box.call("POST", "/2/posts", json={"text": "Just made"}).get_json()["data"]["id"]
    assert ["Just made"] == find(box, "made")
    box.call("DELETE", f"/2/posts/{made}")
    assert [] == find(box, "made")


def test_only_the_newest_version_is_found(box: Sandbox) -> None:
    """An edited post is found with its new text alone."""
    old = make(box, "Helo world")
    make(box, "Hello world", previous=old)
    assert ["Hello world"] == find(box, "world")


def test_who_finds_which_posts(box: Sandbox) -> None:
    """Accepted followers find the posts of a protected user; a block and a suspension hide them."""
    make(box, "Quiet coffee")
    box.change("users", OWN, protected=True)

    def found(relation: Relation | None = None, source: str = OWN, target: str = OWN) -> list[int]:
        if relation is not None:
            with box.world.work():
                relation.add(box.world, source, target)
        asked: Any = {"query": "coffee from:harbor_roasters"}
        counted = (box.read(RECENT, keys=keys, **asked) for keys in (NORTHBIKE, HARBOR, BEARER))
        return [each["meta"]["result_count"] for each in counted]

    assert [0, 1, 0] == found()
    assert [1, 1, 0] == found(FOLLOWS, source=OTHER)
    assert [0, 1, 0] == found(BLOCKS, target=OTHER)
    box.change("users", OWN, protected=False)
    assert [0, 1, 1] == found()
    box.change("users", OWN, _suspended=True)
    assert [0, 0] == [len(find(box, "coffee", path)) for path in SEARCHES]
    assert 0 == ask(box, COUNTS[0], "coffee").get_json()["meta"]["total_post_count"]


def test_diacritics_do_not_count(box: Sandbox) -> None:
    """In a search a word matches with and without its marks."""
    make(box, "Um caf\u00e9")
    assert ["Um caf\u00e9"] == find(box, "cafe") == find(box, "CAF\u00c9")


def test_relevancy(box: Sandbox) -> None:
    """The post with most answers comes first, and among equal ones the newest."""
    make(box, "coffee 1", ago=3, fields={"favorite_count": 2})
    make(box, "coffee 2", ago=2, fields={"repost_count": 5})
    make(box, "coffee 3", ago=1, fields={"favorite_count": 2})

    texts = ["coffee 2", "coffee 3", "coffee 1"]
    assert texts == find(box, "coffee", sort_order="relevancy")
    assert ["coffee 3", "coffee 2", "coffee 1"] == find(box, "coffee", sort_order="recency")


def test_reads_are_counted(box: Sandbox) -> None:
    """Posts that are found count towards the usage of the app; counts do not."""
    for number in range(3):  # by a user to whom nobody has subscribed
        make(box, f"coffee {number}", OTHER)

    def usage() -> int:
        return int(box.read("/2/usage/posts", keys=BEARER)["data"]["project_usage"])

    before = usage()
    ask(box, COUNTS[0], "coffee")
    assert before == usage()
    find(box, "coffee")
    assert before + 3 == usage()


# -- the new index ---------------------------------------------------------------------------------

INDEX = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.mark.spec("A, Release history", "2026-05-04: Search")
def test_reposts_and_keywords(box: Sandbox) -> None:
    """A second before the new index reposts match keywords, from then on only other conditions."""
    box.world.clock.freeze(INDEX - timedelta(seconds=1))
    original = make(box, "Good coffee", ago=1)
    make(box, "RT @harbor_roasters: Good coffee", OTHER, reposted=original)

    assert 2 == len(find(box, "coffee"))
    box.world.clock.freeze(INDEX)
    assert ["Good coffee"] == find(box, "coffee")
    reposts = ["RT @harbor_roasters: Good coffee"]
    assert reposts == find(box, "from:northbike_co is:repost")
    assert reposts == find(box, f"reposts_of_post_id:{original['id_str']}")


@pytest.mark.spec("A, Release history", "2026-05-04: Search")
@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize("operator", ["min_likes:1", "min_replies:1", "min_reposts:1"])
def test_operators_on_counts(box: Sandbox, path: str, operator: str) -> None:
    """A second before the new index they are not available, from then on they are."""
    clock = box.world.clock
    clock.freeze(INDEX - timedelta(seconds=1))
    [text] = messages(ask(box, path, operator))
    clock.freeze(INDEX)

    assert "Operator is not available in current product (at position 1)" in text
    assert 200 == ask(box, path, operator).status_code


def test_counts_of_a_post(box: Sandbox) -> None:
    """A post is found from the given number on."""
    fields = {"favorite_count": 3, "_reply_count": 2, "repost_count": 1}
    make(box, "Popular", fields=fields)

    for query in ("min_likes:3", "min_replies:2", "min_reposts:1"):
        assert ["Popular"] == find(box, query)
    for query in ("min_likes:4", "min_replies:3", "min_reposts:2"):
        assert [] == find(box, query)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY)
def test_a_bad_query(box: Sandbox, path: str) -> None:
    """All of its faults are in one message, and the query is repeated."""
    text = (
        "There were errors processing your request: is/has/lang cannot be used as a standalone "
        "operator (at position 1), Reference to invalid operator 'has:polls'"
    )
    error = {"message": text, "parameters": {"query": ["has:polls"]}}
    assert [error] == read(box, path, "has:polls", status=400)["errors"]


@pytest.mark.parametrize(
    "query",
    ["min_faves:1", "min_retweets:1", "since:2026-01-01", "until:2026-01-01", "sample:10 a",
     "(cat", "cat OR", "-cat", "lang:en", "bio:coffee", "cat AND dog", "(" * 200 + "a" + ")" * 200],
)  # fmt: skip
def test_queries_that_are_refused(box: Sandbox, query: str) -> None:
    """Operators of streams and of other products, unknown ones and bad syntax answer 400."""
    assert messages(ask(box, RECENT, query))[0].startswith("There were errors processing")


@pytest.mark.parametrize(("path", "most"), [(RECENT, 512), (ALL, 1024), (COUNTS[0], 512)])
def test_the_length_of_a_query(box: Sandbox, path: str, most: int) -> None:
    """The longest query is taken, one character more is not; enterprise apps have 4,096."""
    query = "a " * (most // 2 - 1) + "ab"
    apps = box.world.store.page("apps", {"_owner_user_id": OWN})
    for app in apps:
        box.change("apps", app.key, _tier="self_serve")

    assert 200 == ask(box, path, query).status_code
    [text] = messages(ask(box, path, query + "c"))
    assert f"a query has at most {most} characters" in text
    for app in apps:
        box.change("apps", app.key, _tier="enterprise")
    assert 200 == ask(box, path, "a " * 2047 + "ab").status_code
    assert 400 == ask(box, path, "a " * 2047 + "abc").status_code


def test_what_is_accepted_in_vain(box: Sandbox) -> None:
    """An operator that is not evaluated matches nothing, and the journal says so."""
    make(box, "coffee in Seattle")
    assert [] == find(box, "coffee place:seattle")
    entry = box.client.get("/_mock/requests?limit=1").get_json()["requests"][-1]
    assert any("place: is accepted here but never matches" in text for text in entry["warnings"])


# -- windows ---------------------------------------------------------------------------------------


def test_recent_reaches_seven_days_back(box: Sandbox) -> None:
    """Posts of exactly seven days ago are found, older ones by the full search alone."""
    make(box, "coffee, just", ago=7 * 24)
    make(box, "coffee, too old", ago=7 * 24 + 0.001)
    assert ["coffee, just"] == find(box, "coffee")
    assert ["coffee, just", "coffee, too old"] == find(box, "coffee", ALL)


@pytest.mark.parametrize("path", SEARCHES)
def test_times(box: Sandbox, path: str) -> None:
    """The start belongs to the window, the end does not."""
    for hours in (1, 2, 3):
        make(box, f"coffee {hours}", ago=hours)
    times = {"start_time": "2026-11-22T09:30:15Z", "end_time": "2026-11-22T11:30:15.000Z"}
    assert ["coffee 2", "coffee 3"] == find(box, "coffee", path, **times)


@pytest.mark.parametrize("path", [ALL, COUNTS[1]])
@pytest.mark.parametrize("end", ["0001-01-01T00:00:00Z", "2026-11-01T00:00:00Z"])
def test_an_end_before_all_posts(box: Sandbox, path: str, end: str) -> None:
    """A window that ends before there were posts finds nothing, also in the year 1."""
    found = read(box, path, "coffee", end_time=end)

    assert 0 == found["meta"].get("total_post_count", found["meta"].get("result_count"))
    assert all(each["start"] <= each["end"] for each in found.get("data", ()))


def test_no_window_begins_before_1970(box: Sandbox) -> None:
    """No post is older: pages of counts end there, however early start_time is."""
    times = {"start_time": "0001-01-01T00:00:00Z", "end_time": "1970-02-15T00:00:00Z"}
    first = read(box, COUNTS[1], "coffee", **times)
    last = read(box, COUNTS[1], "coffee", **times, next_token=first["meta"]["next_token"])
    before = read(box, COUNTS[1], "coffee", **times | {"end_time": "1965-01-01T00:00:00Z"})

    assert "1970-01-01T00:00:00.000Z" == last["data"][0]["start"]
    assert [False, False] == ["next_token" in each["meta"] for each in (last, before)]
    assert [] == before["data"]


@pytest.mark.parametrize("path", SEARCHES)
def test_ids(box: Sandbox, path: str) -> None:
    """Only posts between the two ids are found; the times have no effect beside them."""
    first, second, third = (make(box, f"coffee {number}", ago=5 - number) for number in (1, 2, 3))
    ids = {"since_id": first["id_str"], "until_id": third["id_str"]}
    times = {"start_time": "2026-11-22T12:00:00Z", "end_time": "2026-11-22T12:01:00Z"}
    answer = ask(box, path, "coffee", **ids, **times)

    assert [second["id_str"]] == [post["id"] for post in answer.get_json()["data"]]
    assert "no-effect" == answer.headers["X-Mock-Warnings"]


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (None, "2026-11-22T12:30:06Z", "must be a minimum of 10 seconds prior"),
        ("2026-11-15T12:30:14Z", None, "must be on or after 2026-11-15T12:30:15Z"),
        ("2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z",
         "'start_time' must be before 'end_time':2026-11-20T12:00Z"),
        ("2026-11-22T12:30:15Z", None, "'start_time' must be before 'end_time', which"),
        (None, "2026-11-15T12:30:15Z", "'end_time' must be after 2026-11-15T12:30:15Z"),
        ("yesterday", None, "The `start_time` query parameter value [yesterday] is not valid"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", [RECENT, COUNTS[0]])
def test_times_out_of_bounds(box: Sandbox, path: str, start: Any, end: Any, text: str) -> None:
    """Each is refused, with the bound."""
    assert text in messages(ask(box, path, "coffee", start_time=start, end_time=end))[0]


def test_times_at_the_bounds(box: Sandbox) -> None:
    """Ten seconds ago and seven days ago are taken; the full search has no first moment."""
    find(box, "coffee", end_time="2026-11-22T12:30:05Z", start_time="2026-11-15T12:30:15Z")
    find(box, "coffee", ALL, start_time="2010-11-06T00:00:00Z")


# -- pages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SEARCHES)
@pytest.mark.parametrize("order", ["recency", "relevancy"])
@pytest.mark.parametrize("name", ["next_token", "pagination_token"])
def test_pages(box: Sandbox, path: str, order: str, name: str) -> None:
    """Pages add up to everything, each once, although posts are made in between."""
    for number in range(25):
        make(box, f"coffee {number}", ago=1 + number / 100, fields={"favorite_count": number % 4})
    seen: list[str] = []
    more: dict[str, Any] = {}
    sizes = []
    while True:
        body = read(box, path, "coffee", sort_order=order, max_results=10, **more)
        seen += [post["text"] for post in body["data"]]
        sizes.append(body["meta"]["result_count"])
        if "next_token" not in body["meta"]:
            break
        make(box, f"new coffee {len(seen)}", fields={"favorite_count": 99})
        more = {name: body["meta"]["next_token"]}

    assert [10, 10, 5] == sizes
    assert sorted(f"coffee {number}" for number in range(25)) == sorted(seen)


@pytest.mark.parametrize(("path", "most"), [(RECENT, 100), (ALL, 500)])
def test_the_size_of_a_page(box: Sandbox, path: str, most: int) -> None:
    """From 10 to the largest; ten by default."""
    for number in range(12):
        make(box, f"coffee {number}")
    assert 10 == len(find(box, "coffee", path))
    assert 12 == len(find(box, "coffee", path, max_results=most))


@pytest.mark.parametrize("path", EVERY)
def test_a_foreign_token(box: Sandbox, path: str) -> None:
    """A token of another list is refused by name."""
    answer = ask(box, path, "coffee", pagination_token="a" * 20)
    value = f"The `pagination_token` query parameter value [{'a' * 20}] is not valid"
    assert [value] == messages(answer)


# -- counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "start"), [
    (COUNTS[0], "2026-11-15T12:30:15.000Z"), (COUNTS[1], "2026-10-23T12:30:15.000Z"),
])  # fmt: skip
def test_counts_between_whole_seconds(box: Sandbox, path: str, start: str) -> None:
    """A window that is not given begins and ends at whole seconds, and so do the pages."""
    box.advance(seconds=0.453)
    make(box, "coffee")

    buckets = read(box, path, "coffee", granularity="day")["data"]

    assert (start, "2026-11-22T12:30:15.000Z") == (buckets[0]["start"], buckets[-1]["end"])
    assert 1 == buckets[-1]["post_count"]


def test_pages_of_counts_begin_at_whole_seconds(box: Sandbox) -> None:
    """A page of 31 days begins 31 days before its end, to the second."""
    body = read(box, COUNTS[1], "coffee", granularity="day", start_time="2026-01-01T00:00:00Z")
    assert "2026-10-22T12:30:15.000Z" == body["data"][0]["start"]


def test_counts_by_the_hour(box: Sandbox) -> None:
    """Every hour of the last seven days is there; the first and the last are shorter."""
    make(box, "coffee now")
    make(box, "coffee before", ago=1)
    make(box, "coffee before, too", ago=1)
    make(box, "tea", ago=1)
    body = read(box, COUNTS[0], "coffee")
    first, *_, before, last = body["data"]

    assert {"total_post_count": 3} == body["meta"]
    assert 7 * 24 + 1 == len(body["data"])
    assert ("2026-11-15T12:30:15.000Z", "2026-11-15T13:00:00.000Z", 0) == tuple(first.values())
    assert ("2026-11-22T11:00:00.000Z", "2026-11-22T12:00:00.000Z", 2) == tuple(before.values())
    assert ("2026-11-22T12:00:00.000Z", 1) == (last["start"], last["post_count"])


@pytest.mark.parametrize(("granularity", "number"), [("minute", 120), ("hour", 3), ("day", 1)])
def test_granularity(box: Sandbox, granularity: str, number: int) -> None:
    """Buckets are minutes, hours or days; together they hold everything."""
    for hours in (2.5, 3, 3.5):
        make(box, "coffee", ago=hours)
    times = {"start_time": "2026-11-22T08:30:00Z", "end_time": "2026-11-22T10:30:00Z"}
    found = ask(box, COUNTS[1], "coffee", granularity=granularity, **times).get_json()

    assert number == len(found["data"])
    assert (
        3 == sum(each["post_count"] for each in found["data"]) == found["meta"]["total_post_count"]
    )
    assert [times["start_time"][:19], times["end_time"][:19]] == [
        found["data"][0]["start"][:19], found["data"][-1]["end"][:19],
    ]  # fmt: skip


def test_pages_of_counts(box: Sandbox) -> None:
    """A page has 31 days, the newest page first; without a start it is the last 30 days."""
    for days in (1, 40, 70):
        make(box, "coffee", ago=24 * days)
    query: Any = {"granularity": "day", "start_time": "2026-09-01T00:00:00Z"}
    totals: list[int] = []
    more: dict[str, Any] = {}
    while True:
        body = read(box, COUNTS[1], "coffee", **query, **more)
        totals.append(body["meta"]["total_post_count"])
        if "next_token" not in body["meta"]:
            break
        more = {"next_token": body["meta"]["next_token"]}

    assert [1, 1, 1] == totals
    assert "2026-09-01T00:00:00.000Z" == body["data"][0]["start"]
    default = ask(box, COUNTS[1], "coffee", granularity="day").get_json()
    assert ("2026-10-23T12:30:15", None) == (
        default["data"][0]["start"][:19], default["meta"].get("next_token"),
    )  # fmt: skip
