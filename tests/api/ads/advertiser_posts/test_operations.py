"""Posting on behalf of an advertiser: every rule of document B, just inside and just outside."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

import pytest

from tests.api.ads.cards.creatives import (
    DELETED_IMAGE,
    FOREIGN_IMAGE,
    FOREIGN_UPLOAD,
    GIF,
    IMAGE,
    IMAGE_800,
    OTHER_VIDEO,
    SQUARE,
    TALL,
    UNKNOWN,
    UPLOADED_AMPLIFY,
    UPLOADED_GIF,
    UPLOADED_IMAGE,
    VIDEO,
)
from tests.api.ads.support import BASE, assumptions, delete, echo, load, make, post
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of

OWN = "2244994945"
ADVERTISER = "3805104374"
"""Has granted the well-known user access to post through the well-known account."""
NOW = datetime.fromisoformat("2026-11-21T05:08:30+00:00")
INVALID, MISSING, INCLUSIVE = "INVALID_PARAMETER", "MISSING_PARAMETER", "INCLUSIVE_PARAMETERS"


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox whose clock is frozen."""
    box.platform.worlds.default.clock.freeze(NOW)
    return box


def create(box: Sandbox, **params: Any) -> Any:
    """Post as the authenticated user, with a text, unless arguments change it."""
    return post(box, "post", **{"as_user_id": OWN, "text": "Hello"} | params)


_IMAGES = "assets.platform.example/profile_images"
AUTHOR = {
    "id": int(OWN), "id_str": OWN, "name": "Harbor Roasters", "screen_name": "harbor_roasters",
    "created_at": "Sat Dec 14 04:35:55 +0000 2013", "location": "Seattle, WA",
    "description": "Small-batch coffee by the water. Open daily, 7 to 8.",
    "url": "https://harbor-roasters.example", "protected": False, "verified": True,
    "followers_count": 18432, "friends_count": 612, "listed_count": 214, "favourites_count": 5031,
    "statuses_count": 7844, "lang": None, "utc_offset": None, "time_zone": None,
    "geo_enabled": True, "contributors_enabled": False, "is_translator": False,
    "is_translation_enabled": False, "translator_type": "none", "default_profile": False,
    "default_profile_image": False,
    "profile_image_url": f"http://{_IMAGES}/{OWN}/harbor_roasters_normal.png",
    "profile_image_url_https": f"https://{_IMAGES}/{OWN}/harbor_roasters_normal.png",
    "profile_banner_url": f"https://assets.platform.example/profile_banners/{OWN}/1700000000",
    "profile_background_color": "F5F8FA",
    "profile_background_image_url": "http://assets.platform.example/themes/theme1/bg.png",
    "profile_background_image_url_https": "https://assets.platform.example/themes/theme1/bg.png",
    "profile_background_tile": False, "profile_link_color": "1B6E8C",
    "profile_sidebar_border_color": "C0DEED", "profile_sidebar_fill_color": "DDEEF6",
    "profile_text_color": "333333", "profile_use_background_image": True, "following": None,
    "follow_request_sent": None, "notifications": None, "withheld_in_countries": [],
}  # fmt: skip
"""The user object of the well-known user, all 41 keys."""


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser", "POST /12/accounts/:account_id/post",
    "Response data is",
)  # fmt: skip
def test_post_object(box: Sandbox) -> None:
    """The answer has the shape of the 1.1 interface, without what only reads show."""
    record = data_of(create(box, name="Greeting"))

    assert {
        "id": int(record["id_str"]), "id_str": record["id_str"], "name": "Greeting",
        "text": "Hello", "created_at": "Sat Nov 21 05:08:30 +0000 2026", "truncated": False,
        "entities": {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []},
        "source": '<a href="https://desk.harbor-roasters.example" rel="nofollow">'
        "Harbor Campaign Desk</a>",
        "in_reply_to_status_id": None, "in_reply_to_status_id_str": None,
        "in_reply_to_user_id": None, "in_reply_to_user_id_str": None,
        "in_reply_to_screen_name": None, "geo": None, "coordinates": None, "place": None,
        "contributors": None, "repost_count": 0, "favorite_count": 0, "favorited": False,
        "reposted": False, "lang": "en", "scopes": {"followers": False}, "user": AUTHOR,
    } == record  # fmt: skip
    assert (24, int) == (len(record), type(record["id"]))


