"""Keyword insights: limits at their edges, buckets, and numbers that behave as counts do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from mock_platform.api.ads.targeting.keywords import (
    count_volumes,
    find_related,
    make_bucket_edges,
    search_keywords,
)
from mock_platform.core.call import Call
from mock_platform.world.clock import wire_seconds
from mock_platform.world.ids import Ids
from tests.api.ads.support import echo
from tests.support import BEARER, NORTHBIKE, Sandbox, data_of, faults, refusal, sandbox

PATH = "/12/insights/keywords/search"
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
START = datetime(2026, 11, 1, tzinfo=UTC)
QUERY = {
    "granularity": "DAY", "keywords": "coffee", "start_time": "2026-11-01T00:00:00Z",
    "end_time": "2026-11-02T00:00:00Z",
}  # fmt: skip
GERMANY = "fdcd221ac44fa326"
SETTINGS = {"freeze": NOW}


def ask(box: Sandbox, **params: str | None) -> TestResponse:
    """The insights, with some parameters changed or (None) left out."""
    return box.ask("GET", PATH, **QUERY | params)


def data(box: Sandbox, **params: str | None) -> Any:
    """What is answered."""
    return data_of(ask(box, **params))


def volume(box: Sandbox, **params: str | None) -> list[int]:
    """The number of posts in each bucket."""
    found: list[int] = data(box, **params)["post_volume"]
    return found


def words(count: int) -> str:
    """So many keywords."""
    return ",".join(f"word{number}" for number in range(count))


REFUSED = [
    *(({name: None}, "MISSING_PARAMETER") for name in ("granularity", "keywords", "start_time")),
    *(({"granularity": value}, "INVALID_PARAMETER") for value in ("WEEK", "day", "TOTAL", "")),
    *(({"location": value}, "INVALID_PARAMETER")
      for value in ("US", "96683cc9126741d", "96683cc9126741d1,x", "Berlin")),
    # a region, a metropolitan area and a city that the lookups list
    *(({"location": value}, "INVALID_PARAMETER")
      for value in ("fbd6d2f5a4e4a15e", "300bcc6e23a80001", "300bcc6e23a88361")),
    # a time that cannot be read, from which nothing is concluded
    *(({name: "soon"}, "INVALID_PARAMETER") for name in ("start_time", "end_time")),
    # a window that is empty or ends before it begins
    *(({"end_time": value}, "INVALID_TIME_WINDOW")
      for value in ("2026-11-01T00:00:00Z", "2026-10-31T23:59:59Z")),
]  # fmt: skip


class TestParameters:
    """What may be sent."""

    @pytest.mark.spec("B, Keyword insights", "granularity: required", "keywords: required")
    @pytest.mark.spec("B, Keyword insights", "start_time: required", "location: optional")
    @pytest.mark.parametrize(("change", "code"), REFUSED)
    def test_refused(self, box: Sandbox, change: dict[str, str | None], code: str) -> None:
        """One parameter that is missing or wrong is named."""
        assert (400, [(code, *change)]) == refusal(ask(box, **change))

    @pytest.mark.spec("B, Keyword insights", "GET {ads_base_url}/12/insights/keywords/search")
    @pytest.mark.spec("B, Keyword insights", "related_keywords", "tweet_volume renamed")
    def test_shape(self, box: Sandbox) -> None:
        """Thirty related keywords and one volume a bucket; lists are echoed as lists, no cursor."""
        body = ask(box, negative_keywords="tea, cocoa", location=GERMANY).get_json()
        lists = {"keywords": ["coffee"], "negative_keywords": ["tea", "cocoa"]}

        assert set(body) == {"request", "data"}
        assert set(body["data"]) == {"related_keywords", "post_volume"}
        assert len(body["data"]["related_keywords"]) == 30
        assert [type(volume) for volume in body["data"]["post_volume"]] == [int]
        assert body["request"]["params"] == QUERY | lists | {"location": GERMANY}

    def test_all_missing(self, box: Sandbox) -> None:
        """All that is missing is named at once."""
        assert faults(box.call("GET", PATH)) == [
            ("MISSING_PARAMETER", name) for name in ("granularity", "keywords", "start_time")
        ]

    @pytest.mark.spec("B, Keyword insights", "negative_keywords")
    @pytest.mark.spec("B, Limits", "Keyword insights: 10")
    @pytest.mark.parametrize(("number", "negative"), [
        (10, 0), (10, 1), (10, 5), (10, 9), (11, 0), (11, 1), (11, 5), (11, 10),
    ])  # fmt: skip
    def test_number_of_keywords(self, box: Sandbox, number: int, negative: int) -> None:
        """Ten keywords together are accepted, however they are distributed; eleven are refused."""
        negatives = words(negative) if negative else None
        response = ask(box, keywords=words(number - negative), negative_keywords=negatives)
        if number == 10:
            assert response.status_code == 200
        else:
            name = "negative_keywords" if negative else "keywords"
            assert (400, [("INVALID_PARAMETER", name)]) == refusal(response)
            (error,) = response.get_json()["errors"]
            most = "A maximum of 10 items may be provided"
            assert error["message"] == f"{most} for keywords and negative_keywords together"

    def test_repeated_keywords_count(self, box: Sandbox) -> None:
        """A keyword that is sent twice counts twice against the limit."""
        assert ask(box, keywords=",".join(["coffee"] * 11)).status_code == 400

    @pytest.mark.spec("B, Keyword insights", "keywords: required")
    @pytest.mark.parametrize("name", ["keywords", "negative_keywords"])
    @pytest.mark.parametrize("value", ["", ",", "a,", "a,,b", " "])
    def test_empty_keyword(self, box: Sandbox, name: str, value: str) -> None:
        """No keyword may be empty."""
        assert {name} == {parameter for _, parameter in faults(ask(box, **{name: value}))}

    @pytest.mark.spec("B, Keyword insights", "location: optional")
    def test_each_listed_country(self, box: Sandbox) -> None:
        """Each country of the lookups is taken, and so is a place that they do not list."""
        listed = box.read("/12/targeting_criteria/locations", location_type="COUNTRIES")["data"]
        values = [each["targeting_value"] for each in listed]

        assert len(values) > 5
        for value in (*values, "0123456789abcdef"):
            assert ask(box, location=value).status_code == 200

    def test_all_at_once(self, box: Sandbox) -> None:
        """Limits across parameters are reported together with the rest."""
        wrong = {"granularity": "WEEK", "keywords": words(11), "location": "US"}

        assert sorted(faults(ask(box, **wrong, end_time="2026-11-08T00:00:01Z"))) == [
            *(("INVALID_PARAMETER", name) for name in sorted(wrong)),
            ("INVALID_TIME_WINDOW", "end_time"),
        ]

    def test_callers(self, box: Sandbox) -> None:
        """No account is needed; with a bearer token the app's owner asks."""
        other, owner = (box.ask("GET", PATH, keys=keys, **QUERY) for keys in (NORTHBIKE, BEARER))

        assert data_of(other) == data_of(owner) == data(box)


