"""Video conversation cards: every rule of document B, just inside and just outside."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.world.store.interface import Record
from tests.api.ads.cards.creatives import (
    AMPLIFY,
    DELETED_VIDEO,
    FOREIGN_VIDEO,
    GIF,
    IMAGE,
    OTHER_VIDEO,
    SQUARE,
    SQUARE_VIDEO,
    TALL_VIDEO,
    UNKNOWN,
    UPLOADED_GIF,
    UPLOADED_IMAGE,
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

PATH = "cards/video_conversation"
CARD = {
    "name": "New",
    "title": "Which one?",
    "first_cta": "#First",
    "first_cta_post": "I take the first.",
    "thank_you_text": "Thank you!",
    "media_key": VIDEO,
}
FULL = CARD | {
    "second_cta": "#Second",
    "second_cta_post": "The second.",
    "third_cta": "#Third",
    "third_cta_post": "The third.",
    "fourth_cta": "#Fourth",
    "fourth_cta_post": "The fourth.",
    "thank_you_url": "https://shop.example.com/thanks",
    "poster_media_key": SQUARE,
    "unlocked_image_media_key": IMAGE,
    "unlocked_video_media_key": OTHER_VIDEO,
}
REQUIRED = ["name", "first_cta", "first_cta_post", "thank_you_text", "media_key"]
ONE = "1712880000001000003"  # title, one call to action
TWO = "1712880000002000006"  # no title, two
FOUR = "1712880000003000009"  # title, four
INVALID, MISSING, INCLUSIVE = "INVALID_PARAMETER", "MISSING_PARAMETER", "INCLUSIVE_PARAMETERS"


@pytest.mark.spec("B, Video conversation card", "id, name, title", "media_key, media_url")
@pytest.mark.spec("B, Video conversation cards", "POST .../video_conversation")
@pytest.mark.spec("B, What public facts and settled questions add", "Numbers of poll")
@pytest.mark.spec("B, What public facts and settled questions add", "Poll and conversation")
def test_create(box: Sandbox) -> None:
    """The card shows its media by address, sizes as strings, and leaves unset fields out."""
    response = post(box, PATH, **CARD)
    record = data(response)
    video = data(get(box, f"media_library/{VIDEO}"))

    assert (
        CARD
        | {
            "id": record["id"],
            "media_url": video["media_url"].replace(".mp4", ".vmap"),
            "poster_media_url": video["poster_media_url"],
            "video_owner_id": "2244994945",
            "video_width": "16",
            "video_height": "9",
            "card_uri": f"card://{record['id']}",
            "card_type": "VIDEO_CONVERSATION",
            "created_at": record["created_at"],
            "updated_at": record["created_at"],
            "deleted": False,
        }
        == record
    )
    assert record == data(get(box, f"{PATH}/{record['id']}"))
    assert record in data(get(box, PATH))
    assert CARD | {"account_id": ACCOUNT, "card_type": "VIDEO_CONVERSATION"} == echo(response)


@pytest.mark.spec("B, Video conversation card", "first_cta_post")
@pytest.mark.spec("B, Video conversation cards", "poster_media_key")
def test_create_with_everything(box: Sandbox) -> None:
    """All fields together; keys of poster and unlocked media are accepted and not served."""
    record = data(post(box, PATH, **FULL))
    write_only = ("poster_media_key", "unlocked_image_media_key", "unlocked_video_media_key")

    assert without(FULL, *write_only).items() <= record.items()
    assert not set(write_only) & record.keys()
    assert data(get(box, f"media_library/{SQUARE}"))["media_url"] == record["poster_media_url"]


@pytest.mark.spec("B, Video conversation cards", "POST .../video_conversation")
@pytest.mark.parametrize("name", REQUIRED)
def test_required(box: Sandbox, name: str) -> None:
    """What is required is named if it is absent."""
    assert (400, [(MISSING, name)]) == refusal(post(box, PATH, **without(CARD, name)))


@pytest.mark.spec("B, Video conversation cards", "Optional title")
def test_title_or_second(box: Sandbox) -> None:
    """Title, second call to action, or both; neither is too little."""
    second = {"second_cta": "#Second", "second_cta_post": "The second."}

    assert 200 == post(box, PATH, **CARD | second).status_code
    assert "title" not in data(post(box, PATH, **without(CARD, "title") | second))
    response = post(box, PATH, **without(CARD, "title"))
    assert (400, [(MISSING, "second_cta"), (MISSING, "title")]) == (
        response.status_code,
        sorted(faults(response), key=str),
    )


@pytest.mark.spec("B, Video conversation card", "first_cta_post")
@pytest.mark.spec("B, Video conversation cards", "second_cta_post", "poster_media_key")
@pytest.mark.parametrize("ordinal", ["second", "third", "fourth"])
def test_pairs(box: Sandbox, ordinal: str) -> None:
    """A call to action and its post need each other."""
    cta, text = {f"{ordinal}_cta": "#Tag"}, {f"{ordinal}_cta_post": "Text."}

    assert (cta | text).items() <= data(post(box, PATH, **CARD, **cta, **text)).items()
    for half in (cta, text):
        response = post(box, PATH, **CARD, **half)
        assert (400, [(INCLUSIVE, f"{ordinal}_cta_post")]) == refusal(response)


@pytest.mark.spec("B, Video conversation card", "first_cta to fourth_cta")
@pytest.mark.spec("B, Limits", "Field lengths: CTA")
@pytest.mark.parametrize("name", ["first_cta", "second_cta", "third_cta", "fourth_cta"])
@pytest.mark.parametrize(
    ("value", "fine"),
    [
        ("#" + "a" * 20, True),
        ("#" + "a" * 21, False),
        ("a" * 20, True),
        ("a" * 21, False),
        ("#a", True),
        ("#", False),
        ("", False),
        ("##a", False),
        ("#a b", False),
        ("#a-b", False),
        ("#Kaffee_Röster", True),
    ],
)
def test_hashtags(box: Sandbox, name: str, value: str, fine: bool) -> None:
    """A call to action is a hashtag of at most 20 characters, # not counted."""
    response = post(box, PATH, **FULL | {name: value})

    if fine:
        assert value == data(response)[name]
    else:
        assert (400, [(INVALID, name)]) == refusal(response)


