"""Poll cards: every rule of document B, "Poll cards", just inside and just outside."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.ads.cards.creatives import (
    DELETED_VIDEO,
    FOREIGN_IMAGE,
    GIF,
    IMAGE,
    IMAGE_640,
    IMAGE_800,
    SQUARE,
    UNKNOWN,
    UPLOADED_VIDEO,
    VIDEO,
)
from tests.api.ads.support import (
    BASE,
    assumptions,
    drop,
    echo,
    get,
    load,
    make,
    post,
    without,
)
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of, faults

pytestmark = pytest.mark.usefixtures("noon")

POLL = {"name": "New", "first_choice": "Yes", "second_choice": "No", "duration_in_minutes": "60"}
FOUR = POLL | {"third_choice": "Perhaps", "fourth_choice": "Never"}
ORDER = ["duration_in_minutes", "first_choice", "second_choice", "name"]
LENGTHS = [("name", 80), *((f"{n}_choice", 25) for n in ("first", "second", "third", "fourth"))]
VIDEO_POLL = "1712870000004000012"
IMAGE_POLL = "1712870000005000015"


@pytest.mark.spec("B, Poll card", "id, name, first_choice", "duration_in_minutes")
@pytest.mark.spec("B, Poll card", "card_uri, card_type")
@pytest.mark.spec("B, Poll cards", "POST /12/accounts/:account_id/cards/poll")
@pytest.mark.spec("B, What public facts and settled questions add", "Numbers of poll")
@pytest.mark.spec("B, What public facts and settled questions add", "Poll and conversation")
def test_text_poll(box: Sandbox) -> None:
    """A poll runs from its creation; numbers are strings, unset fields are left out.

    The echo holds the duration as a number and a card type that no request sends.
    """
    response = post(box, "cards/poll", **POLL)
    record, now = data_of(response), "2026-11-20T12:00:00Z"
    expected = POLL | {"duration_in_minutes": 60, "account_id": ACCOUNT, "card_type": "poll"}

    assert POLL | {
        "id": record["id"], "start_time": now, "end_time": "2026-11-20T13:00:00Z",
        "card_uri": f"card://{record['id']}", "card_type": "TEXT_POLLS", "created_at": now,
        "updated_at": now, "deleted": False,
    } == record  # fmt: skip
    assert record == load(box, f"cards/poll/{record['id']}")
    assert record in load(box, "cards/poll")
    assert expected == echo(response)
    assert "poll" == echo(post(box, "cards/poll", **without(POLL, "name")))["card_type"]


@pytest.mark.spec("B, Poll card", "duration_in_minutes")
@pytest.mark.spec("B, Poll cards", "POST /12/accounts/:account_id/cards/poll")
@pytest.mark.spec("B, Limits", "Poll duration: 5", side="inside")
@pytest.mark.parametrize(
    ("minutes", "end"), [("5", "2026-11-20T12:05:00Z"), ("10080", "2026-11-27T12:00:00Z")]
)
def test_duration(box: Sandbox, minutes: str, end: str) -> None:
    """A poll lasts 5 to 10080 minutes."""
    record = make(box, "cards/poll", **POLL | {"duration_in_minutes": minutes})

    assert (minutes, end) == (record["duration_in_minutes"], record["end_time"])


@pytest.mark.spec("B, Poll card", "id, name, first_choice")
@pytest.mark.spec("B, Poll cards", "POST /12/accounts/:account_id/cards/poll")
@pytest.mark.spec("B, Limits", "Field lengths: poll", side="inside")
def test_lengths(box: Sandbox) -> None:
    """A choice has up to 25 characters, the name up to 80; a poll has two to four choices."""
    longest = FOUR | {name: "é" * most for name, most in LENGTHS}

    for choices in (longest, without(FOUR, "fourth_choice")):
        assert choices.items() <= make(box, "cards/poll", **choices).items()


@pytest.mark.spec("B, Poll card", "card_uri, card_type", "for media polls")
@pytest.mark.spec("B, Poll cards", "media_key (optional")
@pytest.mark.spec("B, What public facts and settled questions add", "Numbers of poll")
def test_video_poll(box: Sandbox) -> None:
    """A poll with a video shows its address, aspect and duration, but not its key."""
    response = post(box, "cards/poll", **POLL, media_key=VIDEO)
    record = data_of(response)
    video = load(box, f"media_library/{VIDEO}")

    assert {
        "card_type": "VIDEO_POLLS", "video_url": video["media_url"].replace(".mp4", ".vmap"),
        "video_hls_url": video["media_url"].replace(".mp4", ".m3u8"), "video_width": "16",
        "video_height": "9", "video_poster_url": video["poster_media_url"],
        "video_poster_width": "16", "video_poster_height": "9", "content_duration_seconds": "39",
    }.items() <= record.items()  # fmt: skip
    assert "media_key" not in record
    assert VIDEO == echo(response)["media_key"]


@pytest.mark.parametrize(("aspect_ratio", "size", "expected"), [
    ("125:79", (None, None), ("125", "79")),
    ("9:16", (1280, 720), ("9", "16")),
    ("1.91:1", (None, None), ("1.91", "1")),
    (None, (1080, 1920), ("9", "16")),
    (None, (None, None), ("16", "9")),
])  # fmt: skip
def test_sizes_of_a_video_poll(
    box: Sandbox, aspect_ratio: str | None, size: tuple[Any, Any], expected: tuple[str, str]
) -> None:
    """Sizes are the aspect's two numbers, present even if little is known of the video."""
    width, height = size
    box.change("media_library", VIDEO, aspect_ratio=aspect_ratio, _width=width, _height=height)
    record = make(box, "cards/poll", **POLL, media_key=VIDEO)

    assert expected == (record["video_width"], record["video_height"])
    assert expected == (record["video_poster_width"], record["video_poster_height"])


