"""Image conversation cards: their own operations, and those of all cards that find them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ACCOUNT, Sandbox, refusal, sandbox

CARDS = f"/12/accounts/{ACCOUNT}/cards"
PATH = f"{CARDS}/image_conversation"
LEGACY, OTHER_TYPE = "57i77", "1712860000001000003"
WIDE, SMALLEST, SMALL = "3_1712850617439550001", "3_1712850617439550003", "3_1712850617439550004"
SQUARE, VIDEO = "3_1712850617439550002", "7_1712850617439550009"
SENT = {
    "name": "Cup or mug",
    "title": "Beans or ground?",
    "first_cta": "#Beans",
    "first_cta_post": "Beans, freshly ground.",
    "thank_you_text": "Thanks for choosing",
    "media_key": WIDE,
}


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own."""
    return sandbox()


def ask(box: Sandbox, method: str, path: str = PATH, **query: str) -> dict[str, Any]:
    """The body of a successful call."""
    answer = box.call(method, path, query_string=query)
    assert 200 == answer.status_code, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def test_created(box: Sandbox) -> None:
    """Only what is set is served, with the sizes of the image as strings in pixels."""
    body = ask(box, "POST", **SENT)
    card = body["data"]

    assert {**SENT, "account_id": ACCOUNT, "card_type": "IMAGE_CONVERSATION"} == (
        body["request"]["params"]
    )
    assert {
        *SENT,
        "id",
        "media_url",
        "image_display_width",
        "image_display_height",
        "card_uri",
        "card_type",
        "created_at",
        "updated_at",
        "deleted",
    } == set(card)
    assert ("1200", "628") == (card["image_display_width"], card["image_display_height"])
    assert f"card://{card['id']}" == card["card_uri"]
    assert box.record("media_library", WIDE)["media_url"] == card["media_url"]


def test_read_and_listed(box: Sandbox) -> None:
    """Those of the fixtures are among them; deleted ones when asked for; other types never."""
    box.change("cards", "57jc4", deleted=True)
    listed, one = ask(box, "GET"), ask(box, "GET", f"{PATH}/{LEGACY}")
    every = ask(box, "GET", with_deleted="true")["data"]

    assert {"account_id": ACCOUNT, "card_type": "image_conversation"} == (
        listed["request"]["params"]
    )
    assert {"IMAGE_CONVERSATION"} == {card["card_type"] for card in every}
    assert len(every) > len(listed["data"]) > 0
    assert one["data"] in listed["data"]
    for key in (OTHER_TYPE, "1"):
        assert (404, [("CARD_NOT_FOUND", "card_id")]) == refusal(box.call("GET", f"{PATH}/{key}"))


def test_filters(box: Sandbox) -> None:
    """By id, and by the beginning of the name in any case."""
    made = ask(box, "POST", **SENT)["data"]["id"]

    assert [made] == [c["id"] for c in ask(box, "GET", card_ids=f"{made},{OTHER_TYPE}")["data"]]
    assert [made] == [c["id"] for c in ask(box, "GET", q="CUP")["data"]]
    assert 2 <= ask(box, "GET", with_total_count="true")["total_count"]


def test_found_by_the_operations_of_all_cards(box: Sandbox) -> None:
    """As a legacy card it is read, listed, put into posts and deleted under its type."""
    card = ask(box, "POST", **SENT)["data"]
    path = f"{CARDS}/{card['id']}"
    listed = ask(box, "GET", CARDS, include_legacy_cards="true", card_types="IMAGE_CONVERSATION")
    post = {"as_user_id": "2244994945", "text": "a", "card_uri": card["card_uri"]}
    posted = box.call("POST", f"/12/accounts/{ACCOUNT}/post", query_string=post)
    gone = ask(box, "DELETE", f"{PATH}/{card['id']}")

    assert card in listed["data"]
    assert 200 == posted.status_code
    assert {"account_id": ACCOUNT, "card_id": card["id"], "card_type": "image_conversation"} == (
        gone["request"]["params"]
    )
    assert card | {"deleted": True, "updated_at": gone["data"]["updated_at"]} == gone["data"]
    assert 404 == box.call("GET", path).status_code
    assert 404 == box.call("DELETE", f"{PATH}/{card['id']}").status_code


@pytest.mark.parametrize("under", ["image_conversation", "IMAGE_CONVERSATION", None])
def test_nothing_stays_of_a_deleted_card(box: Sandbox, under: str | None) -> None:
    """The delete answers with the record as deleted; then no read shows it, whatever it asks."""
    path = f"{CARDS}/{LEGACY}" if under is None else f"{CARDS}/{under}/{LEGACY}"
    gone = ask(box, "DELETE", path)["data"]
    all_of_them = {"with_deleted": "true", "include_legacy_cards": "true"}

    assert (LEGACY, True) == (gone["id"], gone["deleted"])
    for each in (f"{PATH}/{LEGACY}", f"{CARDS}/{LEGACY}", f"{CARDS}/all/{LEGACY}"):
        assert 404 == box.call("GET", each, query_string={"with_deleted": "true"}).status_code
    for each in (PATH, CARDS):
        listed = ask(box, "GET", each, **all_of_them)["data"]
        assert LEGACY not in [card["id"] for card in listed]
    assert box.world.store.get("cards", LEGACY) is None


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize("key", ["UNKNOWN", OTHER_TYPE])
def test_a_refusal_names_the_card(box: Sandbox, method: str, key: str) -> None:
    """The id of a card that does not exist, or has another type, is in the message."""
    (error,) = box.call(method, f"{PATH}/{key}").get_json()["errors"]

    assert f"No image conversation card has the id {key!r}" == error["message"]


