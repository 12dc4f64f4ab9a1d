"""Posting on behalf of an advertiser: every rule of document B, just inside and just outside."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.api.ads.cards.creatives import (
    BASE,
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
    assumptions,
    data,
    delete,
    echo,
    get,
    post,
)
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults

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
    "id": int(OWN),
    "id_str": OWN,
    "name": "Harbor Roasters",
    "screen_name": "harbor_roasters",
    "created_at": "Sat Dec 14 04:35:55 +0000 2013",
    "location": "Seattle, WA",
    "description": "Small-batch coffee by the water. Open daily, 7 to 8.",
    "url": "https://harbor-roasters.example",
    "protected": False,
    "verified": True,
    "followers_count": 18432,
    "friends_count": 612,
    "listed_count": 214,
    "favourites_count": 5031,
    "statuses_count": 7844,
    "lang": None,
    "utc_offset": None,
    "time_zone": None,
    "geo_enabled": True,
    "contributors_enabled": False,
    "is_translator": False,
    "is_translation_enabled": False,
    "translator_type": "none",
    "default_profile": False,
    "default_profile_image": False,
    "profile_image_url": f"http://{_IMAGES}/{OWN}/harbor_roasters_normal.png",
    "profile_image_url_https": f"https://{_IMAGES}/{OWN}/harbor_roasters_normal.png",
    "profile_banner_url": f"https://assets.platform.example/profile_banners/{OWN}/1700000000",
    "profile_background_color": "F5F8FA",
    "profile_background_image_url": "http://assets.platform.example/themes/theme1/bg.png",
    "profile_background_image_url_https": "https://assets.platform.example/themes/theme1/bg.png",
    "profile_background_tile": False,
    "profile_link_color": "1B6E8C",
    "profile_sidebar_border_color": "C0DEED",
    "profile_sidebar_fill_color": "DDEEF6",
    "profile_text_color": "333333",
    "profile_use_background_image": True,
    "following": None,
    "follow_request_sent": None,
    "notifications": None,
    "withheld_in_countries": [],
}
"""The user object of the well-known user, all 41 keys."""


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser",
    "POST /12/accounts/:account_id/post",
    "Response data is",
)
def test_post_object(box: Sandbox) -> None:
    """The answer has the shape of the 1.1 interface, without what only reads show."""
    response = create(box, name="Greeting")
    record = data(response)

    assert {
        "id": int(record["id_str"]),
        "id_str": record["id_str"],
        "name": "Greeting",
        "text": "Hello",
        "created_at": "Sat Nov 21 05:08:30 +0000 2026",
        "truncated": False,
        "entities": {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []},
        "source": '<a href="https://desk.harbor-roasters.example" rel="nofollow">'
        "Harbor Campaign Desk</a>",
        "in_reply_to_status_id": None,
        "in_reply_to_status_id_str": None,
        "in_reply_to_user_id": None,
        "in_reply_to_user_id_str": None,
        "in_reply_to_screen_name": None,
        "geo": None,
        "coordinates": None,
        "place": None,
        "contributors": None,
        "repost_count": 0,
        "favorite_count": 0,
        "favorited": False,
        "reposted": False,
        "lang": "en",
        "scopes": {"followers": False},
        "user": AUTHOR,
    } == record
    assert (24, int) == (len(record), type(record["id"]))


@pytest.mark.spec("B, Posting on behalf of an advertiser", "POST /12/accounts/:account_id/post")
def test_echo(box: Sandbox) -> None:
    """What was sent is echoed natively, defaults not."""
    response = create(
        box, media_keys=f"{IMAGE},{SQUARE}", trim_user="True", nullcast="false", name="N"
    )

    assert {
        "account_id": ACCOUNT,
        "as_user_id": int(OWN),
        "text": "Hello",
        "media_keys": [IMAGE, SQUARE],
        "trim_user": True,
        "nullcast": False,
        "name": "N",
    } == echo(response)
    assert {"account_id", "as_user_id", "text"} == echo(create(box)).keys()


@pytest.mark.spec("B, Posting on behalf of an advertiser", "conversation_settings: not")
def test_stored(box: Sandbox) -> None:
    """The post is stored with what POST does not return."""
    record = box.record("posts", data(create(box, conversation_settings="FOLLOWING"))["id_str"])

    assert ("FOLLOWING", True, "PUBLISHED", None, None) == tuple(
        record[name]
        for name in (
            "conversation_settings",
            "nullcast",
            "post_type",
            "scheduled_at",
            "scheduled_status",
        )
    )


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser",
    "conversation_settings: default",
    "conversation_settings: not",
)
@pytest.mark.spec("B, Versioning", "The conversation_settings")
@pytest.mark.parametrize("value", ["EVERYONE", "FOLLOWING", "MENTIONED_USERS", None])
def test_conversation_settings(box: Sandbox, value: str | None) -> None:
    """Each of the three is accepted, EVERYONE is the default, and POST returns none of them."""
    record = data(create(box, **{} if value is None else {"conversation_settings": value}))

    assert "conversation_settings" not in record
    stored = box.record("posts", record["id_str"])["conversation_settings"]
    assert (value or "EVERYONE") == stored


class TestUser:
    """as_user_id, trim_user, nullcast."""

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "as_user_id: required")
    def test_required(self, box: Sandbox) -> None:
        """as_user_id is a required long."""
        assert [(MISSING, "as_user_id")] == faults(post(box, "post", text="Hello"))
        for value in ("abc", "1.5", "", str(2**63)):
            assert [(INVALID, "as_user_id")] == faults(create(box, as_user_id=value))

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "as_user_id: required")
    @pytest.mark.spec("B, Authentication", "Posting on behalf")
    def test_granted(self, box: Sandbox) -> None:
        """An advertiser who granted this is posted for; the caller contributed."""
        record = data(create(box, as_user_id=ADVERTISER))

        assert ("northbike_co", ADVERTISER) == (
            record["user"]["screen_name"],
            record["user"]["id_str"],
        )
        assert record["contributors"] is None
        assert [int(OWN)] == box.record("posts", record["id_str"])["contributors"]

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "as_user_id: required")
    def test_unknown(self, box: Sandbox) -> None:
        """Who is no user answers 403 USER_NOT_FOUND."""
        for user in ("1", "-5", str(2**63 - 1)):
            response = create(box, as_user_id=user)
            assert (403, [("USER_NOT_FOUND", "as_user_id")]) == (
                response.status_code,
                faults(response),
            )

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "as_user_id: required")
    @pytest.mark.spec("B, Authentication", "Posting on behalf")
    def test_no_grant(self, box: Sandbox) -> None:
        """Without a grant for this account and caller, 403 ACTION_NOT_ALLOWED answers."""
        box.change("accounts", ACCOUNT, _post_grants=[])
        other = box.call(
            "POST",
            f"/12/accounts/{OTHER_ACCOUNT}/post",
            keys=NORTHBIKE,
            query_string={"as_user_id": OWN, "text": "Hello"},
        )
        for response in (create(box, as_user_id=ADVERTISER), other):
            assert (403, [("ACTION_NOT_ALLOWED", "as_user_id")]) == (
                response.status_code,
                faults(response),
            )

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "trim_user: default")
    def test_trim_user(self, box: Sandbox) -> None:
        """With trim_user only the author's id remains."""
        assert {"id": int(OWN), "id_str": OWN} == data(create(box, trim_user="true"))["user"]
        assert AUTHOR == data(create(box, trim_user="false"))["user"]

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "nullcast: default")
    @pytest.mark.parametrize(
        ("user", "nullcast", "status"),
        [
            (OWN, None, 200),
            (OWN, "true", 200),
            (OWN, "false", 200),
            (ADVERTISER, None, 200),
            (ADVERTISER, "true", 200),
            (ADVERTISER, "false", 400),
        ],
    )
    def test_nullcast(self, box: Sandbox, user: str, nullcast: str | None, status: int) -> None:
        """Posts are promoted-only unless the authenticated user posts as itself."""
        query = {} if nullcast is None else {"nullcast": nullcast}
        response = create(box, as_user_id=user, **query)

        assert status == response.status_code
        if status == 400:
            assert [(INVALID, "nullcast")] == faults(response)
        else:
            shown = nullcast == "false"
            stored = box.record("posts", data(response)["id_str"])
            assert (not shown, shown) == (stored["nullcast"], data(response)["scopes"]["followers"])


