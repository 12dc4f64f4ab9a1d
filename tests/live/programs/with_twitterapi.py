"""TwitterAPI: both versions of the interface."""

import os

from TwitterAPI import TwitterAPI

KEYS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
keys = [os.environ[f"MOCK_PLATFORM_{name}"] for name in KEYS]

me = TwitterAPI(*keys).request("account/verify_credentials").json()
assert me["id_str"] == os.environ["MOCK_PLATFORM_USER_ID"], me

client = TwitterAPI(*keys, api_version="2")
made = client.request("tweets", {"text": "Fresh from the roaster"}, method_override="POST").json()
found = client.request(f"tweets/:{made['data']['id']}", {"tweet.fields": "public_metrics"}).json()
assert found["data"]["public_metrics"]["retweet_count"] == 0, found