def test_changed(box: Sandbox) -> None:
    """What is sent changes, an empty value unsets, and another image shows its sizes."""
    path = f"{PATH}/{ask(box, 'POST', **SENT)['data']['id']}"
    sent = {"second_cta": "#Ground", "second_cta_post": "Ground, please.", "title": ""}
    body = ask(box, "PUT", path, **sent, media_key=SMALLEST)

    assert "IMAGE_CONVERSATION" == body["request"]["params"]["card_type"]
    assert "title" not in body["data"]
    assert ("#Ground", SMALLEST, "800", "419") == (
        body["data"]["second_cta"],
        body["data"]["media_key"],
        body["data"]["image_display_width"],
        body["data"]["image_display_height"],
    )
    refused = box.call("PUT", path, query_string={"second_cta": "", "second_cta_post": ""})
    assert (400, {("MISSING_PARAMETER", "title"), ("MISSING_PARAMETER", "second_cta")}) == (
        refused.status_code,
        {(error["code"], error["parameter"]) for error in refused.get_json()["errors"]},
    )
    assert 400 == box.call("PUT", f"{CARDS}/{LEGACY}", json={"name": "A"}).status_code


def test_the_unlocked_image(box: Sandbox) -> None:
    """5:2, and never served."""
    box.put(
        "media_library",
        "3_77",
        box.record("media_library", WIDE)
        | {"media_key": "3_77", "_width": 1000, "_height": 400, "aspect_ratio": "5:2"},
    )
    card = ask(box, "POST", **SENT, unlocked_image_media_key="3_77")["data"]
    wrong = SENT | {"unlocked_image_media_key": SQUARE}

    assert "unlocked_image_media_key" not in card
    assert "3_77" == box.record("cards", card["id"])["_unlocked_image_media_key"]
    assert (400, [("INVALID_IMAGE", "unlocked_image_media_key")]) == refusal(
        box.call("POST", PATH, query_string=wrong)
    )


@pytest.mark.parametrize(
    ("sent", "status", "error"),
    [
        *(
            ({name: None}, 400, ("MISSING_PARAMETER", name))
            for name in ("name", "first_cta", "first_cta_post", "thank_you_text", "media_key")
        ),
        ({"name": "x" * 81}, 400, ("INVALID_PARAMETER", "name")),
        ({"title": "x" * 24}, 400, ("INVALID_PARAMETER", "title")),
        ({"thank_you_text": "x" * 24}, 400, ("INVALID_PARAMETER", "thank_you_text")),
        ({"first_cta": "#" + "x" * 21}, 400, ("INVALID_PARAMETER", "first_cta")),
        ({"second_cta": "#B"}, 400, ("INCLUSIVE_PARAMETERS", "second_cta_post")),
        ({"fourth_cta_post": "b"}, 400, ("INCLUSIVE_PARAMETERS", "fourth_cta_post")),
        ({"media_key": "3_9"}, 404, ("MEDIA_NOT_FOUND", "media_key")),
        ({"media_key": SMALL}, 400, ("INVALID_IMAGE", "media_key")),
        ({"media_key": SQUARE}, 400, ("INVALID_IMAGE", "media_key")),
        ({"media_key": VIDEO}, 400, ("INVALID_IMAGE", "media_key")),
        ({"thank_you_url": "no"}, 400, ("INVALID_PARAMETER", "thank_you_url")),
    ],
)
def test_what_is_refused(
    box: Sandbox, sent: dict[str, str | None], status: int, error: tuple[str, str]
) -> None:
    """Lengths, pairs, and an image of at least 800 pixels and 1.91:1."""
    query = {name: value for name, value in (SENT | sent).items() if value is not None}

    assert (status, [error]) == refusal(box.call("POST", PATH, query_string=query))


def test_the_longest_texts(box: Sandbox) -> None:
    """80 characters for a name, 23 for title and thanks, 20 for a hashtag without its sign."""
    long = {"name": "x" * 80, "title": "x" * 23, "thank_you_text": "x" * 23}
    ask(box, "POST", **SENT | long | {"first_cta": "#" + "x" * 20, "media_key": SMALLEST})


def test_strict_refuses_them() -> None:
    """The specification shows the type and its delete only."""
    box = sandbox(strict=True)

    assert 501 == box.call("GET", PATH).status_code
    assert 200 == box.call("DELETE", f"{PATH}/{LEGACY}").status_code
