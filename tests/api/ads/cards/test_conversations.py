"""Conversation cards: every rule of document B, just inside and just outside."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.world.store.interface import Record
from tests.api.ads.cards.creatives import (
    AMPLIFY,
    DELETED_VIDEO,
    FOREIGN_VIDEO,
    GIF,
    IMAGE,
    IMAGE_640,
    IMAGE_800,
    OTHER_VIDEO,
    SQUARE,
    SQUARE_VIDEO,
    TALL_VIDEO,
    UNKNOWN,
    UPLOADED_GIF,
    UPLOADED_IMAGE,
    UPLOADED_VIDEO,
    VIDEO,
)
from tests.api.ads.support import (
    BASE,
    alter,
    assumptions,
    delete,
    drop,
    echo,
    get,
    ids,
    load,
    make,
    post,
    put,
    without,
)
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of, faults, refusal

PATH, IMAGES = "cards/video_conversation", "cards/image_conversation"
CARD = {
    "name": "New", "title": "Which one?", "first_cta": "#First",
    "first_cta_post": "I take the first.", "thank_you_text": "Thank you!", "media_key": VIDEO,
}  # fmt: skip
FULL = CARD | {
    "second_cta": "#Second", "second_cta_post": "The second.", "third_cta": "#Third",
    "third_cta_post": "The third.", "fourth_cta": "#Fourth", "fourth_cta_post": "The fourth.",
    "thank_you_url": "https://shop.example.com/thanks", "poster_media_key": SQUARE,
    "unlocked_image_media_key": IMAGE, "unlocked_video_media_key": OTHER_VIDEO,
}  # fmt: skip
REQUIRED = ["name", "first_cta", "first_cta_post", "thank_you_text", "media_key"]
ONE = "1712880000001000003"  # title, one call to action
TWO = "1712880000002000006"  # no title, two
FOUR = "1712880000003000009"  # title, four
LEGACY, OTHER_TYPE = "57i77", "1712860000001000003"
INVALID, MISSING, INCLUSIVE = "INVALID_PARAMETER", "MISSING_PARAMETER", "INCLUSIVE_PARAMETERS"
MEDIA_NAMES = [
    "media_key", "poster_media_key", "unlocked_image_media_key", "unlocked_video_media_key",
]  # fmt: skip


def vmap(video: Record) -> str:
    """The address under which a card shows a video of the library."""
    return str(video["media_url"]).replace(".mp4", ".vmap")


create = partial(Refusal, f"POST {BASE}/{PATH}")
picture = partial(Refusal, f"POST {BASE}/{IMAGES}")
PICTURE = CARD | {"media_key": IMAGE}
REFUSED = [
    *(create(f"{name} is required", 400, [(MISSING, name)], query=without(CARD, name),
             spec={"B, Video conversation cards": ["POST .../video_conversation"]})
      for name in REQUIRED),
    *(create(f"{url!r} is no address", 400, [(INVALID, "thank_you_url")],
             query=CARD | {"thank_you_url": url},
             spec={"B, Video conversation card": ["thank_you_text"],
                   "B, Video conversation cards": ["poster_media_key"]})
      for url in ("example.com", "ftp://example.com", "https://")),
    create("an upload is no video of the library", 404, [("MEDIA_NOT_FOUND", "media_key")],
           query=CARD | {"media_key": UPLOADED_VIDEO},
           spec={"B, Video conversation cards": ["POST .../video_conversation"]}),
    create("lengths, lacks, pairs and the either-or are named together", 400,
           [(INVALID, "name"), (INVALID, "first_cta"), (MISSING, "first_cta_post"),
            (MISSING, "thank_you_text"), (MISSING, "title"), (MISSING, "second_cta"),
            (INCLUSIVE, "third_cta_post")],
           query={"name": "x" * 81, "first_cta": "a b", "third_cta": "#c", "media_key": VIDEO}),
    create("all unknown media are named together", 404,
           [("MEDIA_NOT_FOUND", name) for name in MEDIA_NAMES],
           query=FULL | dict.fromkeys(MEDIA_NAMES, UNKNOWN)),
    *(Refusal(f"PUT {BASE}/{PATH}/{key}", f"card {key} is not there", 404,
              [("CARD_NOT_FOUND", "card_id")], query={"name": "New"})
      for key in ("nothing", "1712880000007000021", "1712880000005000015")),
    *(picture(f"image: {name} is required", 400, [(MISSING, name)], query=without(PICTURE, name))
      for name in REQUIRED),
    *(picture(f"image: {name} is too long", 400, [(INVALID, name)], query=PICTURE | {name: value})
      for name, value in (("name", "x" * 81), ("title", "x" * 24), ("thank_you_text", "x" * 24),
                          ("first_cta", "#" + "x" * 21), ("thank_you_url", "no"))),
    *(picture(f"image: {holds}", status, [(code, name)], query=PICTURE | {name: key})
      for holds, status, code, name, key in (
          ("media exist", 404, "MEDIA_NOT_FOUND", "media_key", "3_9"),
          ("an image is 800 px wide", 400, "INVALID_IMAGE", "media_key", IMAGE_640),
          ("an image is 1.91:1", 400, "INVALID_IMAGE", "media_key", SQUARE),
          ("an image is no video", 400, "INVALID_IMAGE", "media_key", VIDEO),
          ("an unlocked image is 5:2", 400, "INVALID_IMAGE", "unlocked_image_media_key", SQUARE),
          ("an unlocked image is no video", 400, "INVALID_IMAGE", "unlocked_image_media_key",
           VIDEO))),
    picture("image: a call to action has a post", 400, [(INCLUSIVE, "second_cta_post")],
            query=PICTURE | {"second_cta": "#B"}),
    picture("image: a post has a call to action", 400, [(INCLUSIVE, "fourth_cta_post")],
            query=PICTURE | {"fourth_cta_post": "b"}),
    *(Refusal(f"{method} {BASE}/{IMAGES}/{key}", f"{method} {key} is no image conversation", 404,
              [("CARD_NOT_FOUND", "card_id")],
              messages=[f"No image conversation card has the id {key!r}"])
      for method in ("GET", "PUT") for key in ("UNKNOWN", OTHER_TYPE)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """What is required, lengths, pairs, and media that fit."""
    row.check(box)


@pytest.mark.spec("B, Video conversation card", "id, name, title", "media_key, media_url")
@pytest.mark.spec("B, Video conversation cards", "POST .../video_conversation")
@pytest.mark.spec("B, What public facts and settled questions add", "Numbers of poll")
@pytest.mark.spec("B, What public facts and settled questions add", "Poll and conversation")
def test_create(box: Sandbox) -> None:
    """The card shows its media by address, sizes as strings, and leaves unset fields out."""
    response = post(box, PATH, **CARD)
    record, video = data_of(response), load(box, f"media_library/{VIDEO}")

    assert CARD | {
        "id": record["id"], "media_url": vmap(video),
        "poster_media_url": video["poster_media_url"], "video_owner_id": "2244994945",
        "video_width": "16", "video_height": "9", "card_uri": f"card://{record['id']}",
        "card_type": "VIDEO_CONVERSATION", "created_at": record["created_at"],
        "updated_at": record["created_at"], "deleted": False,
    } == record  # fmt: skip
    assert record == load(box, f"{PATH}/{record['id']}")
    assert record in load(box, PATH)
    assert CARD | {"account_id": ACCOUNT, "card_type": "VIDEO_CONVERSATION"} == echo(response)


@pytest.mark.spec("B, Video conversation card", "first_cta_post")
@pytest.mark.spec("B, Video conversation cards", "poster_media_key")
def test_create_with_everything(box: Sandbox) -> None:
    """All fields together; keys of poster and unlocked media are accepted and not served."""
    record = make(box, PATH, **FULL)
    write_only = ("poster_media_key", "unlocked_image_media_key", "unlocked_video_media_key")

    assert without(FULL, *write_only).items() <= record.items()
    assert not set(write_only) & record.keys()
    assert load(box, f"media_library/{SQUARE}")["media_url"] == record["poster_media_url"]


@pytest.mark.spec("B, Video conversation cards", "Optional title")
def test_title_or_second(box: Sandbox) -> None:
    """Title, second call to action, or both; neither is too little."""
    second = {"second_cta": "#Second", "second_cta_post": "The second."}
    neither = post(box, PATH, **without(CARD, "title"))

    assert make(box, PATH, **CARD | second)
    assert "title" not in make(box, PATH, **without(CARD, "title") | second)
    assert neither.status_code == 400
    assert [(MISSING, "second_cta"), (MISSING, "title")] == sorted(faults(neither), key=str)


@pytest.mark.spec("B, Video conversation card", "first_cta_post")
@pytest.mark.spec("B, Video conversation cards", "second_cta_post", "poster_media_key")
@pytest.mark.parametrize("ordinal", ["second", "third", "fourth"])
def test_pairs(box: Sandbox, ordinal: str) -> None:
    """A call to action and its post need each other."""
    cta, text = {f"{ordinal}_cta": "#Tag"}, {f"{ordinal}_cta_post": "Text."}

    assert (cta | text).items() <= make(box, PATH, **CARD, **cta, **text).items()
    for half in (cta, text):
        response = post(box, PATH, **CARD, **half)
        assert (400, [(INCLUSIVE, f"{ordinal}_cta_post")]) == refusal(response)


@pytest.mark.spec("B, Video conversation card", "first_cta to fourth_cta")
@pytest.mark.spec("B, Limits", "Field lengths: CTA")
@pytest.mark.parametrize("name", ["first_cta", "second_cta", "third_cta", "fourth_cta"])
@pytest.mark.parametrize(("value", "fine"), [
    ("#" + "a" * 20, True), ("#" + "a" * 21, False), ("a" * 20, True), ("a" * 21, False),
    ("#a", True), ("#", False), ("", False), ("##a", False), ("#a b", False), ("#a-b", False),
    ("#Kaffee_Röster", True),
])  # fmt: skip
def test_hashtags(box: Sandbox, name: str, value: str, fine: bool) -> None:
    """A call to action is a hashtag of at most 20 characters, # not counted."""
    response = post(box, PATH, **FULL | {name: value})
    if fine:
        assert value == data_of(response)[name]
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

    assert "é" * most == data_of(write("é" * most))[name]
    assert [(INVALID, name)] == faults(write("é" * (most + 1)))


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
def test_uploads_beside_the_video(box: Sandbox) -> None:
    """For posters and unlocked media an upload suffices."""
    keys = dict.fromkeys(("poster_media_key", "unlocked_image_media_key"), UPLOADED_IMAGE)

    assert make(box, PATH, **CARD, **keys, unlocked_video_media_key=UPLOADED_VIDEO)


