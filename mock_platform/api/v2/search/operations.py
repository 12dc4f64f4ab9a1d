"""Searches for posts, and counts of what a search would find: recent, and of all time.

Document A names them in its release history; the shapes are public facts (named endpoints,
section 7.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from msgspec.structs import replace

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    OLDER_NAMES,
    Rates,
    declare_named,
    get_app,
    make_id_field,
    make_moment_field,
)
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    ObjectAnswer,
    PostSelectionQuery,
    make_names_field,
    start_answer,
)
from mock_platform.api.v2.objects.object_types import POST_OBJECT
from mock_platform.api.v2.pages import (
    TIMED_POSTS,
    TOKEN,
    TOKEN_FORMS,
    TOKEN_PAGES,
    PageMeta,
    PagePlace,
    make_token,
    make_token_field,
    read_token,
)
from mock_platform.api.v2.prices import COUNTS_ALL, COUNTS_RECENT, POST_READ
from mock_platform.api.v2.search.query import ACCEPTED_ONLY, RULE_LANGUAGE, RULE_NESTING
from mock_platform.api.v2.search.search import (
    AT_ONCE,
    FOUND_POSTS,
    GRANULARITIES,
    IDS_BESIDE_TIMES,
    INDEX_CHANGES,
    NEW_INDEX,
    QUERY_LENGTHS,
    SEARCH_WINDOW,
    Search,
    Window,
    count_by_time,
    find_query_faults,
    find_window_faults,
    go_back,
    place_by_relevancy,
    read_query,
    read_window,
)
from mock_platform.api.v2.usage.counting import COUNTED_ONCE, count_posts
from mock_platform.core.assumptions import public_fact
from mock_platform.core.auth.authenticate import BEARER, Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.fields import Choice, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Handler, Operation
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SEARCH_SHAPES = public_fact(
    "search.shapes",
    "Searches and counts have their public shapes; the spec names them and three operators.",
    "section 7.3 of the named endpoints",
    gap=True,
)
COUNT_BUCKETS = public_fact(
    "search.counts",
    "Every minute, hour or day of the window is in the answer, those without posts as well. "
    "Counts of all time reach 30 days back by default, with --wire recorded to the midnight "
    "before, and a page holds 31 days, the newest page first.",
    "section 7.3 of the named endpoints, every bucket",
)
SORT_ORDERS = ("recency", "relevancy")
_LONGEST = {"recent": 512, "all": 1024}
_COUNT_PAGE = timedelta(days=31)
_COUNT_REACH = timedelta(days=30)


class _Query(Schema):
    """What all searches and counts take."""

    query = Text(min_length=1, max_length=4096, required=True)
    start_time = make_moment_field()
    end_time = make_moment_field()
    since_id = make_id_field("a post id of ")
    until_id = make_id_field("a post id of ")


class _Size(Schema):
    max_results = Integer(low=10, high=100, load_default=10)


class _Tokens(Schema):
    next_token = make_token_field()
    pagination_token = make_token_field()


class RecentSearchQuery(_Tokens, _Size, _Query, PostSelectionQuery):
    """Parameters of the search of the last week, in the order of the service."""

    sort_order = Choice(SORT_ORDERS, load_default="recency")


class FullSearchQuery(RecentSearchQuery):
    """Parameters of the search of all posts."""

    max_results = Integer(low=10, high=500, load_default=10)


class PostCountsQuery(_Tokens, _Query):
    """What counts take: a query, a window, and the size of buckets; these have all fields."""

    granularity = Choice(GRANULARITIES, load_default="hour")
    search_count_fields = make_names_field(
        ("end", "post_count", "start"), data_key="search_count.fields"
    )
    """All three are in each bucket, whatever is asked for."""


class _SearchMeta(PageMeta):
    newest_id = Text()
    oldest_id = Text()


class SearchAnswer(ObjectAnswer):
    """A page of the posts that were found."""

    data = POST_OBJECT.several()
    meta = Nested(_SearchMeta)


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
        place = _read_token(call)
        if call.params["sort_order"] == "relevancy":
            rated = None if place is None else (place.served, place.position)
            page = found.find_by_relevancy(after=rated, limit=count + 1)
        else:
            after = None if place is None else place.position
            page = found.find(after=after, limit=count + 1)
        token = None
        if len(page) > count:
            rating, position = place_by_relevancy(page[count - 1])
            token = make_token(call, TIMED_POSTS, position, rating)
        return _answer(call, world, [entry.record for entry in page[:count]], token)

    return search


def _answer(call: Call, world: World, page: list[Record], token: str | None) -> dict[str, Any]:
    answer = start_answer(call, world)
    answer.add_posts(page)
    meta: dict[str, Any] = {"result_count": len(page)}
    if not page:
        return {"meta": meta}
    count_posts(world, get_app(call), [post["id_str"] for post in page])
    ids = sorted(post["id"] for post in page)
    meta |= {"newest_id": str(ids[-1]), "oldest_id": str(ids[0])}
    if token is not None:
        meta["next_token"] = token
    return answer.show_all(meta=meta)


def make_count(kind: str, settings: Settings) -> Handler:
    """Return what counts `recent` or `all` posts, under these settings."""
    recent = kind == "recent"

    def count(call: Call, world: World) -> dict[str, Any]:
        now = world.clock.now()
        window = read_window(call, now, recent=recent, reach=_COUNT_REACH)
        if call.wire == "recorded" and not recent and "start_time" not in call.params:
            midnight = window.start.replace(hour=0, minute=0, second=0, microsecond=0)
            window = replace(window, start=midnight)
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
    place = _read_token(call)
    if place is not None:
        end = min(end, parse_instant(place.position[0][1]))
    start = max(window.start, go_back(end.replace(microsecond=0), _COUNT_PAGE))
    token = None
    if start > window.start:
        token = make_token(call, TIMED_POSTS, ((2, wire_millis(start)), 0))
    return Window(start, end, window.since_id, window.until_id), token


def _start(call: Call, world: World, window: Window, settings: Settings, longest: int) -> Search:
    checked = read_query(call.params["query"], get_app(call), world, settings, longest=longest)
    if checked.tree is None:  # the rules of an operation say so before
        raise InvalidParameters(find_query_faults(checked), call.params)
    for text in checked.warnings:
        call.warn(text)
    if checked.warnings:
        call.assume(ACCEPTED_ONLY)
    user = call.caller.user if call.caller.scheme != "bearer" else None
    return Search(world, checked.tree, window, None if user is None else user["id"])


def _read_token(call: Call) -> PagePlace | None:
    """Return the place of the page that a token asks for, under either of its names.

    Raises:
        InvalidParameters: It is not a token of this search.
    """
    return read_token(call, TIMED_POSTS, "next_token" if "next_token" in call.params else TOKEN)


def find_faults(
    kind: str, params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the query and with the times."""
    yield from find_window_faults(params, call, world.clock.now(), recent=kind == "recent")
    if "query" in params:
        app, longest = call.caller.app or {}, _LONGEST[kind]
        checked = read_query(params["query"], app, world, settings, longest=longest)
        yield from find_query_faults(checked)


