"""What is uploaded over a socket is shown in posts."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from requests_oauthlib import OAuth1

from tests.images import make_png
from tests.live.clients import four_keys
from tests.live_servers import LiveWorld
from tests.support import bearer
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


def test_uploaded_posted_and_read(live_world: LiveWorld) -> None:
    """An image that a plain client uploads in two segments is shown with its post."""
    url, auth, image = (
        f"{live_world.base_url}/2",
        OAuth1(*four_keys(live_world.credentials)),
        make_png(640, 480),
    )

    def send(path: str, **more: Any) -> dict[str, Any]:
        answer = requests.post(f"{url}{path}", auth=auth, timeout=PATIENCE, **more)
        assert answer.ok, answer.text
        data: dict[str, Any] = answer.json()["data"]
        return data

    described = {
        "media_type": "image/png", "media_category": "post_image", "total_bytes": len(image),
    }  # fmt: skip
    media_id = send("/media/upload/initialize", json=described)["id"]
    for index, part in enumerate((image[:100], image[100:])):
        send(
            f"/media/upload/{media_id}/append",
            files={"media": ("part", part)},
            data={"segment_index": index},
        )
    done = send(f"/media/upload/{media_id}/finalize")
    made = send("/posts", json={"text": "A picture", "media": {"media_ids": [media_id]}})
    shown = requests.get(
        f"{url}/posts/{made['id']}",
        params={"expansions": "attachments.media_keys", "media.fields": "width,height"},
        headers=bearer(live_world.credentials["bearer_token"]),
        timeout=PATIENCE,
    ).json()

    assert len(image) == done["size"]
    assert [done["media_key"]] == shown["data"]["attachments"]["media_keys"]
    (media,) = shown["includes"]["media"]
    assert ("photo", 640, 480) == (media["type"], media["width"], media["height"])