@pytest.mark.spec("B, Video conversation cards", "POST .../video_conversation")
@pytest.mark.parametrize(("known", "wrong"), [
    ({"_width": 1920, "_height": 1080}, None), ({"_width": 854, "_height": 480}, None),
    ({"_width": 640, "_height": 480}, "16:9"), ({"_width": 1280, "_height": 700}, "16:9"),
    ({}, None), ({"aspect_ratio": None, "_width": 1920, "_height": 1080}, None),
    ({"aspect_ratio": None}, None),
    ({"aspect_ratio": None, "_width": 640, "_height": 480}, "1.33:1"),
])  # fmt: skip
def test_aspect(box: Sandbox, known: dict[str, Any], wrong: str | None) -> None:
    """The aspect follows from the sizes: 16:9 as exactly as whole pixels allow.

    Sizes are the aspect ratio's; without it the video's own; 16:9 if nothing is known.
    """
    box.change("media_library", OTHER_VIDEO, **{"_width": None, "_height": None} | known)
    response = post(box, PATH, **CARD | {"media_key": OTHER_VIDEO})
    if wrong is None:
        record = data_of(response)
        assert ("16", "9") == (record["video_width"], record["video_height"])
    else:
        (error,) = response.get_json()["errors"]
        assert 400 == response.status_code
        assert error["message"].endswith(f"has {wrong}")


