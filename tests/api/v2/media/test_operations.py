"""Media are uploaded at once or in segments, are processed, and can be used afterwards."""

from __future__ import annotations

import base64
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
from tests.api.oauth.app_client import AppClient, messages
from tests.images import make_png
from tests.support import ACCOUNT, HARBOR, NORTHBIKE, Keys, signed
from tests.support_replay import Desk

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
    return {
        "data": file + others,
        "content_type": f"multipart/form-data; boundary={boundary}",
    }


def encode(content: bytes) -> str:
    """A content as JSON carries it."""
    return base64.b64encode(content).decode()


class Client(AppClient):
    """Uploads as a user."""

    path = PATH

    def send(
        self, path: str = PATH, *, keys: Keys | None = HARBOR, method: str = "POST", **more: Any
    ) -> TestResponse:
        """Send a request that a user signed."""
        return self.call(method, path, keys=keys, **more)

    def image(self, content: bytes = PNG, **body: Any) -> TestResponse:
        """Upload a whole image."""
        whole = {"media": encode(content), "media_category": "post_image"} | body
        return self.send(json={name: value for name, value in whole.items() if value is not None})

    def begin(self, total: int = len(VIDEO), **body: Any) -> str:
        """Begin an upload; its id."""
        whole = {"media_type": "video/mp4", "media_category": "post_video", "total_bytes": total}
        return self.data(self.send(f"{PATH}/initialize", json=whole | body))["id"]  # type: ignore[no-any-return]

    def append(self, media_id: str, content: bytes = VIDEO, index: int = 0) -> TestResponse:
        """Add a segment."""
        body = {"media": encode(content), "segment_index": index}
        return self.send(f"{PATH}/{media_id}/append", json=body)

    def finalize(self, media_id: str) -> TestResponse:
        """Finish an upload."""
        return self.send(f"{PATH}/{media_id}/finalize")

    def status(self, media_id: str, **more: Any) -> TestResponse:
        """Ask how far an upload is."""
        return self.send(f"{PATH}?command=STATUS&media_id={media_id}", method="GET", **more)

    def video(self) -> dict[str, Any]:
        """Upload a whole video."""
        media_id = self.begin()
        assert 200 == self.append(media_id).status_code
        return self.data(self.finalize(media_id))

    def data(self, answer: TestResponse) -> dict[str, Any]:
        """The data of a success."""
        assert 200 == answer.status_code, answer.get_data(as_text=True)
        found: dict[str, Any] = answer.get_json()["data"]
        return found

    def media(self, key: str) -> dict[str, Any]:
        """Media as stored."""
        return self.desk.record("media", key)


