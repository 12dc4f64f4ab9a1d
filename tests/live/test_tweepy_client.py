"""tweepy as published: each call of its client for version 2 once, under the real host names.

What its own tests do with recordings, these do with a sandbox: the call before makes what the call
needs, and the answer is what tweepy reads of it. tweepy's words are the original names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest
import tweepy

from mock_platform import MockPlatform, WorldFace
from tests.live.clients import four_keys

pytestmark = pytest.mark.live

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
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


class Row(NamedTuple):
    """A call, and what its answer's `data` holds: these members, or whatever a test of it says."""

    run: Run
    expected: Expected


def holds(id_: str) -> Callable[[Any], bool]:
    """Whether a list has something with this id."""
    return lambda data: id_ in [str(each["id"]) for each in data or ()]


def has_id(id_: str) -> Callable[[Any], bool]:
    """Whether what was read has this id."""
    return lambda data: id_ == str(data["id"])


def is_known(data: Any) -> bool:
    """Whether there is an answer, or an empty list."""
    return data is None or bool(data)


def after(*steps: Callable[[tweepy.Client], Any], then: Callable[[tweepy.Client], Any]) -> Run:
    """The last of several calls, all with the keys of the user."""

    def run(callers: Callers) -> Any:
        for step in steps:
            step(callers.keys)
        return then(callers.keys)

    return run


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


