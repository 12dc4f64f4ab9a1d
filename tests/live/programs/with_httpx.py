"""httpx: a read with an OAuth 2.0 user token."""

import os

import httpx

token = os.environ["MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN"]
answer = httpx.get("https://api.x.com/2/users/me", headers={"Authorization": f"Bearer {token}"})
assert answer.json()["data"]["id"] == os.environ["MOCK_PLATFORM_USER_ID"], answer.text
