"""Searches for posts, and counts of what a search would find: recent, and of all time.

Document A names them in its release history; the shapes are public facts (named endpoints,
section 7.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from marshmallow import fields

from mock_platform.api.v2.conventions import (
    OLDER_NAMES,
    PAGES,
    WINDOW_SECONDS,
    declare_named,
    make_token_field,
)
from mock_platform.api.v2.objects.answers import (
    SELECTION,
    PostSelectionQuery,
    read_selection,
    start_answer,
)
from mock_platform.api.v2.objects.post_texts import ID
from mock_platform.api.v2.objects.user_view import NEWEST_FIRST
from mock_platform.api.v2.search.query import ACCEPTED_ONLY, LANGUAGE, NESTING
from mock_platform.api.v2.search.search import (
    AT_ONCE,
    FOUND,
    GRANULARITIES,
    INDEX,
    QUERIES,
    WINDOW,
    Search,
    Window,
    count_by_time,
    find_query_faults,
    find_window_faults,
    read_query,
    read_window,
)
from mock_platform.api.v2.usage.counting import COUNTED, count_posts
from mock_platform.core.assumptions import public_fact
from mock_platform.core.auth.authenticate import BEARER, Auth
from mock_platform.core.call import Call
from mock_platform.core.cursors import BadCursor, make_cursor, read_cursor
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Choice, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Handler, Limit, Operation
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Entry, Order, Position
from mock_platform.world.world import World

SHAPES = public_fact(
    "search.shapes",
    "Searches and counts have their public shapes; the spec names them and three operators.",
    "section 7.3 of the named endpoints",
    gap=True,
)
COUNTS = public_fact(
    "search.counts",
    "Every minute, hour or day of the window is in the answer, those without posts as well. "
    "Counts of all time reach 30 days back by default, and a page holds 31 days, the newest page "
    "first.",
    "section 7.3 of the named endpoints, every bucket",
)
SORT_ORDERS = ("recency", "relevancy")
_RELEVANCY = Order("relevancy", descending=True)
_LONGEST = {"recent": 512, "all": 1024}
_COUNT_PAGE = timedelta(days=31)
_COUNT_REACH = timedelta(days=30)


class _Query(Schema):
    """What all searches and counts take."""

    query = Text(min_length=1, max_length=4096, required=True)
    start_time = Instant(millis=True)
    end_time = Instant(millis=True)
    since_id = Text(pattern=ID.pattern, pattern_text="a post id of 1 to 19 digits")
    until_id = Text(pattern=ID.pattern, pattern_text="a post id of 1 to 19 digits")
    next_token = make_token_field()
    pagination_token = make_token_field()


class RecentSearchQuery(_Query, PostSelectionQuery):
    """Parameters of the search of the last week."""

    max_results = Integer(low=10, high=100, load_default=10)
    sort_order = Choice(SORT_ORDERS, load_default="recency")


class FullSearchQuery(_Query, PostSelectionQuery):
    """Parameters of the search of all posts."""

    max_results = Integer(low=10, high=500, load_default=10)
    sort_order = Choice(SORT_ORDERS, load_default="recency")


class PostCountsQuery(_Query):
    """What counts take: a query, a window and the size of their buckets."""

    granularity = Choice(GRANULARITIES, load_default="hour")


class _SearchMeta(Schema):
    result_count = Integer(required=True)
    newest_id = Text()
    oldest_id = Text()
    next_token = Text()


class SearchAnswer(Schema):
    """A page of the posts that were found, and what they refer to."""

    data = ListOf(fields.Dict())
    includes = fields.Dict()
    errors = ListOf(fields.Dict())
    meta = Nested(_SearchMeta, required=True)


class _Bucket(Schema):
    start = Instant(millis=True, required=True)
    end = Instant(millis=True, required=True)
    post_count = Integer(required=True)


class _CountsMeta(Schema):
    total_post_count = Integer(required=True)
    next_token = Text()


class CountsAnswer(Schema):
    """How many posts were found in each part of the window."""

    data = ListOf(Nested(_Bucket))
    meta = Nested(_CountsMeta, required=True)


def make_search(kind: str, settings: Settings) -> Handler:
    """Return what searches `recent` or `all` posts, under these settings."""
    recent = kind == "recent"

    def search(call: Call, world: World) -> dict[str, Any]:
        window = read_window(call, world.clock.now(), recent=recent, reach=None)
        found = _start(call, world, window, settings, _LONGEST[kind])
        count: int = call.params["max_results"]
        if call.params["sort_order"] == "relevancy":
            order = _RELEVANCY
            page = found.find_by_relevancy(after=_read_token(call, order), limit=count + 1)
        else:
            order = NEWEST_FIRST
            page = found.find(after=_read_token(call, order), limit=count + 1)
        return _answer(call, world, page[:count], order, more=len(page) > count)

    return search


def _answer(
    call: Call, world: World, page: list[Entry], order: Order, *, more: bool
) -> dict[str, Any]:
    answer = start_answer(call, world, read_selection(call.params))
    answer.add_posts(entry.record for entry in page)
    meta: dict[str, Any] = {"result_count": len(page)}
    if not page:
        return {"meta": meta}
    assert call.caller.app is not None
    count_posts(world, call.caller.app, [entry.key for entry in page])
    ids = sorted(int(entry.key) for entry in page)
    meta |= {"newest_id": str(ids[-1]), "oldest_id": str(ids[0])}
    if more:
        meta["next_token"] = make_cursor(call, order, page[-1])
    return {"data": answer.data, **answer.parts(), "meta": meta}


def make_count(kind: str, settings: Settings) -> Handler:
    """Return what counts `recent` or `all` posts, under these settings."""
    recent = kind == "recent"

    def count(call: Call, world: World) -> dict[str, Any]:
        now = world.clock.now()
        window = read_window(call, now, recent=recent, reach=_COUNT_REACH)
        window, token = _choose_page(call, window)
        found = _start(call, world, window, settings, _LONGEST[kind]).find()
        buckets = count_by_time(found, window, call.params["granularity"], now)
        meta: dict[str, Any] = {"total_post_count": len(found)}
        if token is not None:
            meta["next_token"] = token
        return {"data": buckets, "meta": meta}

    return count


def _choose_page(call: Call, window: Window) -> tuple[Window, str | None]:
    """Return the part of a window that a page of counts covers, and the token of the next one."""
    end = window.end
    position = _read_token(call, NEWEST_FIRST)
    if position is not None:
        end = min(end, parse_instant(position[0][1]))
    start = max(window.start, end - _COUNT_PAGE)
    token = None
    if start > window.start:
        token = make_cursor(call, NEWEST_FIRST, Entry(((2, wire_millis(start)), 0), "", {}))
    return Window(start, end, window.since_id, window.until_id), token


def _start(call: Call, world: World, window: Window, settings: Settings, longest: int) -> Search:
    app = call.caller.app
    assert app is not None
    checked = read_query(call.params["query"], app, world, settings, longest=longest)
    assert checked.tree is not None  # the rules of the operation refuse others
    for text in checked.warnings:
        call.warn(text)
    if checked.warnings:
        call.assume(ACCEPTED_ONLY)
    user = call.caller.user if call.caller.scheme != "bearer" else None
    return Search(world, checked.tree, window, None if user is None else user["id"])


def _read_token(call: Call, order: Order) -> Position | None:
    """Return the position of the page that a token asks for, under either of its names.

    Raises:
        InvalidParameters: It is not a token of this search.
    """
    name = "next_token" if "next_token" in call.params else "pagination_token"
    text = call.params.get(name)
    try:
        return None if text is None else read_cursor(call, order, text)
    except BadCursor as fault:
        hint = "It must be a next_token of this search"
        wrong = Fault(f"{name} is not valid", details="invalid token", hint=hint)
        raise InvalidParameters([(name, wrong)], call.params) from fault


def _make_rules(kind: str) -> Any:
    """Return the check of the query and of the times."""

    def find_faults(
        params: Mapping[str, Any], call: Call, world: World, settings: Settings
    ) -> Iterator[tuple[str, str]]:
        yield from find_window_faults(params, world.clock.now(), recent=kind == "recent")
        if "query" in params:
            app = call.caller.app or {}
            longest = _LONGEST[kind]
            yield from find_query_faults(
                read_query(params["query"], app, world, settings, longest=longest)
            )

    return find_faults


_SPEC = "Versioning: 2026-05-04"
_RECENT_AUTH = Auth(("bearer", "oauth1", "oauth2"), scopes=("post.read", "users.read"))
_COMMON = (SHAPES, QUERIES, WINDOW, AT_ONCE, INDEX, FOUND, LANGUAGE, NESTING)


def _limit(id_: str, count: int, seconds: int = WINDOW_SECONDS, **more: Any) -> Limit:
    return Limit(id_, count, seconds, per=more.pop("per", "app"), source="public", **more)


def _is_of_user(call: Call) -> bool:
    return call.caller.scheme != "bearer"


def _declare(
    name: str,
    make: Any,
    kind: str,
    params: type[Schema],
    limits: tuple[Limit, ...],
    summary: str,
) -> Operation:
    family = "search" if name == "search" else "counts"
    path = f"{family}/{kind}" if family == "counts" else f"search/{kind}"
    returns = SearchAnswer if family == "search" else CountsAnswer
    return declare_named(
        f"post_{family}.{kind}",
        "GET",
        f"/2/posts/{path}",
        make(kind, Settings()),
        configure=lambda settings: make(kind, settings),
        summary=summary,
        spec=_SPEC,
        params=params,
        rules=_make_rules(kind),
        also=(f"/2/tweets/{path}",),
        since=None,
        returns=Flat(returns),
        auth=_RECENT_AUTH if (family, kind) == ("search", "recent") else BEARER,
        limit=limits,
        errors=("invalid-request", "usage-capped"),
        statuses=(400, 429),
        assumptions=(
            (*_COMMON, SELECTION, OLDER_NAMES, PAGES)
            if family == "search"
            else (*_COMMON, COUNTS, OLDER_NAMES)
        ),
        may_assume=(ACCEPTED_ONLY, COUNTED),
    )


OPERATIONS = (
    _declare(
        "search",
        make_search,
        "recent",
        RecentSearchQuery,
        (
            _limit("post_search.recent", 450, when=lambda call: not _is_of_user(call)),
            _limit("post_search.recent.user", 300, per="user", when=_is_of_user),
        ),
        "Search the posts of the last seven days",
    ),
    _declare(
        "search",
        make_search,
        "all",
        FullSearchQuery,
        (_limit("post_search.all", 300), _limit("post_search.all.second", 1, 1)),
        "Search all posts",
    ),
    _declare(
        "counts",
        make_count,
        "recent",
        PostCountsQuery,
        (_limit("post_counts.recent", 300),),
        "Count the posts of the last seven days that a search would find",
    ),
    _declare(
        "counts",
        make_count,
        "all",
        PostCountsQuery,
        (_limit("post_counts.all", 300),),
        "Count the posts that a search would find",
    ),
)