class TestWindow:
    """start_time, end_time and the buckets between them."""

    @pytest.mark.spec("B, Keyword insights", "end_time: optional")
    @pytest.mark.spec("B, Limits", "Keyword insights: 7", side="inside")
    @pytest.mark.parametrize(("granularity", "buckets"), [("DAY", 7), ("HOUR", 168)])
    def test_seven_days(self, box: Sandbox, granularity: str, buckets: int) -> None:
        """Exactly seven days are accepted, in 7 buckets or 168."""
        end = "2026-11-08T00:00:00Z"

        assert len(volume(box, granularity=granularity, end_time=end)) == buckets

    @pytest.mark.spec("B, Keyword insights", "end_time: optional")
    @pytest.mark.spec("B, Limits", "Keyword insights: 7", side="outside")
    @pytest.mark.parametrize("end", ["2026-11-08T00:00:01Z", "2026-12-01", "9999-12-31T23:59:59Z"])
    def test_more_than_seven_days(self, box: Sandbox, end: str) -> None:
        """A second more is refused, never cut off."""
        response = ask(box, end_time=end)

        assert (400, [("INVALID_TIME_WINDOW", "end_time")]) == refusal(response)
        assert "at most 7 days" in response.get_json()["errors"][0]["message"]

    @pytest.mark.spec("B, Keyword insights", "granularity: required", "tweet_volume renamed")
    @pytest.mark.parametrize(("granularity", "seconds", "buckets"), [
        ("DAY", 1, 1), ("DAY", 86_399, 1), ("DAY", 86_400, 1), ("DAY", 86_401, 2),
        ("DAY", 2 * 86_400, 2), ("DAY", 7 * 86_400 - 1, 7), ("HOUR", 1, 1), ("HOUR", 3_599, 1),
        ("HOUR", 3_600, 1), ("HOUR", 3_601, 2), ("HOUR", 86_400, 24), ("HOUR", 86_401, 25),
        ("HOUR", 7 * 86_400 - 1, 168),
    ])  # fmt: skip
    @pytest.mark.parametrize("offset", [0, 1, 12 * 3_600 + 1_800])
    def test_buckets(
        self, box: Sandbox, granularity: str, seconds: int, buckets: int, offset: int
    ) -> None:
        """Buckets are counted from the start, at any time; a rest is one more bucket."""
        begin = START + timedelta(seconds=offset)
        start, end = wire_seconds(begin), wire_seconds(begin + timedelta(seconds=seconds))

        assert buckets == len(volume(box, granularity=granularity, start_time=start, end_time=end))

    @pytest.mark.spec("B, Keyword insights", "end_time: optional")
    def test_until_now(self, box: Sandbox) -> None:
        """Without end_time the window ends now, on the world's clock; the default is not echoed."""
        window = {"start_time": "2026-11-20T07:00:00Z", "granularity": "HOUR"}
        response = ask(box, **window, end_time=None)

        assert len(data_of(response)["post_volume"]) == 3
        assert data_of(response) == data(box, **window, end_time="2026-11-20T10:00:00Z")
        assert "end_time" not in echo(response)

    def test_nobody_has_posted_after_now(self, box: Sandbox) -> None:
        """What is still to come has buckets without posts, and the running one what there was."""
        window = {"granularity": "HOUR", "start_time": "2026-11-20T09:00:00Z"}
        box.world.clock.freeze(NOW + timedelta(minutes=30))
        ahead = volume(box, **window, end_time="2026-11-20T12:00:00Z")

        assert ahead == [*volume(box, **window, end_time="2026-11-20T10:30:00Z"), 0]
        assert ahead[0] > ahead[1] > 0

    @pytest.mark.spec("B, Keyword insights", "end_time: optional")
    @pytest.mark.parametrize(("start", "status"), [
        ("2026-11-13T10:00:00Z", 200), ("2026-11-13T09:59:59Z", 400), ("2026-11-20T09:59:59Z", 200),
        ("2026-11-20T10:00:00Z", 400), ("2027-01-01T00:00:00Z", 400),
    ])  # fmt: skip
    def test_until_now_at_the_edges(self, box: Sandbox, start: str, status: int) -> None:
        """Seven days hold for the default end too; then the start is at fault."""
        response = ask(box, start_time=start, end_time=None)

        assert response.status_code == status
        assert status == 200 or faults(response) == [("INVALID_TIME_WINDOW", "start_time")]

    def test_follows_the_clock(self, box: Sandbox) -> None:
        """When the world's clock moves on, the window grows."""
        window = {"start_time": "2026-11-20T07:00:00Z", "granularity": "HOUR", "end_time": None}
        before = volume(box, **window)
        box.world.clock.advance(3_601)
        after = volume(box, **window)

        assert (len(before), len(after)) == (3, 5)
        assert after[:3] == before

    def test_clock_that_ticks(self, box: Sandbox) -> None:
        """A second that passes after the window was checked brings no bucket beyond seven days."""
        call = Call("GET", "", PATH, "", [])
        call.params = {
            "granularity": "HOUR",
            "keywords": ["coffee"],
            "start_time": wire_seconds(NOW - timedelta(days=7, seconds=1)),
        }

        assert len(search_keywords(call, box.world)["post_volume"]) == 168

    @pytest.mark.parametrize(("start", "end"), [
        ("0001-01-01T00:00:00Z", "0001-01-08T00:00:00Z"),
        ("9999-12-31T22:30:00Z", "9999-12-31T23:59:59Z"),
        ("1969-12-31T12:00:00Z", "1970-01-01T12:00:00Z"),
    ])  # fmt: skip
    def test_ends_of_time(self, box: Sandbox, start: str, end: str) -> None:
        """Windows at the ends of the calendar are answered as any other one."""
        assert data(box, granularity="HOUR", start_time=start, end_time=end)["post_volume"]


