"""Direct messages: blocks, deletion, pages both ways, and the files that came with them."""

from __future__ import annotations

import base64
import json
import zlib
from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.media.uploads import CHUNK_BYTES
from mock_platform.api.v2.objects.relations import BLOCKS, DM_BLOCKS
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Keys, Sandbox
from tests.walks import walk_both_ways

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
GROUP, WITH_FILE = "1990226317110001664", "1990226318405828608"
RECEIVED, SENT, JOINED = "1990180010221305856", "1990181773551677440", "1990226317894123520"
BLOCK, UNBLOCK = f"/2/users/{OTHER}/dm/block", f"/2/users/{OTHER}/dm/unblock"
FILE = f"/2/dm_conversations/media/{WITH_FILE}/1712850617439560021/gravel-bike.jpg"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
)


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox in which both apps may write direct messages."""
    box.change("apps", "20993", _permissions=["read", "write", "direct_messages"])
    return box


def send(box: Sandbox, to: str, keys: Keys = HARBOR, status: int = 201, **body: Any) -> Any:
    """Send a message to a user, and return the answer."""
    path = f"/2/dm_conversations/with/{to}/messages"
    answer = box.call("POST", path, keys=keys, json=body or {"text": "Hello"})
    assert status == answer.status_code, answer.text
    return answer.get_json()


def takes(box: Sandbox, user: str, keys: Keys | str) -> bool:
    """Whether a user takes messages, as somebody sees it."""
    query: Any = {"user.fields": "receives_your_dm"}
    return bool(box.read(f"/2/users/{user}", keys=keys, **query)["data"]["receives_your_dm"])


def test_a_block(box: Sandbox) -> None:
    """Messages of the blocked are refused, and nothing else changes; twice is once."""
    for _ in range(2):
        assert {"data": {"blocked": True}} == box.call("POST", BLOCK).get_json()
    refused = send(box, OWN, NORTHBIKE, 403)

    assert "You do not have permission to DM one or more participants." == refused["detail"]
    assert [False, True, True] == [takes(box, OWN, keys) for keys in (NORTHBIKE, HARBOR, BEARER)]
    assert takes(box, OTHER, HARBOR)
    send(box, OTHER)
    body = {"conversation_type": "Group", "participant_ids": [OWN, INES], "message": {"text": "x"}}
    group = box.call("POST", "/2/dm_conversations", keys=NORTHBIKE, json=body)
    assert 403 == group.status_code
    assert BLOCKS.find(box.world, OWN, OTHER) is None
    for _ in range(2):
        assert {"data": {"blocked": False}} == box.call("POST", UNBLOCK).get_json()
    send(box, OWN, NORTHBIKE)
    assert DM_BLOCKS.find(box.world, OWN, OTHER) is None


@pytest.mark.parametrize("pair", [(OWN, OTHER), (OTHER, OWN)])
def test_a_block_of_the_account(box: Sandbox, pair: tuple[str, str]) -> None:
    """Whoever of two blocks the other, neither can write; a group that exists reaches all."""
    with box.world.work():
        BLOCKS.add(box.world, *pair)

    send(box, OTHER, HARBOR, 403)
    send(box, OWN, NORTHBIKE, 403)
    assert [False, False] == [takes(box, OTHER, HARBOR), takes(box, OWN, NORTHBIKE)]
    path = f"/2/dm_conversations/{GROUP}/messages"
    assert 201 == box.call("POST", path, json={"text": "All"}).status_code


def test_deletion(box: Sandbox) -> None:
    """A deleted message is gone from all reads of both users; a second deletion finds nothing."""
    path = f"/2/dm_events/{SENT}"
    assert {"data": {"deleted": True}} == box.call("DELETE", path).get_json()

    for keys in (HARBOR, NORTHBIKE):
        for read in ("/2/dm_events", f"/2/dm_conversations/{OWN}-{OTHER}/dm_events"):
            assert SENT not in box.call("GET", read, keys=keys).text
        assert 404 == box.call("GET", path, keys=keys).status_code
    assert 404 == box.call("DELETE", path).status_code


def test_pages_both_ways(box: Sandbox) -> None:
    """Tokens of 24 characters lead forward and back, and belong to one list of one user."""
    made = [send(box, INES, text=text)["data"]["dm_event_id"] for text in "01234"][::-1]
    path = f"/2/dm_conversations/with/{INES}/dm_events"
    pages, tokens = walk_both_ways(box, path, HARBOR, 2)

    assert [made[:2], made[2:4], made[4:]] == pages
    assert [(24, "ZZZZ")] * 2 == [(len(token), token[-4:]) for token in tokens]
    for keys, other in ((HARBOR, "/2/dm_events"), (NORTHBIKE, path)):
        box.read(other, keys=keys, status=400, max_results=2, pagination_token=tokens[0])


def upload(box: Sandbox, content: bytes, category: str, kind: str = "image/png") -> str:
    """Upload a file in two segments, the second one first; its media id."""
    begin = {"media_category": category, "media_type": kind, "total_bytes": len(content)}
    begun = box.call("POST", "/2/media/upload/initialize", json=begin).get_json()["data"]
    for index, part in ((1, content[30:]), (0, content[:30])):
        body = {"media": base64.b64encode(part).decode(), "segment_index": index}
        box.call("POST", f"/2/media/upload/{begun['id']}/append", json=body)
    box.call("POST", f"/2/media/upload/{begun['id']}/finalize")
    return str(begun["id"])


def download(box: Sandbox, sent: Any, media_id: str, extension: str) -> bytes:
    """Download the file of a message with the OAuth 2.0 token of the user."""
    event = sent["data"]["dm_event_id"]
    path = f"/2/dm_conversations/media/{event}/{media_id}/{media_id}.{extension}"
    answer = box.call("GET", path, keys=USER_TOKEN)
    assert (200, "application/octet-stream") == (answer.status_code, answer.mimetype)
    return bytes(answer.data)


@pytest.mark.parametrize(
    ("category", "kind", "extension"),
    [("dm_image", "image/png", "png"), ("dm_video", "video/mp4", "mp4")],
)
def test_a_file_is_downloaded(box: Sandbox, category: str, kind: str, extension: str) -> None:
    """What was uploaded for direct messages comes back byte by byte."""
    media_id = upload(box, PNG, category, kind)
    sent = send(box, OTHER, text="Look", attachments=[{"media_id": media_id}])
    assert PNG == download(box, sent, media_id, extension)


def test_files_that_are_not_kept(box: Sandbox) -> None:
    """Of other media a file of the kind is made up, with the size of the image."""
    made = box.call("GET", FILE, keys=USER_TOKEN).data
    video = upload(box, PNG, "post_video", "video/mp4")
    clip = download(box, send(box, OTHER, attachments=[{"media_id": video}]), video, "mp4")

    assert (1200, 628) == (int.from_bytes(made[16:20]), int.from_bytes(made[20:24]))
    assert 628 * 1201 == len(zlib.decompress(made[41:-16]))
    assert b"ftypmp42" == clip[4:12]
    assert 32 + len(PNG) == len(clip)
    assert made == box.call("GET", FILE, keys=USER_TOKEN).data


def test_an_image_that_says_it_is_huge(box: Sandbox) -> None:
    """A side of a made up image has at most 4,096 pixels."""
    header = PNG[:16] + b"\x7f\xff\xff\xff\x00\x00\x00\x02" + PNG[24:]
    media_id = upload(box, header, "post_image")
    made = download(box, send(box, OTHER, attachments=[{"media_id": media_id}]), media_id, "png")
    assert (4096, 2) == (int.from_bytes(made[16:20]), int.from_bytes(made[20:24]))


@pytest.mark.parametrize(("size", "kept"), [(CHUNK_BYTES, 2), (CHUNK_BYTES + 1, 0)])
def test_what_is_kept(box: Sandbox, size: int, kept: int) -> None:
    """Files of up to 5 MiB are kept, larger ones are not."""
    media_id = upload(box, bytes(size), "dm_gif", "image/gif")
    assert kept == box.world.store.count("media_contents", {"media_id": media_id})


def test_a_download_is_in_the_journal(box: Sandbox) -> None:
    """The journal shows a download without failing at its bytes."""
    box.call("GET", FILE, keys=USER_TOKEN)
    entry = box.client.get("/_mock/requests?limit=1")
    assert "dm_conversations.download" in json.dumps(entry.get_json())


ask = partial(Refusal, keys=USER_TOKEN)
delete = partial(Refusal, problem="about:blank", text="not allowed to delete")
REFUSED = [
    Refusal(f"POST /2/users/{OWN}/dm/block", "oneself", 400, messages=["your own"]),
    Refusal(f"POST {BLOCK}", "an app without permission", 403, messages=["not allowed"],
            given={("apps", "11827"): {"_permissions": ["read"]}}),
    delete(f"DELETE /2/dm_events/{RECEIVED}", "a message of the other", 403),
    delete(f"DELETE /2/dm_events/{JOINED}", "a join", 403),
    Refusal(f"DELETE /2/dm_events/{WITH_FILE}", "an event of others", 404,
            problem="resource-not-found",
            given={("direct_messages", WITH_FILE): {"_participants": [INES, OTHER]}}),
    ask(f"GET {FILE.replace('gravel', 'city')}", "another name", 404,
        problem="resource-not-found"),
    ask(f"GET {FILE.replace('560021', '560022')}", "another file", 404,
        problem="resource-not-found"),
    ask(f"GET {FILE.replace(WITH_FILE, RECEIVED)}", "a message without files", 404,
        problem="resource-not-found"),
    ask(f"GET {FILE}", "a file of others", 404, problem="resource-not-found",
        given={("direct_messages", WITH_FILE): {"_participants": [INES, OTHER]}}),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
