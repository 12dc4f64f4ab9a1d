"""Poll cards: every rule of document B, "Poll cards", just inside and just outside."""

from __future__ import annotations

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
    assumptions,
    data,
    delete,
    echo,
    get,
    post,
    put,
    without,
)
from tests.support import ACCOUNT, Sandbox, faults, refusal

pytestmark = pytest.mark.usefixtures("noon")

POLL = {"name": "New", "first_choice": "Yes", "second_choice": "No", "duration_in_minutes": "60"}
FOUR = POLL | {"third_choice": "Perhaps", "fourth_choice": "Never"}
VIDEO_POLL = "1712870000004000012"
IMAGE_POLL = "1712870000005000015"


@pytest.mark.spec("B, Poll card", "id, name, first_choice", "duration_in_minutes")
@pytest.mark.spec("B, Poll card", "card_uri, card_type")
@pytest.mark.spec("B, Poll cards", "POST /12/accounts/:account_id/cards/poll")
@pytest.mark.spec("B, What public facts and settled questions add", "Numbers of poll")
def test_text_poll(box: Sandbox) -> None:
    """A poll runs from its creation; numbers are strings, unset fields are left out."""
    response = post(box, "cards/poll", **POLL)
    record = data(response)

    assert {
        "id": record["id"],
        "name": "New",
        "first_choice": "Yes",
        "second_choice": "No",
        "duration_in_minutes": "60",
        "start_time": "2026-11-20T12:00:00Z",
        "end_time": "2026-11-20T13:00:00Z",
        "card_uri": f"card://{record['id']}",
        "card_type": "TEXT_POLLS",
        "created_at": "2026-11-20T12:00:00Z",
        "updated_at": "2026-11-20T12:00:00Z",
        "deleted": False,
    } == record
    assert record == data(get(box, f"cards/poll/{record['id']}"))
    assert record in data(get(box, "cards/poll"))


@pytest.mark.spec("B, What public facts and settled questions add", "Poll and conversation")
def test_echo(box: Sandbox) -> None:
    """The echo holds the duration as a number and a card type that no request sends."""
    expected = POLL | {"duration_in_minutes": 60, "account_id": ACCOUNT, "card_type": "poll"}

    assert expected == echo(post(box, "cards/poll", **POLL))
    assert {"account_id": ACCOUNT, "card_type": "poll", "card_id": VIDEO_POLL} == echo(
        get(box, f"cards/poll/{VIDEO_POLL}")
    )

    assert "poll" == echo(post(box, "cards/poll", **without(POLL, "name")))["card_type"]


@pytest.mark.spec("B, Poll card", "duration_in_minutes")
@pytest.mark.spec("B, Poll cards", "POST /12/accounts/:account_id/cards/poll")
@pytest.mark.spec("B, Limits", "Poll duration: 5")
@pytest.mark.parametrize(
    ("minutes", "status", "end"),
    [
        ("4", 400, ""),
        ("5", 200, "2026-11-20T12:05:00Z"),
        ("10080", 200, "2026-11-27T12:00:00Z"),
        ("10081", 400, ""),
        ("5.5", 400, ""),
        ("hour", 400, ""),
    ],
)
def test_duration(box: Sandbox, minutes: str, status: int, end: str) -> None:
    """A poll lasts 5 to 10080 minutes."""
    response = post(box, "cards/poll", **POLL | {"duration_in_minutes": minutes})

    assert status == response.status_code
    if status == 200:
        assert (minutes, end) == (data(response)["duration_in_minutes"], data(response)["end_time"])
    else:
        assert [("INVALID_PARAMETER", "duration_in_minutes")] == faults(response)