ROWS: Mapping[str, Row] = {
    "bookmark": Row(lambda all_: all_.user.bookmark(OTHERS_POST), {"bookmarked": True}),
    "get_bookmarks": Row(
        lambda all_: (all_.user.bookmark(OTHERS_POST), all_.user.get_bookmarks())[1],
        holds(OTHERS_POST),
    ),
    "remove_bookmark": Row(
        lambda all_: all_.user.remove_bookmark(OTHERS_POST), {"bookmarked": False}
    ),
    "hide_reply": Row(after(then=lambda c: c.hide_reply(REPLY)), {"hidden": True}),
    "unhide_reply": Row(
        after(lambda c: c.hide_reply(REPLY), then=lambda c: c.unhide_reply(REPLY)),
        {"hidden": False},
    ),
    "like": Row(after(then=lambda c: c.like(OTHERS_POST)), {"liked": True}),
    "unlike": Row(after(then=lambda c: c.unlike(OTHERS_POST)), {"liked": False}),
    "get_liking_users": Row(
        after(lambda c: c.like(POST), then=lambda c: c.get_liking_users(POST, user_auth=True)),
        holds(OWN),
    ),
    "get_liked_tweets": Row(
        after(
            lambda c: c.like(OTHERS_POST), then=lambda c: c.get_liked_tweets(OWN, user_auth=True)
        ),
        holds(OTHERS_POST),
    ),
    "create_tweet": Row(after(then=lambda c: c.create_tweet(text="Fresh")), {"text": "Fresh"}),
    "delete_tweet": Row(
        after(then=lambda c: c.delete_tweet(c.create_tweet(text="Brief").data["id"])),
        {"deleted": True},
    ),
    "get_quote_tweets": Row(
        after(then=lambda c: c.get_quote_tweets(QUOTED)), holds("1789900000000000004")
    ),
    "retweet": Row(after(then=lambda c: c.retweet(OTHERS_POST)), {"retweeted": True}),
    "unretweet": Row(
        after(lambda c: c.retweet(OTHERS_POST), then=lambda c: c.unretweet(OTHERS_POST)),
        {"retweeted": False},
    ),
    "get_retweeters": Row(
        after(lambda c: c.retweet(OTHERS_POST), then=lambda c: c.get_retweeters(OTHERS_POST)),
        holds(OWN),
    ),
    "search_all_tweets": Row(
        after(then=lambda c: c.search_all_tweets("from:harbor_roasters huila")), holds(POST)
    ),
    "search_recent_tweets": Row(
        after(then=lambda c: c.search_recent_tweets("from:harbor_roasters huila")), holds(POST)
    ),
    "get_users_mentions": Row(after(then=lambda c: c.get_users_mentions(OWN)), holds(REPLY)),
    "get_home_timeline": Row(
        after(lambda c: c.follow_user(INES), then=lambda c: c.get_home_timeline()),
        holds(OTHERS_POST),
    ),
    "get_users_tweets": Row(
        after(then=lambda c: c.get_users_tweets(OWN, max_results=100)), holds(POST)
    ),
    "get_all_tweets_count": Row(after(then=lambda c: c.get_all_tweets_count("coffee")), is_known),
    "get_recent_tweets_count": Row(
        after(then=lambda c: c.get_recent_tweets_count("coffee")), is_known
    ),
    "get_tweet": Row(after(then=lambda c: c.get_tweet(POST)), has_id(POST)),
    "get_tweets": Row(after(then=lambda c: c.get_tweets([POST, REPLY])), holds(REPLY)),
    "get_blocked": Row(after(then=lambda c: c.get_blocked()), is_known),
    "follow_user": Row(after(then=lambda c: c.follow_user(INES)), {"following": True}),
    "unfollow_user": Row(after(then=lambda c: c.unfollow_user(INES)), {"following": False}),
    "get_users_followers": Row(
        after(lambda c: c.follow_user(INES), then=lambda c: c.get_users_followers(INES)), holds(OWN)
    ),
    "get_users_following": Row(
        after(lambda c: c.follow_user(INES), then=lambda c: c.get_users_following(OWN)), holds(INES)
    ),
    "mute": Row(after(then=lambda c: c.mute(INES)), {"muting": True}),
    "unmute": Row(after(then=lambda c: c.unmute(INES)), {"muting": False}),
    "get_muted": Row(after(lambda c: c.mute(INES), then=lambda c: c.get_muted()), holds(INES)),
    "get_user": Row(after(then=lambda c: c.get_user(username="northbike_co")), has_id(OTHER)),
    "get_users": Row(after(then=lambda c: c.get_users(ids=[OTHER, INES])), holds(INES)),
    "get_me": Row(after(then=lambda c: c.get_me()), has_id(OWN)),
    "search_spaces": Row(
        on_space(lambda all_, space: all_.keys.search_spaces(space["title"].split()[0])), is_known
    ),
    "get_spaces": Row(on_space(lambda all_, space: all_.keys.get_spaces(ids=[space["id"]])), bool),
    "get_space": Row(on_space(lambda all_, space: all_.keys.get_space(space["id"])), bool),
    "get_space_buyers": Row(read_buyers, is_known),
    "get_space_tweets": Row(
        on_space(lambda all_, space: all_.keys.get_space_tweets(space["id"])), is_known
    ),
    "get_direct_message_events": Row(
        after(then=lambda c: c.get_direct_message_events(participant_id=OTHER)),
        holds("1990180010221305856"),
    ),
    "create_direct_message": Row(
        after(then=lambda c: c.create_direct_message(participant_id=OTHER, text="Beans?")),
        lambda data: "dm_event_id" in data,
    ),
    "create_direct_message_conversation": Row(
        after(
            then=lambda c: c.create_direct_message_conversation(
                participant_ids=[OTHER, INES], text="Beans?"
            )
        ),
        lambda data: "dm_event_id" in data,
    ),
    "create_list": Row(
        after(then=lambda c: c.create_list("Roasters")), lambda data: data["name"] == "Roasters"
    ),
    "delete_list": Row(on_list(lambda c, id_: c.delete_list(id_)), {"deleted": True}),
    "update_list": Row(on_list(lambda c, id_: c.update_list(id_, name="Mills")), {"updated": True}),
    "get_list": Row(on_list(lambda c, id_: c.get_list(id_)), bool),
    "get_owned_lists": Row(on_list(lambda c, _: c.get_owned_lists(OWN, user_auth=True)), bool),
    "add_list_member": Row(
        on_list(lambda c, id_: c.add_list_member(id_, INES)), {"is_member": True}
    ),
    "remove_list_member": Row(
        on_list(lambda c, id_: c.remove_list_member(id_, INES)), {"is_member": False}
    ),
    "get_list_members": Row(
        on_list(
            lambda c, id_: c.get_list_members(id_), lambda c, id_: c.add_list_member(id_, INES)
        ),
        holds(INES),
    ),
    "get_list_memberships": Row(
        on_list(
            lambda c, _: c.get_list_memberships(INES), lambda c, id_: c.add_list_member(id_, INES)
        ),
        bool,
    ),
    "get_list_tweets": Row(
        on_list(lambda c, id_: c.get_list_tweets(id_), lambda c, id_: c.add_list_member(id_, INES)),
        holds(OTHERS_POST),
    ),
    "follow_list": Row(after(then=lambda c: c.follow_list(OTHERS_LIST)), {"following": True}),
    "unfollow_list": Row(after(then=lambda c: c.unfollow_list(OTHERS_LIST)), {"following": False}),
    "get_list_followers": Row(
        after(
            lambda c: c.follow_list(OTHERS_LIST), then=lambda c: c.get_list_followers(OTHERS_LIST)
        ),
        holds(OWN),
    ),
    "get_followed_lists": Row(
        after(lambda c: c.follow_list(OTHERS_LIST), then=lambda c: c.get_followed_lists(OWN)),
        holds(OTHERS_LIST),
    ),
    "pin_list": Row(on_list(lambda c, id_: c.pin_list(id_)), {"pinned": True}),
    "unpin_list": Row(on_list(lambda c, id_: c.unpin_list(id_)), {"pinned": False}),
    "get_pinned_lists": Row(
        on_list(lambda c, _: c.get_pinned_lists(), lambda c, id_: c.pin_list(id_)), bool
    ),
    "create_compliance_job": Row(
        after(then=lambda c: c.create_compliance_job("tweets")), {"type": "tweets"}
    ),
    "get_compliance_job": Row(on_job(lambda c, id_: c.get_compliance_job(id_)), bool),
    "get_compliance_jobs": Row(on_job(lambda c, _: c.get_compliance_jobs("tweets")), bool),
}
"""The 63 calls of tweepy's client."""
ALIASES = {"follow", "unfollow", "get_dm_events", "create_dm", "create_dm_conversation"}
"""Other names of the same calls."""
CANNOT_PASS: Mapping[str, str] = {}
"""Calls that cannot pass, each with the reason."""


