"""The `twitter-ads` SDK over a socket: its own signatures, cursors, errors and retries."""

import pytest
from twitter_ads import API_VERSION
from twitter_ads.campaign import LineItem
from twitter_ads.client import Client
from twitter_ads.error import BadRequest, NotFound
from twitter_ads.http import Request


@pytest.fixture
def account(mock_platform, monkeypatch):
    """Returns the user's first account, with options of the SDK's client.

    The SDK names the host of the real service and an older version of its paths.
    """

    def init(self, client, method, resource, **options):
        path = resource.replace(f"/{API_VERSION}/", "/12/", 1)
        original(self, client, method, path, **options)

    original = Request.__init__
    monkeypatch.setattr(Request, "__init__", init)
    monkeypatch.setattr(Request, "_DEFAULT_DOMAIN", mock_platform.ads_base_url)
    monkeypatch.setattr(Request, "_SANDBOX_DOMAIN", mock_platform.ads_sandbox_base_url)
    app, user = mock_platform.credentials["app"], mock_platform.credentials["user"]

    def load(**options):
        client = Client(
            app["consumer_key"],
            app["consumer_secret"],
            user["access_token"],
            user["access_token_secret"],
            options=options,
        )
        return client.accounts(mock_platform.credentials["accounts"][0])

    return load


def test_a_line_item_is_renamed(account, mock_platform):
    """What the SDK saves is in the sandbox's records, and nothing else of the line item changed."""
    item = next(iter(account().line_items()))
    before = mock_platform.state["line_items"].get(item.id)
    item.name = "Winter clicks, Canada & US"
    item.save()

    after = mock_platform.state["line_items"].get(item.id)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"name", "updated_at"}
    assert after["name"] == "Winter clicks, Canada & US"


def test_the_cursor_fetches_only_what_is_used(account, mock_platform):
    """Nine line items in pages of three are three requests, the first two items only one."""
    items = iter(account().line_items(count=3))
    for _ in range(2):
        next(items)
    assert mock_platform.journal.count(operation="line_items.list") == 1

    assert len(list(items)) == 7
    assert mock_platform.journal.count(operation="line_items.list") == 3


def test_a_bad_value_is_a_bad_request(account):
    """The SDK's exception names the parameter."""
    item = next(iter(account().line_items()))
    item.bid_amount_local_micro = -1

    with pytest.raises(BadRequest) as refused:
        item.save()

    assert [fault["parameter"] for fault in refused.value.details] == ["bid_amount_local_micro"]


@pytest.mark.mock_scenario("line-item-deleted-twice")
def test_somebody_else_was_faster(account, mock_platform):
    """A line item that was deleted meanwhile: the SDK's NotFound, not some other failure."""
    item = next(iter(account().line_items()))

    with pytest.raises(NotFound) as refused:
        item.delete()

    assert refused.value.details[0]["code"] == "LINE_ITEM_NOT_FOUND"
    assert mock_platform.journal.count(rule="line-item-deleted-twice") == 1


SHORT_OUTAGE = """
name: short-outage
rules:
  - on: line_items.get
    times: 2
    then: {error: {code: SERVICE_UNAVAILABLE, message: The service is temporarily unavailable}}
    expect: fired
"""


def test_the_sdk_survives_a_short_outage(account, mock_platform):
    """A scenario of one's own: two refusals, and the SDK asks a third time."""
    item = next(iter(account().line_items()))
    mock_platform.activate(mock_platform.define(SHORT_OUTAGE))

    found = LineItem.load(account(retry_max=2, retry_delay=1), item.id)

    assert found.name == item.name
    statuses = [entry.status for entry in mock_platform.journal.find(operation="line_items.get")]
    assert statuses == [503, 503, 200]
