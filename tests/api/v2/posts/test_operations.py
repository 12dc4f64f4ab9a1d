"""Users post, edit, delete and read posts through the v2 interface."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.objects.answers import EXPANSIONS, POST_FIELDS
from mock_platform.api.v2.objects.post_view import show_whole_post
from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOWS
from tests.api.oauth.app_client import messages
from tests.api.v2.posts.support import INES, list_activities, read_metrics, relate
from tests.api.v2.posts.support import make as store
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox, body_of, sandbox

EMPTY = ("follows",)
OWN, OTHER = "2244994945", "3805104374"
COLD_BREW = "1712850617439551489"


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox in which the main user has a subscription, and there are no follows."""
    box.change("users", OWN, subscription_type="Premium")
    return box


def post(box: Sandbox, keys: Keys = HARBOR, **body: Any) -> TestResponse:
    """Ask for a post, with a text unless the body has other contents."""
    if not body.keys() & {"text", "media", "poll", "card_uri"}:
        body["text"] = "Hello"
    return box.call("POST", "/2/posts", keys=keys, json=body)


def make(box: Sandbox, keys: Keys = HARBOR, **body: Any) -> str:
    """Make a post; its id."""
    return str(body_of(post(box, keys, **body), 201)["data"]["id"])


def make_enterprises(box: Sandbox) -> None:
    """Move all apps to the tier of enterprises."""
    for entry in box.world.store.page("apps"):
        box.change("apps", entry.key, _tier="enterprise")


def read(box: Sandbox, path: str, status: int = 200) -> Any:
    """The answer to a GET with the bearer token."""
    return body_of(box.call("GET", path, keys=BEARER), status)


def show(box: Sandbox, post_id: str) -> Any:
    """A post with all public fields."""
    hidden = {"non_public_metrics", "organic_metrics", "promoted_metrics"}
    names = ",".join(name for name in POST_FIELDS if name not in hidden)
    return read(box, f"/2/posts/{post_id}?post.fields={names}")["data"]


def refuse(answer: TestResponse, text: str) -> None:
    """The answer is the generic 403 with this text in its detail."""
    body = answer.get_json()
    assert (403, "about:blank", "Forbidden") == (answer.status_code, body["type"], body["title"])
    assert text in body["detail"]


# -- making posts ----------------------------------------------------------------------------------


def test_a_post_is_made_read_and_deleted(box: Sandbox) -> None:
    """201 with id and text; then it can be read, and after its deletion it cannot."""
    answer = post(box, text="Hello, @northbike_co")
    made = answer.get_json()["data"]

    assert (201, "Hello, @northbike_co") == (answer.status_code, made["text"])
    assert [made["id"]] == made["edit_history_post_ids"]
    shown = show(box, made["id"])
    assert (OWN, "2026-11-22T12:00:00.000Z") == (shown["author_id"], shown["created_at"])
    assert made["id"] == shown["conversation_id"]
    assert "Harbor Campaign Desk" == shown["source"]

    answer = box.call("DELETE", f"/2/posts/{made['id']}")
    assert (200, {"data": {"deleted": True}}) == (answer.status_code, answer.get_json())
    read(box, f"/2/posts/{made['id']}", 404)


def test_older_names_are_taken(box: Sandbox) -> None:
    """The older keys of the body mean the same."""
    quote = make(box, text="See", quote_tweet_id=COLD_BREW)
    reply = make(box, text="So", reply={"in_reply_to_tweet_id": quote})
    assert [{"type": "quoted", "id": COLD_BREW}] == show(box, quote)["referenced_posts"]
    assert [{"type": "replied_to", "id": quote}] == show(box, reply)["referenced_posts"]


