"""Posts of the older interface: made, read, reposted, liked, listed and searched."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import Any

import pytest

from tests.api.older.numbers import invalid, not_authorized, numbers
from tests.images import make_png
from tests.refusals import Refusal, refusals
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox, body_of, sandbox

OWN, OTHER = "2244994945", "3805104374"
POST, OTHERS_POST, NOT_LIKED = (f"178990000000000000{n}" for n in (1, 6, 4))
FIELDS: dict[str, Any] = {"post.fields": "author_id,created_at"}
LISTS = {"hashtags", "symbols", "user_mentions", "urls"}


def update(box: Sandbox, status: str = "Fresh", *, keys: Keys = HARBOR, **sent: str) -> Any:
    """The answer to a new post, sent in a form."""
    path = "/1.1/statuses/update.json"
    return body_of(box.call("POST", path, keys=keys, form={"status": status, **sent}))


def show(box: Sandbox, post_id: str, **query: Any) -> Any:
    """A post as the older interface shows it."""
    return box.read(f"/1.1/statuses/show/{post_id}.json", **query)


def test_a_post_is_the_same_in_both_interfaces(box: Sandbox) -> None:
    """What is made here is read there; ids are numbers and texts, and all lists are there."""
    made = update(box, "Fresh #beans for @northbike_co")
    there = box.read(f"/2/posts/{made['id_str']}", **FIELDS)

    assert there["data"]["text"] == made["text"] == "Fresh #beans for @northbike_co"
    assert (int(made["id_str"]), OWN) == (made["id"], made["user"]["id_str"])
    assert LISTS == set(made["entities"])
    assert ["beans"] == [tag["text"] for tag in made["entities"]["hashtags"]]
    assert made["created_at"].endswith(f"+0000 {there['data']['created_at'][:4]}")
    assert not {"full_text", "nullcast", "scopes", "post_id"} & set(made)


@pytest.mark.parametrize(("length", "is_cut"), [(140, False), (141, True)])
def test_a_long_text_is_cut(box: Sandbox, length: int, is_cut: bool) -> None:
    """Above 140 characters the text ends with the address of the post; extended has it whole."""
    id_ = update(box, "x" * length)["id_str"]
    compat, extended = show(box, id_), show(box, id_, post_mode="extended")
    urls = compat["entities"]["urls"]

    assert (is_cut, is_cut) == (compat["truncated"], bool(urls))
    assert "x" * length == extended["full_text"]
    assert ([0, length], False) == (extended["display_text_range"], extended["truncated"])
    if is_cut:
        start, end = urls[0]["indices"]
        assert urls[0]["url"] == compat["text"][start:end]
        assert urls[0]["url"].endswith(id_)


def test_addresses(box: Sandbox) -> None:
    """Those of the text are listed; the link to media, on the recorded wire, is with the media."""
    plain = show(box, update(box, "Read https://docs.example/a")["id_str"])
    path = "/1.1/statuses/show/1712850617439551489.json?post_mode=extended"
    recorded = body_of(box.call("GET", path, headers={"X-Mock-Wire": "recorded"}))
    own, (media,) = recorded["entities"]["urls"], recorded["entities"]["media"]

    assert ["https://docs.example/a"] == [one["expanded_url"] for one in plain["entities"]["urls"]]
    assert ["https://shop.harbor-roasters.example/cold-brew"] == [
        one["expanded_url"] for one in own
    ]
    assert recorded["full_text"].endswith(f"{own[0]['url']} {media['url']}")


def test_original_names(box: Sandbox) -> None:
    """Paths, parameters, keys and sentences are those of the platform."""
    headers = {"X-Mock-Names": "original"}
    path = f"/1.1/statuses/retweet/{OTHERS_POST}.json"
    made = body_of(box.call("POST", path, query_string={"tweet_mode": "extended"}, headers=headers))
    again = body_of(box.call("POST", path, headers=headers), 403)
    caller = body_of(box.call("GET", "/1.1/account/verify_credentials.json", headers=headers))

    assert OTHERS_POST == made["retweeted_status"]["id_str"]
    assert (True, 1) == (made["retweeted"], made["retweet_count"])
    assert "You have already retweeted this Tweet." == again["errors"][0]["message"]
    assert "retweet_count" in caller["status"]
    assert not {"repost_count", "reposted"} & {*made, *caller["status"]}


def test_reposts_of_a_post(box: Sandbox) -> None:
    """The reposts of a post are listed under the original path as well; count limits them."""
    before = box.read(f"/1.1/statuses/reposts/{OTHERS_POST}.json")
    made = body_of(box.call("POST", f"/1.1/statuses/repost/{OTHERS_POST}.json"))["id_str"]
    listed = box.read(f"/1.1/statuses/retweets/{OTHERS_POST}.json", count="1")

    assert [made] == [post["id_str"] for post in listed]
    assert made not in [post["id_str"] for post in before]
    assert 404 == box.call("GET", "/1.1/statuses/reposts/99.json").status_code


def test_replies_and_quotes(box: Sandbox) -> None:
    """A reply needs the name of the other author; a quote shows the quoted post."""
    ignored = update(box, "Nice", in_reply_to_status_id=NOT_LIKED)
    reply = update(box, "Nice, @NorthBike_co", in_reply_to_status_id=NOT_LIKED)
    populated = update(
        box, "Good", in_reply_to_status_id=NOT_LIKED, auto_populate_reply_metadata="true"
    )
    address = f"https://platform.example/northbike_co/status/{NOT_LIKED}"
    quote = update(box, "Look", attachment_url=address)

    assert ignored["in_reply_to_status_id"] is None
    answered = {one["in_reply_to_status_id_str"] for one in (reply, populated)}
    assert ({NOT_LIKED}, "northbike_co") == (answered, reply["in_reply_to_screen_name"])
    assert (True, NOT_LIKED) == (quote["is_quote_status"], quote["quoted_status"]["id_str"])


@pytest.mark.parametrize(("reply", "name"), [
    ("1789900000000000003", "northbike_co"), ("1789900000000000002", "harbor_roasters"),
])  # fmt: skip
def test_name_of_the_user_whom_a_stored_reply_answers(box: Sandbox, reply: str, name: str) -> None:
    """It follows from the user's id: records in the form of v2 have nothing else."""
    assert name == show(box, reply)["in_reply_to_screen_name"]