class TestWhole:
    """Images are uploaded in one request."""

    def test_answer(self, client: Client) -> None:
        """The answer has the id, the key, the size, and how long the image waits to be used."""
        data = client.data(client.image())

        assert {
            "id": data["id"],
            "media_key": f"3_{data['id']}",
            "size": len(PNG),
            "expires_after_secs": DAY,
        } == data

    def test_record(self, client: Client) -> None:
        """The image is media of the user, with the sizes that its file says."""
        media = client.media(client.data(client.image())["media_key"])

        assert ("IMAGE", "POST_IMAGE") == (media["media_type"], media["media_category"])
        assert (1200, 628, USER) == (media["_width"], media["_height"], media["_user_id"])
        assert media["media_url"].endswith(".png")

    def test_multipart(self, client: Client) -> None:
        """A multipart form carries the bytes themselves."""
        form = write_form(PNG, media_category="post_image")

        data = client.data(client.send(**form))

        assert (len(PNG), 1200) == (data["size"], client.media(data["media_key"])["_width"])

    def test_form(self, client: Client) -> None:
        """A form carries base64 like JSON, and is part of the signature."""
        form = {"media": encode(PNG), "media_category": "post_image"}
        headers = signed("POST", f"http://localhost{PATH}", HARBOR, form)

        answer = client.desk.client.post(PATH, data=form, headers=headers)

        assert len(PNG) == client.data(answer)["size"]

    @pytest.mark.parametrize("name", sorted(CATEGORIES))
    def test_categories(self, client: Client, name: str) -> None:
        """Images and subtitles are uploaded at once, everything else in segments."""
        answer = client.image(media_category=name)

        if name in SIMPLE and name != "subtitles":
            assert 200 == answer.status_code
        elif name == "subtitles":
            assert 200 == client.image(b"WEBVTT", media_category=name).status_code
        else:
            (message,) = messages(answer)
            assert "post_image, dm_image, subtitles" in message
            assert f"upload {name} in segments" in message

    def test_older_word(self, client: Client) -> None:
        """The older word of a category is accepted."""
        key = client.data(client.image(media_category="tweet_image"))["media_key"]

        assert "POST_IMAGE" == client.media(key)["media_category"]

    @pytest.mark.parametrize("name", ["media", "media_category"])
    def test_required(self, client: Client, name: str) -> None:
        """Content and category are required."""
        assert [f"{name} is required"] == messages(client.image(PNG, **{name: None}))

    @pytest.mark.parametrize(
        ("size", "accepted"), [(0, False), (1, True), (5_242_880, True), (5_242_881, False)]
    )
    def test_size(self, client: Client, size: int, accepted: bool) -> None:
        """An image has 1 byte to 5 MiB."""
        answer = client.send(**write_form(bytes(size), media_category="post_image"))

        assert accepted == (200 == answer.status_code)
        if not accepted:
            assert [f"post_image must have 1 to 5242880 bytes, got {size}"] == messages(answer)

    def test_content_is_not_repeated(self, client: Client) -> None:
        """A refusal does not repeat the content."""
        answer = client.send(**write_form(b"", media_category="post_image"))

        assert {"media": []} == answer.get_json()["errors"][0]["parameters"]
        assert len(client.image(media="=" * 100_000).get_data()) < 60_000

    def test_broken_base64(self, client: Client) -> None:
        """A content that is not base64 is refused."""
        (message,) = messages(client.image(media="no base64!"))

        assert "base64" in message

    def test_wrong_type(self, client: Client) -> None:
        """The type of the file must be one of its category's, named or found in the file."""
        assert 1 == len(messages(client.image(media_type="image/gif")))
        (message,) = messages(client.image(b"GIF89a" + bytes(20)))
        assert "media is image/gif, which is not accepted for post_image" == message

    def test_unknown_content(self, client: Client) -> None:
        """A content that is no known image is accepted with a warning."""
        answer = client.image(b"pixels")

        media = client.media(client.data(answer)["media_key"])
        assert (None, None) == (media["_width"], media["_height"])
        assert "no-effect" in answer.headers["X-Mock-Warnings"]

    def test_other_bodies(self, client: Client) -> None:
        """A body of another type is refused, and so is one that is no object."""
        wrong = client.send(data=b"x", content_type="text/plain")

        assert 415 == wrong.status_code
        assert "application/json or multipart/form-data" in wrong.get_json()["detail"]
        assert ["The body must be an object."] == messages(client.send(json=[]))
        assert 1 == len(messages(client.send(data=b"x", content_type="multipart/form-data")))


