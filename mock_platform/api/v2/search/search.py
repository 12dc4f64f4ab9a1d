"""Finds the posts that a query matches: in which window, in which order, and at little cost.

Named endpoints, section 7.3. Posts are looked at from the newest on, so that a page of a query that
many posts match costs little; a cheap look at the text comes before a post is taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.objects.post_text import find_user
from mock_platform.api.v2.objects.post_view import COUNTS, is_latest
from mock_platform.api.v2.objects.relations import make_sight_of
from mock_platform.api.v2.objects.users import NEWEST_FIRST
from mock_platform.api.v2.release_history import find_release, is_in_force
from mock_platform.api.v2.search.matching import compile_rule, find_required_keys
from mock_platform.api.v2.search.operators import COUNTED
from mock_platform.api.v2.search.query import (
    And,
    CheckedRule,
    Clause,
    Node,
    Or,
    list_clauses,
    read_rule,
)
from mock_platform.api.v2.search.subjects import fold_text, make_subject, tokens_of
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.faults import Fault
from mock_platform.core.unread import NO_EFFECT
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Entry, Position, Record
from mock_platform.world.world import World

# Cheap conditions that a stored post must fulfil before a query can match it. A search looks at
# thousands of posts, and to take each apart for the evaluator would cost most of its time. A
# condition here may let a post through that does not match, but never the other way round.

Sieve = Callable[[Record, str], bool]
"""Takes a stored post and its folded text."""
_FIELDS = {
    ("is", "reply"): "in_reply_to_status_id_str",
    ("is", "quote"): "_quoted_post_id",
    ("is", "repost"): "_reposted_post_id",
    ("has", "media"): "_media_keys",
    ("has", "images"): "_media_keys",
    ("has", "video_link"): "_media_keys",
}
_ENTITIES = {
    "hashtag": ("hashtags", "text"),
    "cashtag": ("symbols", "text"),
    "mention": ("user_mentions", "screen_name"),
}
_ENTITIES_OF_FEATURES = {
    "hashtags": "hashtags",
    "cashtags": "symbols",
    "mentions": "user_mentions",
    "links": "urls",
}


def make_sieve(node: Node) -> Sieve | None:
    """Return a condition that every match of a tree fulfils, or `None` if no cheap one is known."""
    match node:
        case Clause():
            return _sieve_clause(node)
        case And():
            # A necessary condition. For AND each known part is one, so those without are skipped.
            # For OR every part must have one: a part without could match by itself. For NOT there
            # is none, since the opposite of "may match" says nothing.
            found = [sieve for term in node.terms if (sieve := make_sieve(term)) is not None]
            return (lambda post, text: all(each(post, text) for each in found)) if found else None
        case Or():
            parts = [make_sieve(term) for term in node.terms]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            return lambda post, text: any(each(post, text) for each in known)
    return None


def _sieve_clause(clause: Clause) -> Sieve | None:
    value = clause.value.casefold()
    if clause.kind in {"word", "phrase", "near"}:
        words = tokens_of(clause.value, "search")
        if len(words) == 1:
            return lambda _post, text: words[0] in text
        return lambda _post, text: all(word in text for word in words)
    if clause.kind in _ENTITIES:
        return _sieve_entities(*_ENTITIES[clause.kind], value)
    return _sieve_operator(clause.operator, value)


def _sieve_operator(operator: str, value: str) -> Sieve | None:
    if operator in COUNTED:
        name, least = COUNTS[COUNTED[operator]], int(value)
        return lambda post, _text: (post.get(name) or 0) >= least
    if operator == "lang":
        return lambda post, _text: str(post.get("lang") or "").casefold() == value
    field = _FIELDS.get((operator, value))
    if field is not None:
        return lambda post, _text: bool(post.get(field))
    if operator == "has" and value in _ENTITIES_OF_FEATURES:
        kind = _ENTITIES_OF_FEATURES[value]
        return lambda post, _text: bool((post.get("entities") or {}).get(kind))
    return None


def _sieve_entities(kind: str, part: str, value: str) -> Sieve:
    def has_entity(post: Record, _text: str) -> bool:
        found: Any = (post.get("entities") or {}).get(kind) or ()
        return any(str(one.get(part)).casefold() == value for one in found)

    return has_entity


QUERY_LENGTHS = public_fact(
    "search.queries",
    "Queries have up to 512 characters in recent and 1,024 in full search, for enterprise apps "
    "4,096. One that cannot be read answers 400 and lists every fault.",
    "section 7.3 of the named endpoints, query length and a bad query",
)
SEARCH_WINDOW = public_fact(
    "search.window",
    "Recent search and counts reach 7 days back; an earlier start_time or end_time is refused. "
    "start_time is inclusive, end_time exclusive and at least 10 seconds ago. since_id and "
    "until_id are used in place of the times. With --wire recorded the days end 10 seconds ago.",
    "section 7.3 of the named endpoints, recent",
)
AT_ONCE = expectation(
    "search.at-once",
    "Without end_time a search reaches to the present moment of the world's clock, so that a post "
    "is found as soon as it was made.",
)
NEW_INDEX = public_fact(
    "search.index",
    "From 2026-05-04 on reposts match no keyword, and min_likes:, min_replies: and min_reposts: "
    "exist.",
    "section 7.3 of the named endpoints, from 2026-05-04 on",
)
FOUND_POSTS = expectation(
    "search.found",
    "Searches find the newest version of a post, promoted-only posts too, of users whose posts the "
    "caller may see. Relevancy puts the post with most likes, reposts, replies and quotes first. "
    "list: finds the posts of the members of a public list, conversation_id: the replies of a "
    "conversation without the post that it began with.",
)
IDS_BESIDE_TIMES = public_fact(
    "search.ids-beside-times",
    "since_id or until_id beside start_time or end_time replace them, as documented; with --wire "
    "recorded a search or count with both answers 400.",
    "wire, no. 10",
)
_BY_ID, _BY_TIME = ("since_id", "until_id"), ("start_time", "end_time")
_MIXED = "Invalid use of 'since_id' or 'until_id' in conjunction with 'start_time' or 'end_time'."
RECENT = timedelta(days=7)
_DELAY = timedelta(seconds=10)
_MOMENT = timedelta(milliseconds=1)
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Where windows begin at the earliest: no post is older, and tokens of pages count from here."""
_SHORTEST_AGE = "must be a minimum of 10 seconds prior to the request time"
_ENTERPRISE_LENGTH = 4096