def test_image_poll(box: Sandbox) -> None:
    """A poll with an image shows its address and size."""
    response = post(box, "cards/poll", **POLL, media_key=IMAGE_800)

    assert {
        "card_type": "IMAGE_POLLS", "image": load(box, f"media_library/{IMAGE_800}")["media_url"],
        "image_display_width": "800", "image_display_height": "419",
    }.items() <= data_of(response).items()  # fmt: skip
    assert "cards-poll.image-fields" in assumptions(response)


@pytest.mark.parametrize(("key", "used"), [(VIDEO_POLL, VIDEO), (IMAGE_POLL, IMAGE_800)])
def test_fixtures_show_what_creation_gives(box: Sandbox, key: str, used: str) -> None:
    """The media polls of the fixtures look like ones created from the same media."""
    shown = load(box, f"cards/poll/{key}")
    created = make(box, "cards/poll", **POLL, media_key=used)
    own = {*POLL, "id", "card_uri", "start_time", "end_time", "created_at", "updated_at"}

    assert without(created, *own) == without(shown, *own)
    assert created.keys() == shown.keys()


@pytest.mark.spec("B, Poll card", "image minimum width")
@pytest.mark.parametrize(
    ("width", "height", "errors"),
    [
        (800, 419, 0),
        (799, 418, 1),  # too narrow
        (1200, 628, 0),
        (1600, 838, 0),
        (1910, 1002, 0),  # 1.906
        (1910, 1003, 1),  # 1.904
        (1910, 998, 0),  # 1.914
        (800, 418, 0),  # 1.914
        (800, 420, 1),  # 1.905
        (800, 417, 1),  # 1.918
        (640, 640, 2),
        (None, None, 0),
    ],
)
def test_image_size(box: Sandbox, width: int | None, height: int | None, errors: int) -> None:
    """An image is at least 800 px wide and 1.91:1."""
    box.change("media_library", IMAGE, _width=width, _height=height)
    response = post(box, "cards/poll", **POLL, media_key=IMAGE)

    assert (400 if errors else 200) == response.status_code
    if errors:
        assert [("INVALID_IMAGE", "media_key")] * errors == faults(response)