class TestSegments:
    """Everything can be uploaded in segments."""

    def test_story(self, client: Client) -> None:
        """A video of three segments becomes media of the user."""
        parts = [VIDEO[:700], VIDEO[700:1400], VIDEO[1400:]]
        started = client.send(
            f"{PATH}/initialize",
            json={
                "media_type": "video/mp4",
                "media_category": "amplify_video",
                "total_bytes": len(VIDEO),
            },
        )
        begun = client.data(started)
        added = [client.data(client.append(begun["id"], part, n)) for n, part in enumerate(parts)]
        done = client.data(client.finalize(begun["id"]))

        key = f"13_{begun['id']}"
        assert {"id": begun["id"], "media_key": key, "expires_after_secs": DAY} == begun
        expiry = int(client.desk.world.clock.now().timestamp()) + DAY
        assert [{"expires_at": expiry}] * 3 == added
        assert (
            begun
            | {
                "size": len(VIDEO),
                "processing_info": {"state": "succeeded", "progress_percent": 100},
            }
            == done
        )
        assert ("VIDEO", "AMPLIFY_VIDEO") == (
            client.media(key)["media_type"],
            client.media(key)["media_category"],
        )

    @pytest.mark.parametrize("form", ["query", "form", "json", "multipart"])
    def test_commands(self, client: Client, form: str) -> None:
        """The guide's way: each step is a command on the path of the upload."""

        def step(**values: Any) -> dict[str, Any]:
            text = {name: str(value) for name, value in values.items() if name != "media"}
            if form == "json":
                more = {"media": encode(values["media"])} if "media" in values else {}
                return client.data(client.send(json=values | more))
            if form == "multipart" or "media" in values:
                return client.data(client.send(**write_form(values.get("media"), **text)))
            if form == "query":
                query = "&".join(f"{name}={value}" for name, value in text.items())
                return client.data(client.send(f"{PATH}?{query}"))
            headers = signed("POST", f"http://localhost{PATH}", HARBOR, text)
            return client.data(client.desk.client.post(PATH, data=text, headers=headers))

        begun = step(command="INIT", media_type="image/png", total_bytes=len(PNG))
        step(command="APPEND", media_id=begun["id"], segment_index=0, media=PNG)
        done = step(command="FINALIZE", media_id=begun["id"])

        assert len(PNG) == done["size"]
        media = client.media(done["media_key"])
        assert (1200, "IMAGE", None) == (
            media["_width"], media["media_type"], media["media_category"]
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("command", "missing"),
        [
            ("INIT", ["media_type", "total_bytes"]),
            ("APPEND", ["media_id", "media", "segment_index"]),
            ("FINALIZE", ["media_id"]),
        ],
    )
    def test_what_a_command_needs(self, client: Client, command: str, missing: list[str]) -> None:
        """Each command names what it misses."""
        found = messages(client.send(json={"command": command}))

        assert [f"{name} is required with command {command}" for name in missing] == found

    def test_any_order(self, client: Client) -> None:
        """Segments may come in any order, and again."""
        media_id = client.begin()
        client.append(media_id, VIDEO[:9], 1)
        client.append(media_id, VIDEO[1000:], 1)
        client.append(media_id, VIDEO[:1000], 0)

        assert len(VIDEO) == client.data(client.finalize(media_id))["size"]

    def test_missing_segment(self, client: Client) -> None:
        """A gap is refused, and the upload goes on."""
        media_id = client.begin()
        client.append(media_id, VIDEO[:10], 0)
        client.append(media_id, VIDEO[10:], 2)

        assert ["segment 1 is missing; the upload has 0, 2"] == messages(client.finalize(media_id))
        assert client.begin() != media_id

    def test_missing_bytes(self, client: Client) -> None:
        """An upload must have all its bytes; one byte less is refused."""
        media_id = client.begin()
        assert [f"0 of {len(VIDEO)} bytes have arrived"] == messages(client.finalize(media_id))
        client.append(media_id, VIDEO[:-1])
        assert [f"{len(VIDEO) - 1} of {len(VIDEO)} bytes have arrived"] == messages(
            client.finalize(media_id)
        )
        client.append(media_id, VIDEO[-1:], 1)

        assert 200 == client.finalize(media_id).status_code

    def test_too_many_bytes(self, client: Client) -> None:
        """A segment that goes beyond total_bytes is refused."""
        media_id = client.begin(total=10)

        assert 200 == client.append(media_id, VIDEO[:10]).status_code
        (message,) = messages(client.append(media_id, b"x", 1))
        assert "has 11 bytes, and total_bytes is 10" in message

    @pytest.mark.parametrize(
        ("size", "accepted"),
        [(0, False), (1, True), (CHUNK_BYTES, True), (CHUNK_BYTES + 1, False)],
    )
    def test_size_of_a_segment(self, client: Client, size: int, accepted: bool) -> None:
        """A segment has 1 byte to 5 MiB."""
        media_id = client.begin(total=MOST_BYTES)
        form = write_form(bytes(size), segment_index="0")

        answer = client.send(f"{PATH}/{media_id}/append", **form)

        assert accepted == (200 == answer.status_code)

    @pytest.mark.parametrize(("index", "accepted"), [(-1, False), (0, True), (999, True),
                                                     (1000, False)])  # fmt: skip
    def test_index(self, client: Client, index: int, accepted: bool) -> None:
        """An upload has 1,000 segments, the first of which is 0."""
        assert accepted == (200 == client.append(client.begin(), index=index).status_code)

    @pytest.mark.parametrize(
        ("category", "file_type", "most"),
        [
            ("post_image", "image/jpeg", 5 * 1024 * 1024),
            ("post_gif", "image/gif", 15 * 1024 * 1024),
            ("post_video", "video/mp4", MOST_BYTES),
        ],
    )
    def test_total(self, client: Client, category: str, file_type: str, most: int) -> None:
        """The size of a file is limited by its category."""
        body = {"media_type": file_type, "media_category": category}
        statuses = [
            client.send(f"{PATH}/initialize", json=body | {"total_bytes": total}).status_code
            for total in (0, 1, most, most + 1)
        ]

        assert [400, 200, 200, 400] == statuses

    def test_type_and_category(self, client: Client) -> None:
        """The type of a file must be one of its category's."""
        body = {"media_type": "image/png", "media_category": "post_video", "total_bytes": 5}

        (message,) = messages(client.send(f"{PATH}/initialize", json=body))

        assert "media_type must be one of video/mp4" in message

    def test_required(self, client: Client) -> None:
        """Type and size are required to begin, content and index for a segment."""
        assert 2 == len(messages(client.send(f"{PATH}/initialize", json={})))
        assert 2 == len(messages(client.send(f"{PATH}/{client.begin()}/append", json={})))

    def test_memory(self, client: Client) -> None:
        """Of the content, nothing is kept but its size."""
        media_id = client.begin(total=MOST_BYTES)
        client.append(media_id, b"cayenne sauce" * 1000)

        assert {"0": 13_000} == client.desk.record("uploads", media_id)["segments"]
        assert "cayenne" not in str(client.desk.client.get("/_mock/state").get_json())

    def test_finalize_again(self, client: Client) -> None:
        """A finalize that is sent again answers the same."""
        media_id = client.begin()
        client.append(media_id)
        first = client.data(client.finalize(media_id))

        again = client.finalize(media_id)

        assert first == client.data(again)
        assert "media.finished-twice" in again.headers["X-Mock-Assumptions"]


