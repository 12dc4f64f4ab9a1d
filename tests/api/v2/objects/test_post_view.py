"""How long a text is, and whom it mentions."""

from __future__ import annotations

import pytest

from mock_platform.api.v2.objects.post_view import cut_text, find_entities, find_user, weigh_text
from tests.support import sandbox


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("", 0),
        ("abc", 3),
        ("\u00e9", 1),
        ("e\u0301", 1),
        ("\u6771\u4eac", 4),
        ("https://a-very-long-address.example/with/a/path?and=query", 23),
        ("see https://a.example.", 28),
        ("\U0001f600", 2),
        ("\U0001f1f5\U0001f1f9", 2),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", 2),
        ("\U0001f44d\U0001f3fd", 2),
        ("\u2764\ufe0f", 2),
        ("\u201cquoted\u201d", 8),
    ],
)
def test_weighted_length(text: str, weight: int) -> None:
    """Addresses count as 23, emoji and wide characters as 2, all others as 1."""
    assert weight == weigh_text(text)


def test_cut_text() -> None:
    """A text is cut where its weight is reached; a shorter one is whole."""
    assert "ab" == cut_text("abc", 2)
    assert "abc" == cut_text("abc", 3)
    assert "\u6771" == cut_text("\u6771\u4eac", 3)


def test_users_are_mentioned_in_any_case() -> None:
    """A mention names the user who has that name; an unknown name is not a mention."""
    world = sandbox().platform.worlds.default
    entities = find_entities(world, "@HARBOR_roasters @harbor @nobody_here #one $TWO")

    assert ["2244994945"] == [mention["id_str"] for mention in entities["user_mentions"]]
    assert ["one"] == [tag["text"] for tag in entities["hashtags"]]
    assert ["TWO"] == [tag["text"] for tag in entities["symbols"]]
    assert find_user(world, "harbor") is None
