"""Articles: drafted, and published as a post.

Document A names the endpoints (release history, 2026-06-11); the shapes are public facts (named
endpoints, section 8.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    check_path,
    declare_named,
    forbid,
    get_user,
    make_id_field,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.media.uploads import (
    CATEGORIES,
    USABLE_MEDIA,
    explain_unusable,
    find_own_media,
    keep_media,
)
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS
from mock_platform.api.v2.objects.post_text import make_source
from mock_platform.api.v2.posts.changes import POST_ACTIVITIES, create_post
from mock_platform.api.v2.posts.creation import POST_REFUSALS
from mock_platform.api.v2.release_history import find_release
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.fields import (
    Choice,
    Instant,
    Integer,
    ListOf,
    Nested,
    Text,
    TextOrNumber,
)
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ARTICLE_SHAPES = public_fact(
    "articles.shapes",
    "The endpoints of articles have their public shapes; the spec only names them.",
    "section 8.1 of the named endpoints",
    gap=True,
)
ARTICLE_CONTENT = expectation(
    "articles.content",
    "Ranges lie within the text of their block, counted in characters, and name an entity of the "
    "article. An entity of type post names a post that exists, a link has a url, an image has "
    "media of the user, and so does the cover.",
)
POST_OF_ARTICLE = expectation(
    "articles.published",
    "Publishing makes a post whose text is the title. An unknown article and the draft of another "
    "user answer 404, an article that is published already 403 about:blank.",
)
BLOCK_TYPES = (
    "unstyled", "header-one", "header-two", "header-three", "unordered-list-item",
    "ordered-list-item", "blockquote", "atomic",
)  # fmt: skip
_NEEDED = {"post": "post_id", "link": "url", "image": "media_items"}
ENTITY_TYPES = (*_NEEDED, "divider", "emoji", "latex", "markdown")
MUTABILITIES = ("immutable", "mutable", "segmented")
STYLES = ("bold", "italic", "strikethrough")


class _Range(Schema):
    length = Integer(low=0, required=True)
    offset = Integer(low=0, required=True)


class _EntityRange(_Range):
    key = TextOrNumber(required=True)


class _StyleRange(_Range):
    style = Choice(STYLES, required=True)


class _TextRange(Schema):
    from_index = Integer(low=0, required=True)
    to_index = Integer(low=0, required=True)
    text = Text(required=True)


class _BlockData(Schema):
    cashtags = ListOf(Nested(_TextRange))
    hashtags = ListOf(Nested(_TextRange))
    mentions = ListOf(Nested(_TextRange))
    urls = ListOf(Nested(_TextRange))


class ArticleBlock(Schema):
    """A paragraph of an article."""

    text = Text(required=True)
    type = Choice(BLOCK_TYPES, required=True)
    key = Text()
    data = Nested(_BlockData)
    entity_ranges = ListOf(Nested(_EntityRange))
    inline_style_ranges = ListOf(Nested(_StyleRange))


class _MediaItem(Schema):
    media_id = make_id_field("a media id of ", required=True)
    media_category = Choice(tuple(CATEGORIES), required=True)


class _EntityData(Schema):
    url = Text(min_length=1)
    caption = Text()
    entity_key = Text()
    markdown = Text()
    media_items = ListOf(Nested(_MediaItem), least=1)
    post_id = make_id_field("a post id of ")


class _EntityValue(Schema):
    type = Choice(ENTITY_TYPES, required=True)
    mutability = Choice(MUTABILITIES, required=True)
    data = Nested(_EntityData, required=True)


class ArticleEntity(Schema):
    """What ranges of an article refer to: a post, a link or images."""

    key = TextOrNumber(required=True)
    value = Nested(_EntityValue, required=True)


class ArticleContent(Schema):
    """The paragraphs of an article, and what they refer to."""

    blocks = ListOf(Nested(ArticleBlock), required=True)
    entities = ListOf(Nested(ArticleEntity), required=True)


class ArticleCover(Schema):
    """The picture above an article."""

    media_id = make_id_field("a media id of ", required=True)
    media_category = Choice(tuple(CATEGORIES), required=True)


class NewArticle(Schema):
    """An article to draft."""

    title = Text(required=True, min_length=1)
    content_state = Nested(ArticleContent, required=True)
    cover_media = Nested(ArticleCover)


class ArticleRecord(NewArticle):
    """An article of a user; `post_id` is the post as which it was published."""

    id = make_id_field(required=True)
    cover_media = Nested(ArticleCover, load_default=None, allow_none=True)
    post_id = Text(load_default=None, allow_none=True)
    created_at = Instant(millis=True, required=True)
    _user_id = Text(required=True)
    _cover_key = Text(load_default=None, allow_none=True)


DraftAnswer = wrap_data("DraftAnswer", id=Text(required=True), title=Text(required=True))
PublicationAnswer = wrap_data("PublicationAnswer", post_id=Text(required=True))


def _find_faults(
    world: World, user: Record, params: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the content and the cover of an article that the schema accepts."""
    content = params["content_state"]
    keys = [entity["key"] for entity in content["entities"]]
    for number, block in enumerate(content["blocks"]):
        place = f"content_state.blocks[{number}]"
        yield from _find_range_faults(place, block, frozenset(keys))
    for number, entity in enumerate(content["entities"]):
        place = f"content_state.entities[{number}]"
        if entity["key"] in keys[:number]:
            yield f"{place}.key", f"another entity has the key {entity['key']!r}"
        yield from _find_entity_faults(world, user, f"{place}.value", entity["value"])
    if "cover_media" in params:
        media_id = params["cover_media"]["media_id"]
        yield from _find_image_faults(world, user, "cover_media.media_id", media_id)


