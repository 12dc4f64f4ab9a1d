"""Uploads of the older interface: whole files, segments, and what is said about media."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from io import BytesIO
from typing import Any

import pytest

from tests.api.older.numbers import invalid, numbers
from tests.images import make_png
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, Sandbox, body_of

UPLOAD = "/1.1/media/upload.json"
PNG = make_png(16, 9)
ENCODED = b64encode(PNG).decode()
OWN_IMAGE = "1712850617439560002"


def send(box: Sandbox, status: int = 200, **form: Any) -> Any:
    """The answer to a multipart form."""
    answer = box.call("POST", UPLOAD, data=form, content_type="multipart/form-data")
    assert status == answer.status_code, answer.text
    return answer.get_json() if answer.data else None


@pytest.mark.parametrize(
    "form",
    [lambda: {"media": (BytesIO(PNG), "x.png")}, lambda: {"media_data": ENCODED}],
    ids=["multipart", "base64"],
)
def test_a_whole_file(box: Sandbox, form: Any) -> None:
    """An image has its sizes, and can be used in posts of v2 and in the library of an account."""
    made = send(box, **form())
    post = {"text": "Look", "media": {"media_ids": [made["media_id_string"]]}}
    posted = body_of(box.call("POST", "/2/posts", json=post), 201)["data"]["id"]
    added = box.call("POST", f"/12/accounts/{ACCOUNT}/media_library",
                     query_string={"media_key": made["media_key"]})  # fmt: skip
    media = box.read(f"/1.1/statuses/show/{posted}.json")["extended_entities"]["media"]

    assert int(made["media_id_string"]) == made["media_id"]
    assert {"image_type": "image/png", "w": 16, "h": 9} == made["image"]
    assert (len(PNG), 86_400) == (made["size"], made["expires_after_secs"])
    assert [made["media_id_string"]] == [one["id_str"] for one in media]
    assert 200 == added.status_code


@pytest.mark.parametrize("category", ["tweet_video", "TWEET_VIDEO", "PostVideo", "TweetVideo"])
def test_segments(box: Sandbox, category: str) -> None:
    """A video in two segments, in whichever order; the words about it are shown with posts."""
    begun = send(box, 202, command="INIT", media_type="video/mp4", total_bytes="20",
                 media_category=category)  # fmt: skip
    id_ = begun["media_id_string"]
    for index in (1, 0):
        part = {"media": (BytesIO(b"x" * 10), "blob"), "segment_index": str(index)}
        assert send(box, 204, command="APPEND", media_id=id_, **part) is None
    ended = send(box, 201, command="FINALIZE", media_id=id_)
    asked = box.read(UPLOAD, command="STATUS", media_id=id_)

    assert {"video_type": "video/mp4"} == ended["video"]
    assert ("7", 20) == (ended["media_key"].partition("_")[0], ended["size"])
    assert "succeeded" == asked["processing_info"]["state"]


def test_words_and_other_owners(box: Sandbox) -> None:
    """Alternative text is shown in both interfaces; other owners may use the media."""
    made = send(box, media_data=ENCODED, additional_owners="3805104374")
    id_ = made["media_id_string"]
    said = box.call("POST", "/1.1/media/metadata/create.json",
                    json={"media_id": id_, "alt_text": {"text": "A mug"}})  # fmt: skip
    post = box.call("POST", "/1.1/statuses/update.json", keys=NORTHBIKE, form={"media_ids": id_})
    query = {"media_keys": made["media_key"], "media.fields": "alt_text"}

    assert (200, b"") == (said.status_code, said.data)
    assert "A mug" == body_of(post)["entities"]["media"][0]["ext_alt_text"]
    assert "A mug" == box.read("/2/media", **query)["data"][0]["alt_text"]


def test_gaps_and_excess(box: Sandbox) -> None:
    """Segments that are missing, too many or too large are refused, and can be sent again."""
    init = {"command": "INIT", "media_type": "video/mp4", "total_bytes": "4"}
    id_ = send(box, 202, **init)["media_id_string"]
    append = partial(send, box, command="APPEND", media_id=id_)
    append(204, media_data="eHg=", segment_index="1")
    gap = send(box, 400, command="FINALIZE", media_id=id_)
    excess = append(400, media_data="eHh4", segment_index="0")
    append(204, media_data="eHg=", segment_index="0")

    assert (324, 324) == (gap["errors"][0]["code"], excess["errors"][0]["code"])
    assert "segment 0 is missing" in gap["errors"][0]["message"]
    assert id_ == send(box, 201, command="FINALIZE", media_id=id_)["media_id_string"]


@pytest.mark.parametrize("category", ["TweetVideo", "tweet_video"])
def test_subtitles(box: Sandbox, category: str) -> None:
    """A video gets subtitles in a language, in any case, and loses them again."""
    video = "7_1712850617439560005"
    about = {"media_id": video[2:], "media_category": category}

    def change(verb: str, **subtitle: str) -> tuple[int, bytes]:
        body = about | {"subtitle_info": {"subtitles": [{"language_code": "en", **subtitle}]}}
        answer = box.call("POST", f"/1.1/media/subtitles/{verb}.json", json=body)
        return answer.status_code, answer.data

    made = change("create", media_id="1712850617439560008", display_name="English")
    kept = box.record("media", video)["_subtitles"]
    ended = change("delete")

    assert (200, b"") == made == ended
    assert [("EN", "English")] == [(one["language_code"], one["display_name"]) for one in kept]
    assert [] == box.record("media", video)["_subtitles"]


upload = partial(Refusal, f"POST {UPLOAD}")
INIT = {"command": "INIT", "media_type": "video/mp4"}
subtitles = partial(Refusal, "POST /1.1/media/subtitles/create.json")
REFUSED = [
    subtitles("subtitles without a file", 400, shows=numbers(38),
              json={"media_id": "1712850617439560005", "media_category": "TweetVideo",
                    "subtitle_info": {"subtitles": [{"language_code": "EN"}]}}),
    subtitles("subtitles for an image", 403, shows=numbers(87),
              json={"media_id": OWN_IMAGE, "media_category": "TweetVideo", "subtitle_info": {
                  "subtitles": [{"language_code": "EN", "media_id": "1712850617439560008"}]}}),
    subtitles("subtitles of an image's category", 400, shows=invalid("media_category"),
              json={"media_id": OWN_IMAGE, "media_category": "TweetImage", "subtitle_info": {
                  "subtitles": [{"language_code": "EN", "media_id": "1712850617439560008"}]}}),
    upload("nothing", 400, json={}, shows=numbers(38)),
    upload("content that is no base64", 400, json={"media_data": "?"},
           shows=invalid("media_data")),
    upload("a command that there is not", 400, json={"command": "BEGIN"}, shows=invalid("command")),
    upload("a negative segment", 400, shows=invalid("segment_index"),
           json={"command": "APPEND", "media_id": "99", "media_data": "eHg=", "segment_index": -1}),
    upload("a video in one request", 400, shows=numbers(324),
           json={"media_data": "eHg=", "media_type": "video/mp4"}),
    upload("an image of 5 MiB and one byte", 400, shows=numbers(324),
           json={"media_data": b64encode(PNG + b"x" * (5_242_881 - len(PNG))).decode()}),
    upload("an upload without its size", 400, json=INIT, shows=numbers(38)),
    upload("a type that the category does not take", 400, shows=numbers(324),
           json=INIT | {"total_bytes": 9, "media_category": "tweet_image"}),
    upload("a segment of an unknown upload", 400, shows=numbers(325),
           json={"command": "APPEND", "media_id": "99", "media_data": "eHg=", "segment_index": 0}),
    upload("the end of an unknown upload", 400, shows=numbers(325),
           json={"command": "FINALIZE", "media_id": "99"}),
    Refusal(f"GET {UPLOAD}", "the state of media of somebody else", 400, keys=NORTHBIKE,
            query={"media_id": OWN_IMAGE}, shows=numbers(325)),
    Refusal("POST /1.1/media/metadata/create.json", "words about media of somebody else", 403,
            keys=NORTHBIKE, json={"media_id": OWN_IMAGE}, shows=numbers(87)),
    Refusal("POST /1.1/media/metadata/create.json", "words about unknown media", 400,
            json={"media_id": "99"}, shows=numbers(325)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    row.check(box)