class TestText:
    """text, post_mode and what a text refers to."""

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "text: required")
    def test_required_without_media(self, box: Sandbox) -> None:
        """A text may be absent only if there are media; a blank one has its own code."""
        absent = post(box, "post", as_user_id=OWN)
        blank = [create(box, text=text) for text in ("", " ", "\n\t")]

        assert (400, [(MISSING, "text")]) == (absent.status_code, faults(absent))
        for response in blank:
            assert (400, [("POST_CANNOT_BE_BLANK", "text")]) == (
                response.status_code,
                faults(response),
            )
        assert "" == data(post(box, "post", as_user_id=OWN, media_keys=IMAGE))["text"]
        assert 200 == create(box, text="", media_keys=IMAGE).status_code

    def test_card_is_no_media(self, box: Sandbox) -> None:
        """A card does not take the place of a text."""
        response = post(box, "post", as_user_id=OWN, card_uri="card://1712860000001000003")

        assert [(MISSING, "text")] == faults(response)

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "tweet_mode: compat")
    @pytest.mark.parametrize("name", ["post_mode", "tweet_mode"])
    def test_extended(self, box: Sandbox, name: str) -> None:
        """Extended mode serves full_text and its range; the echo knows one name alone."""
        response = create(box, text="Grüße", **{name: "extended"})
        record = data(response)

        assert ("Grüße", [0, 5]) == (record["full_text"], record["display_text_range"])
        assert "text" not in record
        assert "extended" == echo(response)["post_mode"]
        assert "tweet_mode" not in echo(response)
        assert ("post.tweet-mode" in assumptions(response)) == (name == "tweet_mode")

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "tweet_mode: compat")
    @pytest.mark.parametrize("name", ["post_mode", "tweet_mode"])
    def test_compat(self, box: Sandbox, name: str) -> None:
        """Compat mode is what comes without a mode."""
        assert data(create(box, **{name: "compat"})).keys() == data(create(box)).keys()
        assert [(INVALID, name)] == faults(create(box, **{name: "full"}))

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "tweet_mode: compat")
    def test_both_modes(self, box: Sandbox) -> None:
        """Where both names are sent, the neutral one counts."""
        response = create(box, post_mode="extended", tweet_mode="compat")

        assert "full_text" in data(response)
        assert "extended" == echo(response)["post_mode"]

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "Response data is")
    def test_entities(self, box: Sandbox) -> None:
        """Hashtags, symbols, known users and addresses are found with their places."""
        text = "Hi @northbike_co and @nobody_here, #Roast #1 $HBR: https://a.example/x#frag."
        entities = data(create(box, text=text))["entities"]

        assert [("Roast", "#Roast")] == [
            (tag["text"], text[slice(*tag["indices"])]) for tag in entities["hashtags"]
        ]
        assert [("HBR", "$HBR")] == [
            (tag["text"], text[slice(*tag["indices"])]) for tag in entities["symbols"]
        ]
        assert [("northbike_co", ADVERTISER, "@northbike_co")] == [
            (one["screen_name"], one["id_str"], text[slice(*one["indices"])])
            for one in entities["user_mentions"]
        ]
        assert [("https://a.example/x#frag", "a.example/x#frag")] == [
            (text[slice(*one["indices"])], one["display_url"]) for one in entities["urls"]
        ]

    def test_same_text_again(self, box: Sandbox) -> None:
        """The same text may be posted twice."""
        ids = {data(create(box))["id"] for _ in range(2)}

        assert 2 == len(ids)

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "name: max 80")
    @pytest.mark.spec("B, Limits", "Field lengths: post")
    def test_name(self, box: Sandbox) -> None:
        """A name has at most 80 characters; without one it is null."""
        assert "é" * 80 == data(create(box, name="é" * 80))["name"]
        assert data(create(box))["name"] is None
        assert [(INVALID, "name")] == faults(create(box, name="é" * 81))


