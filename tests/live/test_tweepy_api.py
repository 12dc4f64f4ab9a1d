"""tweepy as published: the calls of its older client, under the real host names.

`tweepy.API` asks for `api.twitter.com/1.1/…` and `upload.twitter.com`; its words are the original
names. What it does is looked up with its client for version 2 and in the records.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
import tweepy

from mock_platform import MockPlatform, WorldFace
from tests.images import make_png
from tests.live.clients import four_keys
from tests.live.sandboxes import starting

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore:'imghdr'")]

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
POST, OTHERS_POST, NOT_LIKED = (f"178990000000000000{n}" for n in (1, 6, 4))
LIST, OTHERS_LIST = "1715300000000000101", "1715300000000000103"
MESSAGE, RECEIVED = "1990181773551677440", "1990180010221305856"
PLACE, SEARCH = "300bcc6e23a88361", "1866020000000000001"


class Shop(NamedTuple):
    """tweepy's older client, and the world that it talks to."""

    api: tweepy.API
    world: WorldFace


Row = tuple[Callable[[tweepy.API], Any], Callable[[Any], bool]]
"""A call, and a test of what tweepy read."""


def holds(id_: str) -> Callable[[Any], bool]:
    """Whether a list has something with this id."""
    return lambda found: id_ in [str(each.id) for each in found]


def is_of(id_: str) -> Callable[[Any], bool]:
    """Whether what was read has this id."""
    return lambda found: str(found.id) == id_


def after(first: Callable[[tweepy.API], Any], then: Callable[[tweepy.API], Any]) -> Any:
    """The second of two calls."""
    return lambda api: (first(api), then(api))[1]


def cup() -> io.BytesIO:
    """The file of an image."""
    return io.BytesIO(make_png(16, 9))


def upload(api: tweepy.API, **options: Any) -> Any:
    """An image, uploaded by tweepy."""
    return api.media_upload("cup.png", file=cup(), **options)


def post_image(api: tweepy.API) -> Any:
    """A post with an image that has words in its place."""
    media = upload(api)
    api.create_media_metadata(media.media_id_string, "A blue mug")
    return api.update_status("Look", media_ids=[media.media_id_string], tweet_mode="extended")


