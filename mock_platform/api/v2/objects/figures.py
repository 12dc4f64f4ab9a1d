"""Figures of posts and media over time: how often they were seen, liked, played, hour by hour.

The reference (all of v2, section 10) has the names of the metrics. Their numbers follow from the
counts that posts and media have: what has a moment of its own (a like, a reply) counts at that
moment, all else is spread over the first week by a curve that the seed of the world makes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from math import ceil

from msgspec import Struct

from mock_platform.api.v2.objects.post_view import COUNTS, show_post
from mock_platform.api.v2.objects.relations import BOOKMARKS, LIKES
from mock_platform.core.failures.problems import Problem, problem
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record, Term
from mock_platform.world.world import World

_HOUR = timedelta(hours=1)
PRIVATE_METRICS = ("non_public_metrics", "organic_metrics", "promoted_metrics")
_PRIVATE_TIME = timedelta(days=30)
_LIFE_HOURS = 7 * 24
_HALF_LIFE_HOURS = 18

_COUNTED: Mapping[str, tuple[str, str, str]] = {
    "likes": ("like_count", LIKES.name, "post_id"),
    "bookmarks": ("bookmark_count", BOOKMARKS.name, "post_id"),
    "replies": ("reply_count", "posts", "in_reply_to_status_id_str"),
    "quote_posts": ("quote_count", "posts", "_quoted_post_id"),
    "reposts": ("repost_count", "posts", "_reposted_post_id"),
}
"""Metrics that are counts of a post: the count, and where its single records are found."""
_OF_IMPRESSIONS: Mapping[str, tuple[float, float]] = {
    "detail_expands": (0.02, 0.06),
    "user_profile_clicks": (0.01, 0.03),
    "permalink_clicks": (0.002, 0.01),
    "shares": (0.002, 0.01),
    "follows": (0.0005, 0.003),
    "unfollows": (0.0, 0.0005),
    "email_post": (0.0, 0.0005),
    "media_views": (0.3, 0.6),
    "url_clicks": (0.01, 0.04),
    "hashtag_clicks": (0.002, 0.01),
    "app_opens": (0.002, 0.01),
    "app_install_attempts": (0.001, 0.004),
}
"""Metrics that are a part of the impressions: the least and the largest part."""
_NEEDS: Mapping[str, Callable[[Record], bool]] = {
    "media_views": lambda post: bool(post.get("_media_keys")),
    "url_clicks": lambda post: bool((post.get("entities") or {}).get("urls")),
    "hashtag_clicks": lambda post: bool((post.get("entities") or {}).get("hashtags")),
    "app_opens": lambda post: bool(post.get("card_uri")),
    "app_install_attempts": lambda post: bool(post.get("card_uri")),
}
"""What a post must have so that there is something to click or to view."""
_ENGAGEMENTS = (
    *_COUNTED, "detail_expands", "user_profile_clicks", "permalink_clicks", "shares", "follows",
    "url_clicks", "hashtag_clicks", "app_opens", "app_install_attempts", "email_post",
)  # fmt: skip
POST_METRICS = tuple(sorted(("engagements", "impressions", "unlikes", *_COUNTED, *_OF_IMPRESSIONS)))
_OF_VIEWS: Mapping[str, tuple[float, float]] = {
    "playback_start": (1.0, 1.0),
    "playback25": (0.7, 0.85),
    "playback50": (0.5, 0.65),
    "playback75": (0.35, 0.45),
    "playback_complete": (0.2, 0.3),
    "play_from_tap": (0.05, 0.15),
    "cta_url_clicks": (0.0, 0.02),
    "cta_watch_clicks": (0.0, 0.02),
}
MEDIA_METRICS = ("video_views", "watch_time_ms", *_OF_VIEWS)


class _Figure(Struct, frozen=True):
    """A count: a number that is spread over the curve, and moments of which each counts once."""

    spread: int
    moments: Sequence[datetime] = ()


class FigureHistory(Struct, frozen=True):
    """The figures of a post or of media, from its beginning until now."""

    begin: datetime
    end: datetime
    curve: Sequence[float]
    """The part of all that has happened at the end of each hour."""
    figures: Mapping[str, _Figure]

    def count(self, edges: Sequence[datetime]) -> list[dict[str, int]]:
        """Return the figures between each two neighbours of these moments, the end excluded."""
        parts = [self._find_part(moment) for moment in edges]
        columns = {}
        for name, figure in self.figures.items():
            reached = [
                int(figure.spread * part + 0.5) + bisect_left(figure.moments, moment)
                for part, moment in zip(parts, edges, strict=True)
            ]
            columns[name] = [after - before for before, after in pairwise(reached)]
        return [
            {name: column[at] for name, column in columns.items()} for at in range(len(edges) - 1)
        ]

    def total(self) -> dict[str, int]:
        """Return all that has happened until now."""
        return {name: one.spread + len(one.moments) for name, one in self.figures.items()}

    def _find_part(self, moment: datetime) -> float:
        """Return which part of what is spread has happened before a moment, from 0 to 1."""
        if moment <= self.begin or moment >= self.end:
            return float(moment > self.begin)
        hours = (moment - self.begin) / _HOUR
        whole = int(hours)
        before, after = self.curve[whole], self.curve[whole + 1]
        return before + (hours - whole) * (after - before)


def find_post_history(world: World, post: Record) -> FigureHistory:
    """Return the figures of a post; what `public_metrics` shows is their total."""
    counts = dict.fromkeys(COUNTS, 0)
    counts |= show_post(world, post, {"public_metrics"})["public_metrics"]
    if post.get("_reposted_post_id"):
        counts["repost_count"] = 0  # it shows those of its original, which are another user's
    id_, seen = post["id_str"], counts["impression_count"]
    figures = {"impressions": _Figure(seen)}
    for name, (count, table, field) in _COUNTED.items():
        entries = world.store.page(table, {field: id_})
        moments = sorted(parse_instant(entry.record["created_at"]) for entry in entries)
        latest = moments[len(moments) - counts[count] :] if counts[count] else []
        figures[name] = _Figure(max(0, counts[count] - len(latest)), latest)
    for name, span in _OF_IMPRESSIONS.items():
        exists = name not in _NEEDS or _NEEDS[name](post)
        figures[name] = _Figure(_take_part(world, id_, name, span, seen) if exists else 0)
    figures["unlikes"] = _Figure(_take_part(world, id_, "unlikes", (0, 0.03), counts["like_count"]))
    return _make_history(world, id_, post["created_at"], figures)


def add_engagements(figures: dict[str, int]) -> dict[str, int]:
    """Return the figures of a post with the number of all that people did with it."""
    return figures | {"engagements": sum(figures[name] for name in _ENGAGEMENTS)}


def find_media_history(world: World, media: Record) -> FigureHistory:
    """Return the figures of media; only videos are played."""
    key, views = media["media_key"], media.get("_view_count") or 0
    figures = {"video_views": _Figure(views)}
    for name, span in _OF_VIEWS.items():
        figures[name] = _Figure(_take_part(world, key, name, span, views))
    watched = _take_part(world, key, "watch_time_ms", (0.4, 0.6), views)
    figures["watch_time_ms"] = _Figure(watched * (media.get("duration") or 0))
    moments = [post["created_at"] for post in find_posts_with(world, key)]
    return _make_history(world, key, min(moments, default=media["created_at"]), figures)


def find_posts_with(world: World, key: str) -> list[Record]:
    """Return the posts that have media."""
    entries = world.store.page(
        "posts",
        term=Term(("_media_keys",), key.partition("_")[2]),
        where=lambda post: key in (post.get("_media_keys") or ()),
    )
    return [entry.record for entry in entries]


def find_private_metrics(
    world: World, post: Record, fields: Collection[str], viewer_id: str | None
) -> tuple[dict[str, dict[str, int]], list[Problem]]:
    """Return the metrics among these fields that the author alone sees, for 30 days.

    For others, and later, a problem for each of them.
    """
    wanted = [name for name in PRIVATE_METRICS if name in fields]
    if not wanted:
        return {}, []
    age = world.clock.now() - parse_instant(post["created_at"])
    if post["_user_id"] != viewer_id or age > _PRIVATE_TIME:
        return {}, list(refuse_private_fields("post", post["id_str"], wanted))
    recorded = {name: post[name] for name in wanted if name in post}
    if recorded:
        return recorded, []
    total = add_engagements(find_post_history(world, post).total())
    clicks = {
        "impression_count": total["impressions"],
        "url_link_clicks": total["url_clicks"],
        "user_profile_clicks": total["user_profile_clicks"],
    }
    counts = {"like": "likes", "reply": "replies", "repost": "reposts"}
    organic = {f"{name}_count": total[metric] for name, metric in counts.items()}
    found = {
        "non_public_metrics": clicks | {"engagements": total["engagements"]},
        "organic_metrics": clicks | organic,
    }
    return {name: found[name] for name in found if name in wanted}, []


def find_video_metrics(world: World, media: Record) -> dict[str, dict[str, int]]:
    """Return the metrics of a video that only those who may use it see; nothing is promoted."""
    total = find_media_history(world, media).total()
    played = {
        "playback_0_count": total["playback_start"],
        "playback_25_count": total["playback25"],
        "playback_50_count": total["playback50"],
        "playback_75_count": total["playback75"],
        "playback_100_count": total["playback_complete"],
    }
    organic = {**played, "view_count": total["video_views"]}
    return {"non_public_metrics": played, "organic_metrics": organic}


def refuse_private_fields(
    kind: str, id_: str, fields: Iterable[str], section: str = "data"
) -> Iterator[Problem]:
    """Return a problem for each of these fields of a post or of media that only its owner sees."""
    for name in PRIVATE_METRICS:
        if name in fields:
            text = f"Sorry, you are not authorized to access '{name}' on the {kind}"
            yield problem(
                "not-authorized-for-field",
                detail=f"{text} with ids : [{id_}].",
                field=name,
                resource_type=kind,
                section=section,
            )


def _take_part(world: World, key: str, name: str, span: tuple[float, float], whole: int) -> int:
    low, high = span
    return int(whole * (low + (high - low) * world.ids.fraction("figures", key, name)))


def _make_history(
    world: World, key: str, begun: str, figures: Mapping[str, _Figure]
) -> FigureHistory:
    # What has no moment of its own happened in the first week, or until now: the hours of the past
    # keep their figures when the clock goes on. Each hour has less than the one before, with noise.
    begin, now = parse_instant(begun), world.clock.now()
    hours = min(_LIFE_HOURS, max(1, ceil((now - begin) / _HOUR)))
    noise = world.ids.noise(f"figures/{key}")
    weights = [
        0.5 ** (hour / _HALF_LIFE_HOURS) * (64 + noise[hour % len(noise)]) for hour in range(hours)
    ]
    reached = list(accumulate(weights, initial=0.0))
    curve = [each / reached[-1] for each in reached]
    return FigureHistory(begin, min(now, begin + hours * _HOUR), curve, figures)
