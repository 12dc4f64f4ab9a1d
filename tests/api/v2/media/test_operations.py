"""Media are uploaded at once or in segments, are processed, and can be used afterwards."""

from __future__ import annotations

import base64
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse, encode_multipart

from mock_platform.api.v2.media.uploads import (
    CATEGORIES,
    CHUNK_BYTES,
    MOST_BYTES,
    SIMPLE,
    explain_unusable,
    find_own_media,
    keep_media,
)
from mock_platform.world.store.interface import Record
from tests.api.oauth.app_client import messages
from tests.images import make_png
from tests.refusals import Refusal, make_refusal_test
from tests.support import ACCOUNT, HARBOR, NORTHBIKE, Keys, Sandbox, data_of
from tests.support_replay import NOW

SETTINGS = {"freeze": NOW}
PATH = "/2/media/upload"
USER, OTHER_USER = "2244994945", "3805104374"
PNG = make_png(1200, 628)
VIDEO = b"\x00\x00\x00\x18ftypmp42" + bytes(2000)
DAY = 86_400


def write_form(content: bytes | None, **values: str) -> dict[str, Any]:
    """The options of a request whose multipart form has values and perhaps a file."""
    boundary, others = encode_multipart(values, boundary="cut")
    head = b'--cut\r\nContent-Disposition: form-data; name="media"; filename="file"\r\n\r\n'
    file = b"" if content is None else head + content
    return {"data": file + others, "content_type": f"multipart/form-data; boundary={boundary}"}


def encode(content: bytes) -> str:
    """A content as JSON carries it."""
    return base64.b64encode(content).decode()


IMAGE = {"media": encode(PNG), "media_category": "post_image"}
WHOLE = {"media_type": "video/mp4", "media_category": "post_video", "total_bytes": len(VIDEO)}


def send(box: Sandbox, step: str = "", **more: Any) -> TestResponse:
    """Send a request of the well-known user to an address below that of uploads."""
    return box.call("POST", f"{PATH}{step}", **more)


def upload_image(box: Sandbox, content: bytes = PNG, keys: Keys = HARBOR, **body: Any) -> Any:
    """Upload a whole image; the data of the answer."""
    whole = IMAGE | {"media": encode(content)} | body
    return data_of(send(box, json=whole, keys=keys))


def begin(box: Sandbox, **body: Any) -> str:
    """Begin an upload; its id."""
    return str(data_of(send(box, "/initialize", json=WHOLE | body))["id"])


def append(box: Sandbox, media_id: str, content: bytes = VIDEO, index: int = 0) -> TestResponse:
    """Add a segment."""
    body = {"media": encode(content), "segment_index": index}
    return send(box, f"/{media_id}/append", json=body)


def finalize(box: Sandbox, media_id: str) -> TestResponse:
    """Finish an upload."""
    return send(box, f"/{media_id}/finalize")


def ask(box: Sandbox, media_id: str, keys: Keys = HARBOR) -> TestResponse:
    """Ask how far an upload is."""
    return box.ask("GET", PATH, keys=keys, command="STATUS", media_id=media_id)


def upload_video(box: Sandbox) -> Any:
    """Upload a whole video; the data of the answer."""
    media_id = begin(box)
    assert 200 == append(box, media_id).status_code
    return data_of(finalize(box, media_id))


def advance(box: Sandbox, seconds: float) -> None:
    """Let the clock go on."""
    box.world.clock.advance(seconds)


# -- whole images ----------------------------------------------------------------------------------


def test_an_image(box: Sandbox) -> None:
    """The answer has id, key, size and how long it waits; the record the sizes of the file."""
    data = upload_image(box)
    media = box.record("media", data["media_key"])

    key = f"3_{data['id']}"
    assert {"id": data["id"], "media_key": key, "size": len(PNG), "expires_after_secs": DAY} == data
    assert ("IMAGE", "POST_IMAGE") == (media["media_type"], media["media_category"])
    assert (1200, 628, USER) == (media["_width"], media["_height"], media["_user_id"])
    assert media["media_url"].endswith(".png")


@pytest.mark.parametrize(
    "more", [write_form(PNG, media_category="post_image"), {"form": IMAGE}], ids=["parts", "form"]
)
def test_forms(box: Sandbox, more: dict[str, Any]) -> None:
    """A multipart form carries the bytes themselves, a signed form base64 like JSON."""
    data = data_of(send(box, **more))
    assert (len(PNG), 1200) == (data["size"], box.record("media", data["media_key"])["_width"])


