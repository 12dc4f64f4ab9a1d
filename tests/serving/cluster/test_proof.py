"""The codes with which two processes show that they know the secret, and who they are."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mock_platform.serving.cluster import Place
from mock_platform.serving.cluster.proof import FRONT, OWNER, Greeting

_SECRET = b"s"
_SAID = Greeting(b"1" * 32, b"2" * 32, Place("a/1", "10.0.0.1:7001"), b"c" * 32)


def test_a_code_is_right_for_what_it_was_made_for() -> None:
    """Both sides see the same, so each accepts the other's code."""
    for side in (FRONT, OWNER):
        assert _SAID.is_proof(_SAID.prove(_SECRET, side), _SECRET, side)


@pytest.mark.parametrize(
    "other",
    [
        replace(_SAID, first=b"3" * 32),
        replace(_SAID, second=b"3" * 32),
        replace(_SAID, owner=Place("a/2", "10.0.0.1:7001")),
        replace(_SAID, owner=Place("a/1", "10.0.0.1:7002")),
        replace(_SAID, channel=b"d" * 32),
    ],
)
def test_a_code_that_was_passed_on_is_wrong(other: Greeting) -> None:
    """Texts, name, address and certificate must all be those that the other side sees."""
    for side in (FRONT, OWNER):
        assert not _SAID.is_proof(other.prove(_SECRET, side), _SECRET, side)


def test_a_code_is_not_sent_back() -> None:
    """The code of one side is wrong for the other, and for another secret."""
    assert not _SAID.is_proof(_SAID.prove(_SECRET, FRONT), _SECRET, OWNER)
    assert not _SAID.is_proof(_SAID.prove(b"t", OWNER), _SECRET, OWNER)


def test_a_short_text_proves_nothing() -> None:
    """What one text lacks cannot be taken from the next one."""
    short = replace(_SAID, first=b"1" * 31, second=b"12" + b"2" * 31)
    assert not short.is_proof(short.prove(_SECRET, OWNER), _SECRET, OWNER)
