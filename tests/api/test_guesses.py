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
posts.create public_posts.create
tweets.create public_posts.create
tweet.create public_posts.create
create_tweet public_posts.create
tweet public_posts.create
createTweet public_posts.create
tweets.get public_posts.get
get_tweet public_posts.get
tweets.list public_posts.list
tweets.lookup public_posts.list
get_tweets public_posts.list
posts.delete public_posts.delete
tweets.delete public_posts.delete
delete_tweet public_posts.delete
tweets.hide public_posts.hide
hide_reply public_posts.hide
posts.search post_search.recent
tweets.search post_search.recent
search_recent_tweets post_search.recent
search.recent post_search.recent
tweets.search_all post_search.all
searchAll post_search.all
tweets.counts post_counts.recent
get_recent_tweets_count post_counts.recent
tweets.stream filtered_stream.open
filtered_stream.connect filtered_stream.open
rules.add stream_rules.change
stream_rules.create stream_rules.change
stream.rules stream_rules.list
sample_stream.get sample_stream.open
likes.add likes.create
like likes.create
tweets.like likes.create
unlike likes.delete
liked_tweets.list liked_posts.list
liking_users.get liking_users.list
retweets.create reposts.create
retweet reposts.create
tweets.retweet reposts.create
unretweet reposts.delete
retweets.list reposts.list
quote_tweets.list quotes.list
users.tweets timelines.posts
users.mentions timelines.mentions
home_timeline timelines.home
users.lookup users.list
users.by_username users.get_by_name
get_user users.get
get_users users.list
user.get users.get
get_me users.me
follows.create following.create
follow_user following.create
users.unfollow following.delete
users.following following.list
users.followers followers.list
blocks.create blocking.create
users.block blocking.create
unblock blocking.delete
mutes.create muting.create
users.mute muting.create
bookmarks.add bookmarks.create
remove_bookmark bookmarks.delete
lists.add_member list_members.create
remove_list_member list_members.delete
lists.tweets list_posts.list
pin_list pinned_lists.create
lists.owned owned_lists.list
search_spaces spaces.search
space.get spaces.get
webhook.create webhooks.create
webhooks.register webhooks.create
webhooks.get webhooks.list
activity_subscriptions.create activity.create
account_activity.create account_activity.subscribe
upload_media media.upload
media.upload_init media.initialize
media.metadata media_metadata.create
compliance.create compliance_jobs.create
line_item.create line_items.create
lineitems.create line_items.create
line_items.add line_items.create
line_items.edit line_items.update
line_items.remove line_items.delete
line_items.all line_items.list
campaign.create campaigns.create
createCampaign campaigns.create
ad_accounts.list accounts.list
account.list accounts.list
promoted_tweets.create promoted_posts.create
scheduled_tweets.create scheduled_posts.create
draft_tweets.create draft_posts.create
targeting.create targeting_criteria.create
audiences.create custom_audiences.create
funding.list funding_instruments.list
poll_cards.create cards_poll.create
catalogs.create product_catalogs.create
stats.create_job stats_jobs.create
oauth.requestToken oauth.request_token
update_status older.statuses.update
statuses.home_timeline older.statuses.home_timeline
friends.list older.friends.list
favorites.create older.favorites.create
verify_credentials account.verify_credentials
createPosts public_posts.create
getPostsById public_posts.get
"""


@pytest.mark.parametrize(("guess", "meant"), [row.split() for row in GUESSES.split("\n") if row])
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


def test_in_the_journal(box: Sandbox) -> None:
    """A search of the journal for a guessed id is refused with the right one."""
    said = detail(call(box, "GET", "/requests?operation=tweets.create"), 400)

    assert "Did you mean 'public_posts.create'?" in said


def test_in_the_list_for_agents(box: Sandbox) -> None:
    """A page of a guessed operation is refused with the right one."""
    said = detail(call(box, "GET", "/operations/tweets.create.txt"), 404)

    assert "Did you mean 'public_posts.create'?" in said


def test_in_a_documented_failure(box: Sandbox) -> None:
    """The id of a failure of a guessed operation leads to that of the right one."""
    said = detail(call(box, "POST", "/scenarios/tweets.create-403-453/activate"), 404)

    assert "Did you mean 'public_posts.create-403" in said
