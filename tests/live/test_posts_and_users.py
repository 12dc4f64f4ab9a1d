"""tweepy's Client, as published, posts, reads and searches; what is uploaded is shown."""

from __future__ import annotations

from typing import Any

import pytest
import requests
import tweepy
from requests_oauthlib import OAuth1

from tests.images import make_png
from tests.live.clients import REAL, four_keys
from tests.live_servers import LiveWorld
from tests.support import bearer
from tests.waits import PATIENCE

# The client knows one default field of posts by its older name alone.
pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore:Tweet data missing default edit_history:RuntimeWarning"),
]


class Elsewhere(requests.Session):
    """A session that calls the sandbox in place of the platform."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.trust_env = False
        self._base_url = base_url

    def request(self, method: Any, url: Any, *args: Any, **more: Any) -> requests.Response:
        """Send a request to the same path at the sandbox, signed for that address."""
        return super().request(method, self._base_url + str(url).removeprefix(REAL), *args, **more)


def make_client(world: LiveWorld) -> tweepy.Client:
    """A client with the well-known credentials of a world, at its address."""
    client = tweepy.Client(world.credentials["bearer_token"], *four_keys(world.credentials))
    client.session = Elsewhere(world.base_url)
    return client


def test_post_edit_and_delete(live_world: LiveWorld) -> None:
    """What was posted is read and found, and is gone after its deletion."""
    client = make_client(live_world)
    made = client.create_tweet(text="Posted by tweepy, @northbike_co").data
    reply = client.create_tweet(text="And an answer", in_reply_to_tweet_id=made["id"]).data
    quote = client.create_tweet(text="See", quote_tweet_id=made["id"]).data
    poll = client.create_tweet(text="Which?", poll_options=["a", "b"], poll_duration_minutes=5)

    read = client.get_tweet(reply["id"], tweet_fields=["conversation_id", "created_at"])
    assert ("And an answer", int(made["id"])) == (read.data.text, read.data.conversation_id)
    several = client.get_tweets([made["id"], quote["id"], 5])
    assert ["Posted by tweepy, @northbike_co", "See"] == [each.text for each in several.data]
    assert ["Could not find post with ids: [5]."] == [each["detail"] for each in several.errors]
    assert int(poll.data["id"]) == client.get_tweet(poll.data["id"]).data.id
    with pytest.raises(tweepy.Forbidden, match="duplicate content"):
        client.create_tweet(text="Posted by tweepy, @northbike_co")
    assert client.delete_tweet(made["id"]).data["deleted"]
    with pytest.raises(tweepy.NotFound, match="404"):
        client.get_tweet(made["id"])


def test_search_and_count(live_world: LiveWorld) -> None:
    """Pages of a search follow each other, and the counts add up to them."""
    client = make_client(live_world)
    for number in range(12):
        client.create_tweet(text=f"Searched {number} zebra")
    pages = tweepy.Paginator(client.search_recent_tweets, "zebra", max_results=10)
    found = [post.text for page in pages for post in page.data or ()]
    counts = client.get_recent_tweets_count("zebra", granularity="day")

    assert sorted(f"Searched {number} zebra" for number in range(12)) == sorted(found)
    assert 12 == counts.meta["total_post_count"] == sum(each["post_count"] for each in counts.data)
    with pytest.raises(tweepy.BadRequest, match="Reference to invalid operator 'has:polls'"):
        client.search_recent_tweets("zebra has:polls")


def test_uploaded_posted_and_read(live_world: LiveWorld) -> None:
    """An image that a plain client uploads in two segments is shown with its post."""
    url, auth, image = (
        f"{live_world.base_url}/2", OAuth1(*four_keys(live_world.credentials)), make_png(640, 480),
    )  # fmt: skip

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
            f"/media/upload/{media_id}/append", files={"media": ("part", part)},
            data={"segment_index": index},
        )  # fmt: skip
    done = send(f"/media/upload/{media_id}/finalize")
    made = send("/posts", json={"text": "A picture", "media": {"media_ids": [media_id]}})
    shown = requests.get(
        f"{url}/posts/{made['id']}",
        params={"expansions": "attachments.media_keys", "media.fields": "width,height"},
        headers=bearer(live_world.credentials["bearer_token"]), timeout=PATIENCE,
    ).json()  # fmt: skip

    assert len(image) == done["size"]
    assert [done["media_key"]] == shown["data"]["attachments"]["media_keys"]
    (media,) = shown["includes"]["media"]
    assert ("photo", 640, 480) == (media["type"], media["width"], media["height"])
