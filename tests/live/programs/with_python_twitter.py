"""python-twitter: who am I, and who is somebody else."""

import os

import twitter

KEYS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
api = twitter.Api(*(os.environ[f"MOCK_PLATFORM_{name}"] for name in KEYS))

me = api.VerifyCredentials()
assert me.id_str == os.environ["MOCK_PLATFORM_USER_ID"]
assert api.GetUser(screen_name=me.screen_name).id == me.id
