"""Figures of own posts and media: windows, sums, and what agrees with public_metrics."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.objects.figures import MEDIA_METRICS, POST_METRICS
from tests.api.v2.posts.support import OWN, make, read_metrics
from tests.refusals import Refusal, make_refusal_test
from tests.support import NORTHBIKE, Sandbox, sandbox

POSTS, MEDIA = "/2/posts/analytics", "/2/media/analytics"
POST = "1789900000000000001"
"""A post of six days ago with impressions."""
FOREIGN = "1712850617439551495"
VIDEO, FOREIGN_VIDEO = "7_1712850617439550009", "13_1011965804276813272"
WINDOW = {"start_time": "2026-11-14T00:00:00Z", "end_time": "2026-11-23T00:00:00Z"}
ALL_2026 = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2027-01-01T00:00:00Z"}


def ask(box: Sandbox, path: str = POSTS, **query: Any) -> Any:
    """Ask for figures, by default of the post in the whole of its life."""
    whole = {"ids": POST} if path == POSTS else {"media_keys": VIDEO}
    return box.read(path, **whole | WINDOW | query)


def rows(box: Sandbox, path: str = POSTS, **query: Any) -> list[dict[str, Any]]:
    """The rows of the only thing that is asked for."""
    (one,) = ask(box, path, **query)["data"]
    return list(one["timestamped_metrics"])


def add(found: list[dict[str, Any]]) -> Counter[str]:
    """The sums of all metrics."""
    total: Counter[str] = Counter()
    for row in found:
        total.update(row["metrics"])
    return total


def test_the_total_is_public_metrics(box: Sandbox) -> None:
    """Over the whole life of a post the counts are those that everybody sees."""
    query: Any = {"post.fields": "public_metrics"}
    counts = box.read(f"/2/posts/{POST}", **query)["data"]["public_metrics"]
    (row,) = rows(box)

    assert "2026-11-14T00:00:00.000Z" == row["timestamp"]
    assert set(POST_METRICS) == set(row["metrics"])
    names = {"likes": "like", "replies": "reply", "reposts": "repost", "quote_posts": "quote",
             "bookmarks": "bookmark", "impressions": "impression"}  # fmt: skip
    assert {name: row["metrics"][name] for name in names} == {
        name: counts[f"{count}_count"] for name, count in names.items()
    }
    assert 0 < row["metrics"]["url_clicks"] < row["metrics"]["engagements"] < 2140


def test_a_repost_has_no_reposts_of_its_own(box: Sandbox) -> None:
    """The reposts of its original, whose number it shows, are no figures of its author."""
    reposted = make(box, OWN, "RT", reposted=FOREIGN)

    (row,) = rows(box, ids=reposted, granularity="total", start_time="2026-11-22T00:00:00Z")
    assert 0 == row["metrics"]["reposts"] == row["metrics"]["engagements"]
    assert read_metrics(box, f"/2/posts/{reposted}")["repost_count"] > 0


@pytest.mark.parametrize(
    ("path", "parts"), [(POSTS, ("hourly", "daily", "weekly")), (MEDIA, ("hourly", "daily"))]
)
def test_parts_add_up(box: Sandbox, path: str, parts: tuple[str, ...]) -> None:
    """Hours, days and weeks of a window that is no whole number of them sum to its total."""
    video = {"start_time": "2026-04-03T08:10:00Z", "end_time": "2026-04-05T16:40:30Z"}
    post = {"start_time": "2026-11-16T14:10:00Z", "end_time": "2026-11-21T16:40:30Z"}
    window = post if path == POSTS else video
    total = add(rows(box, path, granularity="total", **window))

    assert total["likes" if path == POSTS else "video_views"] > 0
    for granularity in parts:
        found = rows(box, path, granularity=granularity, **window)
        assert total == add(found), granularity
        assert all(min(row["metrics"].values()) >= 0 for row in found)


def test_where_a_window_is_cut(box: Sandbox) -> None:
    """Rows begin at whole hours, days and Mondays of UTC, the first one where the window does."""
    window = {"start_time": "2026-11-14T22:30:00+01:00", "end_time": "2026-11-24T00:00:00Z"}
    days = rows(box, granularity="daily", **window)
    weeks = rows(box, granularity="weekly", **window)
    hours = rows(box, granularity="hourly", **WINDOW)

    assert ["14T21:30", *(f"{day}T00:00" for day in range(15, 24))] == [
        row["timestamp"][8:16] for row in days
    ]
    assert ["14T21:30", "16T00:00", "23T00:00"] == [row["timestamp"][8:16] for row in weeks]
    assert 9 * 24 == len(hours)
    assert not any(any(row["metrics"].values()) for row in hours[: 2 * 24])


@pytest.mark.parametrize(
    ("path", "part"), [(POSTS, "daily"), (POSTS, "weekly"), (MEDIA, "hourly"), (MEDIA, "daily")]
)
def test_the_last_part_of_the_calendar(box: Sandbox, path: str, part: str) -> None:
    """A window that no whole part follows is one row."""
    window = {"start_time": "9999-12-31T23:30:00Z", "end_time": "9999-12-31T23:59:59Z"}

    assert ["9999-12-31T23:30:00.000Z"] == [
        row["timestamp"] for row in rows(box, path, granularity=part, **window)
    ]


def test_a_like_counts_in_its_hour(box: Sandbox) -> None:
    """What has a moment of its own counts at that moment; the past stays as it was."""
    before = rows(box, granularity="daily", **{"analytics.fields": "likes"})
    box.advance(hours=30)
    like = {"user_id": "3805104374", "post_id": POST, "created_at": "2026-11-23T18:00:00.000Z"}
    box.put("likes", f"3805104374:{POST}", like | {"_id": f"3805104374:{POST}"})
    box.change("posts", POST, favorite_count=box.record("posts", POST)["favorite_count"] + 1)
    window = {"start_time": "2026-11-23T18:00:00Z", "end_time": "2026-11-23T19:00:00Z"}
    (hour,) = rows(box, **window, **{"analytics.fields": "likes"})
    whole = rows(box, **WINDOW | {"end_time": "2026-11-25T00:00:00Z"})

    assert {"likes": 1} == hour["metrics"]
    assert sum(row["metrics"]["likes"] for row in before) + 1 == whole[0]["metrics"]["likes"]


def test_a_video(box: Sandbox) -> None:
    """Views of a video are those of its public metrics; later parts are played less often."""
    query: Any = {"media.fields": "public_metrics"}
    media = box.read(f"/2/media/{VIDEO}", **query)["data"]
    (row,) = rows(box, MEDIA, granularity="total", **ALL_2026)
    found = row["metrics"]
    played = [found[f"playback{part}"] for part in ("_start", "25", "50", "75", "_complete")]

    assert set(MEDIA_METRICS) == set(found)
    assert media["public_metrics"]["view_count"] == found["video_views"] == played[0] > 0
    assert sorted(played, reverse=True) == played
    assert found["watch_time_ms"] > 1000 * found["video_views"]
    assert 9 == len(rows(box, MEDIA)), "daily is the default"


def test_own_ones_only(box: Sandbox) -> None:
    """Missing and foreign ones are named in errors, each asked for once."""
    found = ask(box, ids=f"{POST},{FOREIGN},1,{POST}")
    media = ask(box, MEDIA, media_keys=f"{FOREIGN_VIDEO},7_1")

    assert [POST] == [one["id"] for one in found["data"]]
    assert "data" not in media
    for each, kind in ((found, "post"), (media, "media")):
        assert ["not-authorized-for-resource", "resource-not-found"] == [
            error["type"].rpartition("/")[2] for error in each["errors"]
        ]
        assert {kind} == {error["resource_type"] for error in each["errors"]}


def test_the_same_seed_has_the_same_figures(box: Sandbox) -> None:
    """Figures follow from the seed and change with it."""
    other = sandbox(freeze=datetime(2026, 11, 22, 12, tzinfo=UTC), seed=4)
    same = sandbox(freeze=datetime(2026, 11, 22, 12, tzinfo=UTC))
    found = [rows(each, granularity="hourly") for each in (box, same, other)]
    assert found[0] == found[1] != found[2]


posts = partial(Refusal, f"GET {POSTS}")
REFUSED = [
    posts("an end before the start", 400, messages=["must be after"],
          query={"ids": POST, **WINDOW, "end_time": "2026-11-14T00:00:00Z"}),
    posts("no moment", 400, query={"ids": POST, **WINDOW, "end_time": "noon"},
          messages=["end_time"]),
    posts("too many rows", 400, messages=["at most 20000 rows"],
          query={"ids": POST, "granularity": "hourly", "start_time": "2020-01-01T00:00:00Z",
                 "end_time": "2022-04-13T09:00:00Z"}),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_most_rows(box: Sandbox) -> None:
    """As many rows as there may be are answered."""
    window = {"start_time": "2020-01-01T00:00:00Z", "end_time": "2022-04-13T08:00:00Z"}
    assert 20_000 == len(rows(box, granularity="hourly", **window))


def test_posts_of_another_user(box: Sandbox) -> None:
    """Another user gets figures of their own posts alone."""
    query = {"ids": f"{POST},{FOREIGN}", **ALL_2026}
    found = box.call("GET", POSTS, query_string=query, keys=NORTHBIKE).get_json()
    assert [FOREIGN] == [one["id"] for one in found["data"]]
    assert 58 == found["data"][0]["timestamped_metrics"][0]["metrics"]["likes"]