@pytest.mark.spec("B, Posting on behalf of an advertiser", "POST /12/accounts/:account_id/post")
def test_echo(box: Sandbox) -> None:
    """What was sent is echoed natively, defaults not."""
    sent = {"trim_user": "True", "nullcast": "false", "name": "N"}
    response = create(box, media_keys=f"{IMAGE},{SQUARE}", **sent)

    assert {
        "account_id": ACCOUNT, "as_user_id": int(OWN), "text": "Hello",
        "media_keys": [IMAGE, SQUARE], "trim_user": True, "nullcast": False, "name": "N",
    } == echo(response)  # fmt: skip
    assert {"account_id", "as_user_id", "text"} == echo(create(box)).keys()


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser", "conversation_settings: default",
    "conversation_settings: not",
)  # fmt: skip
@pytest.mark.spec("B, Versioning", "The conversation_settings")
@pytest.mark.parametrize("value", ["EVERYONE", "FOLLOWING", "MENTIONED_USERS", None])
def test_conversation_settings(box: Sandbox, value: str | None) -> None:
    """Each of the three is accepted, and EVERYONE is the default.

    The post is stored with what POST does not return.
    """
    record = data_of(create(box, **{} if value is None else {"conversation_settings": value}))
    hidden = {
        "conversation_settings": value or "EVERYONE", "nullcast": True, "post_type": "PUBLISHED",
        "scheduled_at": None, "scheduled_status": None,
    }  # fmt: skip

    assert not hidden.keys() & record.keys()
    assert hidden.items() <= box.record("posts", record["id_str"]).items()


@pytest.mark.spec("B, Posting on behalf of an advertiser", "as_user_id: required")
@pytest.mark.spec("B, Authentication", "Posting on behalf")
def test_granted(box: Sandbox) -> None:
    """An advertiser who granted this is posted for; the caller contributed."""
    record = data_of(create(box, as_user_id=ADVERTISER))
    user = record["user"]

    assert ("northbike_co", ADVERTISER) == (user["screen_name"], user["id_str"])
    assert record["contributors"] is None
    assert [int(OWN)] == box.record("posts", record["id_str"])["contributors"]


@pytest.mark.spec("B, Posting on behalf of an advertiser", "trim_user: default")
def test_trim_user(box: Sandbox) -> None:
    """With trim_user only the author's id remains."""
    assert {"id": int(OWN), "id_str": OWN} == data_of(create(box, trim_user="true"))["user"]
    assert AUTHOR == data_of(create(box, trim_user="false"))["user"]


@pytest.mark.spec("B, Posting on behalf of an advertiser", "nullcast: default")
@pytest.mark.parametrize(("user", "sent"), [
    (OWN, {}), (OWN, {"nullcast": "true"}), (OWN, {"nullcast": "false"}), (ADVERTISER, {}),
    (ADVERTISER, {"nullcast": "true"}),
])  # fmt: skip
def test_nullcast(box: Sandbox, user: str, sent: dict[str, str]) -> None:
    """Posts are promoted-only unless the authenticated user posts as itself."""
    record = data_of(create(box, as_user_id=user, **sent))
    shown = sent == {"nullcast": "false"}
    stored = box.record("posts", record["id_str"])

    assert (not shown, shown) == (stored["nullcast"], record["scopes"]["followers"])