class Window(Struct, frozen=True, dict=True):
    """From when (inclusive) to when (exclusive), or between which ids (exclusive)."""

    start: datetime
    end: datetime
    since_id: int | None = None
    until_id: int | None = None

    @cached_property
    def times(self) -> tuple[str, str]:
        """Both moments in the form of records."""
        return wire_millis(self.start), wire_millis(self.end)

    def contains(self, post: Record) -> bool:
        """Return whether a post lies in the window."""
        if self.since_id is not None and post["id"] <= self.since_id:
            return False
        if self.until_id is not None and post["id"] >= self.until_id:
            return False
        first, stop = self.times
        made: str = post["created_at"]
        return first <= made < stop


_INDEX = find_release("search-index")
INDEX_CHANGES = (
    _INDEX.make_change(
        "sent-value-accepted", "query parameter query", new=", ".join(f"{x}:" for x in COUNTED)
    ),
    _INDEX.make_change("behaviour-changed", "answer 200", new="keyword searches find no reposts"),
)
"""What the release history changes of searches and counts."""


def read_query(
    text: str, app: Mapping[str, Any], world: World, settings: Settings, *, longest: int
) -> CheckedRule:
    """Read a query; what the world's clock does not know yet is a fault."""
    enterprise = app.get("_tier") == "enterprise"
    most = _ENTERPRISE_LENGTH if enterprise else longest
    if len(text) > most:
        return CheckedRule(text, None, (f"a query has at most {most} characters",))
    checked = _read_once(text, most, settings.strict)
    if checked.tree is None or is_in_force("search-index", world):
        return checked
    unknown = [
        f"Reference to invalid operator '{clause.text}'. Operator is not available in current "
        f"product (at position {clause.position})"
        for clause, _ in list_clauses(checked.tree)
        if clause.operator in COUNTED
    ]
    return CheckedRule(text, None, tuple(unknown)) if unknown else checked


