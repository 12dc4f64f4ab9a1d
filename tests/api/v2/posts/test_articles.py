"""Articles are drafted, and published as posts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.posts.articles import BLOCK_TYPES, MUTABILITIES
from tests.api.oauth.app_client import messages
from tests.api.v2.media.test_operations import encode
from tests.images import make_png
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox, data_of
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

PATH = "/2/articles/draft"
SHIPPED = "1991204475120123970"
POST = "1712850617439551489"
IMAGE, VIDEO = "1712850617439560001", "1712850617439560005"
LINK = {"type": "link", "mutability": "mutable", "data": {"url": "https://example.com"}}
BLOCK = {
    "text": "Slow roasts", "type": "unstyled", "key": "a1",
    "data": {"hashtags": [{"from_index": 0, "to_index": 4, "text": "slow"}]},
    "entity_ranges": [{"key": "0", "offset": 5, "length": 6}],
    "inline_style_ranges": [{"offset": 0, "length": 4, "style": "Bold"}],
}  # fmt: skip


def make_body(value: Any = LINK, block: Any = None, **more: Any) -> dict[str, Any]:
    """The body of a draft with one block and one entity."""
    entity = {"key": "0", "value": value}
    content = {"blocks": [BLOCK | (block or {})], "entities": [entity]}
    return {"title": "Roasting", "content_state": content} | more


def draft(box: Sandbox, *parts: Any, **more: Any) -> TestResponse:
    """Draft an article."""
    return box.call("POST", PATH, json=make_body(*parts, **more))


def create(box: Sandbox, **more: Any) -> str:
    """Draft an article that must be accepted; its id."""
    return str(data_of(draft(box, **more), 201)["id"])


def publish(box: Sandbox, article_id: str, keys: Keys = HARBOR) -> TestResponse:
    """Publish an article."""
    return box.call("POST", f"/2/articles/{article_id}/publish", keys=keys)


# -- drafts ----------------------------------------------------------------------------------------


def test_a_draft(box: Sandbox) -> None:
    """The answer has the id and the title; the article is stored as it was sent."""
    data = data_of(draft(box), 201)
    stored = box.record("articles", data["id"])

    assert {"id": data["id"], "title": "Roasting"} == data
    content = stored["content_state"]
    assert ([BLOCK], [{"key": "0", "value": LINK}]) == (content["blocks"], content["entities"])
    assert stored["post_id"] is None


@pytest.mark.parametrize(
    ("value", "block", "more"),
    [
        *((LINK, {"type": kind}, {}) for kind in BLOCK_TYPES),
        *((LINK | {"mutability": each}, {}, {}) for each in MUTABILITIES),
        *(
            ({"type": kind, "mutability": "immutable", "data": data}, {}, {})
            for kind, data in (
                ("post", {"post_id": POST}), ("divider", {}), ("markdown", {"markdown": "*slow*"}),
                ("image", {"media_items": [{"media_id": IMAGE}]}),
            )
        ),
        (LINK, {"entity_ranges": [{"key": 0, "offset": 0, "length": 1}]}, {}),
        (LINK, {}, {"content_state": {"blocks": [], "entities": []}}),
        (LINK, {}, {"title": "R"}),
    ],
)  # fmt: skip
def test_what_is_drafted(box: Sandbox, value: Any, block: Any, more: Any) -> None:
    """All types of blocks and entities, entities named by numbers, no blocks, a short title."""
    create(box, value=value, block=block, **more)


@pytest.mark.parametrize("name", ["entity_ranges", "inline_style_ranges"])
@pytest.mark.parametrize(
    ("offset", "length", "accepted"),
    [(0, 11, True), (10, 1, True), (0, 12, False), (11, 1, False), (-1, 2, False), (0, 0, False)],
)
def test_ranges(box: Sandbox, name: str, offset: int, length: int, accepted: bool) -> None:
    """A range lies within the text of its block."""
    ranges: Any = BLOCK[name]
    moved = ranges[0] | {"offset": offset, "length": length}
    answer = draft(box, LINK, {name: [moved]})
    assert accepted == (201 == answer.status_code)
    assert accepted or 1 == len(messages(answer))


refuse = partial(Refusal, f"POST {PATH}", status=400)
BLOCK_0, VALUE = "content_state.blocks[0]", "content_state.entities[0].value"
ENTITIES = [
    ("post", {"post_id": "7"}, ": no post has the id 7"),
    ("post", {}, ".data.post_id is required for type post"),
    ("link", {}, ".data.url is required for type link"),
    ("image", {}, ".data.media_items is required for type image"),
    ("image", {"media_items": [{"media_id": "7"}]},
     ".data.media_items: the user has no media with the id 7"),
    ("image", {"media_items": [{"media_id": VIDEO}]},
     f".data.media_items: {VIDEO} is a video; an image or a GIF is needed"),
]  # fmt: skip
REFUSED = [
    refuse("no title", json=make_body(title=""), messages=["title"]),
    refuse("neither title nor content", json={}, messages=["title", "content_state"]),
    refuse("neither blocks nor entities", json=make_body(content_state={}),
           messages=["blocks", "entities"]),
    refuse("another type of block", json=make_body(block={"type": "header-four"}),
           messages=["type"]),
    refuse("another type of entity", json=make_body(LINK | {"type": "video"}), messages=["type"]),
    refuse("another mutability", json=make_body(LINK | {"mutability": "fixed"}),
           messages=["mutability"]),
    refuse("a range beyond the text", json=make_body(block={"text": "Slow"}),
           messages=[f"{BLOCK_0}.entity_ranges[0] ends at 11, and the text has 4 characters"]),
    refuse("a range of an unknown entity",
           json=make_body(block={"entity_ranges": [{"key": "1", "offset": 0, "length": 1}]}),
           messages=[f"{BLOCK_0}.entity_ranges[0]: no entity has the key '1'"]),
    refuse("two entities with one key", messages=["another entity has the key '0'"],
           json=make_body(content_state={
               "blocks": [], "entities": [{"key": "0", "value": LINK}] * 2})),
    *(
        refuse(f"an entity {number}", messages=[f"{VALUE}{text}"],
               json=make_body({"type": kind, "mutability": "immutable", "data": data}))
        for number, (kind, data, text) in enumerate(ENTITIES)
    ),
    refuse("an unknown cover", messages=["cover_media.media_id: the user has no media with the id"],
           json=make_body(cover_media={"media_id": "7", "media_category": "post_image"})),
    Refusal(f"POST /2/articles/{SHIPPED}/publish", "the draft of another user", 404,
            keys=NORTHBIKE, problem="resource-not-found",
            text=f"Could not find article with article_id: [{SHIPPED}]."),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


# -- publishing ------------------------------------------------------------------------------------


def test_publishing(desk: Desk, receiver: Receiver) -> None:
    """The post has the title as text and the article in its fields; it is a post.create, once."""
    article_id = create(desk)
    post_id = data_of(publish(desk, article_id))["post_id"]
    desk.wait()
    fields: Any = {"post.fields": "article"}
    post = desk.read(f"/2/posts/{post_id}", keys=BEARER, **fields)["data"]

    assert ("Roasting", {"title": "Roasting"}) == (post["text"], post["article"])
    assert post_id == desk.record("articles", article_id)["post_id"]
    events = [post.json["data"] for post in receiver.received]
    created = [event for event in events if event["event_type"] == "post.create"]
    assert [post_id] == [event["payload"]["id"] for event in created]
    assert WEBHOOK == desk.record("events", desk.event_ids()[-1])["webhook_id"]
    again = publish(desk, article_id)
    text = f"This article is published already, as post {post_id}."
    assert (403, text) == (again.status_code, again.get_json()["detail"])


def test_the_draft_of_the_fixtures(box: Sandbox) -> None:
    """It can be published."""
    data_of(publish(box, SHIPPED))


def test_a_cover(box: Sandbox) -> None:
    """An uploaded cover stays, and is found by its expansion."""
    image = {"media": encode(make_png(40, 20)), "media_category": "post_image"}
    media_id = data_of(box.call("POST", "/2/media/upload", json=image))["id"]
    cover = {"media_id": media_id, "media_category": "post_image"}
    article_id = create(box, cover_media=cover)
    box.advance(days=2)
    post_id = data_of(publish(box, article_id))["post_id"]

    asked: Any = {"expansions": "article.cover_media", "media.fields": "width"}
    (media,) = box.read(f"/2/posts/{post_id}", **asked)["includes"]["media"]
    assert (f"3_{media_id}", 40) == (media["media_key"], media["width"])