@pytest.mark.spec("B, Video conversation card", "id, name, title", "thank_you_text")
@pytest.mark.spec("B, Limits", "Field lengths: conversation")
@pytest.mark.parametrize(("name", "most"), [("name", 80), ("title", 23), ("thank_you_text", 23)])
@pytest.mark.parametrize("method", ["create", "update"])
def test_lengths(box: Sandbox, name: str, most: int, method: str) -> None:
    """Each text may have its documented length, and not one character more."""

    def write(value: str) -> Any:
        if method == "create":
            return post(box, PATH, **CARD | {name: value})
        return put(box, f"{PATH}/{ONE}", **{name: value})

    assert "é" * most == data(write("é" * most))[name]
    assert [(INVALID, name)] == faults(write("é" * (most + 1)))


@pytest.mark.spec("B, Video conversation card", "thank_you_text")
@pytest.mark.spec("B, Video conversation cards", "poster_media_key")
def test_thank_you_url(box: Sandbox) -> None:
    """The address is http or https."""
    for url in ("example.com", "ftp://example.com", "https://"):
        assert [(INVALID, "thank_you_url")] == faults(post(box, PATH, **CARD, thank_you_url=url))


MEDIA_NAMES = [
    "media_key",
    "poster_media_key",
    "unlocked_image_media_key",
    "unlocked_video_media_key",
]


@pytest.mark.spec("B, Video conversation cards", "POST .../video_conversation", "poster_media_key")
@pytest.mark.parametrize(
    ("name", "key", "error"),
    [
        *((name, key, (404, [("MEDIA_NOT_FOUND", name)]))
          for name in MEDIA_NAMES for key in (UNKNOWN, FOREIGN_VIDEO, DELETED_VIDEO)),
        *((name, key, (400, [("INVALID_MEDIA", name)])) for name, key in (
            ("media_key", IMAGE),
            ("media_key", GIF),
            ("media_key", SQUARE_VIDEO),
            ("media_key", TALL_VIDEO),
            ("poster_media_key", VIDEO),
            ("poster_media_key", UPLOADED_GIF),
            ("unlocked_image_media_key", VIDEO),
            ("unlocked_video_media_key", IMAGE),
            ("unlocked_video_media_key", GIF),
        )),
    ],
)  # fmt: skip
def test_unfit_media(box: Sandbox, name: str, key: str, error: Any) -> None:
    """The account's media, not deleted: a video of 16:9, posters and unlocked media that fit."""
    created = post(box, PATH, **FULL | {name: key})
    updated = put(box, f"{PATH}/{ONE}", **{name: key})

    assert error == refusal(created) == refusal(updated)
    for response in (created, updated):
        assumed = "cards-video-conversation.media" in assumptions(response)
        assert assumed or error[0] == 404