UPDATES: list[dict[str, str]] = [
    *({name: value} for name, value in CARD.items() if name != "media_key"),
    *(
        {f"{each}_cta": "#Tag", f"{each}_cta_post": "Text."}
        for each in ("second", "third", "fourth")
    ),
    {"thank_you_url": "https://example.com"},
]


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
@pytest.mark.spec("B, Not shown", "Parameters of this")
@pytest.mark.parametrize("params", UPDATES)
def test_update(box: Sandbox, params: dict[str, str]) -> None:
    """Each field changes alone, with its pair where it has one; updated_at moves."""
    before = load(box, f"{PATH}/{ONE}")
    response = put(box, f"{PATH}/{ONE}", **params)
    after = data_of(response)

    assert after == before | params | {"updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert after == load(box, f"{PATH}/{ONE}")
    expected = params | {"account_id": ACCOUNT, "card_id": ONE, "card_type": "VIDEO_CONVERSATION"}
    assert expected == echo(response)


def test_own_poster(box: Sandbox) -> None:
    """The key of the video's first frame is a poster, that of another video's is not."""
    own, other = ({"poster_media_key": f"3_{key.partition('_')[2]}"} for key in (VIDEO, AMPLIFY))

    for card in (make(box, PATH, **CARD, **own), alter(box, f"{PATH}/{ONE}", **own)):
        assert card["poster_media_url"].endswith("/cold-brew-story/first_frame.jpg")
    for refused in (post(box, PATH, **CARD, **other), put(box, f"{PATH}/{ONE}", **other)):
        assert 404 == refused.status_code


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
def test_update_of_media(box: Sandbox) -> None:
    """Another video brings its address, poster and sizes; a chosen poster outlives it.

    A card keeps showing a video that was deleted from the library.
    """
    amplify, video, square = (load(box, f"media_library/{key}") for key in (AMPLIFY, VIDEO, SQUARE))

    def shown(**query: str) -> tuple[Any, ...]:
        card = alter(box, f"{PATH}/{ONE}", **query)
        return tuple(card[name] for name in SHOWN)

    own, chosen = video["poster_media_url"], square["media_url"]
    assert (vmap(amplify), amplify["poster_media_url"], "16", "9") == shown(media_key=AMPLIFY)
    assert (vmap(amplify), chosen, "16", "9") == shown(poster_media_key=SQUARE)
    assert (vmap(video), chosen, "16", "9") == shown(media_key=VIDEO)
    assert (vmap(video), own, "16", "9") == shown(poster_media_key="")
    delete(box, f"media_library/{VIDEO}")
    assert (vmap(video), chosen, "16", "9") == shown(poster_media_key=SQUARE)


SHOWN = ("media_url", "poster_media_url", "video_width", "video_height")


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
def test_unset(box: Sandbox) -> None:
    """An empty value takes an optional field away, pairs together."""
    record = alter(box, f"{PATH}/{FOUR}", fourth_cta="", fourth_cta_post="", title="")

    assert not {"fourth_cta", "fourth_cta_post", "title"} & record.keys()
    assert "third_cta" in record
    assert record == load(box, f"{PATH}/{FOUR}")


@pytest.mark.spec("B, Video conversation cards", "PUT .../video_conversation/:card_id")
@pytest.mark.parametrize(("card", "params", "expected"), [
    (ONE, {"title": ""}, [(MISSING, "second_cta"), (MISSING, "title")]),
    (TWO, {"second_cta": "", "second_cta_post": ""}, [(MISSING, "second_cta"), (MISSING, "title")]),
    (FOUR, {"fourth_cta": ""}, [(INCLUSIVE, "fourth_cta_post")]),
    (FOUR, {"fourth_cta_post": ""}, [(INCLUSIVE, "fourth_cta_post")]),
    (ONE, {"third_cta": "#Third"}, [(INCLUSIVE, "third_cta_post")]),
    (ONE, {"third_cta_post": "Third."}, [(INCLUSIVE, "third_cta_post")]),
    *((FOUR, {name: ""}, [(INVALID, name)]) for name in REQUIRED),
])  # fmt: skip
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

    assert "New" == alter(box, f"{PATH}/{ONE}", name="New")["name"]


# -- with an image ------------------------------------------------------------------------------


def test_an_image_card_is_created(box: Sandbox) -> None:
    """Only what is set is served, with the sizes of the image as strings in pixels."""
    response = post(box, IMAGES, **PICTURE)
    record = data_of(response)

    assert {"account_id": ACCOUNT, "card_type": "IMAGE_CONVERSATION"} | PICTURE == echo(response)
    assert record == PICTURE | {
        "id": record["id"], "media_url": box.record("media_library", IMAGE)["media_url"],
        "image_display_width": "1200", "image_display_height": "628",
        "card_uri": f"card://{record['id']}", "card_type": "IMAGE_CONVERSATION",
        "created_at": record["created_at"], "updated_at": record["created_at"], "deleted": False,
    }  # fmt: skip


def test_image_cards_are_read_and_listed(box: Sandbox) -> None:
    """Those of the fixtures are among them; deleted ones when asked for; other types never."""
    box.change("cards", "57jc4", deleted=True)
    listed, one = get(box, IMAGES), get(box, f"{IMAGES}/{LEGACY}")
    every = load(box, IMAGES, with_deleted="true")

    assert {"account_id": ACCOUNT, "card_type": "image_conversation"} == echo(listed)
    assert {"IMAGE_CONVERSATION"} == {card["card_type"] for card in every}
    assert len(every) > len(data_of(listed)) > 0
    assert data_of(one) in data_of(listed)


def test_filters_of_image_cards(box: Sandbox) -> None:
    """By id, and by the beginning of the name in any case."""
    key = make(box, IMAGES, **PICTURE | {"name": "Cup or mug"})["id"]

    for query in ({"card_ids": f"{key},{OTHER_TYPE}"}, {"q": "CUP"}):
        assert [key] == ids(get(box, IMAGES, **query))
    assert 2 <= get(box, IMAGES, with_total_count="true").get_json()["total_count"]


def test_image_cards_among_all_cards(box: Sandbox) -> None:
    """As a legacy card it is read, listed, put into posts and deleted under its type."""
    card = make(box, IMAGES, **PICTURE)
    types = {"include_legacy_cards": "true", "card_types": "IMAGE_CONVERSATION"}
    expected = {"account_id": ACCOUNT, "card_id": card["id"], "card_type": "image_conversation"}

    assert card in load(box, "cards", **types)
    assert make(box, "post", as_user_id="2244994945", text="a", card_uri=card["card_uri"])
    gone = delete(box, f"{IMAGES}/{card['id']}")
    assert expected == echo(gone)
    assert card | {"deleted": True, "updated_at": data_of(gone)["updated_at"]} == data_of(gone)
    assert 404 == get(box, f"cards/{card['id']}").status_code


@pytest.mark.parametrize("under", ["/image_conversation", "/IMAGE_CONVERSATION", ""])
def test_nothing_stays_of_a_deleted_image_card(box: Sandbox, under: str) -> None:
    """The delete answers with the record as deleted; then no read shows it, whatever it asks."""
    gone = drop(box, f"cards{under}/{LEGACY}")
    all_of_them = {"with_deleted": "true", "include_legacy_cards": "true"}

    assert (LEGACY, True) == (gone["id"], gone["deleted"])
    for path in (IMAGES, "cards", "cards/all"):
        assert 404 == get(box, f"{path}/{LEGACY}", with_deleted="true").status_code
    for path in (IMAGES, "cards"):
        assert LEGACY not in [card["id"] for card in load(box, path, **all_of_them)]
    assert box.world.store.get("cards", LEGACY) is None


def test_an_image_card_is_changed(box: Sandbox) -> None:
    """What is sent changes, an empty value unsets, and another image shows its sizes."""
    path = f"{IMAGES}/{make(box, IMAGES, **PICTURE)['id']}"
    sent = {"second_cta": "#Ground", "second_cta_post": "Ground, please.", "media_key": IMAGE_800}
    response = put(box, path, **sent, title="")
    record = data_of(response)
    sizes = {"image_display_width": "800", "image_display_height": "419"}

    assert "IMAGE_CONVERSATION" == echo(response)["card_type"]
    assert "title" not in record
    assert (sent | sizes).items() <= record.items()
    lacks = [(MISSING, "title"), (MISSING, "second_cta")]
    query = {"second_cta": "", "second_cta_post": ""}
    Refusal(f"PUT {BASE}/{path}", "neither is left", 400, lacks, query=query).check(box)
    assert 400 == box.call("PUT", f"{BASE}/cards/{LEGACY}", json={"name": "A"}).status_code


def test_the_unlocked_image(box: Sandbox) -> None:
    """5:2, and never served; an empty value takes it away."""
    own = {"media_key": "3_77", "_width": 1000, "_height": 400, "aspect_ratio": "5:2"}
    box.put("media_library", "3_77", box.record("media_library", IMAGE) | own)
    card = make(box, IMAGES, **PICTURE, unlocked_image_media_key="3_77")
    stored = box.record("cards", card["id"])["_unlocked_image_media_key"]
    unset = alter(box, f"{IMAGES}/{card['id']}", unlocked_image_media_key="")

    assert "unlocked_image_media_key" not in card | unset
    assert "3_77" == stored
    assert box.record("cards", card["id"])["_unlocked_image_media_key"] is None


def test_the_longest_texts_of_an_image_card(box: Sandbox) -> None:
    """80 characters for a name, 23 for title and thanks, 20 for a hashtag without its sign."""
    long = {"name": "x" * 80, "title": "x" * 23, "thank_you_text": "x" * 23}
    sent = PICTURE | long | {"first_cta": "#" + "x" * 20, "media_key": IMAGE_800}

    assert sent.items() <= make(box, IMAGES, **sent).items()