def test_cards_and_entities_on_request(box: Sandbox) -> None:
    """card_uri is shown if it is asked for; the user and the entities can be left out."""
    card = next(each.record for each in box.world.store.page("cards", {"deleted": False}))
    id_ = update(box, card_uri=card["card_uri"])["id_str"]

    assert "card_uri" not in show(box, id_)
    assert card["card_uri"] == show(box, id_, include_card_uri="true")["card_uri"]
    assert {"id", "id_str"} == set(show(box, id_, trim_user="1")["user"])
    assert "entities" not in show(box, id_, include_entities="false")


def test_likes_are_shared(box: Sandbox) -> None:
    """A like is counted, shown in v2, an activity of both users, and ends."""
    before = show(box, NOT_LIKED)
    liked = body_of(box.call("POST", "/1.1/favorites/create.json", form={"id": NOT_LIKED}))
    there = box.read(f"/2/users/{OWN}/liked_posts")["data"]
    listed = [post["id_str"] for post in box.read("/1.1/favorites/list.json", count="200")]
    events = [each.record["event_type"] for each in box.world.store.page("activities")]
    ended = body_of(box.call("POST", "/1.1/favorites/destroy.json", form={"id": NOT_LIKED}))

    assert (False, True, False) == tuple(one["favorited"] for one in (before, liked, ended))
    assert before["favorite_count"] + 1 == liked["favorite_count"]
    assert NOT_LIKED in [post["id"] for post in there]
    assert NOT_LIKED in listed
    assert "like.create" in events
    assert [] == box.read("/1.1/favorites/list.json", screen_name="northbike_co")


def test_deleted(box: Sandbox) -> None:
    """The answer shows the post, which is gone then."""
    gone = body_of(box.call("POST", f"/1.1/statuses/destroy/{POST}.json"))

    assert POST == gone["id_str"]
    assert 404 == box.call("GET", f"/2/posts/{POST}").status_code


