"""Keywords: insights into them, suggestions that go with them, and which belong together.

The numbers are not counted from posts but made up from the world's seed. They behave like counts:
the volume of a day is the sum of its hours, that of a window the sum of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from mock_platform.api.ads.analytics.versions import BY_HOUR, DAY_SECONDS, HOUR_SECONDS
from mock_platform.api.ads.conventions import Data, ads
from mock_platform.api.ads.targeting.criteria import find_option
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.faults import Fault, expected
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Text
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant
from mock_platform.world.ids import Ids
from mock_platform.world.store.interface import Order
from mock_platform.world.world import World

# Keywords that people write around others, made up from the world's seed.

_RELATED = (
    "#{}", "best {}", "buy {}", "cheap {}", "daily {}", "easy {}", "fresh {}", "good {}",
    "home {}", "local {}", "love {}", "morning {}", "my {}", "new {}", "real {}", "save {}",
    "top {}", "weekend {}", "why {}", "{} addict", "{} break", "{} club", "{} community",
    "{} culture", "{} day", "{} deals", "{} delivery", "{} event", "{} fans", "{} festival",
    "{} gift", "{} guide", "{} ideas", "{} life", "{} lover", "{} near me", "{} news",
    "{} online", "{} recipe", "{} review", "{} shop", "{} sale", "{} tips", "{} today",
    "{} trends", "{} video", "{} week",
)  # fmt: skip
"""What people write around a keyword; enough forms to fill an answer for any keywords."""


def find_related(
    ids: Ids, keywords: Sequence[str], negative: Iterable[str], country: str, *, most: int
) -> list[str]:
    """Return up to `most` related keywords; those that contain a negative one come last."""
    unwanted = [keyword.casefold() for keyword in negative]
    stems = [keyword.lstrip("#") or keyword for keyword in keywords]
    candidates = {form.format(stem) for stem in stems for form in _RELATED} - {*keywords}

    question = ids.fraction("related", country, *keywords)

    def rank(candidate: str) -> tuple[bool, float]:
        avoided = any(keyword in candidate for keyword in unwanted)
        return avoided, ids.fraction(question, candidate)

    return sorted(candidates, key=rank)[:most]


INSIGHTS_BUCKETS = settled(
    "insights.buckets",
    "Buckets begin at start_time and have one day or one hour each; what is left at the end is one "
    "more bucket. end_time is exclusive and must be later than start_time.",
    "B, Keyword insights",
)
INSIGHTS_NO_CURSOR = public_fact(
    "insights.no-cursor",
    "The answer has no next_cursor.",
    "section 3, next_cursor presence",
)
INSIGHTS_NUMBERS = expectation(
    "insights.numbers",
    "Volumes and related keywords are made up from the world's seed, the keywords, the country and "
    "the hour, up to the world's present time. Each keyword counts once, in any case; negative "
    "ones do not change the volume, and related keywords with one of them come last.",
)
INSIGHTS_LOCATION = expectation(
    "insights.location",
    "A country-level targeting value is a place id of 16 hexadecimal digits that the lookups do "
    "not list as another kind of place; without location the results are those of the United "
    "States.",
)

MAX_KEYWORDS = 10
MAX_RELATED_KEYWORDS = 30
BUCKET_SECONDS = {"DAY": DAY_SECONDS, "HOUR": HOUR_SECONDS}
"""Length of the buckets of each granularity, in seconds."""
LONGEST_WINDOW_SECONDS = 7 * BUCKET_SECONDS["DAY"]
COUNTRIES = "COUNTRIES"
"""The type of location of which `location` names one."""
UNITED_STATES = "96683cc9126741d1"

_COUNTRY = f"the targeting value of one country such as {UNITED_STATES}"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KeywordSearch(Schema):
    """Parameters of the keyword search."""

    granularity = Choice(tuple(BUCKET_SECONDS), required=True)
    keywords = CommaList(Text(min_length=1), required=True)
    negative_keywords = CommaList(Text(min_length=1))
    start_time = Instant(required=True)
    end_time = Instant()
    location = Text(
        pattern=r"[0-9a-f]{16}",
        pattern_text=_COUNTRY,
    )


class KeywordInsights(Schema):
    """The answer about keywords: related ones, and posts for each bucket of time."""

    related_keywords = ListOf(Text(), required=True)
    post_volume = ListOf(Integer(low=0), required=True)


def check(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, Fault]]:
    """Yield the faults between several parameters."""
    total = len(params.get("keywords", ())) + len(params.get("negative_keywords", ()))
    if total > MAX_KEYWORDS:
        name = "negative_keywords" if "negative_keywords" in params else "keywords"
        both = "keywords and negative_keywords together"
        yield name, Fault(f"A maximum of {MAX_KEYWORDS} items may be provided for {both}")
    place = params.get("location")
    listed = find_option(world, "LOCATION", place) if place is not None else None
    kind = (listed or {}).get("location_type", COUNTRIES)
    if listed is not None and kind != COUNTRIES:
        hint = f"{listed['name']} is one of the {kind.lower()}"
        fault = Fault(expected(_COUNTRY, place), details="invalid format", value=place, hint=hint)
        yield "location", fault.naming("location")
    end_is_unread = "end_time" not in params and any(n == "end_time" for n, _ in call.query)
    if "start_time" not in params or end_is_unread:
        return
    start, end = read_window(params, world)
    name = "end_time" if "end_time" in params else "start_time"
    shown = params.get("end_time", "now, by default")
    if end <= start:
        text = f"end_time ({shown}) must be later than start_time ({params['start_time']})"
        yield name, Fault(text, "INVALID_TIME_WINDOW")
    elif end - start > LONGEST_WINDOW_SECONDS:
        text = (
            f"end_time ({shown}) may lie at most 7 days after start_time ({params['start_time']})"
        )
        yield name, Fault(text, "INVALID_TIME_WINDOW")


def search_keywords(call: Call, world: World) -> dict[str, Any]:
    """Return post volume and related keywords of some keywords in one country."""
    params = call.params
    call.assume(INSIGHTS_LOCATION)
    country = params.get("location", UNITED_STATES)
    keywords = list(dict.fromkeys(keyword.casefold() for keyword in params["keywords"]))
    start, end = read_window(params, world)
    # The clock may have moved since the window was checked.
    edges = make_bucket_edges(
        start, min(end, start + LONGEST_WINDOW_SECONDS), BUCKET_SECONDS[params["granularity"]]
    )
    now = _to_seconds(world.clock.now())
    past = [min(edge, now) for edge in edges]  # nobody has posted yet what comes later
    return {
        "related_keywords": find_related(
            world.ids,
            keywords,
            params.get("negative_keywords", ()),
            country,
            most=MAX_RELATED_KEYWORDS,
        ),
        "post_volume": count_volumes(world.ids, keywords, country, past),
    }


def read_window(params: Mapping[str, Any], world: World) -> tuple[int, int]:
    """Return start and end in seconds since 1970; the end is now without `end_time`."""
    end = parse_instant(params["end_time"]) if "end_time" in params else world.clock.now()
    return _to_seconds(parse_instant(params["start_time"])), _to_seconds(end)


def make_bucket_edges(start: int, end: int, size: int) -> list[int]:
    """Return where buckets of `size` seconds begin, from `start` on, and the last one ends."""
    return [*range(start, end, size), end]


def count_volumes(
    ids: Ids, keywords: Iterable[str], country: str, edges: Sequence[int]
) -> list[int]:
    """Return how many posts have any of the keywords, for each bucket."""
    counted = [0] * (len(edges) - 1)
    for keyword in keywords:
        posts = _Posts(ids, keyword, country)
        for n in range(len(counted)):
            counted[n] += posts.count_between(edges[n], edges[n + 1])
    return counted


class _Posts:
    """The posts with one keyword in one country, as a rate that changes with each hour."""

    def __init__(self, ids: Ids, keyword: str, country: str) -> None:
        self._ids = ids
        self._labels = ("insights", country, keyword)
        self._level = 10 ** (1.5 + 2.5 * ids.fraction(*self._labels))
        self._days: dict[int, float] = {}

    def count_between(self, start: int, end: int) -> int:
        """Return the posts from `start` up to `end`, in seconds; parts of a window add up to it."""
        found = 0
        for hour in range(start // HOUR_SECONDS, -(-end // HOUR_SECONDS)):
            rate, begin = self._compute_rate(hour), hour * HOUR_SECONDS
            first, last = max(start - begin, 0), min(end - begin, HOUR_SECONDS)
            found += rate * last // HOUR_SECONDS - rate * first // HOUR_SECONDS
        return found

    def _compute_rate(self, hour: int) -> int:
        day, hour_of_day = divmod(hour, 24)
        if day not in self._days:
            self._days[day] = 0.7 + 0.6 * self._ids.fraction(*self._labels, day)
        return int(self._level * self._days[day] * BY_HOUR[hour_of_day] / 50)


def _to_seconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


# Targeting suggestions: keywords and users that go with those of a line item.

KEYWORD, USER_ID = "KEYWORD", "USER_ID"
TARGETING_SUGGESTIONS_ALL = public_fact(
    "targeting-suggestions.all",
    "Suggestions are rows of a type and a value, up to 30 or count, without next_cursor.",
    "adjacent operations, section 9",
    gap=True,
)
TARGETING_SUGGESTIONS_VALUES = expectation(
    "targeting-suggestions.values",
    "Suggested keywords are those of the keyword insights, made up from the world's seed; "
    "suggested users are the others of the world, those with most followers first.",
)
_MOST_FOLLOWED = Order("followers_count", descending=True)


class SuggestionsQuery(Schema):
    """Parameters of the suggestions."""

    suggestion_type = Choice((KEYWORD, USER_ID), required=True)
    targeting_values = CommaList(Text(min_length=1), required=True)
    count = Integer(low=1, high=50, load_default=30)


class Suggestion(Schema):
    """A value that may be targeted as well."""

    suggestion_type = Choice((KEYWORD, USER_ID), required=True)
    suggestion_value = Text(required=True)


def list_(call: Call, world: World) -> list[dict[str, str]]:
    """Return what may be targeted beside the values that were sent."""
    kind, count = call.params["suggestion_type"], call.params["count"]
    given: list[str] = call.params["targeting_values"]
    if kind == KEYWORD:
        keywords = list(dict.fromkeys(value.casefold() for value in given))
        found = find_related(world.ids, keywords, (), "", most=count)
    else:
        users = world.store.page("users", order=_MOST_FOLLOWED, limit=count + len(set(given)))
        found = [entry.key for entry in users if entry.key not in given][:count]
    return [{"suggestion_type": kind, "suggestion_value": value} for value in found]


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "insights.search_keywords",
        "GET",
        "/12/insights/keywords/search",
        search_keywords,
        summary="Read post volume and related keywords",
        spec="Keyword insights",
        returns=Data(KeywordInsights),
        params=KeywordSearch,
        most_reads=500,
        rules=check,
        assumptions=(INSIGHTS_BUCKETS, INSIGHTS_NO_CURSOR, INSIGHTS_NUMBERS),
        may_assume=(INSIGHTS_LOCATION,),
        errors=("INVALID_TIME_WINDOW",),
        example=Example(
            query={
                "granularity": "DAY",
                "keywords": "coffee",
                "start_time": "2026-03-01T00:00:00Z",
                "end_time": "2026-03-05T00:00:00Z",
            }
        ),
    ),
    ads(
        "targeting_suggestions.list",
        "GET",
        "/12/accounts/:account_id/targeting_suggestions",
        list_,
        summary="List what may be targeted as well",
        spec="not shown",
        returns=Data(Suggestion, many=True),
        params=SuggestionsQuery,
        origin=Origin.ADJACENT,
        assumptions=(TARGETING_SUGGESTIONS_ALL, TARGETING_SUGGESTIONS_VALUES),
    ),
)