@pytest.fixture(scope="module")
def platform() -> Iterator[MockPlatform]:
    """A sandbox with original names."""
    with MockPlatform.start(names="original", limits="off") as started:
        yield started


@pytest.fixture
def callers(platform: MockPlatform) -> Iterator[Callers]:
    """The clients of tweepy, in a world as it begins."""
    platform.reset()
    held = platform.credentials
    keys = tweepy.Client(held["bearer_token"], *four_keys(held))
    with platform.intercept():
        yield Callers(keys, tweepy.Client(held["user"]["oauth2_access_token"]), platform)


def test_every_call_has_a_row() -> None:
    """Whatever tweepy's client can call is called here; one list names what cannot pass."""
    public = {name for name in vars(tweepy.Client) if not name.startswith("_")}

    assert public - ALIASES == set(ROWS)
    assert 63 == len(ROWS)
    assert set() == set(CANNOT_PASS) - set(ROWS)


@pytest.mark.parametrize("name", [name for name in ROWS if name not in CANNOT_PASS])
def test_a_call(callers: Callers, name: str) -> None:
    """The call ends well, and tweepy reads from the answer what was written."""
    row = ROWS[name]
    data = row.run(callers).data

    if callable(row.expected):
        assert row.expected(data), data
    else:
        assert row.expected.items() <= dict(data).items(), data