def test_timelines(box: Sandbox) -> None:
    """since_id is exclusive, max_id inclusive; reposts and replies can be left out."""
    path = "/1.1/statuses/user_timeline.json"
    all_ = box.read(path, keys=BEARER, user_id=OWN, count="200")
    ids = [post["id"] for post in all_]
    low, high = sorted(ids)[1], sorted(ids)[4]
    between = box.read(path, user_id=OWN, since_id=str(low), max_id=str(high))
    fewer = box.read(path, user_id=OWN, count="200", include_rts="false", exclude_replies="true")

    assert [id_ for id_ in ids if low < id_ <= high] == [post["id"] for post in between]
    assert 2 == len(box.read(path, count="2"))
    assert all("reposted_status" not in post for post in fewer)
    assert {None} == {post["in_reply_to_status_id"] for post in fewer}
    assert all_ != fewer


def test_lookups(box: Sandbox) -> None:
    """Missing posts are left out, or null with map; a form asks for as many as a query."""
    path, ids = "/1.1/statuses/lookup.json", f"{POST},99"
    by_form = body_of(box.call("POST", path, keys=BEARER, form={"id": ids}))

    assert by_form == box.read(path, keys=BEARER, id=ids)
    assert [POST] == [post["id_str"] for post in box.read(path, id=ids)]
    assert box.read(path, id=ids, map="true")["id"]["99"] is None


def test_searches(box: Sandbox) -> None:
    """Older operators are understood, and the next page follows from the metadata."""
    path = "/1.1/search/posts.json"
    first = box.read(path, q="from:harbor_roasters -filter:retweets", result_type="recent", count=2)
    about = first["search_metadata"]
    following = f"{about['next_results']}&result_type=recent"
    second = body_of(box.call("GET", path + following))
    none = box.read(path, q="coffee until:2001-01-01")
    pages = [{post["id"] for post in found["statuses"]} for found in (first, second)]
    assert (2, 2, set()) == (*map(len, pages), pages[0] & pages[1])
    assert (max(pages[0]), 2) == (about["max_id"], about["count"])
    assert "from%3Aharbor_roasters+-filter%3Aretweets" == about["query"]
    assert [] == none["statuses"]


def test_limits(box: Sandbox) -> None:
    """With public limits the headers count, and the call above the limit is refused."""
    limited = sandbox(limits="public")
    path = "/1.1/statuses/home_timeline.json"
    answers = [limited.call("GET", path) for _ in range(16)]

    assert ("15", "14") == tuple(
        answers[0].headers[f"x-rate-limit-{name}"] for name in ("limit", "remaining")
    )
    assert (200, 429) == (answers[14].status_code, answers[15].status_code)
    assert 88 == answers[15].get_json()["errors"][0]["code"]


def test_who_reposted(box: Sandbox) -> None:
    """Reposters have their ids on pages; whoever posted sees which posts were reposted."""
    made = update(box, "Pass this on")["id_str"]
    for keys in (NORTHBIKE, HARBOR):
        body_of(box.call("POST", f"/1.1/statuses/repost/{made}.json", keys=keys))
    first = box.read("/1.1/statuses/reposters/ids.json", id=made, count="1", stringify_ids="true")
    cursor = first["next_cursor_str"]
    second = box.read("/1.1/statuses/reposters/ids.json", id=made, count="1", cursor=cursor)
    reposted = box.read("/1.1/statuses/reposts_of_me.json", count="1")

    assert [OWN] == first["ids"]
    assert [int(OTHER)] == second["ids"]
    assert 0 == second["next_cursor"]
    assert [made] == [one["id_str"] for one in reposted]
    assert [] == box.read("/1.1/statuses/reposts_of_me.json", since_id=made)


@pytest.mark.parametrize(
    "query",
    [{"id": POST}, {"url": f"https://x.example/a/status/{POST}"}],
    ids=["by id", "by address"],
)
def test_an_embedded_post(box: Sandbox, query: dict[str, Any]) -> None:
    """Anybody gets a post as HTML, in which its text is escaped; on the host for pages as well."""
    said = {"id": "1", "id_str": "1", "name": "N", "screen_name": "n_co", "indices": [7, 12]}
    entities = {"user_mentions": [said], "hashtags": [{"text": "b", "indices": [13, 15]}]}
    box.change("posts", POST, full_text="Mugs &\n@n_co #b <i>", entities=entities)
    shown = box.read("/1.1/statuses/oembed.json", keys=None, **query)
    plain = box.read("/oembed", keys=None, omit_script="true", maxwidth="100", **query)

    site = "https://platform.example"
    linked = f'<a href="{site}/n_co">@n_co</a> <a href="{site}/hashtag/b">#b</a>'
    assert f"Mugs &amp;<br>{linked} &lt;i&gt;</p>" in shown["html"]
    assert ("rich", 550, 220) == (shown["type"], shown["width"], plain["width"])
    assert (True, False) == ("<script" in shown["html"], "<script" in plain["html"])
    assert shown["url"].endswith(f"/harbor_roasters/status/{POST}")


