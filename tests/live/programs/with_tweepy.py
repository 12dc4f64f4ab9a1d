"""tweepy: version 1.1 first, then posts of version 2 under their original names."""

import os

import tweepy

KEYS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
keys = [os.environ[f"MOCK_PLATFORM_{name}"] for name in KEYS]

me = tweepy.API(tweepy.OAuth1UserHandler(*keys)).verify_credentials()
assert me.id_str == os.environ["MOCK_PLATFORM_USER_ID"]

client = tweepy.Client(
    consumer_key=keys[0], consumer_secret=keys[1],
    access_token=keys[2], access_token_secret=keys[3],
)  # fmt: skip
first = client.create_tweet(text="Fresh from the roaster").data["id"]
answer = client.create_tweet(text="And another", in_reply_to_tweet_id=first).data["id"]
found = client.get_tweet(
    answer, tweet_fields=["public_metrics", "referenced_tweets"], user_auth=True
).data
assert found.public_metrics["retweet_count"] == 0
assert [str(each.id) for each in found.referenced_tweets] == [str(first)]
assert client.delete_tweet(first).data["deleted"]