class TestNumbers:
    """How volumes and related keywords behave."""

    def test_repeat(self, box: Sandbox) -> None:
        """The same question has the same answer, whatever happened in between."""
        first = data(box)
        box.call("POST", "/sandbox/12/accounts")

        assert data(box) == first

    def test_by_seed(self, box: Sandbox) -> None:
        """Another seed leads to other numbers."""
        assert data(sandbox(seed=0)) == data(box)
        assert data(sandbox(seed=1)) != data(box)

    @pytest.mark.spec("B, Keyword insights", "keywords: required", "tweet_volume renamed")
    def test_keywords_add_up(self, box: Sandbox) -> None:
        """Keywords are joined by OR: their volumes add up, each counted once in any case.

        Volumes count the keywords alone, without the negative ones.
        """
        ((coffee,), (tea,)) = (volume(box, keywords=word) for word in ("coffee", "tea"))

        assert volume(box, keywords="coffee,tea") == [coffee + tea]
        assert volume(box, keywords="Coffee,COFFEE, coffee") == [coffee]
        assert volume(box, negative_keywords="tea,cocoa") == [coffee]

    @pytest.mark.spec("B, Keyword insights", "location: optional", "Results are scoped")
    def test_one_country(self, box: Sandbox) -> None:
        """Each country has its own numbers; without location they are those of the US."""
        assert volume(box, location=GERMANY) != volume(box)
        assert data(box, location="96683cc9126741d1") == data(box)

    def test_hours_of_a_day(self, box: Sandbox) -> None:
        """A day's volume is that of its hours."""
        window = {"end_time": "2026-11-04T00:00:00Z", "keywords": "coffee,tea"}
        days, hours = volume(box, **window), volume(box, granularity="HOUR", **window)

        assert days == [sum(hours[n : n + 24]) for n in (0, 24, 48)]
        assert len(set(hours[:24])) > 1
        assert hours[:24] != hours[24:48]

    @pytest.mark.spec("B, Keyword insights", "negative_keywords")
    def test_related(self, box: Sandbox) -> None:
        """Related keywords have to do with one of the keywords, and repeat none of them.

        Those with a negative keyword in them are left out as long as others are enough.
        """
        found = data(box, keywords="Coffee,tea,coffee shop")["related_keywords"]
        without = data(box, negative_keywords="best,shop,NEW")["related_keywords"]

        assert all("coffee" in word or "tea" in word for word in found)
        assert not {"coffee", "tea", "coffee shop"} & set(found)
        assert len(set(found)) == 30
        assert not [word for word in without if "best" in word or "shop" in word or "new" in word]