@lru_cache(maxsize=128)
def _read_once(text: str, longest: int, strict: bool) -> CheckedRule:  # noqa: FBT001 - for the cache
    """Read a query, which a search checks first, and answers then."""
    return read_rule(text, "search", longest=longest, strict=strict)


def find_query_faults(checked: CheckedRule) -> Iterator[tuple[str, str]]:
    """Return the fault of a query that could not be read."""
    if checked.tree is None:
        yield "query", f"There were errors processing your request: {', '.join(checked.faults)}"


def find_window_faults(
    params: Mapping[str, Any], call: Call, now: datetime, *, recent: bool
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the times of a search."""
    start, end = params.get("start_time"), params.get("end_time")
    if end is not None and parse_instant(end) > now - _DELAY:
        yield "end_time", f"Invalid 'end_time':'{shorten(end)}'. 'end_time' {_SHORTEST_AGE}"
    first = now - RECENT
    if start is not None and recent and parse_instant(start) < first:
        text = f"'start_time' must be on or after {shorten(wire_millis(first))}"
        yield "start_time", f"Invalid 'start_time':'{shorten(start)}'. {text}"
    if start is None and end is not None and recent and parse_instant(end) <= first:
        text = f"'end_time' must be after {shorten(wire_millis(first))}"
        yield "end_time", f"Invalid 'end_time':'{shorten(end)}'. {text}"
    yield from find_order_faults(params)
    if start is not None and end is None and start >= wire_millis(now):
        text = "'start_time' must be before 'end_time', which is now by default"
        yield "start_time", f"Invalid 'start_time':'{shorten(start)}'. {text}"
    both = [[name for name in names if name in params] for names in (_BY_ID, _BY_TIME)]
    if call.wire == "recorded" and all(both):
        name, *others = [*both[0], *both[1]]
        call.assume(IDS_BESIDE_TIMES)
        yield name, Fault(_MIXED, beside=tuple(others))


def find_order_faults(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find a `start_time` that is not before the `end_time` that was given."""
    start, end = params.get("start_time"), params.get("end_time")
    if start is not None and end is not None and start >= end:
        text = f"'start_time' must be before 'end_time':{shorten(end)}"
        said = f"Invalid 'start_time':'{shorten(start)}'. {text}"
        yield "start_time", Fault(said, beside=("end_time",))


def shorten(moment: str) -> str:
    """Return a moment as refusals have it: without milliseconds, and without seconds if zero."""
    return moment.replace(".000Z", "Z").replace(":00Z", "Z")


def go_back(moment: datetime, span: timedelta) -> datetime:
    """Return the moment that lies so long before another, or the earliest one."""
    return moment - span if moment - _EARLIEST > span else _EARLIEST


def read_window(call: Call, now: datetime, *, recent: bool, reach: timedelta | None) -> Window:
    """Return the window that checked parameters ask for.

    By default it ends now and begins `reach` before its end, at a whole second; recent ones never
    begin before the last seven days. An id replaces the time at its side.
    """
    params = call.params
    since, until = params.get("since_id"), params.get("until_id")
    for name, instead in (("start_time", since), ("end_time", until)):
        if instead is not None and name in params:
            call.warn(f"{name} has no effect beside since_id or until_id", NO_EFFECT)
    end = params.get("end_time") if until is None else None
    start = params.get("start_time") if since is None else None
    stop = now if end is None else parse_instant(end)
    if start is not None:
        first = max(parse_instant(start), _EARLIEST)
    elif recent:
        delay = _DELAY if call.wire == "recorded" else timedelta()
        first = now.replace(microsecond=0) - RECENT - delay
    elif reach is not None:
        first = go_back(stop.replace(microsecond=0), reach)
    else:
        first = _EARLIEST
    return Window(
        first,
        stop if end is not None else stop + _MOMENT,  # what happens now belongs to it
        None if since is None else int(since),
        None if until is None else int(until),
    )


class Search:
    """The posts of a world that a query matches within a window, as a user sees them."""

    def __init__(self, world: World, tree: Node, window: Window, viewer_id: str | None) -> None:
        self._world = world
        self._window = window
        self._matches = compile_rule(tree, "search")
        self._new_index = is_in_force("search-index", world)
        self._may_see = make_sight_of(world, viewer_id)
        keys = find_required_keys(tree, "search") or frozenset()
        self._author = self._find_author(keys)
        self._sieve = make_sieve(tree)

    def find(self, *, after: Position | None = None, limit: int | None = None) -> list[Entry]:
        """Return matching posts, newest first, after a position."""
        # The position of the window's end in the order by time: 2 is the kind "text" in sort keys,
        # and -1 is before all sequence numbers. So the walk begins at the newest post inside the
        # window.
        before = ((2, self._window.times[1]), -1)
        match = {} if self._author is None else {"_user_id": self._author}
        return self._world.store.page(
            "posts",
            match,
            order=NEWEST_FIRST,
            after=before if after is None else after,
            limit=limit,
            where=self._is_found,
            until=((2, self._window.times[0]), -1),
        )

    def find_by_relevancy(self, *, after: tuple[int, Position] | None, limit: int) -> list[Entry]:
        """Return matching posts, those with most answers first, after a rating and position."""
        found = sorted(self.find(), key=place_by_relevancy, reverse=True)
        return [each for each in found if after is None or place_by_relevancy(each) < after][:limit]

    def _is_found(self, post: Record) -> bool:
        # Cheapest first. The sieve looks at fields and at the text only; the last step takes the
        # post apart and looks up its author and what it refers to.
        if not self._window.contains(post):
            return False
        if self._sieve is not None and not self._sieve(post, fold_text(post["full_text"])):
            return False
        if not self._may_see(post) or not is_latest(post):
            return False
        bare = self._new_index and bool(post.get("_reposted_post_id"))
        subject = make_subject(self._world, post, "search", without_text=bare)
        return self._matches(subject)

    def _find_author(self, keys: frozenset[tuple[str, str]]) -> str | None:
        """Return the user who must be the author of every match, if there is one such user."""
        if len(keys) != 1:
            return None
        [(kind, value)] = keys
        if kind != "from":
            return None
        if self._world.store.get("users", value) is not None:
            return value
        user = find_user(self._world, value)
        return None if user is None else user["id"]


def place_by_relevancy(entry: Entry) -> tuple[int, Position]:
    """Return how a post is rated, and its position among those that are rated alike."""
    return _rate(entry.record), entry.position


def _rate(post: Record) -> int:
    names = ("favorite_count", "repost_count", "_reply_count", "_quote_count")
    return sum(post.get(name) or 0 for name in names)


_STEPS: Mapping[str, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}
GRANULARITIES = tuple(_STEPS)


def count_by_time(
    found: list[Entry], window: Window, granularity: str, now: datetime
) -> list[dict[str, Any]]:
    """Return how many posts lie in each minute, hour or day of a window, oldest first.

    Buckets begin at whole minutes, hours or days; the first and the last may be shorter.
    """
    step = _STEPS[granularity]
    last = min(window.end, now.replace(microsecond=0))
    if last < window.start:  # it ends before there were posts
        return []
    first = _round_down(window.start, granularity)
    # A month has 44,640 minutes: each edge is written once, and faster without its time zone.
    plain = first.replace(tzinfo=None)
    edges = [wire_millis(window.start)]
    edges += [wire_millis(plain + step * each) for each in range(1, -((first - last) // step))]
    counts = [0] * len(edges)
    for entry in found:
        place = (parse_instant(entry.record["created_at"]) - first) // step
        counts[min(place, len(counts) - 1)] += 1  # a bucket that begins now has no length yet
    ends = [*edges[1:], wire_millis(last)]
    return [
        {"start": start, "end": end, "post_count": count}
        for start, end, count in zip(edges, ends, counts, strict=True)
    ]


def _round_down(moment: datetime, granularity: str) -> datetime:
    moment = moment.replace(second=0, microsecond=0)
    if granularity != "minute":
        moment = moment.replace(minute=0)
    return moment.replace(hour=0) if granularity == "day" else moment