write = partial(Refusal, "POST /2/posts", status=400)
POLL = {"options": ["a", "b"], "duration_minutes": 5}
EXCLUDE = "quote_post_id and card_uri exclude one another"
REFUSED = [
    write("no text", json={"text": " "},
          messages=["text is required if there is no media, poll, quote_post_id or card_uri"]),
    write("an empty text", json={"text": ""},
          messages=["$.text: must be at least 1 characters long"]),
    *(
        write(f"a card and a {name}", messages=[EXCLUDE],
              json={"text": "a", name: COLD_BREW, "card_uri": "card://1"})
        for name in ("quote_post_id", "quote_tweet_id")
    ),
    write("followers without a community", json={"text": "a", "share_with_followers": True},
          messages=["share_with_followers needs community_id"]),
    write("an unknown quote", json={"quote_post_id": "5", "text": "a"},
          messages=["quote_post_id: no post has the id 5"]),
    write("an answer to nothing", json={"reply": {"in_reply_to_post_id": "5"}, "text": "a"},
          messages=["reply.in_reply_to_post_id: no post has the id 5"]),
    write("an unknown card", json={"card_uri": "card://5"},
          messages=["card_uri: no card is card://5"]),
    write("one option", json={"poll": POLL | {"options": ["a"]}},
          messages=["$.poll.options: there must be a minimum of 2 items in the array"]),
    write("a long option", json={"poll": POLL | {"options": ["a", "b" * 26]}},
          messages=["$.poll.options[1]: may only be 25 characters long"]),
    write("a short poll", json={"poll": POLL | {"duration_minutes": 4}},
          messages=["$.poll.duration_minutes: must have a minimum value of 5"]),
    write("a long poll", json={"poll": POLL | {"duration_minutes": 10081}},
          messages=["$.poll.duration_minutes: must have a maximum value of 10080"]),
    write("five media", json={"media": {"media_ids": ["1", "2", "3", "4", "5"]}},
          messages=["$.media.media_ids: there must be a maximum of 4 items in the array"]),
    write("another setting of replies", json={"text": "a", "reply_settings": "nobody"},
          messages=["$.reply_settings: does not have a value in the enumeration [following, "
                    "mentionedUsers, subscribers, verified]"]),
]  # fmt: skip
test_what_cannot_be_posted = make_refusal_test(REFUSED)


def test_what_is_said_about_media(box: Sandbox) -> None:
    """Title and description of media are shown on request; the rest is kept in the record."""
    said = {"title": "Slow", "description": "Sixteen hours", "embeddable": True}
    calls = {"visit_site": {"url": "https://example.com"}}
    media = {"media_ids": ["1712850617439560001"], **said, "call_to_actions": calls}
    made = make(box, media=media)

    (shown,) = read(box, f"/2/posts/{made}?post.fields=media_metadata")["data"]["media_metadata"]
    assert ("Slow", "Sixteen hours") == (shown["title"], shown["description"])
    assert calls == box.record("posts", made)["_media_details"]["call_to_actions"]


def test_media_are_shown_with_a_post(box: Sandbox) -> None:
    """Media are named by their ids; a post without text is fine; kinds do not mix."""
    ids = ["1712850617439560001", "1712850617439560002"]
    made = make(box, media={"media_ids": ids, "tagged_user_ids": [OTHER]})
    mixed = post(box, media={"media_ids": [ids[0], "1712850617439560005"]})

    answer = read(box, f"/2/posts/{made}?expansions=attachments.media_keys&media.fields=url,width")
    assert [f"3_{each}" for each in ids] == answer["data"]["attachments"]["media_keys"]
    assert ["photo", "photo"] == [media["type"] for media in answer["includes"]["media"]]
    assert 1200 == answer["includes"]["media"][0]["width"]
    assert [OTHER] == box.record("posts", made)["_tagged_user_ids"]
    assert ["media.media_ids takes up to 4 images, or 1 GIF, or 1 video"] == messages(mixed)


