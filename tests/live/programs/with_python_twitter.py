"""python-twitter: who am I, who is somebody else, a post, a like and a message."""

import os

import twitter

KEYS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
api = twitter.Api(*(os.environ[f"MOCK_PLATFORM_{name}"] for name in KEYS))

me = api.VerifyCredentials()
assert me.id_str == os.environ["MOCK_PLATFORM_USER_ID"]
assert api.GetUser(screen_name=me.screen_name).id == me.id

post = api.PostUpdate("Fresh from the roaster")
assert api.GetStatus(post.id).text == post.text
assert api.CreateFavorite(status=post).favorited
assert api.PostDirectMessage("The beans are ready.", user_id=3805104374)
assert api.DestroyStatus(post.id).id == post.id