@pytest.mark.spec("B, Poll card", "Polls with media")
def test_no_feature_for_text(box: Sandbox) -> None:
    """A poll without media needs no feature."""
    box.change("accounts", ACCOUNT, _features=[])

    assert make(box, "cards/poll", **POLL)


@pytest.mark.spec("B, Poll cards", "DELETE /12/accounts/:account_id/cards/poll/:card_id")
@pytest.mark.spec("B, States and transitions", "Poll card, DELETE")
def test_hard_delete(box: Sandbox) -> None:
    """A deleted poll card is answered as a stub of seven keys, and does not exist any more."""
    before = load(box, f"cards/poll/{VIDEO_POLL}")
    stub = drop(box, f"cards/poll/{VIDEO_POLL}")
    kept = ("id", "name", "start_time", "card_type", "created_at", "updated_at")
    assert {name: before[name] for name in kept} | {"deleted": True} == stub
    assert 404 == get(box, f"cards/poll/{VIDEO_POLL}", with_deleted="true").status_code
    assert box.world.store.get("poll_cards", VIDEO_POLL) is None


create = partial(Refusal, f"POST {BASE}/cards/poll")
NEEDS, LACKS, UNFIT = "INCLUSIVE_PARAMETERS", "MISSING_PARAMETER", "INVALID_IMAGE"
REFUSED = [
    *(create(f"{name} is required", 400, [(LACKS, name)], query=without(POLL, name),
             spec={"B, Poll cards": ["POST /12/accounts/:account_id/cards/poll"]})
      for name in POLL),
    create("all that is required is named", 400, [(LACKS, name) for name in ORDER]),
    *(create(f"{minutes} is no duration", 400, [("INVALID_PARAMETER", "duration_in_minutes")],
             query=POLL | {"duration_in_minutes": minutes},
             spec={"B, Poll card": ["duration_in_minutes"], "B, Limits": ["Poll duration: 5"]})
      for minutes in ("4", "10081", "5.5", "hour")),
    *(create(f"{name} has {length} characters", 400, [("INVALID_PARAMETER", name)],
             query=FOUR | {name: "é" * length},
             spec={"B, Poll card": ["id, name, first_choice"],
                   "B, Limits": ["Field lengths: poll"]})
      for name, most in LENGTHS for length in (0, most + 1)),
    *(create(f"choices after {gap} need it", 400, errors, query=without(FOUR, gap),
             spec={"B, Poll cards": ["POST /12/accounts/:account_id/cards/poll"]})
      for gap, errors in (
          ("third_choice", [(NEEDS, "fourth_choice")]),
          ("second_choice", [(LACKS, "second_choice"), (NEEDS, "third_choice"),
                             (NEEDS, "fourth_choice")]),
          ("first_choice", [(LACKS, "first_choice"), (NEEDS, "third_choice"),
                            (NEEDS, "fourth_choice")]))),
    *(create(f"image {key} does not do", 400, [(UNFIT, "media_key")] * faults,
             query=POLL | {"media_key": key}, spec={"B, Poll card": ["image minimum width"]})
      for key, faults in ((IMAGE_640, 1), (SQUARE, 1), (GIF, 2))),
    *(create(f"media {key} is not in the library", 404, [("MEDIA_NOT_FOUND", "media_key")],
             query=POLL | {"media_key": key}, spec={"B, Poll cards": ["media_key (optional"]})
      for key in (UNKNOWN, FOREIGN_IMAGE, DELETED_VIDEO, UPLOADED_VIDEO)),
    create("media need the feature", 400, [("FEATURE_NOT_AVAILABLE", None)],
           query=POLL | {"media_key": VIDEO}, given={("accounts", ACCOUNT): {"_features": []}},
           spec={"B, Poll card": ["Polls with media"]}),
    Refusal(f"PUT {BASE}/cards/poll/{VIDEO_POLL}", "poll cards cannot be updated", 405,
            [("METHOD_NOT_ALLOWED", None)], query={"name": "New"},
            spec={"B, States and transitions": ["poll cards cannot"]}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Duration, lengths, choices without those before them, media that do not fit."""
    row.check(box)