_COMMON = (
    SEARCH_SHAPES,
    QUERY_LENGTHS,
    SEARCH_WINDOW,
    AT_ONCE,
    NEW_INDEX,
    FOUND_POSTS,
    RULE_LANGUAGE,
    RULE_NESTING,
    TOKEN_FORMS,
)


def _declare(
    id_: str,
    make: Callable[[str, Settings], Handler],
    summary: str,
    params: type[Schema],
    **more: Any,
) -> Operation:
    """Return one of the four: `id_` is its family and the posts that it searches."""
    family, _, kind = id_.removeprefix("post_").partition(".")
    path = f"posts/{family}/{kind}"
    searches = family == "search"
    about_family = (
        (FIELD_SELECTION, OLDER_NAMES, TOKEN_PAGES) if searches else (COUNT_BUCKETS, OLDER_NAMES)
    )
    options: dict[str, Any] = {"auth": BEARER, "limit": 300} | more
    return declare_named(
        id_,
        f"GET /2/{path}",
        make(kind, Settings()),
        summary,
        configure=partial(make, kind),
        spec="Versioning: 2026-05-04",
        params=params,
        rules=partial(find_faults, kind),
        returns=SearchAnswer if searches else CountsAnswer,
        errors=("invalid-request", "usage-capped"),
        assumptions=(*_COMMON, *about_family),
        may_assume=(ACCEPTED_ONLY, COUNTED_ONCE, IDS_BESIDE_TIMES),
        dated=INDEX_CHANGES,
        **options,
    )


OPERATIONS = (
    _declare(
        "post_search.recent",
        make_search,
        "Search the posts of the last seven days",
        RecentSearchQuery,
        auth=Auth(ANY_CALLER, scopes=("post.read", "users.read")),
        limit=Rates(app=450, user=300),
        price=POST_READ,
    ),
    _declare(
        "post_search.all",
        make_search,
        "Search all posts",
        FullSearchQuery,
        limit=Rates(app=300, in_a_second=1),
        price=POST_READ,
    ),
    _declare(
        "post_counts.recent",
        make_count,
        "Count the posts of the last seven days that a search would find",
        PostCountsQuery,
        auth=Auth(("bearer", "oauth2")),
        price=COUNTS_RECENT,
    ),
    _declare(
        "post_counts.all",
        make_count,
        "Count the posts that a search would find",
        PostCountsQuery,
        price=COUNTS_ALL,
    ),
)