@pytest.mark.parametrize("name", sorted(CATEGORIES))
def test_categories(box: Sandbox, name: str) -> None:
    """Images and subtitles are uploaded at once, everything else in segments."""
    content = b"WEBVTT" if name == "subtitles" else PNG
    answer = send(box, json={"media": encode(content), "media_category": name})

    if name in SIMPLE:
        assert 200 == answer.status_code
    else:
        (message,) = messages(answer)
        assert "post_image, dm_image, subtitles" in message
        assert f"upload {name} in segments" in message


@pytest.mark.parametrize(
    ("size", "accepted"), [(0, False), (1, True), (5_242_880, True), (5_242_881, False)]
)
def test_size(box: Sandbox, size: int, accepted: bool) -> None:
    """An image has 1 byte to 5 MiB."""
    answer = send(box, **write_form(bytes(size), media_category="post_image"))

    assert accepted == (200 == answer.status_code)
    if not accepted:
        assert [f"post_image must have 1 to 5242880 bytes, got {size}"] == messages(answer)
        assert {"media": []} == answer.get_json()["errors"][0]["parameters"]


def test_content_is_not_repeated(box: Sandbox) -> None:
    """A refusal does not repeat the content."""
    assert len(send(box, json=IMAGE | {"media": "=" * 100_000}).data) < 60_000


def test_unknown_content(box: Sandbox) -> None:
    """A content that is no known image is accepted with a warning."""
    answer = send(box, json=IMAGE | {"media": encode(b"pixels")})
    media = box.record("media", data_of(answer)["media_key"])
    assert (None, None) == (media["_width"], media["_height"])
    assert "no-effect" in answer.headers["X-Mock-Warnings"]


# -- segments --------------------------------------------------------------------------------------


def test_story(box: Sandbox) -> None:
    """A video of three segments becomes media of the user, and can be finished again."""
    parts = [VIDEO[:700], VIDEO[700:1400], VIDEO[1400:]]
    begun = data_of(send(box, "/initialize", json=WHOLE | {"media_category": "amplify_video"}))
    added = [data_of(append(box, begun["id"], part, n)) for n, part in enumerate(parts)]
    done = data_of(finalize(box, begun["id"]))
    again = finalize(box, begun["id"])

    key = f"13_{begun['id']}"
    assert {"id": begun["id"], "media_key": key, "expires_after_secs": DAY} == begun
    expiry = int(box.world.clock.now().timestamp()) + DAY
    assert [{"expires_at": expiry}] * 3 == added
    info = {"state": "succeeded", "progress_percent": 100}
    assert done == data_of(again) == begun | {"size": len(VIDEO), "processing_info": info}
    assert "media.finished-twice" in again.headers["X-Mock-Assumptions"]
    media = box.record("media", key)
    assert ("VIDEO", "AMPLIFY_VIDEO") == (media["media_type"], media["media_category"])


@pytest.mark.parametrize("form", ["query", "form", "json", "multipart"])
def test_commands(box: Sandbox, form: str) -> None:
    """The guide's way: each step is a command on the path of the upload."""

    def step(**values: Any) -> Any:
        text = {name: str(value) for name, value in values.items() if name != "media"}
        if form == "json":
            more = {"media": encode(values["media"])} if "media" in values else {}
            return data_of(send(box, json=values | more))
        if form == "multipart" or "media" in values:
            return data_of(send(box, **write_form(values.get("media"), **text)))
        sent: Any = {"query_string": text} if form == "query" else {"form": text}
        return data_of(send(box, **sent))

    begun = step(command="INIT", media_type="image/png", total_bytes=len(PNG))
    step(command="APPEND", media_id=begun["id"], segment_index=0, media=PNG)
    done = step(command="FINALIZE", media_id=begun["id"])

    assert len(PNG) == done["size"]
    media = box.record("media", done["media_key"])
    assert [1200, "IMAGE", None] == [
        media[name] for name in ("_width", "media_type", "media_category")
    ]


def test_any_order(box: Sandbox) -> None:
    """Segments may come in any order, and again."""
    media_id = begin(box)
    append(box, media_id, VIDEO[:9], 1)
    append(box, media_id, VIDEO[1000:], 1)
    append(box, media_id, VIDEO[:1000], 0)

    assert len(VIDEO) == data_of(finalize(box, media_id))["size"]


