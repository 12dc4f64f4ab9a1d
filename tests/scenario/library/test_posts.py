"""The scenarios of posts refuse as the public interface does."""

from __future__ import annotations

import pytest

from tests.scenario.library.support import Stage


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("post-repeated", "create a Post with duplicate content."),
        ("post-reply-not-summoned", "you have not been mentioned or otherwise engaged by the"),
        ("post-edit-refused", "can no longer be edited"),
        ("post-too-long", "is too long"),
    ],
)
def test_a_post_is_refused(name: str, detail: str) -> None:
    """The generic 403 with the public text, and nothing is stored."""
    stage = Stage(name)
    answer = stage.ask("public_posts.create")
    body = answer.get_json()

    assert (403, "about:blank", "Forbidden") == (answer.status_code, body["type"], body["title"])
    assert detail in body["detail"]
    assert [] == list(stage.last.changes)