class TestText:
    """text, post_mode and what a text refers to."""

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "text: required")
    def test_media_without_text(self, box: Sandbox) -> None:
        """A text may be absent or empty if there are media."""
        assert "" == make(box, "post", as_user_id=OWN, media_keys=IMAGE)["text"]
        assert 200 == create(box, text="", media_keys=IMAGE).status_code

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "tweet_mode: compat")
    @pytest.mark.parametrize("name", ["post_mode", "tweet_mode"])
    def test_modes(self, box: Sandbox, name: str) -> None:
        """Extended mode serves full_text and its range; compat is what comes without a mode.

        The echo knows one name alone.
        """
        response = create(box, text="Grüße", **{name: "extended"})
        record = data_of(response)

        assert ("Grüße", [0, 5]) == (record["full_text"], record["display_text_range"])
        assert "text" not in record
        assert "extended" == echo(response)["post_mode"]
        assert "tweet_mode" not in echo(response)
        assert ("post.tweet-mode" in assumptions(response)) == (name == "tweet_mode")
        assert data_of(create(box, **{name: "compat"})).keys() == data_of(create(box)).keys()

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "tweet_mode: compat")
    def test_both_modes(self, box: Sandbox) -> None:
        """Where both names are sent, the neutral one counts, and another value is warned of."""
        response = create(box, post_mode="extended", tweet_mode="compat")

        assert "no-effect" == response.headers["X-Mock-Warnings"]
        assert "full_text" in data_of(response)
        assert "extended" == echo(response)["post_mode"]

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "Response data is")
    def test_entities(self, box: Sandbox) -> None:
        """Hashtags, symbols, known users and addresses are found with their places."""
        text = "Hi @northbike_co and @nobody_here, #Roast #1 $HBR: https://a.example/x#frag."
        found = {
            kind: [(text[slice(*one["indices"])], one) for one in each]
            for kind, each in data_of(create(box, text=text))["entities"].items()
        }
        (tag,), (symbol,) = found["hashtags"], found["symbols"]
        (user,), (url,) = found["user_mentions"], found["urls"]

        assert ("#Roast", "Roast") == (tag[0], tag[1]["text"])
        assert ("$HBR", "HBR") == (symbol[0], symbol[1]["text"])
        assert ("@northbike_co", ADVERTISER) == (user[0], user[1]["id_str"])
        assert "northbike_co" == user[1]["screen_name"]
        assert ("https://a.example/x#frag", "a.example/x#frag") == (url[0], url[1]["display_url"])

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "name: max 80")
    @pytest.mark.spec("B, Limits", "Field lengths: post", side="inside")
    def test_name(self, box: Sandbox) -> None:
        """A name has up to 80 characters; without one it is null. A text may be posted twice."""
        named, plain = data_of(create(box, name="é" * 80)), data_of(create(box))

        assert ("é" * 80, None) == (named["name"], plain["name"])
        assert named["id"] != plain["id"]


class TestMedia:
    """media_keys and what is said about a video."""

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "media_keys: comma-separated")
    @pytest.mark.spec("B, Limits", "Post media: up", side="inside")
    @pytest.mark.parametrize("keys", [
        [IMAGE], [IMAGE, SQUARE, IMAGE_800, TALL], [IMAGE, UPLOADED_IMAGE], [GIF], [UPLOADED_GIF],
        [VIDEO], [UPLOADED_AMPLIFY],
    ])  # fmt: skip
    def test_inside(self, box: Sandbox, keys: list[str]) -> None:
        """Up to 4 images, or 1 GIF, or 1 video, from the library or just uploaded."""
        record = data_of(create(box, media_keys=",".join(keys)))

        assert keys == [media["media_key"] for media in record["extended_entities"]["media"]]
        assert keys[:1] == [media["media_key"] for media in record["entities"]["media"]]

    def test_types(self, box: Sandbox) -> None:
        """Each kind of media is shown as what it is."""
        for key, kind in ((IMAGE, "photo"), (GIF, "animated_gif"), (VIDEO, "video")):
            shown = data_of(create(box, media_keys=key))["entities"]["media"][0]
            assert kind == shown["type"]

    @pytest.mark.spec("B, Media library object", "posted (boolean)")
    def test_posted(self, box: Sandbox) -> None:
        """The library marks media as posted."""
        before = load(box, f"media_library/{SQUARE}")["posted"]
        create(box, media_keys=SQUARE)

        assert (False, True) == (before, load(box, f"media_library/{SQUARE}")["posted"])

    @pytest.mark.spec(
        "B, Posting on behalf of an advertiser", "video_cta: VISIT_SITE", "video_cta_value",
        "video_description", "video_title: max",
    )  # fmt: skip
    @pytest.mark.parametrize("action", ["VISIT_SITE", "WATCH_NOW"])
    def test_video(self, box: Sandbox, action: str) -> None:
        """Title, description and each of two calls to action are shown with the video."""
        said = {
            "video_title": "é" * 70, "video_description": "é" * 200, "video_cta": action,
            "video_cta_value": "https://shop.example.com",
        }  # fmt: skip
        response = create(box, media_keys=VIDEO, **said)
        (video,) = data_of(response)["extended_entities"]["media"]

        assert {
            "title": "é" * 70, "description": "é" * 200,
            "call_to_actions": {action.lower(): {"url": "https://shop.example.com"}},
        } == video["additional_media_info"]  # fmt: skip
        assert said.items() <= echo(response).items()
        assert "post.video-cta" in assumptions(response)

    def test_without_video(self, box: Sandbox) -> None:
        """Without a video it has no effect but a warning in the journal."""
        record = data_of(create(box, media_keys=IMAGE, video_title="Title"))
        warnings = box.world.journal.find()[-1].warnings

        assert "additional_media_info" not in record["extended_entities"]["media"][0]
        assert ["video_title say something about a video, and the post has none"] == warnings


