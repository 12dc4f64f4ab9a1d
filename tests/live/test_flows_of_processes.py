"""Flows of both documents with two processes, and with worlds on an engine.

TEST_SERVER_WORKERS=2 and TEST_SERVER_STORE=redis://127.0.0.1 run all others so.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.test_account_activity import client, test_two_users
from tests.live.test_ads_examples import shop, test_batch_request, test_promoted_tweet
from tests.live.test_filtered_stream import TestTweepy
from tests.live.test_posts_and_users import (
    test_post_edit_and_delete,
    test_uploaded_posted_and_read,
)
from tests.live_servers import LiveServer, serving
from tests.prepared_commands import PreparedCommands

pytestmark = [
    pytest.mark.live,
    # The client knows default fields of posts by their older names alone.
    pytest.mark.filterwarnings("ignore:Tweet data missing default edit_history:RuntimeWarning"),
    # The client asks for the present time in a way that Python 3.12 warns of.
    pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning"),
]

__all__ = [
    "TestTweepy", "client", "shop", "test_batch_request", "test_post_edit_and_delete",
    "test_promoted_tweet", "test_two_users", "test_uploaded_posted_and_read",
]  # fmt: skip


@pytest.fixture(scope="module", params=["workers", "engine"])
def live_server(
    request: pytest.FixtureRequest, prepared_commands: PreparedCommands
) -> Iterator[LiveServer]:
    """`mock-platform serve` with two processes, or on an engine, in place of the usual one."""
    options = ("--workers", "2")
    if request.param == "engine":
        options = ("--store", request.getfixturevalue("engine").url())
    yield from serving(*options, command=prepared_commands.command)