def test_missing_segment(box: Sandbox) -> None:
    """A gap is refused, and the upload goes on."""
    media_id = begin(box)
    append(box, media_id, VIDEO[:10], 0)
    append(box, media_id, VIDEO[10:], 2)

    assert ["segment 1 is missing; the upload has 0, 2"] == messages(finalize(box, media_id))
    assert begin(box) != media_id


def test_missing_bytes(box: Sandbox) -> None:
    """An upload must have all its bytes; one byte less is refused."""
    media_id, whole = begin(box), len(VIDEO)
    assert [f"0 of {whole} bytes have arrived"] == messages(finalize(box, media_id))
    append(box, media_id, VIDEO[:-1])
    assert [f"{whole - 1} of {whole} bytes have arrived"] == messages(finalize(box, media_id))
    append(box, media_id, VIDEO[-1:], 1)

    assert 200 == finalize(box, media_id).status_code


def test_too_many_bytes(box: Sandbox) -> None:
    """A segment that goes beyond total_bytes is refused."""
    media_id = begin(box, total_bytes=10)
    assert 200 == append(box, media_id, VIDEO[:10]).status_code
    (message,) = messages(append(box, media_id, b"x", 1))
    assert "has 11 bytes, and total_bytes is 10" in message


@pytest.mark.parametrize(
    ("size", "status"), [(0, 400), (1, 200), (CHUNK_BYTES, 200), (CHUNK_BYTES + 1, 400)]
)
def test_size_of_a_segment(box: Sandbox, size: int, status: int) -> None:
    """A segment has 1 byte to 5 MiB."""
    path = f"/{begin(box, total_bytes=MOST_BYTES)}/append"
    form = write_form(bytes(size), segment_index="0")
    assert status == send(box, path, **form).status_code


@pytest.mark.parametrize(("index", "status"), [(-1, 400), (0, 200), (999, 200), (1000, 400)])
def test_index(box: Sandbox, index: int, status: int) -> None:
    """An upload has 1,000 segments, the first of which is 0."""
    assert status == append(box, begin(box), index=index).status_code


@pytest.mark.parametrize(
    ("category", "file_type", "most"),
    [("post_image", "image/jpeg", 5 * 1024 * 1024), ("post_gif", "image/gif", 15 * 1024 * 1024),
     ("post_video", "video/mp4", MOST_BYTES)],
)  # fmt: skip
def test_total(box: Sandbox, category: str, file_type: str, most: int) -> None:
    """The size of a file is limited by its category."""
    body = {"media_type": file_type, "media_category": category}
    statuses = [
        send(box, "/initialize", json=body | {"total_bytes": total}).status_code
        for total in (0, 1, most, most + 1)
    ]

    assert [400, 200, 200, 400] == statuses


def test_memory(box: Sandbox) -> None:
    """Of the content, nothing is kept but its size."""
    media_id = begin(box, total_bytes=MOST_BYTES)
    append(box, media_id, b"cayenne sauce" * 1000)
    assert {"0": 13_000} == box.record("uploads", media_id)["segments"]
    assert "cayenne" not in box.client.get("/_mock/state").text