class TestAccess:
    """Uploads belong to their user, and do not wait for ever."""

    @pytest.mark.parametrize("step", ["append", "finalize", "status"])
    def test_unknown(self, client: Client, step: str) -> None:
        """An unknown upload is not found."""
        answer = getattr(client, step)("77")

        assert 404 == answer.status_code
        body = answer.get_json()
        assert ("media", "77") == (body["resource_type"], body["resource_id"])
        parameter = "media_id" if step == "status" else "id"
        assert f"Could not find media with {parameter}: [77]." == body["detail"]

    def test_another_user(self, client: Client) -> None:
        """What another user uploads does not exist for this one, unless it is shared."""
        mine, shared = client.begin(), client.begin(additional_owners=[OTHER_USER])
        for media_id in (mine, shared):
            client.append(media_id)
            assert 404 == client.status(media_id, keys=NORTHBIKE).status_code
            client.finalize(media_id)

        statuses = [client.status(each, keys=NORTHBIKE).status_code for each in (mine, shared)]
        assert [404, 200] == statuses

    def test_expiry_of_an_upload(self, client: Client) -> None:
        """An upload can be continued for 24 hours."""
        early, late = client.begin(), client.begin()
        client.desk.world.clock.advance(DAY - 1)
        assert 200 == client.append(early).status_code
        assert 1 == client.data(client.status(late))["expires_after_secs"]
        client.desk.world.clock.advance(1)

        assert 404 == client.append(late).status_code
        assert 404 == client.finalize(early).status_code

    def test_a_moment_after_the_start(self, client: Client) -> None:
        """A second that has begun counts whole: a new upload exists for 86,400 seconds."""
        clock = client.desk.world.clock
        begun = client.begin()
        clock.advance(0.004)
        seconds = client.data(client.status(begun))["expires_after_secs"]
        clock.advance(0.996)

        left = client.data(client.status(begun))["expires_after_secs"]
        assert (DAY, DAY - 1) == (seconds, left)

    def test_expiry_of_media(self, client: Client) -> None:
        """Media are gone after 24 hours, unless something refers to them."""
        world = client.desk.world
        used, unused = client.data(client.image())["id"], client.data(client.image())["id"]
        media = find_own_media(world, USER, used)
        assert media is not None
        with world.work():
            keep_media(world, media)
        world.clock.advance(DAY - 1)
        assert find_own_media(world, USER, unused) is not None
        world.clock.advance(1)

        assert find_own_media(world, USER, unused) is None
        assert find_own_media(world, USER, used) is not None
        assert "expires_after_secs" not in client.data(client.status(used))
        assert 404 == client.status(unused).status_code


