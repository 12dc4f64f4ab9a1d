"""Media of accounts: every rule of document B, "Media library", just inside and just outside."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.world.transitions import Pace
from tests.api.ads.cards.creatives import (
    AMPLIFY,
    DELETED_IMAGE,
    FOREIGN_IMAGE,
    FOREIGN_UPLOAD,
    GIF,
    IMAGE,
    SQUARE,
    UNKNOWN,
    UPLOADED_AMPLIFY,
    UPLOADED_GIF,
    UPLOADED_IMAGE,
    UPLOADED_UNCATEGORISED,
    UPLOADED_VIDEO,
    VIDEO,
)
from tests.api.ads.support import BASE, alter, assumptions, delete, echo, get, load, make, post, put
from tests.refusals import Refusal, refusals
from tests.support import Sandbox, data_of, refusal

LIBRARY = f"{BASE}/media_library"
VIDEO_FIELDS = {"description", "title", "duration", "poster_media_url", "poster_media_key"}


def found(box: Sandbox, q: str) -> set[str]:
    """Names or file names of what a search finds."""
    records = load(box, "media_library", q=q, with_deleted="true")
    return {record["name"] or record["file_name"] for record in records}


@pytest.mark.spec("B, Media library object", "media_type (GIF")
@pytest.mark.spec("B, Media library", "GET /12/accounts/:account_id/media_library: count")
def test_media_type(box: Sandbox) -> None:
    """Each media type shows something, and nothing else."""
    for kind in ("GIF", "IMAGE", "VIDEO"):
        assert {kind} == {r["media_type"] for r in load(box, "media_library", media_type=kind)}


@pytest.mark.spec("B, Media library", "GET /12/accounts/:account_id/media_library: count")
@pytest.mark.spec("B, Limits", "Field lengths: media", side="inside")
@pytest.mark.parametrize(("q", "expected"), [
    ("Tasting room", {"Tasting room"}),  # name
    ("baristas", {"Barista, square"}),  # title, the name holds another word
    ("sunrise", {"harbor-sunrise.jpg"}),  # file_name alone
    ("sixteen", {"Cold brew story"}),  # description alone
    ("SIXTEEN hours", {"Cold brew story"}),  # any case
    ("spot thirty", {"Summer spot"}),  # words from two fields, in any order
    ("autumn_menu.jpg", {"Autumn menu"}),  # punctuation parts words
    ("tast", set()),  # a part of a word is no word
    ("tasting nothing", set()),  # all words are needed
    ("--", set()),  # no word at all
    ("a", set()),
    ("a" * 255, set()),
])  # fmt: skip
def test_search(box: Sandbox, q: str, expected: set[str]) -> None:
    """The search takes whole words of name, title, file_name and description, in any case."""
    assert expected == found(box, q)


def test_search_follows_changes(box: Sandbox) -> None:
    """What was just added is found, by its new words after a change and not by its old ones."""
    assert set() == found(box, "winter") == found(box, "polar")
    post(box, "media_library", media_key=UPLOADED_IMAGE, name="Winter", file_name="sale.jpg")
    assert {"Winter"} == found(box, "winter")

    put(box, f"media_library/{UPLOADED_IMAGE}", name="Polar")
    assert {"Polar"} == found(box, "polar") == found(box, "polar sale")
    assert set() == found(box, "winter")

    delete(box, f"media_library/{UPLOADED_IMAGE}")
    assert {"Polar"} == found(box, "polar")
    assert [] == load(box, "media_library", q="polar")


@pytest.mark.parametrize("sort_by", ["created_at-asc", "updated_at-desc", None])
def test_search_page_by_page(box: Sandbox, sort_by: str | None) -> None:
    """A search for several words returns the same page by page as at once, and counts them."""
    image = box.record("media_library", IMAGE)
    for number in range(12):
        key, name = f"3_{number + 1}", f"{'Harbour' if number % 2 else 'Street'} at dawn {number}"
        stamp = f"2026-01-{number % 5 + 1:02}T00:00:00Z"
        record = image | {"media_key": key, "name": name, "created_at": stamp, "updated_at": stamp}
        box.put("media_library", key, record)
    asked: dict[str, Any] = {"q": "dawn harbour", "sort_by": sort_by}
    whole, pages, cursor = box.read(LIBRARY, **asked, with_total_count="true"), [], None
    while True:
        page = box.read(LIBRARY, **asked, count=4, cursor=cursor)
        pages += page["data"]
        if (cursor := page["next_cursor"]) is None:
            break

    assert 6 == whole["total_count"] == len(pages)
    assert whole["data"] == pages


@pytest.mark.spec("B, Media library", "GET /12/accounts/:account_id/media_library: count")
def test_search_within_a_type(box: Sandbox) -> None:
    """Search and media_type both restrict."""
    response = get(box, "media_library", q="brew", media_type="IMAGE")

    assert [IMAGE] == [record["media_key"] for record in data_of(response)]
    assert "media-library.term-search" in assumptions(response)


@pytest.mark.spec("B, Media library object", "media_category")
@pytest.mark.spec("B, Media library", "POST /12/accounts/:account_id/media_library")
@pytest.mark.spec("B, Common conventions", "Creation and update")
def test_add_image(box: Sandbox) -> None:
    """An uploaded image becomes a library object without the fields of videos."""
    sent = {"media_key": UPLOADED_IMAGE, "name": "Winter", "file_name": "winter.jpg"}
    response = post(box, "media_library", **sent)
    record = data_of(response)

    assert sent | {
        "media_url": "https://assets.harbor-roasters.example/uploads/winter-blend.jpg",
        "media_category": "POST_IMAGE", "media_status": "TRANSCODE_COMPLETED",
        "media_type": "IMAGE", "posted": False, "aspect_ratio": "1.91:1",
        "created_at": "2026-11-02T09:00:00Z",  # of the upload
        "updated_at": record["updated_at"], "deleted": False,
    } == record  # fmt: skip
    assert record["created_at"] < record["updated_at"]
    assert record == load(box, f"media_library/{UPLOADED_IMAGE}")
    assert record in load(box, "media_library", count="50")
    assert UPLOADED_IMAGE == echo(response)["media_key"]


@pytest.mark.spec("B, Media library object", "media_category")
@pytest.mark.spec("B, Media library", "POST /12/accounts/:account_id/media_library")
def test_add_gif(box: Sandbox) -> None:
    """A GIF has duration and poster like a video, but no title and description."""
    record = make(box, "media_library", media_key=UPLOADED_GIF)

    assert ("GIF", "POST_GIF") == (record["media_type"], record["media_category"])
    assert {"duration", "poster_media_url", "poster_media_key"} == VIDEO_FIELDS & record.keys()
    assert (None, "3_1712850617439560004") == (record["duration"], record["poster_media_key"])
    assert record["poster_media_url"].endswith("/steam-loop/first_frame.jpg")


@pytest.mark.spec("B, Media library object", "media_key, name")
@pytest.mark.spec("B, Media library", "POST /12/accounts/:account_id/media_library")
def test_add_video(box: Sandbox) -> None:
    """A video takes description, title and poster, and shows its duration in milliseconds."""
    sent = {
        "media_key": UPLOADED_VIDEO, "description": "How to pour", "title": "Latte art",
        "poster_media_key": UPLOADED_IMAGE,
    }  # fmt: skip
    record = make(box, "media_library", **sent)
    shown = sent | {"duration": 14500, "name": None, "file_name": None}

    assert shown.items() <= record.items()
    assert record["poster_media_url"].endswith("/uploads/winter-blend.jpg")


@pytest.mark.spec("B, Media library object", "poster_media_url")
@pytest.mark.spec("B, Media library", "POST /12/accounts/:account_id/media_library")
def test_poster_is_first_frame(box: Sandbox) -> None:
    """Without a poster, and after taking it away, a video shows its first frame.

    That has the number of the video under the kind of images, and may be chosen by that key.
    """
    own = "3_" + UPLOADED_VIDEO.partition("_")[2]
    path = f"media_library/{UPLOADED_VIDEO}"
    added = make(box, "media_library", media_key=UPLOADED_VIDEO, poster_media_key=own)
    alter(box, path, poster_media_key=IMAGE)
    unset = alter(box, path, poster_media_key="")
    alter(box, path, poster_media_key=IMAGE)
    chosen = alter(box, path, poster_media_key=own)

    assert 404 == put(box, path, poster_media_key="3_" + VIDEO.partition("_")[2]).status_code
    for record in (added, unset, chosen):
        assert record["poster_media_key"] == own
        assert record["poster_media_url"].endswith("/latte-art/first_frame.jpg")


@pytest.mark.spec("B, Media library object", "media_key, name", "description (videos")
@pytest.mark.spec("B, Media library", "PUT /12/accounts/:account_id/media_library/:media_key")
@pytest.mark.spec("B, Limits", "Field lengths: library")
@pytest.mark.parametrize(
    ("name", "most"), [("name", 100), ("file_name", 255), ("title", 70), ("description", 200)]
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_lengths(box: Sandbox, name: str, most: int, method: str) -> None:
    """Each text may have its documented length, and not one character more."""
    path = "media_library" if method == "POST" else f"media_library/{VIDEO}"
    query = {"media_key": UPLOADED_VIDEO} if method == "POST" else {}
    long, errors = query | {name: "é" * (most + 1)}, [("INVALID_PARAMETER", name)]
    Refusal(f"{method} {BASE}/{path}", name, 400, errors, query=long).check(box)
    response = box.call(method, f"{BASE}/{path}", query_string=query | {name: "é" * most})
    assert "é" * most == data_of(response)[name]


def test_adding_twice(box: Sandbox) -> None:
    """A key is added once; what is in the library already, deleted or not, is refused."""
    assert post(box, "media_library", media_key=UPLOADED_IMAGE).status_code == 200
    for key in (UPLOADED_IMAGE, IMAGE, DELETED_IMAGE):
        response = post(box, "media_library", media_key=key)
        assert (400, [("INVALID_PARAMETER", "media_key")]) == refusal(response)


def test_uploaded_again(box: Sandbox) -> None:
    """A deleted object can be added again once its media was uploaded again."""
    uploaded = box.record("media", UPLOADED_IMAGE)
    post(box, "media_library", media_key=UPLOADED_IMAGE, name="first")
    delete(box, f"media_library/{UPLOADED_IMAGE}")
    box.put("media", UPLOADED_IMAGE, uploaded)
    record = make(box, "media_library", media_key=UPLOADED_IMAGE, name="second")

    assert ("second", False) == (record["name"], record["deleted"])


@pytest.mark.spec("B, Media library", "PUT /12/accounts/:account_id/media_library/:media_key")
@pytest.mark.spec("B, What public facts and settled questions add", "An empty value")
def test_update(box: Sandbox) -> None:
    """An update changes what is sent and nothing else, moves updated_at and can unset."""
    before = load(box, f"media_library/{VIDEO}")
    after = alter(box, f"media_library/{VIDEO}", name="New", title="", poster_media_key=SQUARE)

    assert after == before | {
        "name": "New", "title": None, "poster_media_key": SQUARE,
        "poster_media_url": load(box, f"media_library/{SQUARE}")["media_url"],
        "updated_at": after["updated_at"],
    }  # fmt: skip
    assert after["updated_at"] > before["updated_at"]
    assert after == load(box, f"media_library/{VIDEO}")
    assert "New" in found(box, "new")


add = partial(Refusal, f"POST {LIBRARY}")
find = partial(Refusal, f"GET {LIBRARY}")
INVALID, UNFIT, NOT_THERE = "INVALID_PARAMETER", "INVALID_MEDIA", "MEDIA_NOT_FOUND"
REFUSED = [
    *(find(f"{kind} is no media type", 400, [(INVALID, "media_type")], query={"media_type": kind},
           spec={"B, Media library": ["GET /12/accounts/:account_id/media_library: count"]})
      for kind in ("AUDIO", "GIF,IMAGE", "gif")),
    *(find(f"a search has 1 to 255 characters, not {len(q)}", 400, [(INVALID, "q")],
           query={"q": q}, spec={"B, Limits": ["Field lengths: media"]})
      for q in ("", "a" * 256)),
    add("a key is required", 400, [("MISSING_PARAMETER", "media_key")],
        spec={"B, Media library": ["POST /12/accounts/:account_id/media_library"]}),
    *(add(f"{key!r} is no media key", 400, [(INVALID, "media_key")], query={"media_key": key})
      for key in ("abc", "3_", "3-5", "3_12345678901234567890", "")),
    *(add(f"{key} is no upload of the account", 404, [(NOT_THERE, "media_key")],
          query={"media_key": key},
          spec={"B, Media library": ["POST /12/accounts/:account_id/media_library"]})
      for key in (UNKNOWN, FOREIGN_UPLOAD)),
    add("an upload has a category", 400, [(UNFIT, "media_key")],
        query={"media_key": UPLOADED_UNCATEGORISED},
        spec={"B, Media library object": ["media_category"]}),
    add("all that is wrong with an image is named", 400,
        [(INVALID, "description"), (INVALID, "title"), (UNFIT, "media_key")],
        query={"media_key": UPLOADED_UNCATEGORISED, "title": "t", "description": "d"},
        spec={"B, Media library": ["Description, poster_media_key"]}),
    *(add(f"{name} is not for {key}", 400, [(INVALID, name)], query={"media_key": key, name: text},
          spec={"B, Media library object": ["description (videos"],
                "B, Media library": ["Description, poster_media_key"]})
      for key in (UPLOADED_IMAGE, UPLOADED_GIF)
      for name, text in (("description", "t"), ("title", "t"), ("poster_media_key", SQUARE))),
    *(Refusal(f"PUT {LIBRARY}/{GIF}", f"{name} is not for a GIF", 400, [(INVALID, name)],
              query={name: text},
              spec={"B, Media library": ["PUT /12/accounts/:account_id/media_library/:media_key"]})
      for name, text in (("description", "t"), ("title", "t"), ("poster_media_key", SQUARE))),
    *(row(f"{row.args[0][:4]}: poster {key} does not do", status, [(code, "poster_media_key")],
          query=more | {"poster_media_key": key})
      for row, more in ((add, {"media_key": UPLOADED_VIDEO}),
                        (partial(Refusal, f"PUT {LIBRARY}/{VIDEO}"), {}))
      for key, status, code in ((UNKNOWN, 404, NOT_THERE), (DELETED_IMAGE, 404, NOT_THERE),
                                (FOREIGN_IMAGE, 404, NOT_THERE), (GIF, 400, UNFIT),
                                (AMPLIFY, 400, UNFIT))),
    *(Refusal(f"PUT {LIBRARY}/{key}", f"{key} is not in the library", 404,
              [(NOT_THERE, "media_key")], query={"name": "x"})
      for key in (UNKNOWN, DELETED_IMAGE, UPLOADED_IMAGE)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Uploads of the account with a category, and what fits their kind."""
    row.check(box)