@pytest.mark.spec("B, Cards", "A card is attached")
@pytest.mark.spec("B, Posting on behalf of an advertiser", "card_uri: optional")
@pytest.mark.parametrize("uri", [
    "card://1712860000001000003",  # card
    "card://958225772740714496",  # legacy card, which has another id
    "card://1712870000001000003",  # poll card
    "card://1712880000001000003",  # video conversation card
])  # fmt: skip
def test_cards(box: Sandbox, uri: str) -> None:
    """Cards of every family are attached."""
    assert uri == data_of(create(box, card_uri=uri))["card_uri"]


def test_a_card_deleted_meanwhile(box: Sandbox) -> None:
    """A card that was just deleted cannot be attached, one just created can."""
    delete(box, "cards/poll/1712870000001000003")
    params = {"name": "P", "first_choice": "a", "second_choice": "b", "duration_in_minutes": "5"}
    fresh = make(box, "cards/poll", **params)

    assert 404 == create(box, card_uri="card://1712870000001000003").status_code
    assert 200 == create(box, card_uri=fresh["card_uri"]).status_code


def test_form_body(box: Sandbox) -> None:
    """Parameters may be sent in a form body as well."""
    response = box.call("POST", f"{BASE}/post", form={"as_user_id": OWN, "text": "From a form"})

    assert "From a form" == data_of(response)["text"]


