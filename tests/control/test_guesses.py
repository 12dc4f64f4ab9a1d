from __future__ import annotations

import pytest

from mock_platform.control.guesses import FORGOTTEN_SECONDS, FREE, MAX_WAIT_SECONDS, Guesses
from mock_platform.control.refusals import ControlRefusal
from tests.control.support import call
from tests.support import sandbox

CLIENT = "192.0.2.7"


class Uptime:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


def wait_of(guesses: Guesses, address: str = CLIENT) -> int:
    """For how many seconds an address has to wait."""
    try:
        guesses.check(address)
    except ControlRefusal as refusal:
        return int(dict(refusal.headers)["Retry-After"])
    return 0


def test_each_wrong_token_doubles_the_wait() -> None:
    """Mistakes cost nothing at first, then twice as much each time, up to a minute."""
    uptime = Uptime()
    guesses = Guesses(uptime)
    waits = []
    for _ in range(FREE + 8):
        guesses.record_wrong(CLIENT)
        waits.append(wait_of(guesses))
        uptime.now += waits[-1]

    assert [0] * (FREE - 1) + [1, 2, 4, 8, 16, 32, 60, 60, 60] == waits
    assert MAX_WAIT_SECONDS == 60
    uptime.now += FORGOTTEN_SECONDS
    guesses.record_wrong(CLIENT)
    assert 0 == wait_of(guesses)


def test_addresses_count_apart() -> None:
    """Another address does not wait; the addresses of one network of IPv6 count as one."""
    guesses = Guesses(Uptime())
    for number in range(FREE):
        guesses.record_wrong(CLIENT)
        guesses.record_wrong(f"2001:db8::{number}")

    assert 0 == wait_of(guesses, "192.0.2.8")
    assert 1 == wait_of(guesses, "2001:db8::ffff")
    assert 0 == wait_of(guesses, "2001:db8:0:1::1")
    guesses.forget(CLIENT)
    assert 0 == wait_of(guesses)


def test_many_addresses_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too many addresses were wrong, the one that was wrong longest ago is forgotten."""
    monkeypatch.setattr("mock_platform.control.guesses._MAX_ADDRESSES", 2)
    guesses = Guesses(Uptime())
    for _ in range(FREE):
        guesses.record_wrong(CLIENT)
    guesses.record_wrong("192.0.2.8")
    guesses.record_wrong("192.0.2.9")

    assert 0 == wait_of(guesses)


def test_login_and_header_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """After many wrong tokens the right one is refused as well; a session goes on."""
    # The first wait is a second of real time, which a busy machine needs for a request.
    monkeypatch.setattr(
        "mock_platform.control.guesses._wait_after", lambda count: 600 if count >= FREE else 0
    )
    box = sandbox(control_token="s3cret")
    own = {"Origin": "http://localhost", "Content-Type": "application/x-www-form-urlencoded"}

    def log_in(token: str) -> int:
        form = {"token": token}
        return call(box, "POST", "/console/login", form=form, headers=own).status_code

    assert 303 == log_in("s3cret")
    before = [log_in("wrong") for _ in range(FREE - 1)]
    by_header = call(box, "GET", "/clock", headers={"X-Mock-Control-Token": "wrong"})
    page = call(box, "POST", "/console/login", form={"token": "s3cret"}, headers=own)
    right = call(box, "GET", "/clock", headers={"X-Mock-Control-Token": "s3cret"})
    session = call(box, "GET", "/clock")

    assert {422} == set(before)
    assert (401, 429, 429) == (by_header.status_code, page.status_code, right.status_code)
    assert {"Retry-After"} <= set(page.headers.keys()) & set(right.headers.keys())
    assert "Too many wrong control tokens" in page.text
    assert 200 == session.status_code
