"""The platform's Ads SDK for Python, with the version of the interface that it ships (11)."""

import os

from twitter_ads.client import Client
from twitter_ads.creative import MediaLibrary
from twitter_ads.enum import PLACEMENT, PRODUCT

KEYS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
client = Client(*(os.environ[f"MOCK_PLATFORM_{name}"] for name in KEYS))
account = client.accounts(os.environ["MOCK_PLATFORM_ACCOUNT_ID"])

campaigns = list(account.campaigns())
assert campaigns
items = list(account.line_items())
assert PRODUCT.PROMOTED_TWEETS in {item.product_type for item in items}
assert PLACEMENT.ALL_ON_TWITTER in {place for item in items for place in item.placements}
assert any(each.tweeted for each in MediaLibrary.all(account))
