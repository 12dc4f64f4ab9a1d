"""Flows of both documents with two processes; TEST_SERVER_WORKERS=2 runs all others so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.test_account_activity import client, test_two_users
from tests.live.test_ads_examples import shop, test_batch_request, test_promoted_tweet
from tests.live.test_media_news_and_notes import test_uploaded_posted_and_read
from tests.live.test_posts_and_users import test_post_edit_and_delete, test_users
from tests.serving import LiveServer, serving

pytestmark = [
    pytest.mark.live,
    # The client knows default fields of posts by their older names alone.
    pytest.mark.filterwarnings("ignore:Tweet data missing default edit_history:RuntimeWarning"),
]

__all__ = [
    "client",
    "shop",
    "test_batch_request",
    "test_post_edit_and_delete",
    "test_promoted_tweet",
    "test_two_users",
    "test_uploaded_posted_and_read",
    "test_users",
]


@pytest.fixture(scope="module")
def live_server() -> Iterator[LiveServer]:
    """`mock-platform serve` with two processes, in place of the one."""
    yield from serving("--workers", "2")
