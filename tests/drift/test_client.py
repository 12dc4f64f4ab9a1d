from __future__ import annotations

import pytest

from mock_platform.delivery.base_address import BadBaseUrl, check_base_url
from mock_platform.drift.client import SigningCredentials


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://api.example.com", "https://api.example.com"),
        ("https://api.example.com/", "https://api.example.com"),
        ("http://127.0.0.1:8080/~w1", "http://127.0.0.1:8080/~w1"),
        ("http://localhost", "http://localhost"),
    ],
)
def test_good_base_urls(url: str, base: str) -> None:
    """An address of this machine, or any by https, with a path or not."""
    assert base == check_base_url(url)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("api.example.com", "is no base address"),
        ("ftp://127.0.0.1", "is no base address"),
        ("https://", "is no base address"),
        ("https://h:99999", "is no address"),
        ("https://user:pw@h", "no user, query or fragment"),
        ("https://h/?a=1", "no user, query or fragment"),
        ("http://api.example.com", "over https only"),
    ],
)
def test_bad_base_urls(url: str, text: str) -> None:
    """Whatever else is refused, plain http to another machine above all."""
    with pytest.raises(BadBaseUrl, match=text):
        check_base_url(url)


def test_credentials() -> None:
    """Four values sign for a user, a bearer token for an app; less signs nothing."""
    names = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
    four = {f"MOCK_PLATFORM_{name}": name.lower() for name in names}
    three = {name: value for name, value in four.items() if "ACCESS_TOKEN_SECRET" not in name}

    assert SigningCredentials.from_variables(four).has_user_context
    assert not SigningCredentials.from_variables(three).is_usable
    bearer = SigningCredentials.from_variables({**three, "MOCK_PLATFORM_BEARER_TOKEN": "b"})
    assert (False, True) == (bearer.has_user_context, bearer.is_usable)
