"""Encrypted media: uploaded in parts, downloaded byte by byte as they were."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import Any

from tests.api.v2.chat.people import (
    HARBOR_ID,
    INES,
    NORTHBIKE,
    PAIR,
    encode,
    post,
    sign,
)
from tests.refusals import Refusal, make_refusal_test
from tests.support import HARBOR, Sandbox, data_of

UPLOAD, OPEN = "/2/chat/media/upload", "1989400000000000001"
KEY, DONE = "hBr7Kq2Vx9Lm4R8wYc3Zn6Js", "nBk3aR6vLk8Ys1Df4tM8qZ4w"
NAMED = {"conversation_id": PAIR, "media_hash_key": KEY}


def upload(box: Sandbox, step: str, body: Any) -> Any:
    """The data of a step of an upload."""
    return data_of(box.call("POST", f"{UPLOAD}/{step}", json=body))


def test_an_upload(box: Sandbox) -> None:
    """Parts arrive in any order and again; members download the whole, others find nothing."""
    begun = upload(box, "initialize", {"conversation_id": "3805104374", "total_bytes": 10})
    session = begun.pop("session_id")
    part = {**begun, "segment_index": 1, "media": encode(b"\xffworld")}
    upload(box, f"{session}/append", part | {"media": encode(b"xx")})
    added = upload(box, f"{session}/append", part)
    form = begun | {"segment_index": "0", "media": (BytesIO(b"hell"), "blob")}
    data_of(box.call("POST", f"{UPLOAD}/{session}/append", data=form))
    path = f"/2/chat/media/{PAIR}/{begun['media_hash_key']}"
    early = box.call("GET", path)
    for _ in range(2):
        assert {"success": True} == upload(box, f"{session}/finalize", begun | {"num_parts": "2"})
    whole = box.call("GET", path, keys=NORTHBIKE)

    assert PAIR == begun["conversation_id"]
    assert 1795435200 == added["expires_at"]
    assert (404, 404) == (early.status_code, box.call("GET", path, keys=INES).status_code)
    assert (b"hell\xffworld", "application/octet-stream") == (whole.data, whole.mimetype)


def test_media_end(box: Sandbox) -> None:
    """Media are there for as long as they are needed, and an upload for a day."""
    upload(box, f"{OPEN}/finalize", {**NAMED, "num_parts": "1", "ttl_msec": "60000"})
    path = f"/2/chat/media/{PAIR}/{KEY}"
    assert 6 == len(box.call("GET", path).data)
    box.advance(minutes=1)
    assert 404 == box.call("GET", path).status_code


def test_an_upload_expires(box: Sandbox) -> None:
    """Nothing can be added after a day."""
    body = {**NAMED, "segment_index": 0, "media": "QQ=="}
    box.advance(days=1)
    assert 404 == box.call("POST", f"{UPLOAD}/{OPEN}/append", json=body).status_code


def test_deleted_with_their_message(box: Sandbox) -> None:
    """Media are gone when their message is deleted for all with them."""
    body = {"sequence_ids": ["1989100000000000003"], "delete_message_action": "delete_for_all",
            "action_signatures": [sign("d")], "media_hash_keys": [DONE, "unknown"]}  # fmt: skip
    path = f"/2/chat/media/{PAIR}/{DONE}"
    assert 18 == len(box.call("GET", path).data)
    post(box, f"{PAIR}/messages/delete", body)

    assert 404 == box.call("GET", path).status_code
    assert 0 == box.world.store.count("chat_media_parts", {"media_id": "1989400000000000002"})


begin = partial(Refusal, f"POST {UPLOAD}/initialize", status=400)
append = partial(Refusal, f"POST {UPLOAD}/{OPEN}/append")
end = partial(Refusal, f"POST {UPLOAD}/{OPEN}/finalize", status=400)
PART = {**NAMED, "segment_index": 0, "media": "QUJDREVG"}
REFUSED = [
    begin("a conversation of others", json={"conversation_id": "1-2", "total_bytes": 1},
          messages=["Could not find conversation with id: [1-2]."]),
    append("an upload of another user", 404, keys=NORTHBIKE, json=PART,
           problem="resource-not-found"),
    append("another conversation", 400, json=PART | {"conversation_id": "g1989200000000000001"},
           messages=["The upload is for the conversation"]),
    append("a part too far", 400, json=PART | {"segment_index": 1000}, messages=["segment_index"]),
    append("too many bytes", 400, json=PART | {"segment_index": 1},
           messages=["the upload has 12 bytes, and total_bytes is 6"]),
    append("an empty part", 400, json=PART | {"media": ""}, messages=["a segment must have"]),
    end("another number of parts", json={**NAMED, "num_parts": "2"},
        shows={"errors": [{"message": "1 parts have arrived, and num_parts is 2",
                           "parameters": {"num_parts": ["2"]}}]}),
    end("a part that is missing", json={**NAMED, "num_parts": "1"},
        given={("chat_media", OPEN): {"segments": {"1": 6}}}, messages=["segment 0 is missing"]),
    Refusal(f"GET /2/chat/media/{HARBOR_ID}-1/{DONE}", "media of others", 404, keys=HARBOR,
            problem="resource-not-found"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
