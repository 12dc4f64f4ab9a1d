"""tweepy as published: each call of its client for version 2 once, under the real host names.

What its own tests do with recordings, these do with a sandbox: the call before makes what the call
needs, and the answer is what tweepy reads of it. tweepy's words are the original names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
import tweepy

from mock_platform import MockPlatform, WorldFace
from tests.live.clients import four_keys
from tests.live.sandboxes import starting

pytestmark = pytest.mark.live

OWN, *BOTH = "2244994945", "3805104374", "2790441185"
OTHER, INES = BOTH
POST, REPLY, QUOTED, OTHERS_POST = (f"178990000000000000{n}" for n in (1, 2, 1, 6))
"""A post of the user, a reply to it, a post that is quoted, and a post of somebody else."""
OTHERS_LIST = "1715300000000000103"


class Callers(NamedTuple):
    """tweepy's clients: with all keys and the app's bearer token, and with a user's token."""

    keys: tweepy.Client
    user: tweepy.Client
    world: WorldFace


Run = Callable[[Callers], Any]
Expected = Mapping[str, Any] | Callable[[Any], bool]


Row = tuple[Run, Expected]
"""A call, and what its answer's `data` holds: these members, or whatever a test of it says."""


def holds(id_: str) -> Callable[[Any], bool]:
    """Whether a list has something with this id."""
    return lambda data: id_ in [str(each["id"]) for each in data or ()]


def has_id(id_: str) -> Callable[[Any], bool]:
    """Whether what was read has this id."""
    return lambda data: id_ == str(data["id"])


def is_known(data: Any) -> bool:
    """Whether there is an answer, or an empty list."""
    return data is None or bool(data)


def after(*steps: Callable[[tweepy.Client], Any]) -> Run:
    """The last of several calls, all with the keys of the user."""
    return lambda callers: [step(callers.keys) for step in steps][-1]


def on_list(then: Callable[[tweepy.Client, str], Any], *steps: Callable[..., Any]) -> Run:
    """A call about a list that the user makes before."""

    def run(callers: Callers) -> Any:
        made = str(callers.keys.create_list("Roasters", description="Beans").data["id"])
        for step in steps:
            step(callers.keys, made)
        return then(callers.keys, made)

    return run


def on_space(then: Callable[[Callers, Mapping[str, Any]], Any]) -> Run:
    """A call about the first space of the world."""
    return lambda callers: then(callers, callers.world.state["spaces"].all()[0])


def on_job(then: Callable[[tweepy.Client, str], Any]) -> Run:
    """A call about a compliance job that the app makes before."""
    return lambda callers: then(
        callers.keys, callers.keys.create_compliance_job("tweets").data["id"]
    )


def read_buyers(callers: Callers) -> Any:
    """The buyers of a ticketed space of the user."""
    spaces = callers.world.state["spaces"].all()
    own = (each for each in spaces if each["creator_id"] == OWN and each.get("is_ticketed"))
    return callers.user.get_space_buyers(next(own)["id"])


def add_ines(client: tweepy.Client, list_id: str) -> Any:
    """Add a member to a list."""
    return client.add_list_member(list_id, INES)


