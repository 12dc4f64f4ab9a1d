"""Volume streams: which public posts and likes they carry, to whom, and in which form."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.usage.counting import count_month
from mock_platform.api.v2.volume_streams.operations import VOLUMES
from tests.api.v2.filtered_stream.support import APP
from tests.api.v2.filtered_stream.support import PostingClient as Client
from tests.support import BEARER
from tests.support_replay import Desk
from tests.support_streams import OTHER_USER, USER, Lines

SETTINGS = {"stream_keepalive": 0.001}
SAMPLE, FIREHOSE = "/2/posts/sample/stream", "/2/posts/firehose/stream"
LIKES = "/2/likes/firehose/stream"
POST_STREAMS = [volume for volume in VOLUMES if not volume.is_of_likes]
THIRD_USER = "2790441185"


def texts(*lines: dict[str, Any]) -> list[str]:
    """The texts of posts."""
    return [line["data"]["text"] for line in lines]


def like(client: Client, direction: str = "sent") -> dict[str, Any]:
    """Let the well-known user like a post of another; the payload of the like, as lines have it."""
    body = {"event_type": "like.create", "user_id": USER, "direction": direction}
    answer = client.desk.client.post("/_mock/events", json=body)
    assert 201 == answer.status_code, answer.text
    payload: dict[str, Any] = answer.get_json()["activity"]["payload"]
    return payload | {"timestamp_ms": int(payload["timestamp_ms"])}


def carried(client: Client) -> list[int]:
    """How many lines wait for each open stream, in the order in which they were opened."""
    streams = client.desk.client.get("/_mock/streams").get_json()["streams"]
    return [stream["lag"] for stream in streams]


def find_partition(id_: str, partitions: int) -> int:
    """The partition of an id."""
    return int(id_) % partitions + 1


@pytest.mark.parametrize("volume", POST_STREAMS, ids=lambda volume: volume.id)
def test_a_post_on_every_stream(client: Client, volume: Any) -> None:
    """A public post is on each stream of posts, in the one partition of its id."""
    opened = [
        client.open(f"?partition={number}" if number else "", path=volume.path)
        for number in range(bool(volume.partitions), volume.partitions + 1)
    ]
    post = client.post("Bread", fields={"lang": volume.lang or "en"})
    place = find_partition(post["id_str"], volume.partitions) - 1 if volume.partitions else 0

    id_ = post["id_str"]
    shown = {"id": id_, "text": "Bread", "edit_history_post_ids": [id_]}
    assert [int(number == place) for number in range(len(opened))] == carried(client)
    assert {"data": shown} == opened[place].next()


def test_language_streams_carry_their_language(client: Client) -> None:
    """A post of another language, or of none that is known, is on no language stream."""
    lines = [client.open(f"?partition={number}", path=f"{FIREHOSE}/lang/ja") for number in (1, 2)]
    client.post("Bread", fields={"lang": "en"})
    post = client.post("パン", fields={"lang": "ja"})
    assert ["パン"] == texts(lines[find_partition(post["id_str"], 2) - 1].next())


@pytest.mark.parametrize(
    "volume", [volume for volume in VOLUMES if "likes" in volume.id], ids=lambda volume: volume.id
)
def test_a_like_on_every_stream(client: Client, volume: Any) -> None:
    """A like is one line, of the user who likes, in the partition of its id."""
    opened = [
        client.open(f"?partition={number + 1}", path=volume.path)
        for number in range(volume.partitions)
    ]
    made = like(client)
    author = made.pop("liked_post_author_id")

    assert 1 == sum(carried(client))
    line = opened[find_partition(made["id"], volume.partitions) - 1].next()
    assert {"data": made | {"post_author_id": author}} == line


def open_all(client: Client, path: str, query: str, partitions: int) -> list[Lines]:
    """A stream of each partition."""
    return [
        client.open(f"?partition={number + 1}{query}", path=path) for number in range(partitions)
    ]


@pytest.mark.parametrize("older", [False, True])
def test_fields_and_expansions_of_likes(client: Client, older: bool) -> None:
    """Fields choose what a like shows; expansions add the post, its author and its media."""
    names = "liked_post_author_id,timestamp_ms", "liked_post_id,attachments.media_keys"
    spelled = [each.replace("post", "tweet") for each in names] if older else names
    word = "tweet" if older else "post"
    query = (
        f"&like_with_{word}_author.fields={spelled[0]}&expansions={spelled[1]},"
        f"liked_{word}_author_id&{word}.fields=lang&user.fields=verified&media.fields=width"
    )
    media = client.desk.world.store.page("media_library", limit=1)[0].key
    client.post("Coffee", fields={"_media_keys": [media]})
    opened = open_all(client, "/2/likes/sample10/stream", query, 2)
    made = like(client)
    line = opened[find_partition(made["id"], 2) - 1].next()

    named = {name: made[name] for name in ("id", "timestamp_ms", "liked_post_id")}
    authors = {"post_author_id": OTHER_USER, "liked_post_author_id": OTHER_USER}
    assert named | authors == line["data"]
    assert [OTHER_USER] == [user["id"] for user in line["includes"]["users"]]
    assert {"id", "text", "lang", "edit_history_post_ids"} <= set(line["includes"]["posts"][0])
    assert [media] == [each["media_key"] for each in line["includes"]["media"]]


def test_media_keys_of_a_like(client: Client) -> None:
    """Their field has the media of the post that is liked; without any it is left out."""
    query = "&like_with_post_author.fields=attachments_media_keys,created_at"
    opened = open_all(client, "/2/likes/sample10/stream", query, 2)
    for keys in ([], ["3_1"]):
        client.post("Coffee", fields={"_media_keys": keys})
        made = like(client)
        wanted = {"attachments_media_keys": keys} if keys else {}
        line = opened[find_partition(made["id"], 2) - 1].next()
        assert {"id": made["id"], "created_at": made["created_at"]} | wanted == line["data"]


@pytest.mark.parametrize(
    "state",
    [{"protected": True}, {"_suspended": True}, {"_deactivated": True},
     {"withheld_in_countries": ["DE"]}],
)  # fmt: skip
def test_users_who_are_not_public(client: Client, state: dict[str, Any]) -> None:
    """What users post or like whom not everybody may see is on no stream, nor likes of it."""
    lines = client.open(path=SAMPLE)
    post, public = client.post("Hidden", user=THIRD_USER), client.post("Seen")
    likes = open_all(client, "/2/likes/sample10/stream", "", 2)
    happen = partial(client.emit, event_type="like.create", direction="sent")
    with client.desk.world.work():
        client.post("Hidden too", user=THIRD_USER)
        client.desk.change("users", THIRD_USER, **state)
    happen(user_id=THIRD_USER, payload={"id": "2", "liked_post_id": public["id_str"]})
    happen(user_id=USER, payload={"id": "2", "liked_post_id": post["id_str"]})
    happen(user_id=USER, payload={"id": "4", "liked_post_id": public["id_str"]})

    assert ["Hidden", "Seen"] == texts(lines.next(), lines.next())
    assert [0, 1, 0] == carried(client)
    assert "4" == likes[0].next()["data"]["id"]


@pytest.mark.parametrize(
    "kept_back", [{"nullcast": True}, {"_withheld_in_countries": ["FR"]}, {"_dropped": True}]
)
def test_posts_that_are_not_public(client: Client, kept_back: dict[str, Any]) -> None:
    """Promoted-only, withheld and dropped posts are on no stream, nor are reposts of them."""
    lines = client.open(path=SAMPLE)
    hidden = client.post("Kept back", fields=kept_back)
    client.post("RT", user=USER, reposted=hidden)
    client.post("Seen")
    assert ["Seen"] == texts(lines.next())


def test_edited_and_deleted_posts(client: Client) -> None:
    """An edit is a new post; the deletion of a post is no line."""
    lines = client.open(path=SAMPLE)
    first = client.post("Bred", user=USER)
    second = client.post("Bread", user=USER, previous=first)
    client.emit(event_type="post.delete", user_id=USER)
    client.post("Cheese")

    assert ["Bred", "Bread"] == texts(lines.next(), edit := lines.next())
    assert [first["id_str"], second["id_str"]] == edit["data"]["edit_history_post_ids"]
    assert ["Cheese"] == texts(lines.next())


def test_reposts_replies_and_posts_of_no_store(client: Client) -> None:
    """Reposts and replies are posts; a made-up post is shown as its payload has it."""
    lines = client.open("?tweet.fields=referenced_tweets&expansions=author_id", path=SAMPLE)
    post = client.post("Bread")
    client.post("RT", user=USER, reposted=post)
    payload = {"id": "12", "text": "Made up"}
    client.emit(event_type="post.create", user_id=OTHER_USER, payload=payload)
    client.emit(event_type="post.create", user_id=OTHER_USER, payload={"id": "x", "text": "No"})
    client.post("Last")

    assert [OTHER_USER] == [user["id"] for user in lines.next()["includes"]["users"]]
    assert [{"type": "reposted", "id": post["id_str"]}] == lines.next()["data"]["referenced_posts"]
    assert ["Made up", "Last"] == texts(lines.next(), lines.next())


def test_what_expansions_do_not_find(client: Client) -> None:
    """What is missing is named in the line."""
    lines = client.open("?expansions=in_reply_to_user_id", path=SAMPLE)
    client.post("Coffee", fields={"in_reply_to_user_id_str": "404"})
    assert "404" == lines.next()["errors"][0]["value"]


@pytest.mark.parametrize(("shares", "least", "most"), [("all", 100, 100), ("public", 1, 30)])
def test_samples(shares: str, least: int, most: int) -> None:
    """Samples carry everything, or those posts that a hash of the id chooses, the same for all."""
    with Desk(stream_samples=shares, stream_keepalive=0.001) as desk:
        client = Client(desk)
        opened = open_all(client, "/2/posts/sample10/stream", "", 2)
        opened += open_all(client, "/2/posts/sample10/stream", "", 2)
        opened += [client.open(path=SAMPLE), client.open("?partition=1", path=FIREHOSE)]
        posts = [client.post(f"Number {number}") for number in range(100)]
        one, other, *again, sample, firehose = carried(client)

        assert [one, other] == again
        assert least <= one + other <= most
        assert sample <= one + other
        assert firehose == len([p for p in posts if find_partition(p["id_str"], 20) == 1])
        assert opened


@pytest.mark.parametrize("volume", VOLUMES, ids=lambda volume: volume.id)
def test_backfill(client: Client, volume: Any) -> None:
    """What was public in the last minutes comes first, and only that of the partition."""
    post = client.post("Old", fields={"lang": volume.lang or "en"})
    made = like(client)
    client.desk.world.clock.advance(seconds=120)
    id_ = made["id"] if volume.is_of_likes else post["id_str"]
    place = find_partition(id_, volume.partitions) if volume.partitions else 0
    query = f"?backfill_minutes=3&partition={place}" if place else "?backfill_minutes=3"

    assert id_ == client.open(query, path=volume.path).next()["data"]["id"]
    if place:
        other = place % volume.partitions + 1
        window = f"?start_time=2026-11-20T12:00:00Z&partition={other}"
        lines = client.open(window, path=volume.path).rest()
        assert id_ not in [line["data"]["id"] for line in lines]


@pytest.mark.parametrize("volume", VOLUMES, ids=lambda volume: volume.id)
def test_too_many_connections(client: Client, volume: Any) -> None:
    """An app has two connections to a stream, in each partition."""
    query = "?partition=1" if volume.partitions else ""
    kept = [client.open(query, path=volume.path) for _ in range(2)]
    refused = client.read(volume.path + query, 429)

    assert "TooManyConnections" == refused["connection_issue"]
    if volume.partitions:
        kept.append(client.open("?partition=2", path=volume.path))
    kept[0].close()
    kept.append(client.open(query, path=volume.path))
    assert {volume.id} == {each["endpoint_name"] for each in client.connections()}


@pytest.mark.parametrize("volume", VOLUMES, ids=lambda volume: volume.id)
def test_disconnects(client: Client, volume: Any) -> None:
    """A deleted connection gets its last line, and frees its place."""
    lines = client.open("?partition=1" if volume.partitions else "", path=volume.path)
    done = client.call("DELETE", f"/2/connections/{volume.id}")

    assert 1 == done.get_json()["data"]["successful_kills"]
    assert "ForceDisconnect" == lines.next()["errors"][0]["disconnect_type"]
    assert [] == lines.rest()


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"event_type": "post.delete"}, "it carries post.create, not post.delete"),
        ({"payload": {"id": "x"}}, "the id in the payload is no number"),
        ({"payload": {"id": "1", "lang": "en"}}, "it carries posts whose lang is ja"),
        ({"user_id": THIRD_USER}, "the user or the post is not public"),
    ],
)
def test_why_not(client: Client, event: dict[str, Any], reason: str) -> None:
    """Whoever lets something happen learns why an open stream does not carry it."""
    client.desk.change("users", THIRD_USER, withheld_in_countries=["DE"])
    lines = client.open("?partition=1", path=f"{FIREHOSE}/lang/ja")
    answer = client.emit(**{"event_type": "post.create", "payload": {"id": "1"}, **event})

    assert [reason] == [
        text.partition(": ")[2] for text in answer["why_not"] if text.startswith("stream ")
    ]
    lines.close()


def test_posts_count_as_read(client: Client) -> None:
    """Each post is counted once; at the cap the stream ends, and no other begins."""
    app = client.desk.record("apps", APP)
    read = count_month(client.desk.world, app)
    client.desk.change("apps", APP, _post_cap=read + 1)
    lines = client.open(path=SAMPLE)
    client.post("First")
    client.post("Second")

    assert ["First"] == texts(lines.next())
    (ended,) = lines.rest()
    assert ended["errors"][0]["type"].endswith("/usage-capped")
    assert "UsageCapExceeded" == client.read(SAMPLE, 429)["title"]


def test_original_names(client: Client) -> None:
    """Path, fields and lines have their older words."""
    headers = {"X-Mock-Names": "original", "Authorization": f"Bearer {BEARER}"}
    query = "?tweet.fields=referenced_tweets"
    opened = client.desk.client.get(f"/2/tweets/sample/stream{query}", headers=headers)
    fields = "&like_with_tweet_author.fields=liked_tweet_id&expansions=liked_tweet_id"
    path = "/2/likes/sample10/stream?partition="
    likes = [
        Lines(client.desk.client.get(f"{path}{number}{fields}", headers=headers))
        for number in (1, 2)
    ]
    post = client.post("Bread")
    made = like(client)

    assert [post["id_str"]] == Lines(opened).next()["data"]["edit_history_tweet_ids"]
    line = likes[find_partition(made["id"], 2) - 1].next()
    assert {"id": made["id"], "liked_tweet_id": made["liked_post_id"]} == line["data"]
    assert ["tweets"] == list(line["includes"])