class TestProcessing:
    """GIFs and videos are processed before they can be used."""

    def set_pace(self, desk: Desk, progression: str, **more: Any) -> None:
        """Say how processing moves."""
        with desk.world.work():
            desk.world.transitions.set_pace("media_upload", progression=progression, **more)

    def test_images_are_not_processed(self, client: Client) -> None:
        """An image is usable at once."""
        assert "processing_info" not in client.data(client.image())

    def test_polls(self, client: Client) -> None:
        """With polls, STATUS is asked until the video is processed."""
        self.set_pace(client.desk, "polls", polls=2)

        done = client.video()
        seen = [client.data(client.status(done["id"]))["processing_info"] for _ in range(2)]

        assert {"state": "pending", "check_after_secs": 1} == done["processing_info"]
        assert [
            {"state": "in_progress", "check_after_secs": 1},
            {"state": "succeeded", "progress_percent": 100},
        ] == seen

    def test_time(self, client: Client) -> None:
        """With time, the answer says how far it is and when to ask again."""
        self.set_pace(client.desk, "time", seconds=40)
        done = client.video()
        client.desk.world.clock.advance(10)

        info = client.data(client.status(done["id"]))["processing_info"]

        assert {"state": "in_progress", "check_after_secs": 30, "progress_percent": 25} == info
        client.desk.world.clock.advance(30)
        info = client.data(client.status(done["id"]))["processing_info"]
        assert "succeeded" == info["state"]

    def test_failure(self, client: Client) -> None:
        """A video whose processing has failed cannot be used."""
        self.set_pace(client.desk, "manual")
        done = client.video()
        media = client.media(done["media_key"])
        assert "it is still being processed" == explain_unusable(client.desk.world, media)

        client.desk.client.post(
            f"/_mock/transitions/media_upload/{done['media_key']}", json={"to": "failed"}
        )

        info = client.data(client.status(done["id"]))["processing_info"]
        assert {"state": "failed"} == info
        why = explain_unusable(client.desk.world, client.media(done["media_key"]))
        assert "its processing has failed; upload it again" == why
        assert 400 == add_to_library(client, done["media_key"]).status_code


def add_to_library(client: Client, key: str, account: str = ACCOUNT) -> TestResponse:
    """Add uploaded media to the library of an account."""
    path = f"/12/accounts/{account}/media_library?media_key={key}"
    return client.send(path)


