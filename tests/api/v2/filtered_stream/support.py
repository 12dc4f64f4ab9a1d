"""A client that adds rules to the filtered stream and lets users post."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.posts.changes import create_post
from mock_platform.world.store.interface import Record
from tests.support_streams import OTHER_USER, StreamClient

APP = "11827"


class PostingClient(StreamClient):
    """The well-known app, and users who post."""

    path = "/2/posts/search/stream"

    def rule(self, value: str, **more: str) -> str:
        """Add a rule; its id."""
        body = {"add": [{"value": value} | more]}
        answer = self.call("POST", "/2/posts/search/stream/rules", json=body)
        return str(answer.get_json()["data"][0]["id"])

    def post(self, text: str, user: str = OTHER_USER, **more: Any) -> Record:
        """Let a user post."""
        world = self.desk.world
        with world.work():
            return create_post(world, self.desk.record("users", user), text, **more).record
