"""News: stories found by their words, or read by id, and a believable new one.

Document A names the endpoints (release history, 2025-11-19); the shapes are public facts (named
endpoints, section 8.2).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    Rates,
    declare_named,
    find_id_faults,
    find_nothing,
    make_id_field,
)
from mock_platform.api.v2.pages import show_list
from mock_platform.api.v2.release_history import find_release
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Shown, Table
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record, words
from mock_platform.world.world import World

NEWS_SHAPES = public_fact(
    "news.shapes",
    "The endpoints of news have their public shapes; the spec only names them. Lists of news have "
    "no pages.",
    "section 8.2 of the named endpoints",
    gap=True,
)
NEWS_SEARCH = expectation(
    "news.search",
    "A search finds a story if each word of the query is, in any case, a word of its name, hook, "
    "summary, category, topics or keywords; the stories of the last max_age_hours, newest first.",
)
UNKNOWN_STORY = expectation(
    "news.unknown-id",
    "The resource_type of an unknown story is post, because the enumeration has no value for news; "
    "rely on 'parameter' instead.",
)
DISCLAIMER = "This story is a summary of posts and may evolve over time."
FIELDS = (
    "category", "cluster_posts_results", "contexts", "disclaimer", "hook", "id", "keywords",
    "name", "summary", "updated_at",
)  # fmt: skip
"""The values of `news.fields`."""
BOTH_TIMES = public_fact(
    "news.both-times",
    "A story has id, updated_at and, with the same moment, last_updated_at_ms: public samples "
    "disagree on the names. Without news.fields a story has all fields but keywords; with it, id "
    "and those that were asked for.",
    "section 8.2 of the named endpoints",
)
_USUAL = frozenset(FIELDS) - {"keywords"}
_STORIES = (
    (
        "Business",
        "Harbor cafés agree on a common returnable cup",
        "Twelve cafés along the waterfront introduce one returnable cup, which can be handed in at "
        "any of them.",
        "One cup, twelve cafés.",
        ["coffee", "returnable cup", "waterfront"],
    ),
    (
        "Sports",
        "Gravel race through the northern hills sells out in an hour",
        "The organisers add a second start after all places for the gravel race were taken within "
        "an hour.",
        "Sixty minutes, two thousand riders.",
        ["gravel", "cycling", "race"],
    ),
    (
        "Science",
        "Researchers measure how the roast changes the aroma",
        "A team compares forty roasts and finds that the last ninety seconds decide most of the "
        "aroma.",
        "Ninety seconds make the difference.",
        ["coffee", "roast", "research"],
    ),
)
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

    id = make_id_field(required=True)
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
    data = [show_news(story, fields) for story in page]
    return show_list(data, meta={"result_count": len(page)})


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the story that the path names."""
    story_id = call.path_params["id"]
    story = world.store.get("news", story_id)
    if story is None:
        value = find_nothing("news", "id", story_id, repeated=True, resource_type="post")
        raise ProblemFailure(value, UNKNOWN_STORY)
    return {"data": show_news(story, call.params.get("news_fields"))}


def _list_words(story: Record) -> set[str]:
    texts = [story[name] or "" for name in _TEXTS]
    texts += [*story["keywords"], *story["contexts"].get("topics", ())]
    return words(" ".join(texts))


def show_news(story: Record, fields: Collection[str] | None = None) -> dict[str, Any]:
    """Return a story with the fields that were asked for; `None`: the usual ones."""
    wanted = _USUAL if fields is None else {"id", *fields}
    shown = {name: story[name] for name in FIELDS if name in wanted and story[name] is not None}
    if "updated_at" in wanted:
        shown["last_updated_at_ms"] = story["updated_at"]
    return shown


def show_news_event(story: Record) -> dict[str, Any]:
    """Return a story as the payload of `news.new`, where the name is the headline as well."""
    return {**show_news(story, FIELDS), "headline": story["name"]}


def add_story(world: World) -> Record:
    """Store a believable new story and return it."""
    number = world.store.count("news") % len(_STORIES)
    category, name, summary, hook, keywords = _STORIES[number]
    story: Record = {
        "id": world.ids.snowflake(),
        "name": name,
        "category": category,
        "summary": summary,
        "hook": hook,
        "contexts": make_contexts(topics=[category]),
        "cluster_posts_results": [],
        "keywords": keywords,
        "disclaimer": DISCLAIMER,
        "updated_at": wire_millis(world.clock.now()),
    }
    world.store.put("news", story["id"], story)
    return story


def make_contexts(*, topics: list[str]) -> dict[str, Any]:
    """Return the contexts of a story that has nothing but topics."""
    kinds = ("events", "organizations", "people", "places", "products")
    return {
        "topics": topics,
        "entities": {kind: [] for kind in kinds},
        "finance": {"tickers": []},
        "sports": {"teams": []},
    }


_declare = partial(
    declare_named,
    spec="Versioning: 2025-11-19",
    since=find_release("news").effective,
    auth=Auth(ANY_CALLER, scopes=_SCOPES),
    limit=200,
)
TABLES = (
    Table(
        "news",
        NewsRecord,
        shown=Shown(("name", "updated_at"), "news.fields", ("news.get", "news.search")),
    ),
)
OPERATIONS = (
    _declare(
        "news.search",
        "GET /2/news/search",
        search,
        "Search news stories",
        params=NewsSearch,
        returns=NewsList,
        limit=Rates(app=200, user=200),
        assumptions=(NEWS_SHAPES, NEWS_SEARCH, BOTH_TIMES),
    ),
    _declare(
        "news.get",
        "GET /2/news/:id",
        get,
        "Read a news story",
        params=NewsQuery,
        rules=find_id_faults,
        returns=NewsAnswer,
        errors=("invalid-request", "resource-not-found"),
        assumptions=(NEWS_SHAPES, BOTH_TIMES),
        may_assume=(UNKNOWN_STORY,),
    ),
)