def test_a_poll_ends(box: Sandbox) -> None:
    """It is open until its minutes are over on the world's clock."""
    poll = {"options": ["Light", "Dark"], "duration_minutes": 5, "reply_settings": "following"}
    asked: Any = {
        "expansions": "attachments.poll_ids", "post.fields": "reply_settings",
        "poll.fields": "voting_status,end_datetime,duration_minutes",
    }  # fmt: skip
    path = f"/2/posts/{make(box, text='Which roast?', poll=poll)}"
    answer = box.read(path, **asked)
    [shown] = answer["includes"]["polls"]

    assert [shown["id"]] == answer["data"]["attachments"]["poll_ids"]
    assert "following" == answer["data"]["reply_settings"]
    assert ("open", "2026-11-22T12:05:00.000Z") == (shown["voting_status"], shown["end_datetime"])
    assert {"position": 2, "label": "Dark", "votes": 0} == shown["options"][1]
    box.advance(minutes=5)
    assert "closed" == box.read(path, **asked)["includes"]["polls"][0]["voting_status"]


def test_what_else_a_post_can_say(box: Sandbox) -> None:
    """Communities, places, promoted-only posts and the flags are stored and shown."""
    data = body_of(post(
        box, text="Here", community_id="1493446837214187523", share_with_followers=True,
        paid_partnership=True, made_with_ai=True, nullcast=True, for_super_followers_only=True,
        reply_settings="verified", geo={"place_id": "5a110d312052166f"},
        direct_message_deep_link="https://dm.example/1",
    ), 201)["data"]  # fmt: skip
    shown, stored = show(box, data["id"]), box.record("posts", data["id"])

    assert "1493446837214187523" == data["community_id"] == shown["community_id"]
    assert "community_id" not in post(box, text="Alone").get_json()["data"]
    assert {"place_id": "5a110d312052166f"} == shown["geo"]
    assert (True, "verified") == (shown["paid_partnership"], shown["reply_settings"])
    assert {"followers": False} == shown["scopes"]
    names = ("_made_with_ai", "_for_super_followers_only", "_share_with_followers", "nullcast")
    assert [True] * 4 == [stored[name] for name in names]


@pytest.mark.parametrize(
    ("key", "value", "since"),
    [
        ("paid_partnership", True, datetime(2026, 6, 3, tzinfo=UTC)),
        ("edit_options", {"previous_post_id": "5"}, datetime(2025, 10, 3, tzinfo=UTC)),
        ("share_with_followers", True, datetime(2025, 7, 28, tzinfo=UTC)),
    ],
)
def test_keys_are_known_from_their_date_on(
    box: Sandbox, key: str, value: object, since: datetime
) -> None:
    """A second before, the key is unknown and ignored with a warning; from then on it is read."""
    body = {"text": "Hello", key: value, "community_id": "1493446837214187523"}
    box.world.clock.freeze(since - timedelta(seconds=1))
    before = box.call("POST", "/2/posts", json=body)
    box.world.clock.freeze(since)
    after = box.call("POST", "/2/posts", json=body | {"text": "Hello again"})

    assert (201, "unknown-key") == (before.status_code, before.headers["X-Mock-Warnings"])
    assert "X-Mock-Warnings" not in after.headers
    if key == "edit_options":
        assert ["edit_options.previous_post_id: no post has the id 5"] == messages(after)
    else:
        stored = box.record("posts", before.get_json()["data"]["id"])
        assert stored[f"_{key}"] is False
        assert box.record("posts", after.get_json()["data"]["id"])[f"_{key}"] is True


@pytest.mark.parametrize("parameter", ["post.fields", "tweet.fields"])
def test_a_field_is_read_from_its_date_on(box: Sandbox, parameter: str) -> None:
    """A second before its date a field is unknown to readers; from then on it is shown."""
    clock, since = box.world.clock, datetime(2026, 6, 3, tzinfo=UTC)
    clock.freeze(since)
    made = make(box, paid_partnership=True)
    path, query = f"/2/posts/{made}", {parameter: "paid_partnership"}
    after = box.call("GET", path, keys=BEARER, query_string=query)
    clock.freeze(since - timedelta(seconds=1))
    before = box.call("GET", path, keys=BEARER, query_string=query)

    assert after.get_json()["data"]["paid_partnership"] is True
    (message,) = messages(before)
    assert 400 == before.status_code
    value = f"The `{parameter}` query parameter value [paid_partnership] is not one of [article,"
    assert message.startswith(value)
    assert "paid_partnership" not in message.removeprefix(value)


