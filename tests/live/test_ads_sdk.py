"""The platform's own Python client for the advertising interface, against `mock-platform serve`.

Its code runs as it is, over a socket and with its own OAuth 1.0a signatures. The tests pass it the
sandbox's address, version 12 where it says 11, and the neutral word in paths and fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from twitter_ads import account as sdk_account
from twitter_ads import audience, campaign, creative, error, targeting
from twitter_ads.client import Client
from twitter_ads.http import Request
from twitter_ads.resource import Resource, resource_property

from tests.api.ads.cards.creatives import IMAGE, SQUARE, VIDEO
from tests.live.clients import fill, four_keys
from tests.live_servers import LiveWorld
from tests.support import ACCOUNT, OTHER_ACCOUNT

pytestmark = pytest.mark.live

WHOLESALE, EUROPE, CLOSED = "18ce55fw2ag", "18ce5b7qk2c", "18ce53a0z8r"
CLICKS, PREROLL, NETWORK = "itttx", "iuc5v", "iu8h1"
BENT = "1712880000001000003"


def descendants(klass: type[Any]) -> Iterator[type[Any]]:
    """Every class of the client that represents a resource."""
    for child in klass.__subclasses__():
        yield child
        yield from descendants(child)


def renamed(klass: Any, **names: str) -> Any:
    """A resource of the client with some of its properties under the neutral names."""
    known = {names.get(name, name): how for name, how in klass.PROPERTIES.items()}
    made = type(klass.__name__, (klass,), {"PROPERTIES": known})
    for old, new in names.items():
        resource_property(made, new, **klass.PROPERTIES[old])
    return made


@dataclass(frozen=True)
class Ads:
    """The client of the well-known user, and the world that it talks to."""

    world: LiveWorld
    sleeps: list[float]

    def client(self, **options: Any) -> Any:
        """A client with the well-known credentials and these options."""
        return Client(*four_keys(self.world.credentials), options=options)

    def account(self, **options: Any) -> Any:
        """The account with most records."""
        return self.client(**options).accounts(ACCOUNT)

    def entries(self, **query: Any) -> list[dict[str, Any]]:
        """What the journal says about the calls so far."""
        answer = self.world.session().get(f"{self.world.control}/requests", params=query)
        found: list[dict[str, Any]] = answer.json()["requests"]
        return found

    def now(self) -> float:
        """The world's time, in epoch seconds."""
        answer = self.world.session().get(f"{self.world.control}/clock").json()
        return datetime.fromisoformat(answer["now"]).timestamp()

    def sleep(self, seconds: float) -> None:
        """Let so much of the world's time pass at once."""
        self.sleeps.append(seconds)
        body = {"action": "advance", "seconds": seconds}
        answer = self.world.session().put(f"{self.world.control}/clock", json=body)
        assert answer.ok, answer.text


@pytest.fixture
def ads(live_world: LiveWorld, monkeypatch: pytest.MonkeyPatch) -> Ads:
    """The client led to a fresh world; where it would sleep, the world's clock moves on."""
    monkeypatch.setattr(Request, "_DEFAULT_DOMAIN", live_world.base_url)
    monkeypatch.setattr(Request, "_SANDBOX_DOMAIN", f"{live_world.base_url}/sandbox")
    for klass in (*descendants(Resource), sdk_account.Account, campaign.Tweet):
        for name, path in list(vars(klass).items()):
            if isinstance(path, str) and path.startswith("/11/"):
                neutral = path.replace("/11/", "/12/", 1).replace("/tweet", "/post")
                monkeypatch.setattr(klass, name, neutral)
    found = Ads(live_world, [])
    clock = SimpleNamespace(sleep=found.sleep, time=found.now)
    monkeypatch.setattr("twitter_ads.http.time", clock)
    return found


def ids(found: Any, key: str = "id") -> list[str]:
    """The keys of everything that a cursor leads to."""
    return [getattr(item, key) for item in found]


def named(refused: Any) -> list[tuple[str, str]]:
    """Code and parameter of each of a refusal's details, sorted."""
    return sorted((fault["code"], fault["parameter"]) for fault in refused.details)


# -- accounts and features -----------------------------------------------------------------------


@pytest.mark.spec("A, Authentication", "OAuth 1.0a, three-legged")
@pytest.mark.spec("B, Authentication", "The credential")
def test_accounts_are_listed_and_loaded(ads: Ads) -> None:
    """The user's accounts in order, one of them by id, its times read, a closed one on demand."""
    accounts = list(ads.client().accounts())
    one = ads.account()
    closed = sdk_account.Account.load(ads.client(), CLOSED, with_deleted=True)

    assert [ACCOUNT, WHOLESALE, EUROPE] == ids(accounts)
    assert "Harbor Roasters" == accounts[0].name == one.name
    assert ("RESTAURANT", "ACCEPTED") == (one.industry_type, one.approval_status)
    assert True is closed.deleted
    assert CLOSED in ids(sdk_account.Account.all(ads.client(), with_deleted=True))


