"""What the twenty examples of the platform's Python client do, with the client as published.

The world has original names, so nothing in the client is renamed: only the addresses lead to the
sandbox. What an example does that the sandbox does not serve is in `UNSERVED`, with the reason.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from twitter_ads import API_VERSION, audience, campaign, creative, enum, error, targeting
from twitter_ads.client import Client
from twitter_ads.cursor import Cursor
from twitter_ads.http import Request
from twitter_ads.restapi import UserIdLookup
from twitter_ads.utils import remove_hours, split_list

from mock_platform.world.clock import machine_now
from tests.images import make_png
from tests.live.clients import fill, four_keys
from tests.live_servers import LiveServer, LiveWorld
from tests.support import ACCOUNT

pytestmark = [
    pytest.mark.live,
    # The client asks for the present time in a way that Python 3.12 warns of.
    pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning"),
]

VIDEO = "13_1007965804276813271"
UNSERVED = {
    "account_media": "POST /12/accounts/:account_id/account_media", "batch_request": "start_time",
    "poll_card": "as_user_id", "quick_start": "start_time", "tailored_audience": "TailoredAudience",
    "video_tutorial": "Video",
}  # fmt: skip
"""What of an example does not work: an address, or a name of the client or a parameter."""
EXAMPLES = (
    "account_media", "active_entities", "analytics", "audience_estimate", "batch_request",
    "batch_tc_from_file", "cards", "cards_fetch", "custom_audience", "draft_tweet",
    "manual_request", "media_library", "media_upload", "poll_card", "promoted_tweet",
    "quick_start", "scheduled_tweet", "tailored_audience", "tweet_previews", "video_tutorial",
)  # fmt: skip


class Shop:
    """The client's account in a fresh world with original names."""

    def __init__(self, world: LiveWorld) -> None:
        self.world = world
        self.client: Any = Client(*four_keys(world.credentials))
        self.account: Any = self.client.accounts(ACCOUNT)

    def find_user(self) -> str:
        """The id of the well-known user, looked up by name."""
        found: str = UserIdLookup.load(self.account, screen_name=self.world.screen_name).id
        return found

    def advance(self, seconds: int) -> None:
        """Let time pass."""
        body = {"action": "advance", "seconds": seconds}
        answer = self.world.session().put(f"{self.world.control}/clock", json=body)
        assert answer.ok, answer.text