post = partial(Refusal, f"POST {PATH}", status=400)
COMMANDS = {
    "INIT": ("media_type", "total_bytes"),
    "APPEND": ("media_id", "media", "segment_index"),
    "FINALIZE": ("media_id",),
}
REFUSED = [
    post("no content", json={"media_category": "post_image"}, messages=["media is required"]),
    post("no category", json={"media": encode(PNG)}, messages=["media_category is required"]),
    post("no base64", json=IMAGE | {"media": "no base64!"}, messages=["base64"]),
    post("another type than that of the category", json=IMAGE | {"media_type": "image/gif"},
         messages=["media_type"]),
    post("a file of another type", json=IMAGE | {"media": encode(b"GIF89a" + bytes(20))},
         messages=["media is image/gif, which is not accepted for post_image"]),
    Refusal(f"POST {PATH}", "another type of body", 415, problem="about:blank",
            more={"data": b"x", "content_type": "text/plain"},
            text="application/json or multipart/form-data"),
    post("no object", json=[], messages=["The body must be an object."]),
    post("no parts", more={"data": b"x", "content_type": "multipart/form-data"},
         problem="invalid-request"),
    *(
        post(f"nothing that {command} needs", json={"command": command},
             messages=[f"{name} is required with command {command}" for name in missing])
        for command, missing in COMMANDS.items()
    ),
    Refusal(f"POST {PATH}/initialize", "a type of another category", 400,
            json=WHOLE | {"media_type": "image/png"},
            messages=["media_type must be one of video/mp4"]),
    Refusal(f"POST {PATH}/initialize", "neither type nor size", 400, json={},
            messages=["media_type", "total_bytes"]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_a_segment_of_nothing(box: Sandbox) -> None:
    """Content and index of a segment are required."""
    assert 2 == len(messages(send(box, f"/{begin(box)}/append", json={})))


# -- access ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "parameter"), [(append, "id"), (finalize, "id"), (ask, "media_id")]
)
def test_unknown(box: Sandbox, step: Any, parameter: str) -> None:
    """An unknown upload is not found."""
    body = step(box, "77").get_json()
    assert (404, "media", "77") == (body["status"], body["resource_type"], body["resource_id"])
    assert f"Could not find media with {parameter}: [77]." == body["detail"]


def test_another_user(box: Sandbox) -> None:
    """What another user uploads does not exist for this one, unless it is shared."""
    mine, shared = begin(box), begin(box, additional_owners=[OTHER_USER])
    for media_id in (mine, shared):
        append(box, media_id)
        assert 404 == ask(box, media_id, NORTHBIKE).status_code
        finalize(box, media_id)

    assert [404, 200] == [ask(box, each, NORTHBIKE).status_code for each in (mine, shared)]


def test_expiry_of_an_upload(box: Sandbox) -> None:
    """An upload can be continued for 24 hours."""
    early, late = begin(box), begin(box)
    advance(box, DAY - 1)
    assert 200 == append(box, early).status_code
    assert 1 == data_of(ask(box, late))["expires_after_secs"]
    advance(box, 1)

    assert 404 == append(box, late).status_code
    assert 404 == finalize(box, early).status_code


def test_a_moment_after_the_start(box: Sandbox) -> None:
    """A second that has begun counts whole: a new upload exists for 86,400 seconds."""
    begun, left = begin(box), []
    for seconds in (0.004, 0.996):
        advance(box, seconds)
        left.append(data_of(ask(box, begun))["expires_after_secs"])

    assert [DAY, DAY - 1] == left


def test_expiry_of_media(box: Sandbox) -> None:
    """Media are gone after 24 hours, unless something refers to them."""
    used, unused = upload_image(box)["id"], upload_image(box)["id"]

    def find(media_id: str) -> Record | None:
        return find_own_media(box.world, USER, media_id)

    with box.world.work():
        keep_media(box.world, find(used) or {})
    advance(box, DAY - 1)
    assert find(unused) is not None
    advance(box, 1)

    assert find(unused) is None
    assert find(used) is not None
    assert "expires_after_secs" not in data_of(ask(box, used))
    assert 404 == ask(box, unused).status_code


# -- processing ------------------------------------------------------------------------------------


def set_pace(box: Sandbox, progression: str, **more: Any) -> None:
    """Say how processing moves."""
    with box.world.work():
        box.world.transitions.set_pace("media_upload", progression=progression, **more)


def get_info(box: Sandbox, done: Any) -> Any:
    """How far the processing is."""
    return data_of(ask(box, done["id"]))["processing_info"]


def test_polls(box: Sandbox) -> None:
    """With polls, STATUS is asked until the video is processed; images are not processed."""
    set_pace(box, "polls", polls=2)
    done = upload_video(box)

    assert {"state": "pending", "check_after_secs": 1} == done["processing_info"]
    assert [
        {"state": "in_progress", "check_after_secs": 1},
        {"state": "succeeded", "progress_percent": 100},
    ] == [get_info(box, done) for _ in range(2)]
    assert "processing_info" not in upload_image(box)


def test_time(box: Sandbox) -> None:
    """With time, the answer says how far it is and when to ask again."""
    set_pace(box, "time", seconds=40)
    done = upload_video(box)
    advance(box, 10)
    info = get_info(box, done)
    advance(box, 30)

    assert {"state": "in_progress", "check_after_secs": 30, "progress_percent": 25} == info
    assert "succeeded" == get_info(box, done)["state"]


def add_to_library(box: Sandbox, key: str) -> TestResponse:
    """Add uploaded media to the library of an account."""
    return box.ask("POST", f"/12/accounts/{ACCOUNT}/media_library", media_key=key)


def test_failure(box: Sandbox) -> None:
    """A video whose processing has failed cannot be used."""
    set_pace(box, "manual")
    done = upload_video(box)
    key = done["media_key"]

    def explain() -> str | None:
        return explain_unusable(box.world, box.record("media", key))

    assert "it is still being processed" == explain()
    box.client.post(f"/_mock/transitions/media_upload/{key}", json={"to": "failed"})

    assert {"state": "failed"} == get_info(box, done)
    assert "its processing has failed; upload it again" == explain()
    assert 400 == add_to_library(box, key).status_code


# -- use -------------------------------------------------------------------------------------------


def test_an_image_in_a_library(box: Sandbox) -> None:
    """The uploader adds an image to the library of an account, and it stays."""
    data = upload_image(box)
    named = {"id": data["id"], "media_key": data["media_key"]}

    assert data["media_key"] == data_of(add_to_library(box, data["media_key"]))["media_key"]
    advance(box, 2 * DAY)
    assert named == data_of(ask(box, data["id"]))


def test_what_is_in_no_library(box: Sandbox) -> None:
    """Media without a category, those of a user without the account, and expired ones."""
    body = {"media_type": "image/png", "total_bytes": len(PNG)}
    media_id = data_of(send(box, "/initialize", json=body))["id"]
    append(box, media_id, PNG)
    bare = add_to_library(box, data_of(finalize(box, media_id))["media_key"])
    foreign, late = upload_image(box, keys=NORTHBIKE)["media_key"], upload_image(box)["media_key"]

    assert ["INVALID_MEDIA"] == [error["code"] for error in bare.get_json()["errors"]]
    assert 404 == add_to_library(box, foreign).status_code
    advance(box, DAY)
    assert 404 == add_to_library(box, late).status_code


def post_with(box: Sandbox, media_id: str, keys: Keys = HARBOR) -> TestResponse:
    """Post with a medium."""
    body = {"text": "New cups", "media": {"media_ids": [media_id]}}
    return box.call("POST", "/2/posts", json=body, keys=keys)


def test_an_image_in_a_post(box: Sandbox) -> None:
    """An image that was used stays, and is found by the expansion."""
    media_id = upload_image(box)["id"]
    made = data_of(post_with(box, media_id), 201)["id"]
    advance(box, 2 * DAY)
    query: Any = {"expansions": "attachments.media_keys", "media.fields": "width,height,url"}
    answer = box.read(f"/2/posts/{made}", **query)

    assert {"media_keys": [f"3_{media_id}"]} == answer["data"]["attachments"]
    (shown,) = answer["includes"]["media"]
    assert ("photo", 1200, 628) == (shown["type"], shown["width"], shown["height"])
    assert shown["url"].endswith(f"{media_id}.png")


def test_an_image_in_a_message(box: Sandbox) -> None:
    """An image is sent in a direct message, by its owner alone, and stays then."""
    path = "/2/dm_conversations/with/{}/messages"
    media_id = upload_image(box)["id"]
    body = {"attachments": [{"media_id": media_id}]}
    refused = box.call("POST", path.format(USER), json=body, keys=NORTHBIKE)
    sent = box.call("POST", path.format(OTHER_USER), json=body)

    assert (201, False) == (sent.status_code, refused.status_code == 201)
    assert box.record("media", f"3_{media_id}")["_expires_at"] is None


def test_what_is_in_no_post(box: Sandbox) -> None:
    """What is being processed, media of another user, subtitles, and expired ones."""
    set_pace(box, "time", seconds=5)
    video, image = upload_video(box)["id"], upload_image(box)["id"]
    subtitles = upload_image(box, b"WEBVTT", media_category="subtitles")["id"]

    for media_id, keys in ((video, HARBOR), (image, NORTHBIKE), (subtitles, HARBOR)):
        assert ["Your media IDs are invalid."] == messages(post_with(box, media_id, keys))
    advance(box, 5)
    assert 201 == post_with(box, video).status_code
    advance(box, DAY)
    assert 1 == len(messages(post_with(box, image)))