@pytest.mark.spec("B, Video conversation cards", "POST .../video_conversation")
def test_video_must_be_in_the_library(box: Sandbox) -> None:
    """An uploaded video will not do; for posters and unlocked media an upload suffices."""
    response = post(box, PATH, **CARD | {"media_key": UPLOADED_VIDEO})
    uploads = {
        "poster_media_key": UPLOADED_IMAGE,
        "unlocked_image_media_key": UPLOADED_IMAGE,
        "unlocked_video_media_key": UPLOADED_VIDEO,
    }

    assert (404, [("MEDIA_NOT_FOUND", "media_key")]) == refusal(response)
    assert 200 == post(box, PATH, **CARD | uploads).status_code


@pytest.mark.spec("B, Video conversation cards", "POST .../video_conversation")
@pytest.mark.parametrize(
    ("width", "height", "fine"),
    [(1920, 1080, True), (854, 480, True), (640, 480, False), (1280, 700, False)],
)
def test_aspect(box: Sandbox, width: int, height: int, fine: bool) -> None:
    """The aspect follows from the sizes: 16:9 as exactly as whole pixels allow."""
    box.change("media_library", OTHER_VIDEO, _width=width, _height=height)
    response = post(box, PATH, **CARD | {"media_key": OTHER_VIDEO})

    assert (200 if fine else 400) == response.status_code


def test_aspect_without_sizes(box: Sandbox) -> None:
    """Sizes are the aspect ratio's; without it the video's own; 16:9 if nothing is known."""
    for known in ({}, {"aspect_ratio": None, "_width": 1920, "_height": 1080}, {"_width": None}):
        box.change("media_library", OTHER_VIDEO, **{"_width": None, "_height": None} | known)
        record = data(post(box, PATH, **CARD | {"media_key": OTHER_VIDEO}))

        assert ("16", "9") == (record["video_width"], record["video_height"])


def test_aspect_unknown(box: Sandbox) -> None:
    """A video of which neither sizes nor aspect ratio are known is not refused for its aspect."""
    box.change("media_library", OTHER_VIDEO, _width=None, _height=None, aspect_ratio=None)
    unknown = post(box, PATH, **CARD | {"media_key": OTHER_VIDEO})
    box.change("media_library", OTHER_VIDEO, _width=640, _height=480)
    narrow = post(box, PATH, **CARD | {"media_key": OTHER_VIDEO})

    assert (200, 400) == (unknown.status_code, narrow.status_code)
    assert narrow.get_json()["errors"][0]["message"].endswith("has 1.33:1")


def test_all_violations_at_once(box: Sandbox) -> None:
    """Lengths, lacks, pairs and the either-or are reported together; so are unknown media."""
    response = post(box, PATH, name="x" * 81, first_cta="a b", third_cta="#c", media_key=VIDEO)
    unknown = post(box, PATH, **FULL | dict.fromkeys(MEDIA_NAMES, UNKNOWN))

    assert [
        (INCLUSIVE, "third_cta_post"),
        (INVALID, "first_cta"),
        (INVALID, "name"),
        (MISSING, "first_cta_post"),
        (MISSING, "second_cta"),
        (MISSING, "thank_you_text"),
        (MISSING, "title"),
    ] == sorted(faults(response), key=str)
    assert [("MEDIA_NOT_FOUND", name) for name in MEDIA_NAMES] == faults(unknown)