def test_accounts_are_searched_sorted_and_counted(ads: Ads) -> None:
    """q, account_ids, sort_by and with_total_count as the client sends them."""
    every = sdk_account.Account.all
    found = every(ads.client(), q="harbor r", sort_by="name-desc")
    counted = every(ads.client(), count=1, with_total_count=True)

    assert [EUROPE, ACCOUNT] == ids(found)
    assert (3, 1) == (counted.count, counted.fetched)
    assert [WHOLESALE] == ids(every(ads.client(), account_ids=WHOLESALE))


def test_features_are_the_accounts_own(ads: Ads) -> None:
    """features() returns the keys that are granted; on the sandbox address as well."""
    expected = sorted(ads.world.record("accounts", ACCOUNT)["_features"])

    assert expected == ads.account().features()
    assert expected == ads.account(sandbox=True).features()


# -- cursors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "key", "count"),
    [
        ("line_items", "id", 3),
        ("account_media", "id", 4),
        ("cards", "id", 7),
        ("media_library", "media_key", 6),
        ("cards_poll", "id", 3),
        ("cards_video_conversation", "id", 2),
    ],
)
def test_a_cursor_fetches_page_after_page(ads: Ads, family: str, key: str, count: int) -> None:
    """Small pages lead to what one large page holds, and are fetched only when they are needed."""
    klass: Any = {
        "line_items": campaign.LineItem, "account_media": creative.AccountMedia,
        "cards": creative.Card, "media_library": creative.MediaLibrary,
        "cards_poll": creative.PollCard, "cards_video_conversation": creative.VideoConversationCard,
    }[family]  # fmt: skip
    account = ads.account()
    whole = ids(klass.all(account, count=50), key)
    cursor = klass.all(account, count=count)
    before = len(ads.entries(operation=f"{family}.list"))

    assert count == cursor.fetched
    assert not cursor.exhausted
    assert whole == ids(cursor, key)
    assert cursor.exhausted
    pages = len(ads.entries(operation=f"{family}.list")) - before + 1
    assert -(-len(whole) // count) == pages >= 2


def test_an_account_pages_too(ads: Ads) -> None:
    """One account a page, three requests; sort_by holds from page to page."""
    cursor = sdk_account.Account.all(ads.client(), count=1, sort_by="created_at-desc")

    assert [EUROPE, WHOLESALE, ACCOUNT] == ids(cursor)
    assert 3 == len(ads.entries(operation="accounts.list", status=200))


def test_pages_stay_right_while_records_go(ads: Ads) -> None:
    """Deleting what the first page showed neither skips nor repeats anything on the next one."""
    account = ads.account()
    whole = ids(account.line_items())
    cursor = account.line_items(count=2)
    account.line_items(whole[1]).delete()

    assert whole == ids(cursor)
    assert [key for key in whole if key != whole[1]] == ids(account.line_items())


# -- line items ----------------------------------------------------------------------------------


@pytest.mark.spec("B, Errors", "Repeated DELETE")
def test_a_line_item_is_loaded_saved_and_deleted(ads: Ads) -> None:
    """Load, change, save, reload, delete; a second delete and a load meet NotFound."""
    account = ads.account()
    item = fill(
        account.line_items(CLICKS), name="Holiday clicks, Canada & US",
        bid_amount_local_micro=5_500_000, entity_status="PAUSED",
        end_time=datetime.fromisoformat("2027-01-31T08:00:00"),
    )  # fmt: skip
    item.save()
    again = account.line_items(CLICKS)

    assert ("Holiday clicks, Canada & US", 5_500_000, "PAUSED", "2027-01-31T08:00:00Z") == (
        again.name, again.bid_amount_local_micro, again.entity_status, again.end_time,
    )  # fmt: skip
    assert again.updated_at == item.updated_at > again.created_at
    item.delete()
    assert True is item.deleted
    for attempt in (item.delete, item.reload, lambda: account.line_items(CLICKS)):
        with pytest.raises(error.NotFound) as refused:
            attempt()
        assert "LINE_ITEM_NOT_FOUND" == refused.value.details[0]["code"]
    assert True is campaign.LineItem.load(account, CLICKS, with_deleted=True).deleted


@pytest.mark.spec("B, What public facts and settled questions add", "Unknown, read-only")
def test_saving_what_was_loaded_changes_nothing(ads: Ads) -> None:
    """The client sends every field back, read-only ones too: each line item stays as it was."""
    items = [item for item in ads.account().line_items() if item.id != PREROLL]
    before = {item.id: ads.world.record("line_items", item.id) for item in items}
    for item in items:
        item.save()

    assert 8 == len(items)
    for key, record in before.items():
        after = ads.world.record("line_items", key)
        assert record | {"updated_at": after["updated_at"]} == after


def test_lists_are_saved_as_comma_strings(ads: Ads) -> None:
    """Several categories go out joined by commas and come back as a list."""
    item = ads.account().line_items(PREROLL)
    assert ["IAB8", "IAB8-5"] == item.categories
    item.categories = ",".join(item.categories)
    item.save()

    assert ["IAB8", "IAB8-5"] == item.categories
    assert ["IAB8", "IAB8-5"] == ads.world.record("line_items", PREROLL)["categories"]


def test_placements_are_listed(ads: Ads) -> None:
    """Placements by product type, as combinations."""
    found = list(campaign.LineItemPlacements.all(ads.account(), product_type="PROMOTED_ACCOUNT"))

    assert ["PROMOTED_ACCOUNT"] == [item.product_type for item in found]
    assert all(isinstance(names, list) for names in found[0].placements)


# -- media and cards -----------------------------------------------------------------------------


def test_video_conversation_cards_are_saved(ads: Ads) -> None:
    """A loaded card is changed and saved whole; a new one is made."""
    account = ads.account()
    names = {f"{ordinal}_cta_tweet": f"{ordinal}_cta_post" for ordinal in ("first", "second")}
    conversation = renamed(creative.VideoConversationCard, **names)
    card = conversation.load(account, BENT)
    card.title = "What shall we brew?"
    card.save()
    made = conversation(account)
    made.name, made.title, made.thank_you_text = "Made", "Brew?", "Thanks"
    made.first_cta, made.first_cta_post, made.media_key = "#Brew", "I brew.", VIDEO
    made.save()

    assert "What shall we brew?" == conversation.load(account, BENT).title
    assert ("VIDEO_CONVERSATION", "I brew.") == (made.card_type, made.first_cta_post)
    assert made.id in ids(conversation.all(account))


def test_a_post_is_made(ads: Ads) -> None:
    """Lists and booleans are flattened by the client and understood."""
    user = ads.world.credentials["user"]["id"]
    post = campaign.Tweet.create(
        ads.account(), as_user_id=user, text="Two pictures", media_keys=[IMAGE, SQUARE],
        nullcast=False, trim_user=True, tweet_mode="extended",
    )  # fmt: skip

    assert "Two pictures" == post["full_text"]
    assert {"id": int(user), "id_str": user} == post["user"]
    assert [IMAGE, SQUARE] == [media["media_key"] for media in post["extended_entities"]["media"]]


# -- audiences -----------------------------------------------------------------------------------


def test_audiences_are_used(ads: Ads) -> None:
    """Users are uploaded, permissions and what targets the audience are listed, sizes estimated."""
    account = ads.account()
    crowd = audience.CustomAudience(account)
    crowd._id = "1nmth"
    users = [{"email": [f"{number:064x}"]} for number in range(3)]
    counts = crowd.users([{"operation_type": "Update", "params": {"users": users}}])
    keyword = {"targeting_type": "BROAD_KEYWORD", "targeting_value": "coffee"}
    size = targeting.AudienceEstimate.load(account, {"targeting_criteria": [keyword]})

    assert (3, 3) == counts
    assert ["18ce55fw2ag"] == ids(crowd.permissions(), "granted_account_id")
    assert "8wku2" in ids(crowd.targeted(), "campaign_id")
    assert 0 < size.audience_size["min"] < size.audience_size["max"]
    with pytest.raises(error.BadRequest) as refused:
        crowd.users([{"operation_type": "Update", "params": {"users": [{"email": ["a@b.c"]}]}}])
    assert 1 == len(refused.value.response.body["operation_errors"])


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.spec("B, Errors", "Error body format")
def test_400_names_every_parameter(ads: Ads) -> None:
    """All violations of a save come in the details of one BadRequest."""
    item = ads.account().line_items(NETWORK)
    item.bid_strategy, item.end_time, item.advertiser_domain = (
        "TARGET", item.start_time, "https://a",
    )  # fmt: skip
    with pytest.raises(error.BadRequest) as shape:
        item.save()
    item.advertiser_domain = "a.example"
    with pytest.raises(error.BadRequest) as rules:
        item.save()

    assert [("INVALID_PARAMETER", "advertiser_domain")] == named(shape.value)
    assert [
        ("INVALID_PARAMETER", "bid_strategy"),  # not for app engagements
        ("INVALID_TIME_WINDOW", "end_time"),
        ("MISSING_PARAMETER", "bid_amount_local_micro"),
    ] == named(rules.value)
    assert "AUTO" == ads.world.record("line_items", NETWORK)["bid_strategy"]


@pytest.mark.spec("B, Errors", "Error body format")
def test_401_for_a_wrong_secret(ads: Ads) -> None:
    """A signature made with another secret is NotAuthorized."""
    user = ads.world.credentials["user"]
    stranger = Client(ads.world.key, "wrong", user["access_token"], user["access_token_secret"])
    with pytest.raises(error.NotAuthorized) as refused:
        stranger.accounts()

    assert (401, "UNAUTHORIZED_ACCESS") == (refused.value.code, refused.value.details[0]["code"])


@pytest.mark.spec("B, Errors", "Error body format")
@pytest.mark.parametrize("account", [OTHER_ACCOUNT, "nope", CLOSED])
def test_403_for_an_account_of_somebody_else(ads: Ads, account: str) -> None:
    """Another user's account, an unknown and a deleted one are Forbidden."""
    with pytest.raises(error.Forbidden) as refused:
        ads.client().accounts(account)

    assert "ACCOUNT_NOT_FOUND" == refused.value.details[0]["code"]


@pytest.mark.spec("B, Errors", "Error body format")
@pytest.mark.parametrize(
    ("load", "code"),
    [
        (lambda account: account.line_items("nope"), "LINE_ITEM_NOT_FOUND"),
        (lambda account: account.account_media("nope"), "ACCOUNT_MEDIA_NOT_FOUND"),
        (lambda account: account.cards("1"), "CARD_NOT_FOUND"),
        (lambda account: creative.PollCard.load(account, "1"), "CARD_NOT_FOUND"),
        (lambda account: creative.MediaLibrary.load(account, "3_1"), "MEDIA_NOT_FOUND"),
        (lambda account: account.app_lists(), "ROUTE_NOT_FOUND"),
    ],
)
def test_404_by_family(ads: Ads, load: Callable[[Any], Any], code: str) -> None:
    """What is not there is NotFound, with the code of its family."""
    account = ads.account()
    with pytest.raises(error.NotFound) as refused:
        load(account)

    assert (404, code) == (refused.value.code, refused.value.details[0]["code"])


# -- the rate limit ------------------------------------------------------------------------------


def exhaust(ads: Ads) -> None:
    """Use up the 200 requests for a total that a window holds."""
    account = ads.account()
    for _ in range(200):
        campaign.LineItem.all(account, count=1, with_total_count=True)


@pytest.mark.spec("B, Errors", "Error body format")
def test_429_is_raised_and_tried_again_after_a_delay(ads: Ads) -> None:
    """RateLimit shows the reset; retry_max and retry_delay are obeyed; the next window is free."""
    exhaust(ads)
    ask = campaign.LineItem.all
    with pytest.raises(error.RateLimit) as refused:
        ask(ads.account(), with_total_count=True)
    reset = int(refused.value.reset_at)
    assert "TOO_MANY_REQUESTS" == refused.value.details[0]["code"]
    assert 0 < reset - ads.now() <= 901  # rounded up: the window is over at the reset
    assert 9 == ask(ads.account()).count  # without a total nothing is limited

    # Retries by delay, all within the window: the third refusal is raised.
    stubborn = ads.account(retry_max=2, retry_delay=1_000, retry_on_status=[429])
    with pytest.raises(error.RateLimit):
        ask(stubborn, with_total_count=True)
    assert [1.0, 1.0, 1.0] == ads.sleeps

    # Retries by delay, the second of them in the next window.
    ads.sleeps.clear()
    delay = (reset - int(ads.now())) * 600  # milliseconds: beyond the reset at the second time
    patient = ads.account(retry_max=2, retry_delay=delay, retry_on_status=[429])
    assert 9 == ask(patient, with_total_count=True).count
    assert 2 == len(ads.sleeps)


def test_429_is_waited_out_by_the_reset_header(ads: Ads) -> None:
    """With handle_rate_limit the client sleeps until the window is over and then succeeds."""
    exhaust(ads)
    found = campaign.LineItem.all(ads.account(handle_rate_limit=True), with_total_count=True)
    (slept,) = ads.sleeps

    assert 9 == found.count
    # The window's 900 seconds, its end rounded up to a second, and five that the client adds.
    assert 5 < slept <= 906
    assert [429, 200] == [
        entry["status"] for entry in ads.entries(operation="line_items.list", limit=2)
    ]