@pytest.mark.spec("B, Keyword insights", "tweet_volume renamed")
@given(st.integers(-(10**9), 10**10), st.integers(1, 7 * 86_400), st.sampled_from([3_600, 86_400]))
def test_buckets_cover_the_window(start: int, length: int, size: int) -> None:
    """Buckets are as many as fit, rounded up; whole but for the last one, and without gaps."""
    edges = make_bucket_edges(start, start + length, size)
    lengths = [end - begin for begin, end in pairwise(edges)]

    assert len(lengths) == -(-length // size)
    assert (edges[0], edges[-1]) == (start, start + length)
    assert lengths[:-1] == [size] * (len(lengths) - 1)
    assert 0 < lengths[-1] <= size


@given(
    st.lists(st.integers(0, 3 * 86_400), min_size=2, max_size=8),
    st.lists(st.sampled_from(["coffee", "tea", "#news", "ß"]), max_size=3),
    st.integers(0, 5),
)
def test_cuts_add_up(cuts: list[int], keywords: list[str], seed: int) -> None:
    """However a window is cut into buckets, their volumes add up to its own; none is negative."""
    ids, edges = Ids(seed, "default"), sorted(cuts)
    parts = count_volumes(ids, keywords, GERMANY, edges)

    assert min(parts) >= 0
    assert count_volumes(ids, keywords, GERMANY, [edges[0], edges[-1]]) == [sum(parts)]


@pytest.mark.spec("B, Keyword insights", "related_keywords")
@pytest.mark.spec("B, Limits", "Keyword insights: 30")
@given(
    st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=10),
    st.data(),
)
def test_always_thirty_related(keywords: list[str], more: st.DataObject) -> None:
    """Whatever the keywords and negative ones are, thirty different ones are related."""
    negative = more.draw(
        st.lists(
            st.text(max_size=5, min_size=1) | st.sampled_from(keywords),
            max_size=10 - len(keywords),
        )
    )
    found = find_related(Ids(3, "default"), keywords, negative, GERMANY, most=30)

    assert len(set(found)) == len(found) == 30
    assert not set(found) & set(keywords)