UPDATES: list[dict[str, str]] = [
    {name: value} for name, value in CARD.items() if name != "media_key"
] + [
    {"third_cta": "#Third", "third_cta_post": "Third."},
    {"fourth_cta": "#Fourth", "fourth_cta_post": "Fourth."},
    {"second_cta": "#Second", "second_cta_post": "Second."},
    {"thank_you_url": "https://example.com"},
]


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
@pytest.mark.spec("B, Not shown", "Parameters of this")
@pytest.mark.parametrize("params", UPDATES)
def test_update(box: Sandbox, params: dict[str, str]) -> None:
    """Each field changes alone, with its pair where it has one; updated_at moves."""
    before = data(get(box, f"{PATH}/{ONE}"))
    response = put(box, f"{PATH}/{ONE}", **params)
    after = data(response)

    assert after == before | params | {"updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert after == data(get(box, f"{PATH}/{ONE}"))
    expected = params | {"account_id": ACCOUNT, "card_id": ONE, "card_type": "VIDEO_CONVERSATION"}
    assert expected == echo(response)


def vmap(video: Record) -> str:
    """The address under which a card shows a video of the library."""
    return str(video["media_url"]).replace(".mp4", ".vmap")


def test_own_poster(box: Sandbox) -> None:
    """The key of the video's first frame is a poster, that of another video's is not."""
    own, other = ("3_" + key.partition("_")[2] for key in (VIDEO, AMPLIFY))
    made = data(post(box, PATH, **CARD | {"poster_media_key": own}))
    changed = data(put(box, f"{PATH}/{ONE}", poster_media_key=own))
    refused = [
        post(box, PATH, **CARD | {"poster_media_key": other}),
        put(box, f"{PATH}/{ONE}", poster_media_key=other),
    ]

    for card in (made, changed):
        assert card["poster_media_url"].endswith("/cold-brew-story/first_frame.jpg")
    assert [404, 404] == [response.status_code for response in refused]


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
def test_update_of_media(box: Sandbox) -> None:
    """Another video brings its address, poster and sizes; a chosen poster outlives it."""
    other = data(put(box, f"{PATH}/{ONE}", media_key=AMPLIFY))
    chosen = data(put(box, f"{PATH}/{ONE}", poster_media_key=SQUARE))
    kept = data(put(box, f"{PATH}/{ONE}", media_key=VIDEO))
    unset = data(put(box, f"{PATH}/{ONE}", poster_media_key=""))
    amplify, video, square = (
        data(get(box, f"media_library/{key}")) for key in (AMPLIFY, VIDEO, SQUARE)
    )

    assert (vmap(amplify), amplify["poster_media_url"], "16", "9") == tuple(
        other[name] for name in ("media_url", "poster_media_url", "video_width", "video_height")
    )
    assert square["media_url"] == chosen["poster_media_url"] == kept["poster_media_url"]
    assert (vmap(video), video["poster_media_url"], "16") == (
        unset["media_url"],
        unset["poster_media_url"],
        unset["video_width"],
    )


def test_update_after_the_video_left_the_library(box: Sandbox) -> None:
    """A card keeps showing a video that was deleted from the library."""
    before = data(get(box, f"{PATH}/{ONE}"))
    delete(box, f"media_library/{VIDEO}")
    after = data(put(box, f"{PATH}/{ONE}", poster_media_key=SQUARE))

    assert before["media_url"] == after["media_url"]
    assert before["poster_media_url"] != after["poster_media_url"]


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
def test_unset(box: Sandbox) -> None:
    """An empty value takes an optional field away, pairs together."""
    record = data(put(box, f"{PATH}/{FOUR}", fourth_cta="", fourth_cta_post="", title=""))

    assert not {"fourth_cta", "fourth_cta_post", "title"} & record.keys()
    assert "third_cta" in record
    assert record == data(get(box, f"{PATH}/{FOUR}"))


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
@pytest.mark.parametrize(
    ("card", "params", "expected"),
    [
        (ONE, {"title": ""}, [(MISSING, "second_cta"), (MISSING, "title")]),
        (
            TWO,
            {"second_cta": "", "second_cta_post": ""},
            [(MISSING, "second_cta"), (MISSING, "title")],
        ),
        (FOUR, {"fourth_cta": ""}, [(INCLUSIVE, "fourth_cta_post")]),
        (FOUR, {"fourth_cta_post": ""}, [(INCLUSIVE, "fourth_cta_post")]),
        (ONE, {"third_cta": "#Third"}, [(INCLUSIVE, "third_cta_post")]),
        (ONE, {"third_cta_post": "Third."}, [(INCLUSIVE, "third_cta_post")]),
        *((FOUR, {name: ""}, [(INVALID, name)]) for name in REQUIRED),
    ],
)
def test_update_keeps_the_rules(
    box: Sandbox, card: str, params: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    """The rules apply to the card after the update; a refused update changes nothing."""
    before = box.record("video_conversation_cards", card)
    response = put(box, f"{PATH}/{card}", **params)

    assert (400, expected) == (response.status_code, sorted(faults(response), key=str))
    assert before == box.record("video_conversation_cards", card)


def test_unrelated_update_of_an_odd_card(box: Sandbox) -> None:
    """An update never trips over a rule in which it takes no part."""
    odd = without(box.record("video_conversation_cards", ONE), "title")
    box.put("video_conversation_cards", ONE, odd)

    assert "New" == data(put(box, f"{PATH}/{ONE}", name="New"))["name"]


@pytest.mark.parametrize("key", ["nothing", "1712880000007000021", "1712880000005000015"])
def test_update_of_unknown(box: Sandbox, key: str) -> None:
    """A card that is unknown, another account's or deleted answers 404."""
    assert (404, [("CARD_NOT_FOUND", "card_id")]) == refusal(put(box, f"{PATH}/{key}", name="New"))
