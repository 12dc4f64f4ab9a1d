from __future__ import annotations

import json

import pytest

from mock_platform.delivery.envelope import find_challenge_fault, make_challenge_url, make_signature
from tests.support_receiver import sign

SECRET = "a secret"


def test_a_signature_is_the_base64_of_the_hmac() -> None:
    """The value was computed with `openssl dgst -sha256 -hmac 'a secret' -binary | base64`."""
    assert "sha256=/yBnCml12DWm+4j7vqzwvTmYPE+swQBPn5GGBTFXt4Y=" == make_signature(
        SECRET, b'{"a":1}'
    )


def test_the_challenge_joins_the_query_that_is_there() -> None:
    """crc_token is added to an address with a query and to one without; a fragment is dropped."""
    assert "http://h/hook?crc_token=t" == make_challenge_url("http://h/hook", "t")
    assert "http://h/hook?a=b&crc_token=t" == make_challenge_url("http://h/hook?a=b#part", "t")


def test_the_right_answer_has_no_fault() -> None:
    """Any status of success will do if the token is signed with the consumer secret."""
    body = json.dumps({"response_token": sign(SECRET, b"t"), "more": 1}).encode()

    assert find_challenge_fault(SECRET, "t", 200, body) is None
    assert find_challenge_fault(SECRET, "t", 299, body) is None


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (300, b"{}", "the challenge was answered with status 300, not 200"),
        (199, b"{}", "the challenge was answered with status 199, not 200"),
        (200, b"<html>", "the challenge's answer is not valid JSON"),
        (200, b"[]", 'the challenge\'s answer lacks "response_token", a string'),
        (200, b'{"response_token": 5}', 'the challenge\'s answer lacks "response_token"'),
        (200, b'{"response_token": "sha256=abc"}', "the challenge's response_token is wrong"),
        (200, '{"response_token": "é"}'.encode(), "the challenge's response_token is wrong"),
    ],
)
def test_a_wrong_answer_is_told_apart(status: int, body: bytes, text: str) -> None:
    """Each way to answer wrongly has its own words."""
    fault = find_challenge_fault(SECRET, "t", status, body)

    assert fault is not None
    assert fault.startswith(text)


def test_the_token_signed_with_another_secret_is_wrong() -> None:
    """Only the app's consumer secret signs."""
    body = json.dumps({"response_token": sign("another", b"t")}).encode()

    assert "consumer secret" in (find_challenge_fault(SECRET, "t", 200, body) or "")
