"""Making and deleting posts: the record, the counts, the activities."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.activity.activities import FanOut
from mock_platform.api.v2.objects.relations import BOOKMARKS, LIKES
from mock_platform.api.v2.posts.changes import MadePost, create_post, delete_post
from mock_platform.api.v2.search.subjects import make_subject
from mock_platform.world.store.interface import Record
from tests.api.v2.posts.support import read_metrics, relate
from tests.support import Sandbox

HARBOR, NORTHBIKE, INES = "2244994945", "3805104374", "2790441185"


def make(box: Sandbox, author: str, text: str, **options: Any) -> MadePost:
    """Make a post."""
    with box.world.work():
        return create_post(box.world, box.record("users", author), text, **options)


def remove(box: Sandbox, post: Record) -> list[FanOut]:
    """Delete a post."""
    with box.world.work():
        return delete_post(box.world, post)


def name_activities(fan_outs: list[FanOut]) -> list[tuple[str, str]]:
    """The type and the user of each activity."""
    return [(one.activity["event_type"], one.activity["user_id"]) for one in fan_outs]


def test_a_post_is_an_activity_of_its_author(box: Sandbox) -> None:
    """The payload is the whole post, which is also the first of the includes."""
    made = make(box, HARBOR, "Hello")
    [fan_out] = made.activities
    activity = fan_out.activity

    assert ("post.create", HARBOR) == (activity["event_type"], activity["user_id"])
    assert made.record["id_str"] == activity["payload"]["id"] == activity["event_uuid"]
    assert [activity["payload"]] == activity["includes"]["posts"]
    assert [HARBOR] == [user["id"] for user in activity["includes"]["users"]]
    assert {"repost_count", "repost_count_str"} <= activity["payload"]["public_metrics"].keys()
    assert "5" == activity["payload"]["edit_controls"]["edits_remaining_str"]


def test_a_reply_names_its_conversation(box: Sandbox) -> None:
    """It belongs to the conversation of the first post, and is an event of the user replied to."""
    first = make(box, HARBOR, "One").record
    second = make(box, NORTHBIKE, "@harbor_roasters Two", reply_to=first)
    third = make(box, INES, "Three", reply_to=second.record).record

    expected = [("post.create", NORTHBIKE), ("post.reply.create", HARBOR)]
    assert expected == name_activities(second.activities)
    assert first["id_str"] == second.record["_conversation_id"] == third["_conversation_id"]
    assert first["id_str"] == second.activities[0].activity["payload"]["in_reply_to_post_id"]
    assert 1 == box.record("posts", first["id_str"])["_reply_count"]


def test_mentions_quotes_and_reposts_are_events_of_others(box: Sandbox) -> None:
    """Each other user concerned has an event, but not for an action of their own."""
    own = make(box, HARBOR, "Of my own, @harbor_roasters")
    quote = make(box, NORTHBIKE, "Look, @ines_duarte", quoted=own.record)
    repost = make(box, INES, "RT @harbor_roasters: Of my own", reposted=own.record)

    assert [("post.create", HARBOR)] == name_activities(own.activities)
    assert [
        ("post.create", NORTHBIKE), ("post.quote.create", HARBOR), ("post.mention.create", INES),
    ] == name_activities(quote.activities)  # fmt: skip
    expected = [("post.create", INES), ("post.repost.create", HARBOR)]
    assert expected == name_activities(repost.activities)
    included = [one["id"] for one in quote.activities[1].activity["includes"]["posts"]]
    assert [quote.record["id_str"], own.record["id_str"]] == included
    stored = box.record("posts", own.record["id_str"])
    assert (1, 1) == (stored["_quote_count"], stored["repost_count"])


def test_posts_of_protected_users_are_no_activities(box: Sandbox) -> None:
    """They are stored, but recorded nowhere else."""
    box.change("users", HARBOR, protected=True)
    made = make(box, HARBOR, "Quietly")
    assert [] == made.activities
    assert [] == remove(box, made.record)


def test_deleting_a_version_deletes_all(box: Sandbox) -> None:
    """All versions and the reposts are gone, the counts are as before, one event says so."""
    world = box.world
    first = make(box, NORTHBIKE, "First").record
    old = make(box, HARBOR, "Helo", reply_to=first).record
    make(box, HARBOR, "Hello", previous=old)
    make(box, INES, "RT", reposted=old)
    before = world.store.count("posts")

    [fan_out] = remove(box, box.record("posts", old["id_str"]))

    assert before - 3 == world.store.count("posts")
    assert {"id": old["id_str"], "author_id": HARBOR} == fan_out.activity["payload"]
    assert HARBOR == fan_out.activity["includes"]["users"][0]["data"]["id"]
    assert 0 == box.record("posts", first["id_str"])["_reply_count"]


def test_versions_have_the_same_counts(box: Sandbox) -> None:
    """What happens to a post after an edit counts in its older versions as well."""
    first = make(box, HARBOR, "Helo").record
    relate(box, LIKES, NORTHBIKE, first["id_str"])
    second = make(box, HARBOR, "Hello", previous=first).record
    with box.world.work():
        LIKES.remove(box.world, NORTHBIKE, second["id_str"])
        BOOKMARKS.add(box.world, INES, second["id_str"])

    old, new = (read_metrics(box, f"/2/posts/{each['id_str']}") for each in (first, second))
    assert (0, 1) == (new["like_count"], new["bookmark_count"])
    assert new == old


def test_media_of_posts_are_counted(box: Sandbox) -> None:
    """A user has the media of the own posts in media_count: an edit changes it, a deletion too."""

    def count() -> int:
        return int(read_metrics(box, f"/2/users/{INES}")["media_count"])

    keys, before = ["3_1", "3_2"], count()
    first = make(box, INES, "Look", fields={"_media_keys": keys}).record
    assert before + 2 == count()
    make(box, INES, "Look!", previous=first, fields={"_media_keys": keys[:1]})
    make(box, INES, "Hidden", fields={"_media_keys": keys, "nullcast": True})
    assert before + 1 == count()
    remove(box, first)
    assert before == count()


def test_a_subject_has_what_rules_read(box: Sandbox) -> None:
    """Author and referenced post are known by name, the text is whole."""
    world = box.world
    first = make(box, NORTHBIKE, "First").record
    post = make(box, HARBOR, "long " * 80 + "#End", reply_to=first, quoted=first).record
    subject = make_subject(world, post, "stream")

    assert {HARBOR, "harbor_roasters"} == subject.author
    assert {NORTHBIKE, "northbike_co"} == subject.replied_to
    assert {"is:reply", "is:quote", "is:verified", "has:hashtags"} == subject.features
    assert {"end", "first"} <= set(subject.tokens)