AS_OWN = {"as_user_id": OWN}
SENT = AS_OWN | {"text": "Hello"}
refused = partial(Refusal, f"POST {BASE}/post")
REFUSED = [
    refused("as_user_id is required", 400, [(MISSING, "as_user_id")], query={"text": "Hello"},
            spec={"B, Posting on behalf of an advertiser": ["as_user_id: required"]}),
    *(refused(f"as_user_id is a long, {value!r}", 400, [(INVALID, "as_user_id")],
              query=SENT | {"as_user_id": value})
      for value in ("abc", "1.5", "", str(2**63))),
    *(refused(f"{user} is no user", 403, [("USER_NOT_FOUND", "as_user_id")],
              query=SENT | {"as_user_id": user},
              spec={"B, Posting on behalf of an advertiser": ["as_user_id: required"]})
      for user in ("1", "-5", str(2**63 - 1))),
    refused("an advertiser grants this", 403, [("ACTION_NOT_ALLOWED", "as_user_id")],
            query=SENT | {"as_user_id": ADVERTISER},
            given={("accounts", ACCOUNT): {"_post_grants": []}},
            spec={"B, Posting on behalf of an advertiser": ["as_user_id: required"],
                  "B, Authentication": ["Posting on behalf"]}),
    Refusal(f"POST /12/accounts/{OTHER_ACCOUNT}/post", "a grant is for one account", 403,
            [("ACTION_NOT_ALLOWED", "as_user_id")], query=SENT, keys=NORTHBIKE,
            spec={"B, Posting on behalf of an advertiser": ["as_user_id: required"]}),
    refused("posts of others are promoted only", 400, [(INVALID, "nullcast")],
            query=SENT | {"as_user_id": ADVERTISER, "nullcast": "false"},
            spec={"B, Posting on behalf of an advertiser": ["nullcast: default"]}),
    refused("text is required without media", 400, [(MISSING, "text")], query=AS_OWN,
            spec={"B, Posting on behalf of an advertiser": ["text: required"]}),
    *(refused(f"{text!r} is blank", 400, [("POST_CANNOT_BE_BLANK", "text")],
              query=AS_OWN | {"text": text},
              spec={"B, Posting on behalf of an advertiser": ["text: required"]})
      for text in ("", " ", "\n\t")),
    refused("a card does not take the place of a text", 400, [(MISSING, "text")],
            query=AS_OWN | {"card_uri": "card://1712860000001000003"}),
    *(refused(f"{name} is compat or extended", 400, [(INVALID, name)], query=SENT | {name: "full"},
              spec={"B, Posting on behalf of an advertiser": ["tweet_mode: compat"]})
      for name in ("post_mode", "tweet_mode")),
    refused("a name has 80 characters", 400, [(INVALID, "name")], query=SENT | {"name": "é" * 81},
            spec={"B, Posting on behalf of an advertiser": ["name: max 80"],
                  "B, Limits": ["Field lengths: post"]}),
    *(refused(f"media of {holds}", 400, [(INVALID, "media_keys")],
              query=SENT | {"media_keys": ",".join(keys)},
              spec={"B, Posting on behalf of an advertiser": ["media_keys: comma-separated"],
                    "B, Limits": ["Post media: up"]})
      for holds, keys in (("five images", (IMAGE, SQUARE, IMAGE_800, TALL, UPLOADED_IMAGE)),
                          ("two GIFs", (GIF, UPLOADED_GIF)), ("two videos", (VIDEO, OTHER_VIDEO)),
                          ("image and GIF", (IMAGE, GIF)), ("image and video", (IMAGE, VIDEO)),
                          ("GIF and video", (GIF, VIDEO)))),
    *(refused(f"media {key} is the account's", 404, [("MEDIA_NOT_FOUND", "media_keys")],
              query=SENT | {"media_keys": f"{IMAGE},{key}"}, messages=[repr(key)])
      for key in (UNKNOWN, FOREIGN_IMAGE, FOREIGN_UPLOAD, DELETED_IMAGE)),
    refused("media have keys", 400, [(INVALID, "media_keys")] * 2,
            query=SENT | {"media_keys": "a,,3_1"}),
    *(refused(f"{name} has {most} characters", 400, [(INVALID, name)],
              query=SENT | {"media_keys": VIDEO, name: "é" * (most + 1)},
              spec={"B, Posting on behalf of an advertiser":
                    ["video_description", "video_title: max"]})
      for name, most in (("video_title", 70), ("video_description", 200))),
    *(refused(holds, 400, [(code, name)], query=SENT | {"media_keys": VIDEO} | said,
              spec={"B, Posting on behalf of an advertiser":
                    ["video_cta: VISIT_SITE", "video_cta_value"]})
      for holds, code, name, said in (
          ("a call to action has a value", INCLUSIVE, "video_cta_value",
           {"video_cta": "VISIT_SITE"}),
          ("a value has a call to action", INCLUSIVE, "video_cta",
           {"video_cta_value": "https://a.example"}),
          ("a call to action is one of two", INVALID, "video_cta",
           {"video_cta": "BUY", "video_cta_value": "x"}))),
    *(refused(f"{uri} is no card of the account", 404, [("CARD_NOT_FOUND", "card_uri")],
              query=SENT | {"card_uri": uri},
              spec={"B, Cards": ["A card is attached"],
                    "B, Posting on behalf of an advertiser": ["card_uri: optional"]})
      for uri in ("card://1", "card://1712860000017000051", "card://1712880000005000015")),
    *(refused(f"{uri!r} is no address of a card", 400, [(INVALID, "card_uri")],
              query=SENT | {"card_uri": uri},
              spec={"B, Posting on behalf of an advertiser": ["card_uri: optional"]})
      for uri in ("1712860000001000003", "card://", "card://abc", "CARD://1", "")),
    refused("faults of the form are named together", 400,
            [(MISSING, "as_user_id"), (INVALID, "conversation_settings"), (INVALID, "name"),
             (MISSING, "text"), (INCLUSIVE, "video_cta_value")],
            query={"name": "x" * 81, "conversation_settings": "NOBODY", "video_cta": "WATCH_NOW"},
            spec={"B, Posting on behalf of an advertiser": ["conversation_settings: default"]}),
    refused("faults of the state are named together", 400,
            [(INVALID, "media_keys"), (INVALID, "nullcast")],
            query=SENT | {"as_user_id": ADVERTISER, "nullcast": "false",
                          "media_keys": f"{GIF},{VIDEO}"}),
    refused("an app that may only read cannot post", 403, [("READONLY_CLIENT_APPLICATION", None)],
            query=SENT, given={("apps", "11827"): {"_permissions": ["read"]}}),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Who may post, and with what; nothing is posted."""
    row.check(box)
