"""The vendor's Python SDK as published: only its base address is another.

It registers a webhook, subscribes to a user, reads the activity stream, reconnects by itself, and
writes in encrypted conversations.
It is imported where it is used: that takes 0.8 s, in each process that collects the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from mock_platform import MockPlatform
from tests.api.v2.chat.people import (
    DUO,
    HARBOR_ID,
    INES_ID,
    NORTHBIKE_ID,
    PAIR,
    encode,
    make_group,
    make_keys,
    make_message,
    sign,
)
from tests.live.sandboxes import starting
from tests.support_receiver import Receiver

if TYPE_CHECKING:
    from xdk import Client

pytestmark = pytest.mark.live

BIO: Final = "profile.update.bio"


platform = starting("function", webhook_envelope="data")
"""A server whose answers about webhooks have the form that the SDK reads."""


@pytest.fixture
def client(platform: MockPlatform) -> Client:
    """The SDK with the app's bearer token."""
    from xdk import Client

    return Client(base_url=platform.base_url, bearer_token=platform.credentials["bearer_token"])


def change_bio(platform: MockPlatform, after: str) -> None:
    """Let the test user change the bio."""
    user = platform.credentials["user"]["id"]
    platform.emit(BIO, user=user, payload={"before": "", "after": after})


def subscribe(client: Client, platform: MockPlatform, **more: Any) -> str:
    """Subscribe to the changes of the test user's bio; the id of the subscription."""
    from xdk.activity.models import CreateSubscriptionRequest

    wanted = {"event_type": BIO, "filter": {"user_id": platform.credentials["user"]["id"]}, **more}
    made = client.activity.create_subscription(body=CreateSubscriptionRequest(**wanted))
    return str(made.model_dump()["data"]["subscription"]["subscription_id"])


def read_next(lines: Iterator[Any]) -> str:
    """The new bio in the next line for the subscription with the tag `sdk`."""
    shown = (line.model_dump() for line in lines)
    mine = (line for line in shown if line["data"]["tag"] == "sdk")
    return str(next(mine)["data"]["payload"]["after"])


def test_webhooks_and_subscriptions(client: Client, platform: MockPlatform) -> None:
    """Each answer is what the SDK's models require; an event reaches the webhook."""
    from xdk.webhooks.models import CreateRequest

    with Receiver() as receiver:
        webhook = client.webhooks.create(body=CreateRequest(url=receiver.url)).model_dump()["data"]
        checked = client.webhooks.validate(webhook["id"]).model_dump()["data"]
        subscription = subscribe(client, platform, webhook_id=webhook["id"], tag="bios")
        change_bio(platform, "Coffee by the water.")
        assert platform.wait_for_deliveries()
        (event,) = receiver.received
        pages = [page.model_dump() for page in client.activity.get_subscriptions()]
        gone = client.activity.delete_subscription(subscription).model_dump()
        deleted = client.webhooks.delete(webhook["id"]).model_dump()

    assert (True, True) == (webhook["valid"], checked["valid"])
    assert "bios" == event.json["data"]["tag"]
    assert subscription in {each["subscription_id"] for page in pages for each in page["data"]}
    assert (True, True) == (gone["data"]["deleted"], deleted["data"]["deleted"])


def test_the_stream_is_read_and_taken_up_again(client: Client, platform: MockPlatform) -> None:
    """Lines arrive as they happen; after a disconnect the SDK connects again by itself."""
    from xdk.streaming import StreamConfig

    subscribe(client, platform, tag="sdk")
    connects: list[int] = []

    def note_connect() -> None:
        connects.append(len(connects))
        change_bio(platform, f"bio {len(connects)}")

    config = StreamConfig(initial_backoff=0.01, jitter=False, on_connect=note_connect)
    lines = client.stream.activity(stream_config=config)

    first = read_next(lines)
    client.connections.delete_all()
    second = read_next(lines)  # the SDK does not show the problem in the last line
    lines.close()

    assert ("bio 1", "bio 2") == (first, second)


