"""News stories: the form in which clients and events see them, and a believable new one.

The shapes are public facts (named endpoints, section 8.2); document A names the endpoints.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mock_platform.core.assumptions import public_fact
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

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


DISCLAIMER = "This story is a summary of posts and may evolve over time."


def make_contexts(*, topics: list[str]) -> dict[str, Any]:
    """Return the contexts of a story that has nothing but topics."""
    kinds = ("events", "organizations", "people", "places", "products")
    return {
        "topics": topics,
        "entities": {kind: [] for kind in kinds},
        "finance": {"tickers": []},
        "sports": {"teams": []},
    }