class TestMedia:
    """media_keys and what is said about a video."""

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "media_keys: comma-separated")
    @pytest.mark.spec("B, Limits", "Post media: up", side="inside")
    @pytest.mark.parametrize(
        "keys",
        [
            [IMAGE],
            [IMAGE, SQUARE, IMAGE_800, TALL],
            [IMAGE, UPLOADED_IMAGE],
            [GIF],
            [UPLOADED_GIF],
            [VIDEO],
            [UPLOADED_AMPLIFY],
        ],
    )
    def test_inside(self, box: Sandbox, keys: list[str]) -> None:
        """Up to 4 images, or 1 GIF, or 1 video, from the library or just uploaded."""
        record = data(create(box, media_keys=",".join(keys)))

        assert keys == [media["media_key"] for media in record["extended_entities"]["media"]]
        assert keys[:1] == [media["media_key"] for media in record["entities"]["media"]]

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "media_keys: comma-separated")
    @pytest.mark.spec("B, Limits", "Post media: up", side="outside")
    @pytest.mark.parametrize(
        "keys",
        [
            [IMAGE, SQUARE, IMAGE_800, TALL, UPLOADED_IMAGE],
            [GIF, UPLOADED_GIF],
            [VIDEO, OTHER_VIDEO],
            [IMAGE, GIF],
            [IMAGE, VIDEO],
            [GIF, VIDEO],
        ],
    )
    def test_outside(self, box: Sandbox, keys: list[str]) -> None:
        """More of them, or several kinds together, are refused, and nothing is posted."""
        before = box.platform.worlds.default.store.count("posts")
        response = create(box, media_keys=",".join(keys))

        assert (400, [(INVALID, "media_keys")]) == (response.status_code, faults(response))
        assert before == box.platform.worlds.default.store.count("posts")

    @pytest.mark.parametrize("key", [UNKNOWN, FOREIGN_IMAGE, FOREIGN_UPLOAD, DELETED_IMAGE])
    def test_unknown(self, box: Sandbox, key: str) -> None:
        """Media must be the account's and not deleted."""
        response = create(box, media_keys=f"{IMAGE},{key}")

        assert (404, [("MEDIA_NOT_FOUND", "media_keys")]) == (
            response.status_code,
            faults(response),
        )
        assert repr(key) in response.get_json()["errors"][0]["message"]

    def test_form(self, box: Sandbox) -> None:
        """Keys have the form of media keys."""
        assert [(INVALID, "media_keys")] * 2 == faults(create(box, media_keys="a,,3_1"))

    def test_types(self, box: Sandbox) -> None:
        """Each kind of media is shown as what it is."""
        kinds = {
            data(create(box, media_keys=key))["entities"]["media"][0]["type"]
            for key in (IMAGE, GIF, VIDEO)
        }

        assert {"photo", "animated_gif", "video"} == kinds

    @pytest.mark.spec("B, Media library object", "posted (boolean)")
    def test_posted(self, box: Sandbox) -> None:
        """The library marks media as posted."""
        assert data(get(box, f"media_library/{SQUARE}"))["posted"] is False
        create(box, media_keys=SQUARE)

        assert data(get(box, f"media_library/{SQUARE}"))["posted"] is True

    @pytest.mark.spec(
        "B, Posting on behalf of an advertiser",
        "video_cta_value",
        "video_description",
        "video_title: max",
    )
    def test_video(self, box: Sandbox) -> None:
        """Title, description and call to action are shown with the video."""
        said = {
            "video_title": "é" * 70,
            "video_description": "é" * 200,
            "video_cta": "VISIT_SITE",
            "video_cta_value": "https://shop.example.com",
        }
        response = create(box, media_keys=VIDEO, **said)

        assert {
            "title": "é" * 70,
            "description": "é" * 200,
            "call_to_actions": {"visit_site": {"url": "https://shop.example.com"}},
        } == data(response)["extended_entities"]["media"][0]["additional_media_info"]
        assert said.items() <= echo(response).items()
        assert "post.video-cta" in assumptions(response)

    @pytest.mark.spec(
        "B, Posting on behalf of an advertiser", "video_description", "video_title: max"
    )
    @pytest.mark.parametrize(("name", "most"), [("video_title", 70), ("video_description", 200)])
    def test_lengths(self, box: Sandbox, name: str, most: int) -> None:
        """Title and description may not be longer."""
        response = create(box, media_keys=VIDEO, **{name: "é" * (most + 1)})

        assert [(INVALID, name)] == faults(response)

    @pytest.mark.spec(
        "B, Posting on behalf of an advertiser", "video_cta: VISIT_SITE", "video_cta_value"
    )
    @pytest.mark.parametrize("value", ["VISIT_SITE", "WATCH_NOW"])
    def test_cta(self, box: Sandbox, value: str) -> None:
        """Both calls to action are accepted, with a value; another one is refused."""
        fine = create(box, media_keys=VIDEO, video_cta=value, video_cta_value="https://a.example")
        alone = create(box, media_keys=VIDEO, video_cta=value)
        lost = create(box, media_keys=VIDEO, video_cta_value="https://a.example")
        other = create(box, media_keys=VIDEO, video_cta="BUY", video_cta_value="x")

        assert 200 == fine.status_code
        assert [(INCLUSIVE, "video_cta_value")] == faults(alone)
        assert [(INCLUSIVE, "video_cta")] == faults(lost)
        assert [(INVALID, "video_cta")] == faults(other)

    def test_without_video(self, box: Sandbox) -> None:
        """Without a video it has no effect but a warning in the journal."""
        record = data(create(box, media_keys=IMAGE, video_title="Title"))
        entry = box.platform.worlds.default.journal.find()[-1]

        assert "additional_media_info" not in record["extended_entities"]["media"][0]
        assert ["video_title say something about a video, and the post has none"] == entry.warnings


