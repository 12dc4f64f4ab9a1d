"""Ids of operations that users guess, and the ids that they meant."""

from __future__ import annotations

import pytest

from mock_platform.api.guesses import hint_at_operation, suggest_operations
from mock_platform.api.operation_patterns import BadPatterns, read_patterns
from mock_platform.api.served import OPERATION_IDS, OPERATIONS
from mock_platform.core.errors import BadScenario
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import loads
from tests.control.support import call, detail
from tests.support import Sandbox

GUESSES = """
public_posts.create: posts.create tweets.create tweet.create create_tweet tweet createTweet
public_posts.create: createPosts
public_posts.get: tweets.get get_tweet getPostsById
public_posts.list: tweets.list tweets.lookup get_tweets
public_posts.delete: posts.delete tweets.delete delete_tweet
public_posts.hide: tweets.hide hide_reply
post_search.recent: posts.search tweets.search search_recent_tweets search.recent
post_search.all: tweets.search_all searchAll
post_counts.recent: tweets.counts get_recent_tweets_count
filtered_stream.open: tweets.stream filtered_stream.connect
stream_rules.change: rules.add stream_rules.create
stream_rules.list: stream.rules
sample_stream.open: sample_stream.get
likes.create: likes.add like tweets.like
likes.delete: unlike
liked_posts.list: liked_tweets.list
liking_users.list: liking_users.get
reposts.create: retweets.create retweet tweets.retweet
reposts.delete: unretweet
reposts.list: retweets.list
quotes.list: quote_tweets.list
timelines.posts: users.tweets
timelines.mentions: users.mentions
timelines.home: home_timeline
users.list: users.lookup get_users
users.get_by_name: users.by_username
users.get: get_user user.get
users.me: get_me
following.create: follows.create follow_user
following.delete: users.unfollow
following.list: users.following
followers.list: users.followers
blocking.create: blocks.create users.block
blocking.delete: unblock
muting.create: mutes.create users.mute
bookmarks.create: bookmarks.add
bookmarks.delete: remove_bookmark
list_members.create: lists.add_member
list_members.delete: remove_list_member
list_posts.list: lists.tweets
pinned_lists.create: pin_list
owned_lists.list: lists.owned
spaces.search: search_spaces
spaces.get: space.get
webhooks.create: webhook.create webhooks.register
webhooks.list: webhooks.get
activity.create: activity_subscriptions.create
account_activity.subscribe: account_activity.create
media.upload: upload_media
media.initialize: media.upload_init
media_metadata.create: media.metadata
compliance_jobs.create: compliance.create
line_items.create: line_item.create lineitems.create line_items.add
line_items.update: line_items.edit
line_items.delete: line_items.remove
line_items.list: line_items.all
campaigns.create: campaign.create createCampaign
accounts.list: ad_accounts.list account.list
promoted_posts.create: promoted_tweets.create
scheduled_posts.create: scheduled_tweets.create
draft_posts.create: draft_tweets.create
targeting_criteria.create: targeting.create
custom_audiences.create: audiences.create
funding_instruments.list: funding.list
cards_poll.create: poll_cards.create
product_catalogs.create: catalogs.create
stats_jobs.create: stats.create_job
oauth.request_token: oauth.requestToken
older.statuses.update: update_status
older.statuses.home_timeline: statuses.home_timeline
older.friends.list: friends.list
older.favorites.create: favorites.create
account.verify_credentials: verify_credentials
"""


@pytest.mark.parametrize(("guess", "meant"), [
    (guess, meant) for meant, _, row in (line.partition(": ") for line in GUESSES.splitlines())
    for guess in row.split()
])  # fmt: skip
def test_what_users_guess(guess: str, meant: str) -> None:
    """Paths, original names and methods of client libraries lead to the operation."""
    assert meant == suggest_operations(guess)[0]


@pytest.mark.parametrize(("typed", "meant"), [
    ("line_itms.create", "line_items.create"),
    ("line_items.creat", "line_items.create"),
    ("acounts.list", "accounts.list"),
    ("users.gt", "users.get"),
    ("older.statuses.updte", "older.statuses.update"),
    ("custom_audience.permissions.create", "custom_audiences.permissions.create"),
    ("Line_Items.Create", "line_items.create"),
    ("create.line_items", "line_items.create"),
    ("line-items/create", "line_items.create"),
])  # fmt: skip
def test_what_users_misspell(typed: str, meant: str) -> None:
    """An id that is nearly right leads to the right one."""
    assert f" Did you mean {meant!r}?" == hint_at_operation(typed)


@pytest.mark.parametrize("text", ["", ".", "zzz", "…", "x" * 10_000, "a.b" * 5_000, "\n\0"])
def test_what_means_nothing(text: str) -> None:
    """A text that is like no operation leads nowhere."""
    assert hint_at_operation(text) == ""


def test_only_known_operations_are_suggested() -> None:
    """A server of another version is not said to have what it does not have."""
    known = {"post.create", "campaigns.create"}

    assert suggest_operations("tweets.create", known)[0] == "post.create"


@pytest.mark.parametrize(("pattern", "meant"), [
    ("tweets.create", "public_posts.create"),
    ("line_item.*", "line_items.*"),
    ("tweets.*", "public_posts.*"),
    ("campaign", "campaigns.*"),
])  # fmt: skip
def test_patterns(pattern: str, meant: str) -> None:
    """A pattern that matches nothing leads to an operation, or to a family."""
    with pytest.raises(BadPatterns, match=f"did you mean '{meant.replace('*', '[*]')}'"):
        read_patterns(pattern, OPERATION_IDS)


def test_in_scenarios() -> None:
    """The complaint about `on` has the operation that is meant first, and then others like it."""
    text = "name: a\ndescription: x\nrules: [{on: tweets.create, then: {error: 403}}]\n"

    with pytest.raises(BadScenario) as caught:
        loads(text, Catalog.collect(OPERATIONS))

    said = caught.value.complaints[0].text
    assert "Did you mean 'public_posts.create'? Allowed: public_posts.create, " in said


@pytest.mark.parametrize(("method", "path", "status", "hint"), [
    ("GET", "/requests?operation=tweets.create", 400, "'public_posts.create'?"),
    ("GET", "/operations/tweets.create.txt", 404, "'public_posts.create'?"),
    ("POST", "/scenarios/tweets.create-403-453/activate", 404, "'public_posts.create-403"),
])  # fmt: skip
def test_in_the_control_plane(box: Sandbox, method: str, path: str, status: int, hint: str) -> None:
    """A guessed id in the journal, the list for agents and a failure leads to the right one."""
    assert f"Did you mean {hint}" in detail(call(box, method, path), status)
