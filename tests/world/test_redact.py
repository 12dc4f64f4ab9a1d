"""Credentials do not reach journal and logs."""

from __future__ import annotations

import pytest

from mock_platform.world import redact


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("/a?oauth_token=[redacted]&x=1", "/a?oauth_token=abc&x=1"),
        ("oauth_verifier=[redacted]", "oauth_verifier=12345"),
        ("oauth_token=[redacted]&oauth_token_secret=[redacted]&user_id=5",
         "oauth_token=a&oauth_token_secret=b&user_id=5"),
        ('{"access_token":"[redacted]","token_type":"bearer"}',
         '{"access_token":"AA\\"A","token_type":"bearer"}'),
        ('<input name="authenticity_token" type="hidden" value="[redacted]">',
         '<input name="authenticity_token" type="hidden" value="s3cret">'),
        ('<code id="pin">[redacted]</code>', '<code id="pin">1234567</code>'),
        ("my_oauth_tokens=5", "my_oauth_tokens=5"),
    ],
)  # fmt: skip
def test_texts_lose_their_secrets(shown: str, value: str) -> None:
    """URLs, forms, JSON and pages keep everything but the credentials."""
    assert redact.text(value) == shown


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("Authorization", "Bearer AAAA", "Bearer [redacted]"),
        ("authorization", "Basic eDp5", "Basic [redacted]"),
        (
            "Authorization",
            'OAuth oauth_consumer_key="k", oauth_token="t", oauth_signature="s%3D"',
            'OAuth oauth_consumer_key="k", oauth_token="[redacted]", oauth_signature="[redacted]"',
        ),
        ("Cookie", "a=b", "[redacted]"),
        ("Set-Cookie", "sid=abc; HttpOnly", "sid=[redacted]; HttpOnly"),
        ("Location", "http://c/?oauth_verifier=v", "http://c/?oauth_verifier=[redacted]"),
        ("X-Mock-Control-Token", "t", "[redacted]"),
        ("Accept", "text/html", "text/html"),
    ],
)
def test_headers_lose_their_secrets(name: str, value: str, shown: str) -> None:
    """Schemes and keys stay readable, secrets go."""
    assert redact.header(name, value) == shown


def test_a_body_is_cut_and_says_so() -> None:
    """A long body is shown in part, a binary one lossily, each with its size."""
    shown = redact.body(b"abc\xff" * 4, "x/y", 8)

    assert shown == {
        "size": 16,
        "content_type": "x/y",
        "text": "abc\ufffdabc\ufffd",
        "lossy": True,
        "truncated": True,
    }


def test_a_tokens_key_is_cut_because_it_is_the_token() -> None:
    """Among the changed records a token shows its beginning only, others their whole key."""
    assert "AAAAAAAAAAAA…" == redact.key("tokens", "A" * 40)
    assert "18ce54d4x5t" == redact.key("accounts", "18ce54d4x5t")
