"""Metadata and subtitles of media, and what changes where the media are shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, NORTHBIKE, Sandbox, body_of

METADATA, SUBTITLES = "/2/media/metadata", "/2/media/subtitles"
IMAGE, VIDEO, FILE = "1712850617439560002", "1712850617439560005", "1712850617439560008"
AMPLIFY = "1712850617439560006"
POSTED, POST = "1712850617439550001", "1712850617439551489"
FOREIGN = "1712850617439560021"
SUBTITLED = "1712850617439560007"
ALL: Mapping[str, Any] = {
    "allow_download_status": {"allow_download": False},
    "alt_text": {"text": "x" * 1000},
    "audience_policy": {"creator_subscriptions": ["Any"], "platform_subscriptions": ["Any"]},
    "content_expiration": {"timestamp_sec": 1893456000},
    "domain_restrictions": {"whitelist": ["harbor-roasters.example"]},
    "found_media_origin": {"provider": "stickers", "id": "12"},
    "geo_restrictions": {"whitelisted_country_codes": ["DE"], "blacklisted_country_codes": []},
    "management_info": {"managed": True},
    "preview_image": {"media_key": {"media": IMAGE, "media_category": "PostImage"}},
    "sensitive_media_warning": {"adult_content": False, "graphic_violence": True, "other": False},
    "shared_info": {"shared": True},
    "sticker_info": {"stickers": [{"id": "7", "aspect_ratio": 1.5, "transform_tx": 0.25}]},
    "upload_source": {"upload_source": "camera"},
}


def send(box: Sandbox, path: str = METADATA, method: str = "POST", **body: Any) -> Any:
    """Send a body as the well-known user, and return the data of the answer."""
    answer = box.call(method, path, json=body)
    assert 200 == answer.status_code, answer.text
    return answer.get_json()["data"]


def read(box: Sandbox, path: str, **query: Any) -> Any:
    """Read something with the bearer token."""
    return box.read(path, keys=BEARER, **query)


def name_subtitles(language: str, **more: Any) -> dict[str, Any]:
    """The body for subtitles of the video in a language."""
    sent = {"id": FILE, "language_code": language, "display_name": language.title()}
    return {"id": VIDEO, "media_category": "PostVideo", "subtitles": sent} | more


def test_alt_text_of_a_post(box: Sandbox) -> None:
    """The alt text is shown with every post that has the media, and where media are looked up."""
    text = {"alt_text": {"text": "A glass of cold brew"}}
    assert {"id": POSTED, "associated_metadata": text} == send(box, id=POSTED, metadata=text)

    query = {"expansions": "attachments.media_keys", "media.fields": "alt_text"}
    post = read(box, f"/2/posts/{POST}", **query)
    media = read(box, "/2/media", media_keys=f"3_{POSTED}", **{"media.fields": "alt_text"})
    assert post["includes"]["media"] == media["data"]
    assert "A glass of cold brew" == media["data"][0]["alt_text"]


def test_all_metadata(box: Sandbox) -> None:
    """Every key is stored and shown back; what comes again replaces only what it names."""
    whole = send(box, id=VIDEO, metadata=ALL)
    later = send(box, id=VIDEO, metadata={"alt_text": {"text": "Latte art"}})

    assert ALL == whole["associated_metadata"]
    assert {**ALL, "alt_text": {"text": "Latte art"}} == later["associated_metadata"]
    assert later == send(box, id=VIDEO)
    query: Any = {"media.fields": "preview_image_url"}
    shown = box.read(f"/2/media/7_{VIDEO}", **query)
    assert shown["data"]["preview_image_url"].endswith("/winter-mug.jpg")


def test_metadata_stay_in_the_library(box: Sandbox) -> None:
    """Media that are added to a library of an account keep what was said about them."""
    send(box, id=IMAGE, metadata={"alt_text": {"text": "A mug"}})
    path = "/12/accounts/18ce54d4x5t/media_library"
    query = {"media_key": f"3_{IMAGE}", "name": "Mug", "media_category": "POST_IMAGE"}
    assert box.call("POST", path, query_string=query).status_code in {200, 201}

    fields: Any = {"media.fields": "alt_text"}
    shown = box.read(f"/2/media/3_{IMAGE}", **fields)
    assert "A mug" == shown["data"]["alt_text"]


def test_subtitles(box: Sandbox) -> None:
    """A language is added once, replaced by another file, and deleted; five are the most."""
    first = send(box, SUBTITLES, **name_subtitles("EN"))
    again = send(box, SUBTITLES, **name_subtitles("EN"))

    assert first == again
    named = {"id": VIDEO, "media_category": "PostVideo"}
    assert named | {"associated_subtitles": [name_subtitles("EN")["subtitles"]]} == first
    for language in ("DE", "FR", "PT", "IT"):
        shown = send(box, SUBTITLES, **name_subtitles(language))
    assert ["EN", "DE", "FR", "PT", "IT"] == [
        one["language_code"] for one in shown["associated_subtitles"]
    ]
    sixth = box.call("POST", SUBTITLES, json=name_subtitles("ES"))
    assert "at most 5 languages" in sixth.get_json()["errors"][0]["message"]
    named = named | {"language_code": "FR"}
    assert {"deleted": True} == send(box, SUBTITLES, "DELETE", **named)
    assert 404 == box.call("DELETE", SUBTITLES, json=named).status_code
    send(box, SUBTITLES, **name_subtitles("ES"))


def test_expired_uploads(box: Sandbox) -> None:
    """A file of subtitles that a video uses does not expire; one that waits a day does."""
    ids = []
    for _ in range(2):
        whole = {"media": "MQ==", "media_category": "subtitles", "media_type": "text/srt"}
        ids.append(box.call("POST", "/2/media/upload", json=whole).get_json()["data"]["id"])
    used = {"id": ids[0], "language_code": "EN"}
    send(box, SUBTITLES, **name_subtitles("EN", subtitles=used))
    box.advance(hours=24)

    send(box, SUBTITLES, **name_subtitles("EN", subtitles=used))
    late = box.call("POST", METADATA, json={"id": ids[1]})
    (error,) = body_of(late, 400)["errors"]
    assert f"The media [{ids[1]}] have expired" == error["message"]


def test_original_names(box: Sandbox) -> None:
    """Original words are taken and answered; the older category also in neutral mode."""
    headers = {"X-Mock-Names": "original"}
    body = {"id": SUBTITLED, "metadata": {"audience_policy": {"x_subscriptions": ["Any"]}}}
    said = box.call("POST", METADATA, json=body, headers=headers).get_json()["data"]
    older = name_subtitles("EN", media_category="TweetVideo")
    shown = box.call("POST", SUBTITLES, json=older, headers=headers).get_json()["data"]

    assert {"audience_policy": {"x_subscriptions": ["Any"]}} == said["associated_metadata"]
    assert "TweetVideo" == shown["media_category"]
    assert "PostVideo" == send(box, SUBTITLES, **older)["media_category"]


say = partial(Refusal, f"POST {METADATA}")
add = partial(Refusal, f"POST {SUBTITLES}")
REFUSED = [
    say("media of another", 403, json={"id": FOREIGN}, text="not authorized to change the media"),
    say("media without access", 403, json={"id": IMAGE}, keys=NORTHBIKE, problem="about:blank"),
    say("a long alt text", 400, messages=["1000"],
        json={"id": IMAGE, "metadata": {"alt_text": {"text": "x" * 1001}}}),
    say("no alt text", 400, json={"id": IMAGE, "metadata": {"alt_text": {}}}, messages=["text"]),
    say("a stamp without its moment", 400, messages=["timestamp_sec"],
        json={"id": IMAGE, "metadata": {"content_expiration": {}}}),
    say("countries on both lists", 400, messages=["exactly one"],
        json={"id": IMAGE, "metadata": {"geo_restrictions": {
            "whitelisted_country_codes": ["DE"], "blacklisted_country_codes": ["FR"]}}}),
    say("a preview that is a video", 400, messages=["are no image"],
        json={"id": VIDEO, "metadata": {"preview_image": {"media_key": {"media": VIDEO}}}}),
    add("subtitles without language", 400, json=name_subtitles("EN", subtitles={"id": FILE}),
        messages=["language_code"]),
    add("an image", 400, json=name_subtitles("EN", id=IMAGE), messages=["no video"]),
    add("another category", 400, json=name_subtitles("EN", id=AMPLIFY), messages=["no video"]),
    add("no subtitles", 400, messages=["no file of subtitles"],
        json=name_subtitles("EN", subtitles={"id": IMAGE, "language_code": "EN"})),
    Refusal(f"DELETE {SUBTITLES}", "subtitles of another", 403, problem="about:blank",
            keys=NORTHBIKE,
            json={"id": SUBTITLED, "media_category": "PostVideo", "language_code": "DE"}),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