def test_one_connection_too_many(client: Client, platform: MockPlatform) -> None:
    """The SDK retries after 429 and then raises; a deleted connection frees its slot."""
    from xdk.connections.models import DeleteByUuidsRequest
    from xdk.streaming import StreamConfig, StreamError

    quick = StreamConfig(initial_backoff=0.01, jitter=False, max_retries=2)
    subscribe(client, platform)
    streams = []
    for _ in range(2):
        stream = client.stream.activity(
            stream_config=StreamConfig(on_connect=lambda: change_bio(platform, "here"))
        )
        next(stream)
        streams.append(stream)

    with pytest.raises(StreamError) as refused:
        next(client.stream.activity(stream_config=quick))
    listed = [page.model_dump()["data"] for page in client.connections.get_connection_history()]
    ids = [one["id"] for page in listed for one in page]
    killed = client.connections.delete_by_uuids(
        body=DeleteByUuidsRequest(uuids=ids[:1])
    ).model_dump()

    assert "429" in str(refused.value) or "retries" in str(refused.value)
    assert 2 == len(ids)
    assert 1 == killed["data"]["successful_kills"]
    for stream in streams:
        stream.close()


def test_every_call_of_the_sdk() -> None:
    """Each answer is what the models of the SDK require, and says what was sent before."""
    from xdk import Client
    from xdk.chat import models

    with MockPlatform.start() as platform:
        found = platform.credentials["user"]["oauth2_access_token"]
        client = Client(base_url=platform.base_url, access_token=found)
        chat = client.chat

        def call(name: str, *path: str, body: Any = None) -> Any:
            """The data of an answer; the model of the body has the name of the call."""
            if body is None:
                return getattr(chat, name)(*path).model_dump()["data"]
            model = getattr(models, f"{name.title().replace('_', '')}Request")
            return getattr(chat, name)(*path, model(**body)).model_dump()["data"]

        added = call("add_user_public_key", HARBOR_ID, body={
            "public_key": {"public_key": "QUJD"}, "version": "1780000000000"})  # fmt: skip
        own = client.users.get_public_key(HARBOR_ID).model_dump()["data"]
        both = client.users.get_public_keys([HARBOR_ID, NORTHBIKE_ID]).model_dump()["data"]
        keys = make_keys([HARBOR_ID, NORTHBIKE_ID], "1790000000000")
        changed = call("add_conversation_keys", NORTHBIKE_ID, body=keys)
        message = make_message("sdk", "1790000000000")
        sent = call("send_message", NORTHBIKE_ID, body=message)
        (events, *_) = [page.model_dump() for page in chat.get_conversation_events(PAIR)]
        newest = events["data"][0]
        seen = {"seen_until_sequence_id": newest["id"]}
        deletion = {"sequence_ids": [newest["id"]], "delete_message_action": "delete_for_all",
                    "action_signatures": [sign("gone")]}  # fmt: skip
        done = [
            call("mark_conversation_read", PAIR, body=seen)["success"],
            call("send_typing_indicator", PAIR)["success"],
            call("delete_messages", PAIR, body=deletion)["deleted"],
        ]
        reserved = call("initialize_group")["conversation_id"]
        group = make_group("Mill", conversation_id=reserved)
        made = call("create_conversation", body=group)
        (inbox, *_) = [page.model_dump() for page in chat.get_conversations()]
        shown = call("get_conversation", reserved)
        more = make_keys(
            [HARBOR_ID, NORTHBIKE_ID, INES_ID], "1790000000000", sign("keys"), sign("more"),
        )  # fmt: skip
        joined = call("add_group_members", DUO, body={"user_ids": [INES_ID], **more})
        begun = call("media_upload_initialize", body={"conversation_id": PAIR, "total_bytes": 3})
        session = begun.pop("session_id")
        part = {**begun, "segment_index": 0, "media": encode(b"\xff\x00!")}
        call("media_upload_append", session, body=part)
        call("media_upload_finalize", session, body={**begun, "num_parts": "1"})

        assert "1780000000000" == added["public_key_version"] == own[0]["public_key_version"]
        assert 4 == len(both)
        assert (PAIR, newest["previous_id"]) == (
            changed["conversation_id"], changed["sequence_id"],
        )  # fmt: skip
        assert sent["encoded_message_event"] == newest["encoded_event"]
        assert [True] * 3 == done
        assert reserved == made["conversation_id"] == shown["id"] == inbox["data"][0]["id"]
        assert "Mill" == shown["group_name"]
        assert INES_ID == joined["current_member_ids"][-1]
        assert b"\xff\x00!" == chat.media_download(PAIR, begun["media_hash_key"])