@pytest.fixture
def shop(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """An account of the client, whose addresses are those of a fresh world."""
    world = live_server.world(names="original")
    monkeypatch.setattr(Request, "_DEFAULT_DOMAIN", world.base_url)
    monkeypatch.setattr(Request, "_SANDBOX_DOMAIN", f"{world.base_url}/sandbox")
    monkeypatch.setattr(UserIdLookup, "DOMAIN", world.base_url)
    return Shop(world)


def make_campaign(shop: Shop, name: str = "my first campaign", budget: int = 1_000_000) -> Any:
    """A campaign that is not saved."""
    return fill(
        campaign.Campaign(shop.account),
        funding_instrument_id=shop.account.funding_instruments().next().id,
        daily_budget_amount_local_micro=budget, name=name, entity_status=enum.ENTITY_STATUS.PAUSED,
    )  # fmt: skip


def make_line_item(shop: Shop, of: Any, name: str = "my first ad", bid: int = 10_000) -> Any:
    """A line item that is not saved."""
    return fill(
        campaign.LineItem(shop.account), campaign_id=of.id, name=name,
        product_type=enum.PRODUCT.PROMOTED_TWEETS, placements=[enum.PLACEMENT.ALL_ON_TWITTER],
        objective=enum.OBJECTIVE.ENGAGEMENTS, bid_amount_local_micro=bid,
        entity_status=enum.ENTITY_STATUS.PAUSED,
    )  # fmt: skip


def make_criterion(shop: Shop, line_item_id: str, kind: str, value: str) -> Any:
    """A targeting criterion that is not saved."""
    return fill(
        campaign.TargetingCriteria(shop.account), line_item_id=line_item_id, targeting_type=kind,
        targeting_value=value,
    )  # fmt: skip


def test_quick_start(shop: Shop) -> None:
    """A campaign, a line item in it, and where it is shown."""
    made = make_campaign(shop)
    made.save()
    item = make_line_item(shop, made)
    item.save()
    criterion = make_criterion(shop, item.id, "LOCATION", "00a8b25e420adc94")
    criterion.save()

    assert shop.account.campaigns(made.id).name == "my first campaign"
    assert shop.account.line_items(item.id).placements == ["ALL_ON_TWITTER"]
    assert [c.id for c in item.targeting_criteria()] == [criterion.id]


def test_batch_request(shop: Shop) -> None:
    """Campaigns, line items and criteria are made, changed and deleted in batches."""
    both = [make_campaign(shop, f"campaign {n}", n * 1_000_000) for n in (1, 2)]
    campaign.Campaign.batch_save(shop.account, both)
    for made in both:
        made.name = f"modified {made.name}"
    campaign.Campaign.batch_save(shop.account, both)
    items = [make_line_item(shop, both[0], f"ad {n}", n * 10_000) for n in (1, 2)]
    campaign.LineItem.batch_save(shop.account, items)
    criteria = [
        make_criterion(shop, items[0].id, "LOCATION", "00a8b25e420adc94"),
        make_criterion(shop, items[0].id, "PHRASE_KEYWORD", "righteous dude"),
    ]
    campaign.TargetingCriteria.batch_save(shop.account, criteria)
    kept = [shop.account.campaigns(made.id).name for made in both]
    for klass, found in (
        (campaign.TargetingCriteria, criteria),
        (campaign.LineItem, items),
        (campaign.Campaign, both),
    ):
        for each in found:
            each.to_delete = True
        klass.batch_save(shop.account, found)

    assert kept == ["modified campaign 1", "modified campaign 2"]
    assert all(each.deleted for each in (*criteria, *items, *both))


def test_batch_tc_from_file(shop: Shop) -> None:
    """Criteria with their operators, as they are read from a file."""
    item = shop.account.line_items().first
    made = []
    for value, operator in (("digital", "EQ"), ("analog", "NE")):
        criterion = make_criterion(shop, item.id, "BROAD_KEYWORD", value)
        criterion.operator_type = operator
        made.append(criterion)
    campaign.TargetingCriteria.batch_save(shop.account, made)

    assert [(c.targeting_value, c.operator_type) for c in made] == [
        ("digital", "EQ"), ("analog", "NE"),
    ]  # fmt: skip


def test_promoted_tweet(shop: Shop) -> None:
    """Two new posts are promoted by a line item of the first campaign."""
    first = shop.account.campaigns().next()
    item = shop.account.line_items(None, campaign_ids=first.id).next()
    user = shop.find_user()
    card = creative.Card.all(shop.account).next()
    posts = [
        campaign.Tweet.create(shop.account, text="There can be only one", as_user_id=user),
        campaign.Tweet.create(
            shop.account, text="There can be two", as_user_id=user, card_uri=card.card_uri
        ),
    ]
    ids = [post["id"] for post in posts]
    attached = creative.PromotedTweet.attach(shop.account, line_item_id=item.id, tweet_ids=ids)

    assert [promoted.tweet_id for promoted in attached] == [str(each) for each in ids]


def test_active_entities(shop: Shop) -> None:
    """Entities that were shown yesterday, then their figures by hour."""
    end = machine_now().date()
    found = campaign.LineItem.active_entities(shop.account, end - timedelta(days=1), end)
    times = [
        datetime.fromisoformat(row[name])
        for row in found
        for name in ("activity_start_time", "activity_end_time")
    ]
    ids = [row["entity_id"] for row in found]
    stats = campaign.LineItem.all_stats(
        shop.account, ids, [enum.METRIC_GROUP.ENGAGEMENT], granularity=enum.GRANULARITY.HOUR,
        placement=enum.PLACEMENT.ALL_ON_TWITTER, start_time=remove_hours(min(times)),
        end_time=remove_hours(max(times)) + timedelta(days=1),
    )  # fmt: skip

    assert [row["id"] for row in stats] == ids
    metrics = stats[0]["id_data"][0]["metrics"]
    assert sum(metrics["impressions"]) > sum(metrics["engagements"]) > 0
    assert "retweets" in metrics


def test_analytics(shop: Shop) -> None:
    """Figures at once, and by jobs whose results are compressed."""
    items = list(shop.account.line_items(None))[:10]
    groups = [enum.METRIC_GROUP.BILLING]
    one = items[0].stats(groups)
    ids = [item.id for item in items]
    every = [
        row
        for chunk in split_list(ids, 20)
        for row in campaign.LineItem.all_stats(shop.account, chunk, groups)
    ]
    jobs = [
        campaign.LineItem.queue_async_stats_job(shop.account, chunk, groups).id
        for chunk in split_list(ids, 20)
    ]
    shop.advance(30)
    results = campaign.LineItem.async_stats_job_result(shop.account, job_ids=jobs)
    data = [
        campaign.LineItem.async_stats_job_data(shop.account, url=job.url)["data"] for job in results
    ]

    assert [row["id"] for row in every] == ids
    assert one == every[:1]
    assert [row["id"] for row in data[0]] == ids
    assert any(row["id_data"][0]["metrics"]["billed_charge_local_micro"] for row in every)


def test_audience_estimate(shop: Shop) -> None:
    """The size of an audience of places, words and look-alikes."""
    criteria = [
        {"targeting_type": "LOCATION", "targeting_value": "96683cc9126741d1"},
        {"targeting_type": "BROAD_KEYWORD", "targeting_value": "cats"},
        {"targeting_type": "SIMILAR_TO_FOLLOWERS_OF_USER", "targeting_value": "14230524"},
    ]
    estimate = targeting.AudienceEstimate.load(
        account=shop.account, params={"targeting_criteria": criteria}
    )

    assert 0 < estimate.audience_size["min"] < estimate.audience_size["max"]


def test_cards(shop: Shop) -> None:
    """A card is found, changed and made, and a post shows it."""
    found = creative.Card.all(shop.account).first
    card = creative.Card.load(account=shop.account, id=found.id)
    website = {"url": "http://shop.example/newvalue", "type": "WEBSITE"}
    components = [
        {"type": "MEDIA", "media_key": VIDEO},
        {"type": "DETAILS", "title": "Shop", "destination": website},
    ]
    card.components = components
    card.save()
    made = fill(creative.Card(account=shop.account), name="my new card", components=components)
    made.save()
    post = campaign.Tweet.create(
        shop.account, text="With a card", as_user_id=shop.find_user(), card_uri=card.card_uri
    )

    assert made.id != card.id
    assert made.card_type == card.card_type
    assert post["card_uri"] == card.card_uri


def test_custom_audience(shop: Shop) -> None:
    """An audience is made, and a member added."""
    made = audience.CustomAudience.create(shop.account, "test CA")
    digest = hashlib.sha256(b"test-email@test.com").hexdigest()
    users = [{"operation_type": "Update", "params": {"users": [{"email": [digest]}]}}]

    assert made.users(users) == (1, 1)


def test_draft_tweet(shop: Shop) -> None:
    """Drafts are listed, made, loaded, changed, and become a post."""
    user = shop.find_user()
    before = [draft.id for draft in creative.DraftTweet.all(shop.account)]
    draft: Any = creative.DraftTweet(shop.account)
    draft.text = "draft tweet - new"
    draft.as_user_id = user
    draft = draft.save()
    draft = draft.load(shop.account, draft.id)
    draft.text = "draft tweet - update"
    draft = draft.save()
    post = campaign.Tweet.create(shop.account, text=draft.text, as_user_id=user)

    assert draft.id not in before
    assert post["text"] == "draft tweet - update"


def test_scheduled_tweet(shop: Shop) -> None:
    """A post in two days, which a line item will promote."""
    post = fill(
        creative.ScheduledTweet(shop.account), text="Future", as_user_id=shop.find_user(),
        scheduled_at=machine_now() + timedelta(days=2),
    )  # fmt: skip
    post.save()
    promoted = fill(
        campaign.ScheduledPromotedTweet(shop.account),
        line_item_id=shop.account.line_items().next().id, scheduled_tweet_id=post.id,
    )  # fmt: skip
    promoted.save()

    assert promoted.tweet_id is None
    shop.advance(2 * 86_400 + 60)
    later = creative.ScheduledTweet.load(shop.account, post.id)
    assert later.scheduled_status == "SUCCESS"
    assert campaign.ScheduledPromotedTweet.load(shop.account, promoted.id).tweet_id


def test_tweet_previews(shop: Shop) -> None:
    """How two published posts look."""
    user = shop.find_user()
    ids = [
        str(campaign.Tweet.create(shop.account, text=f"Preview {n}", as_user_id=user)["id"])
        for n in (1, 2)
    ]
    found = list(
        creative.TweetPreview.load(
            shop.account, tweet_ids=ids, tweet_type=enum.TWEET_TYPE.PUBLISHED
        )
    )

    assert [preview.tweet_id for preview in found] == ids
    assert all("<iframe" in preview.preview for preview in found)


def test_manual_request(shop: Shop) -> None:
    """Requests without a class: features, and a search for places with a cursor."""
    path = f"/{API_VERSION}/accounts/{shop.account.id}/features"
    answer = Request(shop.client, "get", path, params={"feature_keys": "AGE_TARGETING"}).perform()
    places = Request(
        shop.client, "get", f"/{API_VERSION}/targeting_criteria/locations",
        params={"location_type": "CITIES", "q": "port"},
    )  # fmt: skip

    assert answer.body["data"] == ["AGE_TARGETING"]
    assert all("port" in place["name"].lower() for place in Cursor(None, places))


def upload_media(shop: Shop) -> dict[str, Any]:
    """An image, uploaded as the examples do it."""
    files = {"media": ("name.png", make_png(16, 9))}
    answer = Request(shop.client, "post", "/1.1/media/upload.json", files=files).perform()
    body: dict[str, Any] = answer.body
    return body


def test_media_upload(shop: Shop) -> None:
    """An image is uploaded to the older interface."""
    assert upload_media(shop)["image"] == {"image_type": "image/png", "w": 16, "h": 9}


def test_media_library(shop: Shop) -> None:
    """What was uploaded is added to the library and renamed."""
    library = fill(
        creative.MediaLibrary(shop.account), name="name", file_name="name.png",
        media_key=upload_media(shop)["media_key"],
    )  # fmt: skip
    data = library.add()
    data.name = "name - updated"
    data.update()

    assert data.name == "name - updated"


def test_poll_card(shop: Shop) -> None:
    """A poll with the first video of the library, and a post that asks, on either wire."""
    library = creative.MediaLibrary(shop.account).all(
        shop.account, media_type=enum.MEDIA_TYPE.VIDEO
    )
    poll: Any = creative.PollCard(shop.account)
    fill(
        poll, duration_in_minutes=10_080, first_choice="Northern", second_choice="Southern",
        name=f"{library.first.name} poll card from SDK", media_key=library.first.media_key,
    )  # fmt: skip
    poll.save()
    post = {"text": "Which hemisphere do you prefer?", "card_uri": poll.card_uri}
    made = campaign.Tweet.create(shop.account, as_user_id=shop.find_user(), **post)

    assert made["card_uri"] == poll.card_uri
    with pytest.raises(error.BadRequest) as refused:
        campaign.Tweet.create(shop.account, **post)
    assert refused.value.details[0]["parameter"] == "as_user_id"
    shop.client.headers["X-Mock-Wire"] = "recorded"
    assert campaign.Tweet.create(shop.account, **post)["card_uri"] == poll.card_uri


def test_cards_fetch(shop: Shop) -> None:
    """The card of a post, by its address and by its id."""
    card = creative.Card.all(shop.account).first
    made = campaign.Tweet.create(
        shop.account, text="Look", card_uri=card.card_uri, as_user_id=shop.find_user()
    )
    query = {"id": made["id_str"], "include_card_uri": "true"}
    post = Request(shop.client, "get", "/1.1/statuses/show.json", params=query).perform().body
    found = creative.CardsFetch.load(shop.account, card_uris=[post["card_uri"]]).first
    same = creative.CardsFetch.load(shop.account, card_id=found.id)

    assert (same.card_uri, same.card_type) == (card.card_uri, card.card_type)


def test_account_media(shop: Shop) -> None:
    """Media of the account are listed, shown by a line item, and that ends; none are added."""
    item = next(i for i in shop.account.line_items() if i.product_type == "MEDIA")
    media = shop.account.account_media().first
    made = fill(
        creative.MediaCreative(shop.account), line_item_id=item.id, account_media_id=media.id,
        landing_url="https://my-landing-url.example",
    )  # fmt: skip
    made.save()
    made.delete()
    added: Any = creative.AccountMedia(shop.account)

    assert made.deleted is True
    with pytest.raises(AttributeError):
        added.creative_type = enum.CREATIVE_TYPE.BANNER
    with pytest.raises(error.Error) as refused:
        added.save()
    assert refused.value.response.code == 405


def test_video_tutorial(shop: Shop) -> None:
    """A preroll campaign with a call to action and publishers that are left out, then active."""
    made = make_campaign(shop, "Video tutorial test", 1_000_000_000)
    made.save()
    item = fill(
        make_line_item(shop, made, "Video tutorial example", 1_000_000),
        objective=enum.OBJECTIVE.PREROLL_VIEWS, product_type="MEDIA", categories="IAB8",
    )  # fmt: skip
    item.save()
    path = f"/{API_VERSION}/accounts/{shop.account.id}/preroll_call_to_actions"
    action = {
        "line_item_id": item.id, "call_to_action": "WATCH_NOW",
        "call_to_action_url": "https://www.my-cta-url.example",
    }  # fmt: skip
    answer = Request(shop.client, "post", path, params=action).perform()
    made.entity_status = enum.ENTITY_STATUS.ACTIVE
    made.save()

    assert answer.body["data"]["call_to_action"] == "WATCH_NOW"
    assert shop.account.campaigns(made.id).entity_status == "ACTIVE"
    assert not hasattr(creative, "Video")
    assert not hasattr(audience, "TailoredAudience")
    with pytest.raises(AttributeError):
        made.start_time = machine_now()


def test_every_example_has_a_test() -> None:
    """Each of the twenty is tried here, or in the list of what is not served."""
    tried = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}

    assert len(EXAMPLES) == 20
    assert {*EXAMPLES} == (tried & {*EXAMPLES}) | {*UNSERVED}


@pytest.mark.parametrize("name", UNSERVED)
def test_the_page_names_what_is_not_served(name: str) -> None:
    """With the step, so that a reader finds the reason."""
    page = Path("docs/ad-accounts.md").read_text("utf-8")

    assert f"`{name}.py`" in page
    assert UNSERVED[name].rpartition(" ")[2] in page