def _find_range_faults(
    place: str, block: Mapping[str, Any], keys: frozenset[str]
) -> Iterator[tuple[str, str]]:
    length = len(block["text"])
    for name in ("entity_ranges", "inline_style_ranges"):
        for number, each in enumerate(block.get(name, ())):
            where, end = f"{place}.{name}[{number}]", each["offset"] + each["length"]
            if end > length:
                yield where, f"{where} ends at {end}, and the text has {length} characters"
            if name == "entity_ranges" and each["key"] not in keys:
                yield f"{where}.key", f"{where}: no entity has the key {each['key']!r}"


def _find_entity_faults(
    world: World, user: Record, place: str, value: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    data = value["data"]
    needed = _NEEDED.get(value["type"])
    if needed is None:
        return
    if needed not in data:
        yield f"{place}.data", f"{place}.data.{needed} is required for type {value['type']}"
    elif needed == "post_id" and world.store.get("posts", data["post_id"]) is None:
        yield f"{place}.data.post_id", f"{place}: no post has the id {data['post_id']}"
    elif needed == "media_items":
        for item in data["media_items"]:
            yield from _find_image_faults(
                world, user, f"{place}.data.media_items", item["media_id"]
            )


def _find_image_faults(
    world: World, user: Record, place: str, media_id: str
) -> Iterator[tuple[str, str]]:
    media = find_own_media(world, user["id"], media_id)
    if media is None:
        yield place, f"{place}: the user has no media with the id {media_id}"
        return
    reason = explain_unusable(world, media)
    if reason is not None:
        yield place, f"{place}: {media_id} cannot be used: {reason}"
    elif media["media_type"] == "VIDEO":
        yield place, f"{place}: {media_id} is a video; an image or a GIF is needed"


def draft(call: Call, world: World) -> dict[str, Any]:
    """Store an article that is not published yet.

    Raises:
        InvalidParameters: What the article refers to is not there (`articles.content`).
    """
    user, params = get_user(call), call.params
    faults = list(_find_faults(world, user, params))
    if faults:
        raise InvalidParameters(faults, params)
    cover = params.get("cover_media")
    article: Record = {
        "id": world.ids.snowflake(),
        "title": params["title"],
        "content_state": params["content_state"],
        "cover_media": cover,
        "post_id": None,
        "created_at": wire_millis(world.clock.now()),
        "_user_id": user["id"],
        "_cover_key": None,
    }
    used = [item["media_id"] for item in _list_media_items(params["content_state"])]
    for media_id in [*used, *([cover["media_id"]] if cover else ())]:
        media = find_own_media(world, user["id"], media_id)
        assert media is not None, "the checks have found it"
        keep_media(world, media)
        if cover is not None and media_id == cover["media_id"]:
            article["_cover_key"] = media["media_key"]
    world.store.put("articles", article["id"], article)
    return {"data": {"id": article["id"], "title": article["title"]}}


def _list_media_items(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for entity in content["entities"]:
        yield from entity["value"]["data"].get("media_items", ())


def publish(call: Call, world: World) -> dict[str, Any]:
    """Publish a draft of the caller: make the post that shows it."""
    user, article_id = get_user(call), call.path_params["article_id"]

    def find(key: str) -> Record | None:
        found = world.store.get("articles", key)
        return found if found is not None and found["_user_id"] == user["id"] else None

    article = require_record(
        call,
        world,
        "articles",
        "article",
        PARTIAL_ERRORS,
        POST_OF_ARTICLE,
        parameter="article_id",
        find=find,
        resource_type="post",
    )
    if article["post_id"] is not None:
        text = f"This article is published already, as post {article['post_id']}."
        raise forbid(text, POST_REFUSALS)
    fields = {"source": make_source(call.caller.app), "_article_id": article_id}
    made = create_post(world, user, article["title"], fields=fields)
    post_id = made.record["id_str"]
    world.store.put("articles", article_id, article | {"post_id": post_id})
    return {"data": {"post_id": post_id}}


TABLES = (Table("articles", ArticleRecord, references=(Reference("_user_id", "users"),)),)
_declare = partial(
    declare_named,
    spec="Versioning: 2026-06-11",
    since=find_release("articles").effective,
    auth=Auth(ANY_USER, scopes=("post.read", "post.write", "users.read")),
    limit=(),
)
OPERATIONS = (
    _declare(
        "articles.draft",
        "POST /2/articles/draft",
        draft,
        "Draft an article",
        params=NewArticle,
        returns=Flat(DraftAnswer, status=201),
        assumptions=(ARTICLE_SHAPES, ARTICLE_CONTENT, USABLE_MEDIA),
        example=Example(
            json={
                "title": "Slow roasts",
                "content_state": {
                    "blocks": [{"text": "Why we roast slowly", "type": "unstyled"}],
                    "entities": [],
                },
            }
        ),
    ),
    _declare(
        "articles.publish",
        "POST /2/articles/:article_id/publish",
        publish,
        "Publish an article as a post",
        rules=check_path("article_id"),
        returns=PublicationAnswer,
        errors=("invalid-request", "resource-not-found", "about:blank"),
        assumptions=(ARTICLE_SHAPES, POST_OF_ARTICLE, POST_ACTIVITIES),
        may_assume=(PARTIAL_ERRORS,),
    ),
)