def test_all_operations_know_the_dates_of_fields() -> None:
    """Whichever operation takes fields of posts, it refuses one that is not known yet."""
    takers = [
        each for each in OPERATIONS
        if each.params is not None and "post_fields" in each.params._declared_fields
    ]  # fmt: skip

    assert len(takers) > 10
    assert [] == [each.id for each in takers if getattr(each.params, "find_faults", None) is None]


def test_payloads_have_a_field_from_its_date_on(box: Sandbox) -> None:
    """The payload of an event has no paid_partnership before its date."""
    world = box.world
    post = world.store.page("posts", limit=1)[0].record
    world.clock.freeze(datetime(2026, 6, 2, 23, 59, 59, tzinfo=UTC))
    before = show_whole_post(world, post)
    world.clock.freeze(datetime(2026, 6, 3, tzinfo=UTC))

    assert {"paid_partnership"} == set(show_whole_post(world, post)) - set(before)


def test_all_releases_know_all_keys() -> None:
    """With --releases all a key is read before its date."""
    box = sandbox(freeze=datetime(2025, 1, 1, tzinfo=UTC), releases="all")
    assert box.record("posts", make(box, paid_partnership=True))["_paid_partnership"] is True


def test_what_has_no_effect(box: Sandbox) -> None:
    """A key that changes nothing is named in the warnings."""
    reply = {"in_reply_to_post_id": make(box), "auto_populate_reply_metadata": True}
    answer = post(box, text="So", reply=reply)
    assert (201, "no-effect") == (answer.status_code, answer.headers["X-Mock-Warnings"])


# -- refusals --------------------------------------------------------------------------------------


def test_the_same_text_again(box: Sandbox) -> None:
    """It is refused for 24 hours, unless it replies to something else; others may post it."""
    made = make(box, text="Fresh today")

    refuse(post(box, text="Fresh today"), "create a Post with duplicate content.")
    make(box, text="Fresh today", reply={"in_reply_to_post_id": made})
    make(box, NORTHBIKE, text="Fresh today")
    box.world.clock.advance(86399)
    refuse(post(box, text="Fresh today"), "create a Post with duplicate content.")
    box.world.clock.advance(1)
    make(box, text="Fresh today")