@pytest.mark.spec("B, Poll card", "id, name, first_choice")
@pytest.mark.spec("B, Limits", "Field lengths: poll")
@pytest.mark.parametrize(
    ("name", "most"),
    [("name", 80), *((f"{n}_choice", 25) for n in ("first", "second", "third", "fourth"))],
)
def test_lengths(box: Sandbox, name: str, most: int) -> None:
    """A choice has 1 to 25 characters, the name 1 to 80."""
    longest = data(post(box, "cards/poll", **FOUR | {name: "é" * most}))

    assert "é" * most == longest[name]
    for value in ("é" * (most + 1), ""):
        response = post(box, "cards/poll", **FOUR | {name: value})
        assert [("INVALID_PARAMETER", name)] == faults(response)


@pytest.mark.spec("B, Poll cards", "POST /12/accounts/:account_id/cards/poll")
@pytest.mark.parametrize("name", list(POLL))
def test_required(box: Sandbox, name: str) -> None:
    """Name, duration and two choices are required."""
    response = post(box, "cards/poll", **without(POLL, name))

    assert (400, [("MISSING_PARAMETER", name)]) == refusal(response)


@pytest.mark.spec("B, Poll cards", "POST /12/accounts/:account_id/cards/poll")
def test_choices_need_those_before(box: Sandbox) -> None:
    """The third needs first and second, the fourth all three."""
    needs, lacks = "INCLUSIVE_PARAMETERS", "MISSING_PARAMETER"

    assert FOUR.items() <= data(post(box, "cards/poll", **FOUR)).items()
    assert 200 == post(box, "cards/poll", **without(FOUR, "fourth_choice")).status_code
    for gap, expected in (
        ("third_choice", [(needs, "fourth_choice")]),
        (
            "second_choice",
            [(needs, "fourth_choice"), (needs, "third_choice"), (lacks, "second_choice")],
        ),
        (
            "first_choice",
            [(needs, "fourth_choice"), (needs, "third_choice"), (lacks, "first_choice")],
        ),
    ):
        response = post(box, "cards/poll", **without(FOUR, gap))
        assert sorted(expected) == sorted(faults(response), key=str)


def test_all_violations_at_once(box: Sandbox) -> None:
    """An empty request names everything that it lacks."""
    assert sorted(("MISSING_PARAMETER", name) for name in POLL) == sorted(
        faults(post(box, "cards/poll")), key=str
    )


@pytest.mark.spec("B, Poll card", "card_uri, card_type", "for media polls")
@pytest.mark.spec("B, Poll cards", "media_key (optional")
@pytest.mark.spec("B, What public facts and settled questions add", "Numbers of poll")
def test_video_poll(box: Sandbox) -> None:
    """A poll with a video shows its address, aspect and duration, but not its key."""
    response = post(box, "cards/poll", **POLL, media_key=VIDEO)
    record = data(response)
    video = data(get(box, f"media_library/{VIDEO}"))

    assert {
        "card_type": "VIDEO_POLLS",
        "video_url": video["media_url"].replace(".mp4", ".vmap"),
        "video_hls_url": video["media_url"].replace(".mp4", ".m3u8"),
        "video_width": "16",
        "video_height": "9",
        "video_poster_url": video["poster_media_url"],
        "video_poster_width": "16",
        "video_poster_height": "9",
        "content_duration_seconds": "39",
    }.items() <= record.items()
    assert "media_key" not in record
    assert VIDEO == echo(response)["media_key"]


@pytest.mark.parametrize(
    ("aspect_ratio", "size", "expected"),
    [
        ("125:79", (None, None), ("125", "79")),
        ("9:16", (1280, 720), ("9", "16")),
        ("1.91:1", (None, None), ("1.91", "1")),
        (None, (1080, 1920), ("9", "16")),
        (None, (None, None), ("16", "9")),
    ],
)
def test_sizes_of_a_video_poll(
    box: Sandbox,
    aspect_ratio: str | None,
    size: tuple[int | None, int | None],
    expected: tuple[str, str],
) -> None:
    """Sizes are the aspect's two numbers, present even if little is known of the video."""
    width, height = size
    box.change("media_library", VIDEO, aspect_ratio=aspect_ratio, _width=width, _height=height)
    record = data(post(box, "cards/poll", **POLL, media_key=VIDEO))

    assert expected == (record["video_width"], record["video_height"])
    assert expected == (record["video_poster_width"], record["video_poster_height"])


