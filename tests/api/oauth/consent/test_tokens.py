"""Request tokens: the addresses to which users return."""

from __future__ import annotations

import pytest

from mock_platform.api.oauth.consent import tokens


@pytest.mark.parametrize(("callback", "expected"), [
    ("https://a.example/cb", "https://a.example/cb?t=1&v=2%26"),
    ("https://a.example/cb?x=y%20z", "https://a.example/cb?x=y%20z&t=1&v=2%26"),
    ("https://a.example/cb?", "https://a.example/cb?t=1&v=2%26"),
    ("https://a.example/cb?x=y&", "https://a.example/cb?x=y&t=1&v=2%26"),
    ("https://a.example/cb#top", "https://a.example/cb?t=1&v=2%26#top"),
    ("https://a.example/cb?x#top?y", "https://a.example/cb?x&t=1&v=2%26#top?y"),
    ("https://a.example", "https://a.example?t=1&v=2%26"),
    ("myapp://", "myapp://?t=1&v=2%26"),
    ("myapp://oauth/done", "myapp://oauth/done?t=1&v=2%26"),
    ("com.example.app:/done", "com.example.app:/done?t=1&v=2%26"),
    ("https://a.example/ä\r\nX: y", "https://a.example/%C3%A4%0D%0AX:%20y?t=1&v=2%26"),
])  # fmt: skip
def test_parameters_are_added_to_a_callback(callback: str, expected: str) -> None:
    """Behind its query, before its fragment; of the rest only what no header holds changes."""
    assert expected == tokens.build_callback(callback, t="1", v="2&")