def test_a_post_with_its_image(box: Sandbox) -> None:
    """One request uploads an image and posts it."""
    form = {"status": "A mug", "media[]": (BytesIO(make_png(16, 9)), "x.png")}
    made = body_of(box.call("POST", "/1.1/statuses/update_with_media.json", data=form,
                            content_type="multipart/form-data"))  # fmt: skip

    assert "photo" == made["extended_entities"]["media"][0]["type"]
    assert made["text"].startswith("A mug")


post = partial(Refusal, "POST /1.1/statuses/update.json")
TIMELINE = "/1.1/statuses/user_timeline.json"
UNKNOWN: dict[str, Any] = {"query": {"id": "99"}}


REFUSED = [
    post("nothing to post", 403, shows=numbers(170)),
    post("a blank text", 403, form={"status": " "}, shows=numbers(170)),
    post("a text of 281 characters", 403, keys=NORTHBIKE, form={"status": "x" * 281},
         shows=numbers(186)),
    post("a text that was posted", 403, shows=numbers(187), form={"status": "Twice"},
         given={("posts", POST): {"full_text": "Twice", "created_at": "2026-11-27T00:00:00.000Z",
                                  "in_reply_to_status_id_str": None}}),
    Refusal("GET /1.1/statuses/reposters/ids.json", "who reposted an unknown post", 404,
            query={"id": "99"}, shows=numbers(144)),
    Refusal("GET /1.1/statuses/oembed.json", "to embed nothing", 400, shows=numbers(25)),
    Refusal("GET /1.1/statuses/oembed.json", "to embed an unknown post", 404,
            query={"id": "99"}, shows=numbers(144)),
    Refusal("GET /1.1/statuses/oembed.json", "to embed an address of no post", 404,
            query={"url": "https://x.example/a"}, shows=numbers(144)),
    Refusal("GET /1.1/statuses/oembed.json", "to embed a post of a protected user", 403, keys=None,
            query={"id": POST}, shows=numbers(179), given={("users", OWN): {"protected": True}}),
    Refusal("POST /1.1/statuses/update_with_media.json", "a post without its image", 403,
            json={"status": "x"}, shows=numbers(38, "media[] parameter is missing.")),
    Refusal("POST /1.1/statuses/update_with_media.json", "a post with a broken image", 400,
            json={"status": "x", "media[]": "?"}, shows=invalid("media[]")),
    post("media that do not exist", 400, form={"status": "x", "media_ids": "99"},
         shows=numbers(324)),
    post("media of somebody else", 400, keys=NORTHBIKE, shows=numbers(324),
         form={"status": "x", "media_ids": "1712850617439560002"}),
    post("two kinds of attachments", 403, shows=numbers(386),
         form={"status": "x", "media_ids": "1", "attachment_url": "https://x.example/a/status/1"}),
    post("an address that is no post's", 400, shows=numbers(44),
         form={"status": "x", "attachment_url": "https://x.example/"}),
    post("an unknown mode", 400, shows=invalid("tweet_mode"),
         form={"status": "x", "tweet_mode": "whole"}),
    post("an unknown card", 400, shows=invalid("card_uri"),
         form={"status": "x", "card_uri": "card://99"}),
    post("a quote of an unknown post", 400, shows=invalid("attachment_url"),
         form={"status": "x", "attachment_url": "https://twitter.com/a/status/99"}),
    Refusal("GET /1.1/statuses/home_timeline.json", "a since_id that is no number", 400,
            query={"since_id": "None"}, shows=invalid("since_id")),
    post("a reply to an unknown post", 403, shows=numbers(385),
         form={"status": "x", "in_reply_to_status_id": "99"}),
    post("a reply that was not asked for", 403, shows=numbers(433),
         form={"status": "@northbike_co x", "in_reply_to_status_id": NOT_LIKED},
         given={("posts", NOT_LIKED): {"entities": {}, "_quoted_post_id": None,
                                       "_reply_settings": "mentionedUsers"}}),
    post("a quote of a post behind a block", 403, shows=numbers(136),
         form={"status": "x", "attachment_url": f"https://x.example/a/status/{NOT_LIKED}"},
         given={("users", OTHER): {"protected": True}}),
    post("an app that may only read", 403, form={"status": "x"}, shows=numbers(261),
         given={("apps", "11827"): {"_permissions": ["read"]}}),
    post("an app without a user", 403, keys=BEARER, form={"status": "x"}, shows=numbers(220)),
    post("no credentials", 400, keys=None, form={"status": "x"}, shows=numbers(215)),
    post("wrong credentials", 401, keys=Keys(HARBOR.key, "wrong", HARBOR.token, "wrong"),
         form={"status": "x"}, shows=numbers(32)),
    Refusal("GET /1.1/statuses/show.json", "an unknown post", 404, **UNKNOWN, shows=numbers(144)),
    Refusal("GET /1.1/statuses/show.json", "no id", 403, shows=numbers(38)),
    Refusal(f"GET /1.1/statuses/show/{NOT_LIKED}.json", "a protected post", 403, keys=BEARER,
            shows=numbers(179), given={("users", OTHER): {"protected": True}}),
    Refusal(f"GET {TIMELINE}", "a protected timeline", 401, keys=BEARER,
            query={"user_id": OTHER}, shows=not_authorized(TIMELINE),
            given={("users", OTHER): {"protected": True}}),
    Refusal("GET /1.1/statuses/user_timeline.json", "an app that names no user", 400, keys=BEARER,
            shows=numbers(25)),
    Refusal(f"GET {TIMELINE}", "the timeline of an unknown user", 404, shows=numbers(34),
            query={"screen_name": "nobody"}),
    Refusal(f"GET {TIMELINE}", "a suspended user", 401,
            query={"user_id": OTHER}, shows=not_authorized(TIMELINE),
            given={("users", OTHER): {"_suspended": True}}),
    Refusal("POST /1.1/statuses/destroy/99.json", "to delete an unknown post", 404,
            shows=numbers(144)),
    Refusal(f"POST /1.1/statuses/destroy/{NOT_LIKED}.json", "to delete the post of somebody else",
            403, shows=numbers(183)),
    Refusal("POST /1.1/statuses/repost/99.json", "to repost an unknown post", 404,
            shows=numbers(144)),
    Refusal("POST /1.1/favorites/create.json", "to like an unknown post", 404, **UNKNOWN,
            shows=numbers(144)),
    Refusal("POST /1.1/favorites/create.json", "to like a post twice", 403,
            query={"id": OTHERS_POST}, shows=numbers(139)),
    Refusal("POST /1.1/favorites/destroy.json", "to end no like", 404, query={"id": NOT_LIKED},
            shows=numbers(144)),
    Refusal("GET /1.1/search/posts.json", "a query that cannot be read", 403,
            query={"q": "(coffee"}, shows=numbers(195)),
    Refusal("GET /1.1/search/posts.json", "a day that does not exist", 403,
            query={"q": "coffee since:2026-02-31"}, shows=numbers(195)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "status", "why"), [
    ("media_ids", 400, "The user has no media 99."),
    ("in_reply_to_status_id", 403, "reply.in_reply_to_post_id: no post has the id 99."),
])  # fmt: skip
def test_why_a_post_is_refused(box: Sandbox, name: str, status: int, why: str) -> None:
    """The numbers say little; the header names what is not there."""
    answer = box.call("POST", "/1.1/statuses/update.json", form={"status": "Beans", name: "99"})

    assert (status, why) == (answer.status_code, answer.headers["X-Mock-Why"])


@pytest.mark.parametrize("day", ["2026-02-31", "2026-03-01T10:00:00Z"])
def test_why_a_day_is_refused(box: Sandbox, day: str) -> None:
    """The text of the number speaks of a parameter alone; the header says what a day looks like."""
    answer = box.call("GET", f"/1.1/search/tweets.json?q=coffee&until={day}")

    assert 403 == answer.status_code
    assert "Since and until take a day such as 2026-03-01" in answer.headers["X-Mock-Why"]


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, noon: None, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    row.check(box)
