"""The vendor's Python SDK as published, in encrypted conversations: all of its chat calls.

It is imported where it is used, as in the tests of its webhooks.
"""

from __future__ import annotations

from typing import Any

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

pytestmark = pytest.mark.live


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
            [HARBOR_ID, NORTHBIKE_ID, INES_ID], "1790000000000", sign("keys"), sign("more")
        )
        joined = call("add_group_members", DUO, body={"user_ids": [INES_ID], **more})
        begun = call("media_upload_initialize", body={"conversation_id": PAIR, "total_bytes": 3})
        session = begun.pop("session_id")
        part = {**begun, "segment_index": 0, "media": encode(b"\xff\x00!")}
        call("media_upload_append", session, body=part)
        call("media_upload_finalize", session, body={**begun, "num_parts": "1"})

        assert "1780000000000" == added["public_key_version"] == own[0]["public_key_version"]
        assert 4 == len(both)
        assert (PAIR, newest["previous_id"]) == (changed["conversation_id"], changed["sequence_id"])
        assert sent["encoded_message_event"] == newest["encoded_event"]
        assert [True] * 3 == done
        assert reserved == made["conversation_id"] == shown["id"] == inbox["data"][0]["id"]
        assert "Mill" == shown["group_name"]
        assert INES_ID == joined["current_member_ids"][-1]
        assert b"\xff\x00!" == chat.media_download(PAIR, begun["media_hash_key"])