class TestLibrary:
    """What was uploaded is used in the advertising interface."""

    def test_added(self, client: Client) -> None:
        """The uploader adds an image to the library of an account, and it stays."""
        key = client.data(client.image())["media_key"]

        added = add_to_library(client, key)

        assert 200 == added.status_code, added.get_json()
        assert key == added.get_json()["data"]["media_key"]
        client.desk.world.clock.advance(2 * DAY)
        media_id = key.partition("_")[2]
        assert {"id": media_id, "media_key": key} == client.data(client.status(media_id))

    def test_without_category(self, client: Client) -> None:
        """Media without a category do not go into a library."""
        media_id = begin_bare(client)
        key = client.data(client.finalize(media_id))["media_key"]

        answer = add_to_library(client, key)

        assert ["INVALID_MEDIA"] == [error["code"] for error in answer.get_json()["errors"]]

    def test_of_another_user(self, client: Client) -> None:
        """An account does not have what a user uploaded who does not work with it."""
        form = {"media": encode(PNG), "media_category": "post_image"}
        key = client.data(client.send(keys=NORTHBIKE, json=form))["media_key"]

        assert 404 == add_to_library(client, key).status_code

    def test_expired(self, client: Client) -> None:
        """Expired media are unknown to an account."""
        key = client.data(client.image())["media_key"]
        client.desk.world.clock.advance(DAY)

        assert 404 == add_to_library(client, key).status_code


class TestPosts:
    """What was uploaded is shown in posts."""

    def post(self, client: Client, media_id: str, keys: Keys = HARBOR) -> TestResponse:
        """Post with a medium."""
        body = {"text": "New cups", "media": {"media_ids": [media_id]}}
        return client.send("/2/posts", json=body, keys=keys)

    def test_image(self, client: Client) -> None:
        """An image that was used stays, and is found by the expansion."""
        media_id = client.data(client.image())["id"]

        made = self.post(client, media_id)

        assert 201 == made.status_code, made.get_json()
        client.desk.world.clock.advance(2 * DAY)
        path = f"/2/posts/{made.get_json()['data']['id']}?expansions=attachments.media_keys"
        answer = client.call("GET", f"{path}&media.fields=width,height,url").get_json()
        assert {"media_keys": [f"3_{media_id}"]} == answer["data"]["attachments"]
        (shown,) = answer["includes"]["media"]
        assert ("photo", 1200, 628) == (shown["type"], shown["width"], shown["height"])
        assert shown["url"].endswith(f"{media_id}.png")

    def test_message(self, client: Client) -> None:
        """An image is sent in a direct message, by its owner alone, and stays then."""
        path = "/2/dm_conversations/with/{}/messages"
        media_id = client.data(client.image())["id"]
        body = {"attachments": [{"media_id": media_id}]}

        refused = client.send(path.format(USER), json=body, keys=NORTHBIKE)
        sent = client.send(path.format(OTHER_USER), json=body)

        assert (201, False) == (sent.status_code, refused.status_code == 201)
        assert client.media(f"3_{media_id}")["_expires_at"] is None

    def test_not_processed(self, client: Client) -> None:
        """A video that is still being processed is refused, and accepted later."""
        with client.desk.world.work():
            client.desk.world.transitions.set_pace("media_upload", progression="time", seconds=5)
        media_id = client.video()["id"]

        assert ["Your media IDs are invalid."] == messages(self.post(client, media_id))
        client.desk.world.clock.advance(5)
        assert 201 == self.post(client, media_id).status_code

    def test_others(self, client: Client) -> None:
        """Media of another user, expired ones and subtitles are refused."""
        media_id = client.data(client.image())["id"]
        subtitles = client.data(client.image(b"WEBVTT", media_category="subtitles"))["id"]

        assert ["Your media IDs are invalid."] == messages(self.post(client, media_id, NORTHBIKE))
        assert ["Your media IDs are invalid."] == messages(self.post(client, subtitles))
        client.desk.world.clock.advance(DAY)
        assert 1 == len(messages(self.post(client, media_id)))


def begin_bare(client: Client) -> str:
    """Upload a content without a category; the id."""
    body = {"media_type": "image/png", "total_bytes": len(PNG)}
    media_id: str = client.data(client.send(f"{PATH}/initialize", json=body))["id"]
    client.append(media_id, PNG)
    return media_id