class TestTranscoding:
    """media_status of videos as their transition moves."""

    def slow(self, box: Sandbox, pace: Pace) -> None:
        """Transcoding takes its time."""
        box.world.clock.freeze()
        box.world.transitions.paces["media"] = pace

    def status(self, box: Sandbox) -> str:
        """What one read shows."""
        shown: str = load(box, f"media_library/{UPLOADED_VIDEO}")["media_status"]
        return shown

    @pytest.mark.spec("B, Media library object", "media_status (value")
    @pytest.mark.spec("B, Not shown", "Transitions: not")
    def test_by_default(self, box: Sandbox) -> None:
        """By default only the documented value is ever seen."""
        record = make(box, "media_library", media_key=UPLOADED_VIDEO)

        assert "TRANSCODE_COMPLETED" == record["media_status"] == self.status(box)

    @pytest.mark.spec("B, Not shown", "Transitions: not")
    def test_by_time(self, box: Sandbox) -> None:
        """Under time, a read shows the end as soon as the clock has reached it."""
        self.slow(box, Pace("time", seconds=60))
        response = post(box, "media_library", media_key=UPLOADED_VIDEO)
        box.world.clock.advance(59)
        early = self.status(box)
        box.world.clock.advance(1)

        assert "TRANSCODE_PENDING" == data_of(response)["media_status"] == early
        assert "TRANSCODE_COMPLETED" == self.status(box)
        assert "media-library.transcoding" in assumptions(response)

    def test_by_polls(self, box: Sandbox) -> None:
        """Under polls, reads of the object and lists that show it both count."""
        self.slow(box, Pace("polls", polls=3))
        post(box, "media_library", media_key=UPLOADED_VIDEO, name="latte")
        listed = [r["media_status"] for r in load(box, "media_library", q="latte")]
        seen = [self.status(box) for _ in range(2)]

        assert ["TRANSCODE_PENDING"] == listed
        assert ["TRANSCODE_PENDING", "TRANSCODE_COMPLETED"] == seen

    def test_by_hand(self, box: Sandbox) -> None:
        """Under manual, the record changes only by hand, also to a failure."""
        self.slow(box, Pace("manual"))
        post(box, "media_library", media_key=UPLOADED_AMPLIFY)
        before = load(box, f"media_library/{UPLOADED_AMPLIFY}")["media_status"]
        with box.world.work():
            box.world.transitions.move("media", UPLOADED_AMPLIFY, "TRANSCODE_FAILED")
        after = load(box, f"media_library/{UPLOADED_AMPLIFY}")["media_status"]

        assert ("TRANSCODE_PENDING", "TRANSCODE_FAILED") == (before, after)

    def test_images(self, box: Sandbox) -> None:
        """Images are not transcoded."""
        self.slow(box, Pace("manual"))
        record = make(box, "media_library", media_key=UPLOADED_IMAGE)

        assert "TRANSCODE_COMPLETED" == record["media_status"]


