"""The vendor's Python SDK for version 2."""

import os

from xdk import Client

client = Client(access_token=os.environ["MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN"])
me = client.users.get_me()
assert me.data.id == os.environ["MOCK_PLATFORM_USER_ID"], me
