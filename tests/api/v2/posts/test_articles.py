"""Articles are drafted, and published as posts."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.posts.articles import BLOCK_TYPES, MUTABILITIES
from tests.api.oauth.app_client import AppClient, messages
from tests.api.v2.media.test_operations import encode
from tests.images import make_png
from tests.support import HARBOR, NORTHBIKE, Keys
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

PATH = "/2/articles/draft"
pytestmark = pytest.mark.usefixtures("receiver")
SHIPPED = "1991204475120123970"
POST = "1712850617439551489"
IMAGE, VIDEO = "1712850617439560001", "1712850617439560005"
LINK = {"type": "link", "mutability": "mutable", "data": {"url": "https://example.com"}}
BLOCK = {
    "text": "Slow roasts",
    "type": "unstyled",
    "key": "a1",
    "data": {"hashtags": [{"from_index": 0, "to_index": 4, "text": "slow"}]},
    "entity_ranges": [{"key": "0", "offset": 5, "length": 6}],
    "inline_style_ranges": [{"offset": 0, "length": 4, "style": "Bold"}],
}


class Client(AppClient):
    """Writes articles as a user."""

    path = PATH

    def send(self, path: str, keys: Keys | None = HARBOR, **more: Any) -> TestResponse:
        """Send a request that a user signed."""
        return self.call("POST", path, keys=keys, **more)

    def draft(
        self, value: dict[str, Any] | None = None, block: dict[str, Any] | None = None, **more: Any
    ) -> TestResponse:
        """Draft an article with one block and one entity."""
        content = {
            "blocks": [BLOCK | (block or {})],
            "entities": [{"key": "0", "value": value or LINK}],
        }
        return self.send(PATH, json={"title": "Roasting", "content_state": content} | more)

    def create(self, **more: Any) -> str:
        """Draft an article that must be accepted; its id."""
        answer = self.draft(**more)
        assert 201 == answer.status_code, answer.get_json()
        article_id: str = answer.get_json()["data"]["id"]
        return article_id

    def publish(self, article_id: str, keys: Keys | None = HARBOR) -> TestResponse:
        """Publish an article."""
        return self.send(f"/2/articles/{article_id}/publish", keys)


class TestDraft:
    """Articles are drafted."""

    def test_answer(self, client: Client) -> None:
        """The answer has the id and the title; the article is stored as it was sent."""
        answer = client.draft()

        assert 201 == answer.status_code
        article_id = answer.get_json()["data"]["id"]
        assert {"data": {"id": article_id, "title": "Roasting"}} == answer.get_json()
        stored = client.desk.record("articles", article_id)
        assert [BLOCK] == stored["content_state"]["blocks"]
        assert [{"key": "0", "value": LINK}] == stored["content_state"]["entities"]
        assert stored["post_id"] is None

    @pytest.mark.parametrize(("title", "accepted"), [("", False), ("R", True)])
    def test_title(self, client: Client, title: str, accepted: bool) -> None:
        """A title has at least one character."""
        assert accepted == (201 == client.draft(title=title).status_code)

    def test_required(self, client: Client) -> None:
        """Title and content are required, and both lists of the content."""
        assert 2 == len(messages(client.send(PATH, json={})))
        assert 2 == len(messages(client.draft(content_state={})))

    def test_empty(self, client: Client) -> None:
        """An article may have no blocks and no entities."""
        content: dict[str, Any] = {"blocks": [], "entities": []}

        assert 201 == client.draft(content_state=content).status_code

    @pytest.mark.parametrize("kind", BLOCK_TYPES)
    def test_block_types(self, client: Client, kind: str) -> None:
        """Every type of block is accepted."""
        assert 201 == client.draft(block={"type": kind}).status_code

    @pytest.mark.parametrize("mutability", MUTABILITIES)
    def test_mutabilities(self, client: Client, mutability: str) -> None:
        """Every mutability of an entity is accepted."""
        assert 201 == client.draft(LINK | {"mutability": mutability}).status_code

    @pytest.mark.parametrize(
        ("block", "value"),
        [({"type": "header-four"}, LINK), ({}, LINK | {"type": "video"}),
         ({}, LINK | {"mutability": "fixed"})],
    )  # fmt: skip
    def test_other_types(
        self, client: Client, block: dict[str, Any], value: dict[str, Any]
    ) -> None:
        """Other types are refused."""
        assert 1 == len(messages(client.draft(value, block)))

    @pytest.mark.parametrize("name", ["entity_ranges", "inline_style_ranges"])
    @pytest.mark.parametrize(
        ("offset", "length", "accepted"),
        [(0, 11, True), (10, 1, True), (0, 12, False), (11, 1, False), (-1, 2, False),
         (0, 0, False)],
    )  # fmt: skip
    def test_ranges(
        self, client: Client, name: str, offset: int, length: int, accepted: bool
    ) -> None:
        """A range lies within the text of its block."""
        (whole,) = BLOCK[name]
        span = {**whole, "offset": offset, "length": length}  # type: ignore[dict-item]

        answer = client.draft(block={name: [span]})

        assert accepted == (201 == answer.status_code)
        assert accepted or 1 == len(messages(answer))

    def test_range_beyond_the_text(self, client: Client) -> None:
        """The refusal says where the range ends, and how long the text is."""
        answer = client.draft(block={"text": "Slow"})

        assert [
            "content_state.blocks[0].entity_ranges[0] ends at 11, and the text has 4 characters"
        ] == messages(answer)

    @pytest.mark.parametrize(("key", "accepted"), [("0", True), (0, True), ("1", False)])
    def test_entity_of_a_range(self, client: Client, key: Any, accepted: bool) -> None:
        """A range names an entity of the article, as text or as a number."""
        answer = client.draft(block={"entity_ranges": [{"key": key, "offset": 0, "length": 1}]})

        assert accepted == (201 == answer.status_code)
        if not accepted:
            place = "content_state.blocks[0].entity_ranges[0]"
            assert [f"{place}: no entity has the key '1'"] == messages(answer)

    def test_keys_differ(self, client: Client) -> None:
        """Two entities do not have one key."""
        content = {"blocks": [], "entities": [{"key": "0", "value": LINK}] * 2}

        assert ["another entity has the key '0'"] == messages(client.draft(content_state=content))

    @pytest.mark.parametrize(
        ("kind", "data", "message"),
        [
            ("post", {"post_id": POST}, None),
            ("divider", {}, None),
            ("markdown", {"markdown": "*slow*"}, None),
            ("post", {"post_id": "7"}, ": no post has the id 7"),
            ("post", {}, ".data.post_id is required for type post"),
            ("link", {}, ".data.url is required for type link"),
            ("image", {}, ".data.media_items is required for type image"),
            ("image", {"media_items": [{"media_id": IMAGE}]}, None),
            (
                "image",
                {"media_items": [{"media_id": "7"}]},
                ".data.media_items: the user has no media with the id 7",
            ),
            (
                "image",
                {"media_items": [{"media_id": VIDEO}]},
                f".data.media_items: {VIDEO} is a video; an image or a GIF is needed",
            ),
        ],
    )
    def test_entities(
        self, client: Client, kind: str, data: dict[str, Any], message: str | None
    ) -> None:
        """What an entity refers to must be there."""
        answer = client.draft({"type": kind, "mutability": "immutable", "data": data})

        if message is None:
            assert 201 == answer.status_code, answer.get_json()
        else:
            assert [f"content_state.entities[0].value{message}"] == messages(answer)

    def test_unknown_cover(self, client: Client) -> None:
        """The cover is media of the user."""
        cover = {"media_id": "7", "media_category": "post_image"}

        assert ["cover_media.media_id: the user has no media with the id 7"] == messages(
            client.draft(cover_media=cover)
        )


class TestPublish:
    """Drafts are published."""

    def test_post(self, client: Client) -> None:
        """The post has the title as its text and the article in its fields."""
        article_id = client.create()

        answer = client.publish(article_id)

        assert 200 == answer.status_code, answer.get_json()
        post_id = answer.get_json()["data"]["post_id"]
        post = client.call("GET", f"/2/posts/{post_id}?post.fields=article").get_json()["data"]
        assert ("Roasting", {"title": "Roasting"}) == (post["text"], post["article"])
        assert post_id == client.desk.record("articles", article_id)["post_id"]

    def test_shipped(self, client: Client) -> None:
        """The draft of the fixtures can be published."""
        assert 200 == client.publish(SHIPPED).status_code

    def test_cover(self, client: Client) -> None:
        """An uploaded cover stays, and is found by its expansion."""
        image = {"media": encode(make_png(40, 20)), "media_category": "post_image"}
        media_id = client.send("/2/media/upload", json=image).get_json()["data"]["id"]
        cover = {"media_id": media_id, "media_category": "post_image"}
        article_id = client.create(cover_media=cover)
        client.desk.world.clock.advance(2 * 86_400)

        post_id = client.publish(article_id).get_json()["data"]["post_id"]

        path = f"/2/posts/{post_id}?expansions=article.cover_media&media.fields=width"
        (media,) = client.call("GET", path).get_json()["includes"]["media"]
        assert (f"3_{media_id}", 40) == (media["media_key"], media["width"])

    def test_event(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """Publishing is a post.create of the author."""
        post_id = client.publish(client.create()).get_json()["data"]["post_id"]
        desk.wait()

        events = [post.json["data"] for post in receiver.received]
        created = [event for event in events if event["event_type"] == "post.create"]
        assert [post_id] == [event["payload"]["id"] for event in created]
        assert WEBHOOK == desk.record("events", desk.event_ids()[-1])["webhook_id"]

    def test_again(self, client: Client) -> None:
        """An article is published once."""
        article_id = client.create()
        post_id = client.publish(article_id).get_json()["data"]["post_id"]

        answer = client.publish(article_id)

        assert 403 == answer.status_code
        assert (
            f"This article is published already, as post {post_id}." == answer.get_json()["detail"]
        )

    @pytest.mark.parametrize(("keys", "article_id"), [(HARBOR, "7"), (NORTHBIKE, SHIPPED)])
    def test_unknown(self, client: Client, keys: Keys, article_id: str) -> None:
        """An unknown article and the draft of another user are not found."""
        answer = client.publish(article_id, keys)

        assert 404 == answer.status_code
        detail = f"Could not find article with article_id: [{article_id}]."
        assert detail == answer.get_json()["detail"]
