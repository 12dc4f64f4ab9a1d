"""requests and requests-oauthlib: a signed read under each host."""

import os

import requests
from requests_oauthlib import OAuth1

KEYS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
auth = OAuth1(*(os.environ[f"MOCK_PLATFORM_{name}"] for name in KEYS))

user = requests.get("https://api.twitter.com/1.1/account/verify_credentials.json", auth=auth)
assert user.json()["id_str"] == os.environ["MOCK_PLATFORM_USER_ID"], user.text
for host in ("ads-api.twitter.com", "ads-api.x.com", "ads-api-sandbox.x.com"):
    accounts = requests.get(f"https://{host}/12/accounts", auth=auth)
    assert accounts.ok, accounts.text
