"""Cards: every rule of document B, "Card" and "Cards", just inside and just outside."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.api.ads.cards.records import LABELS
from tests.api.ads.cards.creatives import (
    DELETED_IMAGE,
    FOREIGN_IMAGE,
    GIF,
    IMAGE,
    IMAGE_800,
    OTHER_VIDEO,
    SQUARE,
    TALL,
    UNKNOWN,
    UPLOADED_IMAGE,
    UPLOADED_VIDEO,
    VIDEO,
)
from tests.api.ads.support import BASE, assumptions, delete, drop, echo, get, ids, load, send
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of, faults, refusal, sandbox

WEBSITE_CARD = "1712860000001000003"
SLIDES_CARD = "1712860000005000015"
LEGACY_CARD = "57i77"
SEVEN = [IMAGE, SQUARE, IMAGE_800, TALL, GIF, UPLOADED_IMAGE, IMAGE]
JSON = dict[str, Any]


def media(key: str = IMAGE) -> JSON:
    """A MEDIA component."""
    return {"type": "MEDIA", "media_key": key}


def swipeable(*keys: str) -> JSON:
    """A SWIPEABLE_MEDIA component."""
    return {"type": "SWIPEABLE_MEDIA", "media_keys": list(keys)}


def website(**fields: Any) -> JSON:
    """A WEBSITE destination."""
    return {"type": "WEBSITE", "url": "https://shop.example.com/"} | fields


def app(**fields: Any) -> JSON:
    """An APP destination."""
    return {"type": "APP", "country_code": "US", "googleplay_app_id": "com.example"} | fields


def details(**fields: Any) -> JSON:
    """A DETAILS component."""
    return {"type": "DETAILS", "title": "Title", "destination": website()} | fields


def button(**fields: Any) -> JSON:
    """A BUTTON component."""
    label = {"type": "ENUM", "value": "INSTALL"}
    return {"type": "BUTTON", "label": label, "destination": app()} | fields


def create(box: Sandbox, *components: Any, **body: Any) -> Any:
    """Create a card of these components."""
    return send(box, "POST", "cards", {"name": "New", "components": list(components)} | body)


def without(component: JSON, *path: str) -> JSON:
    """A component without one of its fields, the last of a path."""
    if len(path) == 1:
        return {name: value for name, value in component.items() if name != path[0]}
    return component | {path[0]: without(component[path[0]], *path[1:])}


class TestType:
    """card_type follows from what a card holds."""

    @pytest.mark.spec("B, Card", "card_type values", "Order in the array")
    @pytest.mark.parametrize(("expected", "components"), [
        ("IMAGE_WEBSITE", [media(IMAGE), details()]),
        ("IMAGE_APP", [media(IMAGE), button()]),
        ("IMAGE_WEBSITE", [media(GIF), details()]),
        ("VIDEO_WEBSITE", [media(VIDEO), details()]),
        ("VIDEO_APP", [media(VIDEO), button()]),
        ("IMAGE_CAROUSEL_WEBSITE", [swipeable(IMAGE, GIF), details()]),
        ("IMAGE_CAROUSEL_APP", [swipeable(IMAGE, SQUARE), button()]),
        ("VIDEO_CAROUSEL_WEBSITE", [swipeable(VIDEO, OTHER_VIDEO), details()]),
        ("VIDEO_CAROUSEL_APP", [swipeable(VIDEO, UPLOADED_VIDEO), button()]),
        ("MIXED_MEDIA_SINGLE_DEST_CAROUSEL_WEBSITE", [swipeable(IMAGE, VIDEO), details()]),
        ("MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP", [swipeable(VIDEO, GIF), button()]),
    ])  # fmt: skip
    def test_components(self, box: Sandbox, expected: str, components: list[JSON]) -> None:
        """Components are stored and served in their order, whichever that is."""
        for order in (components, components[::-1]):
            record = data_of(create(box, *order))
            assert (expected, order) == (record["card_type"], record["components"])
            assert "slides" not in record

    @pytest.mark.spec("B, Card", "card_type values")
    @pytest.mark.spec("B, Cards", "POST /12/accounts/:account_id/cards")
    @pytest.mark.parametrize(("expected", "keys"), [
        ("IMAGE_MULTI_DEST_CAROUSEL_WEBSITE", [IMAGE, GIF]),
        ("IMAGE_MULTI_DEST_CAROUSEL_WEBSITE", [IMAGE] * 6),
        ("VIDEO_MULTI_DEST_CAROUSEL_WEBSITE", [VIDEO, OTHER_VIDEO, UPLOADED_VIDEO]),
        ("MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE", [VIDEO, IMAGE]),
    ])  # fmt: skip
    def test_slides(self, box: Sandbox, expected: str, keys: list[str]) -> None:
        """2 to 6 slides make a carousel with several destinations."""
        slides = [[media(key), details()] for key in keys]
        record = data_of(send(box, "POST", "cards", {"name": "New", "slides": slides}))

        assert (expected, slides) == (record["card_type"], record["slides"])
        assert "components" not in record


class TestCreate:
    """POST cards."""

    @pytest.mark.spec("B, Card", "id, name (max 80")
    @pytest.mark.spec("B, Cards", "Only cards created", "POST /12/accounts/:account_id/cards")
    @pytest.mark.spec("B, Limits", "Field lengths: card name", side="inside")
    @pytest.mark.spec("B, What public facts and settled questions add", "JSON endpoints")
    def test_answer(self, box: Sandbox) -> None:
        """The answer is the card, as it reads afterwards; the echo holds path parameters only.

        A name has up to 80 characters.
        """
        response = create(box, media(), details(), name="é" * 80)
        record = data_of(response)

        assert {
            "id": record["id"], "name": "é" * 80, "card_type": "IMAGE_WEBSITE",
            "card_uri": f"card://{record['id']}", "components": [media(), details()],
            "created_at": record["created_at"], "updated_at": record["created_at"],
            "deleted": False,
        } == record  # fmt: skip
        assert record["id"].isdecimal()
        assert {"account_id": ACCOUNT} == echo(response)
        assert record == load(box, f"cards/{record['id']}")
        assert record in load(box, "cards")

    def test_unknown_keys(self, box: Sandbox) -> None:
        """Unknown and read-only keys are ignored at every level."""
        parts = [media() | {"zz": 1}, details(destination=website(zz=1), zz={})]
        record = data_of(create(box, *parts, id="5", card_type="VIDEO_APP", zz=1))

        assert [media(), details()] == record["components"]
        assert ("IMAGE_WEBSITE", False) == (record["card_type"], record["id"] == "5")

    @pytest.mark.spec("B, Card", "SWIPEABLE_MEDIA")
    @pytest.mark.spec("B, Limits", "Swipeable media", side="inside")
    @pytest.mark.parametrize("number", [2, 6])
    def test_swipeable_media(self, box: Sandbox, number: int) -> None:
        """2 to 6 media can be swiped."""
        record = data_of(create(box, swipeable(*SEVEN[:number]), details()))

        assert "IMAGE_CAROUSEL_WEBSITE" == record["card_type"]

    @pytest.mark.spec("B, Card", "Label: {type: ENUM")
    def test_labels(self, box: Sandbox) -> None:
        """Every documented label is accepted."""
        for value in LABELS:
            parts = [media(), button(label={"type": "ENUM", "value": value})]
            assert parts == data_of(create(box, *parts))["components"]

    @pytest.mark.spec("B, Card", "APP: type, country_code", "APP: googleplay_app_id")
    @pytest.mark.spec("B, Card", "APP: googleplay_deep_link")
    @pytest.mark.parametrize("destination", [
        app(), without(app(ios_app_store_identifier="1"), "googleplay_app_id"),
        app(ios_app_store_identifier="1"), app(googleplay_deep_link="a://b"),
        app(ios_app_store_identifier="1", ios_deep_link="a://b"), app(country_code="DE"),
        app(country_code="ZW"),
    ])  # fmt: skip
    def test_app_destinations(self, box: Sandbox, destination: JSON) -> None:
        """One store or both, with deep links of the stores that are named."""
        parts = [media(), button(destination=destination)]

        assert parts == data_of(create(box, *parts))["components"]


INVALID, MISSING, INCLUSIVE = "INVALID_PARAMETER", "MISSING_PARAMETER", "INCLUSIVE_PARAMETERS"
TARGET = "components[1].destination"
WRONG_COMPOSITIONS: list[list[JSON]] = [
    [],
    [media()],
    [details()],
    [button()],
    [details(), button()],
    [media(), details(), button()],
    [media(), media(SQUARE), details()],
    [media(), swipeable(IMAGE, SQUARE), details()],
    [media(), details(), details()],
    [media(), button(), button()],
]
WRONG_PARTS: list[tuple[JSON, list[tuple[str, str]]]] = [
    (without(details(), "title"), [(MISSING, "components[1].title")]),
    (details(title=""), [(INVALID, "components[1].title")]),
    (details(title=5), [(INVALID, "components[1].title")]),
    (without(details(), "destination"), [(MISSING, TARGET)]),
    (details(destination="https://example.com"), [(INVALID, TARGET)]),
    (details(destination=app()), [(INVALID, f"{TARGET}.type")]),
    (button(destination=website()), [(INVALID, f"{TARGET}.type")]),
    (without(button(), "label"), [(MISSING, "components[1].label")]),
    (without(button(), "destination"), [(MISSING, TARGET)]),
    (button(label={"value": "PLAY"}), [(MISSING, "components[1].label.type")]),
    (button(label={"type": "ENUM"}), [(MISSING, "components[1].label.value")]),
    (button(label={"type": "TEXT", "value": "PLAY"}), [(INVALID, "components[1].label.type")]),
    (button(label={"type": "ENUM", "value": "BUY"}), [(INVALID, "components[1].label.value")]),
    (button(label="PLAY"), [(INVALID, "components[1].label")]),
    (details(label={"type": "ENUM", "value": "PLAY"}), [(INVALID, "components[1].label")]),
    (button(title="Title"), [(INVALID, "components[1].title")]),
    (details(media_key=IMAGE), [(INVALID, "components[1].media_key")]),
    (details(media_keys=[IMAGE, SQUARE]), [(INVALID, "components[1].media_keys")]),
    (details(type="FOOTER"), [(INVALID, "components[1].type")]),
    (details(type=["DETAILS"]), [(INVALID, "components[1].type")]),
    (without(details(), "type"), [(MISSING, "components[1].type")]),
    (without(details(), "destination", "type"), [(MISSING, f"{TARGET}.type")]),
    (without(details(), "destination", "url"), [(MISSING, f"{TARGET}.url")]),
    (details(destination=website(type="PHONE")), [(INVALID, f"{TARGET}.type")]),
    (details(destination=website(type={})), [(INVALID, f"{TARGET}.type")]),
    (details(destination=website(url="")), [(INVALID, f"{TARGET}.url")]),
    (details(destination=website(url="/shop")), [(INVALID, f"{TARGET}.url")]),
    (details(destination=website(url="ftp://example.com")), [(INVALID, f"{TARGET}.url")]),
    (details(destination=website(url="https://[")), [(INVALID, f"{TARGET}.url")]),
    (details(destination=website(country_code="US")), [(INVALID, f"{TARGET}.country_code")]),
    (button(destination=app(url="https://example.com")), [(INVALID, f"{TARGET}.url")]),
    (without(button(), "destination", "country_code"), [(MISSING, f"{TARGET}.country_code")]),
    *((button(destination=app(country_code=code)), [(INVALID, f"{TARGET}.country_code")])
      for code in ("UK", "us", "USA", "XX", "", "840", 1)),
    (without(button(), "destination", "googleplay_app_id"),
     [(MISSING, f"{TARGET}.googleplay_app_id"), (MISSING, f"{TARGET}.ios_app_store_identifier")]),
    (button(destination=app(ios_deep_link="a://b")), [(INCLUSIVE, f"{TARGET}.ios_deep_link")]),
    (button(destination=without(app(ios_app_store_identifier="1", googleplay_deep_link="a://b"),
                                "googleplay_app_id")),
     [(INCLUSIVE, f"{TARGET}.googleplay_deep_link")]),
]  # fmt: skip


class TestRules:
    """What a card may not hold."""

    @pytest.mark.spec("B, Card", "Components (each", case="FOOTER")
    @pytest.mark.spec("B, Card", "DETAILS: title", case=("title", "destination"))
    @pytest.mark.spec("B, Card", "BUTTON: label (object)", case="label")
    @pytest.mark.spec("B, Card", "Label: {type: ENUM", case=("BUY", "TEXT"))
    @pytest.mark.spec("B, Card", "only on BUTTON", case="components[1].label")
    @pytest.mark.spec("B, Card", "Destination: WEBSITE")
    @pytest.mark.spec("B, Card", "WEBSITE: type, url", case="url")
    @pytest.mark.spec("B, Card", "APP: type, country_code", case="country_code")
    @pytest.mark.spec("B, Card", "APP: googleplay_app_id", case="ios_app_store_identifier")
    @pytest.mark.spec("B, Card", "APP: googleplay_deep_link", case="ios_deep_link")
    @pytest.mark.spec("B, Card", "APP: googleplay_deep_link", case="googleplay_deep_link")
    @pytest.mark.parametrize(("part", "expected"), WRONG_PARTS)
    def test_part(self, box: Sandbox, part: JSON, expected: list[tuple[str, str]]) -> None:
        """Each fault of a component is named with its place, and nothing else is."""
        assert expected == sorted(faults(create(box, media(), part)), key=str)

    @pytest.mark.spec("B, Card", "Destination: WEBSITE")
    @pytest.mark.parametrize(("part", "expected"), WRONG_PARTS)
    def test_part_of_slide(self, box: Sandbox, part: JSON, expected: list[tuple[str, str]]) -> None:
        """Components of slides obey the same rules."""
        body = {"name": "New", "slides": [[media(), part], [media(), details()]]}
        found = faults(send(box, "POST", "cards", body))
        named = [(code, str(name).replace("slides[0]", "components")) for code, name in found]

        assert set(expected) <= set(named)

    @pytest.mark.spec("B, Card", "MEDIA: media_key", "SWIPEABLE_MEDIA")
    @pytest.mark.parametrize("media_part", [
        {"type": "MEDIA"},
        {"type": "MEDIA", "media_key": ""},
        {"type": "MEDIA", "media_key": 5},
        {"type": "MEDIA", "media_key": IMAGE, "media_keys": [IMAGE, SQUARE]},
        {"type": "SWIPEABLE_MEDIA"},
        {"type": "SWIPEABLE_MEDIA", "media_keys": IMAGE},
        {"type": "SWIPEABLE_MEDIA", "media_keys": [IMAGE, 5]},
        {"type": "SWIPEABLE_MEDIA", "media_keys": [IMAGE, SQUARE], "media_key": IMAGE},
    ])  # fmt: skip
    def test_media_part(self, box: Sandbox, media_part: JSON) -> None:
        """A media component has its own field, of its own kind, and no other."""
        response = create(box, media_part, details())
        places = {str(place).partition(".")[0] for _, place in faults(response)}

        assert (400, {"components[0]"}) == (response.status_code, places)

    def test_all_violations_at_once(self, box: Sandbox) -> None:
        """Faults of name, component and destination are reported together."""
        label = {"type": "ENUM", "value": "BUY"}
        wrong = button(label=label, destination=app(country_code="UK"))

        assert [
            (INVALID, "components[0].media_key"), (INVALID, f"{TARGET}.country_code"),
            (INVALID, "components[1].label.value"), (INVALID, "name"),
        ] == sorted(faults(create(box, media(""), wrong, name="x" * 81)), key=str)  # fmt: skip


PARTS = [media(), details()]
SLIDES = [PARTS, PARTS]
NO_ARRAYS: list[Any] = [{}, "text", None, 5]
row = partial(Refusal, f"POST {BASE}/cards")
change = partial(Refusal, f"PUT {BASE}/cards/{WEBSITE_CARD}")
REFUSED = [
    *(row(f"a name is no {name!r:.9}", 400, [(INVALID, "name")],
          json={"name": name, "components": PARTS},
          spec={"B, Cards": ["POST /12/accounts/:account_id/cards"],
                "B, Limits": ["Field lengths: card name"]})
      for name in ("", "é" * 81, 7, None)),
    row("a name is required", 400, [(MISSING, "name")], json={"components": PARTS},
        spec={"B, Card": ["id, name (max 80"]}),
    *(change(f"a name is not changed to {name!r:.9}", 400, [(INVALID, "name")], json={"name": name},
             spec={"B, Cards": ["PUT /12/accounts/:account_id/cards/:card_id"],
                   "B, Limits": ["Field lengths: card name"]}) for name in ("x" * 81, "")),
    row("components and slides exclude each other", 400, [("EXCLUSIVE_PARAMETERS", "components")],
        json={"name": "New", "components": PARTS, "slides": SLIDES},
        spec={"B, Cards": ["POST /12/accounts/:account_id/cards"]}),
    change("they do in an update", 400, [("EXCLUSIVE_PARAMETERS", "components")],
           json={"components": PARTS, "slides": SLIDES},
           spec={"B, Cards": ["PUT /12/accounts/:account_id/cards/:card_id"]}),
    row("components or slides are required", 400, [(MISSING, "components")], json={"name": "New"},
        spec={"B, Cards": ["POST /12/accounts/:account_id/cards"]}),
    *(row(f"a body is no {body!r}", 400, [(INVALID, "")], json=body)
      for body in ([], [{"name": "x"}], "text", 5)),
    *(row(f"{number} media cannot be swiped", 400, [(INVALID, "components[0].media_keys")],
          json={"name": "New", "components": [swipeable(*SEVEN[:number]), details()]},
          spec={"B, Card": ["SWIPEABLE_MEDIA"], "B, Limits": ["Swipeable media"]})
      for number in (0, 1, 7)),
    *(row(f"there are not {number} slides", 400, [(INVALID, "slides")],
          json={"name": "New", "slides": [PARTS] * number},
          spec={"B, Cards": ["POST /12/accounts/:account_id/cards"]}) for number in (1, 7)),
    *(row(f"{name} is no {value!r}", 400, [(INVALID, name)], json={"name": "New", name: value})
      for name in ("components", "slides") for value in NO_ARRAYS),
    *(row(f"composition {number}", 400, [(INVALID, "components")],
          json={"name": "New", "components": parts}, spec={"B, Card": ["A card needs one"]})
      for number, parts in enumerate(WRONG_COMPOSITIONS)),
    *(change(f"composition {number} in an update", 400, [(INVALID, "components")],
             json={"components": parts}, spec={"B, Card": ["A card needs one"]})
      for number, parts in enumerate(WRONG_COMPOSITIONS)),
    *(row(f"composition {number} of a slide", 400, [(INVALID, "slides[1]")],
          json={"name": "New", "slides": [PARTS, slide]}, spec={"B, Card": ["A card needs one"]})
      for number, slide in enumerate(([], [media()], [details()], [media(), button()],
                                      [media(), details(), button()],
                                      [swipeable(IMAGE, SQUARE), details()]))),
    *(row(f"media {key} is not the account's, {place}", 404, [("MEDIA_NOT_FOUND", place)],
          json={"name": "New"} | content)
      for key in (UNKNOWN, FOREIGN_IMAGE, DELETED_IMAGE) for place, content in (
          ("components[0].media_key", {"components": [media(key), details()]}),
          ("components[1].media_keys[1]", {"components": [details(), swipeable(IMAGE, key)]}),
          ("slides[1][1].media_key", {"slides": [PARTS, [details(), media(key)]]}))),
    row("all unknown media are named", 404,
        [("MEDIA_NOT_FOUND", f"components[0].media_keys[{place}]") for place in (0, 2)],
        json={"name": "New", "components": [swipeable("3_1", IMAGE, "3_2"), details()]}),
    change("unknown media refuse the update whole", 404,
           [("MEDIA_NOT_FOUND", "components[0].media_key")],
           json={"name": "New", "components": [media(UNKNOWN), details()]}),
    *(Refusal(f"PUT {BASE}/cards/{key}", f"{key} cannot be updated", status, [(code, "card_id")],
              json={"name": "New"}, given={("cards", WEBSITE_CARD): {"deleted": True}})
      for key, status, code in (("nothing", 404, "CARD_NOT_FOUND"),
                                ("1712860000017000051", 404, "CARD_NOT_FOUND"),
                                (WEBSITE_CARD, 404, "CARD_NOT_FOUND"),
                                (LEGACY_CARD, 400, INVALID))),
    *(Refusal(f"DELETE {BASE}/cards/{kind}/{key}", f"{key} is no {kind} of the account", 404,
              [("CARD_NOT_FOUND", "card_id")],
              spec={"B, Cards": ["DELETE /12/accounts/:account_id/cards/:card_type/:card_id"]})
      for kind, key in (("website", LEGACY_CARD), ("image_conversation", "nothing"),
                        ("website", "57k4d"), ("image_website", WEBSITE_CARD),
                        ("video_conversation", LEGACY_CARD))),
    Refusal(f"DELETE {BASE}/cards/audio/{LEGACY_CARD}", "audio is no type of cards", 400,
            [("UNKNOWN_CARD_TYPE", "card_type")], messages=['got "audio" for card_type'],
            spec={"B, Cards": ["DELETE /12/accounts/:account_id/cards/:card_type/:card_id"]}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """What a card consists of, media of the account, and cards that are there."""
    row.check(box)


class TestUpdate:
    """PUT cards/:card_id."""

    @pytest.mark.spec("B, Cards", "PUT /12/accounts/:account_id/cards/:card_id")
    def test_name(self, box: Sandbox) -> None:
        """A name alone replaces the name alone."""
        before = load(box, f"cards/{WEBSITE_CARD}")
        response = send(box, "PUT", f"cards/{WEBSITE_CARD}", {"name": "é" * 80})
        after = data_of(response)

        assert after == before | {"name": "é" * 80, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]
        assert after == load(box, f"cards/{WEBSITE_CARD}")
        assert {"account_id": ACCOUNT, "card_id": WEBSITE_CARD} == echo(response)

    @pytest.mark.spec("B, Cards", "PUT /12/accounts/:account_id/cards/:card_id")
    def test_components_and_slides(self, box: Sandbox) -> None:
        """Components replace the stored ones whole, and the type follows.

        Slides take the place of components, and the other way round.
        """
        before = load(box, f"cards/{WEBSITE_CARD}")
        swiped = [swipeable(VIDEO, OTHER_VIDEO), button()]
        slides = [[media(VIDEO), details()], [media(OTHER_VIDEO), details()]]
        for sent, kind in (
            ({"components": swiped}, "VIDEO_CAROUSEL_APP"),
            ({"slides": slides}, "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE"),
            ({"components": [media(), details()]}, "IMAGE_WEBSITE"),
        ):  # fmt: skip
            after = data_of(send(box, "PUT", f"cards/{WEBSITE_CARD}", sent))
            new = sent | {"card_type": kind, "updated_at": after["updated_at"]}
            assert after == {k: v for k, v in before.items() if k != "components"} | new
        assert after == load(box, f"cards/{WEBSITE_CARD}")

    @pytest.mark.parametrize("key", [WEBSITE_CARD, SLIDES_CARD])
    def test_whole_record(self, box: Sandbox, key: str) -> None:
        """A card sent back as it was read is accepted; its read-only fields are ignored."""
        before = load(box, f"cards/{key}")
        after = data_of(send(box, "PUT", f"cards/{key}", before))

        assert after == before | {"updated_at": after["updated_at"]}


class TestList:
    """GET cards."""

    def test_filters_together(self, box: Sandbox) -> None:
        """All filters must hold."""
        found = load(box, "cards", card_types="VIDEO_WEBSITE", q="cold")

        assert ["Cold brew story"] == [card["name"] for card in found]

    @pytest.mark.spec("B, Card", "Legacy types such")
    @pytest.mark.spec("B, Cards", "GET /12/accounts/:account_id/cards: card_types")
    def test_legacy_cards(self, box: Sandbox) -> None:
        """Legacy cards are listed on demand only, deleted ones with with_deleted as well.

        The filter accepts legacy types.
        """
        legacy = {"include_legacy_cards": "true"}
        plain, both = ids(get(box, "cards")), get(box, "cards", **legacy, with_total_count="true")
        added = {card["id"]: card for card in data_of(both) if card["id"] not in plain}
        shown = {"card_type": "IMAGE_CONVERSATION", "image_display_width": "800"}

        assert {"57i77", "57i8b", "57i9k", "57jc4"} == added.keys()
        assert len(plain) + 4 == both.get_json()["total_count"]
        assert "57ia2" in ids(get(box, "cards", **legacy, with_deleted="true"))
        assert shown.items() <= added["57i77"].items()
        assert not {"components", "slides", "_legacy"} & added["57i77"].keys()
        assert "cards.legacy" in assumptions(both)
        query = {"card_types": "IMAGE_CONVERSATION"}
        assert [] == load(box, "cards", **query)
        assert ["57i77", "57jc4"] == ids(get(box, "cards", **legacy, **query))

    @pytest.mark.spec("B, Cards", "Only cards created")
    def test_other_cards_do_not_join(self, box: Sandbox) -> None:
        """Poll cards and video conversation cards are not among the cards."""
        every = load(box, "cards", include_legacy_cards="true", with_deleted="true")
        others = {"TEXT_POLLS", "VIDEO_POLLS", "IMAGE_POLLS"}

        assert not {card["card_type"] for card in every} & {*others, "VIDEO_CONVERSATION"}
        assert 404 == get(box, "cards/1712870000001000003").status_code
        assert others == {card["card_type"] for card in load(box, "cards/poll")}


class TestDelete:
    """DELETE cards/:card_type/:card_id, and cards/:card_id as a public fact."""

    @pytest.mark.spec("B, Cards", "DELETE /12/accounts/:account_id/cards/:card_type/:card_id")
    @pytest.mark.parametrize(
        "kind", ["image_conversation", "IMAGE_CONVERSATION", "Image_Conversation"]
    )
    def test_legacy(self, box: Sandbox, kind: str) -> None:
        """A legacy card is deleted under its type in any case."""
        before = load(box, f"cards/{LEGACY_CARD}")
        response = delete(box, f"cards/{kind}/{LEGACY_CARD}")
        gone = data_of(response)

        assert gone == before | {"deleted": True, "updated_at": gone["updated_at"]}
        assert gone["updated_at"] > before["updated_at"]
        assert {"account_id": ACCOUNT, "card_type": kind, "card_id": LEGACY_CARD} == echo(response)
        again = delete(box, f"cards/{kind}/{LEGACY_CARD}")
        assert (404, [("CARD_NOT_FOUND", "card_id")]) == refusal(again)

    def test_legacy_cards_of_other_types_stay(self, box: Sandbox) -> None:
        """Where no public fact says otherwise, a deleted card is read with with_deleted."""
        gone = drop(box, "cards/website/57i8b")

        assert gone == load(box, "cards/57i8b", with_deleted="true")

    @pytest.mark.parametrize("kind", ["video_conversation", "VIDEO_CONVERSATION"])
    def test_video_conversation(self, box: Sandbox, kind: str) -> None:
        """Video conversation cards are deleted under their type as well."""
        key = "1712880000001000003"
        response = delete(box, f"cards/{kind}/{key}")
        gone = data_of(response)

        assert (True, "VIDEO_CONVERSATION") == (gone["deleted"], gone["card_type"])
        assert kind == echo(response)["card_type"]
        assert 404 == get(box, f"cards/video_conversation/{key}").status_code
        assert "cards.delete-video-conversation" in assumptions(response)

    def test_by_id(self, box: Sandbox) -> None:
        """The public delete by id ends a card of any type, and says that it is an assumption."""
        response = delete(box, f"cards/{WEBSITE_CARD}")

        assert data_of(response)["deleted"] is True
        assert "cards.delete-by-id" in assumptions(response)
        assert WEBSITE_CARD not in ids(get(box, "cards"))


@pytest.mark.spec("B, What public facts and settled questions add", "Static segments")
@pytest.mark.parametrize("segment", ["poll", "video_conversation"])
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_no_card_has_such_an_id(box: Sandbox, segment: str, method: str) -> None:
    """PUT and DELETE on the path of a list are wrong methods, not cards of that id."""
    response = send(box, method, f"cards/{segment}", {"name": "New"})

    assert (405, [("METHOD_NOT_ALLOWED", None)]) == refusal(response)
    assert {"GET", "HEAD", "POST"} == set(response.headers["Allow"].split(", "))


@pytest.mark.spec("B, What public facts and settled questions add", "A single card may")
def test_envelope_as_array() -> None:
    """--card-envelope array puts the card of GET, PUT, DELETE into an array, not that of POST."""
    box = sandbox(card_envelope="array")
    path = f"cards/{WEBSITE_CARD}"
    read, changed = load(box, path), data_of(send(box, "PUT", path, {"name": "New"}))
    created, gone = data_of(create(box, media(), details())), drop(box, path)

    assert [[WEBSITE_CARD]] * 3 == [[card["id"] for card in one] for one in (read, changed, gone)]
    assert "IMAGE_WEBSITE" == created["card_type"]