class TestCard:
    """card_uri."""

    @pytest.mark.spec("B, Cards", "A card is attached")
    @pytest.mark.spec("B, Posting on behalf of an advertiser", "card_uri: optional")
    @pytest.mark.parametrize(
        "uri",
        [
            "card://1712860000001000003",  # card
            "card://958225772740714496",  # legacy card, which has another id
            "card://1712870000001000003",  # poll card
            "card://1712880000001000003",  # video conversation card
        ],
    )
    def test_known(self, box: Sandbox, uri: str) -> None:
        """Cards of every family are attached."""
        assert uri == data(create(box, card_uri=uri))["card_uri"]

    @pytest.mark.spec("B, Cards", "A card is attached")
    @pytest.mark.spec("B, Posting on behalf of an advertiser", "card_uri: optional")
    @pytest.mark.parametrize(
        "uri",
        [
            "card://1",
            "card://1712860000017000051",  # another account's
            "card://1712880000005000015",  # deleted
        ],
    )
    def test_unknown(self, box: Sandbox, uri: str) -> None:
        """A card must be the account's and not deleted."""
        response = create(box, card_uri=uri)

        assert (404, [("CARD_NOT_FOUND", "card_uri")]) == (response.status_code, faults(response))

    def test_deleted_meanwhile(self, box: Sandbox) -> None:
        """A card that was just deleted cannot be attached, one just created can."""
        delete(box, "cards/poll/1712870000001000003")
        params = {"name": "P", "first_choice": "a", "second_choice": "b"}
        fresh = data(post(box, "cards/poll", **params, duration_in_minutes="5"))

        assert 404 == create(box, card_uri="card://1712870000001000003").status_code
        assert 200 == create(box, card_uri=fresh["card_uri"]).status_code

    @pytest.mark.spec("B, Posting on behalf of an advertiser", "card_uri: optional")
    @pytest.mark.parametrize(
        "uri", ["1712860000001000003", "card://", "card://abc", "CARD://1", ""]
    )
    def test_form(self, box: Sandbox, uri: str) -> None:
        """An address has the form card://<card_id>."""
        assert [(INVALID, "card_uri")] == faults(create(box, card_uri=uri))