def test_image_poll(box: Sandbox) -> None:
    """A poll with an image shows its address and size."""
    response = post(box, "cards/poll", **POLL, media_key=IMAGE_800)

    assert {
        "card_type": "IMAGE_POLLS",
        "image": data(get(box, f"media_library/{IMAGE_800}"))["media_url"],
        "image_display_width": "800",
        "image_display_height": "419",
    }.items() <= data(response).items()
    assert "cards-poll.image-fields" in assumptions(response)


def test_fixtures_show_what_creation_gives(box: Sandbox) -> None:
    """The media polls of the fixtures look like ones created from the same media."""
    for key, used in ((VIDEO_POLL, VIDEO), (IMAGE_POLL, IMAGE_800)):
        shown = data(get(box, f"cards/poll/{key}"))
        created = data(post(box, "cards/poll", **POLL, media_key=used))
        own = {"id", "card_uri", "name", "first_choice", "second_choice", "duration_in_minutes"}
        own |= {"start_time", "end_time", "created_at", "updated_at"}

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


@pytest.mark.spec("B, Poll card", "image minimum width")
@pytest.mark.spec("B, Poll cards", "media_key (optional")
@pytest.mark.parametrize(
    ("key", "status", "codes"),
    [
        (IMAGE_640, 400, ["INVALID_IMAGE"]),  # too small
        (SQUARE, 400, ["INVALID_IMAGE"]),  # not 1.91:1
        (GIF, 400, ["INVALID_IMAGE"] * 2),
        *((key, 404, ["MEDIA_NOT_FOUND"])
          for key in (UNKNOWN, FOREIGN_IMAGE, DELETED_VIDEO, UPLOADED_VIDEO)),
    ],
)  # fmt: skip
def test_unfit_media(box: Sandbox, key: str, status: int, codes: list[str]) -> None:
    """Media is of the library, the account's and not deleted; an image is large and 1.91:1."""
    response = post(box, "cards/poll", **POLL, media_key=key)

    assert (status, [(code, "media_key") for code in codes]) == refusal(response)


@pytest.mark.spec("B, Poll card", "Polls with media")
def test_feature(box: Sandbox) -> None:
    """A poll with media needs the feature PROMOTED_MEDIA_POLLS, one without does not."""
    features = box.record("accounts", ACCOUNT)["_features"]
    box.change("accounts", ACCOUNT, _features=[f for f in features if f != "PROMOTED_MEDIA_POLLS"])
    response = post(box, "cards/poll", **POLL, media_key=VIDEO)

    assert (400, [("FEATURE_NOT_AVAILABLE", None)]) == refusal(response)
    assert 200 == post(box, "cards/poll", **POLL).status_code


@pytest.mark.spec("B, Poll cards", "DELETE /12/accounts/:account_id/cards/poll/:card_id")
@pytest.mark.spec("B, States and transitions", "Poll card, DELETE")
def test_hard_delete(box: Sandbox) -> None:
    """A deleted poll card is answered as a stub of seven keys, and does not exist any more."""
    before = data(get(box, f"cards/poll/{VIDEO_POLL}"))

    stub = data(delete(box, f"cards/poll/{VIDEO_POLL}"))

    kept = ("id", "name", "start_time", "card_type", "created_at", "updated_at")
    assert {name: before[name] for name in kept} | {"deleted": True} == stub
    assert 404 == get(box, f"cards/poll/{VIDEO_POLL}", with_deleted="true").status_code
    assert box.world.store.get("poll_cards", VIDEO_POLL) is None


@pytest.mark.spec("B, States and transitions", "poll cards cannot")
def test_no_update(box: Sandbox) -> None:
    """Poll cards cannot be updated."""
    response = put(box, f"cards/poll/{VIDEO_POLL}", name="New")

    assert (405, [("METHOD_NOT_ALLOWED", None)]) == refusal(response)