ROWS: Mapping[str, Row] = {
    "update_status": (lambda api: api.update_status("Fresh", tweet_mode="extended"),
        lambda post: (post.full_text, post.retweet_count, post.user.id_str) == ("Fresh", 0, OWN)),
    "update_status with media": (post_image,
        lambda post: post.extended_entities["media"][0]["ext_alt_text"] == "A blue mug"),
    "destroy_status": (lambda api: api.destroy_status(POST), is_of(POST)),
    "get_status": (lambda api: api.get_status(POST, tweet_mode="extended"),
        lambda post: post.id_str == POST and post.full_text),
    "lookup_statuses": (lambda api: api.lookup_statuses([POST, OTHERS_POST]), holds(OTHERS_POST)),
    "user_timeline": (lambda api: api.user_timeline(screen_name="harbor_roasters"),
        lambda found: {post.user.id_str for post in found} == {OWN}),
    "home_timeline": (
        after(lambda api: api.update_status("At home"), lambda api: api.home_timeline()),
        lambda found: found[0].text == "At home"),
    "mentions_timeline": (lambda api: api.mentions_timeline(), bool),
    "retweet": (lambda api: api.retweet(OTHERS_POST),
        lambda post: post.retweeted_status.id_str == OTHERS_POST and post.retweeted),
    "unretweet": (
        after(lambda api: api.retweet(OTHERS_POST), lambda api: api.unretweet(OTHERS_POST)),
        lambda post: post.id_str == OTHERS_POST and not post.retweeted),
    "search_tweets": (lambda api: api.search_tweets("from:harbor_roasters -filter:retweets"),
        lambda found: {post.user.id_str for post in found} == {OWN}),
    "create_favorite": (lambda api: api.create_favorite(NOT_LIKED), lambda post: post.favorited),
    "destroy_favorite": (
        after(lambda api: api.create_favorite(NOT_LIKED),
              lambda api: api.destroy_favorite(NOT_LIKED)),
        lambda post: not post.favorited),
    "get_favorites": (
        after(lambda api: api.create_favorite(NOT_LIKED), lambda api: api.get_favorites(count=200)),
        holds(NOT_LIKED)),
    "lookup_users": (lambda api: api.lookup_users(user_id=[OWN, OTHER]), holds(OTHER)),
    "search_users": (lambda api: api.search_users("harbor"), holds(OWN)),
    "get_user": (lambda api: api.get_user(screen_name="northbike_co"), is_of(OTHER)),
    "verify_credentials": (lambda api: api.verify_credentials(),
        lambda user: user.status.retweet_count >= 0),
    "get_follower_ids": (lambda api: api.get_follower_ids(user_id=OWN), bool),
    "get_followers": (lambda api: api.get_followers(user_id=OWN), bool),
    "get_friend_ids": (lambda api: api.get_friend_ids(user_id=OTHER), lambda ids: int(OWN) in ids),
    "get_friends": (lambda api: api.get_friends(user_id=OTHER), holds(OWN)),
    "create_friendship": (lambda api: api.create_friendship(screen_name="northbike_co"),
        lambda user: user.following),
    "destroy_friendship": (
        after(lambda api: api.create_friendship(user_id=OTHER),
              lambda api: api.destroy_friendship(user_id=OTHER)),
        lambda user: not user.following),
    "get_friendship": (lambda api: api.get_friendship(source_id=OTHER, target_id=OWN),
        lambda both: both[0].following and both[1].followed_by and both[0].want_retweets),
    "get_settings": (lambda api: api.get_settings(),
        lambda found: found["screen_name"] == "harbor_roasters"),
    "get_place_trends": (lambda api: api.get_place_trends(1), lambda found: "trends" in found[0]),
    "create_list": (lambda api: api.create_list("Mills"), lambda found: found.slug == "mills"),
    "update_list": (lambda api: api.update_list(list_id=LIST, mode="private"),
        lambda found: found.mode == "private"),
    "destroy_list": (lambda api: api.destroy_list(list_id=LIST), is_of(LIST)),
    "get_list": (
        lambda api: api.get_list(slug="roasters-by-the-water", owner_screen_name="harbor_roasters"),
        is_of(LIST)),
    "add_list_member": (lambda api: api.add_list_member(list_id=LIST, user_id=INES), is_of(LIST)),
    "remove_list_member": (lambda api: api.remove_list_member(list_id=LIST, user_id=INES),
        is_of(LIST)),
    "get_list_members": (
        after(lambda api: api.add_list_member(list_id=LIST, user_id=INES),
              lambda api: api.get_list_members(list_id=LIST)),
        holds(INES)),
    "list_timeline": (lambda api: api.list_timeline(list_id=LIST), bool),
    "get_list_ownerships": (lambda api: api.get_list_ownerships(), holds(LIST)),
    "get_list_memberships": (lambda api: api.get_list_memberships(user_id=INES), bool),
    "subscribe_list": (lambda api: api.subscribe_list(list_id=OTHERS_LIST), is_of(OTHERS_LIST)),
    "unsubscribe_list": (lambda api: api.unsubscribe_list(list_id=OTHERS_LIST), is_of(OTHERS_LIST)),
    "get_list_subscribers": (
        after(lambda api: api.subscribe_list(list_id=OTHERS_LIST),
              lambda api: api.get_list_subscribers(list_id=OTHERS_LIST)),
        holds(OWN)),
    "get_list_subscriptions": (
        after(lambda api: api.subscribe_list(list_id=OTHERS_LIST),
              lambda api: api.get_list_subscriptions()),
        holds(OTHERS_LIST)),
    "send_direct_message": (lambda api: api.send_direct_message(OTHER, "The beans are ready."),
        lambda sent: sent.message_create["message_data"]["text"] == "The beans are ready."),
    "get_direct_messages": (lambda api: api.get_direct_messages(), holds(MESSAGE)),
    "get_direct_message": (lambda api: api.get_direct_message(MESSAGE), is_of(MESSAGE)),
    "delete_direct_message": (lambda api: api.delete_direct_message(MESSAGE),
        lambda nothing: not nothing),
    "chunked_upload": (lambda api: upload(api, chunked=True, media_category="tweet_image"),
        lambda media: media.size == len(make_png(16, 9))),
    "get_media_upload_status": (
        lambda api: api.get_media_upload_status(upload(api).media_id_string),
        lambda media: media.media_id_string),
    "get_retweets": (
        after(lambda api: api.retweet(OTHERS_POST), lambda api: api.get_retweets(OTHERS_POST)),
        lambda found: OWN in [post.user.id_str for post in found]),
    "get_retweeter_ids": (
        after(lambda api: api.retweet(OTHERS_POST), lambda api: api.get_retweeter_ids(OTHERS_POST)),
        lambda ids: int(OWN) in ids),
    "get_retweets_of_me": (lambda api: api.get_retweets_of_me(), bool),
    "get_oembed": (lambda api: api.get_oembed(f"https://twitter.com/a/status/{POST}"),
        lambda found: found["type"] == "rich"),
    "update_status_with_media": (
        lambda api: api.update_status_with_media("Look", "cup.png", file=cup()),
        lambda post: post.extended_entities["media"]),
    "lookup_friendships": (lambda api: api.lookup_friendships(user_id=[INES]),
        lambda found: found[0].is_following and found[0].is_followed_by),
    "incoming_friendships": (lambda api: api.incoming_friendships(), lambda ids: ids == []),
    "outgoing_friendships": (lambda api: api.outgoing_friendships(), bool),
    "update_friendship": (lambda api: api.update_friendship(user_id=INES, retweets=False),
        lambda both: not both[0].want_retweets),
    "no_retweets_friendships": (
        after(lambda api: api.update_friendship(user_id=INES, retweets=False),
              lambda api: api.no_retweets_friendships()),
        lambda ids: ids == [int(INES)]),
    "report_spam": (lambda api: api.report_spam(user_id=OTHER), is_of(OTHER)),
    "create_block": (lambda api: api.create_block(user_id=OTHER), is_of(OTHER)),
    "get_blocked_ids": (
        after(lambda api: api.create_block(user_id=OTHER), lambda api: api.get_blocked_ids()),
        lambda ids: int(OTHER) in ids),
    "get_blocks": (
        after(lambda api: api.create_block(user_id=OTHER), lambda api: api.get_blocks()),
        holds(OTHER)),
    "destroy_block": (
        after(lambda api: api.create_block(user_id=OTHER),
              lambda api: api.destroy_block(user_id=OTHER)),
        is_of(OTHER)),
    "create_mute": (lambda api: api.create_mute(user_id=OTHER), is_of(OTHER)),
    "get_muted_ids": (
        after(lambda api: api.create_mute(user_id=OTHER), lambda api: api.get_muted_ids()),
        lambda ids: int(OTHER) in ids),
    "get_mutes": (
        after(lambda api: api.create_mute(user_id=OTHER), lambda api: api.get_mutes()),
        holds(OTHER)),
    "destroy_mute": (
        after(lambda api: api.create_mute(user_id=OTHER),
              lambda api: api.destroy_mute(user_id=OTHER)),
        is_of(OTHER)),
    "update_profile": (lambda api: api.update_profile(location="Rotterdam"),
        lambda user: user.location == "Rotterdam"),
    "update_profile_image": (lambda api: api.update_profile_image("cup.png", file=cup()),
        is_of(OWN)),
    "update_profile_banner": (lambda api: api.update_profile_banner("cup.png", file=cup()),
        lambda nothing: not nothing),
    "get_profile_banner": (lambda api: api.get_profile_banner(user_id=OWN),
        lambda found: "web" in found["sizes"]),
    "remove_profile_banner": (lambda api: api.remove_profile_banner(), lambda nothing: not nothing),
    "set_settings": (lambda api: api.set_settings(lang="de"),
        lambda found: found["language"] == "de"),
    "supported_languages": (lambda api: api.supported_languages(), bool),
    "rate_limit_status": (lambda api: api.rate_limit_status(),
        lambda found: "search" in found["resources"]),
    "available_trends": (lambda api: api.available_trends(), bool),
    "closest_trends": (lambda api: api.closest_trends(51.5, 0),
        lambda found: found[0]["name"] == "London"),
    "geo_id": (lambda api: api.geo_id(PLACE), is_of(PLACE)),
    "search_geo": (lambda api: api.search_geo(query="Seattle"), holds(PLACE)),
    "reverse_geocode": (lambda api: api.reverse_geocode(47.6, -122.3), holds(PLACE)),
    "get_saved_searches": (lambda api: api.get_saved_searches(), holds(SEARCH)),
    "get_saved_search": (lambda api: api.get_saved_search(SEARCH), is_of(SEARCH)),
    "create_saved_search": (lambda api: api.create_saved_search("mills"),
        lambda found: found.query == "mills"),
    "destroy_saved_search": (lambda api: api.destroy_saved_search(SEARCH), is_of(SEARCH)),
    "get_lists": (lambda api: api.get_lists(), holds(LIST)),
    "add_list_members": (
        lambda api: api.add_list_members(list_id=LIST, user_id=[INES, OTHER]), is_of(LIST)),
    "remove_list_members": (
        lambda api: api.remove_list_members(list_id=LIST, user_id=[INES, OTHER]), is_of(LIST)),
    "get_list_member": (lambda api: api.get_list_member(list_id=LIST, user_id=INES), is_of(INES)),
    "get_list_subscriber": (lambda api: api.get_list_subscriber(list_id=LIST, user_id=INES),
        is_of(INES)),
    "indicate_direct_message_typing": (
        lambda api: api.indicate_direct_message_typing(OTHER), lambda nothing: not nothing),
    "mark_direct_message_read": (
        lambda api: api.mark_direct_message_read(RECEIVED, OTHER), lambda nothing: not nothing),
    "simple_upload": (lambda api: api.simple_upload("cup.png", file=cup()),
        lambda media: media.media_id_string),
}  # fmt: skip
_CALLED_BY_OTHERS = {
    "request", "media_upload", "create_media_metadata",
    "chunked_upload_init", "chunked_upload_append", "chunked_upload_finalize",
}  # fmt: skip
"""Methods that calls above use."""