# -- account media ------------------------------------------------------------------------------


@pytest.mark.spec("B, Account media record", "id, video_id (nullable)")
def test_video_or_address(box: Sandbox) -> None:
    """An asset has a video or an address, and null for the other."""
    for record in load(box, "account_media", with_deleted="true"):
        assert (record["video_id"] is None) != (record["media_url"] is None)


@pytest.mark.spec("B, Media library", "A video of category")
def test_amplify_video_becomes_preroll(box: Sandbox) -> None:
    """An AMPLIFY_VIDEO added to the library becomes a PREROLL asset, which outlives it there."""
    before = {record["id"] for record in load(box, "account_media")}
    assert post(box, "media_library", media_key=UPLOADED_AMPLIFY).status_code == 200
    added = [r for r in load(box, "account_media") if r["id"] not in before]
    assert delete(box, f"media_library/{UPLOADED_AMPLIFY}").status_code == 200

    assert [(UPLOADED_AMPLIFY, None, "PREROLL", False)] == [
        (r["video_id"], r["media_url"], r["creative_type"], r["deleted"]) for r in added
    ]
    assert added[0] == load(box, f"account_media/{added[0]['id']}")


@pytest.mark.spec("B, Media library", "A video of category")
def test_other_videos_become_nothing(box: Sandbox) -> None:
    """A video of another category adds nothing to the account media."""
    before = load(box, "account_media")
    assert post(box, "media_library", media_key=UPLOADED_VIDEO).status_code == 200

    assert before == load(box, "account_media")