@pytest.mark.spec("B, Posting on behalf of an advertiser", "conversation_settings: default")
def test_all_violations_at_once(box: Sandbox) -> None:
    """All faults are reported together, by stage."""
    shape = post(box, "post", name="x" * 81, conversation_settings="NOBODY", video_cta="WATCH_NOW")
    state = create(box, as_user_id=ADVERTISER, nullcast="false", media_keys=f"{GIF},{VIDEO}")

    assert [
        (INCLUSIVE, "video_cta_value"),
        (INVALID, "conversation_settings"),
        (INVALID, "name"),
        (MISSING, "as_user_id"),
        (MISSING, "text"),
    ] == sorted(faults(shape), key=str)
    assert [(INVALID, "media_keys"), (INVALID, "nullcast")] == faults(state)


def test_form_body(box: Sandbox) -> None:
    """Parameters may be sent in a form body as well."""
    response = box.call("POST", f"{BASE}/post", form={"as_user_id": OWN, "text": "From a form"})

    assert "From a form" == data(response)["text"]


def test_read_only_application(box: Sandbox) -> None:
    """An app that may only read cannot post."""
    box.change("apps", "11827", _permissions=["read"])
    response = create(box)

    assert (403, "READONLY_CLIENT_APPLICATION") == (response.status_code, faults(response)[0][0])
