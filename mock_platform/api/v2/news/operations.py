"""News: stories found by their words, or read by id.

Document A names the endpoints (release history, 2025-11-19); the shapes are public facts (named
endpoints, section 8.2).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from mock_platform.api.v2.conventions import declare_named, find_nothing
from mock_platform.api.v2.news.stories import (
    BOTH_TIMES,
    DISCLAIMER,
    FIELDS,
    make_contexts,
    show_news,
)
from mock_platform.api.v2.release_history import find_release
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Shown, Table
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record, words
from mock_platform.world.world import World

SHAPES = public_fact(
    "news.shapes",
    "The endpoints of news have their public shapes; the spec only names them. Lists of news have "
    "no pages.",
    "section 8.2 of the named endpoints",
    gap=True,
)
SEARCH = expectation(
    "news.search",
    "A search finds a story if each word of the query is, in any case, a word of its name, hook, "
    "summary, category, topics or keywords; the stories of the last max_age_hours, newest first.",
)
UNKNOWN = expectation(
    "news.unknown-id",
    "The resource_type of an unknown story is post, because the enumeration has no value for news; "
    "rely on 'parameter' instead.",
)
_SPEC = "Versioning: 2025-11-19"
_SCOPES = ("post.read", "users.read")
_TEXTS = ("name", "hook", "summary", "category")


class _Entities(Schema):
    events = ListOf(Text())
    organizations = ListOf(Text())
    people = ListOf(Text())
    places = ListOf(Text())
    products = ListOf(Text())


class _Finance(Schema):
    tickers = ListOf(Text())


class _Sports(Schema):
    teams = ListOf(Text())


class _Contexts(Schema):
    topics = ListOf(Text())
    entities = Nested(_Entities)
    finance = Nested(_Finance)
    sports = Nested(_Sports)


class _ClusterPost(Schema):
    post_id = Text(required=True)


class NewsRecord(Schema):
    """A news story. `cluster_posts_results` names the posts that it summarises."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    name = Text(required=True, min_length=1)
    category = Text(load_default="News")
    summary = Text(load_default="")
    hook = Text(load_default=None, allow_none=True)
    contexts = Nested(_Contexts, load_default=lambda: make_contexts(topics=[]))
    cluster_posts_results = ListOf(Nested(_ClusterPost), load_default=list)
    keywords = ListOf(Text(min_length=1), load_default=list)
    disclaimer = Text(load_default=DISCLAIMER, allow_none=True)
    updated_at = Instant(millis=True, required=True)


class NewsQuery(Schema):
    """The fields of a story to return."""

    news_fields = CommaList(Choice(FIELDS), data_key="news.fields")


class NewsSearch(NewsQuery):
    """Parameters of the search."""

    query = Text(required=True, min_length=1, max_length=2048)
    max_results = Integer(low=1, high=100, load_default=10)
    max_age_hours = Integer(low=1, high=720, load_default=168)


class NewsStory(Schema):
    """A story as clients see it."""

    id = Text(required=True)
    name = Text()
    category = Text()
    summary = Text()
    hook = Text()
    contexts = Nested(_Contexts)
    cluster_posts_results = ListOf(Nested(_ClusterPost))
    keywords = ListOf(Text())
    disclaimer = Text()
    updated_at = Instant(millis=True)
    last_updated_at_ms = Instant(millis=True)


class _Count(Schema):
    component_name: ClassVar = "News_Count"
    result_count = Integer(required=True)


class NewsList(Schema):
    """The stories that a search found; without any, no `data`."""

    data = ListOf(Nested(NewsStory))
    meta = Nested(_Count, required=True)


class NewsAnswer(Schema):
    """The story with that id."""

    data = Nested(NewsStory, required=True)


def search(call: Call, world: World) -> dict[str, Any]:
    """Find the stories whose texts have all words of the query, newest first."""
    wanted = words(call.params["query"])
    oldest = world.clock.now() - timedelta(hours=call.params["max_age_hours"])
    found = [
        entry.record
        for entry in world.store.page("news")
        if wanted
        and wanted <= _list_words(entry.record)
        and oldest <= parse_instant(entry.record["updated_at"]) <= world.clock.now()
    ]
    found.sort(key=lambda story: parse_instant(story["updated_at"]), reverse=True)
    page = found[: call.params["max_results"]]
    fields = call.params.get("news_fields")
    shown = {"data": [show_news(story, fields) for story in page]} if page else {}
    return {**shown, "meta": {"result_count": len(page)}}


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the story that the path names."""
    story_id = call.path_params["id"]
    story = world.store.get("news", story_id)
    if story is None:
        value = find_nothing("news", "id", story_id, repeated=True, resource_type="post")
        raise ProblemFailure(value, UNKNOWN)
    return {"data": show_news(story, call.params.get("news_fields"))}


def _list_words(story: Record) -> set[str]:
    texts = [story[name] or "" for name in _TEXTS]
    texts += [*story["keywords"], *story["contexts"].get("topics", ())]
    return words(" ".join(texts))


_SINCE = find_release("news").effective
_LIMIT = 200
TABLES = (
    Table(
        "news",
        NewsRecord,
        shown=Shown(("name", "updated_at"), "news.fields", ("news.get", "news.search")),
    ),
)
OPERATIONS = (
    declare_named(
        "news.search",
        "GET",
        "/2/news/search",
        search,
        summary="Search news stories",
        spec=_SPEC,
        params=NewsSearch,
        since=_SINCE,
        returns=Flat(NewsList),
        auth=Auth(("bearer", "oauth2"), scopes=_SCOPES),
        limit=_LIMIT,
        assumptions=(SHAPES, SEARCH, BOTH_TIMES),
    ),
    declare_named(
        "news.get",
        "GET",
        "/2/news/:id",
        get,
        summary="Read a news story",
        spec=_SPEC,
        params=NewsQuery,
        since=_SINCE,
        returns=Flat(NewsAnswer),
        auth=Auth(("bearer", "oauth1", "oauth2"), scopes=_SCOPES),
        limit=_LIMIT,
        errors=("invalid-request", "resource-not-found"),
        statuses=(400, 404),
        assumptions=(SHAPES, BOTH_TIMES),
        may_assume=(UNKNOWN,),
    ),
)