platform = starting(limits="off", intercepted=True)
"""A sandbox that answers for the platform's hosts as they do: with original names."""


@pytest.fixture
def shop(platform: MockPlatform) -> Shop:
    """The older client of tweepy, in a world as it begins."""
    platform.reset()
    keys = tweepy.OAuth1UserHandler(*four_keys(platform.credentials))
    return Shop(tweepy.API(keys), platform)


@pytest.mark.parametrize("name", list(ROWS))
def test_a_call(shop: Shop, name: str) -> None:
    """The call ends well, and tweepy reads what was expected."""
    call, is_right = ROWS[name]
    found = call(shop.api)

    assert is_right(found), found


def test_every_method_is_called() -> None:
    """No method of tweepy's client is left out."""
    methods = {name for name in vars(tweepy.API) if not name.startswith("_")}

    called = {name.partition(" ")[0] for name in ROWS}
    assert methods == called | _CALLED_BY_OTHERS


def test_pages(shop: Shop) -> None:
    """Tweepy walks through all pages by their cursors, and through timelines by max_id."""
    users = shop.world.state["users"]
    ines = users.get(INES)
    assert ines is not None
    like_ines = {name: ines[name] for name in ("name", "created_at")}
    for number in range(1, 31):
        users.put({"id": str(number), "screen_name": f"rider_{number}", **like_ines})
        shop.world.state["follows"].put(
            {"user_id": str(number), "target_user_id": OWN, "created_at": "2026-01-01T00:00:00Z"}
        )
    ids = [user.id_str for user in tweepy.Cursor(shop.api.get_followers, user_id=OWN).items()]
    posts = tweepy.Cursor(shop.api.user_timeline, user_id=OWN, count=2).items(5)

    assert len(ids) == len(set(ids)) > 30
    assert len({post.id for post in posts}) == 5


def test_refusals(shop: Shop) -> None:
    """Tweepy reads the numbers of refusals."""
    with pytest.raises(tweepy.NotFound) as missing:
        shop.api.get_status("99")
    shop.api.update_status("Twice")
    with pytest.raises(tweepy.Forbidden) as repeated:
        shop.api.update_status("Twice")

    assert ([144], [187]) == (missing.value.api_codes, repeated.value.api_codes)