@pytest.mark.parametrize(("subscription", "most"), [("None", 280), ("Premium", 25_000)])
def test_the_length_of_a_text(box: Sandbox, subscription: str, most: int) -> None:
    """The longest text is taken, one character more is refused."""
    box.change("users", OWN, subscription_type=subscription)
    make(box, text="\u6771" * (most // 2))
    refuse(post(box, text="\u6771" * (most // 2) + "a"), f"is {most + 1:,} of {most:,}")


def test_a_long_text_is_cut_where_it_is_shown(box: Sandbox) -> None:
    """Text has 280 characters, note_post the whole; one of 280 is not cut."""
    long, short = show(box, make(box, text="a" * 281)), show(box, make(box, text="b" * 280))
    assert "a" * 279 + "\u2026" == long["text"]
    assert {"text": "a" * 281} == long["note_post"]
    assert ("b" * 280, False) == (short["text"], "note_post" in short)


def test_replies_have_to_be_summoned(box: Sandbox) -> None:
    """From 2026-02-23 on, self-serve apps reply only where the author mentioned or quoted."""
    bare = make(box, text="Nobody asked")
    asked = make(box, text="Is it, @northbike_co?")
    quote = make(box, text="Look", quote_post_id=make(box, NORTHBIKE, text="City bikes"))
    text = "you have not been mentioned or otherwise engaged"

    refuse(post(box, NORTHBIKE, text="1", reply={"in_reply_to_post_id": bare}), text)
    make(box, NORTHBIKE, text="2", reply={"in_reply_to_post_id": asked})
    make(box, NORTHBIKE, text="3", reply={"in_reply_to_post_id": quote})
    make(box, text="4", reply={"in_reply_to_post_id": bare})
    box.change("apps", "20993", _tier="enterprise")
    make(box, NORTHBIKE, text="5", reply={"in_reply_to_post_id": bare})
    box.change("apps", "20993", _tier="self_serve")
    box.world.clock.freeze(datetime(2026, 2, 23, tzinfo=UTC))
    refuse(post(box, NORTHBIKE, text="6", reply={"in_reply_to_post_id": bare}), text)
    box.world.clock.freeze(datetime(2026, 2, 22, 23, 59, 59, tzinfo=UTC))
    make(box, NORTHBIKE, text="7", reply={"in_reply_to_post_id": bare})


@pytest.mark.parametrize("settings", ["following", "mentionedUsers", "verified", "subscribers"])
def test_reply_settings_hold_for_everybody(box: Sandbox, settings: str) -> None:
    """Without what it asks for there is no reply, whatever the app's tier."""
    make_enterprises(box)
    limited = {"in_reply_to_post_id": make(box, reply_settings=settings)}
    refuse(post(box, NORTHBIKE, text="1", reply=limited), "you have not been mentioned")
    make(box, text="2", reply=limited)


@pytest.mark.parametrize("text", ["Who comes?", "@northbike_co, do you come?"])
def test_followed_and_mentioned_users_reply(box: Sandbox, text: str) -> None:
    """Under the setting following these are who may reply."""
    make_enterprises(box)
    post_id = make(box, text=text, reply_settings="following")
    if "@" not in text:
        relate(box, FOLLOWS, OWN, OTHER)

    make(box, NORTHBIKE, text="I do", reply={"in_reply_to_post_id": post_id})


def test_subscribers_reply(box: Sandbox) -> None:
    """Under the setting subscribers these are who may reply, and who is mentioned."""
    make_enterprises(box)
    named = make(box, text="@northbike_co, do you come?", reply_settings="subscribers")
    make(box, NORTHBIKE, text="I do", reply={"in_reply_to_post_id": named})
    post_id = make(box, text="Who comes?", reply_settings="subscribers")
    box.change("users", OTHER, _subscribes_to=[OWN])

    make(box, NORTHBIKE, text="I do too", reply={"in_reply_to_post_id": post_id})


@pytest.mark.parametrize("name", ["reply", "quote_post_id"])
def test_a_repost_is_as_far_as_its_original(box: Sandbox, name: str) -> None:
    """Nobody answers or quotes the repost of a post that they cannot see."""
    make_enterprises(box)
    reposted = store(box, INES, "RT", reposted=store(box, OTHER, "Quietly"))
    body: Any = {name: {"in_reply_to_post_id": reposted} if name == "reply" else reposted}
    make(box, text="1", **body)
    box.change("users", OTHER, protected=True)

    refuse(post(box, text="2", **body), "You are not permitted to perform this action.")


@pytest.mark.parametrize("name", ["reply", "quote_post_id"])
def test_posts_out_of_reach(box: Sandbox, name: str) -> None:
    """Nobody answers or quotes whom they cannot see; a follower of a protected user answers."""
    make_enterprises(box)
    post_id = make(box, text="Hello")
    body: Any = {name: {"in_reply_to_post_id": post_id} if name == "reply" else post_id}
    forbidden = "You are not permitted to perform this action."

    box.change("users", OWN, protected=True)
    refuse(post(box, NORTHBIKE, text="1", **body), forbidden)
    make(box, text="2", **body)
    relate(box, FOLLOWS, OTHER, OWN)
    answer = post(box, NORTHBIKE, text="3", **body)
    assert (201 if name == "reply" else 403) == answer.status_code
    box.change("users", OWN, protected=False)
    make(box, NORTHBIKE, text="4", **body)
    relate(box, BLOCKS, OWN, OTHER)
    refuse(post(box, NORTHBIKE, text="5", **body), forbidden)


@pytest.mark.parametrize(
    ("tier", "moment", "status"),
    [
        ("self_serve", datetime(2026, 4, 20, tzinfo=UTC), 403),
        ("self_serve", datetime(2026, 4, 19, 23, 59, 59, tzinfo=UTC), 201),
        ("enterprise", datetime(2026, 4, 20, tzinfo=UTC), 201),
    ],
)
def test_quotes_are_for_enterprises(tier: str, moment: datetime, status: int) -> None:
    """With `--tiers on`, only apps of enterprises quote from 2026-04-20 on; others post."""
    box = sandbox(freeze=moment, tiers="on")
    box.change("apps", "11827", _tier=tier)
    assert status == post(box, text="Look", quote_post_id=COLD_BREW).status_code
    make(box, text="Hello")


# -- editing ---------------------------------------------------------------------------------------


def edit(box: Sandbox, post_id: str, keys: Keys = HARBOR, **body: Any) -> TestResponse:
    """Ask for an edit of a post."""
    return post(box, keys, **{"text": "Edited"} | body, edit_options={"previous_post_id": post_id})


def test_an_edit_has_a_new_id(box: Sandbox) -> None:
    """Both versions can be read and have one history; deleting one deletes both."""
    old = make(box, text="Helo")
    new = edit(box, old, text="Hello").get_json()["data"]["id"]

    for post_id, text in ((old, "Helo"), (new, "Hello")):
        shown = show(box, post_id)
        assert (text, [old, new]) == (shown["text"], shown["edit_history_post_ids"])
        assert (old, 4) == (shown["conversation_id"], shown["edit_controls"]["edits_remaining"])
        assert "2026-11-22T13:00:00.000Z" == shown["edit_controls"]["editable_until"]
    included = read(box, f"/2/posts/{new}?expansions=edit_history_post_ids")["includes"]
    assert [old, new] == [each["id"] for each in included["posts"]]
    assert 200 == box.call("DELETE", f"/2/posts/{old}").status_code
    read(box, f"/2/posts/{new}", 404)


def test_what_an_edit_takes_over(box: Sandbox) -> None:
    """Who may reply stays; another answer or quote has no effect, and the journal says so."""
    first, other = make(box, text="1", reply_settings="following"), make(box, text="Hello")
    edit: Any = {"edit_options": {"previous_post_id": first}}
    made = post(box, text="2", **edit, quote_post_id=other, reply={"in_reply_to_post_id": other})

    record = box.record("posts", made.get_json()["data"]["id"])
    names = ("_reply_settings", "_quoted_post_id", "in_reply_to_status_id_str")
    assert ["following", None, None] == [record[name] for name in names]
    assert "no-effect" in made.headers["X-Mock-Warnings"]
    assert "posts.edits" in made.headers["X-Mock-Assumptions"].split(",")
    opened = make(box, text="3", **edit, reply_settings="verified")
    assert "verified" == box.record("posts", opened)["_reply_settings"]


def test_who_may_edit_what(box: Sandbox) -> None:
    """One's own post, with a subscription; no poll, no reply to others, no post of a community."""
    own = make(box, text="Own")
    foreign = make(box, NORTHBIKE, text="@harbor_roasters?")
    fixed = [
        make(box, text="Poll", poll={"options": ["a", "b"], "duration_minutes": 5}),
        make(box, text="Reply", reply={"in_reply_to_post_id": foreign}),
        make(box, text="There", community_id="1493446837214187523"),
    ]

    refuse(edit(box, foreign), "not authorized to edit")
    for each in fixed:
        refuse(edit(box, each), "not eligible for editing")
    box.change("users", OWN, subscription_type="None")
    refuse(edit(box, own), "editing needs a subscription")


def test_an_hour_and_five_edits(box: Sandbox) -> None:
    """At the end of the hour it can be edited, a second later no more; a sixth edit is refused."""
    first, second = make(box, text="First"), make(box, text="Second")
    for number in range(5):
        assert 201 == edit(box, first, text=f"Edit {number}").status_code
    refuse(edit(box, first, text="Edit 6"), "it was edited 5 times")

    box.world.clock.advance(3600)
    assert 201 == edit(box, second, text="In time").status_code
    box.world.clock.advance(1)
    refuse(edit(box, second, text="Too late"), "it could be until 13:00:00 UTC")


# -- deleting --------------------------------------------------------------------------------------


def test_another_s_post_cannot_be_deleted(box: Sandbox) -> None:
    """It remains."""
    made = make(box, NORTHBIKE, text="Mine")
    refuse(box.call("DELETE", f"/2/posts/{made}"), "You are not authorized to delete this Post.")
    assert "Mine" == show(box, made)["text"]


# -- reading ---------------------------------------------------------------------------------------


def test_a_missing_post(box: Sandbox) -> None:
    """Alone it answers 404, with the problem at the top and once more in errors."""
    body = read(box, "/2/posts/5", 404)
    own = {name: value for name, value in body.items() if name not in {"errors", "status"}}

    assert [own] == body["errors"]
    assert {
        "type": "http://localhost/2/problems/resource-not-found", "title": "Not Found Error",
        "detail": "Could not find post with id: [5].", "parameter": "id", "value": "5",
        "resource_id": "5", "resource_type": "post",
    } == own  # fmt: skip


def test_missing_posts_among_others(box: Sandbox) -> None:
    """They are named in errors, the others are in data in the order of the ids, once each."""
    body = read(box, f"/2/posts?ids=5,{COLD_BREW},5,{COLD_BREW}")

    assert [COLD_BREW] == [each["id"] for each in body["data"]]
    assert ["Could not find post with ids: [5]."] == [each["detail"] for each in body["errors"]]
    assert "status" not in body["errors"][0]
    assert ["errors"] == list(read(box, "/2/posts?ids=5"))


def test_every_name_is_taken(box: Sandbox) -> None:
    """All public fields and expansions, and the older names; any other is refused."""
    fields, expansions = ",".join(POST_FIELDS), ",".join(EXPANSIONS)
    older = "tweet.fields=referenced_tweets,note_tweet,edit_history_tweet_ids"
    read(box, f"/2/posts/{COLD_BREW}?post.fields={fields}&expansions={expansions}")
    quote = make(box, text="See", quote_post_id=COLD_BREW)

    body = read(box, f"/2/tweets/{quote}?{older}&expansions=referenced_tweets.id.author_id")
    assert [{"type": "quoted", "id": COLD_BREW}] == body["data"]["referenced_posts"]
    assert [COLD_BREW] == [each["id"] for each in body["includes"]["posts"]]
    assert [OWN] == [each["id"] for each in body["includes"]["users"]]
    alone = read(box, f"/2/posts/{quote}?expansions=referenced_posts.id")
    assert ["posts"] == list(alone["includes"])
    (error,) = read(box, f"/2/posts/{quote}?post.fields=likes", 400)["errors"]
    assert "`post.fields` query parameter value [likes] is not one of [" in error["message"]


def test_what_expansions_do_not_find(box: Sandbox) -> None:
    """A referenced post that is gone is named in errors; the post itself is shown."""
    first = make(box, text="First")
    quote = make(box, text="See", quote_post_id=first)
    box.call("DELETE", f"/2/posts/{first}")
    body = read(box, f"/2/posts/{quote}?expansions=referenced_posts.id,author_id")

    assert quote == body["data"]["id"]
    assert ["users"] == list(body["includes"])
    assert [(first, "referenced_posts.id")] == [
        (each["value"], each["parameter"]) for each in body["errors"]
    ]


def test_private_counts_are_the_author_s(box: Sandbox) -> None:
    """Others, and the author after 30 days, find a not-authorized-for-field in errors."""
    made = make(box, text="Roasted today")
    box.change("posts", made, _impression_count=2000)
    path, query = f"/2/posts/{made}", "post.fields=non_public_metrics,organic_metrics"
    own = box.call("GET", path, query_string=query).get_json()
    found = read(box, f"{path}?{query}")["errors"]

    assert "errors" not in own
    assert 2000 == own["data"]["non_public_metrics"]["impression_count"]
    assert {"like_count", "impression_count"} < own["data"]["organic_metrics"].keys()
    assert [(name, "post", "data") for name in ("non_public_metrics", "organic_metrics")] == [
        (each["field"], each["resource_type"], each["section"]) for each in found
    ]
    box.advance(days=30)
    assert own == box.call("GET", path, query_string=query).get_json()
    box.advance(seconds=1)
    assert 2 == len(box.call("GET", path, query_string=query).get_json()["errors"])


def test_posts_of_protected_users_are_their_own(box: Sandbox) -> None:
    """Alone they answer 403, among several they are named in errors; the author reads them."""
    quote = make(box, NORTHBIKE, text="See", quote_post_id=COLD_BREW)
    box.change("users", OWN, protected=True)

    alone = read(box, f"/2/posts/{COLD_BREW}", 403)
    assert alone["type"].endswith("/not-authorized-for-resource")
    assert ["data"] == [e["section"] for e in read(box, f"/2/posts?ids={COLD_BREW}")["errors"]]
    expanded = read(box, f"/2/posts/{quote}?expansions=referenced_posts.id")
    assert ["includes"] == [each["section"] for each in expanded["errors"]]
    assert 200 == box.call("GET", f"/2/posts/{COLD_BREW}").status_code


def test_reads_are_counted(box: Sandbox) -> None:
    """Each post that is read counts once for the app; one that was not found does not."""

    def count() -> int:
        usage = read(box, "/2/usage/posts")["data"]["project_usage"]
        return int(usage)

    before = count()
    read(box, f"/2/posts?ids={COLD_BREW},5")
    read(box, f"/2/posts/{COLD_BREW}")
    assert before + 1 == count()


@pytest.mark.parametrize(
    ("begin", "end"),
    [("https://x.com/northbike_co/status/", ""),
     ("http://mobile.twitter.com/i/web/status/", "?s=20"),
     ("1 https://x.com/a/status/1 https://WWW.x.com/a/status/", " is it")],
)  # fmt: skip
def test_the_address_of_a_post_quotes_it(box: Sandbox, begin: str, end: str) -> None:
    """It does as quote_post_id does: in the post, in the counts, and for the author quoted."""
    quoted = make(box, NORTHBIKE, text="Hello")
    made = post(box, text=f"Look {begin}{quoted}{end}")

    assert "posts.linked" in made.headers["X-Mock-Assumptions"].split(",")
    shown = read(box, f"/2/posts/{made.get_json()['data']['id']}?post.fields=referenced_posts")
    assert [{"type": "quoted", "id": quoted}] == shown["data"]["referenced_posts"]
    assert 1 == read_metrics(box, f"/2/posts/{quoted}")["quote_count"]
    assert ("post.quote.create", OTHER) in list_activities(box, "event_type", "user_id")


@pytest.mark.parametrize(
    "address",
    ["https://example.com/a/status/{id}", "https://x.com/a/status/{id}0", "https://x.com/a/statuses",
     "https://x.com/a/status/{hidden}"],
)  # fmt: skip
def test_other_addresses_are_links(box: Sandbox, address: str) -> None:
    """What is no address of a post that everybody may see refers to none."""
    quoted, hidden = make(box, text="Hello"), make(box, NORTHBIKE, text="Quietly")
    box.change("users", OTHER, protected=True)

    made = make(box, text=address.format(id=quoted, hidden=hidden))
    assert box.record("posts", made)["_quoted_post_id"] is None


@pytest.mark.parametrize("what", ["poll", "quote_post_id", "edit_options"])
def test_an_address_beside_something_else(box: Sandbox, what: str) -> None:
    """A poll, another quote or an edit is not changed by an address in the text."""
    one, other = make(box, text="Hello"), make(box, NORTHBIKE, text="Hello")
    values: Any = {
        "poll": {"options": ["a", "b"], "duration_minutes": 5}, "quote_post_id": other,
        "edit_options": {"previous_post_id": one},
    }  # fmt: skip
    made = make(box, text=f"https://x.com/a/status/{one}", **{what: values[what]})

    expected = other if what == "quote_post_id" else None
    assert expected == box.record("posts", made)["_quoted_post_id"]