ROWS: Mapping[str, Row] = {
    "bookmark": (lambda c: c.user.bookmark(OTHERS_POST), {"bookmarked": True}),
    "get_bookmarks": (lambda c: (c.user.bookmark(OTHERS_POST), c.user.get_bookmarks())[1],
        holds(OTHERS_POST)),
    "remove_bookmark": (lambda c: c.user.remove_bookmark(OTHERS_POST), {"bookmarked": False}),
    "hide_reply": (lambda c: c.keys.hide_reply(REPLY), {"hidden": True}),
    "unhide_reply": (after(lambda c: c.hide_reply(REPLY), lambda c: c.unhide_reply(REPLY)),
        {"hidden": False}),
    "like": (lambda c: c.keys.like(OTHERS_POST), {"liked": True}),
    "unlike": (lambda c: c.keys.unlike(OTHERS_POST), {"liked": False}),
    "get_liking_users": (
        after(lambda c: c.like(POST), lambda c: c.get_liking_users(POST, user_auth=True)),
        holds(OWN)),
    "get_liked_tweets": (
        after(lambda c: c.like(OTHERS_POST), lambda c: c.get_liked_tweets(OWN, user_auth=True)),
        holds(OTHERS_POST)),
    "create_tweet": (lambda c: c.keys.create_tweet(text="Fresh"), {"text": "Fresh"}),
    "delete_tweet": (after(lambda c: c.delete_tweet(c.create_tweet(text="Brief").data["id"])),
        {"deleted": True}),
    "get_quote_tweets": (lambda c: c.keys.get_quote_tweets(QUOTED), holds("1789900000000000004")),
    "retweet": (lambda c: c.keys.retweet(OTHERS_POST), {"retweeted": True}),
    "unretweet": (after(lambda c: c.retweet(OTHERS_POST), lambda c: c.unretweet(OTHERS_POST)),
        {"retweeted": False}),
    "get_retweeters": (
        after(lambda c: c.retweet(OTHERS_POST), lambda c: c.get_retweeters(OTHERS_POST)),
        holds(OWN)),
    "search_all_tweets": (lambda c: c.keys.search_all_tweets("from:harbor_roasters huila"),
        holds(POST)),
    "search_recent_tweets": (lambda c: c.keys.search_recent_tweets("from:harbor_roasters huila"),
        holds(POST)),
    "get_users_mentions": (lambda c: c.keys.get_users_mentions(OWN), holds(REPLY)),
    "get_home_timeline": (after(lambda c: c.follow_user(INES), lambda c: c.get_home_timeline()),
        holds(OTHERS_POST)),
    "get_users_tweets": (lambda c: c.keys.get_users_tweets(OWN, max_results=100), holds(POST)),
    "get_all_tweets_count": (lambda c: c.keys.get_all_tweets_count("coffee"), is_known),
    "get_recent_tweets_count": (lambda c: c.keys.get_recent_tweets_count("coffee"), is_known),
    "get_tweet": (lambda c: c.keys.get_tweet(POST), has_id(POST)),
    "get_tweets": (lambda c: c.keys.get_tweets([POST, REPLY]), holds(REPLY)),
    "get_blocked": (lambda c: c.keys.get_blocked(), is_known),
    "follow_user": (lambda c: c.keys.follow_user(INES), {"following": True}),
    "unfollow_user": (lambda c: c.keys.unfollow_user(INES), {"following": False}),
    "get_users_followers": (
        after(lambda c: c.follow_user(INES), lambda c: c.get_users_followers(INES)),
        holds(OWN)),
    "get_users_following": (
        after(lambda c: c.follow_user(INES), lambda c: c.get_users_following(OWN)),
        holds(INES)),
    "mute": (lambda c: c.keys.mute(INES), {"muting": True}),
    "unmute": (lambda c: c.keys.unmute(INES), {"muting": False}),
    "get_muted": (after(lambda c: c.mute(INES), lambda c: c.get_muted()), holds(INES)),
    "get_user": (lambda c: c.keys.get_user(username="northbike_co"), has_id(OTHER)),
    "get_users": (lambda c: c.keys.get_users(ids=[OTHER, INES]), holds(INES)),
    "get_me": (lambda c: c.keys.get_me(), has_id(OWN)),
    "search_spaces": (on_space(lambda c, space: c.keys.search_spaces(space["title"].split()[0])),
        is_known),
    "get_spaces": (on_space(lambda c, space: c.keys.get_spaces(ids=[space["id"]])), bool),
    "get_space": (on_space(lambda c, space: c.keys.get_space(space["id"])), bool),
    "get_space_buyers": (read_buyers, is_known),
    "get_space_tweets": (on_space(lambda c, space: c.keys.get_space_tweets(space["id"])), is_known),
    "get_direct_message_events": (lambda c: c.keys.get_direct_message_events(participant_id=OTHER),
        holds("1990180010221305856")),
    "create_direct_message": (
        lambda c: c.keys.create_direct_message(participant_id=OTHER, text="Beans?"),
        lambda data: "dm_event_id" in data),
    "create_direct_message_conversation": (
        after(lambda c: c.create_direct_message_conversation(participant_ids=BOTH, text="Hi")),
        lambda data: "dm_event_id" in data),
    "create_list": (lambda c: c.keys.create_list("Roasters"),
        lambda data: data["name"] == "Roasters"),
    "delete_list": (on_list(lambda c, id_: c.delete_list(id_)), {"deleted": True}),
    "update_list": (on_list(lambda c, id_: c.update_list(id_, name="Mills")), {"updated": True}),
    "get_list": (on_list(lambda c, id_: c.get_list(id_)), bool),
    "get_owned_lists": (on_list(lambda c, _: c.get_owned_lists(OWN, user_auth=True)), bool),
    "add_list_member": (on_list(add_ines), {"is_member": True}),
    "remove_list_member": (on_list(lambda c, id_: c.remove_list_member(id_, INES)),
        {"is_member": False}),
    "get_list_members": (
        on_list(lambda c, id_: c.get_list_members(id_), add_ines), holds(INES)),
    "get_list_memberships": (
        on_list(lambda c, _: c.get_list_memberships(INES), add_ines), bool),
    "get_list_tweets": (
        on_list(lambda c, id_: c.get_list_tweets(id_), add_ines), holds(OTHERS_POST)),
    "follow_list": (lambda c: c.keys.follow_list(OTHERS_LIST), {"following": True}),
    "unfollow_list": (lambda c: c.keys.unfollow_list(OTHERS_LIST), {"following": False}),
    "get_list_followers": (
        after(lambda c: c.follow_list(OTHERS_LIST), lambda c: c.get_list_followers(OTHERS_LIST)),
        holds(OWN)),
    "get_followed_lists": (
        after(lambda c: c.follow_list(OTHERS_LIST), lambda c: c.get_followed_lists(OWN)),
        holds(OTHERS_LIST)),
    "pin_list": (on_list(lambda c, id_: c.pin_list(id_)), {"pinned": True}),
    "unpin_list": (on_list(lambda c, id_: c.unpin_list(id_)), {"pinned": False}),
    "get_pinned_lists": (on_list(lambda c, _: c.get_pinned_lists(), lambda c, id_: c.pin_list(id_)),
        bool),
    "create_compliance_job": (lambda c: c.keys.create_compliance_job("tweets"), {"type": "tweets"}),
    "get_compliance_job": (on_job(lambda c, id_: c.get_compliance_job(id_)), bool),
    "get_compliance_jobs": (on_job(lambda c, _: c.get_compliance_jobs("tweets")), bool),
}  # fmt: skip
"""The 63 calls of tweepy's client."""
ALIASES = {"follow", "unfollow", "get_dm_events", "create_dm", "create_dm_conversation"}
"""Other names of the same calls."""


platform = starting(names="original", limits="off", intercepted=True)
"""A sandbox with original names."""


@pytest.fixture
def callers(platform: MockPlatform) -> Callers:
    """The clients of tweepy, in a world as it begins."""
    platform.reset()
    held = platform.credentials
    keys = tweepy.Client(held["bearer_token"], *four_keys(held))
    return Callers(keys, tweepy.Client(held["user"]["oauth2_access_token"]), platform)


def test_every_call_has_a_row() -> None:
    """Whatever tweepy's client can call is called here."""
    public = {name for name in vars(tweepy.Client) if not name.startswith("_")}

    assert public - ALIASES == set(ROWS)
    assert 63 == len(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_a_call(callers: Callers, name: str) -> None:
    """The call ends well, and tweepy reads from the answer what was written."""
    run, expected = ROWS[name]
    data = run(callers).data

    if callable(expected):
        assert expected(data), data
    else:
        assert expected.items() <= dict(data).items(), data
